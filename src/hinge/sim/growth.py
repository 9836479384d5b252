"""The growth of errors in one step, found by differences: whether a method is stable, and with which step it would be.

The growth is the largest eigenvalue of the derivative of a step by its state. It is the robot's own where two halves of
the step make errors grow alike, and the method's where they do not.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from hinge.arguments import Array
from hinge.model import Model
from hinge.model.driven import sizes
from hinge.model.states import labels
from hinge.robot import Robot
from hinge.sim.rollouts import Rolling
from hinge.status import DIVERGED, UNSTABLE
from hinge.steps.step import Physics

OFFSET = 1e-6  # of a velocity, and of a state along it
VISIBLE = 1.05  # a growth in a step that is worth a warning
SLIGHT = 1.001  # the same for a run that is known to be unstable
OWN = 2.0  # a growth in a step that no method resolves; with shorter steps in its time: the motion itself is unstable
ALIKE = 0.2  # the logarithms of two growths may differ by this share
SHORTEST = 2.0**-20  # of a step, that is tried


class Unstable(NamedTuple):
    """A method that is unstable from a state: by how much errors grow in a step, the joint, and a stable step (s).

    `own` says that errors grow as much with stable steps: the motion itself is unstable.
    """

    growth: float
    joint: str
    step: float | None
    own: bool


def allowed_states_known(robot: Robot, physics: Physics) -> bool:
    """Return whether the states that loops and constraints allow are known, and do not depend on varied numbers."""
    held = physics.constraint is not None or robot.loops
    return not (held and (robot.target.vary or any(sizes(robot.model))))


class Differences:
    """One state of a run, and the states around it that its loops and constraints allow.

    Growth below `visible` per step is ignored.
    """

    def __init__(self, rolling: Rolling, robot: Robot, physics: Physics, rollout: int, t: float, q: Array, qd: Array,
                 visible: float = VISIBLE) -> None:  # fmt: skip
        self.visible = visible
        self.rolling, self.robot, self.rollout, self.t, nv = rolling, robot, rollout, t, robot.nv
        free = np.eye(nv)
        if physics.constraint is not None:
            free = _null_space(physics.constraint.matrix(q, self.t)[0])
        elif robot.loops:
            free = _null_space(robot.loop_jacobian(q))
        self.free, n = free, free.shape[1]
        self.size = OFFSET * np.maximum(1.0, np.abs(qd).max(initial=0.0))
        moves = self.size * free.T
        still = np.zeros((n, nv))
        self.q = np.array([_moved(robot.model, q, move) for move in (np.zeros(nv), *moves, *still)])
        self.qd = qd + np.vstack([np.zeros((1, nv)), still, moves])

    def instability(self, h: float) -> Unstable | None:
        """Return how steps of h seconds are unstable, or None where they are stable."""
        if not self.unstable(h):
            return None
        stable = self.stable_step(h)
        own = stable is not None and math.log(max(1.0, self.growth(stable)[0])) * h / stable > math.log(OWN)
        growth, joint = self.growth(h)
        if stable is not None and not joint:
            joint = self.growth(2.0 * stable)[1]
        return Unstable(growth, joint, stable, own)

    def growth(self, h: float) -> tuple[float, str]:
        """Return how many times the largest error grows in a step of h seconds, and the joint that moves most in it."""
        q, qd, fate = self.rolling.elsewhere(self.q, self.qd, self.rollout, start=self.t, first=0, h=h)
        nv, n = self.robot.nv, self.free.shape[1]
        if not n or (
            fate[0, 0] > 0.0 and fate[0, 0] not in (DIVERGED, UNSTABLE)
        ):  # no step of any length goes on from here
            return 0.0, ""
        apart = np.hstack([[_between(self.robot.model, q[0], x) for x in q[1:]], qd[1:] - qd[0]])
        if not np.isfinite(apart).all():
            return math.inf, ""
        within = np.hstack([apart[:, :nv] @ self.free, apart[:, nv:] @ self.free]) / self.size
        values, vectors = np.linalg.eig(within.T)
        worst = int(np.abs(values).argmax())
        moved = np.abs(self.free @ vectors[n:, worst])
        return float(np.abs(values[worst])), labels(self.robot.model)[1][int(moved.argmax())]

    def unstable(self, h: float) -> bool:
        """Whether errors grow in a step of h seconds, and otherwise in two of half the length."""
        whole = self.growth(h)[0]
        if not self.visible < whole < OWN:
            return whole >= OWN
        half = self.growth(0.5 * h)[0] ** 2
        return not half > 0.0 or abs(math.log(whole / half)) > ALIKE * math.log(whole)

    def stable_step(self, h: float) -> float | None:
        """Return a stable step that is about the longest shorter than h, with two digits."""
        low = h
        while self.unstable(low):
            low *= 0.5
            if low < SHORTEST * h:
                return None
        high = 2.0 * low
        for _ in range(5):
            middle = math.sqrt(low * high)
            low, high = (low, middle) if self.unstable(middle) else (middle, high)
        unit = 10.0 ** (math.floor(math.log10(low)) - 1)
        return math.floor(low / unit) * unit


def _moved(model: Model, q: Array, v: Array) -> list[float]:
    """Return where velocities v lead from q in unit time, whatever varies in the robot or is driven."""
    ends = [model.joint[i].integrate(q[at].tolist(), v[of].tolist()) for i, at, of in _leaders(model)]
    return [x for end in ends for x in end]


def _between(model: Model, q: Array, end: Array) -> list[float]:
    """Return the velocities that lead from q to an end in unit time."""
    moves = [model.joint[i].difference(q[at].tolist(), end[at].tolist()) for i, at, _ in _leaders(model)]
    return [x for move in moves for x in move]


def _leaders(model: Model) -> list[tuple[int, slice, slice]]:
    return [(i, *model.slices[i]) for i in model.leaders]


def _null_space(A: Array) -> Array:
    """Return an orthonormal basis of the velocities that rows of a matrix do not see."""
    _, sizes, rows = np.linalg.svd(np.atleast_2d(A))
    rank = int((sizes > 1e-8 * sizes.max(initial=0.0)).sum())
    return rows[rank:].T
