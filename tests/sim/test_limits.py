"""Position limits: stops that take away motion at once, and springs."""

from itertools import combinations

import numpy as np
import pytest
from sim_robots import bounded_arm

import hinge
from hinge import SizeError
from hinge.backends import interpret
from hinge.contact.joint_impulses import solve_box_constrained
from hinge.graph import Graph, Input, order


def test_an_elbow_on_its_stop_gets_the_plastic_impulse_of_the_books():
    """M Δqd = Jᵀ λ with J qd = 0 after: λ = -(J M⁻¹ Jᵀ)⁻¹ J qd."""
    arm = bounded_arm().with_gravity((0, 0, 0))
    h = 1e-3
    run = hinge.simulate(arm, 0.5, [0.2, 0.5], [0.5, 1.0], step=h, limits="stop")
    free = hinge.simulate(arm, 0.5, [0.2, 0.5], [0.5, 1.0], step=h)
    hit = int(np.argmax(free.q[:, 1] > 0.6))
    assert np.array_equal(run.q[:hit], free.q[:hit])
    q, before, after = run.q[hit], free.qd[hit], run.qd[hit]
    assert q[1] == 0.6
    M, J = arm.mass_matrix(q), np.array([0.0, 1.0])
    push = -(J @ before) / (J @ np.linalg.solve(M, J))
    assert push < 0.0
    np.testing.assert_allclose(M @ (after - before), J * push, rtol=0, atol=1e-12)
    assert abs(after[1]) < 1e-14
    # the momentum about the shoulder is not the stop's to change
    np.testing.assert_allclose((M @ after)[0], (M @ before)[0], rtol=0, atol=1e-12)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("method", ["rk4", "euler", "semi_implicit", "implicit", "lie_rk4", "midpoint", "dopri5"])
def test_stops_are_never_passed_and_never_give_energy(method):
    arm = bounded_arm()
    rng = np.random.default_rng(0)
    q0 = np.stack([rng.uniform(-3, 3, 40), rng.uniform(-0.39, 0.59, 40)], axis=1)
    qd0, h = 2.0 * rng.normal(size=(40, 2)), 2e-3
    run, free = (
        hinge.simulate(arm, 1.0, q0, qd0, method=method, step=h, limits=limits) for limits in ("stop", "ignore")
    )
    assert (run.status == 0).all()
    assert (run.q[..., 1] >= -0.4).all()
    assert (run.q[..., 1] <= 0.6).all()
    touched = ((run.q[..., 1] == -0.4) | (run.q[..., 1] == 0.6)).any(axis=1)
    assert touched.sum() > (20 if method == "dopri5" else 30)  # whose record is not at the ends of its steps
    grown, own = ((e - np.minimum.accumulate(e, axis=1)).max() for e in (run.energy(), free.energy()))
    # putting a rod back on its stop lifts it by less than it moves in a step
    assert grown < own + arm.mass * 9.81 * 0.5 * h * np.abs(free.qd[..., 1]).max()


def on_numbers(n):
    """`boxed` for n joints, on rows of W, v, low and high; it gives λ, and 1 where all was settled."""
    graph = Graph()
    W, v, low, high = ([graph.input(name, k) for k in range(size)] for name, size in SIZES(n).items())
    force, _, good = solve_box_constrained([W[i * n : i * n + n] for i in range(n)], v, low, high, [1.0] * n)
    inputs = [Input(name, size) for name, size in SIZES(n).items()]
    program = order(inputs, [("force", (n,), force), ("good", (), [good])])

    def run(*arrays):
        rows = [np.ascontiguousarray(a.reshape(len(a), -1), float) for a in arrays]
        out = np.empty((len(rows[0]), n)), np.empty((len(rows[0]), 1))
        interpret.run(program, rows, list(out))
        return out[0], out[1][:, 0]

    return run


def SIZES(n):
    return {"W": n * n, "v": n, "low": n, "high": n}


@pytest.mark.parametrize("n", [1, 2, 4, 7])
def test_impulses_stay_within_bounds_and_stop_what_they_can(n):
    """λ = low where v' > 0, high where v' < 0, between where v' = 0: on random mass matrices, and they take energy."""
    rng = np.random.default_rng(n)
    count = 400
    A = rng.normal(size=(count, n, n))
    M = A @ np.swapaxes(A, 1, 2) + 0.1 * np.eye(n)
    W, v = np.linalg.inv(M), rng.normal(size=(count, n))
    low, high = -rng.exponential(1.0, (count, n)), rng.exponential(1.0, (count, n))
    kind = rng.integers(0, 4, (count, n))  # friction; a stop below, above; neither
    low[(kind == 1) | (kind == 3)], high[(kind == 2) | (kind == 3)] = 0.0, 0.0
    high[kind == 1], low[kind == 2] = np.inf, -np.inf
    force, good = on_numbers(n)(W, v, low, high)
    after = v + np.einsum("sij,sj->si", W, force)
    assert (good == 1.0).all()
    assert ((force >= low - 1e-9) & (force <= high + 1e-9)).all()
    inside = (force > low + 1e-9) & (force < high - 1e-9)
    assert np.abs(after[inside]).max() < 1e-8
    bound = low < high
    assert (after[bound & (force > low + 1e-9)] < 1e-8).all()
    assert (after[bound & (force < high - 1e-9)] > -1e-8).all()
    energy = [np.einsum("si,sij,sj->s", x, M, x) for x in (v, after)]
    assert (energy[1] <= energy[0] + 1e-9).all()


