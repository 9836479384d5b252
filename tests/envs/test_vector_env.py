"""Many environments are what one would get one by one: physics, what is seen of it, ends, new beginnings."""

import numpy as np
import pytest
from env_tasks import Arm, Thrown
from gymnasium.vector import AutoresetMode

import hinge
from hinge.envs import State, VectorEnv
from hinge.errors import NotCovered, SizeError, TraceError, UnknownName
from hinge.sweeps import latin, normal, uniform

N = 9
RNG = np.random.default_rng(5)


@pytest.fixture(scope="module")
def arms():
    """Environments of one task by when they begin anew."""
    return {mode: VectorEnv(Arm(), N, mode) for mode in ("next_step", "same_step", "disabled")}


def actions(env, steps):
    return np.random.default_rng(2).uniform(-1.3, 1.3, (steps, *env.action_space.shape))


def damped(t, q, qd, force):
    return force - 0.3 * qd


def test_it_moves_as_rollouts_do(arms):
    env, robot = arms["disabled"], Arm().robot
    env.reset(seed=3)
    q, qd = env.q, env.qd
    for action in actions(env, 5):
        env.step(action)
        held = np.array([30.0, 15.0]) * np.clip(action, -1.0, 1.0)
        there = hinge.rollout(robot, q, qd, 3, 5e-3, policy=damped, inputs=[held], method="rk4")
        q, qd = there.q[:, -1], there.qd[:, -1]
        np.testing.assert_allclose(env.q, q, rtol=0, atol=1e-12)
        np.testing.assert_allclose(env.qd, qd, rtol=0, atol=1e-11)


def numbers(state, i, t):
    """Environment i as a task would see it."""
    own = {"goal": state["goal"][i], "reached": state["reached"][i, 0]}
    return State(t, state["q"][i], state["qd"][i], state["action"][i], own=own)


def test_what_is_seen_is_what_the_task_says_of_numbers(arms):
    env, task = arms["disabled"], Arm()
    env.reset(seed=4)
    step = task.h * task.frame_skip
    for k, action in enumerate(actions(env, 6)):
        before = env.state()
        seen, reward, ended, cut, _ = env.step(action)
        after = env.state()
        for i in range(N):
            was, made = (numbers(x, i, j * step) for j, x in ((k, before), (k + 1, after)))
            there = State(made.t, made.q, made.qd, made.action, own=was.own)
            for name, value in task.update(there, was).items():
                np.testing.assert_allclose(made.own[name], value, atol=1e-12)
            clipped = np.clip(action[i], -1.0, 1.0)
            np.testing.assert_array_equal(made.action, clipped)
            np.testing.assert_allclose(reward[i], task.reward(made, was), rtol=1e-6, atol=1e-7)
            assert ended[i] == task.terminated(made)
            whole = State(made.t, made.q, made.qd, made.action, None, seen[i, 8:10], seen[i, 10:12], made.own)
            np.testing.assert_allclose(seen[i], task.observation(whole), rtol=1e-6, atol=1e-6)
        assert not cut.any()


def test_the_last_acceleration_and_forces_are_those_of_the_last_step():
    class Fine(Arm):
        frame_skip = 1

    env = VectorEnv(Fine(), N, "disabled")
    env.reset(seed=1)
    for action in actions(env, 3):
        was = env.qd
        seen, *_ = env.step(action)
        np.testing.assert_allclose(seen[:, 8:10], (env.qd - was) / 5e-3, rtol=1e-5, atol=1e-5)
        held = np.array([30.0, 15.0]) * np.clip(action, -1.0, 1.0) - 0.3 * was
        np.testing.assert_allclose(seen[:, 10:12], held, rtol=1e-6, atol=1e-6)


