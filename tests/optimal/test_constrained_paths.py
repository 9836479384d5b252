"""Constraints of paths are met as Karush, Kuhn and Tucker say, and as another solver finds."""

import numpy as np
import pytest
from ddp_cases import at_random, replayed, rods, slider, slope, swinging

import hinge
from hinge.optimal import Problem, ddp
from hinge.optimal.ddp import Search
from hinge.optimal.iteration import SAID
from hinge.optimal.start import start
from hinge.status import OK, UNCONVERGED

FAST, GOAL = 1.2, np.array([0.7, -0.2])


def constrained(horizon=10):
    """Two rods: the first not too fast, the forces together not too large, and at the end in a place."""
    return swinging(
        rods(), [1.0, 0.3], horizon, 0.1, below=[lambda qd: qd[:1] - FAST, lambda u: 0.1 * (u @ u) - 3.0],
        final_equal=[lambda q: q - GOAL],
    )  # fmt: skip


def values(problem, q, qd, u):
    """What constraints are for forces u (…, horizon, nu): equal, below, in rows by problem."""
    run = hinge.rollout(problem.robot, q, qd, problem.horizon, problem.step, taus=problem.tau(u), **problem.rolls)
    below = [run.qd[..., 0] - FAST, 0.1 * (u**2).sum(-1) - 3.0]
    return run.q[..., -1, :] - GOAL, np.concatenate(below, axis=-1)


def by_slsqp(problem, q, qd, u):
    from scipy.optimize import minimize

    def many(x):
        n = len(x)
        return np.tile(q, (n, 1)), np.tile(qd, (n, 1)), x.reshape(n, *u.shape)

    def jacobian(x, which, h=1e-6):
        there = values(problem, *many(np.concatenate([x + h * np.eye(x.size), x - h * np.eye(x.size)])))[which]
        return ((there[: x.size] - there[x.size :]) / (2 * h)).T

    return minimize(
        lambda x: float(replayed(problem, q, qd, x.reshape(u.shape))), u.reshape(-1), method="SLSQP",
        jac=lambda x: slope(problem, q, qd, x.reshape(u.shape)).reshape(-1), options={"maxiter": 300, "ftol": 1e-13},
        constraints=[
            {"type": "eq", "fun": lambda x: values(problem, *many(x[None]))[0][0], "jac": lambda x: jacobian(x, 0)},
            {"type": "ineq", "fun": lambda x: -values(problem, *many(x[None]))[1][0], "jac": lambda x: -jacobian(x, 1)},
        ],
    )  # fmt: skip


@pytest.mark.parametrize("hessians", ["gauss_newton", "exact"])
def test_constraints_are_met_as_another_solver_meets_them(hessians):
    problem = constrained()
    q, qd = np.array([-0.2, 0.1]), np.zeros(2)
    found = ddp(problem, q, qd, hessians=hessians, iterations=200)
    assert found.status == OK
    assert found.violation < 1e-6
    other = by_slsqp(problem, q, qd, found.u + 0.1)
    np.testing.assert_allclose(found.cost, other.fun, rtol=1e-6)
    np.testing.assert_allclose(found.u.reshape(-1), other.x, atol=2e-3)
    equal, below = values(problem, q[None], qd[None], found.u[None])
    np.testing.assert_allclose(equal, 0.0, atol=1e-6)
    assert below.max() < 1e-6
    assert (below > -1e-6).sum() >= 4


def test_multipliers_are_those_of_a_stationary_point():
    problem = constrained()
    q, qd = np.array([-0.2, 0.1]), np.zeros(2)
    search = Search(problem, start(problem, q, qd, None, None, None, None), True, None)
    search.run(200, 1e-8)
    found, multipliers, weight = search.solution(), search.path["multipliers"][0], search.said[0, SAID.index("weight")]
    assert found.status == OK
    h, u = 1e-5, found.u
    away = h * np.eye(u.size).reshape(u.size, *u.shape)
    both = np.concatenate([u + away, u - away])
    many = np.tile(q, (len(both), 1)), np.tile(qd, (len(both), 1)), both
    equal, below = ((x[: u.size] - x[u.size :]) / (2 * h) for x in values(problem, *many))
    at_end, at = (x[0] for x in values(problem, q[None], qd[None], u[None]))
    fast, strong = at[: problem.horizon + 1], at[problem.horizon + 1 :]
    steps, end = multipliers[:-1], multipliers[-1]
    pushes = np.concatenate([np.append(steps[:, 0] + weight * fast[:-1], end[2] + weight * fast[-1]),
                             steps[:, 1] + weight * strong])  # fmt: skip
    pushes = np.maximum(pushes, 0.0)
    assert (pushes > 1e-3).sum() >= 4
    assert np.abs(pushes * at).max() < 1e-5
    by_hand = slope(problem, q, qd, u).reshape(-1) + equal @ (end[:2] + weight * at_end) + below @ pushes
    np.testing.assert_allclose(by_hand, 0.0, atol=1e-5)


def test_a_constraint_that_another_makes_idle_pushes_no_longer():
    running = [lambda u: 0.1 * u, lambda q: q - 2.0]
    below = [lambda q: q - 1.0, lambda q: q - 1.02]
    found, alone = (ddp(Problem(slider(), 20, 0.1, running, below=b), [0.0], iterations=300, tolerance=1e-8)
                    for b in (below, below[:1]))  # fmt: skip
    assert found.status == alone.status == OK
    np.testing.assert_allclose(found.cost, alone.cost, rtol=1e-7)
    np.testing.assert_allclose(found.q, alone.q, atol=1e-5)


def test_limits_of_positions_and_velocities_are_kept():
    builder = hinge.Builder("slider")
    builder.link("rail")
    builder.link("mass", 2.0, (0, 0, 0), np.eye(3))
    builder.joint("slide", "prismatic", "rail", "mass", axis=(1, 0, 0), lower=-0.5, upper=0.8, velocity=1.2, effort=9.0)
    problem = Problem(hinge.Robot(builder.build()), 25, 0.05, [lambda u: 0.1 * u, lambda q: 2.0 * (q - 2.0)],
                      limits=("effort", "position", "velocity"))  # fmt: skip
    found = ddp(problem, [0.0], iterations=300)
    assert found.status == OK
    assert abs(found.q.max() - 0.8) < 1e-6
    assert abs(found.qd.max() - 1.2) < 1e-6
    assert np.abs(found.u).max() == 9.0


def test_what_cannot_be_met_is_not_said_to_be():
    problem = Problem(slider(), 5, 0.1, [lambda u: u], below=[lambda u: u - 1.0, lambda u: 2.0 - u])
    found = ddp(problem, [0.0], iterations=100)
    assert found.status == UNCONVERGED
    assert found.violation > 0.4
    assert np.isfinite(found.u).all()


def test_constraints_within_bounds_in_a_batch_are_as_alone():
    problem = swinging(rods(effort=9.0), [1.0, 0.3], 10, below=[lambda qd: qd - 1.0])
    q, qd, _ = at_random(problem.robot, 3, count=(9,))
    qd = 0.3 * qd
    together = ddp(problem, q, qd, iterations=200)
    assert (together.status == OK).all()
    assert together.qd.max() < 1.0 + 1e-6
    assert np.abs(together.u).max() <= 9.0
    for k in range(9):
        alone = ddp(problem, q[k], qd[k], iterations=200)
        np.testing.assert_array_equal(together.u[k], alone.u)
