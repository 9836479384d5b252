"""Coordinates of vectors that turn: y = c a + s b and z = c b - s a, with the cosine and sine of one angle.

Each is the other's derivative by the angle, up to its sign. So a walk back need not go by way of the cosine and sine.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from hinge.graph.expr import Expr, Scalar


class Turn(NamedTuple):
    """A sum of c a and s b with their signs, and the angle."""

    angle: Scalar
    c: Expr
    a: Expr
    s: Expr
    b: Expr
    signs: tuple[float, float]


def turns(nodes: Iterable[Expr]) -> dict[Expr, list[tuple[Scalar, Scalar, float]]]:
    """Of each such sum whose partner is there too: what it is made of, the slopes by that, and their signs."""
    found = {node: turn for node in nodes if node.op in ("add", "sub") if (turn := _turn(node)) is not None}
    places = {(turn.angle, turn.a, turn.b): node for node, turn in found.items()}
    made: dict[Expr, list[tuple[Scalar, Scalar, float]]] = {}
    for node, (angle, c, a, s, b, (up, right)) in found.items():
        other = places.get((angle, b, a))
        if other is not None and other is not node:
            first, second = found[other].signs  # dy by the angle is right × c b - up × s a
            if first * second == -up * right:
                made[node] = [(a, c, up), (b, s, right), (angle, other, right * first)]
    return made


def _turn(node: Expr) -> Turn | None:
    """A sum or difference of a cosine and a sine of one angle, each times a node."""
    factors = [_factors(x) for x in node.args]
    if factors[0] is None or factors[1] is None:
        return None
    signs = (1.0, 1.0 if node.op == "add" else -1.0)
    if factors[0][0].op == "sin":
        factors, signs = factors[::-1], signs[::-1]
    (c, a), (s, b) = factors  # type: ignore[misc]
    return Turn(c.args[0], c, a, s, b, signs) if c.op == "cos" and s.op == "sin" and c.args == s.args else None


def _factors(x: Scalar) -> tuple[Expr, Expr] | None:
    """A sine or cosine and what it is multiplied with."""
    if type(x) is not Expr or x.op != "mul" or type(x.args[1]) is not Expr:
        return None
    a, b = x.args
    return (a, b) if a.op in ("sin", "cos") else (b, a) if b.op in ("sin", "cos") else None
