"""Derivatives of what the rigid law finds, by the implicit function.

    F(w) = M w - p - Jᵀ λ(x) = 0        x = J w + wanted, normals and the speed of sliding added up

Velocities w that meet all conditions are held, and one step of Newton's method is taken from there: it moves by
nothing, and its derivative is that of the implicit function. The speed of sliding goes with w, so ∂F/∂w is the soft
law's Hessian and a part that is not symmetric (De Saxcé); it is held too, and so is its inverse.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from hinge.contact.cones import Map
from hinge.contact.laws.soft_problem import SoftProblem
from hinge.graph import Scalar, Scratch, absolute, held, inner, less, maximum, repeat, select, sqrt
from hinge.integrators.steps import Flat

POLISH = 12  # steps of Newton's method to the last digits, at the most
NEAR, ROUGH, LAST = (
    0.1,
    1e-9,
    1e-14,
)  # of the speeds: a step that leads elsewhere, that is good enough, that is the last
SENSITIVE = 100.0  # times a unit change: contacts that determine the motion have less than 10, others more than 1e3


class Sliding(Protocol):
    """What has to be known of contacts here, besides what the soft law does."""

    def moving(self, k: Scalar, v: Flat, parting: Scalar) -> list[Scalar]: ...
    def sliding(self, tangents: Sequence[Scalar]) -> list[Scalar]: ...
    def stiffness(self, k: Scalar, x: Sequence[Scalar]) -> Map: ...


def polished(problem: SoftProblem, contacts: Sliding, w: Flat, parting: Scalar, pace: Scalar) -> tuple[Flat, Scalar]:
    """Velocities that all but meet their conditions, and where contacts are with them, to the last digits; and whether
    that was possible.

    What speeds of sliding are off is as much as the forces of contacts that hardly give way: contacts have unknowns of
    their own, that go on along the conditions.
    """
    slots = problem.contacts

    def step(_: Scalar, *now: Scalar) -> list[Scalar]:
        at = list(now[:-1])

        def pushed(k: Scalar, *force: Scalar) -> list[Scalar]:
            x, there = slots.x(k), contacts.moving(k, at, parting)
            Kr = contacts.stiffness(k, x)([a - b for a, b in zip(there, x, strict=True)])
            return slots.pushed(k, Kr, force)

        left = [inner(row, at) - t for row, t in zip(problem.M, problem.tau, strict=True)]
        force = slots.each(problem.forces(at, slots.x), pushed)
        B = inverse(_slope(problem, contacts, at), at[0])
        down = [f - x for x, f in zip(left, force, strict=True)]
        turn = [inner(row, down) for row in B]
        size = sqrt(inner(turn, turn))
        small = less(size, NEAR * pace)
        turn = [select(small, x, 0.0) for x in turn]

        def gone(k: Scalar) -> list[Scalar]:
            x, there = slots.x(k), contacts.moving(k, at, parting)
            change = [inner(slots.row(k, r), turn) for r in range(slots.size)]
            change[0] = change[0] + inner(contacts.sliding(x[1:]), change[1:])
            slots.put(k, [select(small, a + b, y) for a, b, y in zip(there, change, x, strict=True)])
            return []

        slots.each([], gone)
        return [*(x + y for x, y in zip(at, turn, strict=True)), size]

    *made, size = repeat(POLISH, [*w, pace], step, lambda *now: less(now[-1], LAST * pace))
    return made, less(size, ROUGH * pace)


def followed(
    problem: SoftProblem, contacts: Sliding, w: Flat, parting: Scalar, found: Callable[[Scalar], list[Scalar]]
) -> tuple[Flat, Scalar]:
    """The same velocities, whose derivatives are those of the conditions they meet with contacts as they were found;
    and how far contacts are from meeting others, as a share."""
    start, slots = [held(x) for x in w], problem.contacts

    def met(k: Scalar) -> list[Scalar]:
        x = contacts.moving(k, start, parting)
        slots.put(k, [held(there) + (y - held(y)) for there, y in zip(found(k), x, strict=True)])
        return []

    slots.each([], met)
    left = [inner(row, start) - t for row, t in zip(problem.M, problem.tau, strict=True)]
    down = [f - x for x, f in zip(left, problem.forces(start, slots.x), strict=True)]
    B = inverse(_slope(problem, contacts, start), start[0])
    made = [x + inner([held(y) for y in row], down) for x, row in zip(start, B, strict=True)]
    sensitivity = _load_sensitivity(problem, contacts, B)
    return made, select(less(SENSITIVE, sensitivity), 0.0, slots.margin(start))


def _load_sensitivity(problem: SoftProblem, contacts: Sliding, B: Sequence[Flat]) -> Scalar:
    """Return how much the motion depends on how the contacts share a load, which a rigid body does not determine.

    This is the greatest change of the velocities with the gap speed of one contact, as a share of the speed that the
    energy of this change gives a point of its bodies.
    """
    none, slots = 0.0 * B[0][0], problem.contacts

    def largest(k: Scalar, most: Scalar) -> list[Scalar]:
        push = contacts.stiffness(k, slots.x(k))([1.0, *([0.0] * (slots.size - 1))])
        force = slots.pushed(k, push, [none] * problem.n)
        change = [inner(row, force) for row in B]
        energy = inner(change, [inner(row, change) for row in problem.M])
        return [maximum(most, slots.begins(k)[1] * energy)]

    return sqrt(slots.each([none], largest)[0])


def _slope(problem: SoftProblem, contacts: Sliding, w: Flat) -> Square:
    """∂F/∂w at velocities that contacts were met with."""
    n, slots, H = problem.n, problem.contacts, problem.hessian(w)
    made = Square(n, n, w[0])
    for i in range(n):
        for j in range(n):
            made[i, j] = H[max(i, j)][min(i, j)]

    def slid(k: Scalar) -> list[Scalar]:
        x = slots.x(k)
        push, along = contacts.stiffness(k, x)([1.0, *([0.0] * (slots.size - 1))]), contacts.sliding(x[1:])
        rows = [slots.row(k, r) for r in range(slots.size)]
        for i, j in problem.places:
            for a, b in {(i, j), (j, i)}:
                turn = inner(along, [row[b] for row in rows[1:]])
                made[a, b] = made[a, b] + inner(push, [row[a] for row in rows]) * turn
        return []

    if slots.size > 1:
        slots.each([], slid)
    return made


class Square:
    """A matrix in memory of the program."""

    def __init__(self, rows: int, columns: int, like: Scalar):
        self.rows, self.columns = rows, columns
        self._numbers = Scratch(rows * columns, like, zeros=False)

    def __getitem__(self, at: tuple[Scalar, Scalar]) -> Scalar:
        return self._numbers[self._place(*at)]

    def __setitem__(self, at: tuple[Scalar, Scalar], x: Scalar) -> None:
        self._numbers[self._place(*at)] = x

    def _place(self, i: Scalar, j: Scalar) -> Scalar:
        return i * float(self.columns) + j


def inverse(A: Square, like: Scalar) -> list[Flat]:
    """The inverse of a matrix: Gauss and Jordan's elimination, with the largest of each column as its pivot."""
    n = A.rows
    both = Square(n, 2 * n, like)
    for i in range(n):
        for j in range(n):
            both[i, j], both[i, n + j] = A[i, j], float(i == j)

    def eliminated(c: Scalar, kept: Scalar) -> tuple[Scalar, ...]:
        def larger(r: Scalar, at: Scalar, size: Scalar) -> tuple[Scalar, ...]:
            here = absolute(both[r, c])
            more = select(less(r, c), 0.0, less(size, here))
            return select(more, r, at), select(more, here, size)

        pivot, _ = repeat(n, (c, -1.0), larger)
        scale = 1.0 / both[pivot, c]
        row = [both[pivot, float(j)] for j in range(2 * n)]
        for j, x in enumerate(row):
            both[pivot, float(j)], both[c, float(j)] = both[c, float(j)], x * scale

        def cleared(r: Scalar, kept: Scalar) -> tuple[Scalar, ...]:
            share = select(less(absolute(r - c), 0.5), 0.0, both[r, c])
            for j, x in enumerate(row):
                both[r, float(j)] = both[r, float(j)] - share * (x * scale)
            return (kept,)

        repeat(n, (kept,), cleared)
        return (kept,)

    repeat(n, (like,), eliminated)
    return [[both[i, n + j] for j in range(n)] for i in range(n)]
