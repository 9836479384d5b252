"""Backward over one stage: from what the state after it is worth to what the one before it is worth, and the forces.

    Q_z = l_z + Fᵀ v'      Q_zz = l_zz + Fᵀ V' F      F = ∂x'/∂z,  z = (x, u),  v' = V'_x + V' gap
    k = -Q_uu⁻¹ Q_u        K = -Q_uu⁻¹ Q_ux           V_x = Q_x + Q_xu k      V_xx = Q_xx + Q_xu K

Where forces have bounds, k is the least of the quadratic within them, by Newton's method on the forces that are free,
and K moves only these.
Source: mayne1966 and jacobson1970 for the recursion; tassa2014 for bounds; giftthaler2018 for gaps.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from hinge.dynamics.solve import LDL
from hinge.graph import Graph, Scalar, Scratch, absolute, inner, less, maximum, minimum, repeat, select, total
from hinge.graph.loops import traced
from hinge.graph.scalars import largest
from hinge.optimal.stages import Flat, Quadratic, Rows

WRITTEN_OUT = 24  # numbers of z up to which products are written out; beyond they are loops over rows
TURNS, HALVES = 200, 30  # at the most: of Newton's method within bounds, and how often its step is halved
SETTLED = 1e-12  # of the largest force: a change that is none
ROUNDING = 1e-15  # of the value: a change that is none
ENOUGH = 0.1  # of what the slope promises: what a step has to bring


class Backed(NamedTuple):
    """What a stage is worth, as gradient and lower triangle, and the forces: u = k + K x."""

    gradient: Flat
    hessian: Flat
    k: Flat
    K: Rows
    promised: Scalar  # how much the cost changes with k, to first order
    pivot: Scalar  # the least; not positive where the quadratic has no least


def triangle(n: int) -> list[tuple[int, int]]:
    """The places of a lower triangle, row by row."""
    return [(i, j) for i in range(n) for j in range(i + 1)]


def whole(flat: Sequence[Scalar], n: int) -> Rows:
    """A symmetric matrix from its lower triangle."""
    made: Rows = [[0.0] * n for _ in range(n)]
    for (i, j), x in zip(triangle(n), flat, strict=True):
        made[i][j] = made[j][i] = x
    return made


def backed(graph: Graph, F: Rows, stage: Quadratic, v: Flat, V: Rows, extra: Scalar, bounds: Rows | None
           ) -> Backed:  # fmt: skip
    """A stage backward; `extra` is added to the diagonal of Q_uu, and `bounds` are those of k."""
    nx, n = len(F), len(F[0])
    make = _Made(graph, n > WRITTEN_OUT)
    F_, V_, l_zz = make.filled(F), make.filled(V), make.filled(stage.hessian)
    W, Q, K = make.grid(nx, n), make.grid(n, n), make.grid(n - nx, nx)

    def weighed(i: Any) -> None:
        row = V_.row(i)
        for j in range(n):
            W[i, j] = inner(row, [F[k][j] for k in range(nx)])

    def squared(i: Any) -> None:
        column = F_.column(i)
        for j in range(n if make.rolled else i + 1):
            Q[i, j] = l_zz[i, j] + inner(column, W.column(j))
            if not make.rolled:
                Q[j, i] = Q[i, j]

    make.turns(nx, weighed)
    make.turns(n, squared)
    q = [a + inner(column, v) for a, column in zip(stage.gradient, zip(*F, strict=True), strict=True)]
    q_u = q[nx:]
    Q_uu = [[Q[nx + i, nx + j] + (extra if i == j else 0.0) for j in range(n - nx)] for i in range(n - nx)]
    if bounds is None:
        factor, free = LDL(Q_uu, str), [1.0] * len(q_u)
        k = [-x for x in factor.solve(q_u)]
    else:
        k = bounded(Q_uu, q_u, *bounds)
        free = _free(Q_uu, q_u, k, *bounds)
        factor = LDL(_masked(Q_uu, free), str)

    def gained(j: Any) -> None:
        pulls = [Q[nx + i, j] for i in range(n - nx)]
        answer = factor.solve([_times(f, x) for f, x in zip(free, pulls, strict=True)])
        for i, x in enumerate(answer):
            K[i, j] = -x

    make.turns(nx, gained)
    worth = make.grid(nx, nx)

    def worthy(i: Any) -> None:
        row = [Q[nx + a, i] for a in range(n - nx)]
        for j in range(nx if make.rolled else i + 1):
            worth[i, j] = Q[i, j] + inner(row, K.column(j))

    make.turns(nx, worthy)
    gradient = [q[j] + inner([Q[nx + i, j] for i in range(n - nx)], k) for j in range(nx)]
    least = factor.pivots[0]
    for pivot in factor.pivots[1:]:
        least = minimum(least, pivot)
    hessian = [0.5 * (worth[i, j] + worth[j, i]) if make.rolled and i != j else worth[i, j] for i, j in triangle(nx)]
    return Backed(gradient, hessian, k, [K.row(i) for i in range(n - nx)], inner(q_u, k), least)


def bounded(Q: Rows, q: Flat, low: Flat, high: Flat) -> Flat:
    """The least of ½ kᵀ Q k + q k within bounds, which zero is in."""
    n = len(q)

    def value(k: Sequence[Scalar]) -> Scalar:
        return total(x * (g + 0.5 * inner(row, k)) for x, g, row in zip(k, q, Q, strict=True))

    def turn(_: Scalar, *now: Scalar) -> Flat:
        k = list(now[:n])
        slope = [g + inner(row, k) for g, row in zip(q, Q, strict=True)]
        free = _free(Q, q, k, low, high)
        step = LDL(_masked(Q, free), str).solve([-f * g for f, g in zip(free, slope, strict=True)])
        here = value(k)

        def tried(share: Scalar) -> Flat:
            return [minimum(maximum(a + share * b, lo), hi) for a, b, lo, hi in zip(k, step, low, high, strict=True)]

        def gains(share: Scalar) -> Scalar:
            there = tried(share)
            enough = here + ENOUGH * inner(slope, [b - a for a, b in zip(k, there, strict=True)])
            return select(less(enough + ROUNDING * absolute(here), value(there)), 0.0, 1.0)

        (share,) = repeat(HALVES, (1.0 + 0.0 * here,), lambda _, a: (0.5 * a,), gains)
        there = tried(share)
        moved = largest([b - a for a, b in zip(k, there, strict=True)])
        return [*there, select(less(SETTLED * (1.0 + largest(there)), moved), 0.0, 1.0)]

    return list(repeat(TURNS, (*[0.0 * x for x in q], 0.0), turn, lambda *now: now[-1])[:n])


def _free(Q: Rows, q: Flat, k: Flat, low: Flat, high: Flat) -> Flat:
    """One for each force that is not held at a bound it is pushed against, zero for the others."""
    made: Flat = []
    for x, g, row, lo, hi in zip(k, q, Q, low, high, strict=True):
        slope = g + inner(row, k)
        down, up = select(less(lo, x), 0.0, less(0.0, slope)), select(less(x, hi), 0.0, less(slope, 0.0))
        made.append(select(down, 0.0, select(up, 0.0, 1.0)))
    return made


def _masked(Q: Rows, free: Flat) -> Rows:
    """The matrix of the forces that are free; the others stand for themselves."""
    n = len(free)
    return [
        [select(free[i], Q[i][i], 1.0) if i == j else free[i] * (free[j] * Q[i][j]) for j in range(n)] for i in range(n)
    ]


def _times(f: Scalar, x: Scalar) -> Scalar:
    return x if type(f) is float and f == 1.0 else f * x


class _Made:
    """How products are made: written out on scalars, or by loops over rows of memory."""

    def __init__(self, graph: Graph, rolled: bool):
        self.graph, self.rolled = graph, rolled

    def grid(self, rows: int, columns: int) -> _Grid:
        store: Any = [0.0] * (rows * columns)
        if self.rolled:
            store = Scratch(rows * columns, like=self.graph.open[-1], zeros=False)
        return _Grid(rows, columns, store)

    def filled(self, entries: Rows) -> _Grid:
        made = self.grid(len(entries), len(entries[0]))
        for i, row in enumerate(entries):
            for j, x in enumerate(row):
                made[i, j] = x
        return made

    def turns(self, count: int, body: Callable[[Any], None]) -> None:
        if not self.rolled:
            for k in range(count):
                body(k)
            return

        def trip(k: Scalar) -> tuple[()]:
            body(k)
            return ()

        traced(self.graph, count, 0, (), trip, None)


class _Grid:
    """A matrix of scalars: a list, or memory."""

    def __init__(self, rows: int, columns: int, store: Any):
        self.rows, self.columns, self.store = rows, columns, store

    def __getitem__(self, at: tuple[Any, Any]) -> Scalar:
        return self.store[at[0] * self.columns + at[1]]

    def __setitem__(self, at: tuple[Any, Any], x: Scalar) -> None:
        self.store[at[0] * self.columns + at[1]] = x

    def row(self, i: Any) -> Flat:
        return [self[i, j] for j in range(self.columns)]

    def column(self, j: Any) -> Flat:
        return [self[i, j] for i in range(self.rows)]
