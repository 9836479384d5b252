"""Constraints on velocities, holonomic or not, given as a function of Python over scalars.

    A(q, t) qd = b(q, t)

The function runs once on symbols. The rates of A and b are found by differentiating what it made, so a user says no
more than the constraint itself; one on positions, φ(q, t) = 0, is differentiated once more.
Source: zefran2004 (18), with b besides.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from hinge.dynamics.coordinates import rate
from hinge.dynamics.kinematics import axes_in_base, joint_velocities_in_base, poses, velocities_in_base
from hinge.errors import NotCovered, SizeError
from hinge.graph import Expr, Graph, Scalar, along, inner, units
from hinge.graph.arrays import Symbols, on_symbols, symbols
from hinge.graph.expr import NAMED
from hinge.graph.scalars import evaluated
from hinge.model import Model, Parameter
from hinge.model.driven import motion, motion_rates, put, sizes
from hinge.model.vary import varied
from hinge.spatial import Motion, cross3

Function = Callable[..., Any]
Rows = list[list[Scalar]]


@dataclass(frozen=True)
class At:
    """Where a link or frame is while a constraint is traced: its axes and origin, and its Jacobian, base axes."""

    R: Symbols  # (3, 3)
    p: Symbols  # (3,)
    J: Symbols  # (6, nv), aligned with the base
    drift: Symbols  # (6,), the velocity that driven joints alone make, likewise


@dataclass(frozen=True)
class Constraint:
    """A traced constraint: A, b, and c with A qdd + c = 0, as nodes of a graph of their own."""

    q: list[Expr]
    qd: list[Expr]
    t: Expr
    given: list[Expr]  # varied numbers, and the motion of driven joints
    A: Rows
    b: list[Scalar]
    c: list[Scalar]
    values: tuple[Scalar, ...] = ()  # of one on positions: what stays zero

    @property
    def m(self) -> int:
        """How many constraints there are."""
        return len(self.A)

    def at(
        self, model: Model, q: Sequence[Scalar], qd: Sequence[Scalar], t: Scalar
    ) -> tuple[Rows, list[Scalar], list[Scalar]]:
        """A, b and c at a state of a model with its numbers put in: numbers, or nodes of any graph."""
        return self.with_numbers(self._numbers(model), q, qd, t)

    def with_numbers(
        self, given: Sequence[Scalar], q: Sequence[Scalar], qd: Sequence[Scalar], t: Scalar
    ) -> tuple[Rows, list[Scalar], list[Scalar]]:
        """The same, with the numbers that are given with each call."""
        known = dict(zip([*self.q, *self.qd, self.t, *self.given], [*q, *qd, t, *given], strict=True))
        flat = evaluated([x for row in self.A for x in row] + self.b + self.c, known)
        n, m = len(self.qd), self.m
        return [flat[k * n : k * n + n] for k in range(m)], flat[m * n : m * n + m], flat[m * n + m :]

    def gap(self, model: Model, q: Sequence[Scalar], t: Scalar) -> list[Scalar]:
        """The values of a constraint on positions, zero where it holds."""
        known = dict(zip([*self.q, self.t, *self.given], [*q, t, *self._numbers(model)], strict=True))
        return evaluated(list(self.values), known)

    def _numbers(self, model: Model) -> list[Scalar]:
        given = [*model.given, *motion(model)] if self.given else []
        if len(given) != len(self.given):
            raise NotCovered(f"robot {model.name!r} has numbers that are given with each call, and here none can be.")
        return given


def stabilised(
    A: Rows, b: Sequence[Scalar], c: Sequence[Scalar], gap: Sequence[Scalar], v: Sequence[Scalar], time: float
) -> list[Scalar]:
    """c with springs and dampers, critical and of that time constant (s), on the rows that have a gap, the last ones.

    On the others, which hold velocities, are dampers.
    """
    off = [inner(row, v) - x for row, x in zip(A, b, strict=True)]
    free = len(A) - len(gap)
    pull = [x / time for x in off[:free]]
    pull += [(2.0 * x + g / time) / time for x, g in zip(off[free:], gap, strict=True)]
    return [x + y for x, y in zip(c, pull, strict=True)]


def trace(model: Model, function: Function, holonomic: bool = False, vary: Sequence[Parameter] = ()) -> Constraint:
    """Run a constraint on symbols: function(q, t) or function(q, t, at).

    What of the model varies or is driven are symbols too.
    """
    graph = NAMED if model.symbols else Graph()  # symbols of the model have the index 0
    q = [graph.input("q", k + 1) for k in range(model.nq)]
    qd = [graph.input("qd", k + 1) for k in range(model.nv)]
    t = graph.input("t", 1)
    size, (nq, nv) = sum(one.size for one in vary), sizes(model)
    given = [graph.input("given", k + 1) for k in range(size + nq + 2 * nv)]
    model = put(varied(model, vary, given[:size]) if vary else model, given[size:])
    made = _called(function, model, q, t)
    values: list[Scalar] = []
    if holonomic:
        values = _scalars(function, made, 1, model)
        columns = [along(values, _moving(model, q, unit, t, 0.0)) for unit in units(model.nv)]
        A: Rows = [list(row) for row in zip(*columns, strict=True)]
        b = [-x for x in along(values, _moving(model, q, [0.0] * model.nv, t, 1.0))]
    else:
        pair = made if isinstance(made, tuple) and len(made) == 2 and np.ndim(made[0]) == 2 else (made, None)
        flat = _scalars(function, pair[0], 2, model)
        A = [flat[k : k + model.nv] for k in range(0, len(flat), model.nv)]
        b = [0.0] * len(A) if pair[1] is None else _scalars(function, pair[1], 1, model)
        if len(b) != len(A):
            raise SizeError(f"constraint {_name(function)!r} returned b with {len(b)} entries; A has {len(A)} rows.")
    if not A:
        raise SizeError(f"constraint {_name(function)!r} returned no rows. Return A (m, nv), or A and b.")
    left = [inner(row, qd) - x for row, x in zip(A, b, strict=True)]
    c = along(left, _moving(model, q, qd, t, 1.0))  # d(A qd - b)/dt with qd held
    return Constraint(q, qd, t, given, A, b, c, tuple(values))


def _moving(model: Model, q: Sequence[Expr], qd: Sequence[Scalar], t: Expr, passing: float) -> dict[Expr, Scalar]:
    """How fast each symbol changes; with `passing` one, time passes and driven joints move."""
    rates = rate(model, model.joint_positions(q), model.joint_velocities(qd))
    driven = list(zip(motion(model), motion_rates(model), strict=False)) if passing else []
    changes = [*zip([*q, t], [*rates, passing], strict=True), *driven]
    return {node: x for node, x in changes if type(x) is Expr or x}


def _called(function: Function, model: Model, q: list[Expr], t: Expr) -> Any:
    try:
        count = len(inspect.signature(function).parameters)
    except (TypeError, ValueError):
        count = 2
    if count not in (2, 3):
        raise SizeError(f"constraint {_name(function)!r} takes {count} arguments. Write it with (q, t) or (q, t, at).")
    given: list[Any] = [symbols(q), symbols(t)]
    if count == 3:
        given.append(_Places(model, q))
    return on_symbols(f"constraint {_name(function)!r}", function, *given)


class _Places:
    """at(name), for constraints that speak of links and frames."""

    def __init__(self, model: Model, q: list[Expr]) -> None:
        self.model, joints = model, model.joint_positions(q)
        self.R, self.r = poses(model, joints)
        self.S = axes_in_base(model, joints, self.R, self.r)
        still = [[0.0] * joint.nv for joint in model.joint]
        across = joint_velocities_in_base(model, joints, still, self.S, self.R, self.r)
        self.drift = velocities_in_base(model, across)

    def __call__(self, name: str) -> At:
        frame = self.model.frame(name)
        R, p = self.R[frame.body].times(frame.R), self.r[frame.body] + self.R[frame.body] @ frame.p
        columns: list[list[Motion]] = [[Motion()] * joint.nv for joint in self.model.joint]
        i = frame.body
        while i > 0:
            columns[i] = [Motion(s.ang, s.lin + cross3(s.ang, p)) for s in self.S[i]]
            i = self.model.parent[i]
        motions = [list(m) for m in self.model.generalised_columns(columns)]
        J = [[m[k] for m in motions] for k in range(6)]
        v = self.drift[frame.body]
        drift = [*v.ang, *(v.lin + cross3(v.ang, p))]
        return At(symbols([list(R.row(k)) for k in range(3)]), symbols(list(p)), symbols(J), symbols(drift))


def _scalars(function: Function, made: Any, axes: int, model: Model) -> list[Scalar]:
    """What a constraint returned, entry by entry; two axes end in nv."""
    array = np.asarray(made, dtype=object)
    if array.ndim != axes or (axes == 2 and array.shape[1] != model.nv):
        wanted = f"(m, {model.nv}): a row a constraint, a column a velocity" if axes == 2 else "(m,)"
        raise SizeError(
            f"constraint {_name(function)!r} returned shape {array.shape}; robot {model.name!r} wants {wanted}."
        )
    flat = [getattr(x, "item", lambda x=x: x)() for x in array.reshape(-1).tolist()]
    try:
        made = [x if type(x) is Expr else float(x) for x in flat]
    except (TypeError, ValueError):
        raise SizeError(f"constraint {_name(function)!r} returned something that is not a number.") from None
    bad = next((k for k, x in enumerate(made) if type(x) is float and not math.isfinite(x)), None)
    if bad is not None:
        at = list(map(int, np.unravel_index(bad, array.shape)))
        raise SizeError(f"constraint {_name(function)!r} returned {made[bad]} at {at}. It holds at no state.")
    return made


def _name(function: Function) -> str:
    return getattr(function, "__name__", type(function).__name__)
