"""Numbers as users give them, checked: each error says what was given and what was wanted.

Numbers of a model have a size up to LARGEST, and below SMALLEST they are zero, the rounding of a program that wrote it:
the cubes of both are numbers a computer can hold, and an inertia about another point is a mass times a length squared.
A limit beyond FAR is none: that is how some files say so.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from hinge.errors import ModelError, Where
from hinge.graph.expr import Expr, Scalar
from hinge.model.symbols import is_symbolic, scalars

SMALLEST, LARGEST = 1e-100, 1e100
FAR = 1e9  # of a limit, in rad, m, rad/s, m/s, N m or N
RANGE = f"Numbers of a robot are at most {LARGEST:g}."


def numbers(what: str, label: str, given: Any, shape: tuple[int, ...], where: Where,
            symbols: bool = True) -> tuple[Scalar, ...]:  # fmt: skip
    """The numbers of an array of that shape, row by row; finite ones, or nodes where `symbols` may be given."""
    try:
        values = given if type(given) is tuple and len(shape) == 1 else np.asarray(given, float).reshape(-1).tolist()
        flat: tuple[Scalar, ...] = tuple([0.0 * x if -SMALLEST < x < SMALLEST else x for x in map(float, values)])
        if len(flat) != math.prod(shape) or (len(shape) == 2 and np.shape(given) != shape):
            raise ValueError
    except (TypeError, ValueError, OverflowError):
        if is_symbolic(given) and not symbols:
            raise ModelError("symbol", f"{what} has {label} made of symbols.", "Give numbers.", where) from None
        if is_symbolic(given) and np.shape(given) == shape:
            return _symbolic(what, label, given, shape, where)
        wanted = "a number" if shape == (1,) else " × ".join(map(str, shape)) + " numbers"
        raise ModelError("number", f"{what} has {label} {given!r}.", f"Give {wanted}.", where) from None
    return _bounded(what, label, flat, where)


def _bounded(what: str, label: str, values: tuple[Scalar, ...], where: Where) -> tuple[Scalar, ...]:
    """The values, if all of them are symbols or in range."""
    wrong = [x for x in values if type(x) is not Expr and not -LARGEST <= x <= LARGEST]
    if not wrong:
        return values
    if not all(map(math.isfinite, wrong)):
        raise ModelError("nan", f"{what} has {label} with a value that is not a finite number.", "Give numbers.", where)
    raise ModelError("range", f"{what} has {label} {wrong[0]:g}, which is out of range.", RANGE, where)


def _symbolic(what: str, label: str, given: Any, shape: tuple[int, ...], where: Where) -> tuple[Scalar, ...]:
    try:
        flat = scalars(given, shape)
    except (TypeError, ValueError) as problem:
        hint = "Symbols may be added, multiplied, divided, raised to powers, and be in sqrt, sin, exp and the like."
        raise ModelError("symbol", f"{what} has {label} {given!r}: {problem}.", hint, where) from None
    return _bounded(what, label, flat, where)


def each(what: str, label: str, given: Any, n: int, default: float, where: Where) -> tuple[Scalar, ...]:
    """One entry a coordinate, from nothing, a number or a list; only limits may be infinite."""
    if given is None:
        return (default,) * n
    if type(given) is float and (given == 0.0 or SMALLEST <= abs(given) <= FAR):
        return (given,) * n
    try:
        values = tuple(0.0 * x if abs(x) < SMALLEST else x
                       for x in np.broadcast_to(np.asarray(given, float), (n,)).tolist())  # fmt: skip
    except (TypeError, ValueError, OverflowError):
        if default == 0.0 and is_symbolic(given) and np.shape(given) in ((), (n,)):  # limits are numbers
            return _symbolic(what, label, given, (n,), where)
        raise ModelError("number", f"{what} has {label} {given!r}.", f"Give a number, or {n} of them.", where) from None
    if any(math.isnan(x) for x in values):
        raise ModelError("nan", f"{what} has {label} NaN.", "Give a number.", where)
    if default == 0.0 and any(math.isinf(x) for x in values):
        raise ModelError("nan", f"{what} has infinite {label}.", "Give a finite number.", where)
    if default:
        values = tuple(default if math.copysign(x, x * default) > FAR else x for x in values)
    _bounded(what, label, tuple(x for x in values if x != default), where)
    return values
