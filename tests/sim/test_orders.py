"""What is known of each method: its order, and what it keeps."""

import numpy as np
import pytest
from sim_robots import FIXED, START, double_pendulum, exactly, flyer, free_body, two_rods

import hinge
from hinge.integrators import METHODS

ORDER = {name: method.order for name, method in METHODS.items()}


def error(robot, method, h, start, wanted, t=1.0):
    """How far the end of a run is from the solution."""
    run = hinge.simulate(robot, t=t, q0=start[0], qd0=start[1], method=method, step=h, record="last")
    q, qd = run.final
    return np.abs(np.concatenate([robot.difference(wanted[: robot.nq], q), qd - wanted[robot.nq :]])).max()


def check_order(robot, method, start, wanted, h):
    errors = [error(robot, method, h / k, start, wanted) for k in (1, 2, 4)]
    measured = np.log2(errors[1] / errors[2])
    assert abs(measured - ORDER[method]) < 0.15, (measured, errors)
    assert errors[0] > errors[1] > errors[2]


@pytest.mark.parametrize("method", FIXED)
def test_the_error_falls_with_the_step_as_its_order_says(method):
    h = {1: 2e-3, 2: 1e-2, 4: 2e-2}[ORDER[method]]
    wanted = exactly(two_rods, [*START, 0.0, 0.0], 1.0)
    check_order(double_pendulum(), method, (START, np.zeros(2)), wanted, h)


@pytest.mark.sampled(1)
@pytest.mark.parametrize("method", ["euler", "semi_implicit", "implicit", "rk4", "lie_rk4"])
def test_the_order_holds_for_quaternions(method):
    robot = flyer()
    q, qd = (a[0] for a in robot.random_state(np.random.default_rng(1), 1))
    wanted = exactly(robot.ode(), np.concatenate([q, qd]), 1.0)
    check_order(robot, method, (q, qd), wanted, {1: 1e-3, 2: 5e-3, 4: 2e-2}[ORDER[method]])


def test_rk4_errors_fall_by_sixteen():
    wanted = exactly(two_rods, [*START, 0.0, 0.0], 1.0)
    start = START, np.zeros(2)
    coarse, fine = (error(double_pendulum(), "rk4", h, start, wanted) for h in (1e-2, 5e-3))
    assert 15.0 < coarse / fine < 17.0


@pytest.mark.parametrize("robot", [double_pendulum(), flyer()], ids=lambda r: r.name)
def test_the_error_of_dopri5_falls_with_its_tolerance(robot):
    q, qd = (a[0] for a in robot.random_state(np.random.default_rng(2), 1))
    wanted = exactly(robot.ode(), np.concatenate([q, qd]), 1.0)
    tolerances = 10.0 ** -np.arange(5.0, 12.0)
    errors = []
    for tol in tolerances:
        run = hinge.simulate(robot, 1.0, q, qd, method="dopri5", rtol=tol, atol=tol, record="last")
        at, speed = run.final
        errors.append(
            np.abs(np.concatenate([robot.difference(wanted[: robot.nq], at), speed - wanted[robot.nq :]])).max()
        )
    slope = np.polyfit(np.log10(tolerances), np.log10(errors), 1)[0]
    assert 0.85 < slope < 1.15, errors
    assert (np.array(errors) < 300 * tolerances).all(), errors


# the double pendulum for long


def test_dopri5_keeps_the_energy_of_a_double_pendulum():
    """For 1,000 s as well: docs/simulation.md has the figure."""
    run = hinge.simulate(double_pendulum(), 100.0, START, method="dopri5", rtol=1e-12, atol=1e-12, step=0.1)
    energy = run.energy()
    assert np.abs(energy / energy[0] - 1.0).max() < 1e-10


