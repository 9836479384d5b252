"""The closed table of scalar operations: what each one means, how it differentiates, what it counts as.

A row is an operation; nothing else in hinge knows what an operation means. `meaning` is a NumPy function, and every
back end must agree with it. `partials(node, *args)` gives the derivative with respect to each argument.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

Scalar = Any  # a float, an array with one value a state, a SymPy symbol, or an Expr
TRIG_LIMIT = 1e9  # beyond this an angle in double precision no longer says where on the circle it is


@dataclass(frozen=True)
class Op:
    """One row: name, number of arguments, meaning, partial derivatives, cost class, and how it prints."""

    name: str
    arity: int
    meaning: Callable[..., Any]
    partials: Callable[..., tuple[Scalar, ...]]
    counts_as: str
    text: str


def _sin(x: Any) -> Any:
    return np.where(np.abs(x) < TRIG_LIMIT, np.sin(x), np.nan)


def _cos(x: Any) -> Any:
    return np.where(np.abs(x) < TRIG_LIMIT, np.cos(x), np.nan)


def _atan2_partials(node: Scalar, y: Scalar, x: Scalar) -> tuple[Scalar, Scalar]:
    rr = x * x + y * y
    return x / rr, -y / rr


def _rows() -> tuple[Op, ...]:
    from hinge.graph.expr import cos, less, select, sin

    zero = 0.0
    return (
        Op("add", 2, np.add, lambda n, a, b: (1.0, 1.0), "add", "{} + {}"),
        Op("sub", 2, np.subtract, lambda n, a, b: (1.0, -1.0), "add", "{} - {}"),
        Op("mul", 2, np.multiply, lambda n, a, b: (b, a), "mul", "{} * {}"),
        Op("div", 2, np.divide, lambda n, a, b: (1.0 / b, -n / b), "div", "{} / {}"),
        Op("neg", 1, np.negative, lambda n, a: (-1.0,), "neg", "-{}"),
        Op("sqrt", 1, np.sqrt, lambda n, a: (0.5 / n,), "sqrt", "sqrt({})"),
        Op("sin", 1, _sin, lambda n, a: (cos(a),), "trig", "sin({})"),
        Op("cos", 1, _cos, lambda n, a: (-sin(a),), "trig", "cos({})"),
        Op("atan2", 2, np.arctan2, _atan2_partials, "trig", "atan2({}, {})"),
        Op("min", 2, np.minimum, lambda n, a, b: (select(less(a, b), 1.0, zero), select(less(a, b), zero, 1.0)),
           "other", "min({}, {})"),
        Op("max", 2, np.maximum, lambda n, a, b: (select(less(b, a), 1.0, zero), select(less(b, a), zero, 1.0)),
           "other", "max({}, {})"),
        Op("less", 2, np.less, lambda n, a, b: (zero, zero), "other", "{} < {}"),
        Op("select", 3, np.where, lambda n, c, a, b: (zero, select(c, 1.0, zero), select(c, zero, 1.0)),
           "other", "{} ? {} : {}"),
        # made only when a graph is put in order: a sum and its single-use product become one instruction
        Op("fma", 3, lambda a, b, c: a * b + c, lambda n, a, b, c: (b, a, 1.0), "fma", "{} * {} + {}"),
        Op("fms", 3, lambda a, b, c: a * b - c, lambda n, a, b, c: (b, a, -1.0), "fma", "{} * {} - {}"),
        Op("fnma", 3, lambda a, b, c: c - a * b, lambda n, a, b, c: (-b, -a, 1.0), "fma", "{2} - {0} * {1}"),
    )  # fmt: skip


OPS: dict[str, Op] = {row.name: row for row in _rows()}
