"""Motion under constraints, with the forces that keep them.

    H qdd + C = tau + Aᵀ λ        A qdd + c = 0

The forces come first, from (A H⁻¹ Aᵀ) λ = -c - A H⁻¹ (tau - C), then the accelerations.
Source: zefran2004, section 3, and featherstone1987, section 9.4.
Differs from the source: constraints may depend on each other. Those that say nothing new are left out as they are met,
which changes no acceleration, and their forces are zero.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hinge.graph import Scalar, inner, less, on_paper, select, total

OWN = 1e-11  # of a pivot before elimination: what is left below this share of it is rounding
ALL = 1e-13  # the same against the mean of all pivots
HUGE = 1e36  # more than any pivot can be
EMPTY = 1e-12  # m or rad, per unit of velocity: a constraint with no larger entry than this touches nothing


class Semidefinite:
    """Λ = L D Lᵀ for a symmetric matrix without negative eigenvalues; rows with no pivot left are passed over.

    Where a pivot of such a matrix is zero, so is the rest of its row: no exchange of rows is needed.
    """

    def __init__(self, rows: Sequence[Sequence[Scalar]], A: Sequence[Sequence[Scalar]]):
        """From the rows of Λ = A H⁻¹ Aᵀ, up to the diagonal, and of A, whose size tells what is rounding."""
        L = [list(row[: k + 1]) for k, row in enumerate(rows)]
        self.size, self.inverse = len(L), [0.0] * len(L)
        floor = total([row[-1] for row in L]) * (ALL / max(1, self.size))
        none = select(less(floor, HUGE), 0.0, floor)  # a row that is not finite is not passed over: no force is known
        own = [row[-1] * OWN for row in L]
        for k in range(self.size):
            pivot = L[k][k]
            felt = select(less(inner(A[k], A[k]), EMPTY**2), 0.0, pivot)
            good = True if on_paper(pivot) else less(own[k] + floor, felt)  # on paper they are taken to be independent
            self.inverse[k] = select(good, 1.0 / select(good, pivot, 1.0), none)
            column = [L[i][k] for i in range(k + 1, self.size)]
            for i in range(k + 1, self.size):
                scaled = L[i][k] * self.inverse[k]
                for j in range(k + 1, i + 1):
                    L[i][j] = L[i][j] - scaled * column[j - k - 1]
                L[i][k] = scaled
        self.L = L

    def solve(self, b: Sequence[Scalar]) -> list[Scalar]:
        """x with Λ x = b, where there is one; entries of rows that were passed over are zero."""
        x = list(b)
        for k in range(self.size):
            for j in range(k):
                x[k] = x[k] - self.L[k][j] * x[j]
        x = [entry * inverse for entry, inverse in zip(x, self.inverse, strict=True)]
        for k in reversed(range(self.size)):
            for i in range(k + 1, self.size):
                x[k] = x[k] - self.L[i][k] * x[i]
            x[k] = x[k] if on_paper(self.inverse[k]) else select(less(0.0, self.inverse[k]), x[k], self.inverse[k])
        return x


class Keeping:
    """Constraints A qdd + c = 0 on motions of a mass matrix that is factored: W = H⁻¹ Aᵀ, and A H⁻¹ Aᵀ factored."""

    def __init__(self, H: Any, A: Sequence[Sequence[Scalar]]):
        self.A, self.W = A, [H.solve(row) for row in A]
        lower = [[inner(A[k], self.W[j]) for j in range(k + 1)] for k in range(len(A))]
        self.factors = Semidefinite(lower, A)

    def kept(self, free: Sequence[Scalar], c: Sequence[Scalar] | None = None) -> tuple[list[Scalar], list[Scalar]]:
        """Accelerations that keep the constraints, from those that do not, and the multipliers."""
        left = [-inner(row, free) for row in self.A]
        force = self.factors.solve([x - ck for x, ck in zip(left, c, strict=True)] if c is not None else left)
        qdd = [x + total([w[i] * f for w, f in zip(self.W, force, strict=True)]) for i, x in enumerate(free)]
        return qdd, force  # featherstone1987 (9.17)


def constrained(H: Any, forces: Sequence[Scalar], A: Sequence[Sequence[Scalar]], c: Sequence[Scalar]
                ) -> tuple[list[Scalar], list[Scalar]]:  # fmt: skip
    """Accelerations and multipliers, from the factors of H, tau - C, the constraints' matrix A and c."""
    return Keeping(H, A).kept(H.solve(forces), c)
