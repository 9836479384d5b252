"""Counts of an algorithm as it is written: every product and every sum it does is counted, when it is done.

A traced program shares what is equal and leaves out what is multiplied by zero or one; a text that counts the products
in a product of matrices does neither. A tally is a number that counts.
"""

import math
from typing import NamedTuple

import numpy as np

from hinge.robot import ALGORITHMS
from hinge.spatial import transform


class Count(NamedTuple):
    mul: int
    add: int

    @property
    def total(self):
        return self.mul + self.add


class Tally:
    """A number; what is done with it is counted, zeros and ones like any other."""

    mul = add = 0

    def __init__(self, value):
        self.value = float(value)

    def __mul__(self, other):
        Tally.mul += 1
        return Tally(self.value * value(other))

    def __add__(self, other):
        Tally.add += 1
        return Tally(self.value + value(other))

    def __sub__(self, other):
        Tally.add += 1
        return Tally(self.value - value(other))

    def __rsub__(self, other):
        Tally.add += 1
        return Tally(value(other) - self.value)

    def __neg__(self):
        return Tally(-self.value)

    __rmul__, __radd__ = __mul__, __add__


def value(x):
    return x.value if type(x) is Tally else float(x)


def as_written(robot, method, monkeypatch):
    """Operations of inverse dynamics by that method, and the joint forces it finds at a random motion."""
    for name, plain in (("cos", math.cos), ("sin", math.sin)):
        monkeypatch.setattr(transform, name, lambda x, plain=plain: Tally(plain(value(x))))
    algorithm, model = ALGORITHMS["inverse_dynamics"][method], robot._subject.traced
    motion = np.random.default_rng(1).normal(size=(3, robot.nv))
    absent = {name: q.absent(model) for name, q in algorithm.inputs.items() if q.absent is not None}
    Tally.mul = Tally.add = 0
    tau = algorithm.function(model, *([[], *([Tally(x)] for x in row)] for row in motion), **absent)
    monkeypatch.undo()
    return Count(Tally.mul, Tally.add), motion, [value(f[0]) for f in tau[1:]]
