"""The time-varying regulator: the feedback about a trajectory that costs least.

    K = (R + Bᵀ S' B)⁻¹ Bᵀ S' A,    S = Q + Kᵀ R K + (A - B K)ᵀ S' (A - B K)

S' is that of the step after; A and B are of the very steps that the trajectory was made with, so that what is fed back
to a simulation with these steps is what costs least, to first order. The equation for S is written so that S stays
symmetric and positive whatever rounding does.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from hinge.arguments import Array, duration, finite
from hinge.errors import NotCovered, SizeError
from hinge.motion.pieces import Pieces
from hinge.optimal.driven import driven_velocities
from hinge.optimal.lqr import Regulator, every_row, feedback, weight
from hinge.robot import Robot

EARLY = 1e-6  # steps by which gains change before their time: clocks that add up steps are as inexact


@dataclass(frozen=True, eq=False)
class Follower:
    """A controller (t, q, qd) → tau (nv) that keeps a robot on a trajectory.

    In step k, from t[k] on, tau[k] - K[k] x acts with x = [displacement from q[k]; qd - qd[k]]. There are n + 1 rows of
    t (n + 1,), q (…, n + 1, nq), qd and tau (…, n + 1, nv): the last is held after the end, as is that of the gains `K`
    (…, n + 1, nu, 2 nv). `S` (…, n + 1, 2 nv, 2 nv) gives the cost xᵀ S x from a step on, where it is known; `driven` (nu,)
    are the numbers of the driven velocities. Leading axes are trajectories, one a rollout; `follower[i]` follows one of them.
    """

    robot: Robot
    t: Array
    q: Array
    qd: Array
    tau: Array
    K: Array
    S: Array | None
    driven: Array

    def __call__(self, t: Any, q: Any, qd: Any) -> Any:
        """Joint forces (…, nv)."""
        return feedback(self.robot, self._rows.at(t), q, qd)

    @functools.cached_property
    def _rows(self) -> Pieces:
        rows = [np.moveaxis(x, -2, 0) for x in (self.q, self.qd, self.tau)]
        gains = np.moveaxis(every_row(self.K, self.driven, self.robot.nv), -3, 0)
        return Pieces(self.t - EARLY * (self.t[1] - self.t[0]), *rows, gains)

    @property
    def sample(self) -> int:
        """Every how many steps a simulation asks in Python: none for one trajectory, which is compiled."""
        return 1 if self.q.ndim > 2 else 0

    def __getitem__(self, i: Any) -> Follower:
        parts = [name for name in ("q", "qd", "tau", "K", "S") if getattr(self, name) is not None]
        if self.q.ndim < 3:
            raise SizeError("this controller follows one trajectory. Leave the index out.")
        return replace(self, **{name: getattr(self, name)[i] for name in parts})

    def __repr__(self) -> str:
        many = "" if self.q.ndim < 3 else f"{self.q.shape[:-2]} trajectories, "
        return f"<Follower of {self.robot.name!r}: {many}{len(self.t) - 1} steps in {self.t[0]:g} … {self.t[-1]:g} s>"


def tvlqr(robot: Robot, run: Any, Q: Any, R: Any, final: Any = None, driven: Sequence[str] | None = None,
          step: float | None = None, method: str | None = None, **how: Any) -> Follower:  # fmt: skip
    """A controller about a trajectory that costs least: the sum of xᵀ Q x + uᵀ R u over its steps.

    `run` is what `simulate` gave with steps of one length, all of them recorded, or anything with q (…, n + 1, nq),
    qd (…, n + 1, nv), tau (…, n, nv) or with a row more, and t (n + 1,) and `method`, which are `step` (s) and `method`
    where it has none. x (2 nv) is what is left to the trajectory, along velocities, and u (nu) the change of the
    forces of the `driven` joints. Q, R and `final`, the cost of what is left at the end, are numbers, diagonals or
    matrices; final is Q unless given. It may be a `Regulator` of the same steps, which takes over there. `how` is what
    `linearize` takes, as the run had it: `joint_terms`, `parameters`, `external`.
    Forces are held in each step: a simulation by "semi_implicit" or "euler" does that compiled, others with `sample=1`.

    >>> arm, h = hinge.samples.planar_2r(), 0.01
    >>> push = np.outer(np.sin(np.arange(100) * h), [20.0, 2.0])
    >>> run = hinge.simulate(arm, 1.0, control=push, step=h, method="semi_implicit")
    >>> follow = hinge.optimal.tvlqr(arm, run, Q=[100.0, 100.0, 1.0, 1.0], R=0.01)
    >>> heavy = arm.with_payload("hand", 0.2)
    >>> other = hinge.simulate(heavy, 1.0, control=follow, step=h, method="semi_implicit")
    >>> bool(np.abs(other.q - run.q).max() < 0.05)
    True
    """
    motors = driven_velocities("tvlqr", robot, driven)
    Q, R = weight("tvlqr: Q", Q, 2 * robot.nv), weight("tvlqr: R", R, len(motors), definite=True)
    t, q, qd, tau = _rows_of(robot, run, step)
    h, way = float(t[1] - t[0]), method or getattr(run, "method", None)
    end = _final(final, Q, motors, h)
    A, B = robot.linearize(q[..., :-1, :], qd[..., :-1, :], tau[..., :-1, :], h, way, **how)
    lost = np.argwhere(~np.isfinite(A).all(axis=(-1, -2)))
    if len(lost):
        raise NotCovered(
            f"tvlqr: step {lost[0].tolist()} of robot {robot.name!r} has no linear motion: it is singular there."
        )
    K, S = _backward(A, B[..., motors], Q, R, end.S if isinstance(end, Regulator) else end)
    if isinstance(end, Regulator):
        q, qd, tau, K = (x.copy() for x in (q, qd, tau, K))
        q[..., -1, :], qd[..., -1, :], tau[..., -1, :], K[..., -1, :, :] = end.q, 0.0, end.tau, end.K
    return Follower(robot, t, q, qd, tau, K, S, motors)


def _rows_of(robot: Robot, run: Any, step: float | None) -> tuple[Array, Array, Array, Array]:
    """The times, states and forces of a trajectory, n + 1 rows each; the last forces again where they have n."""
    if getattr(run, "course", None) is not None:
        raise NotCovered("tvlqr: the run has contacts, which its linear motion does not. Give one without.")
    parts = {}
    for name, size in (("q", robot.nq), ("qd", robot.nv), ("tau", robot.nv)):
        if getattr(run, name, None) is None:
            raise SizeError(f"tvlqr: the run has no {name}. Give what simulate recorded, with all its fields.")
        parts[name] = finite(f"tvlqr: run.{name}", getattr(run, name), (size,)).astype(float)
    q, qd, tau = parts.values()
    n = (q.shape[-2] if q.ndim > 1 else 0) - 1
    if n < 1 or qd.shape[:-1] != q.shape[:-1] or tau.shape[:-1] not in (q.shape[:-1], (*q.shape[:-2], n)):
        raise SizeError(
            f"tvlqr: run.q has shape {q.shape}, qd {qd.shape}, tau {tau.shape}.\n"
            "  Give (…, n + 1) states, and forces in the n steps between them."
        )
    if tau.shape[-2] == n:
        tau = np.concatenate([tau, tau[..., -1:, :]], axis=-2)
    return _times(run, n, step), q, qd, tau


def _times(run: Any, n: int, step: float | None) -> Array:
    """When steps begin, and the last one ends."""
    known = getattr(run, "t", None)
    if known is None:
        return np.arange(n + 1) * duration("tvlqr: step", step if step is not None else getattr(run, "step", None))
    t = finite("tvlqr: run.t", known).astype(float)
    h = duration("tvlqr: step", getattr(run, "info", {}).get("step", t[1] - t[0]) if step is None else step)
    if t.shape != (n + 1,) or np.abs(np.diff(t) - h).max() > EARLY * h:
        raise NotCovered(
            f"tvlqr: the run has {len(t)} states that are not steps of {h:g} s apart.\n"
            "  Simulate with record=1 and a method with steps of one length."
        )
    return t


def _final(final: Any, Q: Array, motors: Array, h: float) -> Any:
    """The cost at the end as a matrix, or the regulator that takes over there."""
    if not isinstance(final, Regulator):
        return Q if final is None else weight("tvlqr: final", final, len(Q))
    if final.step is None or abs(final.step - h) > EARLY * h or not np.array_equal(final.driven, motors):
        raise NotCovered(
            f"tvlqr: final is a regulator with step={final.step}, driving velocities {final.driven.tolist()}; the run has "
            f"steps of {h:g} s, driving {motors.tolist()}.\n  Make it with lqr(…, step={h:g}, driven=…)."
        )
    return final


def _backward(A: Array, B: Array, Q: Array, R: Array, final: Array) -> tuple[Array, Array]:
    """The gains K (…, n + 1, nu, 2 nv), the last twice, and the costs S (…, n + 1, 2 nv, 2 nv), from the last step on."""
    n, axes = A.shape[-3], A.shape[:-3]
    S = np.empty((*axes, n + 1, *Q.shape))
    K = np.empty((*axes, n + 1, len(R), len(Q)))
    S[..., n, :, :] = final
    for k in reversed(range(n)):
        a, b, after = A[..., k, :, :], B[..., k, :, :], S[..., k + 1, :, :]
        back = b.swapaxes(-1, -2) @ after
        gain = np.linalg.solve(R + back @ b, back @ a)
        closed = a - b @ gain
        made = Q + gain.swapaxes(-1, -2) @ R @ gain + closed.swapaxes(-1, -2) @ after @ closed
        K[..., k, :, :], S[..., k, :, :] = gain, 0.5 * (made + made.swapaxes(-1, -2))
    K[..., n, :, :] = K[..., n - 1, :, :]
    return K, S
