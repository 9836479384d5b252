"""A robot whose mass matrix is singular in every state has no accelerations: every method refuses it, or says so."""

import numpy as np
import pytest
from robots import random_body, random_joint, random_place, random_rotation

import hinge
from hinge.dynamics.registry import KNOWN, PLACE, POSITION, required_inputs
from hinge.errors import NotCovered
from hinge.model import Builder
from hinge.robot import ALGORITHMS
from hinge.spatial import Vec3
from hinge.status import OK

STATES = 40
LARGE = 1e9  # rad/s², m/s² and the like: what rounding makes of a division by nothing is larger
SOLVING = [(name, method) for name, methods in ALGORITHMS.items() for method, one in methods.items() if one.pivots]


def two_on_one_axis(kind, seed, root=False, mimic=False):
    """An arm on two joints of one kind on one axis, with nothing between them, in frames at random."""
    rng = np.random.default_rng(seed)
    builder = Builder(f"two {kind} joints on one axis")
    builder.link("ground", **(random_body(rng) if root else {}))
    axis, R = random_joint(rng, "revolute").axis, random_rotation(rng)
    along = {"revolute": 0.3 * np.array(axis), "prismatic": rng.normal(size=3), "spherical": np.zeros(3)}[kind]
    place = random_place(rng)
    builder.link("nothing")
    builder.joint("first", kind, "ground", "nothing", place[1], place[0], axis)
    builder.link("arm", **random_body(rng))
    turned = Vec3((R.T @ np.array(axis)).tolist())
    builder.joint("second", kind, "nothing", "arm", along, R, turned)
    for name, on in (("third", "arm"), ("fourth", "hand third")):
        place, hand = random_place(rng), f"hand {name}"
        builder.link(hand, **random_body(rng))
        follows = ("third", -0.7, 0.1) if mimic and name == "fourth" else None
        builder.joint(name, random_joint(rng, "revolute"), on, hand, place[1], place[0], mimic=follows)
    return hinge.Robot(builder.build(base="floating" if root else "fixed"))


def elastic(robot):
    """A robot with a spring behind its first motor, whose inertia counts as armature."""
    return robot.with_elastic(robot.joint_names[0], stiffness=50.0, damping=0.1, motor_inertia=0.3)


ROBOTS = {
    "revolute": lambda: two_on_one_axis("revolute", 0),
    "prismatic": lambda: two_on_one_axis("prismatic", 1),
    "spherical": lambda: two_on_one_axis("spherical", 2),
    "floating": lambda: two_on_one_axis("revolute", 3, root=True),
    "mimic": lambda: two_on_one_axis("prismatic", 4, mimic=True),
    "varied": lambda: two_on_one_axis("revolute", 5).vary("arm.mass", "gravity"),
    "driven": lambda: two_on_one_axis("revolute", 6).prescribe("fourth"),
    "elastic arm": lambda: elastic(hinge.samples.puma560()),
    "elastic tree": lambda: elastic(hinge.samples.random_tree(np.random.default_rng(0), 3, ("revolute", "prismatic"))),
}
TERMS = {"joint_terms": ("damping",)}  # without armature
robots = pytest.mark.parametrize("which", ROBOTS)


def called_with(robot, rng, name):
    """Inputs of an algorithm at states at random; all forces are given, and no acceleration."""
    made = {}
    for one, quantity in required_inputs(name).items():
        shape = (STATES, *quantity.shape(robot.model))
        made[one] = rng.uniform(0.1, 1.0, shape) if one != "h" else 0.01
        if quantity is PLACE:
            made[one] = robot.frame_names[-1]
        elif quantity is POSITION:
            made[one] = robot.random_state(rng, STATES)[0]
        elif quantity is KNOWN:
            made[one] = np.zeros(shape)
    return made


def more(which):
    """What calls of that robot take besides."""
    return {"prescribed": ([0.3], [0.2], [0.1])} if which == "driven" else {}


@pytest.mark.sampled(2)
@robots
def test_no_method_says_ok_where_there_is_no_answer(which):
    robot, rng = ROBOTS[which](), np.random.default_rng(7)
    H = robot.mass_matrix(robot.random_state(rng, 1)[0][0], **TERMS, **more(which))
    assert np.linalg.matrix_rank(H, tol=1e-12 * np.abs(H).max()) < robot.nv
    judged = 0
    for name, method in SOLVING:
        one = ALGORITHMS[name][method]
        if one.reason(robot.model):
            continue
        given = called_with(robot, rng, name).values()
        try:
            *made, status = getattr(robot, name)(*given, method=one.method, return_status=True, **TERMS, **more(which))
        except NotCovered as refused:
            judged += "moves nothing that has inertia" in str(refused)
            continue
        large = [np.abs(x[status == OK]).max(initial=0.0) for x in made]
        assert max(large) < LARGE, (name, method, large)
        if name == "hybrid_dynamics":
            assert not (status == OK).any()
            judged += 1
    assert judged >= 10


@pytest.mark.sampled(6)
@robots
@pytest.mark.parametrize("method", ["articulated", "composite"])
def test_hybrid_dynamics_has_an_answer_where_one_of_the_two_is_given(which, method):
    robot, rng = ROBOTS[which](), np.random.default_rng(8)
    if ALGORITHMS["hybrid_dynamics"][method].reason(robot.model):
        return  # the other method covers joints that follow
    given = called_with(robot, rng, "hybrid_dynamics")
    given["known"][:, robot.coordinates(robot.joint_names[1 if which != "floating" else 2])[1]] = 1.0
    tau, qdd, status = robot.hybrid_dynamics(*given.values(), method=method, return_status=True, **TERMS, **more(which))
    assert (status == OK).all()
    back = robot.inverse_dynamics(given["q"], given["qd"], qdd, **TERMS, **more(which))
    assert np.abs(back - tau).max() < 1e-8 * (1.0 + np.abs(tau).max())


@pytest.mark.sampled(1)
@pytest.mark.parametrize("which", ["elastic arm", "elastic tree"])
def test_armature_makes_it_regular_in_every_method(which):
    robot, rng = ROBOTS[which](), np.random.default_rng(9)
    q, qd = robot.random_state(rng, STATES)
    tau = rng.normal(size=qd.shape)
    want = robot.forward_dynamics(q, qd, tau)
    for method, one in ALGORITHMS["forward_dynamics"].items():
        if not one.reason(robot.model):
            qdd, status = robot.forward_dynamics(q, qd, tau, method=method, return_status=True)
            assert (status == OK).all()
            assert np.abs(qdd - want).max() < 1e-6 * np.abs(want).max(), method


def test_a_robot_that_is_singular_in_some_states_only_is_not_refused():
    # a mass on a massless arm of two joints: where the arm is straight up, the first joint moves nothing
    builder = Builder("mast")
    builder.link("base")
    builder.link("arm")
    builder.joint("turn", "revolute", "base", "arm", axis=(0.0, 0.0, 1.0))
    builder.link("mass", 1.0, (0.0, 0.0, 1.0), np.zeros((3, 3)))
    builder.joint("tilt", "revolute", "arm", "mass", axis=(1.0, 0.0, 0.0))
    mast = hinge.Robot(builder.build())
    for method, one in ALGORITHMS["forward_dynamics"].items():
        if not one.reason(mast.model):
            state = [0.3, 0.5], [0.1, 0.2], [1.0, 2.0]
            assert mast.forward_dynamics(*state, method=method, return_status=True)[1] == OK, method
