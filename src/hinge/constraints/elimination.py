"""Constraints eliminated: as many pseudo-velocities as there are freedoms, and equations of motion in them.

    qd = S(q) η + s(q, t)        Sᵀ M S η̇ + Sᵀ M (Ṡ η + ṡ) + Sᵀ C = Sᵀ Y

The pseudo-velocities are velocities of the robot that determine the others, so S has rows of the identity. Where they
do not determine them the equations are singular: choose others.
Source: zefran2004, section 3: (21) and (22) there.
Differs from the source: the last term of (22) is Sᵀ M Ṡ η with Ṡ the rate along the motion; s stands for constraints
that move, b ≠ 0.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from hinge.arguments import Array
from hinge.dynamics.solve import LDL
from hinge.graph import Scalar, inner, less, maximum, select

Rows = Sequence[Sequence[Scalar]]
SMALL = 1e-13  # a pivot below this share of its row is rounding: the dependent velocities are not determined


class Elimination:
    """The dependent velocities from the independent ones at one state."""

    def __init__(self, A: Rows, b: Sequence[Scalar], c: Sequence[Scalar], independent: Sequence[int]):
        n = len(A[0])
        dependent = [k for k in range(n) if k not in independent]
        self.n, self.independent, self.dependent = n, list(independent), dependent
        self.Ad = [[row[k] for k in dependent] for row in A]
        gram = [[inner(a, b) for b in self.Ad] for a in self.Ad]
        self.gram = LDL(gram, lambda k: f"constraint {k + 1}")
        self.pivots = [p - SMALL * gram[k][k] for k, p in enumerate(self.gram.pivots)]
        columns = [self._dependent([-row[k] for row in A]) for k in independent]
        self.S = [[0.0] * len(independent) for _ in range(n)]  # (21)
        for j, k in enumerate(independent):
            self.S[k][j] = 1.0
            for i, x in zip(dependent, columns[j], strict=True):
                self.S[i][j] = x
        self.s = self._spread(self._dependent(b))
        self.bias = self._spread(self._dependent([-x for x in c]))  # Ṡ η + ṡ: qdd when η̇ = 0

    def _dependent(self, right: Sequence[Scalar]) -> list[Scalar]:
        answer = self.gram.solve(right)  # Adᵀ (Ad Adᵀ)⁻¹ needs no exchange of rows, which a trace could not make
        return [inner(column, answer) for column in zip(*self.Ad, strict=True)]

    def _spread(self, entries: Sequence[Scalar]) -> list[Scalar]:
        made: list[Scalar] = [0.0] * self.n
        for i, x in zip(self.dependent, entries, strict=True):
            made[i] = x
        return made

    def velocity(self, eta: Sequence[Scalar]) -> list[Scalar]:
        """qd = S η + s."""
        return [inner(row, eta) + x for row, x in zip(self.S, self.s, strict=True)]

    def reduced(self, M: Rows) -> list[list[Scalar]]:
        """Sᵀ M S."""
        MS = [[inner(row, column) for row in M] for column in zip(*self.S, strict=True)]
        return [[inner(column, ms) for ms in MS] for column in zip(*self.S, strict=True)]

    def forces(self, M: Rows, needed: Sequence[Scalar]) -> list[Scalar]:
        """Sᵀ (needed - M (Ṡ η + ṡ)): the right-hand side of (22)."""
        left = [x - inner(row, self.bias) for x, row in zip(needed, M, strict=True)]
        return [inner(column, left) for column in zip(*self.S, strict=True)]


def determined(A: Rows, rank: int) -> list[Scalar]:
    """1 for the velocities, as many as the rank, that constraints determine best at one state, 0 for the others."""
    left, n = [list(row) for row in A], len(A[0])
    chosen: list[Scalar] = [0.0] * n
    for _ in range(rank):
        columns = list(zip(*left, strict=True))
        sizes = [select(c, -1.0, inner(column, column)) for c, column in zip(chosen, columns, strict=True)]
        largest, here = sizes[0], [1.0] + [0.0] * (n - 1)
        for k in range(1, n):  # the first of the largest
            here = [select(less(largest, sizes[k]), 1.0 if j == k else 0.0, x) for j, x in enumerate(here)]
            largest = maximum(largest, sizes[k])
        chosen = [maximum(a, b) for a, b in zip(chosen, here, strict=True)]
        column = [inner(row, here) for row in left]
        weight = 1.0 / maximum(inner(column, column), 1e-300)
        share = [inner(column, other) * weight for other in columns]
        left = [[x - c * s for x, s in zip(row, share, strict=True)] for row, c in zip(left, column, strict=True)]
    return chosen


def choose(A: Array, m: int) -> list[int]:
    """The velocities, as many as there are freedoms, that are worst determined by matrices A (states, m, nv).

    The m columns that span most are the dependent ones: Gauss-Jordan with the largest pivot, on all states at once.
    """
    return np.flatnonzero(~dependent(A, m, together=True)[0]).tolist()


def dependent(A: Array, rank: int, together: bool = False) -> Array:
    """Which velocities, as many as the rank, the constraints A (states, r, nv) determine best: the largest pivots.

    Each state has its own, or all the same ones: those whose pivots are largest where they are smallest.
    """
    left, chosen = A.astype(float), np.zeros((len(A), A.shape[2]), bool)
    rows = np.arange(len(A))
    for _ in range(rank):
        sizes = np.where(chosen, -1.0, np.square(left).sum(axis=1))
        k = np.broadcast_to(sizes.min(axis=0).argmax(), len(A)) if together else sizes.argmax(axis=1)
        chosen[rows, k] = True
        column = left[rows, :, k]
        share = np.einsum("sr,srk->sk", column, left) / np.maximum(np.square(column).sum(axis=1), 1e-300)[:, None]
        left = left - column[:, :, None] * share[:, None, :]
    return chosen
