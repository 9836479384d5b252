"""Rows by step: an input that is read at row k, and a record of which row k is written.

    forces, log = Rows(graph, "tau", 7), Record(graph, "log", 14)

    def step(k, *state):
        log[k] = state
        return moved(state, forces[k])

How many rows there are is known when the program is called: as many as the arrays have that it is given, (…, rows,
width). A number of a row may be any scalar. Where there is no such row, reading gives NaN and writing does nothing. A
state that has arrived (`until`), or that a `when` leaves out, writes nothing, as in a Scratch. Rows that nobody writes
stay as they are.
"""

from __future__ import annotations

from collections.abc import Sequence

from hinge.errors import SizeError, TraceError
from hinge.graph.expr import Expr, Graph, Scalar
from hinge.graph.loops import Memory


class Rows:
    """An input of which a state has any number of rows; one is read as `width` scalars.

    >>> from hinge.graph import Graph, Rows
    >>> graph = Graph()
    >>> len(Rows(graph, "tau", 7)[graph.input("k", 0)])
    7
    """

    def __init__(self, graph: Graph, name: str, width: int) -> None:
        self.graph, self.name, self.width = graph, name, width

    def __getitem__(self, k: Scalar) -> list[Scalar]:
        at = _number(self.name, k)
        return [self.graph.node("load", Memory("rows", self.name, self.width, column=j), at) for j in range(self.width)]


class Record:
    """An output of which a state has any number of rows; one is written as `width` scalars.

    It is made before the loops that write it, and given to `order` among the outputs.

    >>> from hinge.graph import Graph, Record
    >>> graph = Graph()
    >>> log = Record(graph, "log", 2)
    >>> log[graph.input("k", 0)] = 1.0, 2.0
    """

    def __init__(self, graph: Graph, name: str, width: int) -> None:
        self.graph, self.name, self.width = graph, name, width
        self.memory = Memory("record", name, width)
        if graph.open:
            raise TraceError(f"Record: {name!r} is made in the body of a loop.\n  Make it before the loop.")
        if name in graph.memories:
            raise TraceError(f"Record: there is a record {name!r} already.\n  Write to that one, or change the name.")
        graph.memories[name] = graph.node("fresh", self.memory)

    @property
    def written(self) -> Expr:
        """The node that says what has been written."""
        return self.graph.memories[self.name]

    def __setitem__(self, k: Scalar, values: Sequence[Scalar]) -> None:
        row = [self.graph.scalar(x) for x in values]
        if len(row) != self.width:
            raise SizeError(f"Record: {len(row)} scalars are given; a row of {self.name!r} has {self.width}.")
        at = _number(self.name, k)
        self.graph.memories[self.name] = self.graph.node("write", self.memory, at, *row, self.written)


def _number(name: str, k: Scalar) -> Scalar:
    """The number of a row: a node, or a whole number."""
    if type(k) is Expr:
        return k
    if k != k or k < 0 or k != int(k):
        raise SizeError(f"row {k} of {name!r}: give a whole number, 0 or more.")
    return float(k)
