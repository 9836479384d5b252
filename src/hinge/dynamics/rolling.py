"""Long robots: bodies that are alike are traced once, and become a loop of the program.

A stretch is a run of consecutive bodies whose joints, placements and inertias have one form and differ in nothing but
numbers. In it the body of an algorithm's loop runs once, on a body whose number is the counter of a loop of the graph
(rolled.py has the model as the algorithm sees it). What goes into a column is taken apart into scalars. A scalar is

    held       as long as it is one number for all bodies of a run, or numbers that are known: a table
    carried    from trip to trip, where a trip reads what the one before it wrote: v[p] and v[i] of a chain
    kept       in memory, one array for all columns, where neither will do

Which of them is known only when the algorithm has run. So it runs on trial until nothing new is learned, and then once
more for good: a rolled trace is short.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from itertools import count
from typing import Any, NamedTuple

from hinge.dynamics.stretches import CannotRoll, apart, together
from hinge.dynamics.trials import Carry, Learned, Slot, same
from hinge.graph import Expr, Graph, Scalar, Scratch, Table
from hinge.graph.loops import Opened
from hinge.model import Model


class Body:
    """A body of a stretch in a trip of its loop, or the parent of one: its number is slope × node + start."""

    def __init__(self, k: Expr, numbers: Sequence[int], runs: tuple[int, ...], own: bool, table: bool = False):
        self.k, self.numbers, self.runs, self.own = k, numbers, runs, own
        self.node: Expr = Table([float(n) for n in numbers])[k] if table else k
        self.slope, self.start = (1, 0) if table else (numbers[1] - numbers[0], numbers[0])

    def scaled(self, width: int, offset: int) -> Scalar:
        """Its number times a width, and an offset."""
        return self.node * float(self.slope * width) + float(self.start * width + offset)

    @property
    def key(self) -> tuple[Any, int, int]:
        return self.node, self.slope, self.start


def key(i: Any) -> tuple[Any, int, int]:
    """A name for a body that two have only where they are one."""
    return (None, 0, i) if type(i) is int else i.key


class Roll:
    """One run of an algorithm on a rolled model: its graph, and what is in the columns."""

    def __init__(self, graph: Graph, model: Model, runs: Sequence[range], learned: Learned):
        self.graph, self.model, self.runs, self.learned = graph, model, runs, learned
        self.run_of = [r for r, bodies in enumerate(runs) for _ in bodies]
        self.columns = 0
        self.into: Any = (
            None  # in a chain: where a trip finds what the one before has left, and where it leaves its own
        )
        self.out: Any = None
        self.clock = self.tick = 0  # loops and single bodies gone through; accesses since
        self.loop: Opened | None = None
        self.forms: dict[tuple[int, int], Any] = {}  # (column, run) → the form of what is there
        self.things: dict[tuple[int, int], Any] = {}  # of a single body: the thing itself
        self.held: dict[tuple[Slot, int], Any] = {}  # (slot, run) → number, table or node; None in memory
        self.last: dict[tuple[Slot, int], Scalar] = {}  # (slot, body) → what a loop that carried it has left there
        self.stale: set[tuple[Slot, int]] = set()  # runs with entries that were carried and not kept
        self.recent: dict[Slot, dict[Any, Scalar]] = {}  # what was read and written in this trip, and where
        self.asked: set[tuple[Slot, Any]] = set()  # what was read out of memory in this trip
        self.carried: dict[tuple[Slot, Any], Carry] = {}  # by where it is written
        self.read: dict[Expr, Slot] = {}  # on trial: what a node stands for
        self.following: dict[Expr, Scalar] = {}  # what a carried node becomes
        self.carry_of: dict[Expr, Carry] = {}
        self.written: dict[Slot, list[Scalar]] = {}
        self.linked: set[tuple[Slot, tuple[int, ...]]] = set()  # runs that were read from when not all were there yet
        self.tables: dict[tuple[float, ...], Table] = {}
        self.width = learned.width
        size = self.width * len(model.parent)
        self.memory = Scratch(size, graph.input("q", 0), zeros=False) if size else None

    # going through the bodies

    def walk(self, runs: Sequence[range], outward: bool) -> Iterator[tuple[Any, Any]]:
        for bodies in runs:
            self.clock, self.tick = self.clock + 1, 0
            if len(bodies) == 1:
                yield bodies[0], self.model.parent[bodies[0]]
            else:
                yield self.opened(bodies if outward else bodies[::-1])
                self.closed()

    def opened(self, bodies: range) -> tuple[Body, Any]:
        """A loop over a stretch begins: the body of a trip, and its parent."""
        parents = [self.model.parent[i] for i in bodies]
        chain = all(p == i - 1 for i, p in zip(bodies, parents, strict=True))
        wanted = self.learned.carries_of(self.clock)
        first = parents[0] if bodies.step > 0 else bodies[0]
        state = [self.number(c.slot, first if c.body < 0 else c.body) for c in wanted]
        loop = self.loop = Opened(self.graph, float(len(bodies)), state)
        runs = tuple(sorted({self.run_of[p] for p in parents}))
        i = Body(loop.k, bodies, (self.run_of[bodies[0]],), True)
        p: Any = Body(loop.k, parents, runs, False, not chain) if len(set(parents)) > 1 else parents[0]
        into, out = (p, i) if bodies.step > 0 else (i, p)
        self.into, self.out = (key(into), key(out)) if chain else (None, None)
        self.ending = bodies[-1] if bodies.step > 0 else parents[-1]
        self.recent, self.asked = {}, set()
        self.carried = {(c.slot, self.out if c.body < 0 else key(c.body)): c for c in wanted}
        for c, node in zip(wanted, loop.carried, strict=True):
            self.recent.setdefault(c.slot, {})[self.into if c.body < 0 else key(c.body)] = node
            self.carry_of[node] = c
            if c.body >= 0:
                self.things.pop((c.slot.column, self.run_of[c.body]), None)
        return i, p

    def closed(self) -> None:
        """A loop ends. What was read where the trip before has written is better carried."""
        assert self.loop is not None
        for slot, where in self.asked:
            to = self.out if where == self.into else where if where[0] is None else None
            if to is not None and (to in self.recent[slot]) and (to != where or self.wrote(slot, to)):
                self.learned.carry(Carry(self.clock, slot, -1 if where == self.into else where[2]))
        following = [self.recent[slot][to] for slot, to in self.carried]
        left = self.loop.closed(following)
        self.following.update(zip(self.loop.carried, following, strict=True))
        for c, x in zip(self.carried.values(), left, strict=True):
            body = self.ending if c.body < 0 else c.body
            self.last[c.slot, body] = x
            self.things.pop((c.slot.column, self.run_of[body]), None)
        self.loop, self.recent, self.carried = None, {}, {}

    def wrote(self, slot: Slot, where: Any) -> bool:
        """Whether what this trip knows of a place is no longer what it read there."""
        return self.recent[slot][where] not in self.read

    # columns

    def get(self, column: int, i: Any) -> Any:
        """What a column has for a body."""
        runs = self.runs_of(i)
        there = [r for r in runs if (column, r) in self.forms]
        forms = {self.forms[column, r] for r in there}
        if len(forms) != 1:
            raise CannotRoll("a column has unlike things, or nothing")
        if len(runs) == 1 and (column, runs[0]) in self.things:
            return self.things[column, runs[0]]
        (form,) = forms
        return together(form, (self.number(Slot(column, j), i, there) for j in count()))

    def number(self, slot: Slot, i: Any, there: Sequence[int] | None = None) -> Scalar:
        """One scalar of what a column has for a body, of which the runs it may be in that have something are known."""
        runs = self.runs_of(i)
        if key(i) in self.recent.get(slot, ()):
            return self.recent[slot][key(i)]
        if type(i) is int and (slot, i) in self.last:
            return self.last[slot, i]
        for r in runs:
            if (slot, r) in self.stale:
                self.learned.want(slot)
        if any(self.learned.differs(slot, r) for r in runs):
            return self.in_memory(slot, i)
        held = [self.held.get((slot, r)) for r in (runs if there is None else there)]
        if all(isinstance(x, float) and same(x, held[0]) for x in held):
            if len(held) < len(runs):
                self.linked.add((slot, runs))
            return held[0]
        if len(runs) == 1 and type(held[0]) is Expr:
            return held[0]
        if len(held) == len(runs) and all(isinstance(x, float | Table) for x in held):
            return self.known(slot, i)
        return self.in_memory(slot, i)

    def known(self, slot: Slot, i: Any) -> Scalar:
        """A number that is known for each body."""

        def of(n: int) -> float:
            x = self.held[slot, self.run_of[n]]
            return float(x[n - self.runs[self.run_of[n]][0]]) if isinstance(x, Table) else x

        if type(i) is int:
            return of(i)
        if i.own:
            return self.held[slot, i.runs[0]][i.scaled(1, -self.runs[i.runs[0]][0])]
        return self.table([of(n) for n in i.numbers])[i.k]

    def put(self, column: int, i: Any, thing: Any) -> None:
        """Give a body an entry of a column."""
        runs = self.runs_of(i)
        scalars: list[Scalar] = []
        form = apart(thing, scalars)
        alone = type(i) is int and len(self.runs[runs[0]]) == 1 and self.loop is None
        for r in runs:
            if alone:
                self.forms[column, r] = form
            if self.forms.setdefault((column, r), form) != form:
                raise CannotRoll("a column has unlike things")
            self.things.pop((column, r), None)
        held = [self.hold(Slot(column, j), i, x, alone) for j, x in enumerate(scalars)]
        if alone and all(held):
            self.things[column, runs[0]] = thing

    def hold(self, slot: Slot, i: Any, x: Scalar, alone: bool) -> bool:
        """Take in a scalar; whether it is held and not in memory."""
        runs, own = self.runs_of(i), type(i) is not int and i.own
        if self.loop is not None and same(self.recent.get(slot, {}).get(key(i)), x):
            return False
        for old in [old for old in self.last if old[0] == slot and (old[1] == i or self.run_of[old[1]] in runs)]:
            del self.last[old]
        if (slot, key(i)) in self.carried and not own and not self.learned.wanted(slot):
            self.stale |= {(slot, r) for r in runs}
            self.recent[slot][key(i)] = x
            return False
        what = x if isinstance(x, float) or (alone and type(x) is Expr) else self.table_behind(x, i) if own else None
        ok = what is not None and not any(self.learned.differs(slot, r) for r in runs)
        if not alone:
            ok = ok and all(same(self.held.get((slot, r), what if own else None), what) for r in runs)
            self.recent.setdefault(slot, {})
        if not ok:
            what = None
            for r in runs:
                self.learned.differ(slot, r)
        for r in runs:
            self.held[slot, r] = what
        if not ok:
            self.store(slot, i, x)
        elif self.loop is not None:
            self.recent[slot][key(i)] = x
        return ok

    def table_behind(self, x: Scalar, i: Body) -> Table | None:
        """The table of a node that is read for the body of this trip, or is the negative of such a one."""
        if x.op == "neg":
            behind = self.table_behind(x.args[0], i)
            return behind and self.table([-v for v in behind.values])
        here = x.op == "load" and x.args[0].kind == "table"
        return x.args[0].name if here and x.args[1] is i.scaled(1, -self.runs[i.runs[0]][0]) else None

    def table(self, values: Sequence[float]) -> Table:
        """A table of these values, the same for the same ones."""
        return self.tables.setdefault(tuple(values), Table(values))

    def runs_of(self, i: Any) -> tuple[int, ...]:
        return (self.run_of[i],) if type(i) is int else i.runs

    # memory

    def in_memory(self, slot: Slot, i: Any) -> Scalar:
        """A scalar that is kept in memory for every body that this one can be."""
        for r in self.runs_of(i):
            self.learned.differ(slot, r)
        self.use(slot, i)
        place = self.learned.places.get(slot)
        if place is None or self.memory is None:  # on trial, or of no use
            node = self.graph.node("input", "on trial", (slot, key(i), len(self.written.get(slot, ()))))
            self.read[node] = slot
        else:
            node = self.memory[self.at(place, i)]
        if self.loop is not None:
            self.asked.add((slot, key(i)))
            self.recent.setdefault(slot, {})[key(i)] = node
            self.read.setdefault(node, slot)
        return node

    def store(self, slot: Slot, i: Any, x: Scalar) -> None:
        self.written.setdefault(slot, []).append(x)
        self.use(slot, i)
        if self.loop is not None:
            recent, here = self.recent[slot], key(i)
            for other in [k for k in recent if k[:2] != here[:2]]:  # which may be the same body
                del recent[other]
            recent[here] = x
        place = self.learned.places.get(slot)
        if place is not None and self.memory is not None:
            self.memory[self.at(place, i)] = x

    def use(self, slot: Slot, i: Any) -> None:
        """Remember when a place in memory is needed; only a trip's own body is done with when the trip is."""
        self.tick += 1
        own = type(i) is int or i.own
        for r in self.runs_of(i):
            start, end = (self.tick, self.tick) if own else (0, math.inf)
            self.learned.use(slot, r, (self.clock, start), (self.clock, end))

    def at(self, place: int, i: Any) -> Scalar:
        return i * self.width + place if type(i) is int else i.scaled(self.width, place)


class Made(NamedTuple):
    """What an algorithm gives: its results as flat lists, the pivots of equations it solved, and margins."""

    results: list[list[Scalar]]
    pivots: Sequence[Scalar]
    margins: Sequence[Scalar]


TRIALS = 20  # what has not settled by then is not rolled


def on_rolled(graph: Graph, attempt: Callable[[Graph, Learned], tuple[Roll, Made]]) -> Made | None:
    """What an algorithm makes on a rolled model, after as many trials as it takes; None where it cannot be rolled."""
    learned = Learned()
    for _ in range(TRIALS):
        learned.begin()
        roll, made = attempt(Graph(), learned)
        learned.look(roll)
        if not learned.new:
            learned.settle(roll, [x for part in (*made.results, made.pivots, made.margins) for x in part])
            return attempt(graph, learned)[1]
    return None
