"""The contacts of one state, in a bounded list: the deepest are kept, and all are counted.

    slots = Slots(16, like=q[0][0])
    slots.add(near, Touch(pair, gap, point, normal, tangent))  # where `near` holds

A list is memory of the program, so what finds contacts and what makes forces of them are loops, in which each lane has
contacts of its own at its own places.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from hinge.graph import Scalar, Scratch, less, minimum, repeat, select, when

Vector = tuple[Scalar, Scalar, Scalar]
NUMBERS = 11  # of a contact


class Touch(NamedTuple):
    """Where two shapes touch or all but touch, in base coordinates."""

    pair: Scalar  # which of the pairs that may touch
    gap: Scalar  # m, negative where they overlap
    point: Vector  # m, midway between the two surfaces
    normal: Vector  # from the first shape of the pair to the second
    tangent: Vector  # of unit length, at right angles to the normal


class Slots:
    """A list of contacts with room for so many; what is beyond those it has is nothing in particular."""

    def __init__(self, room: int, like: Scalar):
        self.room = room
        self._numbers = Scratch(NUMBERS * (room + 1), like, zeros=False)  # the last is for what is left out
        self._found = Scratch(1, like)

    @property
    def found(self) -> Scalar:
        """How many there were; more than there is room for where some were left out."""
        return self._found[0]

    @property
    def count(self) -> Scalar:
        """How many there are."""
        return minimum(self.found, float(self.room))

    def __getitem__(self, k: Scalar) -> Touch:
        pair, gap, *rest = (self._numbers[NUMBERS * k + float(j)] for j in range(NUMBERS))
        return Touch(pair, gap, tuple(rest[:3]), tuple(rest[3:6]), tuple(rest[6:]))

    def each(self, state: Sequence[Scalar], body: Callable[..., Sequence[Scalar]]) -> list[Scalar]:
        """state = body(k, *state) for every contact k."""
        count = self.count
        done = repeat(
            self.room,
            (0.0 * count, *state),
            lambda k, n, *now: (n + 1.0, *body(k, *now)),
            lambda n, *_: less(count - 0.5, n),
        )
        return list(done[1:])

    def add(self, condition: Scalar, touch: Touch) -> None:
        """Take a contact in where a condition holds; into a full list in the place of the shallowest, if that is less
        deep."""

        def taken(_: Scalar) -> tuple[Scalar, ...]:
            found = self.found
            self._found[0] = found + 1.0
            (at,) = when(less(float(self.room) - 0.5, found), (found,), lambda _: self._replaced(touch.gap))
            flat = (touch.pair, touch.gap, *touch.point, *touch.normal, *touch.tangent)
            for j, x in enumerate(flat):
                self._numbers[NUMBERS * at + float(j)] = x
            return (0.0,)

        when(condition, (0.0,), taken)

    def _replaced(self, gap: Scalar) -> tuple[Scalar, ...]:
        """The place of the shallowest contact, if its gap is greater than that; else the place for what is left out."""

        def compared(k: Scalar, at: Scalar, most: Scalar) -> tuple[Scalar, ...]:
            here = self._numbers[NUMBERS * k + 1.0]
            more = less(most, here)
            return select(more, k, at), select(more, here, most)

        return (repeat(self.room, (float(self.room), gap), compared)[0],)
