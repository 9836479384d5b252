"""Hands led to where they cannot go: past elbow and shoulder, out of reach and back; and what the trajectory says."""

import numpy as np
import pytest
from control_robots import AWAY, quiet, shifted, ur5

import hinge
from hinge import Status

PUMA = hinge.samples.puma560()
LAWS = {
    "operational_space": hinge.control.operational_space,
    "resolved_acceleration": hinge.control.resolved_acceleration,
}


def puma_out():
    """A line that ends 17 cm beyond what a Puma's hand reaches."""
    q = np.array([0.3, 0.2, -0.4, 0.2, -0.6, 0.1])
    return PUMA, "tool", q, 1.4, 3.0


def ur5_out():
    return ur5(), "tool0", np.array([0.3, -1.0, 1.2, -0.5, 1.0, 0.2]), 2.0, 3.0


def shoulder():
    """A line through the Puma's first axis, near which its hand does not get."""
    return (
        PUMA,
        "tool",
        np.array([0.3, -1.2, 2.6, 0.2, -0.6, 0.1]),
        -1.0,
        8.0,
    )  # the first joint, which swings it round, has nothing to hold


def outward(arm, at, q, times):
    start = arm.pose(q, at)
    end = start.copy()
    end[: 3 if times > 0.0 else 2, 3] *= times
    return hinge.motion.line(start, end, duration=2.0)


def there_and_back(line):
    """A motion that turns round where a line ends, and rests at both ends."""

    def motion(t):
        pose, twist, rate = line(2.0 - abs(t - 2.0))
        return pose, np.where(t < 2.0, 1.0, -1.0) * twist, rate

    return motion


@pytest.mark.sampled(1)
@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("case", [puma_out, ur5_out, shoulder])
def test_a_line_out_of_reach_is_survived(case, law):
    arm, at, q, times, most = case()
    line = outward(arm, at, q, times)
    run, finer = (quiet(arm, 4.0, q, control=LAWS[law](arm, line, at), step=h) for h in (2e-3, 1e-3))
    holding = np.abs(arm.gravity_force(run.q)).max()
    assert np.abs(run.tau).max() < most * holding
    assert np.abs(run.qd).max() < 10.0
    jump, half = (np.abs(np.diff(r.tau, axis=0)).max() for r in (run, finer))
    assert half == pytest.approx(0.5 * jump, rel=0.1)  # what does not jump changes half as much in half the time
    assert np.abs(run.qd[-1]).max() < 0.1 or case is shoulder  # at rest, where it does not go round yet
    assert run.status == Status.UNREACHED
    assert 0.3 < run.lost < 1.2
    assert np.isfinite(run.q).all()


@pytest.mark.sampled(1)
@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("case", [puma_out, ur5_out])
def test_from_out_of_reach_the_hand_comes_back_to_its_line(case, law):
    arm, at, q, times, most = case()
    motion = there_and_back(outward(arm, at, q, times))
    run = quiet(arm, 6.0, q, control=LAWS[law](arm, motion, at), step=2e-3)
    np.testing.assert_allclose(arm.pose(run.q[-1], at), arm.pose(q, at), rtol=0, atol=1e-4)
    assert np.abs(run.tau).max() < most * np.abs(arm.gravity_force(run.q)).max()


def test_free_joints_come_to_rest():
    """Only the place of the hand is asked for: the wrist, which turns at first, does not turn for ever."""
    stay = PUMA.pose(AWAY, "tool")
    spin = np.linalg.svd(PUMA.jacobian(AWAY, "tool", frame="aligned")[3:])[2][-1]  # moves the hand's axes alone
    for law in LAWS.values():
        run = quiet(PUMA, 1.0, AWAY, 2.0 * spin, control=law(PUMA, stay, "tool", task="position"), step=2e-3)
        assert np.abs(run.qd[-1]).max() < 1e-3
        np.testing.assert_allclose(PUMA.pose(run.q, "tool")[:, :3, 3] - stay[:3, 3], 0.0, rtol=0, atol=1e-5)
        assert run.status == Status.OK


# what is asked of joints


