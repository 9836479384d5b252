"""The time-varying regulator: the feedback about a trajectory that costs least.

    K = (R + Bᵀ S' B)⁻¹ Bᵀ S' A,    S = Q + Kᵀ R K + (A - B K)ᵀ S' (A - B K)

S' is that of the step after; A and B are of the very steps that the trajectory was made with, so that what is fed back
to a simulation with these steps is what costs least, to first order. The equation for S is written so that S stays
symmetric and positive whatever rounding does.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from hinge.arguments import Array, duration, finite
from hinge.errors import NotCovered, SizeError
from hinge.optimal.driven import driven_velocities
from hinge.optimal.equilibrium import numbers
from hinge.optimal.follower import EARLY, Follower
from hinge.optimal.lqr import Regulator, weight
from hinge.optimal.solution import Solution
from hinge.robot import Robot


def tvlqr(robot: Robot, run: Any, Q: Any, R: Any, final: Any = None, driven: Sequence[str] | None = None,
          step: float | None = None, method: str | None = None, **how: Any) -> Follower:  # fmt: skip
    """A controller about a trajectory that costs least: the sum of xᵀ Q x + uᵀ R u over its steps.

    `run` is what `simulate` gave with steps of one length, all of them recorded, or anything with q (…, n + 1, nq),
    qd (…, n + 1, nv), tau (…, n, nv) or with a row more, and t (n + 1,) and `method`, which are `step` (s) and `method`
    where it has none. x (2 nv) is what is left to the trajectory, along velocities, and u (nu) the change of the
    forces of the `driven` joints. Q, R and `final`, the cost of what is left at the end, are numbers, diagonals or
    matrices; final is Q unless given. It may be a `Regulator` of the same steps, which takes over there. `how` is what
    `linearize` takes, as the run had it: `joint_terms`, `parameters`, `external`. A `Solution` says these itself, but
    for parameters, and what is driven.
    Forces are held in each step: a simulation by "semi_implicit" or "euler" does that compiled, others with `sample=1`.

    >>> arm, h = hinge.samples.planar_2r(), 0.01
    >>> push = np.outer(np.sin(np.arange(100) * h), [20.0, 2.0])
    >>> run = hinge.simulate(arm, 1.0, control=push, step=h, method="semi_implicit")
    >>> follow = hinge.optimal.tvlqr(arm, run, Q=[1e3, 1e3, 1.0, 1.0], R=1e-3)
    >>> heavy = arm.with_payload("hand", 0.1)
    >>> other = hinge.simulate(heavy, 1.0, control=follow, step=h, method="semi_implicit")
    >>> bool(np.abs(other.q - run.q).max() < 0.01)
    True
    """
    how = _steps_of(run, method) | how
    drives = run.problem.drives if isinstance(run, Solution) and driven is None else driven_velocities(robot, driven)
    motors = np.array(drives)
    Q, R = weight("tvlqr: Q", Q, 2 * robot.nv), weight("tvlqr: R", R, len(motors), definite=True)
    t, q, qd, tau = _rows_of(robot, run, step)
    h = float(t[1] - t[0])
    end = _final(final, Q, motors, h)
    A, B = robot.linearize(q[..., :-1, :], qd[..., :-1, :], tau[..., :-1, :], h, **how)
    lost = np.argwhere(~np.isfinite(A).all(axis=(-1, -2)))
    if len(lost):
        raise NotCovered(
            f"tvlqr: step {lost[0].tolist()} of robot {robot.name!r} has no linear motion: it is singular there."
        )
    K, S = _backward(A, B[..., motors], Q, R, end.S if isinstance(end, Regulator) else end)
    if isinstance(end, Regulator):
        q, qd, tau, K = (x.copy() for x in (q, qd, tau, K))
        q[..., -1, :], qd[..., -1, :], tau[..., -1, :], K[..., -1, :, :] = end.q, 0.0, end.tau, end.K
    return Follower(robot, t, q, qd, tau, K, motors, S, numbers(how))


def _steps_of(run: Any, method: str | None) -> dict[str, Any]:
    """What `linearize` is told so that steps are those of the run."""
    if isinstance(run, Solution):
        told = run.problem.rolls
        alien = [name for name in ("contacts", "ground", "constraint") if told[name] is not None]
        if alien:
            raise NotCovered(
                f"tvlqr: steps with {alien[0]}= have no linear motion here. Follow by the solution's gains."
            )
        return {"method": method or told["method"], "joint_terms": told["joint_terms"]}
    if getattr(run, "course", None) is not None:
        raise NotCovered("tvlqr: the run has contacts, which its linear motion does not. Give one without.")
    if (method or getattr(run, "method", None)) is None:
        raise SizeError("tvlqr: the run does not say by which method its steps are. Give method=, as for simulate.")
    return {"method": method or run.method}


def _rows_of(robot: Robot, run: Any, step: float | None) -> tuple[Array, Array, Array, Array]:
    """The times, states and forces of a trajectory, n + 1 rows each; the last forces again where they have n."""
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
        return np.arange(n + 1.0) * duration("tvlqr: step", step if step is not None else getattr(run, "step", None))
    many = finite("tvlqr: run.t", known).astype(float)
    t = many.reshape(-1, many.shape[-1])[0] if many.ndim else many
    if (many != t).any():
        raise NotCovered("tvlqr: trajectories begin at different times. Follow them one by one.")
    h = duration("tvlqr: step", getattr(run, "info", {}).get("step", t[1] - t[0]) if step is None else step)
    if t.shape != (n + 1,) or np.abs(np.diff(t) - h).max() > EARLY * h:
        raise NotCovered(
            f"tvlqr: the run has {len(t)} states that are not steps of {h:g} s apart.\n"
            "  Simulate with record=1 and a method with steps of one length, for a multiple of the step."
        )
    return t


def _final(final: Any, Q: Array, motors: Array, h: float) -> Any:
    """The cost at the end as a matrix, or the regulator that takes over there."""
    if not isinstance(final, Regulator):
        return Q if final is None else weight("tvlqr: final", final, len(Q))
    if final.step is None or abs(final.step - h) > EARLY * h or not np.array_equal(final.driven, motors):
        raise NotCovered(
            f"tvlqr: final is a regulator with step={final.step}, driving velocities {final.driven.tolist()}; the run "
            f"has steps of {h:g} s, driving {motors.tolist()}.\n  Make it with lqr(…, step={h:g}, driven=…)."
        )
    return final


def _backward(A: Array, B: Array, Q: Array, R: Array, final: Array) -> tuple[Array, Array]:
    """The gains K (…, n + 1, nu, 2 nv), the last twice, and the costs S (…, n + 1, 2 nv, 2 nv)."""
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
