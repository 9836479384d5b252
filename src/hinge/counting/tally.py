"""Counts of an algorithm as it is written: every product and every sum it does is counted, when it is done.

A traced program shares what is equal and leaves out what is multiplied by zero or one; a text that counts the products
in a product of matrices does neither. A tally is a number that counts. What is done with constants alone, before any
state is known, is not counted.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from hinge.backends.count import Cost
from hinge.dynamics.registry import ALGORITHMS
from hinge.graph import OPS
from hinge.robot import Robot
from hinge.typing import Array

DONE = dict.fromkeys(("mul", "add", "div", "trig"), 0)


class Tally:
    """A number; what is done with it is counted, zeros and ones like any other."""

    __slots__ = ("value",)

    def __init__(self, value: float):
        self.value = float(value)

    def _did(self, kind: str, value: float) -> Tally:
        DONE[kind] += 1
        return Tally(value)

    def __mul__(self, other: Any) -> Tally:
        return self._did("mul", self.value * value(other))

    def __add__(self, other: Any) -> Tally:
        return self._did("add", self.value + value(other))

    def __sub__(self, other: Any) -> Tally:
        return self._did("add", self.value - value(other))

    def __rsub__(self, other: Any) -> Tally:
        return self._did("add", value(other) - self.value)

    def __truediv__(self, other: Any) -> Tally:
        return self._did("div", self.value / value(other))

    def __rtruediv__(self, other: Any) -> Tally:
        return self._did("div", value(other) / self.value)

    def __neg__(self) -> Tally:
        return Tally(-self.value)

    @staticmethod
    def applied(op: str, *args: Any) -> Tally:
        """An operation of the table that is counted: a sine, a cosine."""
        row = OPS[op]
        if row.counts_as != "trig":
            raise TypeError(f"{op} is not counted as it is written")
        return Tally(0.0)._did("trig", row.meaning(*map(value, args)))

    def __abs__(self) -> float:
        return abs(self.value)

    __rmul__, __radd__ = __mul__, __add__


def value(x: Any) -> float:
    return x.value if type(x) is Tally else float(x)


def as_written(robot: Robot, name: str, method: str) -> tuple[Cost, list[Array], list[float]]:
    """Operations of a method as it is written, the random state it was given, and what it found there.

    Methods that differentiate, compare or take square roots work on nodes, not on tallies.
    """
    algorithm, model = ALGORITHMS[name][method], robot.target.traced
    rng, given, seen = np.random.default_rng(1), list[Array](), dict[str, Any]()
    for key, quantity in algorithm.inputs.items():
        if quantity.absent is not None:
            seen[key] = quantity.absent(model)
            continue
        given.append(rng.normal(size=quantity.size(model)))
        seen[key] = quantity.take(model, [Tally(x) for x in given[-1]])
    DONE.update(dict.fromkeys(DONE, 0))
    made = algorithm.function(model, **seen)
    done = dict(DONE)
    result = made[0] if algorithm.pivots else made
    flat = algorithm.result.give(model, result)
    return Cost(**done, method=method), given, [value(x) for x in flat]
