"""Arrays of nodes that NumPy functions understand, so that a controller written for numbers can be traced.

    q = symbols([x, y])
    np.clip(K @ (target - q), -1.0, 1.0)

Arithmetic and products of matrices work on any array of objects. What NumPy does by comparing numbers, or by calling
the C library, is mapped to nodes here: by the rows of the table of operations, and by what can be made of them. The
rest raises TraceError, which names the function and says what to write instead.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from hinge.errors import TraceError
from hinge.graph.expr import Expr, Scalar
from hinge.graph.functions import atan2, cos, exp, log, sin
from hinge.graph.ops import OPS, absolute, floor, less, maximum, minimum, select, sqrt
from hinge.graph.products import product
from hinge.graph.scalars import power
from hinge.graph.undoing import undone

INF = float("inf")


def known(x: Scalar) -> Scalar:
    """One where x is a number, also an infinite one; zero where it is NaN."""
    return select(less(x, INF), 1.0, less(-INF, x))


def at_most(x: Scalar, y: Scalar) -> Scalar:
    """One where x ≤ y, else zero, also where either is NaN."""
    return select(less(y, x), 0.0, both(known(x), known(y)))


def equal(x: Scalar, y: Scalar) -> Scalar:
    """One where x = y, else zero, also where either is NaN."""
    return select(less(x, y), 0.0, at_most(x, y))


def both(x: Scalar, y: Scalar) -> Scalar:
    """One where two conditions hold."""
    return select(x, select(y, 1.0, 0.0), 0.0)


def either(x: Scalar, y: Scalar) -> Scalar:
    """One where one of two conditions holds."""
    return select(x, 1.0, select(y, 1.0, 0.0))


def opposite(x: Scalar) -> Scalar:
    """One where a condition does not hold."""
    return select(x, 0.0, 1.0)


def sinh(x: Scalar) -> Scalar:
    """The hyperbolic sine; near zero its series, where exponentials would lose digits."""
    series: Scalar = 0.0
    for k in reversed(range(10)):
        series = series * (x * x) + 1.0 / math.factorial(2 * k + 1)
    return select(less(absolute(x), 1.0), x * series, 0.5 * (exp(x) - exp(-x)))


# NumPy's universal functions, by name: those that rows of the table serve, and what is made of them
MADE: dict[str, Callable[..., Scalar]] = {
    "tan": lambda x: sin(x) / cos(x),
    "arctan": lambda x: atan2(x, 1.0),
    "sinh": sinh,
    "cosh": lambda x: 0.5 * (exp(x) + exp(-x)),
    "log2": lambda x: log(x) * (1.0 / math.log(2.0)),
    "log10": lambda x: log(x) * (1.0 / math.log(10.0)),
    "exp2": lambda x: power(2.0, x),
    "power": power,
    "float_power": power,
    "square": lambda x: x * x,
    "reciprocal": lambda x: 1.0 / x,
    "positive": lambda x: x,
    "conjugate": lambda x: x,
    "hypot": lambda x, y: sqrt(x * x + y * y),
    "floor_divide": lambda x, y: floor(x / y),
    "remainder": lambda x, y: x - y * floor(x / y),
    "ceil": lambda x: -floor(-x),
    "trunc": lambda x: select(less(x, 0.0), -floor(-x), floor(x)),
    "deg2rad": lambda x: x * (math.pi / 180.0),
    "radians": lambda x: x * (math.pi / 180.0),
    "rad2deg": lambda x: x * (180.0 / math.pi),
    "degrees": lambda x: x * (180.0 / math.pi),
    "clip": lambda x, low, high: minimum(maximum(x, low), high),
    "sign": lambda x: select(less(0.0, x), 1.0, select(less(x, 0.0), -1.0, x * 0.0)),
    "heaviside": lambda x, middle: select(less(x, 0.0), 0.0, select(less(0.0, x), 1.0, middle)),
    "greater": lambda x, y: less(y, x),
    "less_equal": at_most,
    "greater_equal": lambda x, y: at_most(y, x),
    "equal": equal,
    "not_equal": lambda x, y: opposite(equal(x, y)),
    "logical_and": both,
    "logical_or": either,
    "logical_not": opposite,
    "bitwise_and": both,
    "bitwise_or": either,
    "invert": opposite,
    "isnan": lambda x: opposite(known(x)),
    "isfinite": lambda x: less(absolute(x), INF),
}
NATIVE = {
    "add",
    "subtract",
    "multiply",
    "divide",
    "negative",
    "matmul",
}  # NumPy does these with the nodes' own arithmetic
INSTEAD = {
    "expm1": "np.exp(x) - 1.0, which loses digits near zero",
    "log1p": "np.log(1.0 + x), which loses digits near zero",
    "cbrt": "x ** (1 / 3) of a positive x",
    "rint": "np.floor(x + 0.5)",
    "round": "np.floor(x + 0.5)",
    "solve": "the solution by hand, or robot.forward_dynamics for the equations of motion",
    "inv": "the inverse by hand, or robot.forward_dynamics for the equations of motion",
    "argmax": "np.where(a < b, …, …), or np.max for the value alone",
    "argmin": "np.where(a < b, …, …), or np.min for the value alone",
    "sort": "np.minimum(a, b) and np.maximum(a, b)",
    "searchsorted": "np.interp, or np.where(t < knot, …, …)",
    "take": "np.where(k < 1, a, b), or np.interp of a constant table",
    "piecewise": "np.where(condition, this, that)",
}


def refused(name: str, why: object = "") -> TraceError:
    """The error that a function of NumPy cannot be traced, and what to write instead."""
    reason = (
        str(why).splitlines()[0].rstrip(".") if str(why) else "it needs numbers, which are known when the kernel runs"
    )
    instead = INSTEAD.get(name.rpartition(".")[2])
    hint = f"Write {instead}." if instead else (
        "Arithmetic, np.sin and the like, np.where, np.clip, np.minimum, np.interp and np.linalg.norm can be traced."
    )  # fmt: skip
    return TraceError(f"{name} cannot be traced: {reason}.\n  {hint}")


class Symbols(np.ndarray):
    """An array of nodes and floats."""

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *given: Any, **options: Any) -> Any:
        return traced(ufunc, method, *given, **options)

    def __array_function__(self, function: Any, types: Any, given: Any, options: Any) -> Any:
        try:
            if function in FUNCTIONS:
                return _symbols(FUNCTIONS[function](*given, **options))
            return _wrapped(super().__array_function__(function, types, given, options))
        except TraceError as problem:
            if "cannot be traced" in str(problem):
                raise
            raise refused(_called(function), problem) from problem
        except (TypeError, ValueError, AttributeError, ZeroDivisionError, RecursionError) as problem:
            raise refused(_called(function)) from problem

    @staticmethod
    def applied(op: str, *args: Any) -> Symbols:
        """An operation of the table, entry by entry."""
        return _symbols(np.frompyfunc(OPS[op], len(args), 1)(*map(_plain, args)))

    def __getitem__(self, at: Any) -> Symbols:
        _whole(at)
        return _symbols(super().__getitem__(at))  # one node stays an array, so that it can be compared

    def __setitem__(self, at: Any, value: Any) -> None:
        _whole(at)
        super().__setitem__(at, _plain(value))

    def __index__(self) -> int:
        raise _no_index(self)

    def __getattr__(self, name: str) -> Any:
        if on_nodes(name) is None:  # which NumPy asks for where it finds an array in an array of objects
            raise AttributeError(f"an array of traced values has no {name!r}")
        return functools.partial(getattr(np, name), self)

    def sum(self, *given: Any, **options: Any) -> Symbols:  # type: ignore[override]
        return _symbols(super().sum(*given, **options))  # NumPy would hand out one node bare

    def dot(self, other: Any, out: Any = None) -> Symbols:  # type: ignore[override]
        return traced(np.matmul, "__call__", self, other) if np.ndim(other) else self * other


def traced(ufunc: np.ufunc, method: str, *given: Any, **options: Any) -> Any:
    """A universal function of NumPy on arrays among which some hold nodes."""
    name, out = ufunc.__name__, options.pop("out", None)
    plain = [_plain(x) for x in given]
    options = {key: x for key, x in options.items() if key not in ("dtype", "casting", "subok", "order")}
    function = ufunc if name in NATIVE else _entry_by_entry(name, ufunc.nin)
    try:
        made = product(*plain) if name == "matmul" and method == "__call__" else None
        made = getattr(function, method)(*plain, **options) if made is None else made
    except TraceError:
        raise
    except (TypeError, ValueError, AttributeError, ZeroDivisionError) as problem:
        if isinstance(problem, ValueError) and ("shape" in str(problem) or "dimension" in str(problem)):
            raise  # which is nothing that tracing could help
        raise refused(f"np.{name}") from problem
    if out is not None and out[0] is not None:
        out[0][...] = made
        return out[0]
    return _symbols(made)


def _entry_by_entry(name: str, count: int) -> np.ufunc:
    function = on_nodes(name)
    if function is None:
        raise refused(f"np.{name}")
    return np.frompyfunc(function, count, 1)


def on_nodes(name: str) -> Callable[..., Scalar] | None:
    """What a universal function of NumPy is on nodes: made of rows of the table, or a row that serves it."""
    return MADE.get(name) or next((row.scalar or row for row in OPS.values() if name in row.numpy), None)


def _called(function: Any) -> str:
    module = getattr(function, "__module__", "numpy") or "numpy"
    return f"{module.replace('numpy', 'np', 1)}.{function.__name__}"


def _plain(x: Any) -> Any:
    if type(x) is Expr:
        made = np.empty((), object)
        made[()] = x
        return made
    return np.asarray(x) if isinstance(x, Symbols) else x


def _wrapped(made: Any) -> Any:
    """What a function of NumPy made, with nodes in arrays of nodes."""
    if isinstance(made, list | tuple):
        return type(made)(map(_wrapped, made))
    nodes = type(made) is Expr or (isinstance(made, np.ndarray) and made.dtype == object)
    return _symbols(made) if nodes else made


def _no_index(x: object) -> TraceError:
    return TraceError(
        f"the traced value {x!s} cannot be an index: its number is not known yet.\n"
        "  Write np.where(k < 1, a, b), or np.interp of a constant table."
    )


def _whole(at: Any) -> None:
    """Refuse an index that is traced."""
    for x in at if isinstance(at, tuple) else (at,):
        if type(x) is Expr or (isinstance(x, np.ndarray) and x.dtype == object):
            raise _no_index(x)


# functions of NumPy that are not universal, where what NumPy does is not for nodes


def _where(condition: Any, *given: Any) -> Any:
    if len(given) != 2:
        raise refused("np.where", "without two choices it asks which numbers are not zero")
    return np.frompyfunc(select, 3, 1)(*map(_plain, (condition, *given)))


def _norm(x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Any:
    x = symbols(x)
    if ord not in (None, 2, 1, np.inf, "fro") or (ord is not None and axis is None and (x.ndim == 2) != (ord == "fro")):
        raise refused("np.linalg.norm", f"ord={ord!r} of an array with {x.ndim} axes is found by comparing numbers")
    if ord == 1:
        return np.sum(np.abs(x), axis=axis, keepdims=keepdims)
    if ord == np.inf:
        return np.max(np.abs(x), axis=axis, keepdims=keepdims)
    return np.sqrt(np.sum(x * x, axis=axis, keepdims=keepdims))


def _interp(x: Any, xp: Any, fp: Any, left: Any = None, right: Any = None, period: Any = None) -> Any:
    if period is not None or any(isinstance(a, Symbols) for a in (xp, fp)):
        raise refused("np.interp", "only x may be traced, and there is no period")
    knots, values = np.asarray(xp, float).tolist(), np.asarray(fp, float).tolist()
    x = symbols(x)
    made: Any = values[-1] if right is None else np.where(x > knots[-1], right, values[-1])
    for k in reversed(range(len(knots) - 1)):
        slope = (values[k + 1] - values[k]) / (knots[k + 1] - knots[k])
        made = np.where(x < knots[k + 1], values[k] + slope * (x - knots[k]), made)
    return np.where(x < knots[0], values[0] if left is None else left, made)


def _select(conditions: Sequence[Any], choices: Sequence[Any], default: Any = 0.0) -> Any:
    made: Any = default
    for condition, choice in zip(reversed(conditions), reversed(choices), strict=True):
        made = _symbols(_where(condition, choice, made))
    return made


FUNCTIONS: dict[Any, Callable[..., Any]] = {
    np.where: _where, np.linalg.norm: _norm, np.interp: _interp, np.select: _select,
}  # fmt: skip


def symbols(entries: Any) -> Symbols:
    """Nodes as an array; one node is an array without axes."""
    if isinstance(entries, np.ndarray):
        return _symbols(entries)
    made = np.empty(np.shape(entries) if isinstance(entries, list | tuple) else (), dtype=object)
    made[...] = entries
    return made.view(Symbols)


def cross(a: Any, b: Any) -> Any:
    """a × b of arrays (…, 3) of numbers or nodes; entry by entry, so that a state comes out the same in any batch."""
    return np.stack([a[..., i - 2] * b[..., i - 1] - a[..., i - 1] * b[..., i - 2] for i in range(3)], axis=-1)


def _symbols(made: Any) -> Symbols:
    array = np.asarray(made, dtype=object)
    if any(isinstance(x, Symbols) for x in array.flat):  # entries that were taken out and put into another array
        array = np.frompyfunc(lambda x: x.item() if isinstance(x, Symbols) else x, 1, 1)(array)
    return np.asarray(array, dtype=object).view(Symbols)


def on_symbols(what: str, function: Callable[..., Any], *given: Any) -> Any:
    """What a function of a user's makes of traced arrays; where NumPy stumbles over them, that is told by name."""
    try:
        with undone(function):
            return function(*given)
    except TraceError:
        raise
    except (TypeError, IndexError, RecursionError) as problem:
        if isinstance(problem, IndexError) and "used as indices" not in str(problem):
            raise
        raise TraceError(
            f"{what} cannot be traced: {str(problem).splitlines()[0].rstrip('.')}.\n"
            "  A traced value is no index and no number: its number is not known yet. For a table write "
            "np.interp, for a choice np.where."
        ) from problem
