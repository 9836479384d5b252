"""How a number differs from rollout to rollout: drawn, on a grid, or from a table.

    parameters={"forearm.mass": uniform(1.0, 3.0)}, initial={"q_elbow": grid([0.0, 0.5, 1.0])}

No state is kept: what rollout k is given is a function of k, the seed and the number's own name (graph/random.py), so
it is the same in any order, on any machine and on every back end.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from hinge import arguments
from hinge.arguments import Array
from hinge.backends.kernel import ROWS, Kernel, Memo, Plan, kernel_of
from hinge.errors import SizeError
from hinge.graph import Graph, Input, Record, Rows, Scalar, cos, floor, less, maximum, order, repeat, select, sqrt
from hinge.graph import uniform as random
from hinge.graph.functions import log
from hinge.typing import Whole

ROUNDS = 4
FEW = 256  # rollouts whose random order comes from sorting: all orders are equally likely
WORD = 2.0**32  # counters of one round of a shuffle are below it
APART = 2.0**52  # counters of what is drawn besides the shuffle are above it
SORTED = 2.0**51  # counters of the numbers that are sorted are between
MOST = 2**50  # rollouts that numbers can be told apart for
SHOWN = 16  # numbers that are told as they are; of more their hash


@dataclass(frozen=True)
class Space:
    """All rollouts of a sweep: at each point of the product of its grids so many."""

    seed: int
    each: int
    points: Mapping[str, int] = field(default_factory=dict)  # how many each grid has, by name; the last changes fastest

    @property
    def total(self) -> int:
        return self.each * math.prod(self.points.values())

    def at(self, name: str, k: Whole) -> Whole:
        """Where on a grid rollouts are."""
        names = list(self.points)
        faster = math.prod(self.points[one] for one in names[names.index(name) + 1 :])
        return k // (self.each * faster) % self.points[name]

    def keys(self, name: str, count: int) -> Array:
        """The keys of so many streams of random numbers that belong to a name."""
        words = (hashlib.sha256(f"{self.seed}\0{name}\0{j}".encode()).digest()[:8] for j in range(count))
        return np.array([float(int.from_bytes(word, "big") >> 12) for word in words])


class Spread:
    """How a number, or an array of them, differs from rollout to rollout."""

    def values(self, name: str, shape: tuple[int, ...], space: Space, k: Whole) -> Array:
        """The numbers of rollouts k (n,) in an array (n, *shape)."""
        raise NotImplementedError

    def fits(self, what: str, shape: tuple[int, ...]) -> None:
        """Raise where its numbers have another shape."""
        raise NotImplementedError

    def as_data(self) -> dict[str, Any]:
        """All that it is, as data."""
        raise NotImplementedError

    def __repr__(self) -> str:
        ((word, numbers),) = self.as_data().items()
        return f"{word}({', '.join(map(str, numbers))})" if word in LAWS else f"{word}({numbers})"


# ---- what is drawn: over scalars, of a stream's key, the rollout's number and how many there are


def shuffled(key: Scalar, k: Scalar, total: Scalar) -> Scalar:
    """Number k of a random order of 0, 1, … total - 1.

    The order of a few numbers is that of as many random numbers. Of more, k is split into a place on a rectangle of at
    least `total` squares, whose sides are shifted by turns by a random amount that depends on the other side (a Feistel
    network); where that leads beyond the last number it is done again.
    """
    width = floor(sqrt(total)) + 1.0
    height = floor(total / width) + 1.0

    def shift(x: Scalar, by: Scalar, size: Scalar, n: int) -> Scalar:
        moved = x + floor(size * random(key, by + n * WORD))
        return select(less(moved, size), moved, moved - size)

    def once(x: Scalar) -> Scalar:
        b = floor(x / width)
        a = x - b * width
        for n in range(0, 2 * ROUNDS, 2):
            a = shift(a, b, width, n)
            b = shift(b, a, height, n + 1)
        return b * width + a

    own = random(key, k + SORTED)

    def count(j: Scalar, before: Scalar) -> tuple[Scalar]:
        other = random(key, j + SORTED)
        first = select(less(other, own), 1.0, select(less(own, other), 0.0, less(j, k)))
        return (before + first,)

    few = less(total, FEW + 1.0)
    (rank,) = repeat(select(few, total, 0.0), (0.0,), count)
    (made,) = repeat(10_000, (once(k),), lambda _, x: (once(x),), until=lambda x: maximum(few, less(x, total)))
    return select(few, rank, made)


def stratified(key: Scalar, k: Scalar, total: Scalar) -> Scalar:
    """A number in [0, 1) of which each of `total` equal parts gets one."""
    return (shuffled(key, k, total) + random(key, k + APART)) / total


def gaussian(key: Scalar, k: Scalar, total: Scalar) -> Scalar:
    """A normal number, by Box and Muller's transform."""
    return sqrt(-2.0 * log(1.0 - random(key, 2.0 * k))) * cos(2.0 * math.pi * random(key, 2.0 * k + 1.0))


@dataclass(frozen=True)
class Law:
    """A random number of a standard size, and what the two numbers are called that say where and how wide it is."""

    standard: Callable[[Scalar, Scalar, Scalar], Scalar]
    first: str
    second: str
    between: bool  # the second is where a range ends, not how wide it is


LAWS = {
    "uniform": Law(lambda key, k, total: random(key, k), "low", "high", True),
    "latin": Law(stratified, "low", "high", True),
    "normal": Law(gaussian, "mean", "deviation", False),
}


MEMO = Memo()


