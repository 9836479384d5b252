"""Numbers as users give them, checked: each error says what was given and what was wanted."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from hinge.errors import ModelError, Where


def numbers(what: str, label: str, given: Any, shape: tuple[int, ...], where: Where) -> tuple[float, ...]:
    """The numbers of an array of that shape, row by row; finite ones."""
    try:
        values = given if type(given) is tuple and len(shape) == 1 else np.asarray(given, float).reshape(-1).tolist()
        flat = tuple(float(x) for x in values)
        if len(flat) != math.prod(shape) or (len(shape) == 2 and np.shape(given) != shape):
            raise ValueError
    except (TypeError, ValueError):
        wanted = "a number" if shape == (1,) else " × ".join(map(str, shape)) + " numbers"
        raise ModelError("number", f"{what} has {label} {given!r}.", f"Give {wanted}.", where) from None
    if not all(map(math.isfinite, flat)):
        raise ModelError("nan", f"{what} has {label} with a value that is not a finite number.", "Give numbers.", where)
    return flat


def each(what: str, label: str, given: Any, n: int, default: float, where: Where) -> tuple[float, ...]:
    """One entry a coordinate, from nothing, a number or a list; only limits may be infinite."""
    if given is None:
        return (default,) * n
    if type(given) is float and 0.0 <= given < math.inf:
        return (given,) * n
    try:
        values = tuple(np.broadcast_to(np.asarray(given, float), (n,)).tolist())
    except (TypeError, ValueError):
        raise ModelError("number", f"{what} has {label} {given!r}.", f"Give a number, or {n} of them.", where) from None
    if any(math.isnan(x) for x in values):
        raise ModelError("nan", f"{what} has {label} NaN.", "Give a number.", where)
    if default == 0.0 and any(math.isinf(x) for x in values):
        raise ModelError("nan", f"{what} has infinite {label}.", "Give a finite number.", where)
    return values
