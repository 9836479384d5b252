"""Outputs that run once more and keep what a walk back over them needs.

Kept are the state at the beginning of every trip of a loop (checkpoints.py), and what its trips read out of memory that
somebody writes later: with both, a trip can be computed again by itself. The loops inside a trip are recorded when it
is walked back over, not before.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

from hinge.graph.checkpoints import State, Trips, forward, recorded
from hinge.graph.expr import Expr, Scalar
from hinge.graph.loops import Scratch, access, reach
from hinge.graph.moving import array, mattering, moving
from hinge.graph.ops import OPS
from hinge.graph.order import STRUCTURE, regions
from hinge.graph.rules import forms, straight
from hinge.graph.streams import Record, Rows


class Recording:
    """Nodes that have run once more, and are ready to be walked back over."""

    def __init__(self, outputs: Sequence[Any], inputs: Sequence[Any], rows: int = 0) -> None:
        self.outputs, self.inputs, self.rows = outputs, inputs, rows
        self.leaves = {x for x in inputs if type(x) is Expr}
        roots = [x.written if isinstance(x, Record) else x for x in outputs]
        self.nodes, self.rules = straight(roots, self.leaves)
        self.read = self._read()
        scalars, records = [x for x in roots if type(x) is Expr], [x for x in outputs if isinstance(x, Record)]
        self.moved, arrays = moving(self.nodes, self.leaves, self.read, self.rules)
        felt, touched = mattering(self.nodes, scalars, [("record", x.name) for x in records], self.rules)
        self.moving, self.arrays = self.moved & felt, arrays & touched
        self.values: dict[Expr, Any] = {}  # what a node is in the run that is being made; itself where it is not here
        self.parts = regions(self.nodes, forms(self.rules), self.leaves)
        if any(node.op in STRUCTURE and node not in self.leaves for node in self.nodes):
            self._begin()

    def value(self, x: Any) -> Any:
        return self.values.get(x, x) if type(x) is Expr else x

    def _read(self) -> dict[Any, int]:
        """The inputs that are read by an index and differentiated by: how many numbers each has."""
        names = {("input", x.args[0]) for x in self.leaves if x.op == "input"}
        names |= {("rows", x.name) for x in self.inputs if isinstance(x, Rows)}
        made: dict[Any, int] = {}
        for node in self.nodes:
            if node.op == "load" and array(node) in names:
                size = node.args[0].size * (self.rows if node.args[0].kind == "rows" else 1)
                made[array(node)] = max(size, made.get(array(node), 0))
        return made

    # running once more

    def _begin(self) -> None:
        self.graph = self.nodes[0].graph
        ends = [node for node in self.nodes if node.op == "end" and node not in self.leaves]
        self.around = {node.args[0]: loop for loop, part in self.parts.items() for node in part if node.op == "end"}
        self.most = {x.args[0]: int((reach(x.args[1]) or (0, self.rows))[1]) for x in ends}
        self.inside = {node: [x for loop in self._within(node.args[0]) for x in self.parts[loop]] for node in ends}
        self.written = {array(x): x.serial for x in self.nodes if x.op in ("store", "fresh")}  # last
        for end in ends:
            for x in self.inside[end]:
                if x.op == "store":
                    self.written[array(x)] = max(self.written[array(x)], end.serial)
        self.memory: dict[Any, Any] = {}  # each scratch, made anew
        self.current: set[Any] = set()  # those that are now as they were when the nodes first ran
        self.at: dict[Any, Scalar] = {}  # the trip that a loop is in
        self.tapes: dict[Expr, Tape] = {}
        self.backs: dict[Expr, Callable[[State], State]] = {}
        self.keeping, self.taping = True, False  # whether loops are recorded, and whether what is read is kept
        self.run(self.parts[None])

    def _within(self, loop: Any) -> Iterator[Any]:
        yield loop
        for node in self.parts[loop]:
            if node.op == "end":
                yield from self._within(node.args[0])

    def run(self, nodes: Sequence[Expr]) -> None:
        """The nodes of a body, or of no loop, on what values there are."""
        for node in nodes:
            op, args = node.op, node.args
            if node in self.leaves or op in ("input", "counter", "carry", "memory", "kept", "until", "write"):
                continue
            if op not in STRUCTURE:
                given = [self.value(x) for x in args]
                same = all(a is b for a, b in zip(given, args, strict=True))
                self.values[node] = node if same else OPS[op](*given)
            elif op == "end":
                self.values[node] = self.loop(node)
            elif op == "last":
                made = self.values[args[0]]
                self.values[node] = node if made is None else made[args[1].args[1]]
            elif op == "load":
                self.values[node] = self.load(node)
            elif op == "fresh" and args[0].kind == "scratch":
                self.memory[array(node)] = Scratch(args[0].size, like=node, zeros=args[0].zeros)
                self.current.add(array(node))
            elif op == "store" and array(node) in self.current:
                self.memory[array(node)][self.value(args[1])] = self.value(args[2])

    def load(self, node: Expr) -> Scalar:
        """What a node reads: out of memory as it is now, or as it was kept."""
        memory, k = node.args[0], self.value(node.args[1])
        if memory.kind == "table":
            return memory.name[k]
        if memory.kind == "rows":
            return self.graph.node("load", memory, k)
        if memory.kind == "input":
            return access(self.graph, replace(memory, sure=False), k)
        name = array(node)
        if name not in self.current and node.serial < self.written[name]:
            return self.tapes[node].get(self.at)
        made = self.memory[name][k]
        if self.taping and node in self.tapes and name in self.current:
            self.tapes[node].put(self.at, made)
        return made

    def loop(self, end: Expr) -> State | None:
        """A loop, which is recorded where that is what is being done; None where it would be what it was."""
        loop, count, until, *rest = end.args
        carried, ahead = rest[: loop.carried], rest[loop.carried : 2 * loop.carried]
        if self.untouched(end):
            return None
        inside = self.parts[loop]
        counters = [x for x in inside if x.op == "counter"]
        check = next((k for k, x in enumerate(inside) if x is until), 0)

        def body(nodes: Sequence[Expr], k: Scalar, state: State, wanted: Sequence[Scalar]) -> list[Scalar]:
            self.at[loop] = k
            self.values.update(zip(carried, state, strict=True))
            self.values.update(dict.fromkeys(counters, k))
            self.run(nodes)
            return [self.value(x) for x in wanted]

        def run(k: Scalar, *state: Scalar) -> list[Scalar]:
            with self.during(keeping=False, taping=True, current=set(self.current)):
                return body(inside, k, state, ahead)

        def stop(k: Scalar, *state: Scalar) -> Scalar:
            with self.during(keeping=False, taping=True, current=set(self.current)):  # who stops has read something too
                return body(inside[:check], k, state, [until.args[1]])[0]

        def pull(k: Scalar, state: State, now: State) -> State:
            with self.during(keeping=True, taping=False, current=set()):
                body(inside, k, state, ())
                return self.pulled_trip(end, now)

        begun = [self.value(x.args[2]) for x in carried]
        trips = Trips(
            end, self.value(count), self.most[loop], run, pull, stop if type(until) is Expr else None,
            lambda: self.during(current=set()), loop.once,
        )  # fmt: skip
        if not self.keeping or self.moving.isdisjoint(self.inside[end]):
            return forward(trips, begun)[0]
        self.put_tapes(end)
        made, self.backs[end] = recorded(trips, begun)
        return made

    def pulled_trip(self, end: Expr, now: State) -> State:
        """What a trip that has just been computed again makes of what is pulled back at its end."""
        raise NotImplementedError

    def untouched(self, end: Expr) -> bool:
        """Whether a loop has nothing in it that moves, no memory, and is given what it was given before."""
        if not self.moving.isdisjoint(self.inside[end]) or any(remembers(x) for x in self.inside[end]):
            return False
        return all(self.value(x) is x for x in self.given(end))

    def given(self, end: Expr) -> list[Expr]:
        """The nodes from outside that a loop begins with, or uses in its body."""
        own = set(self.inside[end])
        found = {x: None for node in (end, *self.inside[end]) if node.op != "input" for x in node.args}
        return sorted((x for x in found if type(x) is Expr and x not in own), key=lambda x: x.serial)

    @contextmanager
    def during(self, **state: Any) -> Iterator[None]:
        """What holds for a while."""
        before = {name: getattr(self, name) for name in state}
        vars(self).update(state)
        yield
        vars(self).update(before)

    # keeping

    def put_tapes(self, end: Expr) -> None:
        """Room for what the trips of a loop read out of memory that will be written again."""
        here = self.current | {array(x) for x in self.inside[end] if x.op == "fresh"}
        for node in self.inside[end]:
            if array(node) in here:
                self.tapes.pop(node, None)
        for home in self._within(end.args[0]):
            kept = [x for x in self.parts[home] if x.op == "load" and self.fades(x)]
            chain = [home]
            while chain[0] != end.args[0]:
                chain.insert(0, self.around[chain[0]])
            if kept:
                room = Scratch(len(kept) * math.prod(self.most[one] for one in chain), like=end, zeros=False)
                radix = [(one, float(self.most[one])) for one in chain]
                self.tapes.update((x, Tape(room, j, len(kept), radix)) for j, x in enumerate(kept))

    def fades(self, load: Expr) -> bool:
        """Whether memory that is now as it was will be written after it is read there."""
        return array(load) in self.current and load.serial < self.written[array(load)]


@dataclass(frozen=True)
class Tape:
    """Where what a node reads is kept: a column of rows, one for each trip of the loops it is in."""

    room: Scratch
    column: int
    width: int
    loops: Sequence[tuple[Any, float]]  # outer ones first, and how many trips each has at the most

    def index(self, at: Mapping[Any, Scalar]) -> Scalar:
        row: Scalar = 0.0
        for loop, most in self.loops:
            row = row * most + at[loop]
        return row * float(self.width) + float(self.column)

    def put(self, at: Mapping[Any, Scalar], x: Scalar) -> None:
        self.room[self.index(at)] = x

    def get(self, at: Mapping[Any, Scalar]) -> Scalar:
        return self.room[self.index(at)]


def remembers(node: Expr) -> bool:
    """Whether a node reads or writes memory of the program's own, or a record."""
    return node.op in ("load", "store", "fresh", "write") and node.args[0].kind in ("scratch", "record")
