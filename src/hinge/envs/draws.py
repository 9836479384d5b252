"""Random numbers of an episode: functions of a seed, the environment's number, the episode's, and their place in line.

    q = draw.uniform(-0.1, 0.1, robot.nq)

No state is kept (graph/random.py). Keys are words of 24 bits, so that they are the same in single precision. There are
two of them, and a number is the sum of what both give, modulo one: two environments do not share both.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from hinge.errors import NotCovered, SizeError
from hinge.graph import Scalar, floor, less, select, uniform
from hinge.graph.arrays import Symbols, symbols
from hinge.sweeps.spreads import Drawn

WORD = 2.0**24
APART = 2**20  # numbers of the robot are drawn from here on, and those of a beginning before


def words(seed: int) -> list[float]:
    """The two words that a seed stands for."""
    digest = hashlib.sha256(str(seed).encode()).digest()
    return [float(int.from_bytes(digest[k : k + 3], "big")) for k in (0, 3)]


def keys(seed: Sequence[Scalar], number: Scalar, episode: Scalar) -> list[Scalar]:
    """The keys of an episode of an environment."""
    return [floor(WORD * uniform(floor(WORD * uniform(word, number)), episode)) for word in seed]


class Draw:
    """What an episode begins with, drawn; each number has its own place in line."""

    def __init__(self, keys: Sequence[Scalar], first: int = 0) -> None:
        self.keys, self.next = tuple(keys), first

    def _one(self) -> Scalar:
        a, b = (uniform(key, float(self.next)) for key in self.keys)
        self.next += 1
        return select(less(a + b, 1.0), a + b, a + b - 1.0)

    def _several(self, size: int | tuple[int, ...] | None, *given: Any) -> Symbols:
        shape = np.broadcast_shapes(*map(np.shape, given)) if size is None else size
        made = np.empty(shape, object)
        made[...] = np.reshape([self._one() for _ in range(made.size)], made.shape)
        return symbols(made)

    def uniform(self, low: Any = 0.0, high: Any = 1.0, size: int | tuple[int, ...] | None = None) -> Symbols:
        """Numbers between low and high, in an array of that size, or as many as these have."""
        return low + (np.asarray(high) - low) * self._several(size, low, high)

    def normal(self, mean: Any = 0.0, deviation: Any = 1.0, size: int | tuple[int, ...] | None = None) -> Symbols:
        """Normal numbers, by Box and Muller's transform."""
        far = np.sqrt(-2.0 * np.log(1.0 - self._several(size, mean, deviation)))
        return mean + deviation * far * np.cos(2.0 * math.pi * self._several(size, mean, deviation))

    def by(self, spread: Any, what: str, shape: tuple[int, ...]) -> Symbols:
        """Numbers as `hinge.sweeps.uniform` and `normal` spread them; a number or an array is itself."""
        if not isinstance(spread, Drawn):
            try:
                return symbols(np.broadcast_to(np.asarray(spread, float), shape).astype(object))
            except (TypeError, ValueError):
                raise SizeError(f"{what} is neither a spread nor an array {shape}.") from None
        if spread.law not in ("uniform", "normal"):
            raise NotCovered(f"{what}: {spread.law} is about a number of rollouts. Use uniform or normal.")
        spread.fits(what, shape)
        return getattr(self, spread.law)(spread.first, spread.second, shape)
