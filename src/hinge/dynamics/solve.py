"""Symmetric positive-definite systems over scalars, factored from the last row to the first.

Taken in that order the matrix of a tree fills in no zero: the factor has the sparsity of the tree, and a structural
zero is a plain 0.0 that costs nothing. `LDL` needs no square roots; `LL` is the classic form. On paper small systems
are solved by Cramer's rule: what elimination leaves there are fractions of fractions.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

from hinge.errors import NotCovered
from hinge.graph import Expr, Scalar, absolute, inner, is_zero, on_paper, ruled, sqrt, units
from hinge.graph.scalars import largest

Rows = Sequence[Sequence[Scalar]]
READABLE = 3  # the largest system whose determinant is written out
ROUNDING = 1e-13  # of the largest entry of a matrix: a pivot below this share is none


def refuse_idle(joint: str) -> NoReturn:
    """Raise for a joint, named as `joint_label` does, that moves nothing."""
    raise NotCovered(
        f"{joint} moves nothing that has inertia, so no acceleration follows from its force.\n"
        "  Give the body a mass or the joint an armature, or lock the joint."
    )


class LDL:
    """H = Lᵀ D L with a unit lower triangular L; `pivots` is D.

    `joint_label(k)` says what coordinate k is, for the refusal of a matrix that can never be solved.
    """

    def __init__(self, rows: Rows, joint_label: Callable[[int], str]):
        H = [list(row[: k + 1]) for k, row in enumerate(rows)]
        self.lower = [list(row) for row in H]
        self.size, self.pivots = len(H), [0.0] * len(H)
        self.written = _whole(H) if len(H) <= READABLE and any(on_paper(x) for row in H for x in row) else None
        self.reciprocals: list[Scalar | None] = [None] * len(H)  # of the pivots, where they were needed
        self.below: list[list[tuple[int, Scalar]]] = [[] for _ in H]
        for k in reversed(range(self.size)):
            self.pivots[k] = pivot = H[k][k]
            if type(pivot) is not Expr and isinstance(pivot, float | int) and not pivot > 0.0:
                refuse_idle(joint_label(k))
            entries = [(i, H[k][i]) for i in range(k) if not is_zero(H[k][i])]
            self.below[k] = [(i, self._over(entry, k)) for i, entry in entries]
            for i, scaled in self.below[k]:
                for j, entry in entries:
                    if j <= i:
                        H[i][j] = H[i][j] - scaled * entry

    @classmethod
    def of(cls, pivots: Sequence[Scalar], below: Sequence[Sequence[tuple[int, Scalar]]]) -> LDL:
        """The factors that are known: D, and of each row of L the places and entries beside the diagonal."""
        made = cls([], str)
        made.size, made.pivots, made.below = len(pivots), list(pivots), [list(row) for row in below]
        made.reciprocals = [None] * len(pivots)
        return made

    def _over(self, x: Any, k: int) -> Any:
        """x / D_k, by the reciprocal where that has to be computed."""
        pivot = self.pivots[k]
        if type(pivot) is float:
            return x / pivot
        if self.reciprocals[k] is None:
            self.reciprocals[k] = 1.0 / pivot
        return x * self.reciprocals[k]

    def solve(self, b: Sequence[Any]) -> list[Any]:
        """H⁻¹ b; the entries of b may be anything that adds and scales, such as forces."""
        x = self._solved(b)
        if self.size > 1 and self.lower and all(type(one) in (Expr, float) for one in b):
            self._rule(x, b)
        return x

    def _rule(self, x: Sequence[Scalar], b: Sequence[Scalar]) -> None:
        """The answer's derivatives: H dx = db - dH x, and of weights the same system once more."""
        places = [(i, j) for i, row in enumerate(self.lower) for j, entry in enumerate(row) if not is_zero(entry)]

        def moved(rates: list[Scalar]) -> list[Scalar]:
            left = list(rates[len(places) :])
            for (i, j), rate in zip(places, rates, strict=False):
                if not is_zero(rate):
                    left[i] = left[i] - rate * x[j]
                    left[j] = left[j] - rate * x[i] if i != j else left[j]
            return self.solve(left)

        def pull(weights: list[Scalar]) -> list[Scalar]:
            w = self.solve(weights)
            slopes = [w[i] * x[j] + w[j] * x[i] if i != j else w[i] * x[i] for i, j in places]
            return [*(-slope for slope in slopes), *w]

        ruled(x, [*(self.lower[i][j] for i, j in places), *b], lambda every: [moved(rates) for rates in every], pull)

    def _solved(self, b: Sequence[Any]) -> list[Any]:
        if self.written is not None:
            return _by_cramer(self.written, b)
        x = list(b)
        for k in reversed(range(self.size)):
            for i, factor in self.below[k]:
                x[i] = x[i] - x[k] * factor
        x = [self._over(x[k], k) for k in range(self.size)]
        for k in range(self.size):
            for i, factor in self.below[k]:
                x[k] = x[k] - x[i] * factor
        return x


