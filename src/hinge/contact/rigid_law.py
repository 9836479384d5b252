"""The rigid law: impulses at the end of a step that keep bodies apart, with friction and restitution.

    M (v' - v) = Jᵀ λ,   λ in the cones of friction,   0 ≤ λₙ ⊥ vₙ' + b ≥ 0,   λₜ against vₜ' where that slides

A step without contacts has led to q and v. Where shapes overlap there, velocities w are found that bring the gaps to
zero over the share of the step that is left for them, and positions follow w; velocities v' at the end part with what
restitution leaves of those at the beginning, or are w where that only keeps bodies apart. What would gain energy by it
is taken back: a gap that was overlapped is corrected as far as the energy lost in the impact goes.

Both are problems of the soft law's kind, with as good as no softness, so that law's Newton method solves them. It takes
sliding contacts to open with μ times their speed; normals are lowered by that until it does not change (De Saxcé).
Source: none of the texts; featherstone1987, section 9.8 has the impact without friction.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple

from hinge.contact.cones import FAR, Map, Switch, elliptic, elliptic_switches
from hinge.contact.rigid_slopes import followed, polished
from hinge.contact.slot_contacts import Pairs, SlotContacts
from hinge.contact.slot_rows import Column, columns
from hinge.contact.slots import Slots
from hinge.contact.soft_law import SoftProblem
from hinge.contact.soft_rows import Row
from hinge.dynamics.composite import composite
from hinge.dynamics.newton_euler import gravity_force
from hinge.graph import Scalar, Scratch, absolute, inner, less, maximum, minimum, repeat, select, sqrt, total
from hinge.integrators.steps import Flat, PerJoint
from hinge.model import Model

HARD = 1e-7  # what a rigid contact gives way, as a share of what its bodies do
NONE = 1e-200  # J, m/s: no energy, no speed
LEAST, MOST = 0.05, 2.0  # by what share of what they are off speeds of sliding are changed
SLIGHT = 1e-9  # of the energy: a change that is none
EXACT = 1e-6  # of the speeds: how well the speed of sliding is found


@dataclass(frozen=True)
class RigidPair:
    """Two shapes that may touch: their bodies, and what their contacts do.

    `friction` has up to five numbers: two for sliding, one for spinning and two for rolling (m). A contact gives way by
    `compliance` (m/N), and resists that with `damping` (N s/m).
    """

    first: int
    second: int
    weight: float  # 1/kg: how much a point of the two gives way
    friction: tuple[float, ...] = ()
    restitution: float = 0.0
    compliance: float = 0.0
    damping: float = 0.0

    @property
    def rows(self) -> int:
        """How many rows its contacts have: the normal, two for sliding, one for spinning, two for rolling."""
        return next((n for n, k in ((6, 3), (4, 2), (3, 0)) if any(self.friction[k:])), 1)


@dataclass(frozen=True)
class RigidLaw:
    """The pairs that may touch, and how well the impulses are found."""

    pairs: tuple[RigidPair, ...]
    inertia: float = 1.0  # the trace of the mass matrix at the reference configuration
    joints: tuple[float, ...] = ()  # how much each velocity gives way there
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
        return any(any(pair.friction) for pair in self.pairs)

    @property
    def gives(self) -> bool:
        return any(pair.compliance for pair in self.pairs)


class RigidContacts(SlotContacts):
    """The contacts at the end of a step, from velocities v; x of a contact is J v less what that is wanted to be."""

    def __init__(self, model: Model, law: RigidLaw, slots: Slots, axes: Sequence[Column], before: Flat, v: Flat,
                 h: Scalar, late: float):  # fmt: skip
        pairs, size = Pairs([_told(pair) for pair in law.pairs]), max((pair.rows for pair in law.pairs), default=0)
        super().__init__(model, slots, axes, pairs, size, v[0])
        self._closes, self._parts = (Scratch(self.room + 1, v[0]) for _ in range(2))
        self._slides, self._off, self._moved = (Scratch(self.room + 1, v[0]) for _ in range(3))

        def placed(k: Scalar) -> list[Scalar]:
            touch = slots[k]
            pair = pairs[touch.pair]
            normal = self.place(k, touch, pair)[0]
            weight, e, soft, damp = pair["surface"]
            was, is_now = inner(normal, before), inner(normal, v)
            firm = 1.0 / (1.0 + soft * damp / (late * h))
            closes = (touch.gap / (late * h) - is_now) * firm
            bounces = select(less(was, 0.0), e * was, 0.0)
            D = 1.0 / (HARD * weight + soft * firm / (late * h * h))
            self._D[k] = select(less(touch.gap, 0.0), D, 0.0)
            self._closes[k] = closes
            self._parts[k] = select(less(0.0, soft), closes, select(less(bounces, 0.0), bounces, maximum(closes, 0.0)))
            return []

        self.each([], placed)

    def begin(self, v: Flat, parting: Scalar) -> None:
        """Take v for the velocities: gaps are to be brought to zero, or where it is `parting` bodies to part as at the
        end."""

        def begun(k: Scalar) -> list[Scalar]:
            normal, *tangents = (inner(self.row(k, r), v) for r in range(self.size))
            wanted = select(parting, self._parts[k], self._closes[k])
            self.put(k, [normal + wanted + self._slides[k], *tangents])
            return []

        self.each([], begun)

    def slide(self, v: Flat, first: Scalar = 1.0) -> Scalar:
        """Bring speeds of sliding nearer to those of v, by secants after the first time: the most that one was off."""

        def slid(k: Scalar, most: Scalar) -> list[Scalar]:
            tangents = [inner(self.row(k, r), v) for r in range(1, self.size)]
            now = self._slides[k]
            off = sqrt(inner(tangents, tangents)) - now
            turn = self._off[k] - off
            share = self._moved[k] / select(less(0.0, absolute(turn)), turn, 1.0)
            share = select(first, 1.0, minimum(maximum(share, LEAST), MOST))
            self._off[k], self._moved[k], self._slides[k] = off, share * off, now + share * off
            return [maximum(most, absolute(off))]

        return self.each([0.0], slid)[0] if self.size > 1 else 0.0

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

    def impulses(self, k: Scalar) -> list[Scalar]:
        """Impulses of contact k (N s) along its normal and tangents, and of couples (N m s) about them."""
        x, friction = self.x(k), self._pairs[self.slots[k].pair]["friction"]
        return [-f * mu for f, mu in zip(self.stiffness(k, x)(x), friction, strict=False)]


def _told(pair: RigidPair) -> dict[str, Sequence[float]]:
    """What a contact of a pair needs to know; friction is 1 along the normal."""
    return {
        "bodies": (float(pair.first), float(pair.second)),
        "surface": (pair.weight, pair.restitution, pair.compliance, pair.damping),
        "friction": ([1.0, *pair.friction] + [0.0] * 6)[:6],
    }


class Struck(NamedTuple):
    """The state after impulses, whether all conditions are met, and how far they are from it."""

    q: PerJoint
    v: Flat
    settled: Scalar
    residual: Scalar
    contacts: RigidContacts
    margin: Scalar = FAR  # with slopes: how far from where the law changes, as a share


def struck(model: Model, law: RigidLaw, slots: Slots, before: Flat, q: PerJoint, v: Flat, h: Scalar, late: float,
           rows: Callable[[Scalar], Sequence[Row]] = lambda parting: (), slopes: bool = False) -> Struck:  # fmt: skip
    """The state at the end of a step of h seconds that led to q and v, with impulses of the contacts there.

    `before` are the velocities at its beginning; positions follow impulses over a share `late` of the step. `rows`
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
            contacts.begin(list(now[:n]), parting)
            made = problem.solved(list(now[:n]))
            changed = contacts.slide(made.a, less(k, 0.5)) + 0.0 * pace
            settled = select(less(EXACT * pace, changed), 0.0, made.settled)
            return [*made.a, settled, maximum(made.residual, changed)]

        *made, settled, left = repeat(law.rounds if law.rubs else 1, [*w, 0.0 * pace, 0.0 * pace], round,
                                      lambda *now: less(0.5, now[n]))  # fmt: skip
        if slopes:
            made, done = polished(problem, contacts, made, parting, pace)
            settled = select(done, settled, 0.0)
            contacts.each([], partial(note, phase))
        return [*made, *(select(parting, y, x) for x, y in zip(made, now[n : 2 * n], strict=True)),
                minimum(settled, now[-2]), maximum(left, now[-1])]  # fmt: skip

    end = repeat(2, [*v, *v, 1.0 + 0.0 * pace, 0.0 * pace], phased)
    after, w, settled, left, margin = list(end[:n]), list(end[n : 2 * n]), end[-2], end[-1], FAR
    if slopes:
        again = RigidContacts(model, law, slots, columns(model, q), before, v, h, late)
        (after, parts), (w, closes) = (
            followed(SoftProblem(model, exact, M, p, rows(parting), again), again, y, parting, partial(there, parting))
            for y, parting in ((after, True), (w, False))
        )
        margin = minimum(minimum(parts, closes), again.parting_margin(before, v))
    moves = w
    if not law.gives:
        after, moves, energy = _without_gain(model, M, q, before, v, after, w, h, late)
        margin = minimum(margin, energy)
    moved = model.joint_velocities([late * h * (x - y) for x, y in zip(moves, v, strict=True)])
    ends = [joint.integrate(q[i], moved[i]) for i, joint in enumerate(model.joint)]
    return Struck(ends, after, settled, left, contacts, margin)


