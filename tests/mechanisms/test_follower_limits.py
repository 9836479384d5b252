"""Limits of joints that follow another one: the leader keeps them too, in every call that reads limits."""

import numpy as np
import pytest

import hinge


def finger(ratio, offset, lower=-0.5, upper=0.3, velocity=1.0):
    """Return a robot with a leader within ±2 and 5 rad/s, and a follower with narrower limits."""
    builder = hinge.Builder("finger")
    builder.link("base")
    for name in ("leader", "follower"):
        builder.link(name, 1.0, com=(0.1, 0.0, 0.0), inertia=np.diag([0.01, 0.02, 0.02]))
    up = (0, 0, 1)
    builder.joint("a", "revolute", "base", "leader", axis=up, lower=-2.0, upper=2.0, velocity=5.0, effort=9.0)
    mimic = {"mimic": ("a", ratio, offset), "lower": lower, "upper": upper, "velocity": velocity, "effort": 1.0}
    builder.joint("b", "revolute", "leader", "follower", (0.3, 0, 0), axis=up, **mimic)
    return hinge.Robot(builder.build())


@pytest.mark.parametrize(("ratio", "offset"), [(1.0, 0.0), (-2.0, 0.1), (0.5, -0.2), (-0.1, 0.0)])
def test_within_the_leaders_limits_the_follower_keeps_its_own(ratio, offset):
    limits = finger(ratio, offset).limits
    for q in (limits.lower[0], limits.upper[0]):
        at = ratio * q + offset
        assert -0.5 - 1e-12 <= at <= 0.3 + 1e-12
        assert abs(q) == 2.0 or np.isclose(at, -0.5) or np.isclose(at, 0.3)  # and no narrower than that
    assert limits.velocity[0] == pytest.approx(min(5.0, 1.0 / abs(ratio)))
    assert limits.effort[0] == 9.0


def test_a_follower_without_limits_leaves_the_leader_its_own():
    robot = finger(2.0, 0.1, -np.inf, np.inf, np.inf)
    assert [float(x[0]) for x in robot.limits] == [-2.0, 2.0, 5.0, 9.0]


def test_calls_that_keep_limits_keep_those_of_followers():
    robot, ratio, offset = finger(-2.0, 0.1), -2.0, 0.1

    def follower(q):
        return ratio * np.asarray(q)[..., 0] + offset

    q, _ = robot.random_state(np.random.default_rng(0), 1000)
    assert -0.5 <= follower(q).min() < -0.49
    assert 0.29 < follower(q).max() <= 0.3
    motion = hinge.identify.excite(robot, duration=4.0, harmonics=3, tries=1)
    _, q, qd, _ = motion.sample(500.0)
    assert follower(q).min() >= -0.5
    assert follower(q).max() <= 0.3
    assert np.abs(ratio * qd).max() <= 1.0
    slow = hinge.motion.quintic(robot, [0.0], [0.2])
    assert np.abs(ratio * slow(np.linspace(0.0, slow.duration, 1000))[1]).max() <= 1.0 + 1e-9
    far = hinge.motion.quintic(robot, [0.0], [0.5], duration=5.0)
    assert "position" in str(hinge.motion.check_motion(robot, far))


@pytest.mark.parametrize("limits", ["stop", "spring"])
def test_stops_hold_followers_within_their_limits(limits):
    robot = finger(-2.0, 0.1)
    run = hinge.simulate(robot, 1.0, [0.0], control=lambda t, q, qd: 0.0 * q + 0.5, limits=limits, step=1e-3)
    at = -2.0 * run.q[-1, 0] + 0.1
    assert at == pytest.approx(-0.5, abs=0.05)
