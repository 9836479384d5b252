"""The soft law: accelerations that minimise a convex cost, with forces that give way.

    ½ (a - a0)ᵀ M (a - a0) + s(J a - reference)        M a0 = tau - C

Newton's method in a loop: Hessian M + Jᵀ K J, with the zeros that the tree and the pairs of bodies leave it; the exact
minimum along each direction. A state that has arrived keeps its values while others go on.
Source: MuJoCo's documentation, "Computation"; see docs/contact.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from hinge.contact.slot_rows import together
from hinge.contact.soft_contacts import SoftContacts
from hinge.contact.soft_rows import Row
from hinge.contact.softness import SoftLaw
from hinge.dynamics.solve import LDL
from hinge.graph import Scalar, Scratch, absolute, inner, less, maximum, repeat, select, sqrt, total
from hinge.integrators.steps import Flat
from hinge.model import Model

FAR = 1e30  # more than any step along a direction
CLOSE = 1e-14  # of a step: less is rounding
FINE = 0.01  # of the tolerance, along a direction


class Solved(NamedTuple):
    """Accelerations, the forces of constraints along velocities, the scaled gradient that is left, whether it is small
    enough, and how many trips that took."""

    a: Flat
    force: Flat
    residual: Scalar
    settled: Scalar
    trips: Scalar


def solved(model: Model, law: SoftLaw, M: Sequence[Flat], tau: Flat, rows: Sequence[Row], contacts: SoftContacts,
           a: Flat) -> Solved:  # fmt: skip
    """The minimum, from a guess; M is the mass matrix, tau the forces of everything else less the bias force."""
    n, scale = model.nv, 1.0 / law.inertia
    places = _places(model, law, M, rows)

    def pushed(a: Flat, alpha: Scalar | None = None) -> Flat:
        """The forces of constraints along velocities, after a move of alpha."""
        force: Flat = [0.0] * n
        for row in rows:
            f, _ = row.force(row.of(a) - row.reference)
            for v, entry in row.J.items():
                force[v] = force[v] + entry * f

        def more(k: Scalar, *now: Scalar) -> list[Scalar]:
            x = contacts.at(k, alpha)
            if alpha is not None:
                for r, y in enumerate(x):
                    contacts.x[k * float(contacts.size) + float(r)] = y
            f = contacts.stiffness(k, x)(x)
            return [s - inner(contacts.row(k, j), f) for j, s in enumerate(now)]

        return contacts.each(force, more)

    def hessian(a: Flat) -> list[Flat]:
        own = {(i, j): M[i][j] for i, j in places}
        for row in rows:
            _, slope = row.force(row.of(a) - row.reference)
            for i, x in row.J.items():
                for j, y in row.J.items():
                    if j <= i:
                        own[i, j] = own[i, j] + slope * (x * y)
        H = Scratch(len(places), contacts.like, zeros=False)
        for at, x in enumerate(own.values()):
            H[at] = x

        def more(k: Scalar) -> list[Scalar]:
            K, J = contacts.stiffness(k, contacts.at(k)), [contacts.row(k, j) for j in range(n)]
            KJ = [K(column) for column in J]
            for at, (i, j) in enumerate(own):
                H[at] = H[at] + inner(J[i], KJ[j])
            return []

        contacts.each([], more)
        full: list[Flat] = [[0.0] * n for _ in range(n)]
        for at, (i, j) in enumerate(own):
            full[i][j] = H[at]
        return full

    def searched(s: Flat, r: Flat, Ms: Flat, at: Sequence[Scalar]) -> Scalar:
        """How far along s the cost is least."""
        dx, base, bend = [row.of(s) for row in rows], inner(s, r), inner(s, Ms)
        enough = FINE * law.tolerance * law.inertia * sqrt(inner(s, s))

        def slope(alpha: Scalar) -> tuple[Scalar, Scalar]:
            first, second = base + alpha * bend, bend
            for row, x, d in zip(rows, at, dx, strict=True):
                f, D = row.force(x + alpha * d)
                first, second = first - f * d, second + D * d * d

            def more(k: Scalar, one: Scalar, two: Scalar) -> list[Scalar]:
                x, d = contacts.at(k, alpha), contacts.along(k)
                Kd = contacts.stiffness(k, x)(d)
                return [one + inner(x, Kd), two + inner(d, Kd)]

            first, second = contacts.each([first, second], more)
            return first, second

        def tried(_: Scalar, alpha: Scalar, low: Scalar, high: Scalar, going: Scalar) -> tuple[Scalar, ...]:
            first, second = slope(alpha)
            down = less(first, 0.0)
            low, high = select(down, alpha, low), select(down, high, alpha)
            there = alpha - first / second
            inside = select(less(low, there), less(there, high), 0.0)
            there = select(inside, there, select(less(high, FAR), 0.5 * (low + high), 2.0 * alpha))
            on = select(less(enough, absolute(first)), less(CLOSE * alpha, absolute(there - alpha)), 0.0)
            return select(on, there, alpha), low, high, select(on, 1.0, 0.0)

        begin = (0.0 * base + 1.0, 0.0 * base, 0.0 * base + FAR, 0.0 * base + 1.0)
        return repeat(law.line_iterations, begin, tried, lambda *now: less(now[3], 0.5))[0]

    def trip(_: Scalar, *now: Scalar) -> list[Scalar]:
        a, r, force, trips = list(now[:n]), list(now[n : 2 * n]), now[2 * n : 3 * n], now[-1]
        g = [x - f for x, f in zip(r, force, strict=True)]
        H = LDL(hessian(a), model.joint_label())
        s = H._solved([-x for x in g])
        Ms = [inner(row, s) for row in M]

        def stepping(k: Scalar) -> list[Scalar]:
            for row in range(contacts.size):
                J = [contacts.J[contacts._at(k, row, j)] for j in range(n)]
                contacts.step[k * float(contacts.size) + float(row)] = inner(J, s)
            return []

        contacts.each([], stepping)
        alpha = searched(s, r, Ms, [row.of(a) - row.reference for row in rows])
        a = [x + alpha * y for x, y in zip(a, s, strict=True)]
        r = [x + alpha * y for x, y in zip(r, Ms, strict=True)]
        force = pushed(a, alpha)
        left = _norm(r, force) * scale
        gain = -0.5 * scale * inner(g, s)
        going = select(less(law.tolerance, left), less(law.tolerance, gain), 0.0)
        return [*a, *r, *force, left, select(going, 1.0, 0.0), trips + 1.0]

    r = [inner(row, a) - t for row, t in zip(M, tau, strict=True)]
    force = pushed(a)
    left = _norm(r, force) * scale
    begin = [*a, *r, *force, left, select(less(law.tolerance, left), 1.0, 0.0), 0.0 * left]
    end = repeat(law.iterations, begin, trip, lambda *now: less(now[-2], 0.5))
    return Solved(list(end[:n]), list(end[2 * n : 3 * n]), end[-3], less(end[-2], 0.5), end[-1])


def _norm(r: Flat, force: Flat) -> Scalar:
    g = [x - f for x, f in zip(r, force, strict=True)]
    return sqrt(inner(g, g))


def _places(model: Model, law: SoftLaw, M: Sequence[Flat], rows: Sequence[Row]) -> list[tuple[int, int]]:
    """Where the Hessian may be other than zero, below the diagonal and on it."""
    some = {(i, j) for i, row in enumerate(M) for j, x in enumerate(row[: i + 1]) if type(x) is not float or x != 0.0}
    some |= {(i, j) for row in rows for i in row.J for j in row.J if j <= i}
    return sorted(some | together(model, [(pair.first, pair.second) for pair in law.pairs]))
