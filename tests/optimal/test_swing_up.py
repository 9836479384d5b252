"""Cart-pole, acrobot and Puma swing up from rest with less force than would lift them, and do what is claimed."""

import numpy as np
import pytest
from ddp_cases import price, slope

import hinge
from hinge.envs.cart_pole import cart_pole
from hinge.optimal import Problem, ddp, effort, posture, speed
from hinge.status import OK

UP = np.pi / 2.0


def upright(weight, *angles):
    """How far angles are from upright, whichever way round they came."""
    return lambda q: weight * np.concatenate([[np.sin(a(q)), 1.0 - np.cos(a(q))] for a in angles])


def cart():
    """A push of at most 10 N; the pole hangs at pi."""
    robot, h = cart_pole(), 0.03
    running = [effort(0.1 * h), upright(np.sqrt(0.1 * h), lambda q: q[1])]
    final = [upright(30.0, lambda q: q[1]), lambda q: 30.0 * q[:1], speed(100.0)]
    problem = Problem(robot, 70, h, running, final, driven=["slide"])
    return problem, [0.0, np.pi], [0.0, 0.0], 0.1 * np.sin(np.arange(70.0))[:, None]


def acrobot():
    """Two rods that hang, of 1 kg and 1 m each, of which only the elbow is driven, with 10 N m."""
    builder = hinge.Builder("acrobot")
    builder.link("base")
    for k, parent in enumerate(("base", "rod1"), 1):
        builder.link(f"rod{k}", 1.0, (0.0, 0.0, -0.5), np.diag([1 / 12, 1 / 12, 0.0]))
        builder.joint(f"joint{k}", "continuous", parent, f"rod{k}", (0, 0, 1.0 - k), axis=(0, 1, 0), effort=10.0)
    robot, h, N = hinge.Robot(builder.build()), 0.02, 150
    angles = (lambda q: q[0] + np.pi), (lambda q: q[0] + q[1] + np.pi)
    running = [effort(0.1 * h), upright(np.sqrt(0.1 * h), *angles)]
    problem = Problem(robot, N, h, running, [upright(30.0, *angles), speed(100.0)], driven=["joint2"])
    return problem, [0.0, 0.0], [np.pi, 0.0], np.sin(np.pi * h * np.arange(N))[:, None]


def puma():
    """A Puma that hangs stretched, with less at its shoulder than holds the arm level."""
    table = hinge.samples.puma560().to_dh()
    rows = [row | {"effort": most} for row, most in zip(table.rows, (20.0, 12.0, 8.0, 2.0, 2.0, 1.0), strict=True)]
    robot, h = hinge.dh(**(table._asdict() | {"rows": rows})), 0.015
    goal = np.array([0.0, UP, -UP, 0.0, 0.0, 0.0])
    problem = Problem(robot, 200, h, [effort(1e-3 * h), posture(robot, goal, 0.01 * h)],
                      [posture(robot, goal, 1000.0), speed(100.0)])  # fmt: skip
    assert robot.limits.effort[1] < 0.4 * abs(robot.gravity_force([0.0, 0.0, -UP, 0.0, 0.0, 0.0])[1])
    return problem, [0.0, -UP, -UP, 0.0, 0.0, 0.0], goal, np.zeros((200, 6))


@pytest.mark.parametrize(("make", "reach"), [(cart, 0.02), (acrobot, 0.1), (puma, 0.002)])
def test_robots_swing_up_within_their_efforts_as_claimed(make, reach):
    problem, q, up, u = make()
    robot = problem.robot
    found = ddp(problem, q, u=u, iterations=500)
    assert found.status == OK

    run = found.replay()
    rolled = hinge.rollout(robot, q, None, problem.horizon, problem.step, taus=found.tau, **problem.rolls)
    for ran in (run, rolled):
        np.testing.assert_allclose(price(problem, ran.q, ran.qd, found.u), found.cost, rtol=1e-9)
    off = robot.difference(up, run.q[-1])
    np.testing.assert_allclose((off + np.pi) % (2.0 * np.pi) - np.pi, 0.0, atol=reach)
    np.testing.assert_allclose(run.qd[-1], 0.0, atol=reach)

    most = robot.limits.effort[list(problem.drives)]
    low, high = found.u == -most, found.u == most
    assert (np.abs(found.u) <= most).all()
    assert (low | high).any()
    some = np.random.default_rng(2).choice(found.u.size, 40, replace=False)
    some = np.unique(np.concatenate([some, np.flatnonzero(low)[:3], np.flatnonzero(high)[:3]]))
    by = slope(problem, q, np.zeros(robot.nv), found.u, 1e-7, at=some)
    low, high = low.reshape(-1)[some], high.reshape(-1)[some]
    left = np.where(low, np.minimum(by, 0.0), np.where(high, np.maximum(by, 0.0), by))
    np.testing.assert_allclose(left, 0.0, atol=1e-5)
