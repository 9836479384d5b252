"""Controllers of the hand: it stays on its line, passes where joints lose their hold, and gives way as told."""

import numpy as np
import pytest
from control_robots import AWAY, off_line, quiet, shifted, ur5

import hinge

ARM = hinge.samples.puma560()
START = ARM.pose(AWAY, "tool")
LINE = hinge.motion.line(START, shifted(START, [-0.15, -0.2, 0.1]), duration=1.0)


def hand(q, arm=ARM, at="tool"):
    return arm.pose(q, at)[:, :3, 3]


@pytest.mark.sampled(1)
@pytest.mark.parametrize("method", ["jacobian", "strobe"])
def test_resolved_acceleration_keeps_the_hand_on_a_line(method):
    run = quiet(ARM, 1.0, AWAY, control=hinge.control.resolved_acceleration(ARM, LINE, "tool", method=method))
    aside, along = off_line(hand(run.q), START[:3, 3], LINE(1.0).pose[:3, 3])
    assert aside.max() < 1e-5
    assert (along[0], along[-1]) == (pytest.approx(0.0, abs=1e-6), pytest.approx(1.0, abs=1e-6))
    np.testing.assert_allclose(ARM.pose(run.q, "tool"), LINE(run.t).pose, rtol=0, atol=1e-6)


def test_the_same_on_a_ur5_around_a_circle():
    arm, q = ur5(), np.array([0.3, -1.2, 1.5, -1.0, -1.2, 0.4])
    start = arm.pose(q, "tool0")
    motion = hinge.motion.circle(start, start[:3, 3] + [0.0, 0.0, 0.1], [1.0, 0.0, 0.0], duration=2.0, turn=False)
    control = hinge.control.resolved_acceleration(arm, motion, "tool0")
    run = quiet(arm, 2.0, q, control=control, step=2e-3)
    np.testing.assert_allclose(arm.pose(run.q, "tool0"), motion(run.t).pose, rtol=0, atol=1e-5)


def test_errors_of_the_hand_die_out_as_said():
    """Started beside its target and turned away from it, each direction is an oscillator of its own."""
    aside, t = shifted(START, [0.02, -0.01, 0.03]), np.linspace(0.0, 0.5, 251)
    control = hinge.control.operational_space(ARM, aside, "tool", kp=100.0)
    run = quiet(ARM, 0.5, AWAY, control=control, step=2e-3)
    left = (1.0 + 10.0 * t) * np.exp(-10.0 * t)
    np.testing.assert_allclose(hand(run.q), aside[:3, 3] + left[:, None] * (START - aside)[:3, 3], rtol=0, atol=1e-8)


# singular places


def passage(damping, step):
    """The wrist goes from one side to the other, past the place where it is straight and hardly turns sideways."""
    far = AWAY + np.array([0.05, -0.02, 0.02, 0.03, 1.2, 0.02])
    motion = hinge.motion.line(START, ARM.pose(far, "tool"), duration=2.0)
    control = hinge.control.operational_space(ARM, motion, "tool", damping=damping)
    return motion, quiet(ARM, 3.0, AWAY, control=control, step=step)


def test_operational_space_control_passes_a_singular_place_without_a_jump():
    (motion, run), (_, finer) = passage(None, 2e-3), passage(None, 1e-3)
    _, status = ARM.resolved_rate(run.q, np.zeros(6), "tool", metric="inertia", return_status=True)
    through = run.q[status == hinge.Status.SINGULAR]
    assert len(through) > 10
    assert through[0, 4] < 0.0 < through[-1, 4]  # it does pass
    assert np.abs(run.tau).max() < 50.0
    jump, half = (np.abs(np.diff(r.tau, axis=0)).max() for r in (run, finer))
    assert half == pytest.approx(0.5 * jump, rel=0.1)  # what does not jump changes half as much in half the time
    np.testing.assert_allclose(ARM.pose(run.q[-1], "tool"), motion(9.0).pose, rtol=0, atol=1e-6)


def test_without_damping_it_would_need_forces_no_arm_has():
    _, run = passage(0.0, 1e-3)
    assert np.abs(run.tau).max() > 1000.0


