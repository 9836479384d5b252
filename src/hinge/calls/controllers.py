"""Controllers traced: functions of a user's over arrays, as functions over scalars that kernels are made of.

    def control(t, q, qd):
        return K @ (target - q) - D * qd

A controller sees arrays whose last axis holds coordinates. Traced, it sees symbols in their place; a test on numbers
then decides whether the trace may stand for it. What it changes besides, in its module or anywhere it can reach, is
put back each time.
"""

from __future__ import annotations

import hashlib
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from hinge.arguments import Array
from hinge.backends import interpret
from hinge.calls.target import Target
from hinge.errors import SizeError
from hinge.graph import Expr, Graph, Input, Program, Scalar, maximum, minimum, order
from hinge.graph.arrays import symbols
from hinge.graph.undoing import undone
from hinge.model.states import random_state
from hinge.model.symbols import unknown

Control = Callable[..., Any]  # of t, q, qd and further inputs
Traced = Callable[..., list[Scalar]]  # of t, a list for q, one for qd, and one for each further input
LAST = 8  # controllers that a robot remembers
BEYOND = "so it depends on more than t, q and qd; sample=1 runs it in Python without trying"


class Untraceable(Exception):
    """Why a controller cannot become part of a kernel."""


def checked(target: Target, made: Any, batch: tuple[int, ...]) -> Array:
    """What a controller returned, if it is joint forces."""
    try:
        tau = np.asarray(made, float)
    except (TypeError, ValueError):
        raise SizeError(f"control returned a {type(made).__name__}, not an array of joint forces.") from None
    try:
        if tau.shape[-1:] == (target.model.nv,):
            return np.broadcast_to(tau, (*batch, target.model.nv))
    except ValueError:
        pass
    raise SizeError(
        f"control returned shape {tau.shape}; robot {target.name!r} wants {(*batch, target.model.nv)}: "
        f"nv = {target.model.nv} joint forces a state."
    )


class Known(NamedTuple):
    """A controller that was traced: what it could reach then, the shapes of its inputs, and what came out."""

    control: Control
    reach: undone
    shapes: list[tuple[int, ...]]
    traced: Traced
    says: Traced | None
    key: str


def _recent() -> deque[Known]:
    """Return an empty list of controllers that were traced last."""
    return deque(maxlen=LAST)


def known_control(target: Target, control: Control, inputs: Sequence[Any] = ()) -> Known:
    """The controller over scalars, its status and their key, as `trace_control` and `traced_key` make them.

    One of the last few is not traced again while all that it can reach is as it was.
    """
    shapes = [np.shape(a) for a in inputs]
    last: deque[Known] = target.memo(_recent)
    for one in last:
        if one.control is control and one.shapes == shapes and one.reach.still():
            return one
    with undone(control) as reach:
        pass
    traced = trace_control(target, control, inputs)
    says = trace_status(control, inputs)
    key = "".join(traced_key(target, one, inputs) for one in (traced, says) if one is not None)
    last.append(Known(control, reach, shapes, traced, says, key))
    return last[-1]


def trace_control(target: Target, control: Control, inputs: Sequence[Any] = ()) -> Traced:
    """The controller over scalars, as a function (t, q, qd, *inputs) with flat lists for arrays.

    `inputs` are what one rollout gives it besides t, q and qd, as arrays: their shapes are those of the symbols it
    sees, and with their numbers it is tried out. Raises Untraceable, with the reason, where it cannot be traced.
    """
    more = [np.asarray(a, float) for a in inputs]
    shapes = [a.shape for a in more]

    def over_scalars(t: Scalar, q: list[Scalar], qd: list[Scalar], *flat: Sequence[Scalar]) -> list[Scalar]:
        return over_symbols(target, control, t, q, qd, *(_shaped(x, s) for x, s in zip(flat, shapes, strict=True)))

    forces = on_numbers(target, over_scalars, inputs=more)
    rng = np.random.default_rng(0)

    def differs(rounds: int) -> bool:
        """Whether a controller that remembers, or decides in a way a trace does not show, is found out."""
        for _ in range(rounds):
            at, speed = random_state(target.model, rng, 3)
            times = rng.uniform(0.0, 1.0, 3)
            out = forces(times, at, speed, *(np.broadcast_to(a, (3, *a.shape)) for a in more))
            own = [[a.copy() for a in more] for _ in times]
            wanted = np.array([checked(target, control(times[k], at[k], speed[k], *own[k]), ()) for k in range(3)])
            size = 1.0 + np.nanmax(np.abs(wanted), initial=0.0)
            if not np.allclose(out, wanted, rtol=1e-9, atol=1e-9 * size, equal_nan=True):
                return True
        return False

    try:
        with undone(control):
            other = differs(1)
            with undone(control) as later:  # what it makes at its first call and keeps is no harm
                other = other or differs(1)
                remembers = later.changed()
    except Exception as problem:
        raise Untraceable(f"on numbers, {str(problem).splitlines()[0] if str(problem) else problem!r}") from problem
    if other:
        raise Untraceable(f"it gives other numbers than its trace, {BEYOND}")
    if remembers:
        raise Untraceable(f"it keeps something that changes from call to call, {BEYOND}")
    return over_scalars


