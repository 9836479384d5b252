"""Mathematics over scalars as functions of arrays: batched and compiled on numbers, run as written on symbols.

    @over_arrays(twist=(6,), gives=(4, 4))
    def exp(twist): ...

The function sees one state, as nested lists of scalars. Called with numbers, it is traced once and becomes a kernel
like any other, over any leading axes; called with nodes or dual numbers, it runs on them; called with SymPy's symbols,
it runs on nodes that stand for them, and the results are SymPy's.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterator
from math import prod
from typing import Any

import numpy as np

from hinge.arguments import Array, real, shaped
from hinge.backends import Backend
from hinge.backends.kernel import Memo, Plan, kernel_of
from hinge.backends.sympy_input import Reading, is_sympy, refuse_sympy
from hinge.errors import GeometryError, SizeError
from hinge.graph import Graph, Input, Program, order
from hinge.graph.arrays import symbols

Shape = tuple[int, ...]
NEAR = 1e-9  # how far from a rotation a matrix may be that is taken for one
MEASURED = 1e-6  # the same, of a pose that is only a goal, and may come from a sensor or from text


def mapping(name: str, function: Callable[..., Any], takes: dict[str, Shape], gives: Shape | tuple[Shape, ...],
            on_paper: bool = False, check: Callable[..., None] | None = None) -> Callable[..., Any]:  # fmt: skip
    """A function of one state's scalars as one of arrays.

    It runs on numbers, batched and compiled, and on symbols as it is; one that has symbols of its own is always
    `on_paper`. An input called `pose` has to be in SE(3). `check` is given the name of the function and the arrays of
    numbers, and raises where the function has no meaning for them.
    """
    several = bool(gives) and isinstance(gives[0], tuple)
    outputs: tuple[Shape, ...] = gives if several else (gives,)  # type: ignore[assignment]
    inputs = tuple(Input(one, prod(shape), shape=shape, label="entries") for one, shape in takes.items())

    def made_of(nested: list[Any]) -> tuple[Any, ...]:
        return function(*nested) if several else (function(*nested),)

    def trace(backend: Backend) -> Program:
        graph = Graph()
        nodes = [[graph.input(one.name, k) for k in range(one.size)] for one in inputs]
        made = made_of([_nested(one, shape) for one, shape in zip(nodes, takes.values(), strict=True)])
        return order(inputs, [(f"out{k}", s, flat(x)) for k, (s, x) in enumerate(zip(outputs, made, strict=True))])

    plan = Plan("", name, inputs, outputs, trace, (function, inputs, outputs), Memo())

    def on_symbols(given: list[tuple[str, Any, Shape]]) -> list[Any]:
        made = made_of([_scalars(f"{name}: {one}", x, shape) for one, x, shape in given])
        return [_as_array(x, shape) for x, shape in zip(made, outputs, strict=True)]

    def on_sympy(given: list[tuple[str, Any, Shape]]) -> list[Any]:
        reading = Reading()
        made = made_of([_nested(reading.array(f"{name}: {one}", x, shape), shape) for one, x, shape in given])
        return [reading.written(flat(x), shape) for x, shape in zip(made, outputs, strict=True)]

    def on_numbers(given: list[tuple[str, Any, Shape]], nearest: bool) -> list[Any]:
        arrays = [numbers(name, one, x, shape) for one, x, shape in given]
        arrays = [in_se3(name, x, nearest) if one == "pose" else x for one, x in zip(takes, arrays, strict=True)]
        if check is not None:
            check(name, *arrays)
        made = kernel_of(plan)(*arrays)
        return [x[()] for x in (made if several else (made,))]  # a single number as NumPy gives one

    def call(*given: Any, nearest: bool = False) -> Any:
        named = [(one, x, shape) for (one, shape), x in zip(takes.items(), given, strict=True)]
        if on_paper or any(map(is_sympy, given)):
            results = on_sympy(named)
        elif any(map(is_symbolic, given)):
            results = on_symbols(named)
        else:
            results = on_numbers(named, nearest)
        return tuple(results) if several else results[0]

    return call


def over_arrays(gives: Shape | tuple[Shape, ...], check: Callable[..., None] | None = None,
                **takes: Shape) -> Callable[[Callable[..., Any]], Any]:  # fmt: skip
    """Make a function of one state's scalars one of arrays; `check` is that of `mapping`."""

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        name = f"{function.__module__.removeprefix('hinge.')}.{function.__name__}"
        return _fronted(function, mapping(name, function, takes, gives, check=check), tuple(takes))

    return decorate


def _fronted(function: Callable[..., Any], call: Callable[..., Any], names: tuple[str, ...]) -> Callable[..., Any]:
    """The call with the name, words and parameters of the function."""

    @functools.wraps(function)
    def front(*given: Any, **named: Any) -> Any:
        bound = signature.bind(*given, **named)
        options = {"nearest": bound.arguments["nearest"]} if "nearest" in bound.arguments else {}
        return call(*(bound.arguments[one] for one in names), **options)

    kinds = [inspect.Parameter(one, inspect.Parameter.POSITIONAL_OR_KEYWORD) for one in names]
    if "pose" in names:
        kinds.append(inspect.Parameter("nearest", inspect.Parameter.KEYWORD_ONLY, default=False))
    signature = inspect.Signature(kinds)
    front.__signature__ = signature  # type: ignore[attr-defined]
    front.scalar = function  # type: ignore[attr-defined]
    return front


