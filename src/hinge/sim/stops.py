"""Position limits as stops: what moves against one loses that motion at once, by an impulse at the joint."""

from __future__ import annotations

from typing import Any

import numpy as np

from hinge.robot import Robot

Array = np.ndarray[Any, np.dtype[Any]]


def stopped(robot: Robot, q: Array, qd: Array) -> tuple[Array, Array]:
    """The states brought back within the limits of single joints, with velocities after the impulses.

    The impulses are those of a plastic impact, M Δqd = J λ with λ ≥ 0: no joint is left moving against its stop, and
    none is pulled back from it.
    """
    at_q, at_v, lower, upper = _bounded(robot)
    with np.errstate(invalid="ignore"):
        low, high = q[:, at_q] < lower, q[:, at_q] > upper
    rows = np.flatnonzero((low | high).any(axis=1))
    if not len(rows):
        return q, qd
    q, qd = q.copy(), qd.copy()
    q[:, at_q] = np.where(low, lower, np.where(high, upper, q[:, at_q]))
    M = robot.mass_matrix(q[rows])
    for k, row in enumerate(rows):
        sign = low[row].astype(float) - high[row].astype(float)  # the direction a stop pushes in
        J = np.zeros((int(np.count_nonzero(sign)), robot.nv))
        J[np.arange(len(J)), at_v[sign != 0.0]] = sign[sign != 0.0]
        qd[row] = qd[row] + _impulse(M[k], J, qd[row])
    return q, qd


def _impulse(M: Array, J: Array, qd: Array) -> Array:
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
            return change  # type: ignore[no-any-return]
    return change  # type: ignore[no-any-return]


def _bounded(robot: Robot) -> tuple[Array, Array, Array, Array]:
    """Where in q and qd the joints with one coordinate are, and their limits."""
    model = robot.model
    single = [i for i in model.leaders if model.joint[i].is_single]
    places = [[model.slices[i][side].start for i in single] for side in (0, 1)]
    ends = [[getattr(model.data[i], side)[0] for i in single] for side in ("lower", "upper")]
    return (*(np.array(p, int) for p in places), *(np.array(e, float) for e in ends))  # type: ignore[return-value]
