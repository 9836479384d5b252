"""Arrays of nodes that NumPy functions understand, so that a controller written for numbers can be traced.

    q = symbols([x, y])
    np.clip(K @ (target - q), -1.0, 1.0)

Arithmetic and products of matrices work on any array of objects. What NumPy does by comparing numbers, or by calling
the C library, is mapped to nodes here; the rest raises TraceError.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from hinge.graph.expr import Scalar
from hinge.graph.functions import atan2, cos, sin
from hinge.graph.ops import less, maximum, minimum, select, sqrt

NODES: dict[str, Callable[..., Scalar]] = {
    "sin": sin,
    "cos": cos,
    "tan": lambda x: sin(x) / cos(x),
    "sqrt": sqrt,
    "square": lambda x: x * x,
    "hypot": lambda x, y: sqrt(x * x + y * y),
    "arctan2": atan2,
    "minimum": minimum,
    "maximum": maximum,
    "fmin": minimum,
    "fmax": maximum,
    "clip": lambda x, low, high: minimum(maximum(x, low), high),
    "absolute": lambda x: maximum(x, -x),
    "fabs": lambda x: maximum(x, -x),
    "sign": lambda x: select(less(0.0, x), 1.0, select(less(x, 0.0), -1.0, 0.0)),
    "less": less,
    "greater": lambda x, y: less(y, x),
    "less_equal": lambda x, y: select(less(y, x), 0.0, 1.0),
    "greater_equal": lambda x, y: select(less(x, y), 0.0, 1.0),
}


class Symbols(np.ndarray):
    """An array of nodes and floats."""

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *given: Any, **options: Any) -> Any:
        plain = [np.asarray(x) if isinstance(x, Symbols) else x for x in given]
        known = NODES.get(ufunc.__name__)
        if known is not None and method == "__call__" and not options:
            made = np.frompyfunc(known, len(plain), 1)(*plain)
        else:
            made = getattr(ufunc, method)(*plain, **options)
        return _symbols(made)

    def __getitem__(self, at: Any) -> Symbols:
        return _symbols(super().__getitem__(at))  # one node stays an array, so that it can be compared

    def sum(self, *given: Any, **options: Any) -> Symbols:  # type: ignore[override]
        return _symbols(super().sum(*given, **options))  # NumPy would hand out one node bare

    def __array_function__(self, function: Any, types: Any, given: Any, options: Any) -> Any:
        if function is np.where and len(given) == 3:
            return _symbols(
                np.frompyfunc(select, 3, 1)(*(np.asarray(x) if isinstance(x, Symbols) else x for x in given))
            )
        made = super().__array_function__(function, types, given, options)
        return _symbols(made) if isinstance(made, np.ndarray) and made.dtype == object else made


def symbols(entries: Sequence[Scalar] | Scalar) -> Symbols:
    """Nodes as an array; one node is an array without axes."""
    made = np.empty(np.shape(entries) if isinstance(entries, list | tuple) else (), dtype=object)
    made[...] = entries
    return made.view(Symbols)


def cross(a: Any, b: Any) -> Any:
    """a × b of arrays (…, 3) of numbers or nodes; entry by entry, so that a state comes out the same in any batch."""
    return np.stack([a[..., i - 2] * b[..., i - 1] - a[..., i - 1] * b[..., i - 2] for i in range(3)], axis=-1)


def _symbols(made: Any) -> Symbols:
    return np.asarray(made, dtype=object).view(Symbols)
