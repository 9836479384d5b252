"""Cart-pole, acrobot and Puma swing up from rest with less force than would lift them, and do what is claimed."""

import numpy as np
import pytest
from ddp_cases import price, slope

import hinge
from hinge.envs.cart_pole import cart_pole
from hinge.identify import parameters, with_parameters
from hinge.optimal import Problem, ddp, effort, lqr, posture, speed, tvlqr
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
    robot, h, N = hinge.samples.pendulum(2), 0.02, 150
    angles = (lambda q: q[0] + np.pi), (lambda q: q[0] + q[1] + np.pi)
    running = [effort(0.1 * h), upright(np.sqrt(0.1 * h), *angles)]
    problem = Problem(robot, N, h, running, [upright(30.0, *angles), speed(100.0)], driven=["joint2"], effort=10.0)
    return problem, [0.0, 0.0], [np.pi, 0.0], np.sin(np.pi * h * np.arange(N))[:, None]


def puma(shoulder=12.0, elbow=8.0, N=200, **more):
    """A Puma that hangs stretched, with less at its shoulder than holds the arm level."""
    robot, h, most = hinge.samples.puma560(), 0.015, (20.0, shoulder, elbow, 2.0, 2.0, 1.0)
    goal = np.array([0.0, UP, -UP, 0.0, 0.0, 0.0])
    problem = Problem(robot, N, h, [effort(1e-3 * h), posture(robot, goal, 0.01 * h)],
                      [posture(robot, goal, 1000.0), speed(100.0)], effort=most, **more)  # fmt: skip
    assert shoulder < 0.7 * abs(robot.gravity_force([0.0, 0.0, -UP, 0.0, 0.0, 0.0])[1])
    return problem, [0.0, -UP, -UP, 0.0, 0.0, 0.0], goal, np.zeros((N, 6))


@pytest.mark.sampled(1)
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

    most = problem.bounds[1]
    low, high = found.u == -most, found.u == most
    assert (np.abs(found.u) <= most).all()
    assert (low | high).any()
    some = np.random.default_rng(2).choice(found.u.size, 40, replace=False)
    some = np.unique(np.concatenate([some, np.flatnonzero(low)[:3], np.flatnonzero(high)[:3]]))
    by = slope(problem, q, np.zeros(robot.nv), found.u, 1e-7, at=some)
    low, high = low.reshape(-1)[some], high.reshape(-1)[some]
    left = np.where(low, np.minimum(by, 0.0), np.where(high, np.maximum(by, 0.0), by))
    np.testing.assert_allclose(left, 0.0, atol=1e-5)


def test_a_puma_swings_up_within_the_limits_of_its_joints():
    problem, q, up, u = puma(25.0, 10.0, 150, limits=("position",))
    found, limits = ddp(problem, q, u=u, iterations=300), problem.robot.limits
    assert found.status == OK
    run = found.replay()
    np.testing.assert_allclose(price(problem, run.q, run.qd, found.u), found.cost, rtol=1e-9)
    np.testing.assert_allclose(run.q[-1], up, atol=0.002)
    room = np.minimum(run.q - limits.lower, limits.upper - run.q)
    assert room.min() > -1e-6
    assert (room < 1e-6).any(axis=0)[1:3].all()  # shoulder and elbow go to their ends


@pytest.mark.parametrize("share", [0.1, -0.1])
def test_a_swing_up_is_followed_and_held_by_a_robot_of_other_mass(share):
    problem, q, _, u = cart()
    robot, found = problem.robot, ddp(problem, q, u=u, iterations=500)
    numbers = parameters(robot)
    numbers[: 10 * robot.model.count] *= 1.0 + share
    other, weights = with_parameters(robot, numbers), {"Q": [10.0, 100.0, 1.0, 10.0], "R": 0.1}
    up = np.array([0.0, 2.0 * np.pi * np.round(found.q[-1, 1] / (2.0 * np.pi))])
    hold = lqr(robot, up, **weights, step=problem.step, method="semi_implicit", driven=["slide"])
    follow = tvlqr(robot, found, **weights, final=hold)
    assert abs(found.replay(other).q[-1, 1] - up[1]) > 1.0  # without an answer to where it is, it falls
    run = hinge.simulate(other, 6.0, q, control=follow, step=problem.step, method="semi_implicit", effort=True)
    np.testing.assert_allclose(run.q[: len(found.q)], found.q, atol=0.1)
    np.testing.assert_allclose(run.q[-1], up, atol=1e-3)
