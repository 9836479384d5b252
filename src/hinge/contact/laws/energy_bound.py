"""What keeps the rigid law from gaining energy: of impulses and corrections as much acts as the energy allows.

Machines that do not touch each other have nothing to do with each other, so each keeps its own account: one for all
that touch in a state, directly or through others.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from hinge.contact.laws.soft_problem import FAR
from hinge.contact.laws.soft_rows import Row
from hinge.contact.slot_contacts import Pairs, SlotContacts
from hinge.dynamics.energy import moving
from hinge.dynamics.kinematics import poses
from hinge.dynamics.newton_euler import gravity_force
from hinge.graph import Scalar, Scratch, absolute, inner, less, maximum, minimum, repeat, select, sqrt, total
from hinge.integrators.steps import Flat, PerJoint
from hinge.model import Model
from hinge.spatial import Vec3, dot, dot3

NONE = 1e-200  # J: no energy
SLIGHT = 1e-9  # of the energy: a change that is none


class Machines:
    """The velocities of trees that nothing couples but contacts, and which of these contacts couple in a state."""

    def __init__(self, model: Model, rows: Sequence[Row], bodies: Sequence[tuple[int, int]], contacts: SlotContacts):
        self.groups = _trees(model, rows)
        self.contacts = contacts
        self._bodies = [self._of(model, body) for body in range(len(model.parent))]
        both = [[g for g in (self._bodies[body] for body in pair) if g is not None] for pair in bodies]
        self._pairs = Pairs([{"groups": (float(g[0]), float(g[-1]))} for g in both])
        self._label: Scratch | None = None
        if any(g[0] != g[-1] for g in both):
            self._label = Scratch(len(self.groups), contacts.like, zeros=False)
            for g in range(len(self.groups)):
                self._label[float(g)] = float(g)
            repeat(len(self.groups), (1.0 + 0.0 * contacts.like,), lambda _, __: contacts.each([0.0], self._joined),
                   lambda changed: less(changed, 0.5))  # fmt: skip

    def _of(self, model: Model, body: int) -> int | None:
        """The group that moves a body; none moves what stands still."""
        moved = {v for i, p in model.outward() if p == 0 and body in model.subtree[i] for v in _moving(model, i)}
        return next((g for g, own in enumerate(self.groups) if moved & set(own)), None)

    def _joined(self, k: Scalar, changed: Scalar) -> list[Scalar]:
        """Give the groups of contact k one label, the lower; whether they had two."""
        assert self._label is not None
        touch = self.contacts.slots[k]
        a, b = self._pairs[touch.pair]["groups"]
        one, two = self._label[a], self._label[b]
        lower, closed = minimum(one, two), less(touch.gap, 0.0)
        self._label[a], self._label[b] = select(closed, lower, one), select(closed, lower, two)
        return [select(closed, maximum(changed, absolute(one - two)), changed)]

    def each(self, flat: Flat) -> list[Flat]:
        """The entries of each group."""
        return [[flat[v] for v in own] for own in self.groups]

    def flat(self, numbers: Sequence[Scalar]) -> Flat:
        """The number of its group for each velocity."""
        made: Flat = [0.0] * sum(map(len, self.groups))
        for x, own in zip(numbers, self.groups, strict=True):
            for v in own:
                made[v] = x
        return made

    def summed(self, a: Flat, b: Flat) -> list[Scalar]:
        """The sum of products for each group, with all that it touches."""
        return self.shared([inner(x, y) for x, y in zip(self.each(a), self.each(b), strict=True)])

    def of_bodies(self, numbers: Sequence[Scalar]) -> list[Scalar]:
        """The sum over the bodies of each group, with all that it touches."""
        own: list[Scalar] = [0.0] * len(self.groups)
        for g, x in zip(self._bodies, numbers, strict=True):
            if g is not None:
                own[g] = own[g] + x
        return self.shared(own)

    def shared(self, own: list[Scalar]) -> list[Scalar]:
        """The sum of a number of each group over all that it touches."""
        if self._label is None:
            return own
        sums = Scratch(len(own), self.contacts.like)
        for g, x in enumerate(own):
            at = self._label[float(g)]
            sums[at] = sums[at] + x
        return [sums[self._label[float(g)]] for g in range(len(own))]

    def at_contact(self, numbers: Sequence[Scalar], k: Scalar) -> Scalar:
        """The number of the groups of contact k, which is the same for both."""
        if len(numbers) == 1:
            return numbers[0]
        known = Scratch(len(numbers), self.contacts.like, zeros=False)
        for g, x in enumerate(numbers):
            known[float(g)] = x
        return known[self._pairs[self.contacts.slots[k].pair]["groups"][0]]


def _trees(model: Model, rows: Sequence[Row]) -> list[list[int]]:
    """The velocities of each tree on the base, with those of other trees that rows couple it with."""
    groups: list[set[int]] = []
    trees = [_moving(model, i) for i, p in model.outward() if p == 0]  # joints that follow others may share velocities
    for moved in (*trees, *(set(row.J) for row in rows)):
        coupled = [own for own in groups if own & moved]
        groups = [own for own in groups if own not in coupled] + [set(moved).union(*coupled)]
    return [sorted(own) for own in groups if own]


def _moving(model: Model, root: int) -> set[int]:
    return {v for i in model.subtree[root] for v in range(model.slices[i][1].start, model.slices[i][1].stop)}


class Bounded(NamedTuple):
    """Velocities at the end, and those that positions follow; of each machine what share of the impulses acted, and the
    energy lost on the way down; and how far energies are from those with which less is taken back, as a share."""

    v: Flat
    w: Flat
    shares: list[Scalar]
    fallen: list[Scalar]
    margin: Scalar


def without_gain(model: Model, machines: Machines, M: Sequence[Flat], q: PerJoint, before: Flat, v: Flat, after: Flat,
                 w: Flat, h: Scalar, late: float) -> Bounded:  # fmt: skip
    """Velocities that gain no energy, of those `after` impulses, and w that positions were to follow.

    What a step that takes velocities first has lost on its way down is given back to what it lifts.
    """

    def momentum(x: Flat) -> Flat:
        return [inner(row, x) for row in M]

    def energies(x: Flat) -> list[Scalar]:
        return [0.5 * e for e in machines.summed(x, momentum(x))]

    turn, lift, weight = _less(after, v), _less(w, v), model.generalised_forces(gravity_force(model, q))
    had, pushes = energies(v), machines.summed(v, momentum(turn))
    bends = [2.0 * e for e in energies(turn)]
    shares, keeps, margin = [], [], FAR
    for own, push, bend, ends in zip(had, pushes, bends, energies(after), strict=True):
        most = minimum(maximum(-2.0 * push, 0.0) / maximum(bend, NONE), 1.0)
        shares.append(select(less(own, ends), most, 1.0))
        gained = absolute(push + 0.5 * bend) / (absolute(push) + 0.5 * bend)
        margin = minimum(margin, select(less(SLIGHT * own, bend), gained, FAR))
    after = [x + share * y for x, share, y in zip(v, machines.flat(shares), turn, strict=True)]
    falls, lifts = machines.summed(weight, _less(v, before)), machines.summed(weight, lift)
    fallen = [maximum((0.5 - late) * h * fall, 0.0) for fall in falls]
    for own, ends, fell, up, bend, moves in zip(
        had, energies(after), fallen, lifts, bends, energies(lift), strict=True
    ):
        cost, lost = late * h * up, own - ends + fell
        budget = maximum(lost, 0.0)
        high = less(budget, cost)
        keeps.append(select(high, budget / select(high, cost, 1.0), 1.0))
        none, short = (absolute(x) / (own + NONE) for x in (lost, lost - cost))
        margin = minimum(margin, select(less(SLIGHT * own, moves), short, FAR))
        margin = minimum(margin, select(high, select(less(SLIGHT * own, bend), none, FAR), FAR))
    moved = [x + keep * y for x, keep, y in zip(v, machines.flat(keeps), lift, strict=True)]
    return Bounded(after, moved, shares, fallen, margin)


def slowed(model: Model, machines: Machines, bound: Bounded, had: tuple[PerJoint, Flat], q: PerJoint) -> Flat:
    """Velocities at the configuration q that corrections led to, slower where that has more energy than there was.

    `had` is the state before impulses. Corrections were weighed by the slope of the energy there.
    """
    own = zip(_energies(model, machines, *had), bound.fallen, strict=True)
    allowed = [kinetic + potential + fallen for (kinetic, potential), fallen in own]
    slower = []
    for most, (kinetic, potential) in zip(allowed, _energies(model, machines, q, bound.v), strict=True):
        over = less(most + SLIGHT * kinetic, kinetic + potential)
        left = maximum(most - potential, 0.0) / maximum(select(over, kinetic, 1.0), NONE)
        some = less(0.0, left)
        slower.append(
            select(over, select(some, sqrt(select(some, left, 1.0)), 0.0), 1.0)
        )  # has a derivative there, too
    return [x * y for x, y in zip(bound.v, machines.flat(slower), strict=True)]


def _energies(model: Model, machines: Machines, q: PerJoint, v: Flat) -> list[tuple[Scalar, Scalar]]:
    """Kinetic and potential energy of each machine and what it touches."""
    qd, g, (R, r) = model.joint_velocities(v), Vec3(model.gravity), poses(model, q)
    _, speeds = moving(model, q, qd)
    kinetic: list[Scalar] = [0.0] * len(model.parent)
    potential: list[Scalar] = [0.0] * len(model.parent)
    for i, _ in model.outward():
        I = model.inertia[i]
        turning = total(J * (rate * rate) for J, rate in zip(model.armature(i), qd[i], strict=True))
        kinetic[i] = 0.5 * (dot(speeds[i], I @ speeds[i]) + turning)
        potential[i] = model.stored(i, q[i]) - dot3(g, r[i] * I.m + R[i] @ I.h)
    return list(zip(machines.of_bodies(kinetic), machines.of_bodies(potential), strict=True))


def _less(a: Flat, b: Flat) -> Flat:
    return [x - y for x, y in zip(a, b, strict=True)]