def test_stops_that_push_only_are_the_ones_of_enumeration():
    rng = np.random.default_rng(1)
    for n in (1, 2, 3, 5):
        A = rng.normal(size=(100, n, n))
        M, qd = A @ np.swapaxes(A, 1, 2) + 0.1 * np.eye(n), rng.normal(size=(100, n))
        sign = rng.choice([-1.0, 1.0], (100, n))
        low, high = np.where(sign > 0, 0.0, -np.inf), np.where(sign > 0, np.inf, 0.0)
        force, _ = on_numbers(n)(np.linalg.inv(M), qd, low, high)
        for k in range(100):
            change = np.linalg.solve(M[k], force[k])
            np.testing.assert_allclose(change, enumerated(M[k], np.diag(sign[k]), qd[k]), atol=1e-7)


def enumerated(M, J, qd):
    """The one set of active stops that pushes only and lets none move on."""
    for size in range(len(J) + 1):
        for active in combinations(range(len(J)), size):
            A = J[list(active)]
            W = np.linalg.solve(M, A.T)
            push = np.linalg.solve(A @ W, -A @ qd) if size else np.zeros(0)
            if (push >= -1e-10).all() and (J @ (qd + W @ push) >= -1e-10).all():
                return W @ push
    raise AssertionError("there is always one")


def test_an_arm_comes_to_rest_on_its_stop():
    arm = bounded_arm(lower=-0.4, upper=0.6)
    run = hinge.simulate(arm, 3.0, [np.pi / 2, 0.0], step=1e-3, limits="stop",
                         control=lambda t, q, qd: np.array([50.0, 0.0]) * (np.pi / 2 - q) - np.array([20.0, 0.0]) * qd
                         + np.array([0.0, -0.5]))  # fmt: skip
    assert run.q[-1, 1] == -0.4
    assert abs(run.qd[-1, 1]) < 1e-9


def test_stops_start_within_the_limits():
    with pytest.raises(SizeError, match=r"q0 has joint 'elbow' at 0.7, beyond its limit 0.6"):
        hinge.simulate(bounded_arm(), 0.1, [0.0, 0.7], limits="stop")


@pytest.mark.sampled(2)
@pytest.mark.parametrize("method", ["rk4", "semi_implicit", "midpoint", "dopri5"])
def test_springs_give_way_a_little_and_never_give_energy(method):
    arm = bounded_arm()
    run = hinge.simulate(arm, 3.0, [1.0, 0.5], [0.0, 2.0], method=method, step=5e-4, limits="spring")
    beyond = np.maximum(run.q[:, 1] - 0.6, -0.4 - run.q[:, 1]).max()
    assert 1e-4 < beyond < 0.03
    inside = (run.q[:, 1] < 0.6) & (run.q[:, 1] > -0.4)
    energy = run.energy()[inside]  # beyond, a spring has some of it
    assert energy[0] - energy[-1] > 0.5
    free = hinge.simulate(arm, 3.0, [1.0, 0.5], [0.0, 2.0], method=method, step=5e-4).energy()
    grown, own = ((e - np.minimum.accumulate(e)).max() for e in (energy, free))
    assert grown < own + 1e-4


def test_springs_are_soft_enough_for_light_joints():
    """A finger of 15 g at the end of an arm of kilograms."""
    builder = hinge.Builder("grip")
    builder.link("base")
    builder.link("arm", 5.0, (0.3, 0, 0), np.diag([0.1, 0.2, 0.2]))
    builder.link("finger", 0.015, (0, 0, 0.05), 1e-6 * np.eye(3))
    builder.joint("turn", "revolute", "base", "arm", axis=(0, -1, 0), lower=-0.5, upper=0.5)
    builder.joint("slide", "prismatic", "arm", "finger", (0.5, 0, 0), axis=(0, 0, 1), lower=0.0, upper=0.04)
    run = hinge.simulate(hinge.Robot(builder.build()), 1.0, [0.0, 0.02], [1.0, 0.3], step=1e-3, limits="spring")
    assert run.status == 0
    assert -0.01 < run.q[:, 1].min() < run.q[:, 1].max() < 0.05
    assert abs(run.qd[-1, 1]) < 1e-2


def test_limits_are_ignored_unless_asked_for():
    run = hinge.simulate(bounded_arm(), 1.0, [1.0, 0.5], [0.0, 2.0])
    assert np.abs(run.q[:, 1]).max() > 0.7
