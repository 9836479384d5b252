"""Bring the flange of a Panda to a point that is drawn, by velocities of its joints."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from hinge.envs.draws import Draw
from hinge.envs.task import State, Task
from hinge.robot.loading import samples

READY = np.array([0.0, -0.25, 0.0, -0.75, 0.0, 0.5, 0.25]) * np.pi
NEAREST, FARTHEST = np.array([0.3, -0.35, 0.15]), np.array([0.6, 0.35, 0.65])  # m: the corners of where goals are
PACE = 20.0  # 1/s: how fast velocities follow what is wanted
BRAKE = 4.0  # 1/s: a joint comes to its limit no faster than this times what is left


class PandaReach(Task):
    """An action is joint velocities as shares of their limits, followed by inverse dynamics within the effort limits.

    A step is worth up to one: near the goal, and at ease. The goal stays for an episode.
    """

    h, frame_skip, time = 0.01, 4, 4.0
    physics = {"effort": True}  # noqa: RUF012

    def __init__(self) -> None:
        self.robot = self.known = samples.panda()  # what it is, which may vary, and what its controller takes it for

    def initial(self, draw: Draw) -> Mapping[str, Any]:
        return {"q": READY + draw.uniform(-0.1, 0.1, 7), "goal": draw.uniform(NEAREST, FARTHEST)}

    def forces(self, s: State) -> Any:
        limits = self.known.limits
        slowest, fastest = BRAKE * (limits.lower - s.q), BRAKE * (limits.upper - s.q)
        wanted = np.clip(limits.velocity * s.action, slowest, fastest)
        return self.known.inverse_dynamics(s.q, s.qd, PACE * (wanted - s.qd))

    def left(self, s: State) -> Any:
        """The way to the goal, (3)."""
        return s.goal - self.robot.pose(s.q, "tool", parameters=s.parameters)[:3, 3]

    def observation(self, s: State) -> Any:
        return np.concatenate([s.q, s.qd, s.goal, self.left(s)])

    def reward(self, s: State, before: State) -> Any:
        return 1.0 - np.tanh(5.0 * np.linalg.norm(self.left(s))) - 0.01 * np.sum(s.action**2) / 7.0
