"""The mass matrix and bias force of one step used for several: featherstone1987, section 5.2.

    H(q) qdd = tau - C(q, qd)

The equations are set up and factored every k steps; the joint forces are read every step. What this does to the
accelerations is measured where the equations are set up anew, against those that were kept until then.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from hinge.errors import NotCovered
from hinge.status import OK, SINGULAR

Array = np.ndarray[Any, np.dtype[Any]]


class Kept:
    """A step of Euler's method, plain or semi-implicit, with H and C of every k-th step."""

    def __init__(self, run: Any, source: Any, keep: int, method: str) -> None:
        if method not in ("euler", "semi_implicit"):
            raise NotCovered(f"keep={keep} goes with method='euler' or 'semi_implicit': {method!r} evaluates the "
                             "equations several times a step.")  # fmt: skip
        # forces are made in numbers here, so a controller runs on them
        source.traced, source.sample = None, max(1, source.sample)
        if run.physics.springs:
            raise NotCovered("keep= does not go with limits='spring': the springs need the equations of each step.")
        self.run, self.source, self.keep, self.late = run, source, keep, method == "semi_implicit"
        self.inverse: Array | None = None
        self.bias = np.zeros_like(run.qd)
        run.info["kept_error"] = 0.0

    def __call__(self, k: int, t: float, h: float) -> tuple[Array, ...]:
        run, robot = self.run, self.run.robot
        tau = self.source.at(k, t)
        if run.physics.effort:
            tau = np.clip(tau, -robot.limits.effort, robot.limits.effort)
        if k % self.keep == 0:
            before = self.inverse, self.bias
            terms = tuple(run.physics.terms)
            self.inverse = robot.inverse_mass_matrix(run.q, joint_terms=terms)
            self.bias = robot.bias_force(run.q, run.qd, joint_terms=terms)
            if before[0] is not None:
                fresh, stale = self._accelerations(self.inverse, self.bias, tau), self._accelerations(*before, tau)
                good = np.isfinite(fresh).all(axis=1) & np.isfinite(stale).all(axis=1)
                error = np.abs(fresh - stale)[good].max(initial=0.0) / np.abs(fresh)[good].max(initial=1e-300)
                run.info["kept_error"] = max(run.info["kept_error"], float(error))
        qdd = self._accelerations(self.inverse, self.bias, tau)
        end = run.qd + h * qdd
        q = robot.integrate(run.q, h * (end if self.late else run.qd))
        return q, end, tau, np.where(np.isfinite(qdd).all(axis=1), OK, SINGULAR)

    @staticmethod
    def _accelerations(inverse: Any, bias: Array, tau: Array) -> Array:
        return np.einsum("nij,nj->ni", inverse, tau - bias)
