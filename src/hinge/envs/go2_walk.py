"""Walk with a Go2 as fast as one is told, by where its joints are wanted: springs bring them there."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from hinge.contact.contact_model import Ground
from hinge.envs.draws import Draw
from hinge.envs.task import State, Task
from hinge.robot.loading import samples

STIFFNESS, DAMPING = 40.0, 2.0  # N m/rad, N m s/rad: of the springs
REACH = 0.4  # rad: how far from how it stands an action can want a joint
SLOWEST, FASTEST = np.array([-0.5, -0.3, -0.8]), np.array([1.0, 0.3, 0.8])  # m/s forward, m/s to the left, rad/s
LOW, TILTED = 0.15, 0.5  # m, and the cosine of a tilt: a trunk that is below or beyond has fallen
FEET = ("FL_foot", "FR_foot", "RL_foot", "RR_foot")


class Go2Walk(Task):
    """An action is where joints are wanted, about how it stands. A step is worth up to 1.5: moving as told, at ease."""

    h, frame_skip, time = 0.005, 4, 20.0
    physics = {"ground": Ground(friction=0.8), "law": "soft", "effort": True}  # noqa: RUF012
    feels = FEET

    def __init__(self) -> None:
        self.robot = samples.go2()
        self.home = self.robot.keyframes["home"]
        self.weight = 9.81 * self.robot.mass

    def initial(self, draw: Draw) -> Mapping[str, Any]:
        off = draw.uniform(-0.05, 0.05, 12)
        q = np.concatenate([self.home[:6], self.home[6:7] + 0.02, self.home[7:] + off])
        return {"q": q, "qd": draw.uniform(-0.1, 0.1, 18), "command": draw.uniform(SLOWEST, FASTEST)}

    def forces(self, s: State) -> Any:
        spring = STIFFNESS * (self.home[7:] + REACH * s.action - s.q[7:]) - DAMPING * s.qd[6:]
        return np.concatenate([np.zeros(6), spring])

    def down(self, s: State) -> Any:
        """The direction of gravity in the axes of the trunk, (3)."""
        return -self.robot.pose(s.q, "base")[2, :3]

    def observation(self, s: State) -> Any:
        touch = np.stack([s.touch[foot] / self.weight for foot in FEET])
        joints = s.q[7:] - self.home[7:], 0.1 * s.qd[6:]
        return np.concatenate([s.qd[:3], self.down(s), s.command, *joints, s.action, touch])

    def reward(self, s: State, before: State) -> Any:
        off = (s.qd[3:5] - s.command[:2]) ** 2
        moving, turning = np.exp(-4.0 * np.sum(off)), np.exp(-4.0 * (s.qd[2] - s.command[2]) ** 2)
        effort, jerk = np.sum(s.tau[6:] ** 2), np.sum((s.action - before.action) ** 2)
        return 0.2 + 0.9 * moving + 0.4 * turning - s.qd[5] ** 2 - 2e-4 * effort - 0.01 * jerk

    def terminated(self, s: State) -> Any:
        return np.logical_or(s.q[6] < LOW, -self.down(s)[2] < TILTED)
