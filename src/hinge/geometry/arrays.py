"""Mathematics over scalars as functions of arrays: batched and compiled on numbers, run as written on symbols.

    @over_arrays(twist=(6,), gives=(4, 4))
    def exp(twist): ...

The function sees one state, as nested lists of scalars. Called with numbers, it is traced once and becomes a kernel
like any other, over any leading axes; called with nodes, SymPy symbols or dual numbers, it runs on them.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterator
from math import prod
from typing import Any

import numpy as np

from hinge.backends.kernel import Kernel, Plan, default_backend
from hinge.errors import GeometryError, SizeError
from hinge.graph import Graph, Input, Program, order
from hinge.graph.arrays import symbols

Array = np.ndarray[Any, np.dtype[Any]]
Shape = tuple[int, ...]
NEAR = 1e-9  # how far from a rotation a matrix may be that is taken for one


def mapping(name: str, function: Callable[..., Any], takes: dict[str, Shape], gives: Shape | tuple[Shape, ...],
            key: tuple[str, ...] | None = None) -> Callable[..., Any]:  # fmt: skip
    """A function of one state's scalars as one of arrays; `key` is its name in the cache, its graph where it has none.

    It runs on numbers, batched and compiled, and on symbols as it is. An input called `pose` has to be in SE(3).
    """
    several = bool(gives) and isinstance(gives[0], tuple)
    outputs: tuple[Shape, ...] = gives if several else (gives,)  # type: ignore[assignment]
    inputs = tuple(Input(one, prod(shape)) for one, shape in takes.items())

    def made_of(nested: list[Any]) -> tuple[Any, ...]:
        return function(*nested) if several else (function(*nested),)  # type: ignore[no-any-return]

    def trace() -> Program:
        graph = Graph()
        nodes = [[graph.input(one.name, k) for k in range(one.size)] for one in inputs]
        made = made_of([_nested(flat, shape) for flat, shape in zip(nodes, takes.values(), strict=True)])
        return order(inputs, [(f"out{k}", s, _flat(x)) for k, (s, x) in enumerate(zip(outputs, made, strict=True))])

    plan = Plan("", name, inputs, tuple(takes.values()), ("entries",) * len(takes), outputs, trace,
                lambda: key or ("program", repr(plan.program)))  # fmt: skip
    kernels: dict[str, Kernel] = {}

    def call(*given: Any, nearest: bool = False) -> Any:
        if any(map(is_symbolic, given)):
            made = made_of(
                [_scalars(name, one, x, shape) for (one, shape), x in zip(takes.items(), given, strict=True)]
            )
            results = [_as_given(x, shape, given) for x, shape in zip(made, outputs, strict=True)]
            return tuple(results) if several else results[0]
        arrays = [numbers(name, one, x, shape) for (one, shape), x in zip(takes.items(), given, strict=True)]
        for k, one in enumerate(takes):
            if one == "pose":
                arrays[k] = in_se3(name, arrays[k], nearest)
        backend = default_backend()
        if backend not in kernels:
            kernels[backend] = Kernel(plan, backend)
        return _unboxed(kernels[backend](*arrays), several)

    return call


def _unboxed(made: Any, several: bool) -> Any:
    """A single number as NumPy gives one, not as an array without axes."""
    return tuple(x[()] for x in made) if several else made[()]


def over_arrays(gives: Shape | tuple[Shape, ...], **takes: Shape) -> Callable[[Callable[..., Any]], Any]:
    """Make a function of one state's scalars one of arrays."""

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        name = f"{function.__module__.removeprefix('hinge.')}.{function.__name__}"
        return _fronted(function, mapping(name, function, takes, gives, ("geometry", name)), tuple(takes))

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
    if hasattr(given, "free_symbols"):
        return True
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
    try:
        a = np.asarray(given)
        if a.dtype.kind not in "fiub":
            raise TypeError
    except (TypeError, ValueError):
        raise SizeError(f"{name}: {one} is not an array of real numbers.") from None
    if a.ndim < len(shape) or a.shape[a.ndim - len(shape) :] != shape:
        raise SizeError(f"{name}: {one} has shape {a.shape}; its last axes have to be {shape}.")
    return a.astype(a.dtype if a.dtype == np.float32 else np.float64, copy=False)


def _scalars(name: str, one: str, given: Any, shape: Shape) -> Any:
    a = np.asarray(given, dtype=object)
    if a.shape != shape and a.size == prod(shape) and hasattr(given, "free_symbols"):
        a = a.reshape(shape)  # a SymPy column
    if a.shape != shape:
        raise SizeError(f"{name}: {one} of symbols has shape {a.shape}; it has to be {shape}.")
    return a.tolist() if shape else a.item()


def _nested(flat: list[Any], shape: Shape) -> Any:
    if not shape:
        return flat[0]
    step = len(flat) // shape[0]
    return [_nested(flat[k * step : (k + 1) * step], shape[1:]) for k in range(shape[0])]


def _flat(made: Any) -> list[Any]:
    return [x for part in made for x in _flat(part)] if isinstance(made, list | tuple) else [made]


def _as_given(made: Any, shape: Shape, given: tuple[Any, ...]) -> Any:
    """Scalars in the container they came in: a SymPy matrix, or an array of objects."""
    if any(hasattr(x, "free_symbols") for one in given for x in (one, *_leaves(one))):
        import sympy

        if not shape:
            return sympy.sympify(made)
        return sympy.Matrix(shape[0], prod(shape[1:]), [sympy.sympify(x) for x in _flat(made)])
    flat = np.empty(prod(shape), dtype=object)
    flat[:] = _flat(made)
    return symbols(flat.reshape(shape).tolist()) if shape else made


def nearest_pose(matrix: Array) -> Array:
    """The pose nearest to a matrix: its rotation by the polar decomposition, its last row as it has to be."""
    made = np.array(matrix, copy=True)
    U, _, Vt = np.linalg.svd(made[..., :3, :3])
    U[..., :, 2] *= np.sign(np.linalg.det(U @ Vt))[..., None]
    made[..., :3, :3] = U @ Vt
    made[..., 3, :] = (0.0, 0.0, 0.0, 1.0)
    return made


def in_se3(name: str, pose: Array, nearest: bool) -> Array:
    """The poses, if they are such; the nearest that are, if those will do."""
    limit = NEAR if pose.dtype == np.float64 else 1e-5
    R = pose[..., :3, :3]
    off = np.abs(np.swapaxes(R, -1, -2) @ R - np.eye(3)).max(axis=(-1, -2))
    off = np.maximum(off, np.abs(pose[..., 3, :] - (0.0, 0.0, 0.0, 1.0)).max(axis=-1))
    off = np.where(np.linalg.det(R) > 0.0, off, 2.0 + off)
    bad = ~(off <= limit) | ~np.isfinite(pose).all(axis=(-1, -2))
    if not bad.any():
        return pose
    if nearest and np.isfinite(pose).all():
        return np.where(bad[..., None, None], nearest_pose(pose), pose)
    at = np.unravel_index(int(np.argmax(bad)), bad.shape) if bad.ndim else ()
    where = f"pose{list(map(int, at))}" if bad.ndim else "the pose"
    one = pose[at]
    if not np.isfinite(one).all():
        raise GeometryError(f"{name}: {where} has entries that are not finite.")
    away = float(np.linalg.norm(one - nearest_pose(one)))
    raise GeometryError(
        f"{name}: {where} is not in SE(3): it is {away:.3g} from the nearest matrix that is.\n"
        "  A pose is a rotation, a shift, and a last row 0 0 0 1. With nearest=True the nearest one is taken."
    )
