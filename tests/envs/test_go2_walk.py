"""The Go2 that walks: it stands when told nothing, falls end episodes, and what it feels is its weight."""

import numpy as np
import pytest

import hinge
from hinge.envs import Go2Walk, Task, VectorEnv
from hinge.envs.go2_walk import FEET, STIFFNESS
from hinge.errors import SizeError, UnknownName
from hinge.sweeps import uniform

N = 8


@pytest.fixture(scope="module")
def env():
    return VectorEnv(Go2Walk(), N, parameters={"base.mass": uniform(5.0, 11.0), "friction": uniform(0.3, 1.2)})


def stand(env, steps=100):
    seen, _ = env.reset(seed=1)
    for _ in range(steps):
        seen, reward, ended, cut, infos = env.step(np.zeros((N, 12)))
        assert not ended.any()
        assert not cut.any()
        assert not infos["status"].any()
    return seen, reward


@pytest.mark.sweep
def test_it_stands_still_and_feels_what_it_carries(env):
    seen, reward = stand(env)
    mass = env.robot.mass - 6.921 + env.state()["parameters"][:, 0]
    np.testing.assert_allclose(seen[:, -4:].sum(axis=1) * env.task.weight, 9.81 * mass, rtol=0.03)
    assert mass.std() > 1.0
    assert np.corrcoef(mass, env.q[:, 6])[0, 1] < -0.9  # the heavier, the lower
    assert np.abs(env.qd).max() < 0.3
    np.testing.assert_allclose(seen[:, 3:6], [[0.0, 0.0, -1.0]] * N, atol=0.15)
    assert reward.max() < 1.5


@pytest.mark.sweep
def test_a_trot_takes_it_forward(env):
    env.reset(seed=3)
    begun, phase = env.q[:, 4], np.pi * np.array([0.0, 1.0, 1.0, 0.0])
    for k in range(150):
        swing = 2.0 * np.pi * 3.6 * 0.02 * k + phase
        legs = np.stack([0.0 * swing, 0.14 + np.sin(swing), -np.maximum(0.0, np.cos(swing + 1.7))], axis=1)
        *_, ended, _, _ = env.step(np.tile(legs.reshape(-1), (N, 1)))
        assert not ended.any()
    assert (env.q[:, 4] - begun > 0.3).all()  # m in 3 s


@pytest.mark.sweep
def test_falls_end_an_episode_and_another_begins(env):
    stand(env, 5)
    state = env.state()
    state["q"][2, :4] = [np.sqrt(0.5), np.sqrt(0.5), 0.0, 0.0]  # on its side
    state["q"][5, 6] = 0.12
    env.restore(state)
    _, _, ended, _, _ = env.step(np.zeros((N, 12)))
    np.testing.assert_array_equal(np.flatnonzero(ended), [2, 5])
    commands = env.state()["command"]
    _, reward, ended, _, _ = env.step(np.zeros((N, 12)))
    assert not ended.any()
    np.testing.assert_array_equal(reward[[2, 5]], 0.0)
    np.testing.assert_allclose(env.q[[2, 5], 6], env.task.home[6] + 0.02, atol=1e-12)
    assert (np.abs(env.state()["command"] - commands).max(axis=1) > 0.0).tolist() == [k in (2, 5) for k in range(N)]


def test_it_does_what_the_same_numbers_say(env):
    """Twice the same, and as `hinge.rollout` has it."""
    actions, runs = np.random.default_rng(0).uniform(-1.0, 1.0, (5, N, 12)), []
    for _ in range(2):
        env.reset(seed=7)
        runs.append([env.step(a)[0] for a in actions])
    np.testing.assert_array_equal(*runs)
    env.reset(seed=7)
    q, qd, task = env.q, env.qd, env.task
    numbers = dict(zip(("base.mass", "friction"), env.state()["parameters"].T, strict=True))
    assert numbers["friction"].min() < 0.6 < 0.9 < numbers["friction"].max()
    for _ in range(5):
        env.step(actions[0])
    spring = lambda t, q, qd, w: np.concatenate([np.zeros(6), STIFFNESS * (w - q[7:]) - 2.0 * qd[6:]])
    told = {"inputs": [task.home[7:] + 0.4 * actions[0]], "parameters": numbers, "effort": True, "law": "soft"}
    run = hinge.rollout(task.robot, q, qd, 20, 0.005, policy=spring, ground=hinge.Ground(), **told)
    np.testing.assert_allclose(env.q, run.q[:, -1], atol=1e-7)
    np.testing.assert_allclose(env.qd, run.qd[:, -1], atol=1e-5)


def test_friction_that_cannot_be_is_refused():
    with pytest.raises(SizeError, match=r"VectorEnv: parameter 'friction' is -1; give from 0 up."):
        VectorEnv(Go2Walk(), 1, parameters={"friction": uniform(-1.0, 1.0)})


def test_what_is_felt_is_of_links_that_may_touch():
    class Numb(Go2Walk):
        feels = (*FEET, "FL_fot")

    with pytest.raises(UnknownName, match="feels of Numb='FL_fot'"):
        VectorEnv(Numb(), 1)

    class Afloat(Task):
        robot, feels = hinge.samples.go2(), FEET

    with pytest.raises(UnknownName, match="feels of Afloat='FL_foot'"):
        VectorEnv(Afloat(), 1)
