"""A regulator about a trajectory stays on it, costs what it says, and holds what runs away without it."""

import warnings
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from optimal_robots import ball_arm, cart_pole, displaced

import hinge
from hinge.optimal import lqr, tvlqr

H, STEPS = 0.02, 150
HOW = {"step": H, "method": "semi_implicit"}
Q, R = np.array([10.0, 10.0, 1.0, 1.0]), 0.1


def quiet(*args, **options):
    """A run whose controller is traced."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return hinge.simulate(*args, **options)


def swung(robot=None, start=(0.0, 2.5), method="semi_implicit", record=1):
    """A cart that is pushed to and fro, so that its pole swings over the top."""
    push = np.zeros((STEPS, 2))
    push[:, 0] = 8.0 * np.sin(3.0 * H * np.arange(STEPS))
    return hinge.simulate(robot or cart_pole(), STEPS * H, start, control=push, step=H, method=method, record=record)


@pytest.fixture(scope="module")
def run():
    return swung()


@pytest.fixture(scope="module")
def follow(run):
    return tvlqr(cart_pole(), run, Q, R, driven=["slide"])


def test_on_the_trajectory_nothing_is_added(run, follow):
    again = quiet(cart_pole(), STEPS * H, [0.0, 2.5], control=follow, **HOW)
    assert np.abs(again.q - run.q).max() < 1e-11
    assert np.abs(again.tau - run.tau).max() < 1e-10
    assert not again.tau[:, 1].any()


def test_gains_solve_the_recursion_of_the_steps_that_were_taken(run, follow):
    robot = cart_pole()
    A, B = robot.linearize(run.q[:-1], run.qd[:-1], run.tau[:-1], H, method="semi_implicit")
    B, S = B[..., :1], np.diag(Q)
    for k in reversed(range(STEPS)):
        K = np.linalg.solve(R + B[k].T @ S @ B[k], B[k].T @ S @ A[k])
        S = np.diag(Q) + A[k].T @ S @ A[k] - A[k].T @ S @ B[k] @ K
        assert np.allclose(follow.K[k], K, rtol=1e-7, atol=1e-9)
        assert np.allclose(follow.S[k], S, rtol=1e-7, atol=1e-7)


def test_the_cost_of_what_is_left_is_what_S_says(run, follow):
    robot, x0 = cart_pole(), 1e-6 * np.array([1.0, -0.5, 0.3, 0.8])
    other = quiet(robot, STEPS * H, run.q[0] + x0[:2], run.qd[0] + x0[2:], control=follow, **HOW)
    x = np.concatenate([other.q - run.q, other.qd - run.qd], axis=1)
    cost = (x**2 * Q).sum() + R * ((other.tau - run.tau)[:-1] ** 2).sum()
    assert np.isclose(cost, x0 @ follow.S[0] @ x0, rtol=1e-5)


def test_a_tenth_of_mass_more_is_held_and_without_feedback_is_not(run, follow):
    heavy = cart_pole(more=1.1)
    loose = hinge.simulate(heavy, STEPS * H, [0.0, 2.5], control=run.tau[:-1], **HOW)
    held = quiet(heavy, STEPS * H, [0.0, 2.5], control=follow, **HOW)
    off = [np.abs(heavy.difference(run.q, other.q)).max() for other in (loose, held)]
    assert off[0] > 0.5
    assert off[1] < 0.1


def test_long_before_the_end_it_is_the_regulator_of_standing_still():
    robot = cart_pole()
    stand = hinge.simulate(robot, 20.0, [0.2, 0.0], control=np.zeros(2), **HOW)
    hold = lqr(robot, [0.2, 0.0], Q, R, driven=["slide"], **HOW)
    for final in (None, 0.0, hold):
        follow = tvlqr(robot, stand, Q, R, final=final, driven=["slide"])
        assert np.allclose(follow.K[0], hold.K, rtol=1e-7)
        assert np.allclose(follow.S[0], hold.S, rtol=1e-7)
    assert np.allclose(follow.K, hold.K, rtol=1e-7)  # with the regulator's own cost at the end


def test_after_the_end_a_regulator_takes_over():
    robot = cart_pole()
    hold = lqr(robot, [0.0, 0.0], Q, R, driven=["slide"], **HOW)
    near = hinge.simulate(robot, 1.0, [0.4, 0.1], control=hold, **HOW)
    follow = tvlqr(robot, near, Q, R, final=hold, driven=["slide"])
    q, qd = robot.random_state(0, 4)
    assert np.allclose(follow(1.0, q, qd), hold(0.0, q, qd), rtol=1e-12)
    run = quiet(robot, 8.0, [0.42, 0.1], control=follow, **HOW)
    assert np.abs(run.q[-1]).max() < 1e-3
    last = tvlqr(robot, near, Q, R, driven=["slide"])
    assert np.array_equal(last.K[-1], last.K[-2])
    assert np.allclose(last(5.0, near.q[-1], near.qd[-1]), near.tau[-1])


def test_quaternions_are_followed_along_velocities_as_the_linear_motion_says():
    robot = ball_arm()
    push = 0.2 * np.sin(np.outer(H * np.arange(100), [3.0, 2.0, 0.0, 4.0]))
    start = robot.integrate(robot.neutral(), [2.8, 0.0, 0.0, 0.3])
    run = hinge.simulate(robot, 2.0, start, control=push, **HOW)
    follow = tvlqr(robot, run, [100.0] * 4 + [1.0] * 4, 0.1)
    ends = {}
    for size in (0.1, 1e-6):
        x = np.concatenate([size * np.array([1.0, -1.0, 1.0, 1.0]), np.zeros(4)])
        away = robot.integrate(start, x[:4])
        for control in (push, follow):
            other = hinge.simulate(robot, 2.0, away, control=control, **HOW)
            ends[size, control is follow] = displaced(robot, run.q[-1], other.q[-1], other.qd[-1] - run.qd[-1])
    A, B = robot.linearize(run.q[:-1], run.qd[:-1], run.tau[:-1], H, method="semi_implicit")
    for k in range(100):
        x = (A[k] - B[k] @ follow.K[k]) @ x
    assert np.allclose(ends[1e-6, True], x, rtol=0.0, atol=1e-5 * 1e-6)
    assert np.abs(ends[0.1, False]).max() > 0.5
    assert np.abs(ends[0.1, True]).max() < 1e-3


@pytest.mark.sweep
def test_loops_are_followed_by_the_one_motor_they_have():
    bars, steps = hinge.samples.four_bar(), {**HOW, "loops": "project"}
    rest = hinge.optimal.equilibrium(bars, [1.0, -0.5, -0.5], driven=["crank"], held=["crank"])
    push = np.zeros((50, 3))
    push[:, 0] = rest.tau[0] + 3.0 * np.sin(2.0 * H * np.arange(50))
    run = hinge.simulate(bars, 1.0, rest.q, control=push, **steps)
    follow = tvlqr(bars, run, [100.0] * 3 + [1.0] * 3, 0.01, driven=["crank"])
    heavy = bars.with_payload("coupler", 0.3)
    loose, held, same = (
        np.abs(hinge.simulate(robot, 1.0, rest.q, control=control, **steps).q - run.q).max()
        for robot, control in ((heavy, push), (heavy, follow), (bars, follow))
    )
    assert same < 1e-11
    assert loose > 0.5
    assert held < 0.1


def test_trajectories_side_by_side_are_each_followed():
    robot, starts = cart_pole(), np.array([[0.0, 2.0], [0.1, 2.5], [0.0, 3.0]])
    runs = swung(start=starts)
    follow = tvlqr(robot, runs, Q, R, driven=["slide"])
    assert follow.K.shape == (3, STEPS + 1, 1, 4)
    one = tvlqr(robot, swung(start=starts[1]), Q, R, driven=["slide"])
    assert np.allclose(follow[1].K, one.K, rtol=1e-9)
    assert np.array_equal(follow[1].q, one.q)
    heavy = quiet(cart_pole(1.1), STEPS * H, starts, control=follow, **HOW)
    assert np.abs(heavy.q - runs.q).max() < 0.1
    with pytest.raises(hinge.SizeError):
        one[0]


def test_what_has_states_and_forces_by_name_can_be_followed(run, follow):
    found = SimpleNamespace(q=run.q, qd=run.qd, tau=run.tau[:-1], step=H, method="semi_implicit")
    same = tvlqr(cart_pole(), found, Q, R, driven=["slide"])
    assert np.allclose(same.K, follow.K)
    assert np.allclose(same.t, follow.t)
    bare = SimpleNamespace(q=run.q, qd=run.qd, tau=run.tau[:-1])
    assert "Give method=" in refused(hinge.SizeError, cart_pole(), bare, Q, R, step=H)
    again = tvlqr(cart_pole(), bare, Q, R, driven=["slide"], **HOW)
    assert np.array_equal(again.K, same.K)


def test_about_a_solution_the_gains_are_those_it_was_found_with():
    robot, goal = cart_pole(), np.array([0.1, 0.0])
    costs = [lambda q, qd: np.sqrt(Q) * np.concatenate([q - goal, qd]), lambda u: np.sqrt(R) * u]
    problem = hinge.optimal.Problem(robot, 60, H, running=costs, final=costs[:1], driven=["slide"])
    found = hinge.optimal.ddp(problem, [0.0, 0.3], tolerance=1e-10)
    assert found.status == hinge.Status.OK
    follow = tvlqr(robot, found, Q, R)
    assert np.array_equal(follow.driven, [0])
    assert np.allclose(follow.K[:-1], -found.gains, rtol=1e-5, atol=1e-5)
    run = quiet(robot, 60 * H, [0.0, 0.3], control=follow, **HOW)
    assert np.allclose(run.q, found.q, rtol=0.0, atol=1e-9)
    many = hinge.optimal.ddp(problem, [[0.0, 0.3], [0.0, -0.2]], tolerance=1e-10)
    assert np.allclose(tvlqr(robot, many, Q, R)[0].K, follow.K, rtol=1e-6, atol=1e-6)
    touching = hinge.optimal.Problem(robot, 5, H, running=costs, driven=["slide"], ground=-5.0)
    assert "steps with ground=" in refused(hinge.NotCovered, robot, replace(found, problem=touching), Q, R)


def test_other_methods_are_followed_step_by_step():
    robot, run = cart_pole(), swung(method="rk4")
    follow = tvlqr(robot, run, Q, R, driven=["slide"])
    A, _ = robot.linearize(run.q[-2], run.qd[-2], run.tau[-2], H, method="rk4")
    assert not np.allclose(A, robot.linearize(run.q[-2], run.qd[-2], run.tau[-2], H, method="semi_implicit")[0])
    same = hinge.simulate(robot, STEPS * H, [0.0, 2.5], control=follow, step=H, sample=1)
    assert np.abs(same.q - run.q).max() < 1e-11


def refused(kind, *args, **options):
    with pytest.raises(kind) as caught:
        tvlqr(*args, **options)
    return str(caught.value)


def test_bad_input(run):
    robot = cart_pole()
    assert "not steps of 0.02 s apart" in refused(hinge.NotCovered, robot, swung(record=5), Q, R, driven=["slide"])
    no_forces = hinge.simulate(robot, 1.0, [0.0, 0.1], fields=("q", "qd"), **HOW)
    assert refused(hinge.TrajectoryError, robot, no_forces, Q, R).startswith("tau was not recorded.")
    other = refused(hinge.SizeError, hinge.samples.pendulum(1), run, 1.0, 1.0)
    assert other == f"tvlqr: run.q has shape {run.q.shape}; it has to end in (1,)."
    lost = SimpleNamespace(
        q=np.where(np.arange(STEPS + 1)[:, None] > 9, np.nan, run.q), qd=run.qd, tau=run.tau, t=run.t, method="rk4"
    )
    assert refused(hinge.SizeError, robot, lost, Q, R) == "tvlqr: run.q[10, 0] is nan. Give finite numbers."
    short = SimpleNamespace(q=run.q, qd=run.qd[:-1], tau=run.tau, t=run.t, method="rk4")
    assert "and forces in the n steps between them" in refused(hinge.SizeError, robot, short, Q, R)
    assert "step=None is not a time" in refused(
        hinge.SizeError, robot, SimpleNamespace(q=run.q, qd=run.qd, tau=run.tau), Q, R, method="rk4"
    )
    hold = lqr(robot, [0.0, 0.0], Q, R, driven=["slide"])
    told = refused(hinge.NotCovered, robot, run, Q, R, final=hold, driven=["slide"])
    assert told.endswith("Make it with lqr(…, step=0.02, driven=…).")
    assert refused(hinge.SizeError, robot, run, Q, R, final=np.ones(3), driven=["slide"]).startswith("tvlqr: final has")
    ball = hinge.Scene().body("ball", "sphere", 0.1, mass=2.0).robot
    resting = hinge.simulate(ball, 0.05, [1, 0, 0, 0, 0, 0, 0.1], ground=0.0)
    assert "has contacts" in refused(hinge.NotCovered, ball, resting, 1.0, 1.0)
