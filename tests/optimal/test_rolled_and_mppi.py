"""What forces cost is what a rollout and NumPy say; samples find what costs less, within bounds."""

import numpy as np
import pytest
from ddp_cases import at_random, flyer, price, replayed, rods, slider, swinging, top

import hinge
from hinge.errors import SizeError, UnknownName
from hinge.optimal import Problem, ddp, effort, mppi, posture, rolled, speed
from hinge.status import NONFINITE, OK, UNCONVERGED

GOALS = {"rods": (rods, [3.0, 0.1]), "ball": (top, [0.6, 0.0, 0.8, 0.0, 0.5]),
         "free": (flyer, [0.6, 0.8, 0.0, 0.0, 0.3, 0.2, 0.1, 0.5])}  # fmt: skip


@pytest.mark.sampled(3)
@pytest.mark.parametrize("method", ["semi_implicit", "rk4"])
@pytest.mark.parametrize("name", GOALS)
def test_forces_lead_and_cost_as_a_rollout_does(name, method):
    make, goal = GOALS[name]
    problem = swinging(make(), goal, method=method)
    robot = problem.robot
    q, qd, u = at_random(robot, 4, count=(3,))
    u = u[..., : problem.nu]
    found = rolled(problem, q, qd, u)
    run = hinge.rollout(robot, q, qd, 8, 0.05, taus=problem.tau(u), **problem.rolls)
    assert (found.status == OK).all()
    np.testing.assert_allclose(found.q, run.q, rtol=0, atol=1e-12)
    np.testing.assert_allclose(found.qd, run.qd, rtol=0, atol=1e-12)
    np.testing.assert_allclose(found.cost, replayed(problem, q, qd, u), rtol=1e-12)
    alone = rolled(problem, q[1], qd[1], u[1])
    assert alone.cost == found.cost[1]
    np.testing.assert_array_equal(alone.q, found.q[1])


def followed():
    """A varied robot with a target and a weight that are given."""
    robot = rods().vary("rod2.mass")
    running = [lambda u: 0.1 * u, lambda q, weight, target: weight * (q - target), lambda t, q: 0.1 * np.cos(t * q)]
    return Problem(robot, 6, 0.05, running, [lambda q, target: 5.0 * (q - target)],
                   given={"target": np.zeros(2), "weight": 0.5})  # fmt: skip


def test_what_is_given_may_be_one_for_all_one_for_each_and_one_for_each_stage():
    problem, rng = followed(), np.random.default_rng(2)
    q, u, mass = rng.normal(size=(4, 2)), rng.normal(size=(4, 6, 2)), rng.uniform(0.5, 2.0, 4)
    for target in (rng.normal(size=2), rng.normal(size=(4, 2)), rng.normal(size=(7, 2)), rng.normal(size=(4, 7, 2))):
        found = rolled(problem, q, None, u, given={"target": target}, parameters={"rod2.mass": mass})
        by_stage = target.shape[-2:] == (7, 2)
        targets = np.broadcast_to(target if by_stage else target[..., None, :], (4, 7, 2))
        for k in range(4):
            total = 0.0
            for j in range(7):
                here = {"q": found.q[k, j], "t": 0.05 * j, "target": targets[k, j]}
                rows = [5.0 * (here["q"] - here["target"])]
                if j < 6:
                    rows = [0.1 * u[k, j], 0.5 * (here["q"] - here["target"]), 0.1 * np.cos(here["t"] * here["q"])]
                total += sum(0.5 * row @ row for row in rows)
            np.testing.assert_allclose(found.cost[k], total, rtol=1e-12)
        run = hinge.rollout(problem.robot, q, np.zeros((4, 2)), 6, 0.05, taus=u, parameters={"rod2.mass": mass},
                            **problem.rolls)  # fmt: skip
        np.testing.assert_allclose(found.q, run.q, rtol=0, atol=1e-12)