class Inverse(LDL):
    """The same with N = L⁻¹ made once, for many systems: H⁻¹ = N D⁻¹ Nᵀ. A row of N has the zeros of the tree too."""

    def __init__(self, rows: Rows, joint_label: Callable[[int], str]):
        super().__init__(rows, joint_label)
        self.N: list[dict[int, Scalar]] = []
        for k, row in enumerate(self.below):
            made: dict[int, Scalar] = {k: 1.0}
            for i, factor in row:
                for j, entry in self.N[i].items():
                    made[j] = made.get(j, 0.0) - factor * entry
            self.N.append(made)

    def _solved(self, b: Sequence[Any]) -> list[Any]:
        if self.written is not None:
            return super()._solved(b)
        y: list[Any] = [0.0] * self.size
        for k, row in enumerate(self.N):
            for i, entry in row.items():
                y[i] = y[i] + entry * b[k]
        z, x = [self._over(y[k], k) for k in range(self.size)], [0.0] * self.size
        for k, row in enumerate(self.N):
            for i, entry in row.items():
                x[k] = x[k] + entry * z[i]
        return x

    def rows(self) -> list[list[Scalar]]:
        """H⁻¹ itself."""
        columns = [self.solve(unit) for unit in units(self.size)]
        return [[columns[max(i, j)][min(i, j)] for j in range(self.size)] for i in range(self.size)]


class LU:
    """A = U L with a unit lower triangular L, for a matrix with the zeros of a tree that is not symmetric."""

    def __init__(self, rows: Rows):
        A = [list(row) for row in rows]
        self.size, self.pivots, self.diagonal = len(A), [0.0] * len(A), [row[k] for k, row in enumerate(rows)]
        self.left: list[list[tuple[int, Scalar]]] = [[] for _ in A]  # L, below the diagonal
        self.above: list[list[tuple[int, Scalar]]] = [[] for _ in A]  # U over its diagonal, a column each
        for k in reversed(range(self.size)):
            pivot = self.pivots[k] = A[k][k]
            if is_zero(pivot):
                refuse_idle(f"velocity {k}")
            self.left[k] = [(j, A[k][j] * (1.0 / pivot)) for j in range(k) if not is_zero(A[k][j])]
            self.above[k] = [(i, A[i][k]) for i in range(k) if not is_zero(A[i][k])]
            for i, entry in self.above[k]:
                for j, scaled in self.left[k]:
                    A[i][j] = A[i][j] - entry * scaled

    def solve(self, b: Sequence[Scalar]) -> list[Scalar]:
        """A⁻¹ b."""
        x = list(b)
        for k in reversed(range(self.size)):
            x[k] = x[k] * (1.0 / self.pivots[k])
            for i, entry in self.above[k]:
                x[i] = x[i] - entry * x[k]
        for k in range(self.size):
            for j, scaled in self.left[k]:
                x[k] = x[k] - scaled * x[j]
        return x

    @property
    def sizes(self) -> list[Scalar]:
        """The pivots without their signs, which may be any here, less what rounding leaves: where all are positive,
        there is an answer."""
        return [absolute(p) - ROUNDING * absolute(d) for p, d in zip(self.pivots, self.diagonal, strict=True)]


