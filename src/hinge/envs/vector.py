"""Many environments that step together: Gymnasium's `VectorEnv` over one kernel."""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from dataclasses import replace
from typing import Any

import gymnasium
import numpy as np
from gymnasium.vector import AutoresetMode
from gymnasium.vector.utils import batch_space

from hinge import arguments
from hinge.arguments import Array
from hinge.backends.kernel import SINGLE, Kernel, Memo, Plan, kernel_of
from hinge.contact.surfaces import surface_parameters
from hinge.envs.arrays import place_of
from hinge.envs.draws import words
from hinge.envs.episode import EPISODE, Life
from hinge.envs.task import Task
from hinge.errors import SizeError, UnknownName, one_of
from hinge.graph import Program
from hinge.model.vary import Parameter
from hinge.sweeps.spreads import Drawn

BYTE = np.dtype(np.uint8)
MODES = {mode.name.lower(): mode for mode in AutoresetMode}


class VectorEnv(gymnasium.vector.VectorEnv[Any, Any, Any]):
    """`num_envs` environments of a task, which step in one call.

    `autoreset` is "next_step", "same_step" or "disabled": when an environment whose episode is over begins anew.
    `parameters` are numbers of the robot, or friction and restitution, by name, each a number, or
    `hinge.sweeps.uniform` or `normal`, drawn for each environment and episode. `max_episode_steps` is when an episode
    is cut off, the task's `steps` unless given.
    `device` is "cpu" or "cuda"; `arrays` are "numpy", "torch" or "cupy". `dtype` is what the physics runs in;
    observations and rewards are float32. Environment k depends on the seed, k and its actions, whatever `num_envs` is.

    >>> env = hinge.envs.VectorEnv(hinge.envs.CartPoleSwingUp(), 3)
    >>> observations, infos = env.reset(seed=0)
    >>> observations.shape
    (3, 5)
    """

    def __init__(self, task: Task, num_envs: int = 1, autoreset: str | AutoresetMode = "next_step",
                 parameters: Mapping[str, Any] | None = None, max_episode_steps: float | None = None,
                 device: str = "cpu", arrays: str | None = None, dtype: Any = np.float64) -> None:  # fmt: skip
        mode = autoreset.name.lower() if isinstance(autoreset, AutoresetMode) else autoreset
        one_of("autoreset", mode, MODES)
        self.num_envs, self.autoreset = arguments.count("num_envs", num_envs), MODES[mode]
        self.metadata = {"autoreset_mode": self.autoreset, "render_modes": []}
        self.task, self.place = copy(task), place_of(device, arrays, dtype)
        surfaces = _surfaces(task, parameters or {})
        if own := [name for name in parameters or {} if name not in {one.name for one in surfaces}]:
            self.task.robot = task.robot.vary(*own)
        self.robot, self.task.spreads = self.task.robot, parameters or {}
        self.life = Life(self.task, self.robot, parameters or {}, surfaces)
        self._most = self.place.copy([self.task.steps if max_episode_steps is None else max_episode_steps])
        low, high = (np.broadcast_to(np.asarray(x, np.float32), self.life.seen).copy() for x in self.task.bounds())
        self.single_observation_space = gymnasium.spaces.Box(low, high, dtype=np.float32)
        self.single_action_space = gymnasium.spaces.Box(-1.0, 1.0, (self.task.actions,), np.float32)
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self.action_space = batch_space(self.single_action_space, self.num_envs)
        step, reset = self.life.step(self.autoreset), self.life.reset()
        self._step, self._reset = (
            self.place.prepared(self._kernel(*one)) for one in (("step", step), ("reset", reset))
        )
        self._now: dict[str, Any] = {}
        self._seen: Any = None

    def _kernel(self, name: str, program: Program) -> Kernel:
        inputs = tuple(replace(one, label=one.name) for one in program.inputs)
        outputs = tuple((len(one.entries),) for one in program.outputs)
        title = f"{name} of {type(self.task).__name__}"
        plan = Plan(self.robot.name, title, inputs, outputs, lambda backend: program, program, Memo())
        return kernel_of(plan, self.place.backend)

    def _single(self, array: Any) -> Any:
        """Numbers in single precision, as networks take them."""
        return self.place.give(array, SINGLE)

    # what a user does

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """New episodes, of all environments or those of `options={"reset_mask": …}`, (num_envs) of bool.

        The first reset begins all environments, those outside of the mask too.
        With a seed they are the first that it has, without one the next. `options={"step": …}`, (num_envs), says how
        many steps are behind them already, so that they are not all cut off at once.
        """
        super().reset(seed=seed)
        said = options or {}
        for name in said:
            one_of("options", name, ("reset_mask", "step"))
        mask = self._mask(said.get("reset_mask"))
        behind = arguments.finite("reset: step", said.get("step", 0))
        if behind.shape not in ((), (self.num_envs,)):
            raise SizeError(f"reset: step has shape {behind.shape}; it has to be ({self.num_envs},).")
        if not self._now:
            self._now = {
                name: self.place.copy(np.zeros((self.num_envs, size))) for name, size in self.life.kept.items()
            }
            seed = self.np_random_seed if seed is None else seed
            mask = np.ones(self.num_envs, bool)
        if seed is not None:
            self._now["episode"] = self._seeded(self._now["episode"], arguments.count("seed", seed, 0), mask)
        columns = (self.place.copy(np.broadcast_to(x, self.num_envs)[:, None]) for x in (mask, behind))
        *now, seen = self._reset(*self._now.values(), *columns)
        self._now, self._seen = dict(zip(self.life.kept, now, strict=True)), self._single(seen)
        return self._seen, {}

    def step(self, actions: Any) -> tuple[Any, Any, Any, Any, dict[str, Any]]:
        """One action (num_envs, actions) in [-1, 1] each: observations, rewards, terminations, truncations and infos.

        infos has "status" (num_envs), how the physics fared; one that failed stands where it was good last, and its
        episode is terminated. With "same_step" there are "final_obs" and "final_info", of those that `_final_obs` has.
        """
        now, place, kept = self._begun("step"), self.place, self.life.kept
        wanted = self.action_space.shape
        if tuple(np.shape(actions)) != wanted:
            raise SizeError(f"step: actions have shape {tuple(np.shape(actions))}; they have to be {wanted}.")
        made = self._step(*now.values(), place.copy(actions), self._most)
        self._now = dict(zip(kept, made, strict=False))
        seen, reward, ended, cut, status, *last = made[len(kept) :]
        self._seen = self._single(seen)
        ends, cuts = (place.give(x[:, 0] > 0.5) for x in (ended, cut))
        infos: dict[str, Any] = {"status": place.give(status[:, 0], BYTE), "_status": ends | True}
        if last:
            over = ends | cuts
            infos |= {"final_obs": self._single(last[0]), "_final_obs": over, "_final_info": over,
                      "final_info": {"status": infos["status"], "_status": over}}  # fmt: skip
        return self._seen, self._single(reward[:, 0]), ends, cuts, infos

    def state(self) -> dict[str, Any]:
        """All that these environments are: arrays by name, with a row for each, to be given to `restore`."""
        made = {name: self.place.give(self.place.copy(x)) for name, x in self._begun("state").items()}
        return made | {"observation": self.place.give(self.place.copy(self._seen))}

    def restore(self, state: Mapping[str, Any]) -> Any:
        """Go on from a `state`, of this run or another; gives its observations."""
        for name, size in (self.life.kept | {"observation": self.life.seen}).items():
            if name not in state:
                raise UnknownName(f"restore: the state has no {name!r}. Give what env.state() gave.")
            had, wanted = tuple(state[name].shape), (self.num_envs, size)
            if had != wanted:
                raise SizeError(f"restore: {name} has shape {had}; it has to be {wanted}.")
        self._now = {name: self.place.copy(state[name]) for name in self.life.kept}
        self._seen = self._single(self.place.copy(state["observation"]))
        return self._seen

    @property
    def q(self) -> Any:
        """The coordinates (num_envs, nq) as they are, in the precision of the physics."""
        return self.place.give(self._begun("q")["q"])

    @property
    def qd(self) -> Any:
        """The velocities (num_envs, nv)."""
        return self.place.give(self._begun("qd")["qd"])

    # what that takes

    def _begun(self, what: str) -> dict[str, Any]:
        if not self._now:
            raise SizeError(f"{what}: these environments have not begun. Call reset first.")
        return self._now

    def _mask(self, given: Any) -> Array:
        """Which environments begin anew."""
        if given is None:
            return np.ones(self.num_envs, bool)
        mask = np.asarray(given)
        if mask.shape != (self.num_envs,) or mask.dtype != bool or not mask.any():
            raise SizeError(
                f"reset: reset_mask is {mask.dtype} {mask.shape}; give ({self.num_envs},) of bool, one of them True."
            )
        return mask

    def _seeded(self, episode: Any, seed: int, mask: Array) -> Any:
        """The column `episode` with the words of a seed where `mask` says so, before the first episode."""
        fresh = np.zeros((self.num_envs, len(EPISODE)))
        fresh[:, EPISODE.index("number")] = np.arange(self.num_envs)
        fresh[:, EPISODE.index("count")] = -1.0
        fresh[:, -2:] = words(seed)
        share, new = self.place.copy(mask[:, None]), self.place.copy(fresh)
        return share * new + (1.0 - share) * episode


def _surfaces(task: Task, spreads: Mapping[str, Any]) -> tuple[Parameter, ...]:
    """Those of the numbers that are friction or restitution of contacts."""
    first = {name: one.first if isinstance(one, Drawn) else one for name, one in spreads.items()}
    return surface_parameters("VectorEnv", task.robot.target, first)
