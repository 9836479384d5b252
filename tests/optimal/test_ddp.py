"""What `ddp` finds is what it says: exact on linear problems, its slope that of rollouts, its steps Newton's."""

import itertools

import numpy as np
import pytest
from ddp_cases import at_random, flyer, price, replayed, rods, slider, slope, swinging, top

import hinge
from hinge.integrators import METHODS
from hinge.loops import linkages
from hinge.optimal import Problem, ddp, effort
from hinge.optimal.iteration import TOLD
from hinge.status import OK, Status

H = 0.1


def linear_quadratic(horizon, target):
    """A slider to be brought to a target, and its answer by the dense system of Karush, Kuhn and Tucker."""
    problem = Problem(slider(), horizon, H, [lambda u: 0.5 * u, lambda q: q - target], [lambda q, qd: 4.0 * qd])
    A, B = np.array([[1.0, H], [0.0, 1.0]]), np.array([H * H / 2.0, H / 2.0])
    n, size = horizon, 3 * horizon  # x_1, …, x_n and u_0, …
    K, g, E, e = np.zeros((size, size)), np.zeros(size), np.zeros((2 * n, size)), np.zeros(2 * n)
    for k in range(n):
        K[2 * n + k, 2 * n + k] = 0.25
        if k < n - 1:
            K[2 * k, 2 * k], g[2 * k] = 1.0, -target
        rows = slice(2 * k, 2 * k + 2)
        E[rows, rows], E[rows, 2 * n + k] = np.eye(2), -B
        if k:
            E[rows, 2 * k - 2 : 2 * k] = -A
        else:
            e[rows] = A @ [0.3, -0.2]
    K[2 * n - 1, 2 * n - 1] = 16.0
    dense = np.linalg.solve(np.block([[K, E.T], [E, np.zeros((2 * n, 2 * n))]]), np.concatenate([-g, e]))
    return problem, dense[: 2 * n].reshape(n, 2), dense[2 * n : size]


@pytest.mark.parametrize("hessians", ["gauss_newton", "exact"])
@pytest.mark.parametrize("horizon", [1, 2, 30])
def test_one_iteration_solves_a_linear_quadratic_problem(horizon, hessians):
    problem, x, u = linear_quadratic(horizon, 1.0)
    found = ddp(problem, [0.3], [-0.2], u=np.ones((horizon, 1)), iterations=1, hessians=hessians)
    assert found.status == OK
    assert len(found.history) == 2
    np.testing.assert_allclose(found.u[:, 0], u, rtol=0, atol=2e-8)
    np.testing.assert_allclose(np.column_stack([found.q[1:, 0], found.qd[1:, 0]]), x, rtol=0, atol=1e-8)


def test_one_iteration_closes_gaps_of_a_linear_problem():
    problem, _x, u = linear_quadratic(30, 1.0)
    rng = np.random.default_rng(1)
    path = rng.normal(size=(31, 1)), rng.normal(size=(31, 1))
    found = ddp(problem, [0.3], [-0.2], u=rng.normal(size=(30, 1)), path=path, iterations=1)
    assert found.status == OK
    assert found.gap < 1e-12
    np.testing.assert_allclose(found.u[:, 0], u, rtol=0, atol=2e-8)


CASES = {
    "rods": (rods, [3.0, 0.1], {}),
    "rk4": (rods, [3.0, 0.1], {"method": "rk4"}),
    "one driven": (rods, [3.0, 0.1], {"driven": ["joint2"]}),
    "follower": (lambda: rods(mimic=("joint1", -0.7, 0.2)), [1.0], {}),
    "ball": (top, [0.6, 0.0, 0.8, 0.0, 0.5], {}),
    "free": (flyer, [0.6, 0.8, 0.0, 0.0, 0.3, 0.2, 0.1, 0.5], {}),
    "four bar": (lambda: hinge.Robot(linkages.four_bar()), None, {"loops": "project"}),
}


def case(name, **more):
    make, goal, how = CASES[name]
    robot = make()
    problem = swinging(robot, robot.neutral() if goal is None else goal, **how, **more)
    q, qd, u = at_random(robot, 3, count=(5,))
    if robot.loops:
        q, qd = np.tile(robot.assemble(robot.neutral() + 0.1).q, (5, 1)), 0.0 * qd
    return problem, q, qd, u[..., : problem.nu]


@pytest.mark.sampled(1)
@pytest.mark.parametrize("name", CASES)
def test_optimality_is_the_slope_of_the_cost_of_rollouts(name):
    problem, q, qd, u = case(name)
    found = ddp(problem, q, qd, u=u, iterations=0)
    for k in range(len(q)):
        steepest = np.abs(slope(problem, q[k], qd[k], u[k])).max()
        np.testing.assert_allclose(found.optimality[k], steepest, rtol=1e-6)
        np.testing.assert_allclose(found.cost[k], replayed(problem, q[k], qd[k], u[k]), rtol=1e-12)


