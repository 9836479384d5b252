"""Scalar expressions: interned nodes of a graph that simplify themselves while they are made.

    graph = Graph()
    x, y = graph.input("q", 0), graph.input("q", 1)
    sin(x) * y + 0.0 * x          # the same node as sin(x) * y

A constant is a plain float, so a node is never constant: what folds to a number *is* a number. Two equal
expressions of one graph are one object. An algorithm written over scalars runs on nodes unchanged.
"""

from __future__ import annotations

import functools
import math
from collections import defaultdict
from collections.abc import Callable
from typing import Any

import numpy as np

from hinge.errors import TraceError

Scalar = Any
HOOKS: dict[str, Callable[..., Any]] = {}  # functions of modules that import this one; graph/operators.py adds them


class TooLong(Exception):
    """A graph has grown beyond the bound it was given."""


class Graph:
    """The nodes made so far, each once. `order.Program` is what is kept of a finished one."""

    __slots__ = ("_most", "_serial", "_table", "memories", "once", "open", "paper", "rules", "straight")

    def __init__(self, most: int = 0, paper: bool = False) -> None:
        """An empty graph; one that would grow beyond `most` nodes, where that is given, raises TooLong.

        What is made on `paper` is a formula that someone will read: it holds for states and masses in general.
        """
        self.paper = paper
        self._table = defaultdict[str, dict[tuple[Any, ...], Expr]](dict)  # operation → arguments → node
        self._serial = 0
        self._most = most or math.inf
        self.memories: dict[Any, Expr] = {}  # each scratch of what is traced, and the node that says what is in it now
        self.open: list[Expr] = []  # the counters of the loops that are being traced
        self.straight = False  # whether what could be a loop or a straight line is to be a line, to be differentiated
        self.once: list[range] = []  # serials of derivatives that have none themselves: see rules.py
        self.rules: dict[Expr, Any] = {}  # how nodes are differentiated that are known better: see rules.py

    def __len__(self) -> int:
        return self._serial

    def node(self, op: str, *args: Scalar) -> Expr:
        """The node `op(*args)`, unsimplified; made only if it is not there yet."""
        nodes = self._table[op]
        found = nodes.get(args)
        if found is None:
            self._serial = serial = self._serial + 1
            if serial > self._most:
                raise TooLong
            found = nodes[args] = Expr(self, op, args, serial)
        return found

    def has(self, op: str, *args: Scalar) -> bool:
        """Whether `op(*args)` has been made already."""
        return args in self._table[op]

    def input(self, name: str, index: int) -> Expr:
        """Entry `index` of the input array `name`."""
        return self.node("input", name, index)

    @property
    def serial(self) -> int:
        """How many nodes have been made."""
        return self._serial

    def scalar(self, x: Scalar) -> Scalar:
        """A scalar as an argument of a node: a node of this graph, or a float."""
        return x if type(x) is Expr else float(x)

    def let_go(self) -> None:
        """Let go of the nodes: each is gone with its last user, and no collector has to find out."""
        self._table.clear()
        self.rules.clear()


class Expr:
    """A node: an operation and its arguments, which are nodes or floats."""

    __slots__ = ("args", "graph", "op", "serial")

    def __init__(self, graph: Graph, op: str, args: tuple[Scalar, ...], serial: int):
        self.graph, self.op, self.args, self.serial = graph, op, args, serial

    def __repr__(self) -> str:
        return str(HOOKS["text"](self))

    def __reduce__(self) -> tuple[Any, ...]:
        return _named, (self.op, self.args)

    def __bool__(self) -> bool:
        raise TraceError(
            f"the traced value {self!r} has no truth value: its number is not known yet.\n"
            "  Write select(less(a, b), this, that) instead of an if."
        )

    def _compared(self, other: object) -> bool:
        raise TraceError(
            f"the traced value {self!r} cannot be compared: its number is not known yet.\n"
            "  Write less(a, b), and select(less(a, b), this, that) instead of an if."
        )

    __lt__ = __le__ = __gt__ = __ge__ = _compared

    def __float__(self) -> float:
        raise TraceError(f"the traced value {self!r} is not a number: it is known only when the kernel runs.")

    def __index__(self) -> int:
        raise TraceError(f"the traced value {self!r} cannot be an index: its number is not known yet.")

    # NumPy: a universal function of a node is a node, and of an array of objects asks them for methods of its name

    def __array_ufunc__(self, ufunc: Any, method: str, *given: Any, **options: Any) -> Any:
        made = HOOKS["ufunc"](ufunc, method, *given, **options)
        return made if any(isinstance(x, np.ndarray) for x in given) else made.item()

    def __getattr__(self, name: str) -> Any:
        function = HOOKS["method"](name)
        if function is None:
            raise AttributeError(f"a traced value has no {name!r}")
        return functools.partial(function, self)

    # arithmetic

    def __neg__(self) -> Scalar:
        return _neg(self)

    def __add__(self, other: Scalar) -> Scalar:
        if type(other) is Expr:
            return _add(self, other)
        c = other if type(other) is float else _number(other)
        return NotImplemented if c is None else _add_constant(self, c)

    __radd__ = __add__

    def __sub__(self, other: Scalar) -> Scalar:
        if type(other) is Expr:
            return _sub(self, other)
        c = _number(other)
        return NotImplemented if c is None else _add_constant(self, -c)

    def __rsub__(self, other: Scalar) -> Scalar:
        c = _number(other)
        return NotImplemented if c is None else _constant_minus(c, self)

    def __mul__(self, other: Scalar) -> Scalar:
        if type(other) is Expr:
            return _mul(self, other)
        c = other if type(other) is float else _number(other)
        return NotImplemented if c is None else _scale(self, c)

    __rmul__ = __mul__

    def __truediv__(self, other: Scalar) -> Scalar:
        if type(other) is Expr:
            return 1.0 if self is other else self.graph.node("div", self, other)
        c = _number(other)
        return NotImplemented if c is None else _scale(self, 1.0 / c if c else math.nan)

    def __rtruediv__(self, other: Scalar) -> Scalar:
        c = _number(other)
        return NotImplemented if c is None else self.graph.node("div", c, self) if c else 0.0

    def __pow__(self, exponent: Scalar) -> Scalar:
        known = type(exponent) is Expr or _number(exponent) is not None
        return HOOKS["power"](self, exponent) if known else NotImplemented

    def __rpow__(self, base: Scalar) -> Scalar:
        return NotImplemented if _number(base) is None else HOOKS["power"](base, self)

    def __abs__(self) -> Scalar:
        return self.graph.node("abs", self)

    def __floor__(self) -> Scalar:
        return self.graph.node("floor", self)

    def __floordiv__(self, other: Scalar) -> Scalar:
        return math.floor(self / other)

    def __mod__(self, other: Scalar) -> Scalar:
        return self - other * math.floor(self / other)


