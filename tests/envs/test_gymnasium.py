"""Environments are Gymnasium's: its checker, its registry, its wrappers."""

import subprocess
import sys

import gymnasium
import numpy as np
import pytest
from env_tasks import Arm
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AutoresetMode
from gymnasium.wrappers import vector
from sweeps import swept

import hinge
from hinge.envs import TASKS, Env, VectorEnv

IDS = {name: f"hinge/{task.__name__}-v0" for name, task in TASKS.items()}
names = pytest.mark.parametrize("name", swept(list(TASKS), lambda name: name != "go2-walk"))


@pytest.mark.sampled(1)
@names
@pytest.mark.filterwarnings("error", "ignore:.*A Box observation space m:UserWarning")  # velocities have no bounds
def test_the_checker_finds_nothing(name):
    env = gymnasium.make(IDS[name])
    check_env(env.unwrapped, skip_render_check=True)
    assert env.spec.max_episode_steps == TASKS[name]().steps


@names
def test_one_is_the_first_of_many(name):
    one, many = gymnasium.make(IDS[name]), gymnasium.make_vec(IDS[name], num_envs=3)
    assert isinstance(many, VectorEnv)
    assert many.single_observation_space == one.observation_space
    assert many.single_action_space == one.action_space
    seen, _ = one.reset(seed=4)
    np.testing.assert_array_equal(seen, many.reset(seed=4)[0][0])
    rng = np.random.default_rng(0)
    for _ in range(20):
        actions = rng.uniform(-1.0, 1.0, many.action_space.shape)
        seen, reward, ended, cut, _ = one.step(actions[0])
        there = many.step(actions)
        assert seen in one.observation_space
        assert there[0] in many.observation_space
        np.testing.assert_array_equal(seen, there[0][0])
        assert (np.float32(reward), ended, cut) == (there[1][0], there[2][0], there[3][0])
        if ended or cut:
            break


def test_an_episode_of_one_is_cut_off_by_gymnasium():
    env = gymnasium.make("hinge/CartPoleSwingUp-v0", max_episode_steps=4)
    env.reset(seed=0)
    assert [env.step(np.zeros(1))[3] for _ in range(4)] == [False, False, False, True]
    many = gymnasium.make_vec("hinge/CartPoleSwingUp-v0", 2, max_episode_steps=4)
    many.reset(seed=0)
    assert [many.step(np.zeros((2, 1)))[3].all() for _ in range(4)] == [False, False, False, True]
    assert many.spec.id == "hinge/CartPoleSwingUp-v0"


@pytest.mark.parametrize("mode", ["same_step", "next_step"])
def test_wrappers_of_gymnasium_fit(mode):
    """Returns and lengths of episodes are those of Gymnasium's own way of running many."""
    env = vector.RecordEpisodeStatistics(VectorEnv(Arm(), 6, mode))
    env.reset(seed=1)
    rng, lengths, returns = np.random.default_rng(3), [], []
    total, count, waiting = np.zeros(6), np.zeros(6, int), np.zeros(6, bool)
    for _ in range(50):
        _, reward, ended, cut, infos = env.step(rng.uniform(-1.0, 1.0, (6, 2)))
        total, count = np.where(waiting, 0.0, total + reward), np.where(waiting, 0, count + 1)
        for i in np.flatnonzero(ended | cut):
            lengths.append((infos["episode"]["l"][i], count[i]))
            returns.append((infos["episode"]["r"][i], total[i]))
        if mode == "same_step":
            total[ended | cut], count[ended | cut] = 0.0, 0
        else:
            waiting = ended | cut
    assert len(lengths) > 6
    assert all(a == b for a, b in lengths)
    np.testing.assert_allclose(*zip(*returns, strict=True), rtol=1e-6)


def test_infos_fall_apart_into_those_of_each():
    env = vector.DictInfoToList(VectorEnv(Arm(), 4, "same_step", max_episode_steps=2))
    env.reset(seed=0)
    env.step(np.zeros((4, 2)))
    seen, *_, infos = env.step(np.zeros((4, 2)))
    assert [set(info) for info in infos] == [{"status", "final_obs", "final_info"}] * 4
    assert all(info["final_info"] == {"status": 0} for info in infos)
    assert all((info["final_obs"] != row).any() for info, row in zip(infos, seen, strict=True))


@pytest.mark.filterwarnings("ignore:.*A Box observation space m:UserWarning")
def test_a_task_of_ones_own_as_one():
    env = Env(Arm())
    check_env(env, skip_render_check=True)
    seen, info = env.reset(seed=2)
    assert seen.shape == (12,)
    assert info == {}
    *_, info = env.step(np.zeros(2))
    assert info == {"status": 0}


def test_others_of_gymnasium_run_beside_it():
    """The same beginnings, many at once and one after another."""
    sync = gymnasium.vector.SyncVectorEnv([lambda: Env(Arm())] * 2, autoreset_mode=AutoresetMode.SAME_STEP)
    ours = VectorEnv(Arm(), 1, "same_step", max_episode_steps=np.inf)
    ours.reset(seed=7)
    sync.reset(seed=[7, 7])
    rng = np.random.default_rng(0)
    ends = 0
    for _ in range(80):
        action = rng.uniform(-1.0, 1.0, (1, 2))
        a, b = ours.step(action), sync.step(np.repeat(action, 2, axis=0))
        for x, y in zip(a[:4], b[:4], strict=True):
            np.testing.assert_allclose(x[0], y[1], rtol=1e-6)
        if a[2][0]:
            ends += 1
            np.testing.assert_array_equal(a[4]["final_obs"][0], b[4]["final_obs"][0])
            np.testing.assert_array_equal(b[4]["_final_obs"], [True, True])
    assert ends > 0


def test_a_module_names_its_environments():
    assert set(IDS.values()) <= set(gymnasium.registry)
    gymnasium.register_envs(hinge.envs)
    assert gymnasium.make("hinge.envs:hinge/CartPoleSwingUp-v0").spec.id == "hinge/CartPoleSwingUp-v0"


def test_without_gymnasium_it_says_what_to_install():
    code = "import sys; sys.modules['gymnasium'] = None; import hinge; hinge.envs"
    made = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert made.stderr.endswith(
        'hinge.errors.NotCovered: environments need the package gymnasium.\n  pip install "hinge[gym]"\n'
    )
