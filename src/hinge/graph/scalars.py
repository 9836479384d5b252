"""What is written over scalars of any kind: floats, arrays, nodes, dual numbers, symbols of SymPy.

The functions of the table work on all of them. Here is what they make together: powers, sums, and whole expressions
with other values put in.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from hinge.errors import NotCovered
from hinge.graph.expr import Expr, Graph, Scalar
from hinge.graph.functions import pow
from hinge.graph.loops import Scratch, access, repeat, traced
from hinge.graph.moving import array, mattering, moving
from hinge.graph.ops import OPS, absolute, less, maximum, select, sqrt
from hinge.graph.order import STRUCTURE, Program, ends, live, order, regions
from hinge.graph.streams import Record, Rows

PRODUCTS = 64  # a whole power up to this is made of products


def power(x: Scalar, exponent: Scalar) -> Scalar:
    """x to a power: products where the exponent is a small whole number, a root where it is a half.

    Other halves are powers, not x sqrt(x): the derivative of that is 0 times infinity at zero.
    """
    n = constant(exponent)
    if n is None:
        return pow(x, exponent)
    if n < 0.0:
        return 1.0 / power(x, -n) if n >= -PRODUCTS and n * 2.0 == int(n * 2.0) else pow(x, n)
    if n == 0.5:
        return sqrt(x)
    if n > PRODUCTS or n != int(n):
        return pow(x, n)
    made: Scalar = None
    square, left = x, int(n)
    while left:
        if left % 2:
            made = square if made is None else made * square
        left //= 2
        square = square * square if left else square
    return made if made is not None else np.ones_like(x) if isinstance(x, np.ndarray) else 1.0


def is_zero(x: Scalar) -> bool:
    """Whether a scalar is the number zero: a node never is."""
    return type(x) is float and x == 0.0


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


def evaluated(scalars: Sequence[Scalar], known: Mapping[Any, Any]) -> list[Any]:
    """Several scalars with values put in, at once.

    `known` may also say of `Rows` what row k is, a function of k, and of a `Record` what becomes of row k when it is
    written, a function of k and of the row; what no such function takes is not written again.
    """
    nodes = live([x for x in scalars if type(x) is Expr], leaves=known)
    if any(node.op in STRUCTURE and node not in known for node in nodes):
        values = _Again(nodes, known, scalars).values
    else:
        values = dict(known)
        for node in nodes:
            if node.op == "input":
                values.setdefault(node, node)
            elif node not in values:
                values[node] = OPS[node.op](*(values[a] if type(a) is Expr else a for a in node.args))
    return [values[x] if type(x) is Expr else x for x in scalars]


def replay(program: Program, rows: Sequence[Sequence[Scalar]]) -> list[list[Scalar]]:
    """The outputs of a program whose inputs are scalars of any kind: run on nodes, it becomes part of their graph."""
    return _Replay(program, rows).outputs()


def unrolled(program: Program) -> Program:
    """The program with its loops written out, where their trips are known and none ends early."""
    graph = Graph()
    rows = [[graph.input(one.name, k) for k in range(one.size)] for one in program.inputs]
    made = _Replay(program, rows, unroll=True).outputs()
    outputs = [(one.name, one.shape, entries) for one, entries in zip(program.outputs, made, strict=True)]
    return order(program.inputs, outputs, contract=False)


class _Replay:
    """A program that runs on scalars of any kind."""

    def __init__(self, program: Program, rows: Sequence[Sequence[Scalar]], unroll: bool = False) -> None:
        for name, _ in program.streams.values():
            raise NotCovered(
                f"a program with rows by step, {name!r}, does not run on symbols.\n  Compile it, and give it arrays."
            )
        self.program, self.rows, self.ends, self.unroll = program, rows, ends(program), unroll
        self.values: list[Scalar] = [None] * len(program.code)
        self.arrays: dict[Any, Any] = {}
        self.like = next((x for row in rows for x in row if type(x) is not float), 0.0)
        self.region(0, len(program.code))

    def outputs(self) -> list[list[Scalar]]:
        return [[self.value(e) for e in output.entries] for output in self.program.outputs]

    def value(self, a: Any) -> Scalar:
        return self.values[a] if type(a) is int else a

    def region(self, start: int, stop: int) -> None:
        n, code, values = start, self.program.code, self.values
        while n < stop:
            op, args = code[n]
            if op == "input":
                values[n] = self.rows[args[0]][args[1]]
            elif op == "loop":
                self.loop(n, self.ends[n])
                n = self.ends[n]
            elif op in STRUCTURE:
                self.structure(n, op, args)
            else:
                values[n] = OPS[op](*map(self.value, args))
            n += 1

    def structure(self, n: int, op: str, args: tuple[Any, ...]) -> None:
        values = self.values
        if op == "last":
            values[n] = values[args[1]]
        elif op == "fresh":
            self.arrays[args[0].name] = Scratch(args[0].size, like=self.like)
        elif op == "store":
            self.arrays[args[0].name][self.value(args[1])] = self.value(args[2])
        elif op == "load":
            memory, k = args[0], self.value(args[1])
            if memory.kind == "input":
                values[n] = chosen(self.rows[memory.name], k)
            else:
                values[n] = (memory.name if memory.kind == "table" else self.arrays[memory.name])[k]

    def loop(self, start: int, end: int) -> None:
        code, values = self.program.code, self.values
        span = range(start, end)
        carried = [n for n in span if code[n][0] == "carry" and code[n][1][0] == start]
        counters = [n for n in span if code[n][0] == "counter" and code[n][1][0] == start]
        check = next((n for n in span if code[n][0] == "until" and code[n][1][0] == start), start)

        def put(k: Scalar, state: Sequence[Scalar]) -> None:
            for n, x in (*zip(carried, state, strict=True), *((n, k) for n in counters)):
                values[n] = x

        def body(k: Scalar, *state: Scalar) -> list[Scalar]:
            put(k, state)
            self.region(start + 1, end)
            return [self.value(a) for a in code[end][1][1:]]

        def stop(*state: Scalar) -> Scalar:
            put(0.0, state)
            self.region(start + 1, check)
            return self.value(code[check][1][1])

        made = begun = [self.value(code[n][1][1]) for n in carried]
        trips = self.value(code[start][1][0])
        if self.unroll and type(trips) is float and check == start:
            for k in range(int(trips)):
                made = body(float(k), *made)
        else:
            made = list(repeat(trips, begun, body, stop if check != start else None))
        for n, x in zip(carried, made, strict=True):
            values[n] = x


def chosen(row: Sequence[Scalar], k: Scalar) -> Scalar:
    """Entry k of a row of scalars, where k may be a node; NaN where there is none."""
    if type(k) is not Expr:
        return row[int(k)] if 0 <= k < len(row) else float("nan")
    made: Scalar = float("nan")
    for j, x in enumerate(row):
        here = select(less(k, j + 1.0), select(less(k, float(j)), 0.0, 1.0), 0.0)
        made = select(here, x, made)
    return made


class _Again:
    """Nodes with loops and memory among them, run once more on other values.

    Of dual numbers, what does not matter to the rates of the last nodes runs on real parts alone.
    """

    def __init__(self, nodes: Sequence[Expr], known: Mapping[Any, Any], last: Sequence[Scalar]) -> None:
        self.known = {x for x in known if type(x) is Expr}
        self.values: dict[Any, Any] = {x: known[x] for x in self.known}
        self.regions = regions(nodes, {}, self.known)
        self.streams = {("rows" if isinstance(x, Rows) else "record", x.name): f for x, f in known.items()
                        if isinstance(x, Rows | Record)}  # fmt: skip
        self.arrays: dict[Any, Any] = {}
        self.like: Any = next((x for x in self.values.values() if type(x) is not float), 0.0)
        self.inputs = self._inputs(nodes)
        self.touched = self._touched(nodes)
        arrays = [*self.streams, *(("input", name) for name in self.inputs)]
        self.matters, self.side_by_side = mattering(nodes, last, self.streams)
        self.moving = moving(nodes, self.known, arrays)[0] & self.matters
        self.run(None)

    def _inputs(self, nodes: Sequence[Expr]) -> dict[str, tuple[list[Any], Any]]:
        """The inputs that are read by an index and have values put in: all their numbers, and memory with them."""
        names = {x.args[0] for x in self.known if x.op == "input"}
        sizes: dict[str, int] = {}
        for node in nodes:
            if node.op == "load" and node.args[0].kind == "input" and node.args[0].name in names:
                sizes[node.args[0].name] = max(node.args[0].size, sizes.get(node.args[0].name, 0))
        made: dict[str, tuple[list[Any], Any]] = {}
        for name, size in sizes.items():
            given = [nodes[0].graph.input(name, k) for k in range(size)]
            row = [self.values.get(x, x) for x in given]
            memory: Any = Scratch(size, like=self.like) if self.graph is not None else None
            for k, x in enumerate(row if memory is not None else ()):
                memory[k] = x
            made[name] = row, memory
        return made

    @property
    def plain(self) -> Any:
        """What the values are, or the parts of dual ones: a node if there is one."""
        parts = (self.like.real, self.like.dual) if hasattr(type(self.like), "paired") else (self.like,)
        return next((x for x in parts if type(x) is Expr), parts[0])

    @property
    def graph(self) -> Graph | None:
        """The graph that the values belong to, if they do."""
        return self.plain.graph if type(self.plain) is Expr else None

    def _touched(self, nodes: Sequence[Expr]) -> set[Expr]:
        """What is made anew: what depends on a value that is put in, and all that is done to an array that does."""
        found, arrays, before = set(self.known), set[Any](), -1
        while len(found) + len(arrays) > before:
            before = len(found) + len(arrays)
            for node in nodes:
                name = _array(node)
                if name in arrays or self._put_in(node) or any(a in found for a in node.args if type(a) is Expr):
                    found.add(node)
                if node in found and node.op == "store":
                    arrays.add(name)
                if node in found and node.op == "end" and node not in self.known:  # a loop runs again as a whole
                    found.update(self.regions[node.args[0]])
        return found

    def _put_in(self, node: Expr) -> bool:
        """Whether a node reads an input, or rows, or writes a record, that something is put in for."""
        if node.op == "load" and node.args[0].kind == "input":
            return node.args[0].name in self.inputs
        return node.op in ("load", "write") and array(node) in self.streams

    def value(self, a: Any) -> Any:
        return self.values[a] if type(a) is Expr else a

    def run(self, loop: Any) -> None:
        for node in self.regions[loop]:
            if node not in self.known:
                self.values[node] = self.made(node) if node in self.touched else node

    def made(self, node: Expr) -> Any:
        op, args = node.op, node.args
        if op == "last":
            return self.values[args[0]][args[1].args[1]]
        if op == "end":
            return self.loop(*args)
        if op == "fresh" and args[0].kind == "scratch":
            like = self.like if array(node) in self.side_by_side else self.plain
            self.arrays[args[0].name] = Scratch(args[0].size, like=like)
        elif op == "load" and args[0].name in self.arrays:
            return self.arrays[args[0].name][_real(self.value(args[1]))]
        elif op == "load":
            return self.load(node)
        elif op == "store":
            x = self.value(args[2])
            self.arrays[args[0].name][_real(self.value(args[1]))] = x if array(node) in self.side_by_side else _real(x)
        elif op == "write" and array(node) in self.streams:
            self.streams[array(node)](_real(self.value(args[1])), [self.value(x) for x in args[2:-1]])
        elif op not in STRUCTURE:
            given = map(self.value, args)
            return OPS[op](*(given if node in self.matters else map(_real, given)))
        return None

    def load(self, node: Expr) -> Scalar:
        """What stands at another index in an array that is as it was, or has values put in."""
        memory, k, *version = node.args
        k = _real(self.value(k))
        if memory.kind == "table":
            return memory.name[k]
        if memory.kind == "input" and memory.name in self.inputs:
            row, kept = self.inputs[memory.name]
            return chosen(row, k) if kept is None or type(k) is not Expr else kept[k]
        while version and version[0].op == "memory":
            version = [version[0].args[2]]
        if memory.kind == "rows":
            put_in = self.streams.get(array(node))
            return put_in(k)[memory.column] if put_in else node.graph.node("load", memory, k)
        return access(node.graph, replace(memory, sure=False), k, *version)

    def loop(self, loop: Any, trips: Scalar, until: Scalar, *rest: Any) -> Any:
        """A loop on other values: its state, and what it takes in, may be another kind of scalar."""
        carried, following = rest[: loop.carried], rest[loop.carried : 2 * loop.carried]
        inside = self.regions[loop]
        check = next((k for k, node in enumerate(inside) if node is until), 0)

        def put(k: Scalar, state: Sequence[Scalar]) -> None:
            for node in inside:
                if node.op == "counter":
                    self.values[node] = k
            self.values.update(zip(carried, state, strict=True))

        def part(nodes: Sequence[Expr]) -> None:
            for node in nodes:
                if node.op not in ("counter", "carry"):
                    self.values[node] = self.made(node)

        def body(k: Scalar, *state: Scalar) -> list[Scalar]:
            put(k, state)
            part(inside)
            return [self.value(x) for x in following]

        def stop(*state: Scalar) -> Scalar:
            put(0.0, state)
            part(inside[:check])
            return self.value(until.args[1])

        def taken(count: Scalar, state: Sequence[Scalar], body: Any, stop: Any) -> tuple[Scalar, ...]:
            if self.graph is None:
                return repeat(count, state, body, stop)
            return traced(self.graph, count, 0, tuple(state), body, stop, loop.once)

        count, stopped = _real(self.value(trips)), stop if type(until) is Expr else None
        begun = [self.value(x.args[2]) for x in carried]
        if hasattr(type(self.like), "paired"):
            return type(self.like).repeated(count, begun, body, stopped, taken, [x in self.moving for x in carried])
        return taken(count, begun, body, stopped)


def _real(x: Scalar) -> Scalar:
    """A count or an index, which does not move."""
    return x.real if hasattr(type(x), "paired") else x


def _array(node: Expr) -> Any:
    """The scratch array that a node is about, if it is about one."""
    if node.op in ("memory", "kept"):
        return node.args[1]
    return node.args[0].name if node.op in ("fresh", "load", "store") and node.args[0].kind == "scratch" else None


def total(terms: Iterable[Scalar]) -> Scalar:
    """The sum of some scalars."""
    made: Scalar = 0.0
    for term in terms:
        made = made + term
    return made


def largest(values: Iterable[Scalar]) -> Scalar:
    """The largest size among some scalars; NaN if any is."""
    made: Scalar = 0.0
    for x in values:
        made = maximum(made, absolute(x))
    return made


def inner(a: Iterable[Scalar], b: Iterable[Scalar]) -> Scalar:
    """The sum of the products of scalars, pair by pair."""
    return total(x * y for x, y in zip(a, b, strict=True))
