"""A frame by name is what the program for any frame gives, at the cost of the way to that frame."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from robots import drawn, families, law, random_body, seeds
from yardsticks import assert_close, computed

import hinge
from hinge.calls.call import Call
from hinge.calls.poses import poses
from hinge.dynamics.place import At
from hinge.dynamics.registry import ALGORITHMS, PLACE, POSITION
from hinge.errors import UnknownName

# many robots of a few calls each, which are not worth compiling
pytestmark = pytest.mark.usefixtures("plain_interpreter")

ABOUT_FRAMES = [name for name, known in ALGORITHMS.items() if next(iter(known.values())).asks_for_a_frame]
FRAMES = ("body", "base", "aligned")


def arguments(robot, rng, name, q, frames):
    """What a call takes, by the names of its inputs; frames in turn."""
    frames, made = iter(frames), {}
    for key, quantity in next(iter(ALGORITHMS[name].values())).inputs.items():
        if quantity is PLACE:
            made[key] = next(frames)
        elif quantity.absent is None:
            made[key] = q if quantity is POSITION else rng.normal(size=quantity.shape(robot.model))
    return made


@pytest.mark.sampled(1)
@families
@given(seed=seeds)
@law(2)
def test_a_frame_by_name_is_the_frame_that_is_an_input(family, seed):
    robot, rng, q, _, _ = drawn(family, seed)
    for name in set(ABOUT_FRAMES) - {"resolved_rate", "resolved_acceleration"}:  # those take arrays besides
        if all(one.reason(robot.model) for one in ALGORITHMS[name].values()):
            continue  # no method covers this robot
        algorithm = hinge.dynamics.choose(robot.model, name)
        choices = list(product(*algorithm.options.values()))
        options = dict(zip(algorithm.options, choices[rng.integers(len(choices))], strict=True))
        said = arguments(robot, rng, name, q, rng.choice(robot.frame_names, 2))
        wanted = computed(robot.target.traced, name, algorithm.method, options, said)
        assert_close(getattr(robot, name)(*said.values(), **options), wanted, 1e-12, 10.0)


def branched(*arms):
    """A trunk of two links with arms of three, each with a hand."""
    builder = hinge.Builder("branched")
    builder.link("base")
    links = [("base", "trunk0"), ("trunk0", "trunk1")]
    for arm in arms:
        links += [("trunk1", f"{arm}0"), (f"{arm}0", f"{arm}1"), (f"{arm}1", f"{arm}2")]
    for parent, child in links:
        own = np.random.default_rng(list(child.encode()))  # a link is the same whatever else there is
        builder.link(child, **random_body(own))
        builder.joint(f"to_{child}", "revolute", parent, child, own.normal(size=3), axis=own.normal(size=3))
    for arm in arms:
        builder.frame(f"{arm}_hand", f"{arm}2", (0.1, 0.2, 0.3))
    return hinge.Robot(builder.build())


ALONE, CROWDED = branched("left"), branched("left", "right", "third", "head")


def operations(robot, name, **asked):
    return robot.kernel(name, **asked).program.operations


@pytest.mark.parametrize("name", ["pose", "jacobian", "jacobian_rate", "velocity", "acceleration"])
@pytest.mark.parametrize("frame", ["left_hand", "trunk1"])
def test_a_frame_costs_its_own_branch(name, frame):
    assert operations(CROWDED, name, at=frame) == operations(ALONE, name, at=frame)
    assert operations(CROWDED, name, at=frame) < operations(ALONE, name) < operations(CROWDED, name)


def pushed(robot, name, *frames):
    """The operations with forces at frames."""
    call = Call.parse(robot.target, name, (("external", At(frames)),), optional=["external"])
    return call.trace()[1].operations


@pytest.mark.parametrize("name", ["inverse_dynamics", "bias_force", "forward_dynamics"])
def test_a_force_costs_itself_and_its_turning(name):
    """Whatever else the robot has: to turn a wrench and to shift it takes 48 operations, and 6 to add it."""
    more = pushed(CROWDED, name, "left_hand") - operations(CROWDED, name)
    assert 0 < more <= 54
    assert pushed(ALONE, name, "left_hand") - operations(ALONE, name) == more
    assert pushed(CROWDED, name, "left_hand", "right_hand") - operations(CROWDED, name) == 2 * more


@families
@given(seed=seeds)
@law(2)
def test_forces_at_frames_are_forces_on_bodies(family, seed):
    """In any coordinates, several at once, two of them on one body."""
    robot, rng, q, qd, qdd = drawn(family, seed)
    frames = ["tip", robot.body_names[-1], *rng.choice(robot.frame_names, 2)]
    push = {str(name): rng.normal(size=6) for name in frames}
    wanted = computed(robot.target.traced, "inverse_dynamics", "newton_euler", {},
                      {"q": q, "qd": qd, "qdd": qdd, "external": push, "base_motion": np.zeros((2, 6))})  # fmt: skip
    assert_close(robot.inverse_dynamics(q, qd, qdd, external=push, method="newton_euler"), wanted, 1e-12, 30.0)
    for frame in FRAMES:
        seen = {}
        for name, w in push.items():
            T = robot.pose(q, name)
            R, p = (np.eye(3), np.zeros(3)) if frame == "body" else (T[:3, :3], T[:3, 3] * (frame == "base"))
            force = R @ w[3:]
            seen[name] = np.concatenate([R @ w[:3] + np.cross(p, force), force])
        made = robot.inverse_dynamics(q, qd, qdd, external=seen, external_frame=frame, method="newton_euler")
        assert_close(made, wanted, 1e-12, 30.0)


def test_the_order_of_names_says_nothing():
    rng = np.random.default_rng(1)
    q, qd = CROWDED.random_state(rng, 3)
    push = {name: rng.normal(size=6) for name in ("right_hand", "left_hand", "trunk0")}
    first = CROWDED.inverse_dynamics(q, qd, qd, external=push)
    before = len(CROWDED.target.memo)
    again = CROWDED.inverse_dynamics(q, qd, qd, external=dict(reversed(push.items())))
    assert np.array_equal(first, again)
    assert len(CROWDED.target.memo) == before


def test_a_kernel_of_a_frame_takes_the_state_alone():
    q = CROWDED.random_state(np.random.default_rng(3), 2)[0]
    kernel, out = CROWDED.kernel("jacobian", at="left_hand", frame="aligned"), np.empty((6, CROWDED.nv))
    bound = kernel.bind(q[0].copy(), out)
    bound()
    assert np.array_equal(out, CROWDED.jacobian(q, "left_hand", frame="aligned")[0])
    pair = CROWDED.kernel("cross_inertia", at=("left_hand", "right_hand"))
    assert np.array_equal(pair(q), CROWDED.cross_inertia(q, "left_hand", "right_hand"))


def test_kernels_say_how_many_frames_they_are_about():
    with pytest.raises(UnknownName, match="cross_inertia is about 2 frames, a and b; 1 is named"):
        CROWDED.kernel("cross_inertia", at="left_hand")
    with pytest.raises(UnknownName, match="mass_matrix is not about a frame"):
        CROWDED.kernel("mass_matrix", at="left_hand")


@families
def test_several_frames_at_once_are_where_each_is(family):
    robot, rng, *_ = drawn(family, 1)
    q = robot.random_state(rng, 3)[0]
    made = poses(robot.target, q, robot.frame_names)
    assert_close(made, np.stack([robot.pose(q, name) for name in robot.frame_names], axis=1), 1e-14, 10.0)
    assert_close(poses(robot.target, q[1], robot.frame_names), made[1], 0.0, 1.0)


def test_a_frame_may_stand_where_symbols_say():
    arm = hinge.samples.planar_2r(symbols=True)
    values = {name: 0.5 + 0.25 * k for k, name in enumerate(arm.model.symbols)}
    numbers, q, push = arm.with_values(values), np.array([0.3, -0.8]), {"hand": np.arange(6.0)}
    assert_close(arm.pose(q, "hand", parameters=values), numbers.pose(q, "hand"), 1e-14, 1.0)
    assert_close(arm.bias_force(q, q, external=push, parameters=values), numbers.bias_force(q, q, external=push),
                 1e-13, 10.0)  # fmt: skip
