"""What is shown together: rollouts of runs and of sweeps, side by side in a grid or one through the other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from hinge.arguments import Array, count
from hinge.calls.poses import poses
from hinge.errors import SizeError, TrajectoryError, UnknownName, did_you_mean
from hinge.robot import Robot
from hinge.sim import Rollout, Trajectory
from hinge.sweeps import Sweep
from hinge.viewing import shapes
from hinge.viewing.limbs import tips

MOST = 100  # rollouts at once
LONG, LONGEST = 0.5, 0.75  # of a robot's size: the arrow of its weight, and the longest
LAYOUTS = ("grid", "ghosts")
BESIDE = 2.1  # between the middles of neighbours, in radii of what moves
Runs = Trajectory | Rollout | Sweep | Sequence[Trajectory | Rollout]


@dataclass(frozen=True, eq=False)
class Take:
    """One rollout of a run while it was good."""

    run: Trajectory
    rollout: int = 0

    @cached_property
    def robot(self) -> Robot:
        """The robot with the numbers that it had in this rollout."""
        robot, given = self.run.robot, self.parameters
        usual = {one.name: one.nominal(robot.model) for one in robot.target.vary if one.field != "symbol"}
        return robot.with_values(usual | given) if robot.target.vary else robot

    @cached_property
    def good(self) -> Any:
        """Which of the recorded states are there, (T,)."""
        return np.isfinite(self._of("q")).all(axis=1)

    @property
    def t(self) -> Array:
        return np.asarray(self.run.t[self.good])

    @cached_property
    def q(self) -> Array:
        return self._of("q")[self.good]

    @cached_property
    def tau(self) -> Array | None:
        return self._of("tau")[self.good] if "tau" in self.run.states else None

    @cached_property
    def parameters(self) -> dict[str, Any]:
        """What a varied robot had in this rollout."""
        own = {one.name: len(one.shape) for one in self.run.robot.target.vary}
        return {
            name: x.reshape(-1, *x.shape[x.ndim - own[name] :])[self.rollout] if x.ndim > own[name] else x
            for name, x in (self.run.parameters or {}).items()
            if name in own
        }

    def _of(self, name: str) -> Array:
        """What was recorded of it under that name, (T, n)."""
        a: Array = getattr(self.run, name)
        return a.reshape(-1, *a.shape[-2:])[self.rollout]

    def bodies(self, rows: Any = slice(None)) -> Array:
        """Where the base and each body are at some of the states, (T, bodies + 1, 4, 4)."""
        return body_poses(self.robot, self.q[rows])

    def paths(self, names: Sequence[str], rows: Any = slice(None)) -> Array:
        """Where links or frames are at some of the states, (names, T, 3) m."""
        if not names:
            return np.zeros((0, len(self.t[rows]), 3))
        made = poses(self.robot.target, self.q[rows], names)
        return np.moveaxis(made[..., :3, 3], -2, 0)

    def forces(self, size: float) -> tuple[Array, Array]:
        """Contact points, and forces there as arrows in m: the robot's weight is half its size.

        Both are (T, n, 3); n is 0 where it is not known what touched.
        """
        run, none = self.run, np.zeros((len(self.t), 0, 3))
        weight = self.robot.mass * float(np.linalg.norm(self.robot.model.gravity)) or 1.0
        if run.course is None or "qd" not in run.states:
            return none, none
        tau = self._of("tau") if "tau" in run.states else None
        try:
            made = run.course.alone(self.rollout).contacts(run.t, self._of("q"), self._of("qd"), tau)
        except TrajectoryError:
            return none, none
        length = np.linalg.norm(made.forces, axis=-1, keepdims=True)
        arrows = made.forces * size / np.maximum(weight / LONG, length / LONGEST)
        there = made.pairs >= 0
        most = int(there.sum(axis=-1).max(initial=0))
        first = np.argsort(~there, axis=-1, kind="stable")[:, :most, None]
        points, arrows = (np.take_along_axis(a, first, axis=1)[self.good] for a in (made.points, arrows))
        return points, arrows


def body_poses(robot: Robot, q: Array) -> Array:
    """Where the base and each body are, (…, bodies + 1, 4, 4): frames of bodies, on which a link may have its own."""
    links = np.tile(np.eye(4), (robot.model.count, 1, 1))
    for link, name in zip(links, robot.body_names, strict=True):
        frame = robot.model.frame(name)
        link[:3] = np.column_stack([np.reshape(tuple(frame.R), (3, 3)), tuple(frame.p)])
    base = np.broadcast_to(np.eye(4), (*q.shape[:-1], 1, 4, 4))
    made = poses(robot.target, q, robot.body_names) @ np.linalg.inv(links)
    return np.concatenate([base, made], axis=-3)


def takes(what: str, thing: Any, rollout: Any = 0) -> list[Take]:
    """The rollouts of a run, of several runs or of a sweep that are to be shown; `rollout` is a number or several.

    A sweep's are run once more, every step of them.
    """
    numbers = [count("rollout", k, 0) for k in ([rollout] if np.ndim(rollout) == 0 else rollout)]
    runs = list(thing) if isinstance(thing, Sequence) and not isinstance(thing, str | Rollout) else [thing]
    if not numbers or not runs or len(numbers) * len(runs) > MOST:
        raise SizeError(f"{what}: {len(numbers) * len(runs)} rollouts are asked for; from 1 to {MOST} can be shown.")
    made: list[Take] = []
    for run in runs:
        if isinstance(run, Sweep):
            made += [Take(run.again(k).trajectory) for k in numbers]
            continue
        found = run.trajectory if isinstance(run, Rollout) else run
        if not isinstance(found, Trajectory):
            raise SizeError(
                f"{what} takes a trajectory; a {type(run).__name__} was given.\n"
                "  hinge.simulate makes one, hinge.open(path) reads one."
            )
        _refuse_empty(found)
        for k in numbers:
            if k >= max(found.status.size, 1):
                raise SizeError(f"{what}: rollout {k} is asked for; there are {found.status.size}, from 0 on.")
        made += [Take(found, k) for k in numbers]
    return made


def _refuse_empty(run: Trajectory) -> None:
    """Refuse a trajectory in which some rollout has no state to show."""
    if "q" not in run.states or not np.isfinite(run.q).all(axis=-1).any(axis=-1).all():
        raise SizeError("view: the trajectory has no coordinates to show. Simulate with fields=('q', 'qd').")


def traced(what: str, robot: Robot, trails: Sequence[str] | bool) -> list[str]:
    """The links and frames whose ways are drawn: those named, or with True the tips of all limbs."""
    if isinstance(trails, bool):
        return tips(robot.model) if trails else []
    names = [trails] if isinstance(trails, str) else list(trails)
    for name in names:
        if name not in robot.frame_names:
            hint = did_you_mean(name, robot.frame_names)
            raise UnknownName(f"{what}: robot {robot.name!r} has no link or frame {name!r}. {hint}")
    return names


def places(layout: str, number: int, radius: float, normal: Array) -> Array:
    """Where so many rollouts stand along a floor with this normal, (number, 3) m: in a grid about the middle, or all
    in one place.

    >>> from hinge.viewing.cast import places
    >>> places("grid", 2, 1.0, np.array([0.0, 0.0, 1.0])).tolist()
    [[-1.05, 0.0, 0.0], [1.05, 0.0, 0.0]]
    """
    if layout == "ghosts":
        return np.zeros((number, 3))
    wide = int(np.ceil(np.sqrt(number)))
    at = np.stack([np.arange(number) % wide, np.arange(number) // wide], axis=1).astype(float)
    at -= 0.5 * (at.min(axis=0) + at.max(axis=0))
    return BESIDE * radius * at @ shapes.along(normal) + 0.0