def test_new_episodes_begin_in_the_same_step_or_the_next(arms):
    """One that goes on by itself is told its last observation; the other sees it, and begins in a step of its own."""
    same, later = arms["same_step"], arms["next_step"]
    seen, _ = same.reset(seed=8)
    other, _ = later.reset(seed=8)
    np.testing.assert_array_equal(seen, other)
    clock, queue = np.zeros(N, int), actions(same, 70)
    history, waiting, ends = [], np.zeros(N, bool), 0
    for _ in range(65):
        acts = queue[clock, np.arange(N)]
        acts[waiting] = 7.0  # what is done then does not matter
        obs, reward, ended, cut, infos = later.step(acts)
        assert "final_obs" not in infos
        history.append((obs, reward, ended, cut, waiting.copy()))
        assert not np.any([x[waiting] for x in (reward, ended, cut)])
        clock += ~waiting
        waiting = ended | cut
    at = np.zeros(N, int)
    for k in range(50):
        obs, reward, ended, cut, infos = same.step(queue[k])
        np.testing.assert_array_equal(infos["_final_obs"], ended | cut)
        for i in range(N):
            want = history[at[i]]
            assert (reward[i], ended[i], cut[i]) == (want[1][i], want[2][i], want[3][i])
            np.testing.assert_array_equal(infos["final_obs"][i], want[0][i])
            at[i] += 1
            if ended[i] or cut[i]:
                ends += 1
                want = history[at[i]]
                assert want[4][i]
                at[i] += 1
            np.testing.assert_array_equal(obs[i], want[0][i])
    assert ends > N


def test_an_episode_is_cut_off_in_time(arms):
    env = arms["disabled"]
    env.reset(seed=0)
    cuts = [env.step(np.zeros((N, 2)))[3] for _ in range(21)]
    assert not np.any(cuts[:19])
    assert np.all(cuts[19:])
    short = VectorEnv(Arm(), 2, "disabled", max_episode_steps=3)
    short.reset(seed=0)
    assert [short.step(np.zeros((2, 2)))[3].all() for _ in range(3)] == [False, False, True]


def test_an_environment_depends_on_its_number_and_not_on_how_many_there_are(arms):
    few, queue = VectorEnv(Arm(), 4, "same_step"), actions(arms["same_step"], 50)
    many = arms["same_step"]
    np.testing.assert_array_equal(few.reset(seed=6)[0], many.reset(seed=6)[0][:4])
    ends = 0
    for action in queue:
        a, b = few.step(action[:4]), many.step(action)
        for x, y in zip(a[:4], b[:4], strict=True):
            np.testing.assert_array_equal(x, y[:4])
        ends += (a[2] | a[3]).sum()
    assert ends > 4


def test_seeds_say_how_it_begins(arms):
    env = arms["disabled"]
    first, again, next_one = env.reset(seed=1)[0], None, env.reset()[0]
    again = env.reset(seed=1)[0]
    np.testing.assert_array_equal(first, again)
    np.testing.assert_array_equal(env.reset()[0], next_one)
    assert (first != next_one).any(axis=1).all()
    assert (env.reset(seed=2)[0] != first).any(axis=1).all()
    assert len(np.unique(first[:, 0])) == N
    other = VectorEnv(Arm(), 2)
    assert (other.reset()[0] != VectorEnv(Arm(), 2).reset()[0]).any()


def test_a_mask_says_who_begins_anew(arms):
    env = arms["disabled"]
    env.reset(seed=1)
    for action in actions(env, 4):
        was, *_ = env.step(action)
    mask = np.arange(N) % 3 == 0
    seen, _ = env.reset(options={"reset_mask": mask})
    assert (env.state()["episode"][:, 1] == mask).all()
    np.testing.assert_array_equal(seen[~mask, :8], was[~mask, :8])
    assert (seen[mask, 7] == 0.0).all()
    seeded, _ = env.reset(seed=1, options={"reset_mask": mask})
    np.testing.assert_array_equal(seeded[mask], env.reset(seed=1)[0][mask])


def test_episodes_need_not_be_cut_off_at_once(arms):
    env = arms["disabled"]
    seen, _ = env.reset(seed=1, options={"step": np.arange(N)})
    np.testing.assert_allclose(seen[:, 7], 0.015 * np.arange(N), atol=1e-7)
    np.testing.assert_array_equal(seen[:, :7], env.reset(seed=1)[0][:, :7])
    env.reset(seed=1, options={"step": np.arange(N)})
    cuts = np.array([env.step(np.zeros((N, 2)))[3] for _ in range(20)])
    np.testing.assert_array_equal(cuts.argmax(axis=0), 19 - np.arange(N))