def test_midpoint_keeps_the_energy_of_a_double_pendulum_without_drift():
    run = hinge.simulate(double_pendulum(), 200.0, START, method="midpoint", step=5e-3, record=5)
    e = run.energy() / run.energy()[0] - 1.0
    halves = np.abs(e[: len(e) // 2]).max(), np.abs(e[len(e) // 2 :]).max()
    assert halves[1] < 1.5 * halves[0] < 1e-2
    drift = np.polyfit(run.t, e, 1)[0] * run.t[-1]
    assert abs(drift) < 0.2 * e.std()


def test_a_method_that_is_not_symplectic_drifts():
    """So the test above can fail."""
    run = hinge.simulate(double_pendulum(), 200.0, START, method="rk4", step=2e-2)
    e = run.energy() / run.energy()[0] - 1.0
    assert abs(np.polyfit(run.t, e, 1)[0] * run.t[-1]) > 2.0 * e.std()


# a tumbling body

SPIN = np.array([0.3, 4.0, 0.2, 0.5, -0.3, 0.1])  # near the middle axis, about which it turns over again and again


@pytest.mark.parametrize("method", ["rk4", "lie_rk4", "dopri5"])
def test_a_tumbling_body_keeps_energy_momentum_and_the_length_of_its_quaternion(method):
    body = free_body()
    options = {"rtol": 1e-12, "atol": 1e-12, "step": 1e-2} if method == "dopri5" else {"step": 1e-3}
    run = hinge.simulate(body, 20.0, qd0=SPIN, method=method, **options)
    energy, momentum = run.energy(), body.momentum(run.q, run.qd)
    assert np.ptp(run.qd[:, 1]) > 7.9  # it did turn over
    assert np.abs(energy / energy[0] - 1.0).max() < 1e-9
    assert np.abs(momentum - momentum[0]).max() / np.abs(momentum[0]).max() < 1e-9
    assert np.abs(np.linalg.norm(run.q[:, :4], axis=1) - 1.0).max() < (1e-13 if method == "lie_rk4" else 5e-16)


def test_lie_rk4_does_not_renormalise_and_rk4_does():
    body = free_body()
    q = np.array([2.0, 0, 0, 0, 0, 0, 0])
    lengths = {m: np.linalg.norm(body.step(q, SPIN, np.zeros(6), 1e-2, method=m)[0][:4]) for m in ("rk4", "lie_rk4")}
    assert abs(lengths["lie_rk4"] - 2.0) < 1e-15
    assert abs(lengths["rk4"] - 1.0) < 1e-15


@pytest.mark.parametrize("method", ["rk4", "lie_rk4"])
def test_a_symmetric_top_precesses_as_the_books_say(method):
    """ω turns about the axis of symmetry at (C - A)/A ω_z, as seen from the body."""
    body = free_body(inertia=(1.0, 1.0, 1.7))
    run = hinge.simulate(body, 10.0, qd0=[0.4, 0.0, 3.0, 0.0, 0.0, 0.0], method=method, step=2e-3)
    angle = 0.7 * 3.0 * run.t
    wanted = np.stack([0.4 * np.cos(angle), 0.4 * np.sin(angle), np.full_like(angle, 3.0)], axis=1)
    np.testing.assert_allclose(run.qd[:, :3], wanted, rtol=0, atol=1e-9)


def test_a_thrown_body_falls_by_its_centre_of_mass():
    body = free_body(com=(0.1, -0.2, 0.3), gravity=(0.0, 0.0, -9.81))
    q, qd = np.array([1.0, 0, 0, 0, 0, 0, 2.0]), np.array([1.0, 2.0, 3.0, 0.5, 1.0, 4.0])
    for method in ("rk4", "lie_rk4"):
        run = hinge.simulate(body, 1.0, q, qd, method=method, step=1e-3)
        at = body.center_of_mass(run.q)
        speed = body.momentum(q, qd)[3:] / body.mass
        wanted = at[0] + run.t[:, None] * speed - 0.5 * 9.81 * run.t[:, None] ** 2 * [0.0, 0.0, 1.0]
        np.testing.assert_allclose(at, wanted, rtol=0, atol=1e-9)