NAMED = Graph(paper=True)  # the graph of symbols that have a name, which those of a robot are


def on_paper(x: object) -> bool:
    """Whether a scalar is part of a formula that someone will read."""
    return type(x) is Expr and x.graph.paper


def _named(op: str, args: tuple[Scalar, ...]) -> Expr:
    """A node that was kept on disk or sent to another process: it is made of named symbols."""
    return NAMED.node(op, *args)


def _number(value: object) -> float | None:
    if type(value) is float:
        return value
    return float(value) if isinstance(value, int | float | np.floating | np.integer) else None


# The rules by which nodes simplify while they are made. Signs drift outward, into the sums that absorb them.


def _neg(a: Expr) -> Scalar:
    if a.op == "neg":
        return a.args[0]
    if a.op == "sub" and a.graph.has("sub", a.args[1], a.args[0]):
        return a.graph.node("sub", a.args[1], a.args[0])
    return a.graph.node("neg", a)


def _add_constant(a: Expr, c: float) -> Scalar:
    if c == 0.0:
        return a
    if a.op == "neg":
        return _constant_minus(c, a.args[0])
    if a.op == "add" and type(a.args[1]) is float:
        return _add_constant(a.args[0], a.args[1] + c)
    if a.op == "sub" and type(a.args[0]) is float:
        return _constant_minus(a.args[0] + c, a.args[1])
    return a.graph.node("add", a, c)


def _constant_minus(c: float, a: Expr) -> Scalar:
    if c == 0.0:
        return _neg(a)
    if a.op == "neg":
        return _add_constant(a.args[0], c)
    if a.op == "add" and type(a.args[1]) is float:
        return _constant_minus(c - a.args[1], a.args[0])
    if a.op == "sub" and type(a.args[0]) is float:
        return _add_constant(a.args[1], c - a.args[0])
    return a.graph.node("sub", c, a)


def _add(a: Expr, b: Expr) -> Scalar:
    if b.op == "neg":
        return _sub(a, b.args[0])
    if a.op == "neg":
        return _sub(b, a.args[0])
    if b.op == "sub" and b.args[1] is a:  # a + (b - a) = b: what a joint hands on is the force given to it
        return b.args[0]
    if a.op == "sub" and a.args[1] is b:
        return a.args[0]
    return a.graph.node("add", a, b) if a.serial < b.serial else a.graph.node("add", b, a)


def _sub(a: Expr, b: Expr) -> Scalar:
    if a is b:
        return 0.0
    if b.op == "neg":
        return _add(a, b.args[0])
    if a.op == "neg":
        return _neg_of(_add(a.args[0], b))
    if a.graph.has("sub", b, a):
        return _neg(a.graph.node("sub", b, a))
    return a.graph.node("sub", a, b)


def _scale(a: Expr, c: float) -> Scalar:
    if c == 0.0:
        return 0.0
    if c == 1.0:
        return a
    if c == -1.0:
        return _neg(a)
    if a.op == "neg":
        return _neg_of(_scale(a.args[0], c))
    if a.op == "mul" and type(a.args[1]) is float:
        return _scale(a.args[0], _unit(a.args[1] * c))
    if c < 0.0:  # one node for both signs
        return _neg(a.graph.node("mul", a, -c))
    return a.graph.node("mul", a, c)


def _unit(c: float) -> float:
    """c, or one where rounding is all that is between them: (1/d) d = 1 for numbers too."""
    return math.copysign(1.0, c) if abs(abs(c) - 1.0) < 3e-16 else c


def _mul(a: Expr, b: Expr) -> Scalar:
    if a.op == "neg":
        return _neg_of(_mul(a.args[0], b))
    if b.op == "neg":
        return _neg_of(_mul(a, b.args[0]))
    undone = _undone_division(a, b)
    if undone is not None:
        return undone
    return a.graph.node("mul", a, b) if a.serial < b.serial else a.graph.node("mul", b, a)


def _undone_division(a: Expr, b: Expr) -> Scalar:
    """(1/d) d = 1 and (x (1/d)) d = x: an articulated inertia then has exact zeros along its joint's axes."""
    for x, d in ((a, b), (b, a)):
        if x.op == "div" and x.args[1] is d:
            return x.args[0]
        if x.op == "mul":
            for y, inverse in (x.args, x.args[::-1]):
                if type(inverse) is Expr and inverse.op == "div" and inverse.args[1] is d and inverse.args[0] == 1.0:
                    return y
    return None


def _neg_of(a: Scalar) -> Scalar:
    return _neg(a) if type(a) is Expr else -a