@pytest.mark.sampled(1)
@pytest.mark.parametrize("name", [name for name in CASES if name != "four bar"])
def test_newtons_steps_converge_quadratically_to_where_others_lead(name):
    problem, q, qd, _ = case(name)
    newton = ddp(problem, q[0], qd[0], iterations=60, tolerance=1e-10, hessians="exact")
    left = np.array([row[0, 1 + TOLD.index("optimality")] for row in newton.history])
    steps = [(a, b) for a, b in itertools.pairwise(left) if a < 1e-2 and b > 1e-11]
    assert newton.status == OK
    assert steps
    assert all(b < 50.0 * a * a for a, b in steps), left
    gauss = ddp(problem, q[0], qd[0], iterations=200, tolerance=1e-9)
    assert gauss.status == OK
    np.testing.assert_allclose(gauss.cost, newton.cost, rtol=1e-12)
    np.testing.assert_allclose(gauss.u, newton.u, atol=1e-6)
    np.testing.assert_allclose(newton.cost, replayed(problem, q[0], qd[0], newton.u), rtol=1e-12)


@pytest.mark.sampled(1)
@pytest.mark.parametrize("name", ["rods", "ball", "free"])
def test_any_path_to_begin_with_leads_to_the_same_optimum(name):
    problem, q, qd, u = case(name)
    robot, rng = problem.robot, np.random.default_rng(5)
    problem = swinging(robot, robot.integrate(q[0], np.full(robot.nv, 0.3)))
    away = 0.3 * rng.normal(size=(5, 9, robot.nv))
    path = robot.integrate(np.repeat(q[:, None], 9, 1), away), rng.normal(size=(5, 9, robot.nv))
    here, there = (
        ddp(problem, q, qd, tolerance=1e-8, iterations=300, **begun) for begun in ({}, {"u": u, "path": path})
    )
    assert (here.status == OK).all()
    assert (there.status == OK).all()
    assert (there.gap < 1e-8).all()
    np.testing.assert_allclose(there.cost, here.cost, rtol=1e-9)
    np.testing.assert_allclose(there.u, here.u, atol=1e-4)


@pytest.mark.sampled(1)
@pytest.mark.parametrize("name", ["ball", "free"])
def test_the_sign_of_a_quaternion_makes_no_difference(name):
    problem, q, qd, _ = case(name)
    robot, goal = problem.robot, np.array(CASES[name][1])
    problem = Problem(robot, 8, 0.05, [lambda u: 0.3 * u], [lambda q: 3.0 * robot.difference(goal, q), lambda qd: qd])
    here = ddp(problem, q[0], qd[0])
    other = q[0].copy()
    other[:4] *= -1.0
    there = ddp(problem, other, qd[0])
    assert here.status == there.status == OK
    np.testing.assert_allclose(there.cost, here.cost, rtol=1e-12)
    np.testing.assert_allclose(there.u, here.u, atol=1e-9)
    np.testing.assert_allclose(np.abs(there.q[:, :4]), np.abs(here.q[:, :4]), atol=1e-9)


def test_forces_stay_within_bounds_and_are_pushed_against_them():
    problem = swinging(rods(effort=2.0), [2.0, -0.5], horizon=20)
    q, qd, _ = at_random(problem.robot, 3, count=(4,))
    found = ddp(problem, q, qd, tolerance=1e-8, hessians="exact")
    assert (found.status == OK).all()
    assert np.abs(found.u).max() == 2.0
    by = np.array([slope(problem, *row) for row in zip(q, qd, found.u, strict=True)])
    low, high = found.u == -2.0, found.u == 2.0
    assert low.any()
    assert high.any()
    assert (~low & ~high).any()
    assert (by[low] > 0.0).all()
    assert (by[high] < 0.0).all()
    np.testing.assert_allclose(by[~low & ~high], 0.0, atol=1e-6)


def test_gains_are_how_the_best_forces_answer_to_displacements():
    problem = swinging(top(), [0.6, 0.0, 0.8, 0.0, 0.5])
    robot = problem.robot
    q, qd, _ = at_random(robot, 3)
    found, h = ddp(problem, q, qd, tolerance=1e-11, hessians="exact"), 1e-4
    for j in range(2 * robot.nv):
        along = h * np.eye(2 * robot.nv)[j]
        there = [
            ddp(problem, robot.integrate(q, x[: robot.nv]), qd + x[robot.nv :], u=found.u, tolerance=1e-11,
                hessians="exact").u[0]
            for x in (along, -along)
        ]  # fmt: skip
        np.testing.assert_allclose((there[0] - there[1]) / (2.0 * h), found.gains[0][:, j], atol=1e-5)


