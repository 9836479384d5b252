"""Assembly: the nearest configuration in which the loops are closed.

Gauss-Newton steps on the manifold of configurations close the loops; then the state slides along them towards where it
began. A start from which they do not close, such as a mechanism stretched out straight, is moved a little and tried
again. Batches go together; a row that fails does not touch the others.
Source: featherstone1987, section 9.4.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from hinge.arguments import Array, real
from hinge.calls.call import Call
from hinge.calls.target import Target
from hinge.errors import ModelError, NotCovered, SizeError
from hinge.loops.rank import loop_rank
from hinge.model import Model
from hinge.model.loops import names
from hinge.status import Status
from hinge.typing import Numbers

STRIDE = 0.5  # rad or m: no coordinate moves more than this in one step
SLIDES = 30
RESTARTS = 8  # further starts, each farther from the given one
ROUNDING = 1e-9  # singular values below this share of the largest are none
START = 1e-6  # m and rad: what a loop may be open at the start of a run
DAMPING = 1e-2  # of the square of the gap


class Gaps(NamedTuple):
    """What is zero where a mechanism is assembled: gaps, their Jacobian and its rank, how states move, row names.

    `part` gives the same functions for some of the states, where states differ in more than q.
    """

    gap: Callable[[Array], Array]
    jacobian: Callable[[Array], Array]
    integrate: Callable[[Array, Array], Array]
    difference: Callable[[Array, Array], Array]
    rank: Callable[[Array, Array], Array]  # of the Jacobian, by the mask of velocities that may change
    name: Callable[[int], str]
    part: Callable[[Any], Any] | None = None

    def of(self, which: Any) -> Gaps:
        """The functions for the states that `which` selects."""
        return self if self.part is None else self.part(which)


class Assembly(NamedTuple):
    """A configuration, its largest gap, and a `hinge.Status`."""

    q: Array
    residual: Any
    status: Any


def assemble(target: Target, q: Numbers, hold: Sequence[str] = (), tolerance: float = 1e-12, iterations: int = 100,
             strict: bool = False, parameters: Mapping[str, Numbers] | None = None,
             prescribed: Sequence[Numbers] | None = None) -> Assembly:  # fmt: skip
    """The nearest configuration to q (…, nq) that closes the loops: (q, residual, status), a row a state.

    Joints named in `hold` stay where they are. A start that leads to no closed configuration is moved by up to 1 rad
    or m in random directions, the same ones in each call, and tried again. The residual is the largest gap left, in m
    and rad; status is `hinge.Status.UNCLOSED` where it is above `tolerance`, and with `strict` that is an error which
    names the loop.
    `parameters` of a varied robot and `prescribed` motion of driven joints are as in every call, with batch axes.

    >>> linkage = hinge.samples.slider_crank()
    >>> made = linkage.assemble([0.6, 0.0, 0.0], hold=["crank"])
    >>> float(made.q[0]), bool(made.residual < 1e-12)
    (0.6, True)
    """
    if not target.model.loops:
        raise NotCovered(f"robot {target.name!r} has no loops to close.")
    given = real("assemble: q", q, (target.model.nq,)).astype(float)
    further = target.parameter_rows("assemble", parameters, prescribed)
    batch = np.broadcast_shapes(given.shape[:-1], *(x.shape[:-1] for x in further))
    given = np.broadcast_to(given, (*batch, given.shape[-1]))
    rows = [np.broadcast_to(x, (*batch, x.shape[-1])).reshape(-1, x.shape[-1]) for x in further]
    return assembled(_loops(target, rows), target.model, given, hold, tolerance, iterations, strict)


def _loops(target: Target, further: Sequence[Array] = ()) -> Gaps:
    """The gaps of the loops; `further` are varied numbers and prescribed motion, a row for each state."""
    gap, jacobian, integrate, difference = (
        lambda *arrays, name=name: Call.parse(target, name).kernel(*arrays, *further)
        for name in ("loop_gap", "loop_jacobian", "integrate", "difference")
    )
    return Gaps(gap, jacobian, integrate, difference, lambda q, free: loop_rank(target, q, free, further),
                lambda row: f"loop {names(target.model)[row]!r}",
                (lambda which: _loops(target, [x[which] for x in further])) if further else None)  # fmt: skip


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
    made, gap = _restarted(gaps, start, free, tolerance, iterations)
    done = gap <= tolerance
    if done.any():
        made[done] = _slid(gaps.of(done), start[done], made[done], free, tolerance)
        gap = _size(gaps.gap(made))
    finite = np.isfinite(made).all(axis=1)
    status = np.where(finite, np.where(gap <= tolerance, Status.OK, Status.UNCLOSED), Status.NONFINITE).astype(np.uint8)
    if strict and (status != Status.OK).any():
        first = np.flatnonzero(status != Status.OK)[:1]
        _refuse_gap(gaps.of(first), model, made[first], tolerance)
    batch = given.shape[:-1]
    if not batch:
        return Assembly(made[0], float(gap[0]), Status(int(status[0])))
    return Assembly(made.reshape(given.shape), gap.reshape(batch), status.reshape(batch))


def refuse_open(target: Target, q: Array, qd: Array, tolerance: float, further: Sequence[Array] = ()) -> None:
    """Raise an error that names the loop which is open, or which the velocities open, by more than the tolerance.

    `further` are the numbers of a varied robot.
    """
    _refuse_gap(_loops(target, further), target.model, q, tolerance)
    rate = np.abs(Call.parse(target, "loop_jacobian").kernel(q, *further) @ qd)
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
        f"robot {model.name!r}: {gaps.name(worst)} is open by {gap.flat[worst]:.3g}.",
        "Start from a configuration near one that closes it, or check the lengths: see assemble.",
    )


def _size(gap: Array) -> Array:
    return np.abs(gap).max(axis=-1, initial=0.0)


def _restarted(gaps: Gaps, start: Array, free: Array, tolerance: float, iterations: int) -> tuple[Array, Array]:
    """Closed configurations from the starts, or from others near them where those do not close; and their gaps."""
    made, gap = _closed(gaps, start, free, tolerance, iterations)
    rng = np.random.default_rng(0)
    for k in range(RESTARTS):
        away = rng.uniform(-1.0, 1.0, len(free)) * free * ((k + 1) / RESTARTS)
        left = np.flatnonzero(np.isfinite(gap) & (gap > tolerance))
        if not left.size:
            break
        some = gaps.of(left)
        tried, size = _closed(some, some.integrate(start[left], away), free, tolerance, iterations)
        better = size <= tolerance
        made[left[better]], gap[left[better]] = tried[better], size[better]
    return made, gap


def _closed(gaps: Gaps, q: Array, free: Array, tolerance: float, iterations: int) -> tuple[Array, Array]:
    """Gauss-Newton steps, each as long as it makes the gap smaller."""
    q = gaps.integrate(q, np.zeros(len(free)))  # quaternions of length one
    g = gaps.gap(q)
    for _ in range(iterations):
        busy = np.isfinite(g).all(axis=1) & (_size(g) > 0.1 * tolerance)
        if not busy.any():
            break
        some = gaps.of(busy)
        A = some.jacobian(q[busy]) * free
        step = _towards(A, g[busy])
        step *= np.minimum(1.0, STRIDE / np.maximum(np.abs(step).max(axis=1), 1e-300))[:, None]
        here, now = q[busy], np.linalg.norm(g[busy], axis=1)
        best, left = here, g[busy]
        share, waiting = np.ones(len(step)), np.ones(len(step), bool)
        for _ in range(12):
            tried = some.integrate(here, step * share[:, None])
            gap = some.gap(tried)
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
    real = sizes > ROUNDING * sizes.max(axis=1, initial=0.0)[:, None]
    gains = np.where(real, sizes / (np.square(sizes) + damping + 1e-300), 0.0)
    return -np.einsum("sik,si->sk", V, gains * np.einsum("sri,sr->si", U, g))


def _slid(gaps: Gaps, start: Array, q: Array, free: Array, tolerance: float) -> Array:
    """Along the loops towards the start, as long as that comes nearer and they can be closed again."""
    away, share = gaps.difference(q, start) * free, np.ones((len(q), 1))
    for _ in range(SLIDES):
        A = gaps.jacobian(q) * free
        V = np.linalg.svd(A, full_matrices=False)[2]
        counts = np.arange(V.shape[1]) < gaps.rank(q, free)[:, None]
        along = away - np.einsum("sik,si->sk", V, counts * np.einsum("sik,sk->si", V, away))
        if np.abs(share * along).max(initial=0.0) < 1e-10:
            break
        tried, gap = _closed(gaps, gaps.integrate(q, share * along), free, tolerance, 20)
        left = gaps.difference(tried, start) * free
        nearer = (gap <= tolerance) & (np.linalg.norm(left, axis=1) < np.linalg.norm(away, axis=1))
        share = np.where(nearer[:, None], share, 0.5 * share)
        q, away = np.where(nearer[:, None], tried, q), np.where(nearer[:, None], left, away)
    return q
