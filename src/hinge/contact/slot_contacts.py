"""Contacts of a state as memory that loops over slots read: their rows, and what these are at.

Tangents are kept times their friction, as friction cones want them. A law says what x of a contact is, and how stiff it
is there.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence

from hinge.contact.cones import Map
from hinge.contact.slots import Slots
from hinge.graph import Scalar, Scratch, Table, inner, less, repeat
from hinge.integrators.steps import Flat


class SlotContacts(ABC):
    """The contacts of a state with so many rows each; x of a contact is J a less what that is wanted to be."""

    def __init__(self, slots: Slots, nv: int, size: int, like: Scalar):
        self.slots, self.nv, self.size, self.room = slots, nv, size, slots.room if size else 0
        self._J, self._x, self._step, self._D = (
            Scratch(self.room * n + 1, like, zeros=False) for n in (size * nv, size, size, 1)
        )

    @abstractmethod
    def stiffness(self, k: Scalar, x: Sequence[Scalar]) -> Map:
        """How stiff contact k is at x."""

    def each(self, state: Sequence[Scalar], body: Callable[..., Sequence[Scalar]]) -> list[Scalar]:
        """state = body(k, *state) for every contact k."""
        if not self.room:
            return list(state)
        count = self.slots.count
        done = repeat(self.room, (0.0 * count, *state), lambda k, n, *now: (n + 1.0, *body(k, *now)),
                      lambda n, *_: less(count - 0.5, n))  # fmt: skip
        return list(done[1:])

    def _at(self, k: Scalar, r: int) -> Scalar:
        return k * float(self.size) + float(r)

    def _entry(self, k: Scalar, r: int, j: int) -> Scalar:
        return k * float(self.size * self.nv) + float(r * self.nv + j)

    def row(self, k: Scalar, r: int) -> list[Scalar]:
        """Row r of contact k."""
        return [self._J[self._entry(k, r, j)] for j in range(self.nv)]

    def column(self, k: Scalar, j: int) -> list[Scalar]:
        """What velocity j is in the rows of contact k."""
        return [self._J[self._entry(k, r, j)] for r in range(self.size)]

    def aim(self, s: Flat) -> None:
        """Note how contacts change along s."""

        def aimed(k: Scalar) -> list[Scalar]:
            for r in range(self.size):
                self._step[self._at(k, r)] = inner(self.row(k, r), s)
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
        for r, y in enumerate(x):
            self._x[self._at(k, r)] = y
        return x


class Pairs:
    """Numbers of pairs by name, read by the number of a pair; those that are the same for all are constants."""

    def __init__(self, told: Sequence[Mapping[str, Sequence[float]]]):
        self._columns = {
            name: [c[0] if len(set(c)) == 1 else Table(c) for c in zip(*(one[name] for one in told), strict=True)]
            for name in (told[0] if told else ())
        }

    def __getitem__(self, pair: Scalar) -> dict[str, list[Scalar]]:
        return {name: [c[pair] if isinstance(c, Table) else c for c in own] for name, own in self._columns.items()}