def _shaped(flat: Sequence[Scalar], shape: tuple[int, ...]) -> Any:
    return symbols(list(flat)).reshape(shape)


def trace_status(control: Any, inputs: Sequence[Any] = ()) -> Traced | None:
    """How a controller says it fares, over scalars: a list of one status; None where it does not say."""
    if not hasattr(control, "status"):
        return None
    shapes = [np.shape(a) for a in inputs]

    def over_scalars(t: Scalar, q: list[Scalar], qd: list[Scalar], *flat: Sequence[Scalar]) -> list[Scalar]:
        return _flat(control.status(symbols(t), symbols(q), symbols(qd), *map(_shaped, flat, shapes)))

    return over_scalars


def _flat(made: Any) -> list[Scalar]:
    flat = [getattr(x, "item", lambda x=x: x)() for x in np.asarray(made, dtype=object).reshape(-1).tolist()]
    return [x if type(x) is Expr else float(x) for x in flat]


def over_symbols(
    target: Target, control: Control, t: Scalar, q: list[Scalar], qd: list[Scalar], *inputs: Any
) -> list[Scalar]:
    """Run a controller on symbols."""
    try:
        with undone(control):
            made = control(symbols(t), symbols(q), symbols(qd), *inputs)
        flat = _flat(made)
    except Untraceable:
        raise
    except Exception as problem:
        reason = str(problem).splitlines()[0] if str(problem) else type(problem).__name__
        raise Untraceable(reason) from problem
    if np.ndim(made) > 1 and np.shape(made)[-1] == target.model.nv:
        raise Untraceable("it has numbers for each rollout in it: give them as inputs=, control(t, q, qd, *inputs)")
    if np.shape(made) != (target.model.nv,):
        raise SizeError(f"control returned shape {np.shape(made)}; robot {target.name!r} has nv = {target.model.nv}.")
    return flat


def program(target: Target, traced: Traced, effort: bool = False, sizes: Sequence[int] = ()) -> Program:
    """A controller over scalars as a program of t, q, qd and further inputs of those sizes."""
    graph = Graph()
    named = {"t": 1, "q": target.model.nq, "qd": target.model.nv} | {f"input{k}": size for k, size in enumerate(sizes)}
    (t,), *rest = ([graph.input(name, k) for k in range(size)] for name, size in named.items())
    made = traced(t, *rest)
    made = saturated(target.model, made) if effort else made
    return order([Input(*one) for one in named.items()], [("tau", (len(made),), made)], False)


def on_numbers(
    target: Target, traced: Traced, effort: bool = False, inputs: Sequence[Any] = ()
) -> Callable[..., Array]:
    """A controller over scalars as a function of arrays, a row a state."""
    made = program(target, traced, effort, [np.size(a) for a in inputs])

    def at(t: Array, q: Array, qd: Array, *more: Array) -> Array:
        out = np.empty(qd.shape)
        interpret.run(made, [t[:, None], q, qd, *(a.reshape(len(q), -1) for a in more)], [out])
        return out

    return at


def traced_key(target: Target, traced: Traced, inputs: Sequence[Any] = ()) -> str:
    """A name of what a controller over scalars computes: the same for equal programs, in every process."""
    return hashlib.sha256(repr(program(target, traced, sizes=[np.size(a) for a in inputs])).encode()).hexdigest()


def saturated(model: Any, tau: list[Scalar]) -> list[Scalar]:
    """Joint forces within the effort limits."""
    limits = [x for i in model.leaders for x in model.data[i].effort]
    return [
        maximum(minimum(x, e), -e) if unknown([e]) or np.isfinite(e) else x for x, e in zip(tau, limits, strict=True)
    ]
