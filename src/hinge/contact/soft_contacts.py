"""Contacts of the soft law at a state: their rows, and what these are at, as memory that loops over slots read.

Tangents are kept times their friction, as friction cones want them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from hinge.contact.cones import CONES, Map
from hinge.contact.slot_rows import Column, directions, limbs, shares, slot_rows
from hinge.contact.slots import Slots
from hinge.contact.soft_rows import impedance, pull, stiffness
from hinge.contact.softness import SLIPPERY, TINY, SoftLaw, Softness, SoftPair
from hinge.graph import Scalar, Scratch, Table, inner, less, repeat, select
from hinge.graph.scalars import largest
from hinge.integrators.steps import Flat
from hinge.model import Model

ROWS = 6  # of a contact at the most


class SoftContacts:
    """The contacts of a state, from accelerations `a`; x of a contact is what J a is above what it is wanted to be."""

    def __init__(self, model: Model, law: SoftLaw, slots: Slots, axes: Sequence[Column], v: Flat, a: Flat, h: Scalar):
        self.slots, self.nv, self.cone = slots, model.nv, CONES[law.cone]
        self.size = max((pair.condim for pair in law.pairs), default=0)
        self.room = slots.room if self.size else 0
        self._pairs = Pairs(law)
        self._J = Scratch(self.room * self.size * self.nv + 1, v[0], zeros=False)
        self._x, self._step, self._D = (Scratch(self.room * n + 1, v[0]) for n in (self.size, self.size, 1))
        self.limbs = limbs(model)
        self._felt = Scratch(self.room * len(self.limbs) + 1, v[0], zeros=False)

        def placed(k: Scalar) -> list[Scalar]:
            touch = slots[k]
            pair = self._pairs[touch.pair]
            forces = [force * f for force, f in zip(directions(touch, self.size), pair["friction"], strict=False)]
            share = shares(axes, *pair["bodies"])
            rows = slot_rows(model, axes, share, forces)
            for g, limb in enumerate(self.limbs):
                felt = [part for column, part in zip(axes, share, strict=True) if column.v in limb]
                self._felt[k * float(len(self.limbs)) + float(g)] = largest(felt)
            off = touch.gap - pair["margin"][0]
            part = impedance(pair["impedance"], off)
            (firm, damp), (_, rub) = pull(pair["pull"], h), pull(pair["rub"], h)
            D = stiffness(part, pair["weight"][0]) * pair["share"][0]
            self._D[k] = select(less(off, 0.0), D, 0.0)
            for r, row in enumerate(rows):
                wanted = -rub * inner(row, v) if r else -damp * inner(row, v) - firm * part * off
                self._x[self._at(k, r)] = inner(row, a) - wanted
                for j, entry in enumerate(row):
                    self._J[self._entry(k, r, j)] = entry
            return []

        self.each([], placed)

    def each(self, state: Sequence[Scalar], body: Callable[..., Sequence[Scalar]]) -> list[Scalar]:
        """state = body(k, *state) for every contact k."""
        if not self.room:
            return list(state)
        count = self.slots.count
        done = repeat(
            self.room,
            (0.0 * count, *state),
            lambda k, n, *now: (n + 1.0, *body(k, *now)),
            lambda n, *_: less(count - 0.5, n),
        )
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

    def felt(self, k: Scalar, limb: int) -> Scalar:
        """Whether the velocities of a limb have anything to do with contact k."""
        return less(0.5, self._felt[k * float(len(self.limbs)) + float(limb)])

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

    def stiffness(self, k: Scalar, x: Sequence[Scalar]) -> Map:
        """How stiff contact k is at x."""
        pair = self._pairs[self.slots[k].pair]
        return self.cone(self._D[k], pair["square"][0], pair["edges"][: self.size], x)

    def forces(self, k: Scalar) -> list[Scalar]:
        """Forces of contact k (N) along its normal and tangents, and couples (N m) about them."""
        x, friction = self.x(k), self._pairs[self.slots[k].pair]["friction"]
        return [-f * mu for f, mu in zip(self.stiffness(k, x)(x), friction, strict=False)]


class Pairs:
    """Numbers of pairs, read by the number of a pair; those that are the same for all are constants."""

    def __init__(self, law: SoftLaw):
        told = [_told(law, pair) for pair in law.pairs]
        self._columns = {
            name: [c[0] if len(set(c)) == 1 else Table(c) for c in zip(*(one[name] for one in told), strict=True)]
            for name in (told[0] if told else ())
        }

    def __getitem__(self, pair: Scalar) -> dict[str, list[Scalar]]:
        return {name: [c[pair] if isinstance(c, Table) else c for c in own] for name, own in self._columns.items()}


def _told(law: SoftLaw, pair: SoftPair) -> dict[str, Sequence[float]]:
    """What a contact of a pair needs to know; friction is 1 along the normal."""
    rows, soft = pair.condim, pair.softness
    mu = [max(x, SLIPPERY) for x in pair.friction][: rows - 1]
    square = mu[0] ** 2 / max(law.impratio, TINY) if mu else 1.0  # of the slope of the cone
    weight, share, rub = pair.weight[0], 1.0, soft
    if law.cone == "pyramidal" and mu:
        weight, share = weight * (1.0 + mu[0] ** 2), 0.5 / square
    elif pair.solreffriction[0] * pair.solreffriction[1] > 0.0:
        rub = Softness(pair.solreffriction, soft.solimp)
    return {
        "bodies": (float(pair.first), float(pair.second)),
        "margin": (pair.margin,),
        "weight": (weight,),
        "share": (share,),
        "friction": ([1.0, *mu] + [0.0] * ROWS)[:ROWS],
        "impedance": soft.impedance,
        "pull": soft.pull,
        "rub": rub.pull,
        "square": (square,),
        "edges": [float(rows == 1), *(float(k < rows) for k in range(1, ROWS))],
    }
