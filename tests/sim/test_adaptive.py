"""Steps chosen by their error: dense output, events, and other programs' solvers."""

import numpy as np
import pytest
from sim_robots import START, double_pendulum, exactly, flyer, free_body, two_rods

import hinge


def falling():
    """A mass on a vertical rail."""
    builder = hinge.Builder("drop")
    builder.link("base")
    builder.link("ball", 1.0, inertia=np.eye(3))
    builder.joint("z", "prismatic", "base", "ball", axis=(0, 0, 1))
    return hinge.Robot(builder.build())


def floor(t, q, qd):
    return q[0]


def rail_end(t, q, qd):
    return q[0] + 3.0


# what lies between the steps


@pytest.mark.parametrize("robot", [double_pendulum(), flyer()], ids=lambda r: r.name)
def test_dense_output_is_as_good_as_fine_steps(robot):
    q, qd = (a[0] for a in robot.random_state(np.random.default_rng(5), 1))
    dense = hinge.simulate(robot, 1.0, q, qd, method="dopri5", step=1e-2, rtol=1e-9, atol=1e-9)
    fine = hinge.simulate(robot, 1.0, q, qd, method="rk4", step=2.5e-4, record=40)
    np.testing.assert_allclose(dense.t, fine.t, rtol=0, atol=1e-12)
    assert np.abs(robot.difference(fine.q, dense.q)).max() < 1e-6
    assert np.abs(dense.qd - fine.qd).max() < 1e-6


def test_dense_output_falls_with_the_tolerance():
    wanted = np.array([exactly(two_rods, [*START, 0.0, 0.0], t) for t in (0.1, 0.2, 0.3)])
    errors = []
    for tol in (1e-6, 1e-8, 1e-10):
        run = hinge.simulate(double_pendulum(), 0.4, START, method="dopri5", step=0.1, rtol=tol, atol=tol)
        errors.append(np.abs(np.concatenate([run.q, run.qd], axis=1)[1:4] - wanted).max())
    assert errors[2] < errors[1] / 10 < errors[0] / 100


def test_the_grid_ends_at_the_end_whatever_the_spacing():
    for t, step, record, wanted in ((1.0, 0.3, 1, 5), (1.0, 0.25, 1, 5), (0.7, 0.1, 1, 8), (1.0, 0.1, 4, 4)):
        run = hinge.simulate(double_pendulum(), t, START, method="dopri5", step=step, record=record)
        assert len(run) == wanted
        assert run.t[-1] == t
        assert np.isfinite(run.q).all()
    last = hinge.simulate(double_pendulum(), 1.0, START, method="dopri5", record="last")
    assert len(last) == 1
    assert last.t[0] == 1.0


def test_a_long_record_is_made_in_few_steps(monkeypatch):
    """At rest nothing happens, so the steps get long, and all that is asked for is there."""
    run = hinge.simulate(double_pendulum(), 50.0, method="dopri5", step=1e-2)
    assert len(run) == 5001
    assert np.abs(run.q).max() == 0.0


# events


def test_a_body_falls_for_as_long_as_galileo_says():
    floor.terminal = True
    run = hinge.simulate(falling(), 5.0, [2.0], method="dopri5", step=0.01, events=[floor])
    (event,) = run.events
    t = np.sqrt(2 * 2.0 / 9.81)
    assert event.which == 0
    assert event.rollout == ()
    assert abs(event.t - t) < 1e-12
    assert abs(event.q[0]) < 1e-12
    assert abs(event.qd[0] + 9.81 * t) < 1e-11
    assert run.t[-1] <= t < run.t[-1] + 0.01
    np.testing.assert_allclose(run.q[:, 0], 2.0 - 0.5 * 9.81 * run.t**2, rtol=0, atol=1e-12)


