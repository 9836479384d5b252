"""Contacts of a state as memory that loops over slots read: their wrenches, and what these are at.

Tangents are kept times their friction, as friction cones want them. A law says what x of a contact is, and how stiff it
is there.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from hinge.contact.cones import Map
from hinge.contact.moved_bodies import PLACES, SYMMETRIC, MovedBodies, Six
from hinge.contact.slots import Slots
from hinge.graph import Scalar, Scratch, Table, inner, less, repeat, select, when
from hinge.integrators.steps import Flat


class SlotContacts(ABC):
    """The contacts of a state with so many rows each; x of a contact is J a less what that is wanted to be.

    A row is a wrench on the second body of a pair, and against the first.
    """

    def __init__(self, slots: Slots, bodies: MovedBodies, pairs: Pairs, size: int, like: Scalar):
        self.slots, self.bodies, self.pairs, self.like = slots, bodies, pairs, like
        self.size, self.room = size, slots.room if size else 0
        self._F, self._x, self._step, self._D = (
            Scratch(self.room * n + 1, like, zeros=False) for n in (6 * size, size, size, 1)
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

    def both(self, k: Scalar) -> list[Scalar]:
        """The bodies of contact k."""
        return self.pairs[self.slots[k].pair]["bodies"]

    def place(self, k: Scalar, rows: Sequence[Six]) -> None:
        """Keep the rows of contact k."""
        for r, row in enumerate(rows):
            for j, x in enumerate(row):
                self._F[k * float(6 * self.size) + float(6 * r + j)] = x

    def rows(self, k: Scalar) -> list[Six]:
        """The rows of contact k."""
        return [[self._F[k * float(6 * self.size) + float(6 * r + j)] for j in range(6)] for r in range(self.size)]

    def aim(self, s: Flat) -> None:
        """Note how contacts change along s."""
        if not self.room:
            return
        motions = self.bodies.motions(s)

        def aimed(k: Scalar) -> list[Scalar]:
            relative = between(motions, *self.both(k))
            for r, row in enumerate(self.rows(k)):
                self._step[self._at(k, r)] = inner(row, relative)
            return []

        self.each([], aimed)

    def x(self, k: Scalar) -> list[Scalar]:
        """Where contact k is."""
        return [self._x[self._at(k, r)] for r in range(self.size)]

    def set(self, k: Scalar, x: Sequence[Scalar]) -> None:
        """Say where contact k is."""
        for r, y in enumerate(x):
            self._x[self._at(k, r)] = y

    def change(self, k: Scalar) -> list[Scalar]:
        """How it changes along what was aimed at."""
        return [self._step[self._at(k, r)] for r in range(self.size)]

    def ahead(self, k: Scalar, alpha: Scalar) -> list[Scalar]:
        """Where it is so far along that."""
        return [a + alpha * b for a, b in zip(self.x(k), self.change(k), strict=True)]

    def go(self, k: Scalar, alpha: Scalar) -> list[Scalar]:
        """Take it there."""
        x = self.ahead(k, alpha)
        self.set(k, x)
        return x

    def pushes(self, force: Flat, at: Callable[[Scalar], Sequence[Scalar]]) -> Flat:
        """Forces along velocities with those of contacts, which are where `at` says."""
        if not self.room:
            return force
        wrenches = Scratch(6 * self.bodies.count, self.like)

        def pushed(k: Scalar) -> list[Scalar]:
            x = at(k)
            f, rows = self.stiffness(k, x)(x), self.rows(k)
            first, second = self.both(k)
            for j in range(6):
                w = inner([row[j] for row in rows], f)
                for body, sign in ((second, -1.0), (first, 1.0)):
                    place = 6.0 * body + float(j)
                    wrenches[place] = wrenches[place] + sign * w
            return []

        self.each([], pushed)
        return self.bodies.along(wrenches, force)

    def stiffen(self, H: dict[tuple[int, int], Scalar], places: Sequence[tuple[int, int]]) -> Crossed:
        """Add Jᵀ K J to a matrix, its entries up to the diagonal, but for what contacts between two bodies that both move
        come to besides, place by place."""
        if not self.room:
            return Crossed(None, 0.0)
        X, meet = Scratch(SYMMETRIC * self.bodies.count, self.like), Scratch(1, self.like)
        more = Scratch(len(places), self.like) if self.pairs.two_move else None

        def stiffened(k: Scalar) -> list[Scalar]:
            K, rows = self.stiffness(k, self.x(k)), self.rows(k)
            KF = [K([row[j] for row in rows]) for j in range(6)]
            own = [inner([row[i] for row in rows], KF[j]) for i, j in PLACES]
            first, second = self.both(k)
            for body in (first, second):
                for n, x in enumerate(own):
                    place = float(SYMMETRIC) * body + float(n)
                    X[place] = X[place] + x

            def crossed(_: Scalar) -> tuple[Scalar, ...]:
                assert more is not None
                for n, x in enumerate(self.bodies.crossed(first, second, own, places)):
                    more[n] = more[n] + x
                meet[0] = 1.0
                return (0.0,)

            if more is not None:
                when(select(less(0.5, first), less(0.5, second), 0.0), (0.0,), crossed)
            return []

        self.each([], stiffened)
        self.bodies.stiffened(X, H)
        return Crossed(more, meet[0] if more is not None else 0.0)


class Crossed(NamedTuple):
    """What contacts between bodies that both move come to besides, in memory, and whether there are any."""

    entries: Scratch | None
    some: Scalar


def between(motions: Scratch, first: Scalar, second: Scalar) -> Six:
    """How a second body moves against a first."""
    return [motions[6.0 * second + float(j)] - motions[6.0 * first + float(j)] for j in range(6)]


class Pairs:
    """Numbers of pairs by name, read by the number of a pair; those that are the same for all are constants."""

    def __init__(self, told: Sequence[Mapping[str, Sequence[float]]]):
        self.bodies = {b for one in told for b in map(int, one["bodies"])}
        self.two_move = any(all(one["bodies"]) for one in told)
        self._columns = {
            name: [c[0] if len(set(c)) == 1 else Table(c) for c in zip(*(one[name] for one in told), strict=True)]
            for name in (told[0] if told else ())
        }

    def __getitem__(self, pair: Scalar) -> dict[str, list[Scalar]]:
        return {name: [c[pair] if isinstance(c, Table) else c for c in own] for name, own in self._columns.items()}
