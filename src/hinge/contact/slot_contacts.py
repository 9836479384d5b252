"""Contacts of a state as memory that loops over slots read: their rows, and what these are at.

Tangents are kept times their friction, as friction cones want them. A law says what x of a contact is, and how stiff it
is there.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from functools import partial

from hinge.contact.cones import FAR, Map, Switch
from hinge.contact.slot_rows import Column, directions, limbs, shares, slot_rows
from hinge.contact.slots import Slots, Touch
from hinge.graph import Scalar, Scratch, Table, absolute, inner, less, minimum, select, total, when
from hinge.graph.scalars import chosen, largest
from hinge.integrators.steps import Flat
from hinge.model import Model
from hinge.model.symbols import unknown
from hinge.spatial import Force

TINY = 1e-200  # no speed or acceleration


class SlotContacts(ABC):
    """The contacts of a state with so many rows each; x of a contact is J a less what that is wanted to be."""

    def __init__(self, model: Model, slots: Slots, axes: Sequence[Column], pairs: Pairs, size: int, like: Scalar):
        self.model, self.slots, self.axes, self._pairs, self.like = model, slots, axes, pairs, like
        self.nv, self.size, self.room = model.nv, size, slots.room if size else 0
        self._J = Scratch(self.room * size * self.nv + 1, like, zeros=False)
        self._x, self._step, self._D = (Scratch(self.room * n + 1, like, zeros=False) for n in (size, size, 1))
        self.limbs = limbs(model)
        self._felt = Scratch(self.room * len(self.limbs) + 1, like, zeros=False)

    @abstractmethod
    def stiffness(self, k: Scalar, x: Sequence[Scalar]) -> Map:
        """How stiff contact k is at x."""

    @abstractmethod
    def switches(self, k: Scalar, x: Sequence[Scalar]) -> list[Switch]:
        """What is zero where contact k at x begins to open, stick or slide."""

    @abstractmethod
    def begins(self, k: Scalar) -> tuple[Scalar, Scalar]:
        """Below which gap (m) contact k acts, and how much its bodies give way (1/kg)."""

    def place(self, k: Scalar, touch: Touch, pair: Mapping[str, Sequence[Scalar]]) -> None:
        """Keep the rows of contact k, for the limbs that feel it."""
        forces = [force * f for force, f in zip(directions(touch, self.size), pair["friction"], strict=False)]
        for g, limb in enumerate(self.limbs):
            own = [column for column in self.axes if column.v in limb]
            share = shares(own, *pair["bodies"])
            self._felt[k * float(len(self.limbs)) + float(g)] = largest(share)
            when(less(0.5, largest(share)), (), partial(self._placed, k, limb, own, share, forces))

    def _placed(
        self, k: Scalar, limb: Sequence[int], own: Sequence[Column], share: Sequence[Scalar], forces: Sequence[Force]
    ) -> tuple[Scalar, ...]:
        for r, row in enumerate(slot_rows(own, share, forces)):
            for j in limb:
                self._J[self._entry(k, r, j)] = row[j]
        return ()

    def put(self, k: Scalar, x: Sequence[Scalar]) -> None:
        """Say where contact k is."""
        for r, y in enumerate(x):
            self._x[self._at(k, r)] = y

    def each(self, state: Sequence[Scalar], body: Callable[..., Sequence[Scalar]]) -> list[Scalar]:
        """state = body(k, *state) for every contact k."""
        return self.slots.each(state, body) if self.room else list(state)

    def _at(self, k: Scalar, r: int) -> Scalar:
        return k * float(self.size) + float(r)

    def _entry(self, k: Scalar, r: int, j: int) -> Scalar:
        return k * float(self.size * self.nv) + float(r * self.nv + j)

    def row(self, k: Scalar, r: int) -> list[Scalar]:
        """Row r of contact k."""
        felt = {j: self.felt(k, g) for g, limb in enumerate(self.limbs) for j in limb}
        return [select(felt[j], self._J[self._entry(k, r, j)], 0.0) for j in range(self.nv)]

    def column(self, k: Scalar, j: int) -> list[Scalar]:
        """What velocity j, of a limb that feels it, is in the rows of contact k."""
        return [self._J[self._entry(k, r, j)] for r in range(self.size)]

    def felt(self, k: Scalar, limb: int) -> Scalar:
        """Whether the velocities of a limb have anything to do with contact k."""
        return less(0.5, self._felt[k * float(len(self.limbs)) + float(limb)])

    def times(self, k: Scalar, s: Flat) -> list[Scalar]:
        """J s of contact k."""
        made: list[Scalar] = [0.0 * s[0]] * self.size
        for g, limb in enumerate(self.limbs):

            def more(*now: Scalar, limb: Sequence[int] = limb) -> list[Scalar]:
                J = [self.column(k, j) for j in limb]
                return [x + inner(row, [s[j] for j in limb]) for x, row in zip(now, zip(*J, strict=True), strict=True)]

            made = list(when(self.felt(k, g), made, more))
        return made

    def pushed(self, k: Scalar, f: Sequence[Scalar], force: Sequence[Scalar]) -> list[Scalar]:
        """force - J^T f of contact k."""
        made = list(force)
        for g, limb in enumerate(self.limbs):

            def less_it(*now: Scalar, limb: Sequence[int] = limb) -> list[Scalar]:
                return [x - inner(self.column(k, j), f) for j, x in zip(limb, now, strict=True)]

            for j, x in zip(limb, when(self.felt(k, g), [made[j] for j in limb], less_it), strict=True):
                made[j] = x
        return made

    def aim(self, s: Flat) -> None:
        """Note how contacts change along s."""

        def aimed(k: Scalar) -> list[Scalar]:
            for r, x in enumerate(self.times(k, s)):
                self._step[self._at(k, r)] = x
            return []

        self.each([], aimed)

    def x(self, k: Scalar) -> list[Scalar]:
        """Where contact k is."""
        return [self._x[self._at(k, r)] for r in range(self.size)]

    def change(self, k: Scalar) -> list[Scalar]:
        """How it changes along what was aimed at."""
        return [self._step[self._at(k, r)] for r in range(self.size)]

    def ahead(self, k: Scalar, alpha: Scalar) -> list[Scalar]:
        """Where it is so far along that."""
        return [a + alpha * b for a, b in zip(self.x(k), self.change(k), strict=True)]

    def go(self, k: Scalar, alpha: Scalar) -> list[Scalar]:
        """Take it there."""
        x = self.ahead(k, alpha)
        self.put(k, x)
        return x

    def margin(self, a: Flat) -> Scalar:
        """How far x of contacts is from where one opens, sticks or slides, as a share of what it is made of.

        These are the parts of J a; of a contact that is stiff, as much of them as reaches x.
        """

        def least(k: Scalar, now: Scalar) -> list[Scalar]:
            x, (begin, weight) = self.x(k), self.begins(k)
            parts = total(absolute(y * z) for r in range(self.size) for y, z in zip(self.row(k, r), a, strict=True))
            whole, share = total(absolute(y) for y in x) + parts + TINY, 1.0 / (1.0 + self._D[k] * weight)
            near = now
            for switch, stiff in self.switches(k, x):
                off = absolute(switch)
                near = minimum(near, off / (off + whole * select(stiff, share, 1.0)))
            return [select(less(self.slots[k].gap, begin), near, now)]

        return self.each([FAR], least)[0]

    def gap_margin(self, lengths: Sequence[float]) -> Scalar:
        """How far gaps are from where contacts begin to act, as a share of a length of each pair."""
        length = Pairs([{"length": (x,)} for x in lengths])

        def least(k: Scalar, now: Scalar) -> list[Scalar]:
            touch = self.slots[k]
            return [minimum(now, absolute(touch.gap - self.begins(k)[0]) / length[touch.pair]["length"][0])]

        return self.each([FAR], least)[0]


class Pairs:
    """Numbers of pairs by name, read by the number of a pair; some may be nodes."""

    def __init__(self, told: Sequence[Mapping[str, Sequence[Scalar]]]):
        self._columns = {
            name: [_column(c) for c in zip(*(one[name] for one in told), strict=True)]
            for name in (told[0] if told else ())
        }

    def __getitem__(self, pair: Scalar) -> dict[str, list[Scalar]]:
        return {name: [read(pair) for read in own] for name, own in self._columns.items()}


def _column(numbers: Sequence[Scalar]) -> Callable[[Scalar], Scalar]:
    """A function that reads one of these by its place; what is the same at all of them needs no reading."""
    if len(set(numbers)) == 1:
        return lambda pair: numbers[0]
    nodes = [x for x in dict.fromkeys(numbers) if unknown((x,))]
    constants = Table([0.0 if x in nodes else x for x in numbers])
    if not nodes:
        return lambda pair: constants[pair]
    which = Table([1.0 + nodes.index(x) if x in nodes else 0.0 for x in numbers])
    return lambda pair: chosen([constants[pair], *nodes], which[pair])
