"""A solution does what it claims: replayed, followed by its gains, drawn, told, and taken from a batch."""

import matplotlib
import numpy as np
import pytest
from ddp_cases import at_random, flyer, price, rods, swinging, top

import hinge
from hinge.errors import SizeError
from hinge.optimal import Follower, Problem, ddp, effort, mppi, posture, speed, tvlqr
from hinge.status import OK

GOALS = {"rods": (rods, [3.0, 0.1]), "ball": (top, [0.6, 0.0, 0.8, 0.0, 0.5]),
         "free": (flyer, [0.6, 0.8, 0.0, 0.0, 0.3, 0.2, 0.1, 0.5])}  # fmt: skip


@pytest.mark.sampled(1)
@pytest.mark.parametrize("method", ["semi_implicit", "rk4"])
@pytest.mark.parametrize("name", GOALS)
def test_a_replay_costs_what_is_claimed(name, method):
    make, goal = GOALS[name]
    problem = swinging(make(), goal, method=method)
    q, qd, _ = at_random(problem.robot, 3, count=(4,))
    found = ddp(problem, q, qd)
    run = found.replay()
    assert run.q.shape == found.q.shape
    np.testing.assert_allclose(run.q, found.q, rtol=0, atol=1e-9)
    for k in range(4):
        np.testing.assert_allclose(price(problem, run.q[k], run.qd[k], found.u[k]), found.cost[k], rtol=1e-9)


def test_a_varied_robot_is_replayed_with_its_own_numbers():
    problem = swinging(rods().vary("rod2.mass"), [1.0, 0.1])
    own = {"rod2.mass": np.array([0.5, 2.0])}
    found = ddp(problem, [0.1, 0.2], parameters=own)
    np.testing.assert_allclose(found.replay(parameters=own).q, found.q, rtol=0, atol=1e-9)
    assert np.abs(found.replay().q - found.q).max() > 0.01


def lifted(most=np.inf):
    """Rods that are held up, whose costs are squares of states and forces: of gains they say all."""
    robot = rods(most)
    running = [posture(robot, [1.0, -0.5], [2.0, 1.0]), speed([0.3, 0.2]), effort([0.02, 0.05])]
    final = [posture(robot, [1.0, -0.5], 50.0), speed(5.0)]
    return Problem(robot, 40, 0.025, running, final), np.zeros(2)


def test_its_gains_are_those_of_the_regulator_about_it():
    problem, q = lifted()
    found = ddp(problem, q)
    assert found.status == OK
    follow = tvlqr(problem.robot, found, [2.0, 1.0, 0.3, 0.2], [0.02, 0.05], final=[50.0, 50.0, 5.0, 5.0])
    own = found.controller()
    assert isinstance(own, Follower)
    np.testing.assert_allclose(own.K[:-1], follow.K[:-1], rtol=1e-5, atol=1e-6)
    np.testing.assert_array_equal(own.tau, follow.tau)
    np.testing.assert_array_equal(own.t, found.t)


@pytest.mark.parametrize("driven", [None, ["joint1"]])
def test_its_controller_pulls_a_disturbed_run_back(driven):
    robot = rods()
    goal = [1.0, -0.5] if driven is None else [0.5, 0.0]
    costs = [effort(1e-3), speed(1e-2)], [posture(robot, goal, 30.0), speed(3.0)]
    problem = Problem(robot, 40, 0.025, *costs, driven=driven)
    found = ddp(problem, [0.0, 0.0], iterations=300)
    assert found.status == OK
    away = np.array([0.15, -0.1])
    run = {"step": 0.025, "method": "semi_implicit"}
    led = hinge.simulate(robot, 1.0, found.q[0] + away, control=found.controller(), **run)
    alone = hinge.simulate(robot, 1.0, found.q[0] + away, control=found.tau, **run)
    cost = [price(problem, one.q, one.qd, one.tau[:-1, list(problem.drives)]) for one in (led, alone)]
    best = ddp(problem, found.q[0] + away, iterations=300)
    assert cost[0] < best.cost + 0.2 * (cost[1] - best.cost)
    assert (driven is None) == bool(led.tau[:, 1].any())


