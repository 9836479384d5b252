"""What is to be learned: a robot, what an action does, what is seen of it, what counts, how an episode begins and ends.

    class Balance(hinge.envs.Task):
        robot = hinge.samples.pendulum(1)

        def reward(self, s, before):
            return -np.cos(s.q[0])

The functions of a task are written for one environment and traced once; all environments run in one kernel.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from hinge.calls.numbers import OF_LIMITS, limits_of, limits_with
from hinge.envs.draws import Draw
from hinge.errors import did_you_mean
from hinge.model.model import Limits
from hinge.model.vary import GEAR
from hinge.robot import Robot
from hinge.sweeps.spreads import Drawn


def _widest(robot: Robot, spreads: Mapping[str, Any]) -> Limits:
    """Limits that hold for all numbers that may be drawn."""
    numbers: dict[str, Any] = {}
    for one in robot.target.vary:
        given = spreads.get(one.name)
        if given is None or one.field not in OF_LIMITS:
            continue
        if isinstance(given, Drawn):
            ends, known = (given.first, given.second), given.law == "uniform"
            if one.field in GEAR:
                free = np.full(robot.nq, np.inf)
                return Limits(-free, free, np.full(robot.nv, np.inf), np.full(robot.nv, np.inf))
            given = np.minimum(*ends) if one.field == "lower" else np.maximum(*ends)
            given = given if known else np.full(np.shape(given), -np.inf if one.field == "lower" else np.inf)
        numbers[one.name] = np.broadcast_to(np.asarray(given, float), one.shape)
    return limits_with("bounds", robot.target, numbers)


@dataclass(frozen=True)
class State:
    """An environment at a time: what observation, reward and the end of an episode are functions of.

    Arrays are traced, so they are NumPy's in all but the numbers, which are not known yet. What a task has of its own,
    a goal say, has its name: s.goal.
    """

    t: Any  # s, since the episode began
    q: Any  # (nq)
    qd: Any  # (nv)
    action: Any  # (actions), in [-1, 1]: what was done last
    parameters: Mapping[str, Any] | None = None  # the numbers of a varied robot by name, as its methods take them
    qdd: Any = None  # (nv): how the velocity changed over the last step of the physics, divided by h
    tau: Any = None  # (nv): the joint forces at the beginning of that step
    own: Mapping[str, Any] = field(default_factory=dict)
    touch: Mapping[str, Any] = field(default_factory=dict)  # N: normal forces on links that the task feels, summed
    wrenches: Mapping[str, Any] = field(default_factory=dict)  # (6): what contacts do to them, in base coordinates

    def __getattr__(self, name: str) -> Any:
        own = self.__dict__.get("own", {})
        if name in own:
            return own[name]
        raise AttributeError(f"the state of this task has no {name!r}. {did_you_mean(name, [*own, *self.__dict__])}")


def steps_of(task: Task | type[Task]) -> int:
    """How many actions there are in an episode that is cut off."""
    return round(task.time / (task.h * task.frame_skip))


class Task:
    """A task; one of your own is a class with a `robot` that has some of these functions."""

    robot: Robot
    h: float = 0.01  # s: a step of the physics
    frame_skip: int = 2  # steps for which an action is held
    time: float = 10.0  # s, after which an episode is cut off
    spreads: Mapping[str, Any] = {}  # the `parameters` of `VectorEnv`
    feels: Sequence[str] = ()  # links whose contacts are in the state: s.touch, s.wrenches
    physics: Mapping[
        str, Any
    ] = {}  # options of hinge.rollout: method, effort, limits, joint_terms, contacts, ground, …

    @property
    def steps(self) -> int:
        """How many actions there are in an episode that is cut off."""
        return steps_of(self)

    @property
    def actuated(self) -> list[int]:
        """The velocities whose joints have an effort limit above zero: an action has a number for each.

        Where the robot varies them the nominal limits say which these are.
        """
        return [k for k, e in enumerate(limits_of(self.robot.target).effort) if 0.0 < e < np.inf]

    @property
    def actions(self) -> int:
        """How many numbers an action has."""
        return len(self.actuated)

    def initial(self, draw: Draw) -> Mapping[str, Any]:
        """The state at the beginning, drawn: "q" and "qd", neutral and at rest unless given, and what the task has of
        its own, by name."""
        return {}

    def forces(self, s: State) -> Any:
        """The joint forces (nv) of s.action: shares of the effort limits."""
        tau, effort = [0.0] * self.robot.nv, limits_with("forces", self.robot.target, s.parameters).effort
        for k, share in zip(self.actuated, s.action, strict=True):
            tau[k] = effort[k] * share
        return tau

    def update(self, s: State, before: State) -> Mapping[str, Any]:
        """What of its own changes with a step, by name."""
        return {}

    def observation(self, s: State) -> Any:
        """What is seen, (n)."""
        return np.concatenate([s.q, s.qd])

    def bounds(self) -> tuple[Any, Any]:
        """The least and the greatest observation: limits of coordinates that are stops, unless it is one of its own.

        Of limits that are drawn it is the widest.
        """
        stops = self.physics.get("limits") == "stop" and not {"contacts", "ground"} & set(self.physics)
        if type(self).observation is not Task.observation or not stops:
            return -np.inf, np.inf
        limits, free = _widest(self.robot, self.spreads), np.full(self.robot.nv, np.inf)
        return np.concatenate([limits.lower, -free]), np.concatenate([limits.upper, free])

    def reward(self, s: State, before: State) -> Any:
        """What a step from one state to another is worth."""
        return 0.0

    def terminated(self, s: State) -> Any:
        """Whether the episode ends here, for better or worse."""
        return False