def test_what_is_given_makes_a_batch_of_one_start():
    problem, targets, mass = followed(), np.random.default_rng(2).normal(size=(5, 2)), np.linspace(0.5, 2.0, 5)
    u = np.ones((6, 2))
    found = rolled(problem, [0.1, 0.2], None, u, given={"target": targets}, parameters={"rod2.mass": mass})
    each = [rolled(problem, [0.1, 0.2], None, u, given={"target": a}, parameters={"rod2.mass": m}).cost
            for a, m in zip(targets, mass, strict=True)]  # fmt: skip
    np.testing.assert_array_equal(found.cost, each)
    assert len(set(each)) == 5


def test_violation_is_the_most_that_a_constraint_is_off():
    robot = slider()
    problem = Problem(robot, 5, 0.1, [effort()], below=[lambda q: q - 0.3], equal=[lambda qd: qd], limits=())
    found = rolled(problem, [0.0], [0.0], np.full((5, 1), 40.0))
    most = max(found.q.max() - 0.3, found.qd.max())
    np.testing.assert_allclose(found.violation, most, rtol=1e-12)


def test_a_row_that_is_no_number_stays_alone():
    problem = Problem(slider(), 6, 0.1, [effort(), lambda q, scale: np.sqrt(scale) * q], given={"scale": 1.0})
    q, scale = np.linspace(0.5, 1.5, 9)[:, None], np.ones(9)
    scale[4] = -1.0
    u = np.random.default_rng(0).normal(size=(9, 6, 1))
    found, sound = rolled(problem, q, None, u, given={"scale": scale}), rolled(problem, q, None, u)
    np.testing.assert_array_equal(np.isnan(found.cost), scale < 0.0)
    np.testing.assert_array_equal(found.cost[scale > 0.0], sound.cost[scale > 0.0])
    np.testing.assert_array_equal(found.q, sound.q)
    best = mppi(problem, q, noise=1.0, samples=16, iterations=3, given={"scale": scale})
    np.testing.assert_array_equal(best.status, np.where(scale < 0.0, NONFINITE, UNCONVERGED))
    assert np.isfinite(best.cost[scale > 0.0]).all()
    assert np.isfinite(best.u).all()


def swing(**more):
    robot = rods(effort=8.0)
    return Problem(robot, 15, 0.06, [effort(1e-3)], [posture(robot, [1.2, -0.4], 100.0), speed(10.0)], **more)


def test_samples_find_what_costs_less_and_the_same_with_a_seed():
    problem = swing()
    q = np.array([[0.0, 0.0], [0.3, -0.2], [-0.5, 0.4]])
    found = mppi(problem, q, samples=256, iterations=40, seed=3)
    first = rolled(problem, q, None, problem.robot.gravity_force(q)[:, None] * np.ones((15, 1)))
    least = ddp(problem, q, hessians="exact")
    assert (found.status == UNCONVERGED).all()
    assert np.isnan(found.optimality).all()
    assert (found.cost < 0.1 * first.cost).all()
    assert (found.cost >= least.cost - 1e-9).all()
    np.testing.assert_allclose(found.cost, replayed(problem, q, np.zeros((3, 2)), found.u), rtol=1e-12)
    again, other = (mppi(problem, q, samples=256, iterations=40, seed=seed) for seed in (3, 4))
    np.testing.assert_array_equal(again.u, found.u)
    assert (other.u != found.u).any()
    shown = [row[:, 1].min() for row in found.history]
    assert (np.diff(shown) <= 0.0).all()  # what is best is tried again