def test_feedback_holds_a_heavier_robot_to_the_plan():
    robot = rods()
    heavy, costs = robot.with_payload("rod2", 0.5, (0.0, 0.0, -1.0)), [posture(robot, [1.0, -0.5]), effort(1e-5)]
    found = ddp(Problem(robot, 40, 0.025, costs), [0.0, 0.0])
    off = [np.abs(found.replay(heavy, feedback=answers).q - found.q).max() for answers in (False, True)]
    assert off[1] < 0.3 * off[0]


def test_a_solution_of_several_is_taken_apart():
    problem, _ = lifted()
    q = np.random.default_rng(6).normal(size=(2, 3, 2))
    many = ddp(problem, q)
    assert many.cost.shape == (2, 3)
    for index in ((0, 1), (1, 2)):
        one, alone = many[index], ddp(problem, q[index])
        for name in ("q", "qd", "u", "tau", "gains", "cost", "optimality", "gap", "violation", "status"):
            np.testing.assert_array_equal(getattr(one, name), getattr(alone, name), err_msg=name)
        assert one.table == alone.table
        assert repr(one) == repr(alone)
        np.testing.assert_array_equal(one.controller().K, many.controller()[index].K)
    row = many[1]
    np.testing.assert_array_equal(row.u, many.u[1])
    assert [row.iterations(k).rows for k in range(3)] == [many.iterations(k).rows for k in range(3, 6)]
    turned = many[:, ::-1]
    assert turned.iterations(0).rows == many.iterations(2).rows
    assert repr(many) == f"<Solution of 'rods': OK, 6 problems, 40 steps of 0.025 s, {len(many.history)} iterations>"
    with pytest.raises(SizeError, match="one problem"):
        many[0, 0][0]


def test_its_table_has_a_row_an_iteration():
    problem, q = lifted(3.0)
    found = ddp(problem, q)
    sheet = found.table
    assert sheet.title == "rods: iterations"
    assert sheet.columns == ("iteration", "cost", "optimality", "gap", "violation", "promised", "alpha", "added")
    rows = np.array(sheet.rows)
    np.testing.assert_array_equal(rows[:, 0], np.arange(len(found.history)))
    np.testing.assert_allclose(rows[-1, 1:3], [found.cost, found.optimality], rtol=1e-5)
    assert (np.diff(rows[:, 1]) <= 0.0).all()
    assert sheet.markdown().count("\n") == len(rows) + 2
    assert "3 problems" not in repr(found)
    sampled = mppi(problem, q, iterations=4, samples=16).table
    assert sampled.columns == ("iteration", "cost")
    assert len(sampled.rows) == 4


def test_it_is_drawn(tmp_path):
    problem, q = lifted(3.0)
    found = ddp(problem, [q, q + 0.1])
    figure = found.plot(tmp_path / "search.svg")
    assert (tmp_path / "search.svg").stat().st_size > 5000
    left, right = figure.axes
    assert len(left.lines) == 2
    np.testing.assert_array_equal(left.lines[1].get_xdata(), np.arange(len(found.iterations(1).rows)))
    assert [text.get_text() for text in right.get_legend().get_texts()] == ["optimality"]
    assert isinstance(found[0].trajectory.plot(), matplotlib.figure.Figure)
    with pytest.raises(SizeError, match="no iteration"):
        mppi(problem, q, iterations=0).plot()


def test_its_trajectory_is_one():
    problem, q = lifted()
    found = ddp(problem, q)
    run = found.trajectory
    np.testing.assert_array_equal(run.q, found.q)
    np.testing.assert_array_equal(run.tau[:-1], found.tau)
    np.testing.assert_array_equal(run.tau[-1], found.tau[-1])
    np.testing.assert_allclose(run.t, 0.025 * np.arange(41), rtol=1e-15)
    assert run.method == found.method == "semi_implicit"
