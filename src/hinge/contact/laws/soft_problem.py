"""The soft law: accelerations of least cost, with forces that give way.

    ½ (a - a0)ᵀ M (a - a0) + s(J a - reference)        M a0 = tau - C

s is convex: ½ D x² of what has to be zero, linear where friction is used up, nothing where a contact opens. Newton's
method in a loop: the Hessian M + Jᵀ K J, with the zeros that the tree and the pairs of bodies leave it, then the least
cost along that direction. A state that has arrived keeps its values while others go on.
Source: MuJoCo's documentation, chapter "Computation".
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple, Protocol

from hinge.contact.laws.soft_rows import Row
from hinge.contact.slot_contacts import SlotContacts
from hinge.contact.slot_rows import together
from hinge.dynamics.block_factor import Blocks
from hinge.dynamics.solve import LDL
from hinge.graph import Expr, Scalar, Scratch, absolute, held, inner, is_zero, less, repeat, select, sqrt, when
from hinge.integrators.steps import Flat
from hinge.model import Model

WRITTEN = 600  # entries of a Hessian: the factors of one with more would be a long program
FAR = 1e30  # more than any step along a direction
CLOSE, NOISE = 2.0**-13, 2.0**-4  # of a step and of a slope: where so little of one is lost in rounding, it is rounding
FINE = 0.01  # of the tolerance, along a direction
FEW = 10  # iterations: with fewer, the start is chosen with care

Slope = Callable[[Scalar], tuple[Scalar, Scalar]]


class Law(Protocol):
    """What a problem has to know of a law: its pairs, a scale of inertias, and how well it is solved."""

    @property
    def pairs(self) -> Sequence[Any]: ...
    @property
    def inertia(self) -> float: ...
    @property
    def tolerance(self) -> Scalar: ...
    @property
    def gain(self) -> Scalar: ...
    @property
    def iterations(self) -> int: ...
    @property
    def line_iterations(self) -> int: ...


class Solved(NamedTuple):
    """Accelerations, the forces of constraints along velocities, the scaled gradient of the cost that is left, whether
    that is little enough, and how many trips it took."""

    a: Flat
    force: Flat
    residual: Scalar
    settled: Scalar
    trips: Scalar


class SoftProblem:
    """The cost of accelerations at a state; M is the mass matrix, tau what acts besides constraints, bias force off."""

    def __init__(
        self, model: Model, law: Law, M: Sequence[Flat], tau: Flat, rows: Sequence[Row], contacts: SlotContacts
    ):
        self.law, self.M, self.tau, self.rows, self.contacts = law, M, tau, rows, contacts
        self.n, self.joint_label = model.nv, model.joint_label()
        some = {(i, j) for i, row in enumerate(M) for j in range(i + 1) if not is_zero(row[j])}
        some |= {(i, j) for row in rows for i in row.J for j in row.J if j <= i}
        some |= together(model, [(pair.first, pair.second) for pair in law.pairs])
        self.places = {place: k for k, place in enumerate(sorted(some))}
        self.large = len(some) > WRITTEN

    def solved(self, guess: Flat) -> Solved:
        """The accelerations of least cost, from a guess, which contacts were placed with."""
        n, law = self.n, self.law
        left = [inner(row, guess) - t for row, t in zip(self.M, self.tau, strict=True)]
        force = self.forces(guess, self.contacts.x)
        size = self._scaled(left, force)
        begin = [*guess, *left, *force, size, select(less(law.tolerance, size), 1.0, 0.0), 0.0 * size]
        if law.iterations < FEW:  # the start matters: the best between the guess and what nothing but M resists
            free = LDL(self.M, self.joint_label).solve(self.tau)
            begin = self._along(begin, [x - y for x, y in zip(free, guess, strict=True)])
            begin[-2:] = [select(less(law.tolerance, begin[-3]), 1.0, 0.0), 0.0 * size]
        end = repeat(law.iterations, begin, self._trip, lambda *now: less(now[-2], 0.5))
        settled = select(less(end[-2], 0.5), less(end[-3], FAR), 0.0)
        pushes = end[n : 2 * n] if law.iterations < FEW else end[2 * n : 3 * n]  # M a - tau: what moves it as found
        return Solved(list(end[:n]), list(pushes), end[-3], settled, end[-1])

    def followed(self, found: Solved) -> Solved:
        """The same answer, whose derivatives are those of the least cost: contacts were placed with it held.

        One step more of Newton's method from there, by a Hessian that is held too, moves by nothing, and its derivative
        is that of the implicit function.
        """
        start = [held(x) for x in found.a]
        left = [inner(row, start) - t for row, t in zip(self.M, self.tau, strict=True)]
        down = [f - x for x, f in zip(left, self.forces(start, self.contacts.x), strict=True)]
        H = [[held(x) if type(x) is Expr else x for x in row] for row in self.hessian(start)]
        step = LDL(H, self.joint_label).solve(down)
        self.contacts.aim(step)
        self.contacts.each([], lambda k: self.contacts.go(k, 1.0)[:0])
        a = [x + d for x, d in zip(start, step, strict=True)]
        force = [inner(row, a) - t for row, t in zip(self.M, self.tau, strict=True)]
        return found._replace(a=a, force=force)

    def _trip(self, _: Scalar, *now: Scalar) -> list[Scalar]:
        """Accelerations, M a - tau, and forces; how far off, whether to go on, and how many trips."""
        n = self.n
        down = [f - x for x, f in zip(now[n : 2 * n], now[2 * n : 3 * n], strict=True)]
        return self._along(now, self._newton(list(now[:n]), down))

    def _along(self, now: Sequence[Scalar], s: Flat) -> list[Scalar]:
        """The same as `now`, at the least cost along a direction s."""
        n, law, contacts = self.n, self.law, self.contacts
        a, left, force = (list(now[k : k + n]) for k in (0, n, 2 * n))
        down = [f - x for x, f in zip(left, force, strict=True)]
        Ms = [inner(row, s) for row in self.M]
        contacts.aim(s)
        enough = FINE * law.tolerance * law.inertia * sqrt(inner(s, s))
        start, bend = inner(s, left), inner(s, Ms)
        terms = absolute(start) + absolute(bend)
        alpha = least(self.slope(a, s, start, bend), enough, terms, now[-2], law.line_iterations)
        a = [x + alpha * y for x, y in zip(a, s, strict=True)]
        left = [x + alpha * y for x, y in zip(left, Ms, strict=True)]
        force = self.forces(a, lambda k: contacts.go(k, alpha))
        size, gain = self._scaled(left, force), 0.5 * inner(down, s) / law.inertia
        going = select(less(law.tolerance, size), select(less(law.gain, gain), 1.0, 0.0), 0.0)
        return [*a, *left, *force, size, going, now[-1] + 1.0]

    def _newton(self, a: Flat, down: Flat) -> Flat:
        """The step of Newton's method; a large Hessian is factored by loops."""
        if not self.large:
            return LDL(self.hessian(a), self.joint_label).solve(down)
        H = Blocks(self.n, a[0], self.joint_label)
        self._fill(a, H.memory, {place: H.place(*place) for place in self.places})
        H.factor()
        return H.solve(down)

    def _scaled(self, left: Flat, force: Flat) -> Scalar:
        off = [x - f for x, f in zip(left, force, strict=True)]
        return sqrt(inner(off, off)) / self.law.inertia

    def forces(self, a: Flat, at: Callable[[Scalar], list[Scalar]]) -> Flat:
        """The forces of constraints along velocities; `at` says where a contact is."""
        force: Flat = [0.0] * self.n
        for row in self.rows:
            f, _ = row.force(row.of(a) - row.reference)
            for v, entry in row.J.items():
                force[v] = force[v] + entry * f

        def more(k: Scalar, *now: Scalar) -> list[Scalar]:
            x = at(k)
            return self.contacts.pushed(k, self.contacts.stiffness(k, x)(x), now)

        return self.contacts.each(force, more)

    def hessian(self, a: Flat) -> list[Flat]:
        """M + Jᵀ K J, up to the diagonal."""
        H = Scratch(len(self.places), a[0], zeros=False)
        self._fill(a, H, self.places)
        full: list[Flat] = [[0.0] * self.n for _ in range(self.n)]
        for (i, j), place in self.places.items():
            full[i][j] = H[place]
        return full

    def _fill(self, a: Flat, H: Scratch, places: Mapping[tuple[int, int], int]) -> None:
        """Write M + Jᵀ K J into memory."""
        own = {(i, j): self.M[i][j] for i, j in self.places}
        for row in self.rows:
            _, D = row.force(row.of(a) - row.reference)
            for i, x in row.J.items():
                for j, y in row.J.items():
                    if j <= i:
                        own[i, j] = own[i, j] + D * (x * y)
        for at, x in own.items():
            if not is_zero(x) or not self.large:
                H[places[at]] = x
        self.contacts.each([], lambda k: self._stiffened(H, places, k))

    def _stiffened(self, H: Scratch, places: Mapping[tuple[int, int], int], k: Scalar) -> list[Scalar]:
        """Contact k added to a Hessian, for each two limbs that feel it."""
        contacts, limbs = self.contacts, self.contacts.limbs
        K = contacts.stiffness(k, contacts.x(k))

        def felt(g: int) -> tuple[Scalar, ...]:
            KJ = {j: K(contacts.column(k, j)) for j in limbs[g]}
            for other in limbs[: g + 1]:
                when(contacts.felt(k, limbs.index(other)), (), partial(added, other, KJ))
            return ()

        def added(other: Sequence[int], KJ: Mapping[int, list[Scalar]]) -> tuple[Scalar, ...]:
            for i in other:
                J = contacts.column(k, i)
                for j, column in KJ.items():
                    place = places.get((max(i, j), min(i, j)))
                    if place is not None and (i >= j or j not in other):
                        H[place] = H[place] + inner(J, column)
            return ()

        for g in range(len(limbs)):
            when(contacts.felt(k, g), (), partial(felt, g))
        return []

    def slope(self, a: Flat, s: Flat, start: Scalar, bend: Scalar) -> Slope:
        """The first and second derivative of the cost along s; of its part without constraints at the start."""
        contacts, at, along = self.contacts, [r.of(a) - r.reference for r in self.rows], [r.of(s) for r in self.rows]

        def slopes(alpha: Scalar) -> tuple[Scalar, Scalar]:
            first, second = start + alpha * bend, bend
            for row, x, d in zip(self.rows, at, along, strict=True):
                f, D = row.force(x + alpha * d)
                first, second = first - f * d, second + D * d * d

            def more(k: Scalar, first: Scalar, second: Scalar) -> list[Scalar]:
                x, d = contacts.ahead(k, alpha), contacts.change(k)
                Kd = contacts.stiffness(k, x)(d)
                return [first + inner(x, Kd), second + inner(d, Kd)]

            first, second = contacts.each([first, second], more)
            return first, second

        return slopes


