"""Position limits: stops that take away motion at once, and springs."""

from itertools import combinations

import numpy as np
import pytest
from sim_robots import bounded_arm

import hinge
from hinge import SizeError
from hinge.sim.stops import impulse


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


@pytest.mark.parametrize("method", ["rk4", "euler", "semi_implicit", "lie_rk4", "midpoint"])
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
    assert touched.sum() > 30
    grown, own = ((e - np.minimum.accumulate(e, axis=1)).max() for e in (run.energy(), free.energy()))
    # putting a rod back on its stop lifts it by less than it moves in a step
    assert grown < own + arm.mass * 9.81 * 0.5 * h * np.abs(free.qd[..., 1]).max()


def test_impulses_take_energy_and_push_only():
    """Against every choice of active stops, on random mass matrices."""
    rng = np.random.default_rng(1)
    for _ in range(300):
        n = int(rng.integers(1, 6))
        A = rng.normal(size=(n, n))
        M, qd = A @ A.T + 0.1 * np.eye(n), rng.normal(size=n)
        places = rng.permutation(n)[: int(rng.integers(1, n + 1))]
        J = np.zeros((len(places), n))
        J[np.arange(len(places)), places] = rng.choice([-1.0, 1.0], len(places))
        change = impulse(M, J, qd)
        push = J @ M @ change
        np.testing.assert_allclose(J.T @ push, M @ change, atol=1e-9)  # at these joints only
        assert (push > -1e-9).all()
        assert (J @ (qd + change) > -1e-9).all()
        assert abs(push @ (J @ (qd + change))) < 1e-8
        assert (qd + change) @ M @ (qd + change) <= qd @ M @ qd + 1e-9
        np.testing.assert_allclose(change, enumerated(M, J, qd), atol=1e-7)


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
