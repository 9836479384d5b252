"""Controllers of the joints: errors die out as the equations say."""

import numpy as np
import pytest
from control_robots import AWAY, quiet, ur5

import hinge

GOAL = AWAY + np.array([0.8, -0.5, 0.6, 0.9, 0.7, -1.2])


def puma():
    return hinge.samples.puma560()


@pytest.mark.parametrize(("make", "start"), [(puma, AWAY), (ur5, [0.3, -1.2, 1.5, -1.0, -1.2, 0.4])])
def test_computed_torque_tracks_a_six_joint_arm(make, start):
    arm = make()
    motion = hinge.motion.quintic(arm, start, np.add(start, [1.0, 0.6, -0.8, 0.5, 0.4, -1.0]), duration=1.0)
    run = quiet(arm, motion.duration, start, control=hinge.control.computed_torque(arm, motion))
    assert np.abs(run.q - motion(run.t).q).max() < 1e-6
    assert np.abs(run.qd - motion(run.t).qd).max() < 1e-5
    assert np.abs(motion(0.5).qd).max() > 1.0  # and it does move


def test_errors_of_computed_torque_die_out_as_said():
    """ë + kd ė + kp e = 0 at every joint: with kd = 2 √kp, e = e0 (1 + w t) exp(-w t)."""
    arm, t = puma(), np.linspace(0.0, 1.0, 1001)
    kp = np.array([25.0, 36.0, 49.0, 64.0, 81.0, 100.0])
    run = quiet(arm, 1.0, AWAY, control=hinge.control.computed_torque(arm, GOAL, kp))
    w = np.sqrt(kp)
    wanted = GOAL + (AWAY - GOAL) * (1.0 + w * t[:, None]) * np.exp(-w * t[:, None])
    np.testing.assert_allclose(run.q, wanted, rtol=0, atol=1e-8)


def test_a_model_that_is_wrong_is_felt():
    """A load that the controller does not know of: it holds the arm off its goal by what it weighs."""
    arm = puma()
    loaded = arm.with_payload("tool", 2.0)
    run = quiet(loaded, 3.0, AWAY, control=hinge.control.computed_torque(arm, AWAY, 100.0), step=2e-3)
    error = arm.difference(run.q[-1], AWAY)
    weight = loaded.gravity_force(run.q[-1]) - arm.gravity_force(run.q[-1])
    np.testing.assert_allclose(arm.mass_matrix(run.q[-1]) @ (100.0 * error), weight, rtol=0, atol=1e-4)
    assert np.abs(error).max() > 1e-3


def test_pd_carries_the_weight_and_comes_to_rest_at_its_goal():
    arm = puma()
    control = hinge.control.pd(
        arm, GOAL, kp=[400.0, 400.0, 200.0, 20.0, 20.0, 20.0], kd=[80.0, 80.0, 30.0, 2.0, 2.0, 2.0]
    )
    run = quiet(arm, 4.0, AWAY, control=control, step=2e-3)
    np.testing.assert_allclose(run.q[-1], GOAL, rtol=0, atol=1e-3)
    np.testing.assert_allclose(control(0.0, GOAL, np.zeros(6)), arm.gravity_force(GOAL), rtol=0, atol=1e-12)
    bare = hinge.control.pd(arm, GOAL, kp=400.0, gravity=False)
    assert not bare(0.0, GOAL, np.zeros(6)).any()


def test_a_ball_joint_on_a_free_body_is_controlled_and_nothing_pushes_the_body():
    builder = hinge.Builder("flyer", gravity=(0, 0, 0))
    builder.link("world")
    builder.link("body", 3.0, (0.1, 0.0, 0.0), np.diag([0.3, 0.4, 0.5]))
    builder.link("arm", 1.0, (0.0, 0.0, -0.3), np.diag([0.1, 0.1, 0.02]))
    builder.joint("base", "free", "world", "body")
    builder.joint("shoulder", "spherical", "body", "arm", (0.0, 0.2, 0.0))
    robot = hinge.Robot(builder.build())
    q, _ = robot.random_state(np.random.default_rng(2), 2)
    motion = hinge.motion.quintic(robot, *q, duration=1.0)
    control = hinge.control.computed_torque(robot, motion)
    run = quiet(robot, 1.0, q[0], control=control, step=2e-3)
    assert np.abs(robot.difference(run.q, motion(run.t).q)[:, 6:]).max() < 1e-6
    assert not control(0.3, run.q[50], run.qd[50])[:6].any()
    momentum = robot.momentum(run.q, run.qd)
    np.testing.assert_allclose(momentum, np.zeros_like(momentum), atol=1e-6)


# saturation


def test_saturated_forces_stay_within_their_limits():
    arm = puma()
    goal = hinge.control.computed_torque(arm, GOAL)
    effort = np.array([50.0, 60.0, 30.0, np.inf, 1.0, 1.0])
    weak = hinge.control.saturate(arm, goal, effort)
    run = quiet(arm, 0.2, AWAY, control=weak, step=2e-3)
    assert np.abs(run.tau[:, 0]).max() == 50.0
    assert (np.abs(run.tau) <= effort).all()
    q, qd = arm.random_state(np.random.default_rng(0), 7)
    np.testing.assert_array_equal(weak(0.0, q, qd), np.clip(goal(0.0, q, qd), -effort, effort))


def test_without_limits_of_its_own_the_robots_serve():
    arm = ur5()
    control = hinge.control.saturate(arm, lambda t, q, qd: 1e4 + q)
    np.testing.assert_array_equal(control(0.0, np.zeros(6), np.zeros(6)), arm.limits.effort)


def test_what_saturates_does_not_push_a_floating_base():
    robot = hinge.samples.go2()
    state = 0.0, robot.keyframes["home"], np.zeros(18)
    push = lambda t, q, qd: np.full(18, 5.0)
    np.testing.assert_array_equal(hinge.control.saturate(robot, push)(*state), np.r_[np.zeros(6), np.full(12, 5.0)])
    np.testing.assert_array_equal(
        hinge.control.saturate(robot, push, 2.0)(*state), np.r_[np.zeros(6), np.full(12, 2.0)]
    )
    each = np.arange(1.0, 19.0)  # thrusters, say
    np.testing.assert_array_equal(hinge.control.saturate(robot, push, each)(*state), np.minimum(each, 5.0))
