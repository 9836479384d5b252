"""Position limits as stops: what moves against one loses that motion at once, by an impulse at the joint."""

from __future__ import annotations

from typing import Any

import numpy as np

from hinge.errors import SizeError
from hinge.robot import Robot

Array = np.ndarray[Any, np.dtype[Any]]


class Stops:
    """The limits of joints with one coordinate.

    The impulses are those of a plastic impact, M Δqd = Jᵀ λ with λ ≥ 0: no joint is left moving against its stop, and
    none is pulled back from it.
    """

    def __init__(self, run: Any) -> None:
        self.robot, self.terms = run.robot, tuple(run.physics.terms)
        self.at_q, self.at_v, self.lower, self.upper = _bounded(run.robot)
        low, high = self._beyond(run.q)
        for row, k in np.argwhere(low | high)[:1]:
            limit = (self.lower if low[row, k] else self.upper)[k]
            name = run.robot.model.joint_name[_single(run.robot)[k]]
            raise SizeError(f"q0 has joint {name!r} at {run.q[row, self.at_q[k]]:g}, beyond its limit {limit:g}. "
                            'limits="stop" starts within the limits.')  # fmt: skip

    def __call__(self, q: Array, qd: Array) -> tuple[Array, Array]:
        """The states brought back within the limits, with velocities after the impulses."""
        low, high = self._beyond(q)
        rows = np.flatnonzero((low | high).any(axis=1))
        if not len(rows):
            return q, qd
        q, qd = q.copy(), qd.copy()
        q[:, self.at_q] = np.where(low, self.lower, np.where(high, self.upper, q[:, self.at_q]))
        M = self.robot.mass_matrix(q[rows], joint_terms=self.terms)
        for k, row in enumerate(rows):
            sign = low[row].astype(float) - high[row].astype(float)  # the direction a stop pushes in
            J = np.zeros((int(np.count_nonzero(sign)), self.robot.nv))
            J[np.arange(len(J)), self.at_v[sign != 0.0]] = sign[sign != 0.0]
            qd[row] = qd[row] + impulse(M[k], J, qd[row])
        return q, qd

    def _beyond(self, q: Array) -> tuple[Array, Array]:
        with np.errstate(invalid="ignore"):
            return q[:, self.at_q] < self.lower, q[:, self.at_q] > self.upper


def impulse(M: Array, J: Array, qd: Array) -> Array:
    """The change of velocity after which J qd ≥ 0, by impulses that push only."""
    active = J @ qd < 0.0
    for _ in range(2 * len(J)):
        if not active.any():
            return np.zeros_like(qd)
        A = J[active]
        W = np.linalg.solve(M, A.T)
        push = np.linalg.solve(A @ W, -A @ qd)
        change = W @ push
        if (push < 0.0).any():
            active[np.flatnonzero(active)[push.argmin()]] = False
        elif (J @ (qd + change) < -1e-12).any():
            active[(J @ (qd + change)).argmin()] = True
        else:
            return change
    return change


def _bounded(robot: Robot) -> tuple[Array, Array, Array, Array]:
    """Where in q and qd the joints with one coordinate are, and their limits."""
    model, single = robot.model, _single(robot)
    places = [[model.slices[i][side].start for i in single] for side in (0, 1)]
    ends = [[getattr(model.data[i], side)[0] for i in single] for side in ("lower", "upper")]
    return (*(np.array(p, int) for p in places), *(np.array(e, float) for e in ends))  # type: ignore[return-value]


def _single(robot: Robot) -> list[int]:
    return [i for i in robot.model.leaders if robot.model.joint[i].is_single]
