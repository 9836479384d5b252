"""Costs that come ready are what their formulas say, also in problems, and refuse by name what they cannot take."""

import inspect

import numpy as np
import pytest
from ddp_cases import flyer, price, rods, top
from scipy.spatial.transform import Rotation

import hinge
from hinge.errors import SizeError, UnknownName
from hinge.optimal import Problem, barrier, effort, posture, reach, rolled, smoothness, speed

RNG = np.random.default_rng(11)


def turned(v):
    return Rotation.from_rotvec(v).as_matrix()


@pytest.mark.parametrize("weight", [4.0, RNG.uniform(0.1, 2.0, 6)], ids=["one", "six"])
def test_reach_is_the_turn_and_the_shift_that_are_left(weight):
    robot = flyer()
    q = robot.integrate(robot.neutral(), RNG.normal(size=robot.nv))
    pose, turn, shift = robot.pose(q, "arm"), np.array([0.3, -1.1, 0.4]), np.array([0.2, -0.5, 1.0])
    target = pose.copy()
    target[:3, :3], target[:3, 3] = turned(turn) @ pose[:3, :3], pose[:3, 3] + shift
    root = np.broadcast_to(np.sqrt(weight), 6)
    np.testing.assert_allclose(reach(robot, "arm", target, weight)(q), root * [*turn, *shift], rtol=0, atol=1e-12)
    for task, part, at in (("position", target[:3, 3], slice(3, 6)), ("orientation", target[:3, :3], slice(0, 3))):
        made = reach(robot, "arm", part, root[at] ** 2, task)(q)
        np.testing.assert_allclose(made, (root * [*turn, *shift])[at], rtol=0, atol=1e-12)


def test_posture_is_the_displacement_from_where_joints_are_wanted():
    robot = top()
    target, away = robot.integrate(robot.neutral(), RNG.normal(size=4)), 0.7 * RNG.normal(size=4)
    weight = np.array([1.0, 4.0, 9.0, 0.0])
    made = posture(robot, target, weight)(robot.integrate(target, away))
    np.testing.assert_allclose(made, [1.0, 2.0, 3.0, 0.0] * away, rtol=0, atol=1e-12)
    np.testing.assert_allclose(posture(robot, target)(-target * [1, 1, 1, 1, -1]), 0.0, atol=1e-12)  # q and -q are one


def test_speed_and_effort_are_what_they_are_called():
    x, weight = RNG.normal(size=4), RNG.uniform(0.1, 2.0, 4)
    np.testing.assert_allclose(speed(weight)(x), np.sqrt(weight) * x, rtol=1e-15)
    np.testing.assert_allclose(effort(3.0)(x), np.sqrt(3.0) * x, rtol=1e-15)


@pytest.mark.parametrize("driven", [None, ["joint2"]])
def test_smoothness_is_the_acceleration_that_forces_make(driven):
    robot = rods()
    q, qd, tau = RNG.normal(size=(3, 2))
    at = [0, 1] if driven is None else [1]
    forces = np.zeros(2)
    forces[at] = tau[at]
    made = smoothness(robot, [4.0, 0.25], driven)(q, qd, tau[at])
    np.testing.assert_allclose(made, [2.0, 0.5] * robot.forward_dynamics(q, qd, forces), rtol=1e-13)


def test_a_barrier_is_what_is_beyond_the_limits():
    robot = hinge.samples.panda()
    lower, upper, fastest, _ = robot.limits
    half = 0.5 * (upper - lower)
    q, qd = 0.5 * (upper + lower), np.zeros(7)
    assert not barrier(robot)(q, qd).any()
    q[[0, 3]], qd[[2, 5]] = [upper[0] + 0.2, lower[3] - 0.1], [fastest[2] + 0.5, -fastest[5] - 0.3]
    made = barrier(robot, 4.0)(q, qd)
    np.testing.assert_allclose(made[[0, 7 + 3, 14 + 2, 14 + 5]], [0.4, 0.2, 1.0, 0.6], rtol=1e-12)
    assert np.count_nonzero(made) == 4
    inner = barrier(robot, share=0.9)(q, qd)
    np.testing.assert_allclose(inner[[0, 14 + 2]], [0.2 + 0.1 * half[0], 0.5 + 0.1 * fastest[2]], rtol=1e-12)


def test_a_barrier_knows_joints_that_have_one_limit_or_none():
    builder = hinge.Builder("mixed")
    builder.link("base")
    for k, parent in enumerate(("base", "one", "two")):
        name = ("one", "two", "three")[k]
        builder.link(name, 1.0, (0, 0, -0.5), np.eye(3))
        limits = ({"upper": 2.0}, {"velocity": 3.0}, {})[k]
        kind = "revolute" if k == 0 else "continuous"
        builder.joint(f"joint_{name}", kind, parent, name, axis=(0, 1, 0), **limits)
    robot = hinge.Robot(builder.build())
    made = barrier(robot)(np.array([2.5, 9.0, 9.0]), np.array([8.0, -3.25, 8.0]))
    np.testing.assert_allclose(made, [0.5, 0.25], rtol=1e-12)