def kernel(law: str) -> Kernel:
    """The standard numbers of a law, compiled: of rollouts' numbers, how many there are, and a row of keys for each."""
    return kernel_of(MEMO(_plan, law))


def _plan(law: str) -> Plan:
    graph = Graph()
    number, shared = graph.input("number", 0), [graph.input("total", k) for k in range(2)]
    keys, drawn = Rows(graph, "keys", 1), Record(graph, "drawn", 1)

    def draw(j: Scalar) -> tuple[()]:
        drawn[j] = (LAWS[law].standard(keys[j][0], number, shared[0]),)
        return ()

    repeat(shared[1], (), draw)
    inputs = (
        Input("number", 1, shape=(), label="number"),
        Input("total", 2, uniform=True, label="total"),
        Input("keys", 1, uniform=True, stream=True, label="keys"),
    )
    program = order(list(inputs), [drawn])
    return Plan("sweep", f"draw {law}", inputs, ((ROWS, 1),), lambda backend: program, ("draw", LAWS[law]), MEMO)


@dataclass(frozen=True, eq=False, repr=False)
class Drawn(Spread):
    """Random numbers by a law."""

    law: str
    first: Array
    second: Array

    def values(self, name: str, shape: tuple[int, ...], space: Space, k: Whole) -> Array:
        keys = space.keys(name, math.prod(shape))
        total = np.array([space.total, len(keys)], float)
        x = kernel(self.law)(k.astype(float), total, keys[:, None], rows=len(keys)).reshape(-1, *shape)
        return self.first + (self.second - self.first if LAWS[self.law].between else self.second) * x

    def fits(self, what: str, shape: tuple[int, ...]) -> None:
        for name, a in zip((LAWS[self.law].first, LAWS[self.law].second), (self.first, self.second), strict=True):
            if a.shape not in ((), shape):
                raise SizeError(f"{what}: {name} of {self.law} has shape {a.shape}; give a number, or {shape}.")

    def as_data(self) -> dict[str, Any]:
        return {self.law: [comparable(self.first), comparable(self.second)]}


@dataclass(frozen=True, eq=False, repr=False)
class Listed(Spread):
    """Values that are given: the points of a grid, or the rows of a table."""

    kind: str
    rows: Array

    def values(self, name: str, shape: tuple[int, ...], space: Space, k: Whole) -> Array:
        return self.rows[space.at(name, k) if self.kind == "grid" else k % space.each]

    def fits(self, what: str, shape: tuple[int, ...]) -> None:
        if self.rows.shape[1:] != shape:
            wanted = f"({', '.join(['k', *map(str, shape)])})" if shape else "(k,)"
            raise SizeError(f"{what}: the {self.kind} has shape {self.rows.shape}; give {wanted}.")

    def as_data(self) -> dict[str, Any]:
        return {self.kind: comparable(self.rows)}


def comparable(a: Array) -> Any:
    """Numbers as data that two sweeps can be compared by: as they are, or their shape and hash where there are many."""
    if a.size <= SHOWN:
        return a.tolist()
    return {"shape": list(a.shape), "sha256": hashlib.sha256(np.ascontiguousarray(a).tobytes()).hexdigest()}


# ---- the words


def uniform(low: Any, high: Any) -> Drawn:
    """A number for each rollout, drawn between low and high; or an array of them, each its own.

    >>> hinge.sweeps.uniform(0.5, 2.0)
    uniform(0.5, 2.0)
    """
    return _between("uniform", low, high)


def latin(low: Any, high: Any) -> Drawn:
    """A Latin hypercube: drawn between low and high so that each of as many equal parts as there are rollouts gets one.

    Several such numbers, and the entries of an array, are shuffled each on its own.

    >>> hinge.sweeps.latin([0.0, 0.0], 1.0)
    latin([0.0, 0.0], 1.0)
    """
    return _between("latin", low, high)


def normal(mean: Any, deviation: Any) -> Drawn:
    """A normal number for each rollout. Of a quaternion, mean 0 and deviation 1 are all orientations alike.

    >>> hinge.sweeps.normal(0.0, 0.1)
    normal(0.0, 0.1)
    """
    made = Drawn("normal", arguments.finite("normal: mean", mean), arguments.finite("normal: deviation", deviation))
    if (made.second < 0.0).any():
        raise SizeError(f"normal: deviation is {made.second.min():g}; it has to be zero or more.")
    return made


def grid(values: Any) -> Listed:
    """The values of a grid, (m, …): several grids are taken each with each.

    >>> hinge.sweeps.grid([1.0, 2.0, 3.0])
    grid([1.0, 2.0, 3.0])
    """
    return _listed("grid", values)


def table(rows: Any) -> Listed:
    """A value for each rollout, (rollouts, …); with grids, for each of those at a point.

    >>> hinge.sweeps.table([[0.0, 0.1], [0.2, 0.3]])
    table([[0.0, 0.1], [0.2, 0.3]])
    """
    return _listed("table", rows)


def _between(law: str, low: Any, high: Any) -> Drawn:
    made = Drawn(law, arguments.finite(f"{law}: low", low), arguments.finite(f"{law}: high", high))
    try:
        below = np.any(made.second < made.first)
    except ValueError:
        raise SizeError(f"{law}: low {made.first.shape} and high {made.second.shape} do not fit together.") from None
    if below:
        raise SizeError(f"{law}: low is above high. Give them the other way round.")
    return made


def _listed(kind: str, values: Any) -> Listed:
    made = arguments.finite(kind, values).astype(float)
    if not made.ndim or not len(made):
        raise SizeError(f"{kind} has shape {made.shape}; give at least one value, (k, …).")
    return Listed(kind, made)
