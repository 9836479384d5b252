"""Gradients and Jacobians of users' own functions: traced once for the shapes they are given, differentiated, compiled.

    def cost(q, u):
        return u @ u + arm.potential_energy(q)

    dq, du = hinge.gradient(cost, by=(0, 1))(q, u)

A function sees arrays of traced values, on which arithmetic, NumPy and robots' methods work; all it calls becomes one
program. What it takes from outside its arguments is as it was when it was traced.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any

import numpy as np

from hinge.backends.kernel import Memo, Plan, Shape, kernel_of
from hinge.errors import NotCovered, SizeError, TraceError
from hinge.graph import Expr, Graph, Input, Scalar, order, pulled
from hinge.graph import jacobian as forward
from hinge.graph.arrays import Symbols, on_symbols, symbols

By = int | Sequence[int]


def gradient(f: Callable[..., Any], by: By = 0, batch: int = 0) -> Callable[..., Any]:
    """The gradient of a function of arrays that gives a number: a function of the same arrays.

    Gives an array of the shape of argument `by`, or a tuple of them where `by` has several: derivatives by the plain
    numbers of an argument, of q by its nq numbers. The first `batch` axes of every array, which broadcast, count
    states; the function sees one. It can be traced itself, so that derivatives nest.

    >>> arm = hinge.samples.planar_2r()
    >>> reach = hinge.gradient(lambda q: np.sum(arm.pose(q, "hand")[:3, 3] ** 2))
    >>> reach([0.0, np.pi / 2]).round(3)
    array([ 0., -2.])
    """
    return _derivative("gradient", f, by, batch)


def jacobian(f: Callable[..., Any], by: By = 0, batch: int = 0) -> Callable[..., Any]:
    """The derivatives of a function of arrays that gives an array: a function of the same arrays.

    Gives an array of the result's shape, then that of argument `by`; else it is as `gradient`. Where the result is
    smaller than the arguments it is found backward from it, else forward from them.

    >>> arm = hinge.samples.planar_2r()
    >>> hinge.jacobian(lambda q: arm.pose(q, "hand")[:3, 3])(np.zeros(2)).round(3)[2]
    array([2., 1.])
    """
    return _derivative("jacobian", f, by, batch)


def _derivative(kind: str, f: Callable[..., Any], by: By, batch: int) -> Callable[..., Any]:
    name = f"{kind} of {getattr(f, '__name__', type(f).__name__)!r}"
    if not callable(f):
        raise TraceError(f"hinge.{kind} takes a function of arrays; a {type(f).__name__} was given.")
    wanted = _numbers(name, by)
    memo = Memo()

    def plan(shapes: tuple[Shape, ...]) -> Plan:
        inputs, outputs = _traced(kind, name, f, wanted, shapes)
        results = tuple(shape for _, shape, _ in outputs)
        return Plan("", name, inputs, results, lambda backend: order(inputs, outputs), (plan, shapes), memo)

    def derivative(*given: Any) -> Any:
        for k in wanted:
            if k >= len(given):
                raise SizeError(f"{name}: by={by} names argument {k}; {len(given)} were given, counted from 0.")
        shapes = tuple(_shape(name, k, x, batch) for k, x in enumerate(given))
        made = kernel_of(memo(plan, shapes))(*given)
        results = made if isinstance(made, tuple) else (made,)
        return results[0][()] if isinstance(by, int) else tuple(x[()] for x in results)

    derivative.__name__ = derivative.__qualname__ = name
    return derivative


def _numbers(name: str, by: By) -> tuple[int, ...]:
    """The numbers of the arguments that derivatives are taken by."""
    several = (by,) if isinstance(by, int) else by
    good = isinstance(several, tuple | list) and all(type(k) is int and k >= 0 for k in several)
    if not good or not several or len(set(several)) < len(several):
        raise SizeError(f"{name}: by is {by!r}; give the number of an argument, from 0, or a tuple of them, each once.")
    return tuple(several)


def _shape(name: str, k: int, given: Any, batch: int) -> Shape:
    """The shape of an argument for one state."""
    try:
        shape = np.shape(given) if isinstance(given, Symbols) else np.asarray(given, float).shape
    except (TypeError, ValueError):
        raise SizeError(
            f"{name}: argument {k} is a {type(given).__name__}, and has to be an array of real numbers.\n"
            "  Put names and settings into the function: lambda q: f(q, 'hand')."
        ) from None
    if len(shape) < batch:
        raise SizeError(f"{name}: argument {k} has shape {shape}; its first {batch} axes count states.")
    return shape[batch:]


def _traced(
    kind: str, name: str, f: Callable[..., Any], by: Sequence[int], shapes: Sequence[Shape]
) -> tuple[tuple[Input, ...], list[tuple[str, Shape, list[Scalar]]]]:
    """Return the inputs and outputs of the derivative of a function, which is traced for arguments of these shapes."""
    inputs = tuple(Input(f"argument {k}", prod(shape), False, shape, label="entries") for k, shape in enumerate(shapes))
    graph = Graph()
    nodes = [[graph.input(one.name, k) for k in range(one.size)] for one in inputs]
    given = [symbols(list(x)).reshape(shape) for x, shape in zip(nodes, shapes, strict=True)]
    try:
        result, entries = _made(on_symbols("it", f, *given))
    except TraceError as why:
        raise TraceError(f"{name}: {why}") from why
    if kind == "gradient" and result:
        hint = "Take np.sum of it, or hinge.jacobian."
        raise SizeError(f"{name}: it gives shape {result}, and a gradient is that of a number.\n  {hint}")
    own = [nodes[k] for k in by]
    rows = _slopes(entries, [x for part in own for x in part])
    ends = np.cumsum([len(part) for part in own])
    outputs = [
        (f"by {k}", (*result, *shapes[k]), [x for row in rows for x in row[end - len(part) : end]])
        for k, part, end in zip(by, own, ends, strict=True)
    ]

    return inputs, outputs


def _made(made: Any) -> tuple[Shape, list[Scalar]]:
    """The shape of what a function gave, and its scalars."""
    try:
        whole = symbols(np.asarray(made, dtype=object))
        return whole.shape, [x if type(x) is Expr else float(x) for x in whole.reshape(-1).tolist()]
    except (TypeError, ValueError):
        raise TraceError(
            f"it gives a {type(made).__name__}, which is no array of numbers made of its arguments.\n"
            "  Let it return one array, or one number."
        ) from None


def _slopes(outputs: Sequence[Scalar], inputs: Sequence[Expr]) -> list[list[Scalar]]:
    """Derivatives, a row an output: backward where there are fewer of these, else forward."""
    if len(outputs) < len(inputs):
        try:
            return [pulled([one], [1.0], inputs) for one in outputs]
        except NotCovered:  # some loops are only gone through forward
            pass
    return forward(outputs, inputs)