def test_a_state_goes_on_as_it_did(arms):
    env = arms["next_step"]
    env.reset(seed=11)
    queue = actions(env, 50)
    for action in queue[:7]:
        seen, *_ = env.step(action)
    kept = env.state()
    there = [env.step(action)[:4] for action in queue[7:]]
    env.reset(seed=99)
    np.testing.assert_array_equal(env.restore(kept), seen)
    again = [env.step(action)[:4] for action in queue[7:]]
    for a, b in zip(there, again, strict=True):
        for x, y in zip(a, b, strict=True):
            np.testing.assert_array_equal(x, y)
    assert sum((a[2] | a[3]).sum() for a in there) > N


@pytest.mark.parametrize("law", [pytest.param("rigid", marks=pytest.mark.sweep), "soft"])
def test_contact_is_a_part_of_it(law):
    """Boxes that are thrown on the ground land where rollouts say; impacts are solved for to 1e-9."""
    env, steps = VectorEnv(Thrown(law), 5, "disabled"), {"rigid": 16, "soft": 40}[law]
    env.reset(seed=2)
    q, qd = env.q, env.qd
    np.testing.assert_allclose(np.linalg.norm(q[:, :4], axis=1), 1.0, atol=1e-15)
    acts = RNG.uniform(-1.0, 1.0, (5, 6))
    for _ in range(steps):
        _, _, ended, _, infos = env.step(acts)
        assert not ended.any()
        assert not infos["status"].any()
    there = hinge.rollout(env.robot, q, qd, 2 * steps, 5e-3, tau=3.0 * acts, ground=hinge.Ground(), law=law)
    np.testing.assert_allclose(env.q, there.q[:, -1], rtol=0, atol=1e-9)
    free = hinge.rollout(env.robot, q, qd, 2 * steps, 5e-3, tau=3.0 * acts)
    assert (np.abs(env.q - free.q[:, -1]).max(axis=1) > 0.02).sum() > 1


def test_numbers_of_the_robot_are_drawn_for_each_episode():
    spread = {"lower.mass": uniform(0.5, 2.0), "gravity": normal([0.0, 0.0, -9.81], 0.1), "upper.mass": 1.5}
    env = VectorEnv(Arm(), 200, "disabled", parameters=spread)
    first, _ = env.reset(seed=5)
    plain = VectorEnv(Arm(), 200, "disabled")
    np.testing.assert_array_equal(plain.reset(seed=5)[0][:, :4], first[:, :4])  # what else is drawn is as it was
    drawn = env.state()["parameters"]
    q, qd = env.q, env.qd
    env.step(np.zeros((200, 2)))
    numbers = dict(zip(("lower.mass", "gravity", "upper.mass"), (drawn[:, 0], drawn[:, 1:4], drawn[:, 4]), strict=True))
    there = hinge.rollout(
        env.robot, q, qd, 3, 5e-3, policy=lambda t, q, qd: -0.3 * qd, method="rk4", parameters=numbers
    )
    np.testing.assert_allclose(env.q, there.q[:, -1], rtol=0, atol=1e-12)
    assert (drawn[:, 0] >= 0.5).all()
    assert (drawn[:, 0] < 2.0).all()
    np.testing.assert_allclose(drawn[:, :4].mean(axis=0), [1.25, 0.0, 0.0, -9.81], atol=0.1)
    np.testing.assert_allclose(drawn[:, 1:4].std(axis=0), 0.1, rtol=0.3)
    assert (drawn[:, 4] == 1.5).all()
    env.reset()
    assert (env.state()["parameters"][:, :4] != drawn[:, :4]).all()


