"""How states fare that an algorithm is run on: what has to be positive for an answer, and what the status is."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from hinge.dynamics.slopes import Slope, Variable
from hinge.graph import Expr, Scalar, absolute, kinks, less, minimum, select
from hinge.graph.scalars import largest
from hinge.model import Model
from hinge.status import Status


def normal(model: Model, q: list[Scalar]) -> list[Scalar]:
    """The same position with quaternions of length one."""
    return [x for i in model.leaders for x in model.joint[i].normal(q[model.slices[i][0]])]


def smoothness(made: Sequence[Variable], known: Mapping[str, Variable], slopes: Sequence[Slope]) -> Scalar:
    """Positive where the results have derivatives by what the slopes are taken by."""
    by = [x for slope in slopes for name in slope.by if name in known for x in known[name].entries]
    return lowest([absolute(x) for x in kinks([x for one in made for x in one.entries], by)])


def smoothness_of_recursion(
    model: Model, seen: Mapping[str, Any], known: Mapping[str, Variable], by: Sequence[str]
) -> Scalar:
    """The same of a recursion that gives derivatives itself: all that bends is what joints take of their forces."""
    taken = [x for i in range(1, len(model.parent)) for x in model.resistance(i, seen["q"], seen["qd"])]
    return smoothness([Variable("taken", (len(taken),), entries=taken)], known, [Slope("columns", tuple(by))])


def fared_so(pivot: Scalar, entries: Sequence[Scalar], smooth: Scalar) -> Scalar:
    """How a state fared whose equations have that least pivot, and whose results are these."""
    fared = select(less(largest(entries), math.inf), float(Status.OK), float(Status.NONFINITE))
    if type(smooth) is Expr:
        fared = select(less(0.0, smooth), fared, select(less(smooth, 1.0), float(Status.NOT_SMOOTH), fared))
    if type(pivot) is not Expr:
        return fared
    return select(less(0.0, pivot), fared, select(less(pivot, 1.0), float(Status.SINGULAR), fared))  # NaN is neither


def lowest(pivots: Sequence[Scalar]) -> Scalar:
    """The least of those pivots that depend on the state; constant ones have been looked at already."""
    least: Scalar = 1.0
    for p in pivots:
        if type(p) is Expr:
            least = minimum(least, p) if type(least) is Expr else p
    return least
