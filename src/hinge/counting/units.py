"""What single spatial operations cost, and what it would cost to do them with 6×6 matrices.

Source: featherstone1987, sections 8.3.1, 8.3.2, 8.3.3 and 8.3.4, Tables 8-3, 8-4 and 8-5, and Tables 8-2 and 4-1.
Differs from the source: ours take inertias and forces from the child to the parent, which is the same work; an inertia
has its symmetric parts once, and a symmetric block is turned with four multiplications, so that the squares and the
product of sine and cosine, which the text has ready, are not needed. Motions are angular first.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from typing import Any, NamedTuple

from hinge.counting.steps import Steps, at_once
from hinge.counting.watch import Operation, listed
from hinge.graph import Graph
from hinge.graph.expr import Scalar
from hinge.spatial import ArticulatedInertia, Mat3, Motion, Rigid, RigidInertia, Sym3, Vec3, skew
from hinge.spatial.transform import Screw

MUL, ADD = 4, 1  # the text's measure of one number: a multiplication takes as long as four additions
Rows = list[list[Scalar]]


class Unit(NamedTuple):
    """An operation by ours, and by a 6×6 matrix where it has one."""

    ours: list[Operation]
    whole: list[Operation]


def figures(done: Sequence[Operation]) -> Steps:
    """Multiplications and additions one after another."""
    kinds = [one.kind for one in done]
    return Steps(kinds.count("mul"), kinds.count("add"))


def better(before: Steps, after: Steps, times: int = 1) -> float:
    """The factor by which doing it `times` times the second way is better than once the first."""
    return (MUL * before.mul + ADD * before.add) / (times * (MUL * after.mul + ADD * after.add))


class Symbols:
    """Quantities all of whose numbers are different and unknown."""

    def __init__(self) -> None:
        self.graph, self.next = Graph(), 0

    def scalars(self, n: int) -> list[Scalar]:
        self.next += n
        return [self.graph.input("x", self.next - n + k) for k in range(n)]

    def vec3(self) -> Vec3:
        return Vec3(self.scalars(3))

    def mat3(self) -> Mat3:
        return Mat3(self.scalars(9))

    def rigid(self) -> Rigid:
        return Rigid(self.mat3(), self.vec3())

    def screw(self) -> Screw:
        """A screw about z whose sine and cosine are there already."""
        made = copy(Screw(2, 0.0))
        made.c, made.s, made.shift = self.scalars(3)
        return made

    def motion(self) -> Motion:
        return Motion(self.vec3(), self.vec3())

    def articulated(self) -> ArticulatedInertia:
        return ArticulatedInertia(Sym3(self.scalars(6)), self.mat3(), Sym3(self.scalars(6)))

    def inertia(self) -> RigidInertia:
        return RigidInertia(self.scalars(1)[0], self.vec3(), Sym3(self.scalars(6)))

    def matrix6(self, columns: int = 6) -> Rows:
        return [self.scalars(columns) for _ in range(6)]


def numbers(made: Any) -> list[Scalar]:
    """The numbers of a spatial quantity, in the order it keeps them."""
    if isinstance(made, tuple | list):
        return [x for part in made for x in numbers(part)]
    parts = {Motion: ("ang", "lin"), RigidInertia: ("m", "h", "I"), ArticulatedInertia: ("I", "H", "M"),
             Rigid: ("E", "r"), Screw: ("c", "s", "shift")}  # fmt: skip
    return [x for part in parts.get(type(made), ()) for x in numbers(getattr(made, part))] or [made]


def product(A: Rows, B: Rows) -> Rows:
    """A product of matrices; sums of pairs are summed in pairs, so that they can be done at once."""
    columns = list(zip(*B, strict=True))
    return [[_sum([a * b for a, b in zip(row, column, strict=True)]) for column in columns] for row in A]


def _sum(terms: list[Scalar]) -> Scalar:
    while len(terms) > 1:
        terms = [sum(terms[k + 1 : k + 2], terms[k]) for k in range(0, len(terms), 2)]
    return terms[0]


def unit(make: Callable[[Symbols], Any], whole: Callable[[Symbols], Rows]) -> Unit:
    return Unit(*(listed(numbers(one(Symbols()))) for one in (make, whole)))


def _two(s: Symbols) -> Rows:
    return product(s.matrix6(), s.matrix6())


def _three(s: Symbols) -> Rows:
    return product(product(s.matrix6(), s.matrix6()), s.matrix6())


def _column(s: Symbols) -> Rows:
    return product(s.matrix6(), s.matrix6(1))


def units(factor: Callable[[Symbols], Any]) -> dict[str, Unit]:
    """The four operations of the tables, with a transform that `factor` makes."""
    return {
        "transform": unit(lambda s: factor(s).pose(s.mat3(), s.vec3()), _two),
        "vector": unit(lambda s: factor(s).motion(s.motion()), _column),
        "articulated": unit(lambda s: factor(s).articulated_back(s.articulated()), _three),
        "rigid": unit(lambda s: factor(s).rigid_back(s.inertia()), _three),
    }


def _moved(E: Mat3, B: Mat3) -> Mat3:
    return E.times(B).times(E.T)


def _articulated_in_full(s: Symbols) -> list[Mat3]:
    """M, H and I."""
    E, r, I, H, M = s.mat3(), s.vec3(), s.mat3(), s.mat3(), s.mat3()
    G = H - skew(r).times(M)
    return [_moved(E, M), _moved(E, G), _moved(E, I - skew(r).times(H.T) + G.times(skew(r)))]


def _rigid_in_full(s: Symbols) -> list[Any]:
    """m, h and I."""
    E, r, m, h, I = s.mat3(), s.vec3(), s.scalars(1)[0], s.vec3(), s.mat3()
    left = h - r * m
    return [m, E @ left, _moved(E, I + skew(r).times(skew(h)) + skew(left).times(skew(r)))]


def whole_matrices() -> dict[str, Unit]:
    """Inertias moved by a general transform as matrices all of whose entries are computed: before Table 8-4."""
    return {"articulated": unit(_articulated_in_full, _three), "rigid": unit(_rigid_in_full, _three)}


def storage() -> dict[str, int]:
    """How many numbers each quantity is kept as."""
    s = Symbols()
    kept = {"vector": s.motion(), "transform": s.rigid(), "screw": s.screw(), "articulated": s.articulated(),
            "rigid": s.inertia()}  # fmt: skip
    return {name: len(numbers(made)) for name, made in kept.items()}


def at_widths(done: Sequence[Operation], widths: Sequence[int] = (1, 3, 6, 36)) -> list[Steps]:
    """Steps of machines that do so many operations at once."""
    return [at_once(done, width) for width in widths]


# the rate of a product of n matrices, of which the text makes its example of a recurrence


def rate_term_by_term(A: Sequence[Scalar], dA: Sequence[Scalar]) -> Scalar:
    """Σ_i A_1 … Ȧ_i … A_n, each product from the left: (4.3)."""
    made: list[Scalar] = []
    for i in range(len(A)):
        factors = [dA[k] if k == i else a for k, a in enumerate(A)]
        term = factors[0]
        for one in factors[1:]:
            term = term * one
        made.append(term)
    total = made[0]
    for term in made[1:]:
        total = total + term
    return total


def rate_by_recurrence(A: Sequence[Scalar], dA: Sequence[Scalar]) -> Scalar:
    """The rate of a product of matrices, one factor after another."""
    B, dB = A[0], dA[0]
    for k in range(1, len(A)):
        dB = dB * A[k] + B * dA[k]  # (4.5)
        B = B * A[k]  # (4.4)
    return dB
