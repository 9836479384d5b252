"""Long robots: bodies that are alike are traced once, and become a loop of the program.

A stretch is a run of consecutive bodies whose joints, placements and inertias have one form and differ in nothing but
numbers. To an algorithm a rolled model is a model: its columns, its lists and its loops over bodies are as they were,
but in a stretch the body of the Python loop runs once, on a body whose number is the counter of a loop in the graph.

    joint[i], inertia[i], q[i], …     numbers that differ over a stretch are read out of tables, inputs by an index
    v[i], IA[p], …                    entries of a column are taken apart into scalars; those that differ from body
                                      to body are kept in one memory, and the others stay constants

Which scalars differ is known only when the algorithm has run. So it is run on trial until nothing new is learned, and
then once more for good: a rolled trace is short.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import fields
from functools import lru_cache
from typing import Any, NamedTuple

from hinge.dynamics.solve import LDL, plus_diagonal
from hinge.errors import HingeError
from hinge.graph import Expr, Graph, Scalar, Scratch, Table
from hinge.graph.loops import Opened, entry
from hinge.model import Model
from hinge.model.model import TERMS

LONG = 24  # bodies in a stretch that is worth a loop
ABREAST = 8  # bodies in a trip of a loop: their sines do not wait for each other, and what they hand on is in registers
TRIALS = 12  # what has not settled by then is not rolled


class CannotRoll(Exception):
    """What an algorithm does with a body cannot be done for all of a stretch at once."""


# things taken apart into scalars


@lru_cache
def _parts(kind: type) -> tuple[str, ...]:
    """The names of the slots an object of that class has."""
    return tuple(name for base in reversed(kind.__mro__) for name in base.__dict__.get("__slots__", ()))


def apart(thing: Any, scalars: list[Scalar]) -> Any:
    """The form of a thing made of scalars, which are appended in order."""
    kind = type(thing)
    if kind is Expr or isinstance(thing, float):
        scalars.append(thing)
        return None
    if kind in (int, bool, str):
        return thing
    if isinstance(thing, tuple | list):
        return kind, tuple([apart(x, scalars) for x in thing])
    names = _parts(kind) or tuple(vars(thing)) if hasattr(thing, "__dict__") or _parts(kind) else None
    if names is None:
        raise CannotRoll(f"a {kind.__name__} is not made of scalars")
    return kind, names, tuple([apart(getattr(thing, name), scalars) for name in names])


def together(form: Any, scalars: Iterator[Scalar]) -> Any:
    """The thing of that form with these scalars."""
    if form is None:
        return next(scalars)
    if not isinstance(form, tuple):
        return form
    kind, *names, parts = form
    made = [together(part, scalars) for part in parts]
    if not names:
        return kind(*made) if hasattr(kind, "_fields") else kind(made)
    thing = object.__new__(kind)
    for name, part in zip(names[0], made, strict=True):
        object.__setattr__(thing, name, part)
    return thing


# which bodies are alike


def stretches(model: Model, least: int) -> list[range]:
    """The bodies in runs: each stretch of at least that many that are alike, and every other body by itself."""
    runs: list[list[int]] = [[0]]
    before: Any = None
    for i, _ in model.outward():
        kind = _kind(model, i)
        if kind is not None and kind == before:
            runs[-1].append(i)
        else:
            runs.append([i])
        before = kind
    made = []
    for run in runs:
        whole = len(run) - len(run) % ABREAST if len(run) >= least else 0
        made += [range(run[0], run[0] + whole)] if whole else []
        made += [range(i, i + 1) for i in run[whole:]]
    return made


def _kind(model: Model, i: int) -> Any:
    """What bodies of one stretch have in common; None of a body that is like no other.

    A joint that feels no inertia of its own body may be one that moves nothing, which is found out for each by itself.
    """
    scalars: list[Scalar] = []
    terms = [model._term(i, name) for name in TERMS]
    try:
        form = apart([model.joint[i], model.placement[i], model.inertia[i], terms, list(model.slack(i))], scalars)
        if i in model.follows or any(type(x) is Expr for x in scalars):
            return None
        S = model.joint[i].axes(model.joint[i].neutral())
        LDL(plus_diagonal(S.T @ (model.inertia[i] @ S), model.armature(i)), model.blame(i))
    except (CannotRoll, HingeError):
        return None
    return form


# a body whose number is a counter


class Body:
    """A body of a stretch in a trip of its loop, or the parent of one: number = slope × a node + start."""

    def __init__(self, node: Expr, slope: int, start: int, runs: tuple[int, ...], own: bool):
        self.node, self.slope, self.start, self.runs, self.own = node, slope, start, runs, own

    def scaled(self, width: int, offset: int) -> Scalar:
        """Its number times a width, and an offset."""
        return self.node * float(self.slope * width) + float(self.start * width + offset)


class Roll:
    """One run of an algorithm on a rolled model: its graph, and what is in the columns."""

    def __init__(self, graph: Graph, model: Model, runs: Sequence[range], learned: Learned):
        self.graph, self.model, self.runs, self.learned = graph, model, runs, learned
        self.run_of = [r for r, bodies in enumerate(runs) for _ in bodies]
        self.columns = 0
        self.clock = 0  # loops and single bodies gone through
        self.loop: Opened | None = None
        self.recent: dict[Slot, dict[Any, Scalar]] = {}  # what was read and written in this trip, and where
        self.forms: dict[tuple[int, int], Any] = {}  # (column, run) → form of what is there
        self.held: dict[tuple[int, int], list[Any]] = {}  # and its scalars: numbers, tables, nodes, or None in memory
        self.kept: dict[tuple[int, int], Any] = {}  # of a single body: the thing itself
        self.read: dict[Expr, Slot] = {}
        self.written: dict[Slot, list[Scalar]] = {}
        self.linked: set[tuple[int, tuple[int, ...]]] = set()  # runs that a column is read from or written to at once
        size = len(learned.places) and (max(learned.places.values()) + 1) * len(model.parent)
        self.width = size // len(model.parent)
        self.memory = Scratch(size, graph.input("q", 0), zeros=False) if size else None

    # going through the bodies

    def walk(self, runs: Sequence[range], outward: bool) -> Iterator[tuple[Any, Any]]:
        for bodies in runs:
            self.clock += 1
            if len(bodies) == 1:
                yield bodies[0], self.model.parent[bodies[0]]
                continue
            loop = self.loop = Opened(self.graph, float(len(bodies) // ABREAST))
            self.recent = {}
            order = bodies if outward else bodies[::-1]
            for at in range(ABREAST):
                yield self.trip(order[at::ABREAST], loop.k)
            loop.closed()
            self.loop, self.recent = None, {}

    def trip(self, bodies: range, k: Expr) -> tuple[Body, Any]:
        """The body that stands for these, one a trip, and its parent."""
        parents = [self.model.parent[i] for i in bodies]
        runs = tuple(sorted({self.run_of[p] for p in parents}))
        body = Body(k, bodies.step, bodies[0], (self.run_of[bodies[0]],), True)
        if len(set(parents)) == 1:
            return body, parents[0]
        if all(p == i - 1 for i, p in zip(bodies, parents, strict=True)):
            return body, Body(k, bodies.step, bodies[0] - 1, runs, False)
        return body, Body(Table([float(p) for p in parents])[k], 1, 0, runs, False)

    # what columns hold

    def get(self, column: int, i: Any) -> Any:
        runs = self.runs_of(i)
        forms = {self.forms[column, r] for r in runs if (column, r) in self.forms}
        if len(forms) != 1:
            raise CannotRoll("a column has unlike things, or nothing")
        if len(runs) == 1 and (column, runs[0]) in self.kept:
            return self.kept[column, runs[0]]
        if len(runs) > 1:
            self.linked.add((column, runs))
        (form,) = forms
        rows = [self.held[column, r] for r in runs if (column, r) in self.held]
        return together(form, iter([self.value(column, j, i, runs, [row[j] for row in rows])
                                    for j in range(len(rows[0]))]))  # fmt: skip

    def value(self, column: int, j: int, i: Any, runs: tuple[int, ...], held: list[Any]) -> Scalar:
        """Scalar j of what a column has for a body."""
        first = held[0]
        if any(self.learned.differs(column, r, j) for r in runs):
            first = None
        elif all(isinstance(x, float) and same(x, first) for x in held):
            return first
        if len(runs) == 1 and isinstance(first, Table) and (type(i) is int or i.own):
            return first[i - self.runs[runs[0]][0] if type(i) is int else i.scaled(1, -self.runs[runs[0]][0])]
        if len(runs) == 1 and type(first) is Expr:
            return first
        for r in runs:
            self.learned.differ(column, r, j)
        return self.load(Slot(column, j), i)

    def put(self, column: int, i: Any, thing: Any) -> None:
        runs = self.runs_of(i)
        scalars: list[Scalar] = []
        form = apart(thing, scalars)
        if type(i) is not int and not i.own:
            self.linked.add((column, runs))
        for r in runs:
            if self.forms.setdefault((column, r), form) != form:
                if self.loop is None and type(i) is int and len(self.runs[r]) == 1:
                    self.forms[column, r] = form
                    self.held.pop((column, r), None)
                else:
                    raise CannotRoll("a column has unlike things")
        memory = [j for j in range(len(scalars)) if self.keep(column, j, i, runs, scalars[j])]
        for j in memory:
            self.store(Slot(column, j), i, scalars[j])
        for r in runs:
            self.kept.pop((column, r), None)
            if not memory and type(i) is int and len(self.runs[r]) == 1:
                self.kept[column, r] = thing

    def keep(self, column: int, j: int, i: Any, runs: tuple[int, ...], x: Scalar) -> bool:
        """Whether scalar j of what goes into a column has to be kept in memory; else it is held here."""
        if any(self.learned.differs(column, r, j) for r in runs):
            for r in runs:
                self.learned.differ(column, r, j)
                self.hold(column, r, j, None)
            return True
        alone = len(runs) == 1 and (type(i) is int or i.own)
        held: Any = float(x) if isinstance(x, float) else None
        if type(x) is Expr and alone:
            held = x if self.loop is None else self.table(x, i)
        ok = held is not None
        for r in runs:
            row = self.held.get((column, r), [])
            old = row[j] if j < len(row) else None
            settled = old is None or same(old, held) or (self.loop is None and len(self.runs[r]) == 1)
            if type(i) is int and self.loop is not None:
                settled = old is not None and same(old, held)
            ok = ok and settled
            self.hold(column, r, j, held)
        if not ok:
            for r in runs:
                self.learned.differ(column, r, j)
        return not ok

    def hold(self, column: int, r: int, j: int, x: Any) -> None:
        row = self.held.setdefault((column, r), [])
        row.extend([None] * (j + 1 - len(row)))
        row[j] = x

    def table(self, x: Expr, i: Any) -> Table | None:
        """The table that a node is read from, where it is read for the body of this trip."""
        if type(i) is int or x.op != "load" or x.args[0].kind != "table":
            return None
        bodies = self.runs[i.runs[0]]
        same_place = x.args[1] is i.scaled(1, -bodies[0])
        return x.args[0].name if same_place else None

    def runs_of(self, i: Any) -> tuple[int, ...]:
        return (self.run_of[i],) if type(i) is int else i.runs

    # memory

    def load(self, slot: Slot, i: Any) -> Scalar:
        recent, key = self.recent.setdefault(slot, {}), self.key(i)
        if key not in recent:
            recent[key] = self.fetched(slot, i)
        return recent[key]

    def fetched(self, slot: Slot, i: Any) -> Scalar:
        place = self.learned.places.get(slot)
        if place is None or self.memory is None:  # on trial, or of no use
            node = self.graph.node("input", "on trial", (slot, self.key(i), len(self.written.get(slot, ()))))
            self.read[node] = slot
            self.learned.used(slot, self.clock)
            return node
        return self.memory[self.at(place, i)]

    def store(self, slot: Slot, i: Any, x: Scalar) -> None:
        self.written.setdefault(slot, []).append(x)
        self.learned.used(slot, self.clock)
        recent, key = self.recent.setdefault(slot, {}), self.key(i)
        for other in [other for other in recent if not self.apart(other, key)]:
            del recent[other]
        recent[key] = x
        place = self.learned.places.get(slot)
        if place is not None and self.memory is not None:
            self.memory[self.at(place, i)] = x

    def key(self, i: Any) -> tuple[Any, int, int]:
        return (None, 0, i) if type(i) is int else (i.node, i.slope, i.start)

    def apart(self, a: tuple[Any, int, int], b: tuple[Any, int, int]) -> bool:
        """Whether two bodies are surely not one."""
        return a[:2] == b[:2] and a[2] != b[2]

    def at(self, place: int, i: Any) -> Scalar:
        return i * self.width + place if type(i) is int else i.scaled(self.width, place)


class Made(NamedTuple):
    """What an algorithm gives: its results as flat lists, the pivots of equations it solved, and margins."""

    results: list[list[Scalar]]
    pivots: Sequence[Scalar]
    margins: Sequence[Scalar]

    @property
    def roots(self) -> list[Scalar]:
        return [x for part in (*self.results, self.pivots, self.margins) for x in part]


class Slot(NamedTuple):
    """Scalar j of the things in a column."""

    column: int
    scalar: int


class Learned:
    """What trials have taught of an algorithm on a model: which scalars differ, and where each is kept."""

    def __init__(self) -> None:
        self._differ: set[tuple[int, int, int]] = set()
        self.places: dict[Slot, int] = {}
        self.forget()

    def forget(self) -> None:
        """A trial begins."""
        self.new = False
        self.lives: dict[Slot, list[int]] = {}

    def differ(self, column: int, run: int, j: int) -> None:
        if (column, run, j) not in self._differ:
            self._differ.add((column, run, j))
            self.new = True

    def differs(self, column: int, run: int, j: int) -> bool:
        return (column, run, j) in self._differ

    def used(self, slot: Slot, clock: int) -> None:
        life = self.lives.setdefault(slot, [clock, clock])
        life[1] = max(life[1], clock)

    def look(self, roll: Roll) -> None:
        """What a run that has ended says: runs that are read from at once have to agree, or be in memory."""
        for column, runs in roll.linked:
            rows = [roll.held.get((column, r), []) for r in runs]
            for j in range(max(map(len, rows))):
                held = [row[j] if j < len(row) else None for row in rows]
                if not all(isinstance(x, float) and same(x, held[0]) for x in held):
                    for r in runs:
                        self.differ(column, r, j)

    def settle(self, roll: Roll, roots: Sequence[Scalar]) -> None:
        """A place in memory for every scalar that the results depend on; it is used again when it is dead."""
        needed: set[Slot] = set()
        seen: set[int] = set()
        stack = [x for x in roots if type(x) is Expr]
        while stack:
            node = stack.pop()
            if node.serial in seen:
                continue
            seen.add(node.serial)
            slot = roll.read.get(node)
            if slot is None:
                stack += [a for a in node.args if type(a) is Expr]
            elif slot not in needed:
                needed.add(slot)
                stack += [x for x in roll.written.get(slot, ()) if type(x) is Expr]
        free: list[tuple[int, int]] = []  # (when its last user was done, place)
        for slot in sorted(needed, key=lambda slot: (self.lives[slot][0], slot)):
            born, died = self.lives[slot]
            old = next((one for one in free if one[0] < born), None)
            if old is not None:
                free.remove(old)
            self.places[slot] = old[1] if old else len(set(self.places.values()))
            free.append((died, self.places[slot]))


def same(a: Any, b: Any) -> bool:
    """Whether two scalars are one: the same node or table, or the same number."""
    return a is b or (isinstance(a, float) and isinstance(b, float) and a == b)


# the model as an algorithm sees it


class Column:
    """An entry a body, written and read in loops over bodies."""

    def __init__(self, roll: Roll):
        self.roll, self.number = roll, roll.columns
        roll.columns += 1

    def __getitem__(self, i: Any) -> Any:
        return self.roll.get(self.number, i)

    def __setitem__(self, i: Any, thing: Any) -> None:
        self.roll.put(self.number, i, thing)


class Entries(Sequence[Any]):
    """A list with an entry a body, read in loops over bodies too."""

    def __init__(self, roll: Roll, entries: Sequence[Any]):
        self.roll, self.entries = roll, entries
        self.rolled: dict[int, tuple[Any, list[Any]]] = {}

    def __len__(self) -> int:
        return len(self.entries)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.entries)

    def __getitem__(self, i: Any) -> Any:
        if type(i) is not Body:
            return self.entries[i]
        if not i.own:
            raise CannotRoll("the numbers of a parent are asked for")
        run = i.runs[0]
        bodies = self.roll.runs[run]
        if run not in self.rolled:
            self.rolled[run] = self.over(bodies)
        form, rows = self.rolled[run]
        return together(form, iter([self.scalar(row, i.scaled(1, -bodies[0])) for row in rows]))

    def over(self, bodies: range) -> tuple[Any, list[Any]]:
        """The form that the entries of a stretch have, and its scalars: numbers, tables, or places in an input."""
        parts: list[list[Scalar]] = [[] for _ in bodies]
        forms = {apart(self.entries[i], row) for i, row in zip(bodies, parts, strict=True)}
        if len(forms) > 1:
            raise CannotRoll("the entries of a list are unlike")
        return forms.pop(), [_row(list(row)) for row in zip(*parts, strict=True)]

    def scalar(self, row: Any, k: Scalar) -> Scalar:
        if isinstance(row, Affine):
            return entry(self.roll.graph, row.name, row.last + 1, k * float(row.step) + float(row.start))
        return row[k] if isinstance(row, Table) else row


class Affine(NamedTuple):
    """Entries start, start + step, … of an input, up to the last."""

    name: str
    start: int
    step: int
    last: int


def _row(values: list[Scalar]) -> Any:
    """One scalar of each body of a stretch, as one thing that can be read by an index."""
    if all(same(x, values[0]) for x in values):
        return values[0]
    if all(isinstance(x, float) for x in values):
        return Table(values)
    if not all(type(x) is Expr and x.op == "input" and x.args[0] == values[0].args[0] for x in values):
        raise CannotRoll("the entries of a list are neither numbers nor inputs")
    at = [x.args[1] for x in values]
    step = at[1] - at[0]
    if at != [at[0] + step * k for k in range(len(at))] or step < 1:
        raise CannotRoll("the inputs of a stretch do not stand in order")
    return Affine(values[0].args[0], at[0], step, at[-1])


class Rolled(Model):
    """A model whose stretches are gone through by loops of the graph."""

    roll: Roll

    @classmethod
    def of(cls, model: Model, roll: Roll) -> Rolled:
        given = {f.name: getattr(model, f.name) for f in fields(model)}
        for name in ("joint", "placement", "inertia"):
            given[name] = Entries(roll, given[name])
        made = cls(**given)
        vars(made).update(leaders=model.leaders, slices=model.slices, nq=model.nq, nv=model.nv)
        bodies = range(len(model.parent))
        terms = {name: Entries(roll, [model._term(i, name) for i in bodies]) for name in TERMS}
        vars(made).update(roll=roll, _terms=terms, _slack=Entries(roll, [list(model.slack(i)) for i in bodies]))
        return made

    _terms: Mapping[str, Entries]
    _slack: Entries

    def outward(self) -> Iterator[tuple[Any, Any]]:
        return self.roll.walk(self.roll.runs[1:], True)

    def inward(self) -> Iterator[tuple[Any, Any]]:
        return self.roll.walk(self.roll.runs[:0:-1], False)

    def per_body(self, n: int) -> list[Any]:
        return [Column(self.roll) for _ in range(n)]

    def by_body(self, entries: Sequence[Any]) -> Any:
        return Entries(self.roll, entries)

    def _term(self, i: Any, name: str) -> Any:
        return self._terms[name][i]

    def slack(self, i: Any) -> Any:
        return self._slack[i]

    def blame(self, body: Any = None) -> Any:
        return super().blame(body if type(body) is int else None)


def worth(model: Model) -> list[range] | None:
    """The runs of a model that is worth rolling: one of which stretches make up the better half."""
    if len(model.parent) <= LONG:
        return None
    runs = stretches(model, LONG)
    return runs if 2 * sum(len(run) for run in runs if len(run) > 1) >= len(model.parent) else None


def on_rolled(graph: Graph, runs: Sequence[range], prepare: Callable[[Graph], tuple[Model, Mapping[str, Any]]],
              compute: Callable[..., Made]) -> Made | None:  # fmt: skip
    """What `compute` makes of a rolled model and of what `prepare` gives in a graph; None where that cannot be."""
    learned = Learned()

    def attempt(graph: Graph) -> tuple[Roll, Made]:
        model, seen = prepare(graph)
        roll = Roll(graph, model, runs, learned)
        bodies = len(model.parent)
        lists = {n: Entries(roll, x) if isinstance(x, list) and len(x) == bodies else x for n, x in seen.items()}
        return roll, compute(Rolled.of(model, roll), lists)

    try:
        for _ in range(TRIALS):
            learned.forget()
            roll, made = attempt(Graph())
            learned.look(roll)
            if not learned.new:
                break
        else:
            return None
    except (CannotRoll, HingeError):
        return None
    learned.settle(roll, made.roots)
    return attempt(graph)[1]