def _without_gain(model: Model, M: Sequence[Flat], q: PerJoint, before: Flat, v: Flat, after: Flat, w: Flat, h: Scalar,
                  late: float) -> tuple[Flat, Flat, Scalar]:  # fmt: skip
    """Velocities at the end, and those that positions follow, with which no energy is gained.

    What a step that takes velocities first has lost on its way down is given back to what it lifts. The last number is
    how far energies are from those with which less is taken back, as a share of them.
    """

    def energy(x: Flat) -> Scalar:
        return 0.5 * inner(x, [inner(row, x) for row in M])

    had = energy(v)
    turn = [x - y for x, y in zip(after, v, strict=True)]
    push, bend = inner(v, [inner(row, turn) for row in M]), 2.0 * energy(turn)
    most = minimum(maximum(-2.0 * push, 0.0) / maximum(bend, NONE), 1.0)
    share = select(less(had, energy(after)), most, 1.0)
    after = [x + share * y for x, y in zip(v, turn, strict=True)]
    weight = model.generalised_forces(gravity_force(model, q))
    lift = [x - y for x, y in zip(w, v, strict=True)]
    fell = (0.5 - late) * h * inner(weight, [x - y for x, y in zip(v, before, strict=True)])
    cost, lost = late * h * inner(weight, lift), had - energy(after) + maximum(fell, 0.0)
    budget = maximum(lost, 0.0)
    high = less(budget, cost)
    keep = select(high, budget / select(high, cost, 1.0), 1.0)
    slight = SLIGHT * had
    gained = absolute(push + 0.5 * bend) / (absolute(push) + 0.5 * bend)
    gained = minimum(gained, select(high, absolute(lost) / (had + NONE), FAR))
    short = select(less(slight, energy(lift)), absolute(lost - cost) / (had + NONE), FAR)
    margin = minimum(select(less(slight, bend), gained, FAR), short)
    return after, [x + keep * y for x, y in zip(v, lift, strict=True)], margin
