"""Rollouts do not feel one another: not how many there are, not who fails, not how many threads serve them."""

import numpy as np
import pytest
from sim_robots import FIXED, double_pendulum, flyer, free_body, massless_rods

import hinge
from hinge import Status

ANY = (*FIXED, "dopri5")


def pd(t, q, qd):
    return 3.0 * (np.sin(t) - q) - 0.5 * qd


@pytest.mark.sampled(2)
@pytest.mark.parametrize("method", ANY)
def test_a_rollout_is_the_same_alone_and_among_others(method):
    robot = double_pendulum()
    q, qd = robot.random_state(np.random.default_rng(0), 37)
    for control in (None, pd):
        many = hinge.simulate(robot, 0.5, q, qd, control, method, step=1e-2)
        for k in (0, 5, 36):
            alone = hinge.simulate(robot, 0.5, q[k], qd[k], control, method, step=1e-2)
            assert np.array_equal(alone.q, many.q[k])
            assert np.array_equal(alone.qd, many.qd[k])
            assert np.array_equal(alone.tau, many.tau[k])


@pytest.mark.parametrize("method", ["rk4", "lie_rk4", "dopri5"])
def test_the_same_for_quaternions(method):
    robot = flyer()
    q, qd = robot.random_state(np.random.default_rng(0), 9)
    many = hinge.simulate(robot, 0.2, q, qd, method=method, step=1e-2)
    alone = hinge.simulate(robot, 0.2, q[7], qd[7], method=method, step=1e-2)
    assert np.array_equal(alone.q, many.q[7])


@pytest.mark.parametrize("method", ANY)
def test_threads_change_nothing(method):
    robot = double_pendulum()
    q, qd = robot.random_state(np.random.default_rng(0), 3001)
    made = []
    for threads in (1, 2, 5):
        hinge.set_threads(threads)
        run = hinge.simulate(robot, 0.1, q, qd, pd, method, step=1e-2)
        made.append((run.q, run.qd, run.tau))
    for other in made[1:]:
        assert all(np.array_equal(a, b) for a, b in zip(made[0], other, strict=True))


@pytest.mark.parametrize("method", ANY)
def test_a_rollout_that_diverges_has_a_status_and_the_others_go_on(method):
    robot = double_pendulum()
    q, qd = robot.random_state(np.random.default_rng(3), 6)
    wild = qd.copy()
    wild[2] = 1e200
    calm = hinge.simulate(robot, 0.5, q, qd, method=method, step=1e-2)
    run = hinge.simulate(robot, 0.5, q, wild, method=method, step=1e-2)
    assert run.status.tolist() == [0, 0, Status.DIVERGED, 0, 0, 0]
    assert calm.status.tolist() == [0] * 6
    assert np.isnan(run.q[2, -1]).all()
    assert np.isnan(run.qd[2, -1]).all()
    others = [0, 1, 3, 4, 5]
    assert np.array_equal(run.q[others], calm.q[others])
    assert np.array_equal(run.qd[others], calm.qd[others])
    assert "1 of 6 failed: DIVERGED" in repr(run)


def test_a_rollout_that_blows_up_on_the_way_is_nan_from_there_on():
    robot = hinge.samples.pendulum(1)
    run = hinge.simulate(robot, 2.0, [[0.1], [0.1]], None, lambda t, q, qd: 1e4 * qd * qd * qd + q, step=1e-2)
    good = np.isfinite(run.q).all(axis=-1) & np.isfinite(run.qd).all(axis=-1)
    assert run.status.tolist() == [Status.NONFINITE] * 2
    first = good[0].argmin()
    assert 1 < first < len(run)
    assert good[0, :first].all()
    assert np.isnan(run.q[0, first:]).all()
    assert np.isnan(run.qd[0, first:]).all()


@pytest.mark.parametrize("method", ANY)
def test_a_singular_rollout_says_so(method):
    """A mass on two rods without any has no acceleration across them where they are straight."""
    robot = massless_rods()
    run = hinge.simulate(robot, 0.05, [[0.3, 1.0], [0.3, 0.0]], step=1e-2, method=method)
    assert run.status.tolist() == [Status.OK, Status.SINGULAR]
    assert np.isfinite(run.q[0]).all()


@pytest.mark.parametrize("method", ["rk4", "midpoint", "dopri5"])
def test_batches_of_any_shape(method):
    robot = double_pendulum()
    q, qd = robot.random_state(np.random.default_rng(0), 6)
    flat = hinge.simulate(robot, 0.1, q, qd, pd, method, step=1e-2)
    run = hinge.simulate(robot, 0.1, q.reshape(3, 2, 2), qd.reshape(3, 2, 2), pd, method, step=1e-2)
    assert run.q.shape == (3, 2, 11, 2)
    assert run.status.shape == (3, 2)
    assert np.array_equal(run.q.reshape(6, 11, 2), flat.q)
    both = hinge.simulate(robot, 0.1, q[:, None], qd[None, :3], method=method, step=1e-2)
    assert both.q.shape == (6, 3, 11, 2)
    none = hinge.simulate(robot, 0.1, q[:0], qd[:0], method=method, step=1e-2)
    assert none.q.shape == (0, 11, 2)


def test_back_ends_agree():
    robot = double_pendulum()
    for method in ANY:
        runs = [hinge.simulate(robot, 0.2, [1.0, 0.5], control=pd, method=method, step=1e-2, backend=b)
                for b in ("llvm", "interpret")]  # fmt: skip
        np.testing.assert_allclose(runs[0].q, runs[1].q, rtol=0, atol=1e-12)


def test_quaternions_that_were_rounded_are_read_as_their_direction():
    body = free_body()
    spin = [0.3, 1.0, 0.2, 0.0, 0.0, 0.0]
    for method in ("rk4", "lie_rk4", "dopri5"):
        run = hinge.simulate(body, 0.1, [0.603, 0, 0, 0.804, 0, 0, 0], spin, method=method, step=1e-2)
        one = hinge.simulate(body, 0.1, [0.6, 0, 0, 0.8, 0, 0, 0], spin, method=method, step=1e-2)
        np.testing.assert_allclose(run.q, one.q, rtol=0, atol=1e-15)
