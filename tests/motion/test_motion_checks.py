"""Motions against limits: what is broken, where, by how much."""

import numpy as np
import pytest

import hinge
from hinge import SizeError


def lifter(**data):
    """A block of 2 kg on a vertical slide: its force is 2 (a + g)."""
    builder = hinge.Builder("lifter")
    builder.link("base")
    builder.link("block", 2.0, inertia=np.eye(3))
    builder.joint("lift", "prismatic", "base", "block", axis=(0, 0, 1), **data)
    return hinge.Robot(builder.build())


def test_forces_are_those_of_the_motion():
    robot = lifter()
    motion = hinge.motion.trapezoidal(robot, [0.0], [1.0], duration=3.0)  # ramps of 1 s, 0.5 m/s
    found = hinge.check_motion(robot, motion)
    assert found.ok
    assert str(found) == "motion of 'lifter', 3 s: keeps all limits"
    assert (found.t.shape, found.q.shape, found.tau.shape) == ((1001,), (1001, 1), (1001, 1))
    wanted = 2.0 * (9.81 + np.where(found.t < 1.0, 0.5, np.where(found.t < 2.0, 0.0, -0.5)))
    np.testing.assert_allclose(found.tau[:, 0], wanted, rtol=0, atol=1e-12)


def test_an_effort_that_is_too_large_is_found_with_its_time():
    robot = lifter(effort=2.0 * 9.81 + 0.9)
    motion = hinge.motion.trapezoidal(robot, [0.0], [1.0], duration=3.0)
    (one,) = hinge.check_motion(robot, motion).violations
    assert (one.what, one.joint) == ("effort", "lift")
    assert (one.begin, one.end) == (0.0, pytest.approx(1.0, abs=4e-3))
    assert one.value == pytest.approx(2.0 * 9.81 + 1.0)
    assert one.limit == pytest.approx(2.0 * 9.81 + 0.9)


def test_forces_that_are_not_finite_keep_no_limit():
    builder = hinge.Builder("top")
    builder.link("base")
    builder.link("ball", 1.0, inertia=np.eye(3))
    builder.joint("pivot", "spherical", "base", "ball")

    def motion(t):
        return np.zeros((len(t), 4)), np.zeros((len(t), 3)), np.ones((len(t), 3))

    motion.duration = 1.0
    with pytest.raises(SizeError, match=r"joint forces that are not finite, at 0 s"):
        hinge.check_motion(hinge.Robot(builder.build()), motion)


def test_coordinates_and_velocities_are_looked_at_too():
    robot = lifter(lower=0.1, upper=0.9, velocity=0.4)
    motion = hinge.motion.quintic(robot, [0.0], [0.85], duration=3.0, velocity=np.inf)
    found = hinge.check_motion(robot, motion, samples=3000)
    place, speed = found.violations
    assert (place.what, place.worst, place.value, place.limit) == ("position", 0.0, 0.0, 0.1)
    assert motion(place.end).q[0] == pytest.approx(0.1, abs=1e-3)
    assert (speed.what, speed.worst) == ("velocity", pytest.approx(1.5))
    assert speed.value == pytest.approx(1.875 * 0.85 / 3.0)
    assert str(found).splitlines()[0] == "motion of 'lifter', 3 s: breaks 2 limits:"
    assert str(speed) in str(found)
    assert str(speed).startswith("velocity of 'lift' is 0.5312 at 1.5 s, the limit is 0.4; beyond it from ")


def test_what_is_driven_at_its_very_limit_is_kept():
    robot = lifter(lower=0.0, upper=1.0, velocity=0.4)
    assert hinge.check_motion(robot, hinge.motion.quintic(robot, [0.0], [1.0])).ok


def test_joint_terms_count():
    robot = lifter(effort=2.0 * 9.81 + 1.05, damping=0.2)
    motion = hinge.motion.trapezoidal(robot, [0.0], [1.0], duration=3.0)
    assert hinge.check_motion(robot, motion).ok
    assert not hinge.check_motion(robot, motion, joint_terms=("armature", "damping")).ok


def test_any_function_with_a_duration_is_a_motion():
    class Wave:
        duration = 2.0

        def __call__(self, t):
            return np.sin(t)[:, None], np.cos(t)[:, None], -np.sin(t)[:, None]

    found = hinge.check_motion(lifter(upper=0.5, lower=-1.0), Wave())
    (one,) = found.violations
    assert one.worst == pytest.approx(np.pi / 2, abs=2e-3)
    assert one.begin == pytest.approx(np.pi / 6, abs=2e-3)


def test_joints_of_several_freedoms_are_numbered():
    builder = hinge.Builder("ball")
    builder.link("base")
    builder.link("arm", 1.0, (0.0, 0.0, -0.3), inertia=np.eye(3))
    builder.joint("shoulder", "spherical", "base", "arm", velocity=0.1)
    robot = hinge.Robot(builder.build())
    motion = hinge.motion.quintic(robot, [1, 0, 0, 0], [np.cos(0.5), 0, np.sin(0.5), 0], 1.0, velocity=np.inf)
    assert [one.joint for one in hinge.check_motion(robot, motion).violations] == ["shoulder[1]"]


class Wrong:
    duration = 1.0

    def __init__(self, *made):
        self.made = made

    def __call__(self, t):
        return tuple(x[: len(t)] for x in self.made)


Z = np.zeros((1001, 1))


@pytest.mark.parametrize(
    ("motion", "said"),
    [
        (Wrong(Z, Z), "the motion gives 2 things at a time, not q, qd and qdd"),
        (lambda t: t, "takes a motion: a function of time with a duration"),
        (Wrong(Z, np.zeros((1001, 2)), Z), r"gives qd of shape \(1001, 2\) for 1001 times; robot 'lifter' wants"),
        (Wrong(Z, Z, np.where(np.arange(1001) < 500, 0.0, np.nan)[:, None]), "a qdd that is not finite, at 0.5 s"),
    ],
)
def test_what_is_no_motion_is_refused(motion, said):
    with pytest.raises(SizeError, match=said):
        hinge.check_motion(lifter(), motion)


def test_samples_are_counted():
    with pytest.raises(SizeError, match="samples=0 is not known"):
        hinge.check_motion(lifter(), Wrong(Z, Z, Z), samples=0)


def test_a_floating_base_has_no_actuator():
    """A brick that hovers is held by nothing; one that falls needs nothing."""
    brick = hinge.Scene().body("brick", "box", (0.2, 0.2, 0.2), mass=2.0).robot

    class Move:
        duration = 1.0

        def __init__(self, pull):
            self.pull = pull

        def __call__(self, t):
            q, qd, qdd = np.tile(brick.neutral(), (len(t), 1)), np.zeros((len(t), 6)), np.zeros((len(t), 6))
            q[:, 6], qd[:, 5], qdd[:, 5] = self.pull * t * t / 2, self.pull * t, self.pull
            return q, qd, qdd

    assert hinge.check_motion(brick, Move(-9.81)).ok
    (found,) = hinge.check_motion(brick, Move(0.0)).violations
    assert (found.what, found.limit) == ("effort", 0.0)
    assert found.value == pytest.approx(2.0 * 9.81)