def is_symbolic(given: Any) -> bool:
    """Whether an array, list or scalar holds anything but numbers."""
    if isinstance(given, np.ndarray) and given.dtype != object:
        return False
    return any(not isinstance(x, int | float | complex | np.number | np.bool_) for x in _leaves(given))


def _leaves(given: Any) -> Iterator[Any]:
    if isinstance(given, list | tuple):
        for x in given:
            yield from _leaves(x)
    elif isinstance(given, np.ndarray):
        yield from (given.ravel().tolist() if given.dtype == object else ())
    else:
        yield given


def numbers(name: str, one: str, given: Any, shape: Shape) -> Array:
    """An array of numbers whose last axes have that shape."""
    refuse_sympy(name, given)
    return real(f"{name}: {one}", given, shape)


def _scalars(what: str, given: Any, shape: Shape) -> Any:
    a = np.asarray(given, dtype=object)
    if a.shape != shape:
        raise SizeError(f"{what} of symbols has shape {a.shape}; it has to be {shape}.")
    return a.tolist() if shape else a.item()


def _nested(flat: list[Any], shape: Shape) -> Any:
    if not shape:
        return flat[0]
    step = len(flat) // shape[0]
    return [_nested(flat[k * step : (k + 1) * step], shape[1:]) for k in range(shape[0])]


def flat(made: Any) -> list[Any]:
    """The scalars of nested lists."""
    return [x for part in made for x in flat(part)] if isinstance(made, list | tuple) else [made]


def _as_array(made: Any, shape: Shape) -> Any:
    """Scalars as an array of them."""
    entries = np.empty(prod(shape), dtype=object)
    entries[:] = flat(made)
    return symbols(entries.reshape(shape).tolist()) if shape else made


def nearest_pose(name: str, matrix: Array) -> Array:
    """The pose nearest to a matrix: its rotation by the polar decomposition, its last row as it has to be."""
    _refuse_any(name, ~np.isfinite(matrix).all(axis=(-1, -2)), "has entries that are not finite.")
    made = np.array(matrix, copy=True)
    U, stretch, Vt = np.linalg.svd(made[..., :3, :3])
    _refuse_any(
        name,
        ~(stretch[..., 1] > NEAR * stretch[..., 0]),
        "is nearest to no pose: its rotation part is zero or "
        "has rank one.\n  How a frame is turned takes two directions at least.",
    )
    U[..., :, 2] *= np.sign(np.linalg.det(U @ Vt))[..., None]
    made[..., :3, :3] = U @ Vt
    made[..., 3, :] = (0.0, 0.0, 0.0, 1.0)
    return made


def outside_se3(pose: Array, limit: float) -> Array:
    """Which matrices (…, 4, 4) are no poses: not finite, or with an entry that is off by more than the limit."""
    R = pose[..., :3, :3]
    with np.errstate(invalid="ignore"):  # of what is not finite
        off = np.abs(np.swapaxes(R, -1, -2) @ R - np.eye(3)).max(axis=(-1, -2))
        off = np.maximum(off, np.abs(pose[..., 3, :] - (0.0, 0.0, 0.0, 1.0)).max(axis=-1))
        return ~(off <= limit) | ~(np.linalg.det(R) > 0.0) | ~np.isfinite(pose).all(axis=(-1, -2))


def pose(what: str, given: Any) -> Array:
    """A 4×4 pose as it is given: a rotation, a place, and a last row of 0, 0, 0, 1, to a few digits."""
    made = shaped(what, given, (4, 4))
    if outside_se3(made, MEASURED):
        raise SizeError(
            f"{what} is no pose: its first three rows and columns have to be a rotation, its last row 0 0 0 1."
        )
    return made


def in_se3(name: str, pose: Array, nearest: bool) -> Array:
    """The poses, if they are such; the nearest that are, if those will do."""
    bad = outside_se3(pose, NEAR if pose.dtype == np.float64 else 1e-5)
    if not bad.any():
        return pose
    near = nearest_pose(name, pose)
    if nearest:
        return np.where(bad[..., None, None], near, pose)
    away = float(np.linalg.norm(pose[bad][0] - near[bad][0]))
    _refuse_any(
        name,
        bad,
        f"is not in SE(3): it is {away:.3g} from the nearest matrix that is.\n  A pose is a "
        "rotation, a shift, and a last row 0 0 0 1. With nearest=True the nearest one is taken.",
    )
    return pose


def _refuse_any(name: str, bad: Any, what: str) -> None:
    refuse_any(name, "pose", bad, what)


def refuse_any(name: str, one: str, bad: Any, what: str) -> None:
    """Raise where any matrix of the input called `one` is bad, with the place of the first."""
    if bad.any():
        where = f"{one}{np.argwhere(bad)[0].tolist()}" if bad.ndim else f"the {one}"
        raise GeometryError(f"{name}: {where} {what}")