def test_a_varied_robot_has_numbers_of_its_own_in_every_problem():
    problem = swinging(rods().vary("rod2.mass", "gravity"), [3.0, 0.1])
    masses, gravity = np.linspace(0.5, 2.0, 5), np.array([0.0, 0.0, -3.0])
    q, qd, u = at_random(problem.robot, 3, count=(5,))
    found = ddp(problem, q, qd, u=u, parameters={"rod2.mass": masses, "gravity": gravity})
    assert (found.status == OK).all()
    for k, mass in enumerate(masses):
        own = {"rod2.mass": mass, "gravity": gravity}
        np.testing.assert_allclose(
            found.cost[k], replayed(problem, q[k], qd[k], found.u[k], parameters=own), rtol=1e-12
        )
        steepest = np.abs(slope(problem, q[k], qd[k], found.u[k], parameters=own)).max()
        assert steepest < 1e-6 * (1.0 + found.cost[k]) + 1e-7


def many():
    """37 problems with a target, a weight by stage and a mass of their own."""
    rng = np.random.default_rng(9)
    robot = rods(effort=3.0).vary("rod1.mass")
    running = [lambda u: 0.1 * u, lambda q, weight, target: weight * (q - target)]
    problem = Problem(robot, 12, 0.05, running, [lambda q, target: 5.0 * (q - target)],
                      given={"target": np.zeros(2), "weight": 0.5})  # fmt: skip
    given = {"target": rng.normal(size=(37, 2)), "weight": rng.uniform(0.2, 1.0, (37, 13))}
    return problem, rng.normal(size=(37, 2)), given, {"rod1.mass": rng.uniform(0.5, 2.0, 37)}


@pytest.mark.sampled(1)
@pytest.mark.parametrize("hessians", ["gauss_newton", "exact"])
def test_many_problems_at_once_are_solved_as_each_alone(hessians):
    problem, q, given, parameters = many()
    together = ddp(problem, q, given=given, parameters=parameters, hessians=hessians)
    assert (together.status == OK).all()
    assert len({len(h) for h in together.history}) > 3
    for k in range(37):
        own, mass = {name: a[k] for name, a in given.items()}, {"rod1.mass": parameters["rod1.mass"][k]}
        alone = ddp(problem, q[k], given=own, parameters=mass, hessians=hessians)
        for name in ("q", "qd", "u", "gains", "cost", "optimality", "status"):
            np.testing.assert_array_equal(getattr(together, name)[k], getattr(alone, name), err_msg=f"{name} of {k}")
        own["weight"] = own["weight"][0]  # the cost by NumPy, with a weight that stays
        alone = ddp(problem, q[k], given=own, parameters=mass)
        np.testing.assert_allclose(alone.cost, price(problem, alone.q, alone.qd, alone.u, own), rtol=1e-12)


@pytest.mark.sampled(1)
@pytest.mark.parametrize("method", [name for name, one in METHODS.items() if not one.adaptive])
def test_by_every_method_the_path_is_where_its_forces_lead(method):
    robot = hinge.samples.pendulum(1)
    problem = Problem(robot, 10, 0.02, [lambda u, qd: np.array([0.1 * u[0], 0.3 * qd[0]])], [lambda q: 2.0 * q],
                      method=method, limits=())  # fmt: skip
    q, qd = robot.random_state(0, 4)
    best = ddp(problem, q, 0.3 * qd)
    assert (best.status == OK).all()
    again = hinge.optimal.rolled(problem, q, 0.3 * qd, best.u)
    assert np.abs(best.q - again.q).max() < 1e-12
    assert np.abs(best.cost - again.cost).max() < 1e-12 * (1.0 + np.abs(best.cost).max())


@pytest.mark.sampled(1)
@pytest.mark.parametrize("bound", [{}, {"effort": 20.0}])
def test_a_path_does_not_stay_at_a_maximum(bound):
    """A pendulum that hangs where its cost is largest: every slope is zero, and no path is worse."""
    pendulum = hinge.samples.pendulum(1)
    ends = [lambda q: 100 * (1 + np.cos(q[0])), lambda qd: qd]
    problem = Problem(pendulum, 100, 0.02, [effort(1e-4)], ends, **bound)
    made = ddp(problem, [[0.0], [1e-3]])
    assert (made.status == Status.OK).all()
    np.testing.assert_allclose(made.cost[0], made.cost[1], rtol=1e-2)
    alone = ddp(problem, [0.0])
    np.testing.assert_array_equal(alone.u, made.u[0])


@pytest.mark.parametrize("end", [lambda q: q[0] - 1, lambda q: -(q[0] ** 2), lambda q: 1e3 * (q[0] - 1)])
def test_a_cost_without_a_least_value_is_not_ok(end):
    """The slope never gets small, though it is small beside a cost of minus a million."""
    made = ddp(Problem(hinge.samples.pendulum(1), 50, 0.02, [], [end]), [0.1])
    assert made.status != Status.OK
    assert made.cost < -1e3
