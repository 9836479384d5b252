"""The tasks that come along can be done, by controllers written by hand; their robots are what their makers say."""

import numpy as np
import pytest

import hinge
from hinge.envs import TASKS, VectorEnv


def test_a_panda_reaches_its_goals():
    """Velocities along the way to the goal, by damped least squares, bring the flange there."""
    env = hinge.envs.make("panda-reach", 40, autoreset="disabled")
    seen, _ = env.reset(seed=1)
    fastest = env.robot.limits.velocity
    first = np.linalg.norm(seen[:, -3:], axis=1)
    assert first.min() > 0.02
    for _ in range(env.task.steps):
        J = env.robot.jacobian(env.q, "tool", frame="aligned")[:, 3:]
        way = np.linalg.solve(J @ J.swapaxes(1, 2) + 1e-3 * np.eye(3), 3.0 * seen[:, -3:, None])
        seen, reward, ended, cut, infos = env.step((J.swapaxes(1, 2) @ way)[..., 0] / fastest)
        assert not infos["status"].any()
        assert (np.abs(env.qd) < 1.05 * fastest).all()
    np.testing.assert_allclose(np.linalg.norm(seen[:, -3:], axis=1), 0.0, atol=5e-3)
    np.testing.assert_allclose(env.state()["goal"] - env.robot.pose(env.q, "tool")[:, :3, 3], seen[:, -3:], atol=1e-6)
    assert reward.min() > 0.95
    assert cut.all()
    assert not ended.any()


def test_a_panda_brakes_before_its_limits():
    env = hinge.envs.make("panda-reach", 14, autoreset="disabled")
    env.reset(seed=0)
    push = np.concatenate([np.eye(7), -np.eye(7)])
    for _ in range(150):
        env.step(push)
    at, limits = env.q, env.robot.limits
    assert (at > limits.lower - 1e-3).all()
    assert (at < limits.upper + 1e-3).all()
    np.testing.assert_allclose(np.diagonal(at[:7]), limits.upper, atol=0.02)
    np.testing.assert_allclose(np.diagonal(at[7:]), limits.lower, atol=0.02)


def test_a_panda_that_carries_more_than_its_controller_knows_sags():
    env = VectorEnv(TASKS["panda-reach"](), 2, "disabled", parameters={"link7.mass": hinge.sweeps.uniform(1.5, 2.5)})
    env.reset(seed=0)
    env.restore(env.state() | {"q": np.tile(env.q[0], (2, 1))})
    before = env.robot.pose(env.q, "tool")[:, 2, 3]
    for _ in range(20):
        env.step(np.zeros((2, 7)))
    sunk, mass = before - env.robot.pose(env.q, "tool")[:, 2, 3], env.state()["parameters"][:, 0]
    assert (sunk > 0.01).all()
    assert sunk.argmax() == mass.argmax()


def test_a_pole_is_balanced_and_lies_within_the_rail():
    """A linear law balances it from near upright; pushed one way, the cart comes to the stop and stays."""
    env = hinge.envs.make("cart-pole-swing-up", 3, autoreset="disabled")
    env.reset(seed=0)
    env.restore(env.state() | {"q": np.array([[0.5, 0.1], [-0.5, -0.1], [0.0, 0.2]]), "qd": np.zeros((3, 2))})
    gains = np.array([1.0, 30.0, 2.0, 7.0]) / 10.0
    for _ in range(500):
        seen, reward, *_ = env.step(np.concatenate([env.q, env.qd], axis=1) @ gains[:, None])
    np.testing.assert_allclose(env.q, 0.0, atol=0.05)
    np.testing.assert_allclose(reward, 1.0, atol=0.01)
    for _ in range(300):
        seen, *_ = env.step(np.ones((3, 1)))
        assert seen in env.observation_space
    np.testing.assert_allclose(seen[:, 0], 2.4, atol=1e-5)


def test_the_panda_is_the_one_of_its_maker():
    """Its flange is where its URDF says, within the same limits."""
    pytest.importorskip("pinocchio")
    from agree.real_robots import FILES

    arm, wanted = hinge.samples.panda(), hinge.load(FILES["panda_description/urdf/panda.urdf"])
    q, _ = arm.random_state(np.random.default_rng(0), 5)
    whole = np.concatenate([q, np.zeros((5, wanted.nq - 7))], axis=1)
    np.testing.assert_allclose(arm.pose(q, "tool"), wanted.pose(whole, "panda_link8"), atol=1e-14)
    for name in ("lower", "upper", "velocity", "effort"):
        np.testing.assert_array_equal(getattr(arm.limits, name), getattr(wanted.limits, name)[:7])
    assert not list(arm.report)
    assert arm.mass == pytest.approx(16.062132)
