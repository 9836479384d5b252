"""One environment, as `gymnasium.make` makes it."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np

from hinge.envs.task import Task
from hinge.envs.vector import VectorEnv


class Env(gymnasium.Env[Any, Any]):
    """One environment of a task: the first of a `VectorEnv`. It is never cut off, which is Gymnasium's `TimeLimit`'s.

    >>> env = hinge.envs.Env(hinge.envs.CartPoleSwingUp())
    >>> observation, info = env.reset(seed=0)
    >>> observation.shape
    (5,)
    """

    metadata = {"render_modes": []}  # noqa: RUF012

    def __init__(self, task: Task, **options: Any) -> None:
        self.many = VectorEnv(task, 1, "disabled", max_episode_steps=np.inf, **options)
        self.observation_space = self.many.single_observation_space
        self.action_space = self.many.single_action_space

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """A new episode: the first of the seed, or the next."""
        super().reset(seed=seed)
        seen, _ = self.many.reset(seed=seed)
        return seen[0], {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """An action (actions) in [-1, 1]: observation, reward, whether it ends, whether it is cut off, and infos."""
        seen, reward, ended, cut, infos = self.many.step(np.asarray(action)[None])
        return seen[0], float(reward[0]), bool(ended[0]), bool(cut[0]), {"status": int(infos["status"][0])}
