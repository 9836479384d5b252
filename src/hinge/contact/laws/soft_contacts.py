"""Contacts of the soft law at a state: how they give way."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from hinge.contact.cones import CONES, SWITCHES, Map, Switch
from hinge.contact.laws.soft_parameters import SLIPPERY, SoftPair, SoftParameters
from hinge.contact.laws.soft_rows import impedance, pull, stiffness
from hinge.contact.slot_contacts import Pairs, SlotContacts
from hinge.contact.slot_rows import Column
from hinge.contact.slots import Slots
from hinge.graph import Scalar, less, maximum, select
from hinge.integrators.steps import Flat
from hinge.model import Model
from hinge.model.file_physics import TINY

ROWS = 6  # of a contact at the most


class SoftContacts(SlotContacts):
    """The contacts of a state, from accelerations `a`; x of a contact is what J a is above what it is wanted to be."""

    def __init__(
        self, model: Model, law: SoftParameters, slots: Slots, axes: Sequence[Column], v: Flat, a: Flat, h: Scalar
    ):
        pairs, size = Pairs([_told(law, pair) for pair in law.pairs]), max((p.condim for p in law.pairs), default=0)
        super().__init__(model, slots, axes, pairs, size, v[0])
        self.cone, self.turns = CONES[law.cone], SWITCHES[law.cone]

        def placed(k: Scalar) -> list[Scalar]:
            touch = slots[k]
            pair = pairs[touch.pair]
            self.place(k, touch, pair)
            off = touch.gap - pair["margin"][0]
            part = impedance(pair["impedance"], off)
            (firm, damp), (_, rub) = pull(pair["pull"], h), pull(pair["rub"], h)
            D = stiffness(part, pair["weight"][0] * pair["steep"][0]) * pair["share"][0]
            self._D[k] = select(less(off, 0.0), D, 0.0)
            speeds = self.times(k, v)
            x = [y + (rub if r else damp) * speeds[r] for r, y in enumerate(self.times(k, a))]
            self.put(k, [x[0] + firm * part * off, *x[1:]])
            return []

        self.each([], placed)

    def stiffness(self, k: Scalar, x: Sequence[Scalar]) -> Map:
        """How stiff contact k is at x."""
        pair = self._pairs[self.slots[k].pair]
        return self.cone(self._D[k], pair["square"][0], pair["edges"][: self.size], x)

    def switches(self, k: Scalar, x: Sequence[Scalar]) -> list[Switch]:
        pair = self._pairs[self.slots[k].pair]
        return self.turns(pair["square"][0], pair["edges"][: self.size], x)

    def begins(self, k: Scalar) -> tuple[Scalar, Scalar]:
        pair = self._pairs[self.slots[k].pair]
        return pair["margin"][0], pair["weight"][0]

    def forces(self, k: Scalar) -> list[Scalar]:
        """Forces of contact k (N) along its normal and tangents, and couples (N m) about them."""
        x, friction = self.x(k), self._pairs[self.slots[k].pair]["friction"]
        return [-f * mu for f, mu in zip(self.stiffness(k, x)(x), friction, strict=False)]


def _told(law: SoftParameters, pair: SoftPair) -> dict[str, Sequence[Scalar]]:
    """What a contact of a pair needs to know; friction is 1 along the normal."""
    rows, soft = pair.condim, pair.softness
    mu = [maximum(x, SLIPPERY) for x in pair.friction][: rows - 1]
    square = mu[0] * mu[0] / max(law.impratio, TINY) if mu else 1.0  # of the slope of the cone
    steep, share, rub = 1.0, 1.0, soft
    if law.cone == "pyramidal" and mu:
        steep, share = 1.0 + mu[0] * mu[0], 0.5 / square
    elif pair.solreffriction[0] * pair.solreffriction[1] > 0.0:
        rub = replace(soft, solref=pair.solreffriction)
    return {
        "bodies": (float(pair.first), float(pair.second)),
        "margin": (pair.margin,),
        "weight": (pair.weight[0],),
        "steep": (steep,),
        "share": (share,),
        "friction": ([1.0, *mu] + [0.0] * ROWS)[:ROWS],
        "impedance": soft.impedance,
        "pull": soft.pull,
        "rub": rub.pull,
        "square": (square,),
        "edges": [float(rows == 1), *(float(k < rows) for k in range(1, ROWS))],
    }
