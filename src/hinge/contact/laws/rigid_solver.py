"""The rigid law: impulses at the end of a step that keep bodies apart, with friction and restitution.

    M (v' - v) = Jᵀ λ,   λ in the cones of friction,   0 ≤ λₙ ⊥ vₙ' + b ≥ 0,   λₜ against vₜ' where that slides

A step without contacts has led to q and v. Where shapes overlap there, velocities w are found that bring the gaps to
zero over the share of the step that is left for them, and positions follow w; velocities v' at the end part with what
restitution leaves of those at the beginning, or are w where that only keeps bodies apart. What would gain energy by it
is taken back: a gap that was overlapped is corrected as far as the energy lost in the impact goes.

Both are problems of the soft law's kind, with as good as no softness, so that law's Newton method solves them. It takes
sliding contacts to open with μ times their speed; normals are lowered by that until it does not change (De Saxcé). On a
face that slides the least change of that moves the load from corner to corner, and friction with it. So where it is not
found at once, contacts give way about the impulses they had: these change by little in a round, and what has given way
in the end is nothing.
Source: none of the texts; featherstone1987, section 9.8 has the impact without friction.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple

from hinge.contact.cones import FAR, Map, Switch, elliptic, elliptic_switches
from hinge.contact.laws.energy_bound import NONE, Machines, slowed, without_gain
from hinge.contact.laws.rigid_derivatives import followed, polished
from hinge.contact.laws.soft_problem import SoftProblem
from hinge.contact.laws.soft_rows import Row
from hinge.contact.slot_contacts import Pairs, SlotContacts
from hinge.contact.slot_rows import Column, columns
from hinge.contact.slots import Slots
from hinge.contact.surfaces import frictions, rows_of
from hinge.dynamics.composite import composite
from hinge.graph import Scalar, Scratch, absolute, inner, less, maximum, minimum, repeat, select, sqrt, total
from hinge.integrators.floating import Floating, carried
from hinge.integrators.steps import Flat, PerJoint
from hinge.model import Model

HARD = 1e-7  # what a rigid contact gives way, as a share of what its bodies do
LEAST, MOST = 0.5, 8.0  # by what share of what they are off speeds of sliding are changed
EASE = 0.05  # times friction squared: what it gives way about the impulse it had, where sliding is not found at once
SLOW, FIRMER = 12, 0.7  # rounds after which it gives way by so much less in each
SINKS = 0.1  # of the speeds: what a hard contact may give way; more is a load too heavy for the bodies below it
REST = 10.0  # times as far from a change as others: a step corrects an overlap to so much
EXACT, MET = 1e-6, 1e-5  # of the speeds: how well speeds of sliding are found, and what they may be off in the end


@dataclass(frozen=True)
class RigidPair:
    """Two shapes that may touch: their bodies, and what their contacts do.

    `friction` has up to five numbers: two for sliding, one for spinning and two for rolling (m). A contact gives way by
    `compliance` (m/N), and resists that with `damping` (N s/m).
    """

    first: int
    second: int
    weight: Scalar  # 1/kg: how much a point of the two gives way
    friction: tuple[Scalar, ...] = ()
    restitution: Scalar = 0.0
    compliance: float = 0.0
    damping: float = 0.0

    @property
    def rows(self) -> int:
        """How many rows its contacts have."""
        return rows_of(self.friction)

    def surfaced(self, given: Mapping[str, Scalar]) -> RigidPair:
        """The pair with other friction and restitution."""
        restitution = given.get("restitution", self.restitution)
        return replace(self, friction=frictions(self.friction, given), restitution=restitution)


@dataclass(frozen=True)
class RigidParameters:
    """The pairs that may touch, and how well the impulses are found."""

    pairs: tuple[RigidPair, ...]
    inertia: Scalar = 1.0  # the trace of the mass matrix at the reference configuration
    joints: tuple[Scalar, ...] = ()  # how much each velocity gives way there
    tolerance: Scalar = 1e-8  # of the speeds
    iterations: int = 60
    line_iterations: int = 50
    rounds: int = 40  # of speeds of sliding

    @property
    def gain(self) -> Scalar:
        """What a step has to improve the cost, a square of speeds, by, so that there is another."""
        return 0.01 * self.tolerance * self.tolerance

    @property
    def rubs(self) -> bool:
        return any(pair.rows > 1 for pair in self.pairs)

    @property
    def gives(self) -> bool:
        return any(pair.compliance for pair in self.pairs)


class Off(NamedTuple):
    """How far off the speeds of sliding are that a problem was told: the most, and over all of them the sums of what
    they were off the time before times what that has fallen by, and of the square of the latter. `sinks` is the speed
    at which hard contacts give way, at the most."""

    most: Scalar
    along: Scalar
    square: Scalar
    sinks: Scalar

    def share(self, last: Scalar) -> Scalar:
        """By what share of what they are off to change them, after the share before: where a line through the last two
        says that nothing is off; far, where they went the wrong way (Aitken)."""
        there = last * self.along / select(less(0.0, self.square), self.square, 1.0)
        return select(less(self.along, 0.0), MOST, minimum(maximum(there, LEAST), MOST))


class RigidContacts(SlotContacts):
    """The contacts at the end of a step, from velocities v; x of a contact is J v less what that is wanted to be."""

    def __init__(self, model: Model, law: RigidParameters, slots: Slots, axes: Sequence[Column], before: Flat, v: Flat,
                 h: Scalar, late: float):  # fmt: skip
        pairs, size = Pairs([_told(pair) for pair in law.pairs]), max((pair.rows for pair in law.pairs), default=0)
        super().__init__(model, slots, axes, pairs, size, v[0])
        self._closes, self._parts, self._soft = (Scratch(self.room + 1, v[0]) for _ in range(3))
        self._slides, self._off, self._ease, self._slips = (Scratch(self.room + 1, v[0]) for _ in range(4))
        self._closes_in = late * h  # s
        self._had = Scratch(self.room * size + 1, v[0])  # impulses of the time before, friction off

        def placed(k: Scalar) -> list[Scalar]:
            touch = slots[k]
            pair = pairs[touch.pair]
            self.place(k, touch, pair)
            weight, e, soft, damp = pair["surface"]
            was, is_now = self.times(k, before)[0], self.times(k, v)[0]
            firm = 1.0 / (1.0 + soft * damp / (late * h))
            closes = (touch.gap / (late * h) - is_now) * firm
            bounces = select(less(was, 0.0), e * was, 0.0)
            self._soft[k] = HARD * weight + soft * firm / (late * h * h)
            self._D[k] = self._firm(k, 0.0)
            self.put(k, [0.0] * self.size)
            self._closes[k] = closes
            self._parts[k] = select(less(0.0, soft), closes, select(less(bounces, 0.0), bounces, maximum(closes, 0.0)))
            return []

        self.each([], placed)

    def begin(self, v: Flat, parting: Scalar, share: Scalar, ease: Scalar) -> None:
        """Take v for the velocities: gaps are to be brought to zero, or where it is `parting` bodies to part as at the
        end. Speeds of sliding change by a share of what they were off, and contacts `ease` about the impulses they had.
        """

        def begun(k: Scalar) -> list[Scalar]:
            normal, *tangents = self.times(k, v)
            wanted = select(parting, self._parts[k], self._closes[k])
            slides = maximum(self._slides[k] + share * self._off[k], 0.0)
            pair = self._pairs[self.slots[k].pair]
            gives = ease * self._slips[k] * pair["surface"][0] * pair["friction"][1] * pair["friction"][1]
            x = [normal + wanted + slides, *tangents]
            self._slides[k], self._ease[k], self._D[k] = slides, gives, self._firm(k, gives)
            self.put(k, [y - gives * f for y, f in zip(x, self._impulse(k), strict=True)])
            return []

        self.each([], begun)

    def _impulse(self, k: Scalar) -> list[Scalar]:
        return [self._had[self._at(k, r)] for r in range(self.size)]

    def _firm(self, k: Scalar, gives: Scalar) -> Scalar:
        """How firm a contact that is closed is, which gives way by so much more."""
        return select(less(self.slots[k].gap, 0.0), 1.0 / (self._soft[k] + gives), 0.0)

    def slide(self, v: Flat) -> Off:
        """Note how far off the speeds of sliding are from those of v, and what impulses contacts have."""

        def slid(k: Scalar, most: Scalar, along: Scalar, square: Scalar, sinks: Scalar) -> list[Scalar]:
            tangents = self.times(k, v)[1:]
            speed, x, had = sqrt(inner(tangents, tangents)), self.x(k), self._impulse(k)
            now = [-f for f in self.stiffness(k, x)(x)]
            off, pushes = speed - self._slides[k], less(0.0, now[0])
            fell = select(pushes, self._off[k] - off, 0.0)
            for r, (f, g) in enumerate(zip(now, had, strict=True)):
                most, self._had[self._at(k, r)] = maximum(most, self._ease[k] * absolute(f - g)), f
            along, square = along + self._off[k] * fell, square + fell * fell
            self._off[k], self._slides[k] = select(pushes, off, 0.0), select(pushes, self._slides[k], speed)
            self._slips[k] = select(less(x[0] + sqrt(inner(x[1:], x[1:])), 0.0), 0.0, 1.0)
            gives = HARD * self._pairs[self.slots[k].pair]["surface"][0] * now[0]
            return [maximum(most, absolute(off)), along, square, maximum(sinks, gives)]

        return Off(*self.each([0.0, 0.0, 0.0, 0.0], slid))

    def firmly(self, k: Scalar) -> list[Scalar]:
        """Where contact k is with the same impulse where it does not give way about that."""
        (normal, *tangents), D, firm = self.x(k), self._D[k], self._firm(k, 0.0)
        T = sqrt(inner(tangents, tangents))
        slides, stays = less(absolute(normal), T), select(less(normal, T), less(firm, NONE), 1.0)
        share = D / select(less(NONE, firm), firm, 1.0)
        slow = 1.0 - 0.5 * self._ease[k] * D * (1.0 - normal / select(slides, T, 1.0))
        deep = select(slides, slow * T - share * (T - normal), share * normal)
        firmly = [deep, *(select(slides, slow, share) * t for t in tangents)]
        return [select(stays, x, y) for x, y in zip(self.x(k), firmly, strict=True)]

    def stand_firm(self) -> None:
        """Give way about the impulses there are no more, which stay what they are."""

        def firm(k: Scalar) -> list[Scalar]:
            x = self.firmly(k)
            self._ease[k], self._D[k] = 0.0, self._firm(k, 0.0)
            self.put(k, x)
            return []

        self.each([], firm)

    def moving(self, k: Scalar, v: Flat, parting: Scalar) -> list[Scalar]:
        """Where contact k is with velocities v, whose speed of sliding is its own."""
        normal, *tangents = (inner(self.row(k, r), v) for r in range(self.size))
        wanted = select(parting, self._parts[k], self._closes[k])
        return [normal + wanted + inner(self.sliding(tangents), tangents), *tangents]

    @staticmethod
    def sliding(tangents: Sequence[Scalar]) -> list[Scalar]:
        """The direction of tangents; nothing where they have none."""
        square = inner(tangents, tangents)
        some = less(0.0, square)
        length = sqrt(select(some, square, 1.0))
        return [select(some, y / length, 0.0) for y in tangents]

    def stiffness(self, k: Scalar, x: Sequence[Scalar]) -> Map:
        return elliptic(self._D[k], 1.0, (), x)

    def switches(self, k: Scalar, x: Sequence[Scalar]) -> list[Switch]:
        return elliptic_switches(1.0, (), x)

    def begins(self, k: Scalar) -> tuple[Scalar, Scalar]:
        return 0.0, self._pairs[self.slots[k].pair]["surface"][0]

    def parting_margin(self, before: Flat, v: Flat) -> Scalar:
        """How far contacts are from where they part in another way, as a share of their speeds: those that have only
        just closed, and those that bounce and only just came nearer."""

        def least(k: Scalar, now: Scalar) -> list[Scalar]:
            touch, normal = self.slots[k], self.row(k, 0)
            _, e, soft, _ = self._pairs[touch.pair]["surface"]
            was, closes = inner(normal, before), self._closes[k]
            ends, begins = (total(absolute(x * y) for x, y in zip(normal, speeds, strict=True))
                            for speeds in (v, before))  # fmt: skip
            just = absolute(closes) / (absolute(closes) + ends + NONE)
            back = select(less(0.0, e), absolute(was) / (begins + ends + NONE), FAR)
            near = minimum(back, select(less(e * was, 0.0), FAR, just))
            return [minimum(now, select(less(0.0, soft), FAR, select(less(touch.gap, 0.0), near, FAR)))]

        return self.each([FAR], least)[0]

    def gap_margin(self, lengths: Sequence[float]) -> Scalar:
        """How far gaps are from zero, and from where impulses just correct all of an overlap, as a share of lengths."""
        length = Pairs([{"length": (x,)} for x in lengths])

        def least(k: Scalar, now: Scalar) -> list[Scalar]:
            touch = self.slots[k]
            just = absolute(self._closes[k]) * self._closes_in / (REST * length[touch.pair]["length"][0])
            soft = self._pairs[touch.pair]["surface"][2]
            return [minimum(now, select(less(0.0, soft), FAR, select(less(touch.gap, 0.0), just, FAR)))]

        return self.each([super().gap_margin(lengths)], least)[0]

    def impulses(self, k: Scalar) -> list[Scalar]:
        """Impulses of contact k (N s) along its normal and tangents, and of couples (N m s) about them."""
        x, friction = self.x(k), self._pairs[self.slots[k].pair]["friction"]
        return [-f * mu for f, mu in zip(self.stiffness(k, x)(x), friction, strict=False)]


def _told(pair: RigidPair) -> dict[str, Sequence[Scalar]]:
    """What a contact of a pair needs to know; friction is 1 along the normal."""
    return {
        "bodies": (float(pair.first), float(pair.second)),
        "surface": (pair.weight, pair.restitution, pair.compliance, pair.damping),
        "friction": ([1.0, *pair.friction] + [0.0] * 6)[:6],
    }


class RigidResult(NamedTuple):
    """The state after impulses, whether all conditions are met, and how far they are from it.

    Of the impulses of contact k of `contacts` the share `shares(k)` acted.
    """

    q: PerJoint
    v: Flat
    settled: Scalar
    residual: Scalar
    contacts: RigidContacts
    shares: Callable[[Scalar], Scalar]
    margin: Scalar = FAR  # with slopes: how far from where the law changes, as a share

    def forces(self, k: Scalar, h: Scalar) -> list[Scalar]:
        """Forces of contact k (N), the mean over a step of h seconds, along its normal and tangents."""
        return [self.shares(k) / h * x for x in self.contacts.impulses(k)]


def rigid_impulses(model: Model, law: RigidParameters, slots: Slots, before: Flat, q: PerJoint, v: Flat, h: Scalar,
                   late: float, rows: Callable[[Scalar], Sequence[Row]], slopes: bool) -> RigidResult:  # fmt: skip
    """The state at the end of a step of h seconds that led to q and v, with impulses of the contacts there.

    `before` are the velocities at its beginning, carried to q; positions follow impulses over a share `late` of the
    step, and velocities are carried to where they lead. `rows`
    gives what else is held within bounds, for velocities that bring it back, and for how it parts. With `slopes` the
    state has derivatives, by the implicit function; without, they would go through the rounds.
    """
    n, M = model.nv, composite(model, q)
    contacts = RigidContacts(model, law, slots, columns(model, q), before, v, h, late)
    p = [inner(row, v) for row in M]
    pace = maximum(sqrt(inner(v, v)), sqrt(inner(before, before)))
    exact = replace(law, tolerance=law.tolerance * pace)
    found = Scratch(2 * contacts.room * contacts.size + 1, v[0])  # where contacts were at the end of each phase

    def place(phase: Scalar, k: Scalar, r: int) -> Scalar:
        return (phase * float(contacts.room) + k) * float(contacts.size) + float(r)

    def note(phase: Scalar, k: Scalar) -> list[Scalar]:
        for r, x in enumerate(contacts.x(k)):
            found[place(phase, k, r)] = x
        return []

    def there(phase: Scalar, k: Scalar) -> list[Scalar]:
        return [found[place(float(phase), k, r)] for r in range(contacts.size)]

    def phased(phase: Scalar, *now: Scalar) -> list[Scalar]:
        w, parting = list(now[:n]), less(0.5, phase)
        problem = SoftProblem(model, exact, M, p, rows(parting), contacts)
        contacts.slide(w)

        def round(k: Scalar, *now: Scalar) -> list[Scalar]:
            share, ease = now[n : n + 2]
            contacts.begin(list(now[:n]), parting, share, ease)
            made = problem.solved(list(now[:n]))
            off = contacts.slide(made.a)
            found = select(less(EXACT * pace, off.most), 0.0, made.settled)
            met = select(less(MET * pace, off.most), 0.0, select(less(SINKS * pace, off.sinks), 0.0, made.settled))
            share = select(less(k, 0.5), 1.0, off.share(share))
            eased = select(less(k, SLOW - 0.5), EASE, FIRMER * ease)
            return [*made.a, share, select(found, ease, eased), found, met, maximum(made.residual, off.most)]

        zero = 0.0 * pace
        *made, _, ease, _, settled, left = repeat(
            law.rounds if law.rubs else 1,
            [*w, zero + 1.0, now[-3], zero, zero, zero],
            round,
            lambda *now: less(0.5, now[n + 2]),
        )
        if slopes:
            contacts.stand_firm()
            made, done = polished(problem, contacts, made, parting, pace)
            settled = select(done, settled, 0.0)
            contacts.each([], partial(note, phase))
        return [*made, *(select(parting, y, x) for x, y in zip(made, now[n : 2 * n], strict=True)), ease,
                minimum(settled, now[-2]), maximum(left, now[-1])]  # fmt: skip

    end = repeat(2, [*v, *v, 0.0 * pace, 1.0 + 0.0 * pace, 0.0 * pace], phased)
    after, w, settled, left, margin = list(end[:n]), list(end[n : 2 * n]), end[-2], end[-1], FAR
    if slopes:
        again = RigidContacts(model, law, slots, columns(model, q), before, v, h, late)
        (after, parts), (w, closes) = (
            followed(SoftProblem(model, exact, M, p, rows(parting), again), again, y, parting, partial(there, parting))
            for y, parting in ((after, True), (w, False))
        )
        margin = minimum(minimum(parts, closes), again.parting_margin(before, v))

    def moved(w: Flat) -> PerJoint:
        turned = model.joint_velocities([late * h * (x - y) for x, y in zip(w, v, strict=True)])
        return [joint.integrate(q[i], turned[i]) for i, joint in enumerate(model.joint)]

    def carried_along(v: Flat, ends: PerJoint) -> Flat:
        return carried(Floating(model, q), v, Floating(model, ends))

    shares: Callable[[Scalar], Scalar] = lambda k: 1.0
    if law.gives:
        ends = moved(w)
        after = carried_along(after, ends)
    else:
        machines = Machines(model, rows(True), [(pair.first, pair.second) for pair in law.pairs], contacts)
        bound = without_gain(model, machines, M, q, before, v, after, w, h, late)
        ends, shares, margin = moved(bound.w), partial(machines.at_contact, bound.shares), minimum(margin, bound.margin)
        after = slowed(model, machines, bound._replace(v=carried_along(bound.v, ends)), (q, v), ends)
    after = [select(less(left, math.inf), x, math.nan) for x in after]
    return RigidResult(ends, after, settled, left, contacts, shares, margin)
