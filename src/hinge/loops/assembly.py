"""Assembly: the nearest configuration in which the loops are closed.

Gauss-Newton steps on the manifold of configurations close the loops; then the state slides along them towards where it
began. Batches go together; a row that fails does not touch the others.
Source: featherstone1987, section 9.4.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from hinge.arguments import Array, real
from hinge.calls.target import Target
from hinge.constraints.actuation import RANK
from hinge.errors import ModelError, NotCovered, SizeError
from hinge.model.loops import names
from hinge.status import Status

STRIDE = 0.5  # rad or m: no coordinate moves more than this in one step
SLIDES = 30
START = 1e-6  # m and rad: what a loop may be open at the start of a run
DAMPING = 1e-2  # of the square of the gap


class Assembly(NamedTuple):
    """A configuration, its largest gap, and a `hinge.Status`."""

    q: Array
    residual: Any
    status: Any


def assemble(target: Target, q: Any, hold: Sequence[str] = (), tolerance: float = 1e-12, iterations: int = 100,
             strict: bool = False) -> Assembly:  # fmt: skip
    """The nearest configuration to q (…, nq) that closes the loops: (q, residual, status), a row a state.

    Joints named in `hold` stay where they are. The residual is the largest gap left, in m and rad; status is
    `hinge.Status.UNCLOSED` where it is above `tolerance`, and with `strict` that is an error which names the loop.

    >>> linkage = hinge.samples.slider_crank()
    >>> made = linkage.assemble([0.6, 0.0, 0.0], hold=["crank"])
    >>> float(made.q[0]), bool(made.residual < 1e-12)
    (0.6, True)
    """
    if not target.model.loops:
        raise NotCovered(f"robot {target.name!r} has no loops to close.")
    given = real("assemble: q", q).astype(float)
    if given.shape[-1:] != (target.model.nq,):
        raise SizeError(f"assemble: q has shape {given.shape}, robot {target.name!r} has nq = {target.model.nq}.")
    if isinstance(hold, str):
        raise SizeError(f"hold={hold!r} is one name. Give a list of joint names.")
    free = np.ones(target.model.nv, bool)
    for name in hold:
        free[target.model.slices[target.model.joint_number(name)][1]] = False
    start = given.reshape(-1, target.model.nq)
    made, gap = _closed(target, start, free, tolerance, iterations)
    done = gap <= tolerance
    if done.any():
        made[done] = _slid(target, start[done], made[done], free, tolerance)
        gap = _size(target.loop_gap(made))
    finite = np.isfinite(made).all(axis=1)
    status = np.where(finite, np.where(gap <= tolerance, Status.OK, Status.UNCLOSED), Status.NONFINITE).astype(np.uint8)
    if strict and (status != Status.OK).any():
        _refuse_gap(target, made[status != Status.OK][0], tolerance)
    batch = given.shape[:-1]
    if not batch:
        return Assembly(made[0], float(gap[0]), Status(int(status[0])))
    return Assembly(made.reshape(given.shape), gap.reshape(batch), status.reshape(batch))


def refuse_open(target: Target, q: Array, qd: Array, tolerance: float) -> None:
    """Raise an error that names the loop which is open, or which the velocities open, by more than the tolerance."""
    _refuse_gap(target, q, tolerance)
    rate = np.abs(target.loop_jacobian(q) @ qd)
    if rate.max(initial=0.0) > tolerance * (1.0 + np.abs(qd).max()):
        name = names(target.model)[int(rate.argmax())]
        raise ModelError("open-loop", f"robot {target.name!r}: qd0 opens loop {name!r}, by {rate.max():.3g}.",
                         "Start with what robot.loop_project(q0, qd0) gives.")  # fmt: skip


def _refuse_gap(target: Target, q: Array, tolerance: float) -> None:
    gap = np.abs(target.loop_gap(q))
    if np.all(gap <= tolerance):
        return
    worst = int(np.nanargmax(np.where(np.isfinite(gap), gap, np.inf)))
    raise ModelError(
        "open-loop",
        f"robot {target.name!r}: loop {names(target.model)[worst]!r} is open by {gap[worst]:.3g}.",
        "Start from a configuration near one that closes it, or check the lengths: see assemble.",
    )


def _size(gap: Array) -> Array:
    return np.abs(gap).max(axis=-1, initial=0.0)


def _closed(target: Target, q: Array, free: Array, tolerance: float, iterations: int) -> tuple[Array, Array]:
    """Gauss-Newton steps, each as long as it makes the gap smaller."""
    q = target.integrate(q, np.zeros(target.model.nv))  # quaternions of length one
    g = target.loop_gap(q)
    for _ in range(iterations):
        busy = np.isfinite(g).all(axis=1) & (_size(g) > 0.1 * tolerance)
        if not busy.any():
            break
        A = target.loop_jacobian(q[busy]) * free
        step = _towards(A, g[busy])
        step *= np.minimum(1.0, STRIDE / np.maximum(np.abs(step).max(axis=1), 1e-300))[:, None]
        here, now = q[busy], np.linalg.norm(g[busy], axis=1)
        best, left = here, g[busy]
        share, waiting = np.ones(len(step)), np.ones(len(step), bool)
        for _ in range(12):
            tried = target.integrate(here, step * share[:, None])
            gap = target.loop_gap(tried)
            better = waiting & (np.linalg.norm(gap, axis=1) < now)
            best, left = np.where(better[:, None], tried, best), np.where(better[:, None], gap, left)
            waiting &= ~better
            if not waiting.any():
                break
            share = np.where(waiting, 0.5 * share, share)
        q[busy], g[busy] = best, left
        if waiting.all():
            break
    return q, _size(g)


def _towards(A: Array, g: Array) -> Array:
    """A Gauss-Newton step, damped as long as the gap is wide, so that a mechanism that cannot close comes to rest."""
    U, sizes, V = np.linalg.svd(A, full_matrices=False)
    damping = DAMPING * np.square(g).sum(axis=1)[:, None]
    real = sizes > RANK * sizes.max(axis=1, initial=0.0)[:, None]
    gains = np.where(real, sizes / (np.square(sizes) + damping + 1e-300), 0.0)
    return -np.einsum("sik,si->sk", V, gains * np.einsum("sri,sr->si", U, g))


def _slid(target: Target, start: Array, q: Array, free: Array, tolerance: float) -> Array:
    """Along the loops towards the start, as long as that comes nearer and they can be closed again."""
    away = target.difference(q, start) * free
    for _ in range(SLIDES):
        A = target.loop_jacobian(q) * free
        along = away - np.einsum("skr,srj,sj->sk", np.linalg.pinv(A, rcond=RANK), A, away)
        if np.abs(along).max(initial=0.0) < 1e-10:
            break
        tried, gap = _closed(target, target.integrate(q, along), free, tolerance, 20)
        left = target.difference(tried, start) * free
        nearer = (gap <= tolerance) & (np.linalg.norm(left, axis=1) < np.linalg.norm(away, axis=1))
        if not nearer.any():
            break
        q, away = np.where(nearer[:, None], tried, q), np.where(nearer[:, None], left, away)
    return q