def least(slope: Slope, enough: Scalar, terms: Scalar, going: Scalar, iterations: int) -> Scalar:
    """Where a convex function that falls at 0 has no slope, or little enough: Newton's method from 1, kept between.

    `terms` is how large the numbers are that make the slope. A state that is not `going` has 1.
    """

    def tried(_: Scalar, at: Scalar, low: Scalar, high: Scalar, going: Scalar) -> tuple[Scalar, ...]:
        first, second = slope(at)
        falls = less(first, 0.0)
        low, high = select(falls, at, low), select(falls, high, at)
        there = at - first / second
        known = select(less(low, there), less(there, high), 0.0)
        there = select(known, there, select(less(high, FAR), 0.5 * (low + high), 2.0 * at))
        falls_still = select(less(enough, absolute(first)), _feels(terms, NOISE * first), 0.0)
        on = select(falls_still, _feels(at, CLOSE * (there - at)), 0.0)
        return select(on, there, at), low, high, select(on, 1.0, 0.0)

    zero = 0.0 * enough
    return repeat(iterations, (zero + 1.0, zero, zero + FAR, going), tried, lambda *now: less(now[3], 0.5))[0]


def _feels(x: Scalar, change: Scalar) -> Scalar:
    """Whether a number is another one with a change, in the precision there is."""
    return less(0.0, absolute(x + change - x))