def test_temperature_weights_the_samples_as_the_formula_says():
    """Noise is gone in the second iteration, which then tries the weighted mean of the samples of the first."""
    problem, q = swing(), np.zeros(2)
    u = np.random.default_rng(5).uniform(-1.0, 1.0, (15, 2))
    samples = u + 0.5 * np.random.default_rng(7).standard_normal((64, 15, 2))
    samples[:2] = u
    cost = rolled(problem, np.zeros((64, 2)), None, samples).cost
    found = {}
    for temperature in (0.02, 0.5, 20.0):
        weights = np.exp((cost.min() - cost) / (temperature * (np.median(cost) - cost.min())))
        mean = np.einsum("s,sku->ku", weights / weights.sum(), samples)
        wanted = min([samples[cost.argmin()], mean], key=lambda one: rolled(problem, q, None, one).cost)
        kept = mppi(problem, q, u=u, samples=64, iterations=2, noise=0.5, decay=1e-14, temperature=temperature, seed=7)
        np.testing.assert_allclose(kept.u, wanted, rtol=0, atol=1e-10)
        found[temperature] = kept.cost
    assert len({round(float(one), 6) for one in found.values()}) > 1


def test_samples_keep_within_bounds():
    problem = swing()
    found = mppi(problem, [0.0, 0.0], noise=30.0, samples=64, iterations=10)
    assert np.abs(found.u).max() == 8.0
    narrow = swing(effort=[2.0, 1.0])
    assert (np.abs(mppi(narrow, [0.0, 0.0], samples=64, iterations=10).u).max(axis=0) <= [2.0, 1.0]).all()


def test_constraints_cost_samples_by_their_weight():
    problem = swing(below=[lambda q: q[0] - 0.6])
    free, kept = (mppi(problem, [0.0, 0.0], samples=256, iterations=40, weight=w) for w in (1e-6, 1e5))
    assert free.violation > 0.4
    assert kept.violation < 0.02
    np.testing.assert_allclose(kept.violation, max(0.0, kept.q[:, 0].max() - 0.6), atol=1e-12)
    np.testing.assert_allclose(kept.cost, price(problem, kept.q, kept.qd, kept.u), rtol=1e-12)  # without their weight


def test_no_iteration_is_what_it_began_with():
    problem, u = swing(), np.full((15, 2), 0.5)
    found = mppi(problem, [0.1, 0.2], u=u, iterations=0)
    np.testing.assert_array_equal(found.u, u)
    assert found.cost == rolled(problem, [0.1, 0.2], None, u).cost


REFUSED = [
    (lambda: mppi(swinging(rods(), [0.0, 0.0]), [0.0, 0.0]), SizeError, "no bounds.*Give noise="),
    (lambda: mppi(swing(), [0.0, 0.0], noise=-1.0), SizeError, "noise=-1.0"),
    (lambda: mppi(swing(), [0.0, 0.0], noise=[1.0, 1.0, 1.0]), SizeError, "noise=.*2 of them"),
    (lambda: mppi(swing(), [0.0, 0.0], samples=1), SizeError, "samples"),
    (lambda: mppi(swing(), [0.0, 0.0], temperature=0.0), SizeError, "temperature"),
    (lambda: mppi(swing(), [0.0, 0.0], decay=-0.5), SizeError, "decay"),
    (lambda: mppi(swing(), [0.0, 0.0], weight=0.0), SizeError, "weight"),
    (lambda: mppi(swing(), [0.0, 0.0], given={"goal": 1.0}), UnknownName, "'goal'"),
    (lambda: rolled(swing(), [0.0, 0.0], None, np.zeros((14, 2))), SizeError, r"\bu\b.*\(15, 2\)"),
    (lambda: rolled(swing(), [0.0], None, np.zeros((15, 2))), SizeError, r"\bq0?\b"),
    (lambda: rolled(swing(), [0.0, 0.0], None, np.full((15, 2), np.nan)), SizeError, r"\bu\b"),
    (lambda: rolled(swing(), [0.0, 0.0], None, np.zeros((15, 2)), given={"goal": 1.0}), UnknownName, "'goal'"),
]  # fmt: skip


@pytest.mark.parametrize(("call", "error", "words"), REFUSED)
def test_what_cannot_be_is_refused_by_name(call, error, words):
    with pytest.raises(error, match=words):
        call()