def test_numbers_are_drawn_evenly_and_apart():
    env = VectorEnv(hinge.envs.CartPoleSwingUp(), 4096)
    env.reset(seed=0)
    a = 2.5 * (np.concatenate([env.q - [0.0, np.pi], env.qd], axis=1) + 0.2)
    env.reset()
    b = 2.5 * (np.concatenate([env.q - [0.0, np.pi], env.qd], axis=1) + 0.2)
    both = np.concatenate([a, b], axis=1)
    assert 0.0 <= both.min() < 0.01 < 0.99 < both.max() <= 1.0
    np.testing.assert_allclose(both.mean(axis=0), 0.5, atol=0.025)
    np.testing.assert_allclose(both.var(axis=0), 1.0 / 12.0, atol=0.005)
    np.testing.assert_allclose(np.corrcoef(both.T), np.eye(8), atol=0.07)
    assert len(np.unique(both)) == both.size


def test_in_single_precision_it_begins_alike():
    one, two = (VectorEnv(Arm(), N, "disabled", dtype=kind) for kind in (np.float64, np.float32))
    a, b = one.reset(seed=4)[0], two.reset(seed=4)[0]
    assert two.q.dtype == np.float32
    np.testing.assert_allclose(a, b, rtol=0, atol=2e-6)
    for action in actions(one, 10):
        a, b = one.step(action), two.step(action)
    np.testing.assert_allclose(a[0], b[0], rtol=1e-3, atol=1e-3)
    assert a[0].dtype == b[0].dtype == a[1].dtype == b[1].dtype == np.float32


def test_what_fails_ends_alone(arms):
    """An action that is no number ends the episode where it was good last, and is told; others go on."""
    env = arms["same_step"]
    env.reset(seed=3)
    acts = np.zeros((N, 2))
    good = env.step(acts)[0]
    env.reset(seed=3)
    acts[4] = np.nan
    seen, reward, ended, _, infos = env.step(acts)
    assert list(np.flatnonzero(ended)) == [4]
    assert hinge.Status(infos["status"][4]) == hinge.Status.NONFINITE
    assert not np.delete(infos["status"], 4).any()
    np.testing.assert_array_equal(np.delete(seen, 4, axis=0), np.delete(good, 4, axis=0))
    assert np.isfinite(seen).all()
    assert np.isfinite(infos["final_obs"]).all()
    assert list(np.flatnonzero(np.isnan(reward))) == [4]


def test_spaces_are_those_of_limits():
    builder = hinge.Builder("arm")
    builder.link("base")
    builder.link("rod", 1.0, (0, 0, 0.5))
    builder.joint("joint", "revolute", "base", "rod", axis=(0, 1, 0), lower=-0.4, upper=0.3, effort=5.0)

    class Rod(hinge.envs.Task):
        robot = hinge.Robot(builder.build())
        physics = {"limits": "stop"}  # noqa: RUF012

    env = VectorEnv(Rod(), 3, "disabled")
    np.testing.assert_array_equal(env.single_observation_space.low, np.float32([-0.4, -np.inf]))
    np.testing.assert_array_equal(env.single_observation_space.high, np.float32([0.3, np.inf]))
    assert env.observation_space.shape == (3, 2)
    assert env.action_space.shape == (3, 1)
    env.reset(seed=0)
    for _ in range(60):
        seen, *_ = env.step(np.array([[1.0], [-1.0], [0.0]]))
        assert seen in env.observation_space
    np.testing.assert_allclose(seen[:2, 0], [0.3, -0.4], atol=1e-6)


class Branching(Arm):
    def reward(self, s, before):
        return 1.0 if s.q[0] > 0.0 else 0.0


class Wide(Arm):
    def forces(self, s):
        return [1.0, 2.0, 3.0]


class Misnamed(Arm):
    def observation(self, s):
        return s.gaol


class Taken(Arm):
    def initial(self, draw):
        return {"status": 1.0}


class Misled(Arm):
    physics = {"methd": "rk4"}  # noqa: RUF012


