"""What is written over scalars of any kind: floats, arrays, nodes, dual numbers, symbols of SymPy.

The functions of the table work on all of them. Here is what they make together: powers, sums, and whole expressions
with other values put in.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from hinge.graph.expr import Expr, Scalar
from hinge.graph.functions import pow
from hinge.graph.ops import OPS, sqrt
from hinge.graph.order import live

PRODUCTS = 64  # a whole power up to this is made of products


def power(x: Scalar, exponent: Scalar) -> Scalar:
    """x to a power: products where the exponent is a small whole number, a root where it is a half."""
    n = constant(exponent)
    if n is None:
        return pow(x, exponent)
    if n < 0.0:
        return 1.0 / power(x, -n) if n >= -PRODUCTS and n * 2.0 == int(n * 2.0) else pow(x, n)
    if n == 0.5:
        return sqrt(x)
    if n > PRODUCTS or n * 2.0 != int(n * 2.0):
        return pow(x, n)
    made: Scalar = None if n == int(n) else sqrt(x)
    square, left = x, int(n)
    while left:
        if left % 2:
            made = square if made is None else made * square
        left //= 2
        square = square * square if left else square
    return made if made is not None else np.ones_like(x) if isinstance(x, np.ndarray) else 1.0


def constant(x: Any) -> float | None:
    """The number that a scalar is, also where SymPy has it; None where it is an array, or not known yet."""
    known = isinstance(x, int | float | np.integer | np.floating) or getattr(x, "is_number", False)
    return float(x) if known else None


def apply(op: str, *args: Scalar) -> Scalar:
    """An operation of the table on scalars of any kind; nodes and symbols simplify."""
    return OPS[op](*args)


def evaluate(scalar: Scalar, known: dict[Expr, Any]) -> Any:
    """The value of a scalar when those nodes have the given values: numbers, arrays, or nodes of another graph.

    An input that is not among them stands for itself.
    """
    return evaluated([scalar], known)[0]


def evaluated(scalars: Sequence[Scalar], known: dict[Expr, Any]) -> list[Any]:
    """The same for several scalars at once."""
    values = dict(known)
    for node in live([x for x in scalars if type(x) is Expr]):
        if node.op == "input":
            values.setdefault(node, node)
        elif node not in values:
            values[node] = OPS[node.op](*(values[a] if type(a) is Expr else a for a in node.args))
    return [values[x] if type(x) is Expr else x for x in scalars]


def total(terms: Iterable[Scalar]) -> Scalar:
    """The sum of some scalars."""
    made: Scalar = 0.0
    for term in terms:
        made = made + term
    return made


def inner(a: Iterable[Scalar], b: Iterable[Scalar]) -> Scalar:
    """The sum of the products of scalars, pair by pair."""
    return total(x * y for x, y in zip(a, b, strict=True))
