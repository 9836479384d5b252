"""Measured less predicted joint force: what the model does not explain, while the robot runs.

A residual that stays away from zero says that the robot is no longer the one that was fitted: a load, a worn joint, a
hand held against it. turney1981, section 9.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from hinge import arguments
from hinge.calls.call import DEFAULT_TERMS
from hinge.errors import SizeError
from hinge.identify.parameters import Array
from hinge.robot import Robot
from hinge.typing import Numbers, Term

SHARE = 0.05  # of the effort limit: a mean residual beyond it is drift


def residual(
    robot: Robot, q: Numbers, qd: Numbers, qdd: Numbers, tau: Numbers, joint_terms: Sequence[Term] = DEFAULT_TERMS
) -> Array:
    """Measured less predicted joint forces, (…, nv).

    >>> arm = hinge.samples.planar_2r()
    >>> hinge.identify.residual(arm, [0.0, 0.0], [0.0, 0.0], [0.0, 0.0], [20.0, 5.0]).round(3)
    array([0.38 , 0.095])
    """
    predicted = robot.inverse_dynamics(q, qd, qdd, joint_terms=joint_terms)
    return arguments.real("residual: tau", tau, (robot.nv,)) - predicted


class _Running:
    """Mean and size of the last residuals, and whether they have drifted.

    `count` rows were taken in; `left_out` had a number that is not finite, and leave no trace.
    """

    def __init__(self, robot: Robot, window: int, limit: Any):
        if int(window) != window or window < 1:
            raise SizeError(f"window is {window!r}; it has to be a number of rows, 1 or more.")
        self.robot, self.count, self.left_out = robot, 0, 0
        self._last = np.zeros((int(window), robot.nv))
        given = SHARE * robot.limits.effort if limit is None else arguments.real("limit", limit)
        if given.shape not in ((), (robot.nv,)):
            raise SizeError(f"limit has shape {given.shape}; give one number, or nv = {robot.nv} of them.")
        if not np.all(given >= 0.0):
            raise SizeError("limit has to be a number from zero on everywhere.")
        self.limit = np.broadcast_to(given, (robot.nv,))

    def _add(self, r: Array) -> Array:
        """Take a residual in; one that is not finite is counted apart, or the mean would be lost and drift unseen."""
        if np.isfinite(r).all():
            self._last[self.count % len(self._last)] = r
            self.count += 1
        else:
            self.left_out += 1
        return r

    @property
    def _rows(self) -> Array:
        return self._last[: max(1, min(self.count, len(self._last)))]

    @property
    def mean(self) -> Array:
        """The mean residual over the window, (nv,)."""
        return self._rows.mean(axis=0)

    @property
    def rms(self) -> Array:
        """Its root mean square, (nv,)."""
        return np.sqrt(np.mean(self._rows**2, axis=0))

    @property
    def drift(self) -> np.ndarray[Any, np.dtype[np.bool_]]:
        """Where the window is full and its mean beyond the limit, (nv,) of truth values."""
        full = self.count >= len(self._last)
        return (np.abs(self.mean) > self.limit) & full


class Monitor(_Running):
    """The residual, row after row, with its mean and size over the last `window` rows.

    `limit` is the mean from which on `drift` says so: a number, or (nv,); by default a twentieth of the effort limits.

    >>> arm = hinge.samples.planar_2r()
    >>> watch = hinge.identify.Monitor(arm, window=2, limit=0.1)
    >>> for _ in range(2):
    ...     r = watch.update([0.0, 0.0], [0.0, 0.0], [0.0, 0.0], [20.0, 4.905])
    >>> watch.mean.round(3), watch.drift
    (array([0.38, 0.  ]), array([ True, False]))
    """

    def __init__(
        self, robot: Robot, window: int = 500, joint_terms: Sequence[Term] = DEFAULT_TERMS, limit: Numbers | None = None
    ):
        super().__init__(robot, window, limit)
        self.joint_terms = joint_terms

    def update(self, q: Numbers, qd: Numbers, qdd: Numbers, tau: Numbers) -> Array:
        """Take one row, and give its residual (nv,)."""
        return self._add(residual(self.robot, q, qd, qdd, tau, self.joint_terms))


class Observer(_Running):
    """The residual without accelerations, which are noisy: from how the momentum p = H qd changes.

        ṗ = tau - r + (C + Cᵀ) qd - bias,   r ← gain (∫ (ṗ + r) dt - ∫ r dt - p)

    The estimate follows r as a filter of first order does, with `gain` in 1/s; rows are `step` seconds apart.

    >>> arm = hinge.samples.planar_2r()
    >>> watch = hinge.identify.Observer(arm, step=0.01)
    >>> for _ in range(100):
    ...     r = watch.update([0.0, 0.0], [0.0, 0.0], [20.0, 4.905])
    >>> r.round(3)
    array([0.38, 0.  ])
    """

    def __init__(self, robot: Robot, step: float, gain: float = 50.0, joint_terms: Sequence[Term] = DEFAULT_TERMS,
                 window: int = 500, limit: Numbers | None = None):  # fmt: skip
        super().__init__(robot, window, limit)
        if not 0.0 < step * gain < 1.0:
            raise SizeError(f"step × gain is {step * gain:g}; the estimate is smooth where it is between 0 and 1.")
        self.step, self.gain, self.joint_terms = step, gain, joint_terms
        self._before: Array | None = None  # the known part of ṗ, a row ago
        self._known, self._r = np.zeros(robot.nv), np.zeros(robot.nv)

    def update(self, q: Numbers, qd: Numbers, tau: Numbers) -> Array:
        """Take one row, and give the estimate of its residual (nv,)."""
        robot: Any = self.robot
        qd, options = arguments.real("update: qd", qd, (robot.nv,)), {"joint_terms": self.joint_terms}
        C = robot.coriolis_matrix(q, qd)
        now = arguments.real("update: tau", tau, (robot.nv,)) + (C + C.T) @ qd - robot.bias_force(q, qd, **options)
        p = robot.mass_matrix(q, **options) @ qd
        if not (np.isfinite(now).all() and np.isfinite(p).all()):
            if self._before is not None:
                self._known = self._known + self.step * (self._before - self._r)  # as if the row before had lasted
            return self._add(np.full(robot.nv, np.nan))
        if self._before is None:
            self._known = p
        else:
            self._known = self._known + self.step * ((self._before + now) / 2 - self._r)
        self._before, self._r = now, self.gain * (self._known - p)
        return self._add(self._r)
