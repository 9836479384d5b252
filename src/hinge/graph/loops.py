"""Loops and memory over scalars: what iterates is written once, and becomes part of a program.

    def newton(k, x):
        return (x - (x * x - a) / (2.0 * x),)

    (root,) = repeat(20, (a,), newton, until=lambda x: less(absolute(x * x - a), 1e-12))

On floats `repeat` is a Python loop. On nodes it is a loop with a carried state: the body is traced once, on nodes that
stand for the state at the beginning of a trip. What in it does not depend on them is computed once, before the loop.
A lane that has arrived keeps its values while others go on, so a state comes out the same in any batch. Loops nest.

A `Table` holds constants, a `Scratch` numbers that the program writes itself; both are read at an index that may be a
loop's counter or any other scalar. Where it is known which numbers an index can be, one that is not in the array is
refused when the program is made; where it is not, reading there gives NaN and writing there does nothing.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from hinge.errors import SizeError, TraceError
from hinge.graph.expr import Expr, Graph, Scalar
from hinge.graph.ops import select


@dataclass(frozen=True)
class Memory:
    """An array of a program: constants of its own, an input that is read by an index, scratch, or rows by step."""

    kind: str  # "table", "input", "scratch", or of rows that are read "rows", of those that are written "record"
    name: Any  # a Table, the name or number of an input or output, or a number that no other scratch has
    size: int  # of rows: how many numbers one has
    sure: bool = False  # of an access: whether its index is known to be in the array
    column: int = 0  # of rows that are read: which number of a row
    zeros: bool = True  # of a scratch: whether it begins as zeros, or is written before it is read


def repeat(count: Scalar, state: Sequence[Scalar], body: Callable[..., Sequence[Scalar]],
           until: Callable[..., Scalar] | None = None) -> tuple[Scalar, ...]:  # fmt: skip
    """The state after `count` trips of state = body(k, *state), or as soon as until(*state) holds.

    `count` is a number, or a node that is the same for all states of a batch.

    >>> from hinge.graph import repeat
    >>> repeat(5, (1.0,), lambda k, x: (2.0 * x,))
    (32.0,)
    """
    if any(hasattr(type(x), "paired") for x in state):  # a kind of number that is made of several scalars
        return next(type(x) for x in state if hasattr(type(x), "paired")).repeated(count, state, body, until)
    now, trips = tuple(state), 0
    if type(count) is not Expr and (count != count or count < 0 or count != int(count)):
        raise SizeError(f"repeat: count is {count}; give a whole number of trips, 0 or more.")
    while True:
        if type(count) is not Expr and trips >= count:
            return now
        node = next((x for x in (count, *now) if type(x) is Expr), None)
        arrived = until(*now) if until is not None and node is None else False
        if node is None and type(arrived) is Expr:
            node = arrived
        if node is not None:
            return traced(node.graph, count, trips, now, body, until)
        if arrived:
            return now
        now, trips = _checked(body(trips, *now), now), trips + 1


def when(condition: Scalar, state: Sequence[Scalar], body: Callable[..., Sequence[Scalar]]) -> tuple[Scalar, ...]:
    """body(*state) where a condition holds, else the state; nothing is computed where no state of a block needs it.

    >>> from hinge.graph import when
    >>> when(True, (3.0,), lambda x: (x + 1.0,))
    (4.0,)
    """
    if type(condition) is not Expr:
        return _checked(body(*state), tuple(state)) if condition else tuple(state)
    if any(hasattr(type(x), "paired") for x in state):
        return repeat(1, state, lambda k, *now: body(*now), lambda *now: select(condition, 0.0, 1.0))
    skipped = select(condition, 0.0, 1.0)
    return traced(condition.graph, 1, 0, tuple(state), lambda k, *now: body(*now), lambda *now: skipped, True)


def _checked(made: Sequence[Scalar], state: Sequence[Scalar]) -> tuple[Scalar, ...]:
    if not isinstance(made, list | tuple) or len(made) != len(state):
        had = f"{len(made)} scalars" if isinstance(made, list | tuple) else type(made).__name__
        raise SizeError(f"repeat: the body gives {had}; the state has {len(state)}. Give them as a tuple.")
    return tuple(made)


def traced(
    graph: Graph, count: Scalar, first: int, state: tuple[Scalar, ...], body: Any, until: Any, once: bool = False
) -> tuple[Scalar, ...]:
    """The loop as nodes, from a body that is a function."""
    loop = Opened(graph, count - first if type(count) is Expr else float(count - first), state, once)
    stop = until(*loop.carried) if until is not None else 0.0
    until_node = graph.node("until", loop.loop, stop) if type(stop) is Expr or stop else 0.0
    made = _checked(body(loop.k if not first else loop.k + float(first), *loop.carried), state)
    return loop.closed(made, until_node)


class Opened:
    """A loop that is being traced: what is made until it is closed is its body.

    Its nodes are `counter`, `carry` for the state in a trip, `end` with what that becomes, and `last` for what is left.
    """

    def __init__(self, graph: Graph, trips: Scalar, state: Sequence[Scalar] = (), once: bool = False) -> None:
        self.graph, self.trips = graph, trips
        self.loop = Loop(graph.serial, trips if type(trips) is float else math.nan, len(state), once)
        self.k = graph.node("counter", self.loop)
        self.carried = tuple(graph.node("carry", self.loop, j, graph.scalar(x)) for j, x in enumerate(state))
        self.before = dict(graph.memories)  # scratch → the node that stands for what is in it now
        for name, version in self.before.items():
            graph.memories[name] = graph.node("memory", self.loop, name, version)
        self.inside = dict(graph.memories)
        graph.open.append(self.k)

    def closed(self, state: Sequence[Scalar] = (), until: Scalar = 0.0) -> tuple[Scalar, ...]:
        """The loop ends here; what is left of its state."""
        graph = self.graph
        graph.open.pop()
        touched = {n: graph.memories[n] for n in self.before if graph.memories[n] is not self.inside[n]}
        following = [graph.scalar(x) for x in state]
        end = graph.node("end", self.loop, self.trips, until, *self.carried, *following, *touched.values())
        graph.memories = self.before | {name: graph.node("kept", end, name) for name in touched}
        return tuple(graph.node("last", end, x) for x in self.carried)


@dataclass(frozen=True)
class Loop:
    """Which loop a node belongs to, its number of trips, NaN where that is not known yet, and how much it carries."""

    serial: int
    trips: float
    carried: int
    once: bool = False  # whether it is taken once or not at all: what only it needs is computed in it, not before


class Table:
    """Constants that are read by an index.

    >>> from hinge.graph import Table
    >>> Table([3.0, 5.0, 7.0])[2]
    7.0
    """

    def __init__(self, values: Sequence[float]) -> None:
        self.values = tuple(float(x) for x in values)

    def __len__(self) -> int:
        return len(self.values)

    def __repr__(self) -> str:
        return f"Table({self.values})"

    def __getitem__(self, k: Scalar) -> Scalar:
        if type(k) is not Expr:
            return self.values[_index("Table", k, len(self))]
        return access(k.graph, Memory("table", self, len(self)), k)


class Scratch:
    """Numbers that a program writes and reads itself; they begin as zeros.

    `like` is any scalar of what is traced; on floats a scratch is a list. One that is made in the body of a loop
    begins anew in every trip, and is gone with the loop. Without `zeros` it is not cleared, for those who write every
    number before they read it.

    >>> from hinge.graph import Scratch
    >>> row = Scratch(3, like=0.0)
    >>> row[1] = 2.5
    >>> row[1], row[0]
    (2.5, 0.0)
    """

    def __new__(cls, size: int, like: Scalar, zeros: bool = True) -> Any:
        return like.scratch(size) if hasattr(type(like), "paired") else super().__new__(cls)

    def __init__(self, size: int, like: Scalar, zeros: bool = True) -> None:
        self.size = size
        self.graph = like.graph if type(like) is Expr else None
        self.values: list[Scalar] = [0.0] * size
        if self.graph is not None:
            self.name = self.graph.serial
            memory = Memory("scratch", self.name, size, zeros=zeros)
            self.graph.memories[self.name] = self.graph.node("fresh", memory, *self.graph.open[-1:])

    def __len__(self) -> int:
        return self.size

    def _now(self) -> Expr:
        """The node that says what is in it."""
        assert self.graph is not None
        if self.name not in self.graph.memories:
            raise TraceError(
                "a Scratch that was made in the body of a loop is used after the loop.\n  Make it before the loop."
            )
        return self.graph.memories[self.name]

    def __getitem__(self, k: Scalar) -> Scalar:
        if self.graph is None:
            return self.values[_index("Scratch", k, self.size)]
        at = k if type(k) is Expr else float(_index("Scratch", k, self.size))
        return access(self.graph, Memory("scratch", self.name, self.size), at, self._now())

    def __setitem__(self, k: Scalar, x: Scalar) -> None:
        if self.graph is None:
            self.values[_index("Scratch", k, self.size)] = x
            return
        at = k if type(k) is Expr else float(_index("Scratch", k, self.size))
        memory = _sure(Memory("scratch", self.name, self.size), at)
        before = self._now()
        self.graph.memories[self.name] = self.graph.node("store", memory, at, self.graph.scalar(x), before)


def entry(graph: Graph, name: str, size: int, k: Scalar) -> Scalar:
    """Entry k of an input array, where k may be a node."""
    return access(graph, Memory("input", name, size), k)


def _index(what: str, k: Any, size: int) -> int:
    """A number as an index, which has to be in the array."""
    n = int(k)
    if n != k or not 0 <= n < size:
        raise SizeError(f"{what}: index {k} of an array of {size} numbers. Give a whole number from 0 to {size - 1}.")
    return n


def access(graph: Graph, memory: Memory, k: Scalar, *version: Expr) -> Scalar:
    """What stands in an array at an index, as a node; `version` says when."""
    if memory.kind == "input" and type(k) is not Expr:
        return graph.input(memory.name, _index(memory.name, k, memory.size))
    return graph.node("load", _sure(memory, k), k, *version)


def _sure(memory: Memory, k: Scalar) -> Memory:
    """An access with its index looked at: refused where it can leave the array, sure where it cannot."""
    span = reach(k)
    if span is None:
        return memory
    low, high = span
    if low < 0 or high > memory.size - 1:
        raise TraceError(
            f"an index runs from {low:g} to {high:g} over an array of {memory.size} numbers.\n"
            "  Change the number of trips, or the length of the array."
        )
    return replace(memory, sure=True)


def reach(x: Scalar) -> tuple[float, float] | None:
    """The least and the greatest number that a whole-number expression of counters can be, where that is known."""
    if type(x) is not Expr:
        return (x, x) if x == int(x) else None
    if x.op == "counter":
        trips = x.args[0].trips
        return None if math.isnan(trips) else (0.0, max(0.0, trips - 1.0))
    if x.op == "load" and x.args[0].kind == "table" and x.args[0].sure:
        values = x.args[0].name.values
        return (min(values), max(values)) if all(v.is_integer() for v in values) else None
    if x.op not in ("add", "sub", "mul", "neg", "min"):
        return None
    spans = [reach(a) for a in x.args]
    if any(span is None for span in spans):
        return None
    (a, b), (c, d) = spans[0], spans[-1]  # type: ignore[misc]
    corners = {"add": (a + c, b + d), "sub": (a - d, b - c), "neg": (-b, -a), "mul": (a * c, a * d, b * c, b * d),
               "min": (min(a, c), min(b, d))}  # fmt: skip
    return min(corners[x.op]), max(corners[x.op])