class LL(LDL):
    """H = Lᵀ L: the square roots of the pivots go into the factor."""

    def __init__(self, rows: Rows, joint_label: Callable[[int], str]):
        super().__init__(rows, joint_label)
        self.roots = [sqrt(p) for p in self.pivots]
        self.below = [[(i, factor * self.roots[k]) for i, factor in row] for k, row in enumerate(self.below)]

    def _solved(self, b: Sequence[Any]) -> list[Any]:
        x = list(b)
        for k in reversed(range(self.size)):
            x[k] = x[k] * (1.0 / self.roots[k])
            for i, factor in self.below[k]:
                x[i] = x[i] - x[k] * factor
        for k in range(self.size):
            for i, factor in self.below[k]:
                x[k] = x[k] - x[i] * factor
            x[k] = x[k] * (1.0 / self.roots[k])
        return x


def _whole(lower: Rows) -> Rows:
    """A symmetric matrix from its rows up to the diagonal."""
    n = range(len(lower))
    return [[lower[max(i, j)][min(i, j)] for j in n] for i in n]


def _by_cramer(H: Rows, b: Sequence[Any]) -> list[Any]:
    """H⁻¹ b: each entry a sum over the determinant of the coordinates that H couples with it."""
    x = list(b)
    for group in _coupled(H):
        part = [[H[i][j] for j in group] for i in group]
        n = range(len(group))
        cofactors = [[(-1.0) ** (i + j) * _minor(part, i, j) for j in n] for i in n]
        whole = 1.0 / inner(part[0], cofactors[0])
        for i in n:
            terms = [b[group[j]] * cofactors[i][j] for j in n]
            x[group[i]] = functools.reduce(operator.add, terms) * whole
    return x


def _minor(H: Rows, i: int, j: int) -> Scalar:
    """The determinant of a matrix of at most three rows without row i and column j."""
    rows = [[x for c, x in enumerate(row) if c != j] for r, row in enumerate(H) if r != i]
    if len(rows) == 2:
        (a, b), (c, d) = rows
        return a * d - b * c
    return rows[0][0] if rows else 1.0


def _coupled(H: Rows) -> list[list[int]]:
    """The coordinates in groups, with nothing but zeros between one and another."""
    groups: list[list[int]] = []
    for i, row in enumerate(H):
        touched = [group for group in groups if any(not is_zero(row[j]) for j in group)]
        groups = [group for group in groups if group not in touched] + [[*(j for group in touched for j in group), i]]
    return groups


def plus_diagonal(rows: Rows, diagonal: Sequence[Scalar]) -> list[list[Scalar]]:
    """A matrix with something added to its diagonal."""
    return [[x + (diagonal[r] if r == c else 0.0) for c, x in enumerate(row)] for r, row in enumerate(rows)]


def solve_general(rows: Rows, b: Sequence[Scalar]) -> tuple[list[Scalar], list[Scalar]]:
    """x with A x = b for a small matrix that need not be symmetric, by plain elimination; and its pivots.

    A pivot is without its sign and less what rounding leaves, so that it is positive where there is an answer.
    """
    A, x, n = [list(row) for row in rows], list(b), len(b)
    rounding = largest(entry for row in A for entry in row) * ROUNDING
    for k in range(n):
        swap = next((i for i in range(k, n) if not is_zero(A[i][k])), k)  # a row whose pivot is not surely zero
        A[k], A[swap], x[k], x[swap] = A[swap], A[k], x[swap], x[k]
        pivot = 1.0 / A[k][k]
        for i in range(k + 1, n):
            factor = A[i][k] * pivot
            for j in range(k + 1, n):
                A[i][j] = A[i][j] - factor * A[k][j]
            x[i] = x[i] - factor * x[k]
    for k in reversed(range(n)):
        for j in range(k + 1, n):
            x[k] = x[k] - A[k][j] * x[j]
        x[k] = x[k] * (1.0 / A[k][k])
    return x, [absolute(A[k][k]) - rounding for k in range(n)]