REFUSED = {
    "an if": (lambda: VectorEnv(Branching()), TraceError,
              "the traced value 0 < q[0] has no truth value: its number is not known yet.\n"
              "  Write select(less(a, b), this, that) instead of an if."),
    "too many forces": (lambda: VectorEnv(Wide()), SizeError, "forces of Wide has shape (3,); it has to be (2,)."),
    "a wrong name": (lambda: VectorEnv(Misnamed()), AttributeError,
                     "the state of this task has no 'gaol'. Did you mean 'goal'?"),
    "a name that means something": (lambda: VectorEnv(Taken()), SizeError,
        "initial of Taken has 'status', which means another thing. Rename it."),
    "an option": (lambda: VectorEnv(Misled()), UnknownName, None),
    "a mode": (lambda: VectorEnv(Arm(), 1, "later"), UnknownName, None),
    "a name": (lambda: hinge.envs.make("cart-pole"), UnknownName, None),
    "none": (lambda: VectorEnv(Arm(), 0), SizeError, "num_envs=0 is not known. Give a whole number, 1 or more."),
    "latin": (lambda: VectorEnv(Arm(), 1, parameters={"lower.mass": latin(1.0, 2.0)}), NotCovered,
              "parameters['lower.mass']: latin is about a number of rollouts. Use uniform or normal."),
    "no reset": (lambda: VectorEnv(Arm()).step(np.zeros((1, 2))), SizeError,
                 "step: these environments have not begun. Call reset first."),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused(name):
    call, kind, message = REFUSED[name]
    with pytest.raises(kind) as told:
        call()
    if message is not None:
        assert str(told.value) == message


def test_arrays_of_the_wrong_size_are_refused(arms):
    env = arms["disabled"]
    env.reset(seed=0)
    with pytest.raises(SizeError, match=r"^step: actions have shape \(3, 2\); they have to be \(9, 2\)\.$"):
        env.step(np.zeros((3, 2)))
    with pytest.raises(
        SizeError, match=r"^reset: reset_mask is float64 \(9,\); give \(9,\) of bool, one of them True\.$"
    ):
        env.reset(options={"reset_mask": np.ones(9)})
    with pytest.raises(SizeError, match=r"^reset: step has shape \(2,\); it has to be \(9,\)\.$"):
        env.reset(options={"step": [1, 2]})
    with pytest.raises(UnknownName, match=r"^options='mask' is not known\. Did you mean 'reset_mask'"):
        env.reset(options={"mask": np.ones(9, bool)})
    state = env.state()
    with pytest.raises(SizeError, match=r"^restore: q has shape \(3, 2\); it has to be \(9, 2\)\.$"):
        env.restore(state | {"q": state["q"][:3]})
    with pytest.raises(UnknownName, match=r"^restore: the state has no 'goal'"):
        env.restore({name: x for name, x in state.items() if name != "goal"})


def test_the_mode_is_among_the_metadata(arms):
    assert arms["same_step"].metadata["autoreset_mode"] is AutoresetMode.SAME_STEP
    assert VectorEnv(Arm(), 1, AutoresetMode.DISABLED).autoreset is AutoresetMode.DISABLED


@pytest.mark.parametrize("mode", ["next_step", "same_step", "disabled"])
def test_a_nan_action_spoils_the_reward_of_its_own_step_only(arms, mode):
    env = arms[mode]
    env.reset(seed=3)
    acts = np.zeros((N, 2))
    acts[4] = np.nan
    reward = env.step(acts)[1]
    assert list(np.flatnonzero(np.isnan(reward))) == [4]
    for action in actions(env, 3):
        seen, reward, *_ = env.step(action)
        assert np.isfinite(reward).all()
        assert np.isfinite(seen).all()


def test_a_masked_first_reset_begins_every_environment_with_draws_of_its_own():
    mask = np.arange(N) % 3 == 0
    masked, whole = VectorEnv(Arm(), N), VectorEnv(Arm(), N)
    seen, _ = masked.reset(seed=5, options={"reset_mask": mask})
    np.testing.assert_array_equal(seen, whole.reset(seed=5)[0])
    np.testing.assert_array_equal(masked.reset()[0], whole.reset()[0])
    assert len(np.unique(masked.q, axis=0)) == N
