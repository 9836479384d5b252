"""Assembly: the nearest configuration in which the loops are closed.

Gauss-Newton steps on the manifold of configurations close the loops; then the state slides along them towards where it
began. Batches go together; a row that fails does not touch the others.
Source: featherstone1987, section 9.4.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from hinge.arguments import Array, real
from hinge.calls.target import Target
from hinge.constraints.actuation import RANK
from hinge.errors import ModelError, NotCovered, SizeError
from hinge.model import Model
from hinge.model.loops import names
from hinge.status import Status
from hinge.typing import Numbers

STRIDE = 0.5  # rad or m: no coordinate moves more than this in one step
SLIDES = 30
START = 1e-6  # m and rad: what a loop may be open at the start of a run
DAMPING = 1e-2  # of the square of the gap


class Gaps(NamedTuple):
    """What is zero where a mechanism is assembled: gaps of states, their Jacobian, how states move, names of rows."""

    gap: Callable[[Array], Array]
    jacobian: Callable[[Array], Array]
    integrate: Callable[[Array, Array], Array]
    difference: Callable[[Array, Array], Array]
    name: Callable[[int], str]


class Assembly(NamedTuple):
    """A configuration, its largest gap, and a `hinge.Status`."""

    q: Array
    residual: Any
    status: Any


def assemble(target: Target, q: Numbers, hold: Sequence[str] = (), tolerance: float = 1e-12, iterations: int = 100,
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
    return assembled(_loops(target), target.model, q, hold, tolerance, iterations, strict)


def _loops(target: Target) -> Gaps:
    return Gaps(target.loop_gap, target.loop_jacobian, target.integrate, target.difference,
                lambda row: f"loop {names(target.model)[row]!r}")  # fmt: skip


def assembled(
    gaps: Gaps, model: Model, q: Numbers, hold: Sequence[str], tolerance: float, iterations: int, strict: bool
) -> Assembly:
    """The nearest configuration to q (…, nq) without gaps: see `assemble`."""
    given = real("assemble: q", q).astype(float)
    if given.shape[-1:] != (model.nq,):
        raise SizeError(f"assemble: q has shape {given.shape}, robot {model.name!r} has nq = {model.nq}.")
    if isinstance(hold, str):
        raise SizeError(f"hold={hold!r} is one name. Give a list of joint names.")
    free = np.ones(model.nv, bool)
    for name in hold:
        free[model.slices[model.joint_number(name)][1]] = False
    start = given.reshape(-1, model.nq)
    made, gap = _closed(gaps, start, free, tolerance, iterations)
    done = gap <= tolerance
    if done.any():
        made[done] = _slid(gaps, start[done], made[done], free, tolerance)
        gap = _size(gaps.gap(made))
    finite = np.isfinite(made).all(axis=1)
    status = np.where(finite, np.where(gap <= tolerance, Status.OK, Status.UNCLOSED), Status.NONFINITE).astype(np.uint8)
    if strict and (status != Status.OK).any():
        _refuse_gap(gaps, model, made[status != Status.OK][0], tolerance)
    batch = given.shape[:-1]
    if not batch:
        return Assembly(made[0], float(gap[0]), Status(int(status[0])))
    return Assembly(made.reshape(given.shape), gap.reshape(batch), status.reshape(batch))


def refuse_open(target: Target, q: Array, qd: Array, tolerance: float) -> None:
    """Raise an error that names the loop which is open, or which the velocities open, by more than the tolerance."""
    _refuse_gap(_loops(target), target.model, q, tolerance)
    rate = np.abs(target.loop_jacobian(q) @ qd)
    if rate.max(initial=0.0) > tolerance * (1.0 + np.abs(qd).max()):
        name = names(target.model)[int(rate.argmax())]
        raise ModelError("open-loop", f"robot {target.name!r}: qd0 opens loop {name!r}, by {rate.max():.3g}.",
                         "Start with what robot.loop_project(q0, qd0) gives.")  # fmt: skip


def _refuse_gap(gaps: Gaps, model: Model, q: Array, tolerance: float) -> None:
    gap = np.abs(gaps.gap(q))
    if np.all(gap <= tolerance):
        return
    worst = int(np.nanargmax(np.where(np.isfinite(gap), gap, np.inf)))
    raise ModelError(
        "open-loop",
        f"robot {model.name!r}: {gaps.name(worst)} is open by {gap[worst]:.3g}.",
        "Start from a configuration near one that closes it, or check the lengths: see assemble.",
    )


def _size(gap: Array) -> Array:
    return np.abs(gap).max(axis=-1, initial=0.0)


def _closed(gaps: Gaps, q: Array, free: Array, tolerance: float, iterations: int) -> tuple[Array, Array]:
    """Gauss-Newton steps, each as long as it makes the gap smaller."""
    q = gaps.integrate(q, np.zeros(len(free)))  # quaternions of length one
    g = gaps.gap(q)
    for _ in range(iterations):
        busy = np.isfinite(g).all(axis=1) & (_size(g) > 0.1 * tolerance)
        if not busy.any():
            break
        A = gaps.jacobian(q[busy]) * free
        step = _towards(A, g[busy])
        step *= np.minimum(1.0, STRIDE / np.maximum(np.abs(step).max(axis=1), 1e-300))[:, None]
        here, now = q[busy], np.linalg.norm(g[busy], axis=1)
        best, left = here, g[busy]
        share, waiting = np.ones(len(step)), np.ones(len(step), bool)
        for _ in range(12):
            tried = gaps.integrate(here, step * share[:, None])
            gap = gaps.gap(tried)
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


def _slid(gaps: Gaps, start: Array, q: Array, free: Array, tolerance: float) -> Array:
    """Along the loops towards the start, as long as that comes nearer and they can be closed again."""
    away, share = gaps.difference(q, start) * free, np.ones((len(q), 1))
    for _ in range(SLIDES):
        A = gaps.jacobian(q) * free
        along = away - np.einsum("skr,srj,sj->sk", np.linalg.pinv(A, rcond=RANK), A, away)
        if np.abs(share * along).max(initial=0.0) < 1e-10:
            break
        tried, gap = _closed(gaps, gaps.integrate(q, share * along), free, tolerance, 20)
        left = gaps.difference(tried, start) * free
        nearer = (gap <= tolerance) & (np.linalg.norm(left, axis=1) < np.linalg.norm(away, axis=1))
        share = np.where(nearer[:, None], share, 0.5 * share)
        q, away = np.where(nearer[:, None], tried, q), np.where(nearer[:, None], left, away)
    return q