def test_a_bound_on_joint_rates_holds_in_weak_directions_and_leaves_the_others_alone():
    q = np.tile(AWAY, (801, 1))
    q[:, 4] = np.linspace(-0.8, 0.8, 801)  # the wrist passes straight
    for twist in ([2.0, 0.0, 0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0, 0.0, 0.5]):
        free = PUMA.resolved_rate(q, twist, "tool", damping=0.0)
        made, status = PUMA.resolved_rate(q, twist, "tool", damping=1e-4, most=5.0, return_status=True)
        assert np.linalg.norm(made, axis=1).max() < 1.5 * 5.0
        exact = np.linalg.norm(free, axis=1) < 5.0
        assert exact.any()
        np.testing.assert_allclose(made[exact], free[exact], rtol=0, atol=1e-9)
        assert np.array_equal(status[exact], np.zeros(exact.sum()))
        jump, half = (np.abs(np.diff(rows, axis=0)).max() for rows in (made[::2], made))
        assert half == pytest.approx(0.5 * jump, rel=0.1)


def test_what_is_easy_is_met_however_much_is_asked():
    """In a direction that joints move well, nothing is damped."""
    q = np.array([0.3, 0.2, -0.4, 0.2, -1.2, 0.1])
    L = PUMA.jacobian(q, "tool", frame="aligned")
    way = L @ np.linalg.svd(L)[2][0]
    made, status = PUMA.resolved_rate(q, 1e3 * way, "tool", most=1.0, return_status=True)
    np.testing.assert_allclose(L @ made, 1e3 * way, rtol=1e-9, atol=1e-9)
    assert status == Status.OK


# the status of a run


def beyond(arm=PUMA):
    return arm.pose(AWAY, "tool"), shifted(arm.pose(AWAY, "tool"), [1.0, 0.0, 0.0])


@pytest.mark.sampled(1)
@pytest.mark.parametrize("how", [{}, {"sample": 1}, {"method": "dopri5"}, {"record": "last"}])
def test_each_rollout_says_whether_it_was_led(how):
    """Two starts, one in reach of the target and one with a straight wrist."""
    straight = AWAY * np.array([1.0, 1.0, 1.0, 1.0, 0.0, 1.0])
    control = hinge.control.operational_space(PUMA, PUMA.pose(AWAY, "tool"), "tool")
    run = quiet(PUMA, 0.1, np.array([AWAY, straight]), control=control, step=2e-3, **how)
    assert run.status.tolist() == [Status.OK, Status.UNREACHED]
    assert np.isnan(run.lost[0])
    assert run.lost[1] == 0.0
    assert not run.failed.any()
    assert np.isfinite(run.q).all()
    assert "1 of 2 not led as wanted: UNREACHED" in repr(run)


def test_a_rollout_says_so_too():
    straight = AWAY * np.array([1.0, 1.0, 1.0, 1.0, 0.0, 1.0])
    control = hinge.control.operational_space(PUMA, PUMA.pose(AWAY, "tool"), "tool")
    made = hinge.rollout(PUMA, np.array([AWAY, straight]), np.zeros(6), 20, 1e-3, policy=control)
    assert made.status.tolist() == [Status.OK, Status.UNREACHED]
    assert np.isfinite(made.q).all()


def test_a_rollout_that_fails_later_has_failed():
    def control(t, q, qd):
        return np.where(t < 0.05, 0.0, np.nan) + 0.0 * q

    control.status = lambda t, q, qd: np.where(t > 0.02, Status.UNREACHED, Status.OK)
    run = hinge.simulate(PUMA, 0.1, control=control, step=1e-2)
    assert run.status == Status.NONFINITE
    assert run.lost == pytest.approx(0.05)


def test_a_run_that_goes_on_in_a_file_remembers(tmp_path):
    control = hinge.control.operational_space(PUMA, beyond()[1], "tool")
    file = tmp_path / "run.zarr"
    first = quiet(PUMA, 0.6, AWAY, control=control, step=2e-3, file=file)
    again = quiet(PUMA, 0.1, control=hinge.control.pd(PUMA, AWAY), step=2e-3, file=file, append=True)
    assert first.status == again.status == Status.UNREACHED
    assert again.lost == first.lost
    assert np.isfinite(hinge.open(file).q).all()


def test_states_are_judged_by_the_controller_itself():
    control = hinge.control.operational_space(PUMA, beyond()[1], "tool")
    run = quiet(PUMA, 1.0, AWAY, control=control, step=2e-3)
    said = control.status(run.t, run.q, run.qd)
    assert run.t[np.argmax(said)] == run.lost
    assert set(said.tolist()) == {Status.OK, Status.UNREACHED}
