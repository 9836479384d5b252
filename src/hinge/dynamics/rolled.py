"""A rolled model: to an algorithm a model like any other, whose stretches are gone through by loops of the graph."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import fields
from typing import Any, NamedTuple

from hinge.dynamics.rolling import Made, Roll, on_rolled
from hinge.dynamics.stretches import CannotRoll, apart, stretches, together
from hinge.dynamics.trials import Learned, same
from hinge.errors import HingeError
from hinge.graph import Expr, Graph, Scalar, Table
from hinge.graph.loops import entry
from hinge.model import Model
from hinge.model.model import TERMS

LONG = 64  # bodies: a robot without a longer stretch is compiled soon enough, and straight-line code is no slower
SHORTEST = 16  # bodies in a stretch of such a robot


class Column:
    """An entry a body, written and read in loops over bodies."""

    def __init__(self, roll: Roll):
        self.roll, self.number = roll, roll.columns
        roll.columns += 1

    def __getitem__(self, i: Any) -> Any:
        return self.roll.get(self.number, i)

    def __setitem__(self, i: Any, thing: Any) -> None:
        self.roll.put(self.number, i, thing)


class Places(NamedTuple):
    """Entries start, start + step, … of an input of that size."""

    name: str
    start: int
    step: int
    size: int


class Entries(Sequence[Any]):
    """A list with an entry a body, read in loops over bodies too: out of tables, or inputs by an index."""

    def __init__(self, roll: Roll, entries: Sequence[Any]):
        self.roll, self.entries = roll, entries
        self.rolled: dict[int, tuple[Any, list[Any]]] = {}

    def __len__(self) -> int:
        return len(self.entries)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.entries)

    def __getitem__(self, i: Any) -> Any:
        if isinstance(i, int | slice):
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
        return forms.pop(), [self.row(values) for values in zip(*parts, strict=True)]

    def row(self, values: Sequence[Scalar]) -> Any:
        first = values[0]
        if all(same(x, first) for x in values):
            return first
        if all(isinstance(x, float) for x in values):
            return self.roll.table(values)
        if not all(type(x) is Expr and x.op == "input" and x.args[0] == first.args[0] for x in values):
            raise CannotRoll("the entries of a list are neither numbers nor inputs")
        at = [x.args[1] for x in values]
        step = at[1] - at[0]
        if step < 1 or at != list(range(at[0], at[-1] + 1, step)):
            raise CannotRoll("the inputs of a stretch do not stand in order")
        return Places(first.args[0], at[0], step, at[-1] + 1)

    def scalar(self, row: Any, k: Scalar) -> Scalar:
        if isinstance(row, Places):
            return entry(self.roll.graph, row.name, row.size, k * float(row.step) + float(row.start))
        return row[k] if isinstance(row, Table) else row


class Rolled(Model):
    """A model whose stretches are gone through by loops of the graph."""

    roll: Roll
    _terms: Mapping[str, Entries]
    _slack: Entries

    @classmethod
    def of(cls, model: Model, roll: Roll) -> Rolled:
        """The same model, of which a run of an algorithm is made."""
        known = {field.name: getattr(model, field.name) for field in fields(model)}
        made = cls(**known | {name: Entries(roll, known[name]) for name in ("joint", "placement", "inertia")})
        bodies = range(len(model.parent))
        vars(made).update(
            leaders=model.leaders, slices=model.slices, nq=model.nq, nv=model.nv, roll=roll,
            _terms={name: Entries(roll, [model._term(i, name) for i in bodies]) for name in TERMS},
            _slack=Entries(roll, [list(model.slack(i)) for i in bodies]),
        )  # fmt: skip
        return made

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

    def joint_label(self, body: Any = None) -> Any:
        return super().joint_label(body if type(body) is int else None)


def worth(model: Model) -> list[range]:
    """The runs of a model that is worth rolling: one that is for the better half stretches; else nothing."""
    runs = stretches(model, SHORTEST) if len(model.parent) > LONG and not model.potentials else []
    return runs if 2 * sum(len(run) for run in runs if len(run) > 1) >= len(model.parent) else []


def rolled(graph: Graph, model: Model, prepare: Callable[[Graph], tuple[Model, Mapping[str, Any]]],
           compute: Callable[[Model, Mapping[str, Any]], Made]) -> Made | None:  # fmt: skip
    """What `compute` makes, rolled, of the model and inputs that `prepare` gives; None where that is not covered."""
    runs = worth(model)
    if not runs:
        return None

    def attempt(graph: Graph, learned: Learned) -> tuple[Roll, Made]:
        model, seen = prepare(graph)
        roll = Roll(graph, model, runs, learned)
        bodies = len(model.parent)
        lists = {n: Entries(roll, x) if isinstance(x, list) and len(x) == bodies else x for n, x in seen.items()}
        return roll, compute(Rolled.of(model, roll), lists)

    try:
        return on_rolled(graph, attempt)
    except (CannotRoll, HingeError):
        return None