def test_the_first_terminal_event_ends_a_rollout_and_the_others_go_on():
    def low(t, q, qd):
        return q[0] - 0.5

    def lower(t, q, qd):
        return q[0] + 1.0

    lower.terminal = True
    run = hinge.simulate(falling(), 1.0, [[2.0], [0.0], [20.0]], method="dopri5", step=0.05, events=[low, lower])
    found = sorted((e.rollout[0], e.which, round(e.t, 9)) for e in run.events)
    wanted = [(0, 0, np.sqrt(2 * 1.5 / 9.81)), (0, 1, np.sqrt(2 * 3.0 / 9.81)), (1, 1, np.sqrt(2 * 1.0 / 9.81))]
    assert found == [(a, b, round(float(c), 9)) for a, b, c in wanted]
    assert (run.status == 0).all()
    assert np.isfinite(run.q[2]).all()
    assert np.isnan(run.q[1, run.t > wanted[2][2]]).all()
    assert np.isfinite(run.q[1, run.t <= wanted[2][2]]).all()


def test_nothing_after_a_terminal_event_is_an_event():
    """Both functions pass zero within one step; the second does so later."""

    def first(t, q, qd):
        return q[0] - 0.002

    def second(t, q, qd):
        return q[0] - 0.001

    first.terminal = True
    run = hinge.simulate(falling(), 2.0, [1.0], method="dopri5", step=0.1, events=[second, first])
    assert [e.which for e in run.events] == [1]


def test_a_pendulum_swings_with_the_period_of_the_books():
    """T = 4 √(I/mgd) K(sin² a/2)."""
    from scipy.special import ellipk

    def through(t, q, qd):
        return q[0]

    def up(t, q, qd):
        return q[0]

    up.direction = 1.0

    def down(t, q, qd):
        return q[0]

    down.direction = -1.0
    a = 2.0
    period = 4 * np.sqrt((1 / 3) / (9.81 / 2)) * ellipk(np.sin(a / 2) ** 2)
    run = hinge.simulate(hinge.samples.pendulum(1), 5.0 * period, [a], method="dopri5", rtol=1e-12, atol=1e-12,
                         step=0.1, events=[through, up, down])  # fmt: skip
    times = {k: np.array([e.t for e in run.events if e.which == k]) for k in range(3)}
    np.testing.assert_allclose(times[0], period * (np.arange(10) + 0.5) / 2, rtol=0, atol=1e-9)
    np.testing.assert_allclose(times[1], period * (np.arange(5) + 0.75), rtol=0, atol=1e-9)
    np.testing.assert_allclose(times[2], period * (np.arange(5) + 0.25), rtol=0, atol=1e-9)
    assert [e.t for e in run.events] == sorted(e.t for e in run.events)


def test_events_of_free_bodies_have_unit_quaternions():
    body = free_body(gravity=(0, 0, -9.81))
    run = hinge.simulate(body, 1.0, [1, 0, 0, 0, 0, 0, 1.0], [1.0, 5.0, 0.2, 0, 0, 0], method="dopri5", step=0.1,
                         events=[lambda t, q, qd: q[6]])  # fmt: skip
    (event,) = run.events
    assert abs(event.t - np.sqrt(2 / 9.81)) < 1e-7
    assert abs(np.linalg.norm(event.q[:4]) - 1.0) < 1e-15


# other programs' solvers


@pytest.mark.parametrize("make", [double_pendulum, flyer])
def test_scipy_solves_the_ode_of_a_robot(make):
    from scipy.integrate import solve_ivp

    robot = make()
    q, qd = (a[0] for a in robot.random_state(np.random.default_rng(0), 1))

    def control(t, q, qd):
        return -0.5 * qd + 0.1 * np.sin(t)

    y = solve_ivp(robot.ode(control), (0.0, 0.5), np.concatenate([q, qd]), rtol=1e-10, atol=1e-12).y[:, -1]
    run = hinge.simulate(robot, 0.5, q, qd, control, step=1e-3, record="last")
    at, speed = run.final
    assert np.abs(robot.difference(y[: robot.nq], at)).max() < 1e-8
    assert np.abs(y[robot.nq :] - speed).max() < 1e-8


def test_stiff_friction_makes_steps_short_not_wrong():
    builder = hinge.Builder("block", gravity=(0, 0, 0))
    builder.link("base")
    builder.link("block", 2.0, inertia=np.eye(3))
    builder.joint("x", "prismatic", "base", "block", axis=(1, 0, 0), friction=3.0)
    run = hinge.simulate(hinge.Robot(builder.build()), 2.0, qd0=[1.5], method="dopri5", step=0.01,
                         joint_terms=("friction",))  # fmt: skip
    assert run.status == 0
    assert abs(run.q[-1, 0] - 0.75) < 1e-3