# null-space tasks


REDUNDANT = hinge.samples.chain(np.random.default_rng(3), 8)
TIP = REDUNDANT.body_names[-1]


def follows(control, q, qd):
    """The hand's acceleration under a controller."""
    qdd = REDUNDANT.forward_dynamics(q, qd, control(0.3, q, qd))
    return REDUNDANT.acceleration(q, qd, qdd, TIP, frame="aligned", kind="classical"), qdd


@pytest.mark.parametrize("law", ["operational_space", "impedance"])
def test_a_null_space_task_is_not_felt_by_the_hand(law):
    q, qd = REDUNDANT.random_state(np.random.default_rng(0), 20)
    target, null = np.eye(4), hinge.control.posture(REDUNDANT, np.zeros(8))
    gains = (300.0, 20.0) if law == "impedance" else (100.0,)
    make = getattr(hinge.control, law)
    (alone, qdd), (both, moved) = (follows(make(REDUNDANT, target, TIP, *gains, null=n), q, qd) for n in (None, null))
    np.testing.assert_allclose(both, alone, rtol=0, atol=1e-6 * np.abs(alone).max())
    assert np.abs(moved - qdd).max() > 1.0


def test_a_posture_is_taken_while_the_hand_stays():
    q0 = np.array([0.2, 0.5, -0.4, 0.6, 0.3, -0.5, 0.4, 0.2])
    stay = REDUNDANT.pose(q0, TIP)
    rest = hinge.control.posture(REDUNDANT, q0 + 0.2, kp=20.0)
    control = hinge.control.operational_space(REDUNDANT, stay, TIP, null=rest)
    run = quiet(REDUNDANT, 2.0, q0, control=control, step=2e-3)
    np.testing.assert_allclose(REDUNDANT.pose(run.q, TIP), np.broadcast_to(stay, (1001, 4, 4)), rtol=0, atol=1e-6)
    assert np.abs(run.q[-1] - q0).max() > 0.02


def test_tasks_can_be_stacked():
    """A place first, a direction where it leaves room, a posture where that does: the first is exact."""
    q, qd = REDUNDANT.random_state(np.random.default_rng(1), 10)
    posture = hinge.control.posture(REDUNDANT, np.zeros(8))
    turn = hinge.control.reach(REDUNDANT, np.eye(4), TIP, task="orientation", null=posture)
    control = hinge.control.operational_space(REDUNDANT, np.eye(4), TIP, task="position", null=turn)
    made, _ = follows(control, q, qd)
    shift, v = -REDUNDANT.pose(q, TIP)[:, :3, 3], REDUNDANT.velocity(q, qd, TIP, frame="aligned")[:, 3:]
    np.testing.assert_allclose(made[:, 3:], 100.0 * shift - 20.0 * v, rtol=0, atol=1e-6)


# impedance


def test_pushed_steadily_the_hand_gives_way_by_force_over_stiffness():
    K = np.array([40.0, 50.0, 60.0, 800.0, 900.0, 1000.0])
    q = AWAY + 0.01 * np.arange(6)
    tau = hinge.control.impedance(ARM, START, "tool", K, 10.0)(0.0, q, np.zeros(6))
    here = ARM.pose(q, "tool")
    turn = hinge.motion.line(here, START, 1.0)._straight[:3]
    push = -K * np.concatenate([turn, START[:3, 3] - here[:3, 3]])
    held = ARM.forward_dynamics(q, np.zeros(6), tau, external={"tool": push}, external_frame="aligned")
    np.testing.assert_allclose(held, 0.0, rtol=0, atol=1e-9)


def test_impedance_brings_the_hand_home():
    control = hinge.control.impedance(ARM, START, "tool", [30.0] * 3 + [800.0] * 3, [5.0] * 3 + [150.0] * 3)
    run = quiet(ARM, 2.0, AWAY + 0.05, control=control, step=2e-3)
    np.testing.assert_allclose(ARM.pose(run.q[-1], "tool"), START, rtol=0, atol=2e-3)
