"""Contacts of the soft law at a state: a loop over slots, their rows and what these are at, in memory.

Tangents are kept times their friction, as friction cones want them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from hinge.contact.cones import CONES, Map
from hinge.contact.slot_rows import Column, directions, slot_rows
from hinge.contact.slots import Slots
from hinge.contact.soft_rows import impedance, pull, stiffness
from hinge.contact.softness import SoftLaw, SoftPair
from hinge.graph import Scalar, Scratch, Table, inner, less, repeat, select
from hinge.integrators.steps import Flat
from hinge.model import Model


class SoftContacts:
    """The contacts of a state; x is what J a is above what it is wanted to be."""

    def __init__(self, model: Model, law: SoftLaw, slots: Slots, axes: Sequence[Column], v: Flat, a: Flat, h: Scalar):
        self.law, self.slots, self.nv, self.like = law, slots, model.nv, v[0]
        self.size = max((pair.condim for pair in law.pairs), default=0)
        room = slots.room if self.size else 0
        self.room, self.cone = room, CONES[law.cone]
        self.J, self.x, self.step = (Scratch(n, self.like, zeros=False) for n in
                                     (room * self.size * self.nv + 1, room * self.size + 1, room * self.size + 1))  # fmt: skip
        self.D = Scratch(room + 1, self.like, zeros=False)
        self._numbers = Pairs([self._told(pair) for pair in law.pairs])

        def placed(k: Scalar) -> list[Scalar]:
            touch = slots[k]
            pick = self._numbers.row(touch.pair)
            (first, second, weight, share, edge), mu, imp = pick[:5], pick[5:11], pick[11:16]
            forces = [force * f for force, f in zip(directions(touch, self.size), mu, strict=False)]
            rows = slot_rows(model, axes, first, second, forces)
            off = touch.gap - edge
            part = impedance(imp, off)
            (stiff, damp), (_, rub) = pull(pick[16:20], h), pull(pick[20:24], h)
            self.D[k] = select(less(off, 0.0), share * stiffness(part, weight), 0.0)
            for r, row in enumerate(rows):
                wanted = -(rub if r else damp) * inner(row, v) - (0.0 if r else stiff * part * off)
                self.x[k * float(self.size) + float(r)] = inner(row, a) - wanted
                for j, entry in enumerate(row):
                    self.J[self._at(k, r, j)] = entry
            return []

        self.each([], placed)

    def _told(self, pair: SoftPair) -> list[float]:
        """The numbers of a pair: bodies, what gives way, its share in D, where forces begin, friction of each row,
        impedance, pull of the normal and of tangents, the cone's square, and its edges."""
        law, rows = self.law, pair.condim
        mu = [1.0, *pair.friction][:rows]
        square = (mu[1] ** 2 if rows > 1 else 0.0) / max(law.impratio, 1e-15)
        soft = pair.softness
        weight, share, rub = pair.weight[0], 1.0, soft
        if law.cone == "pyramidal" and rows > 1:
            weight, share = weight * (1.0 + mu[1] ** 2), 0.5 / square
        elif any(pair.ref_friction):
            rub = soft._replace(ref=pair.ref_friction)
        edges = [float(rows == 1), *(float(0 < k < rows) for k in range(1, 6))]
        return [float(pair.first), float(pair.second), weight, share, pair.margin - pair.gap,
                *(mu + [0.0] * 6)[:6], *soft.impedance, *soft.pull, *rub.pull, square or 1.0, *edges]  # fmt: skip

    def _at(self, k: Scalar, r: int, j: int) -> Scalar:
        return k * float(self.size * self.nv) + float(r * self.nv + j)

    def each(self, state: Sequence[Scalar], body: Callable[..., Sequence[Scalar]]) -> list[Scalar]:
        """state = body(k, *state) for every contact."""
        if not self.room:
            return list(state)
        count = self.slots.count
        done = repeat(self.room, (0.0 * count, *state), lambda k, n, *now: (n + 1.0, *body(k, *now)),
                      lambda n, *_: less(count - 0.5, n))  # fmt: skip
        return list(done[1:])

    def row(self, k: Scalar, j: int) -> list[Scalar]:
        """What velocity j is in the rows of contact k."""
        return [self.J[self._at(k, r, j)] for r in range(self.size)]

    def at(self, k: Scalar, alpha: Scalar | None = None) -> list[Scalar]:
        """x of contact k, so far along the step."""
        x = [self.x[k * float(self.size) + float(r)] for r in range(self.size)]
        return x if alpha is None else [a + alpha * b for a, b in zip(x, self.along(k), strict=True)]

    def along(self, k: Scalar) -> list[Scalar]:
        """How x of contact k changes with the step."""
        return [self.step[k * float(self.size) + float(r)] for r in range(self.size)]

    def stiffness(self, k: Scalar, x: Sequence[Scalar]) -> Map:
        """How stiff contact k is at x."""
        numbers = self._numbers.row(self.slots[k].pair)
        return self.cone(self.D[k], numbers[24], numbers[25 : 25 + self.size], x)

    def forces(self, k: Scalar) -> list[Scalar]:
        """Forces of contact k: along the normal and tangents, and couples about them."""
        mu = self._numbers.row(self.slots[k].pair)[5:11]
        x = self.at(k)
        return [-f * m for f, m in zip(self.stiffness(k, x)(x), mu, strict=False)]


class Pairs:
    """Numbers of pairs, read by the number of a pair; those that are the same for all are constants."""

    def __init__(self, rows: Sequence[Sequence[float]]):
        self.columns = [c[0] if len(set(c)) == 1 else Table(c) for c in zip(*rows, strict=True)]

    def row(self, pair: Scalar) -> list[Scalar]:
        """The numbers of one pair."""
        return [c[pair] if isinstance(c, Table) else c for c in self.columns]