def every(robot, target):
    """A problem with all of them, whose targets are given."""
    pose = robot.pose(robot.neutral(), "rod2")
    running = [effort(0.3), smoothness(robot, 0.2), barrier(robot, 5.0, 0.1), posture(robot, "wanted", [1.0, 2.0])]
    final = [reach(robot, "rod2", "hand", 7.0), reach(robot, "rod1", target, task="orientation"), speed([1.0, 0.5])]
    return Problem(robot, 6, 0.05, running, final, given={"wanted": [0.3, 0.1], "hand": pose})


def limited():
    builder = hinge.Builder("rods")
    builder.link("base")
    for k, parent in enumerate(("base", "rod1"), 1):
        builder.link(f"rod{k}", 1.0, (0.0, 0.0, -0.5), np.diag([0.1, 0.1, 0.01]))
        builder.joint(f"joint{k}", "revolute", parent, f"rod{k}", (0, 0, 1.0 - k), axis=(0, 1, 0), lower=-1.0,
                      upper=1.5, velocity=2.0)  # fmt: skip
    return hinge.Robot(builder.build())


def test_in_a_problem_they_cost_what_they_do_outside():
    robot = limited()
    problem = every(robot, turned([0.1, 0.4, -0.2]))
    q, u = RNG.normal(size=(3, 2)), 3.0 * RNG.normal(size=(3, 6, 2))
    wanted, hand = RNG.normal(size=(3, 2)), robot.pose(RNG.normal(size=(3, 2)), "rod2")
    found = rolled(problem, q, None, u, given={"wanted": wanted, "hand": hand})
    for k in range(3):
        own = {"wanted": wanted[k], "hand": hand[k]}
        np.testing.assert_allclose(found.cost[k], price(problem, found.q[k], found.qd[k], u[k], own), rtol=1e-12)
    assert [term.what for term in problem.running] == [
        "running[0], 'effort'", "running[1], 'smoothness'", "running[2], 'barrier'", "running[3], 'posture'"
    ]  # fmt: skip


def test_they_take_what_their_names_say():
    robot = rods()
    taken = {make.__name__: make(*given).takes for make, given in (
        (reach, (robot, "rod1", "hand")), (posture, (robot, "wanted")), (speed, ()), (effort, ()),
        (smoothness, (robot,)))}  # fmt: skip
    assert taken == {"reach": ("q", "hand"), "posture": ("q", "wanted"), "speed": ("qd",), "effort": ("u",),
                     "smoothness": ("q", "qd", "u")}  # fmt: skip
    assert all("weight" in inspect.signature(make).parameters for make in (reach, posture, speed, effort, smoothness))


ROBOT = rods()
REFUSED = [
    (lambda: reach(ROBOT, "hand", np.eye(4)), UnknownName, "hand"),
    (lambda: reach(ROBOT, "rod1", np.eye(4), task="place"), UnknownName, "task"),
    (lambda: reach(ROBOT, "rod1", np.eye(3)), SizeError, r"target has shape \(3, 3\); give \(4, 4\)"),
    (lambda: reach(ROBOT, "rod1", np.full((4, 4), np.nan)), SizeError, "target"),
    (lambda: reach(ROBOT, "rod1", np.eye(4), weight=np.ones(3)), SizeError, r"weight=.*6 of them"),
    (lambda: posture(ROBOT, np.zeros(3)), SizeError, r"target has shape \(3,\); give \(2,\)"),
    (lambda: posture(ROBOT, np.zeros(2), weight=-1.0), SizeError, "weight=-1.0 is not known.*not negative"),
    (lambda: speed(np.nan), SizeError, "weight"),
    (lambda: effort(np.ones((2, 2))), SizeError, "weight"),
    (lambda: smoothness(ROBOT, driven=["knee"]), UnknownName, "knee"),
    (lambda: barrier(ROBOT), SizeError, "'rods' has no limits"),
    (lambda: Problem(ROBOT, 5, 0.1, [posture(ROBOT, "wnated")], given={"wanted": [0.0, 0.0]}), UnknownName,
     r"running\[0\], 'posture' takes 'wnated'"),
    (lambda: Problem(ROBOT, 5, 0.1, final=[effort()]), UnknownName, r"final\[0\], 'effort' takes 'u'"),
    (lambda: rolled(Problem(ROBOT, 5, 0.1, [effort(np.ones(3))]), [0.0, 0.0], None, np.zeros((5, 2))), SizeError,
     r"running\[0\], 'effort': .*\(3,\) \(2,\)"),
]  # fmt: skip


@pytest.mark.parametrize(("call", "error", "words"), REFUSED)
def test_what_they_cannot_take_is_refused_by_name(call, error, words):
    with pytest.raises(error, match=words):
        call()
