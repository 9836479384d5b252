"""Linear complementarity for batches of contact problems, by Lemke's method.

    w = C z + d,  w ≥ 0,  z ≥ 0,  wᵀ z = 0,  C symmetric and positive semi-definite

An artificial variable z0 makes every row feasible and is driven out by complementary pivots. Ties are broken in
lexicographic order, so no basis comes back and the method ends: with a solution, or on a ray, which for a positive
semi-definite C proves that there is none. All problems of a batch pivot at once, each on its own row and column; what
is done to one does not depend on the others.
Source: featherstone1987, section 9.8.2, which refers to linear complementarity; the method is by C. E. Lemke (1965).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hinge.arguments import Array
from hinge.typing import Flags, Whole

TINY = 1e-11  # a pivot below this, of entries scaled to one, is rounding
TIE = 1e-12


class Solved(NamedTuple):
    """z, whether it was found, where it was not the ray that proves there is none, and how many pivots it took."""

    z: Array
    found: Flags
    ray: Array
    pivots: Whole


def lemke(C: Array, d: Array) -> Solved:
    """Solve a batch of problems: C (m, n, n), d (m, n). Rows that are not finite are not found."""
    m, n = d.shape
    grid = np.arange(m)
    scale = np.sqrt(np.maximum(np.einsum("mii->mi", C), 0.0))
    largest = scale.max(axis=1, keepdims=True, initial=0.0)
    largest = np.where(largest > 0.0, largest, 1.0)
    unit = 1.0 / np.where(scale > 1e-12 * largest, scale, largest)  # a null normal stays null
    size = np.abs(d * unit).max(axis=1, initial=0.0)
    size = np.where((size > 0.0) & np.isfinite(size), size, 1.0)
    scaled = C * unit[:, :, None] * unit[:, None, :]
    start = d * unit / size[:, None]
    good = np.isfinite(scaled).all(axis=(1, 2)) & np.isfinite(start).all(axis=1)

    # columns: w (n), z (n), z0, right side; rows: what is in the basis
    T = np.concatenate([np.broadcast_to(np.eye(n), (m, n, n)), -scaled, -np.ones((m, n, 1)), start[:, :, None]], axis=2)
    T[~good] = 0.0
    basis = np.broadcast_to(np.arange(n), (m, n)).copy()
    ray, pivots, active = np.zeros((m, n)), np.zeros(m, int), good & (start.min(axis=1, initial=0.0) < 0.0)
    found = good & ~active
    if not active.any():
        return Solved(np.zeros((m, n)), found, ray, pivots)

    enter = np.full(m, 2 * n)
    row = np.where(active, start.argmin(axis=1), 0)
    for _ in range(_most(n)):
        at = grid[active]
        leave = basis[at, row[at]]
        _pivot(T, at, row[at], enter[at])
        basis[at, row[at]] = enter[at]
        pivots[at] += 1
        done = leave == 2 * n
        found[at[done]], active[at[done]] = True, False
        at, leave = at[~done], leave[~done]
        if not len(at):
            break
        enter[at] = np.where(leave < n, leave + n, leave - n)
        column = np.take_along_axis(T[at], enter[at][:, None, None], axis=2)[:, :, 0]
        lost = ~(column > TINY).any(axis=1)
        row[at[~lost]] = _leaving(T[at[~lost]], column[~lost], basis[at[~lost]])
        _note_rays(ray, at[lost], column[lost], basis, enter)
        active[at[lost]] = False
        if not active.any():
            break
    z = np.zeros((m, 2 * n + 1))
    np.put_along_axis(z, basis, T[:, :, -1], axis=1)
    return Solved(np.maximum(z[:, n : 2 * n], 0.0) * unit * size[:, None], found, ray * unit, pivots)


def _most(n: int) -> int:
    return 50 * (n + 2) ** 2


def _pivot(T: Array, at: Array, row: Array, column: Array) -> None:
    """Bring a column into the basis at a row, for each problem."""
    here = T[at]
    k = np.arange(len(at))
    pivot = here[k, row] / here[k, row, column][:, None]
    factor = here[k, :, column]
    factor[k, row] = 0.0
    here -= factor[:, :, None] * pivot[:, None, :]
    here[k, row] = pivot
    T[at] = here


def _leaving(T: Array, column: Array, basis: Array) -> Array:
    """The row that bounds the entering variable, the lexicographically least where several do; z0's if it is one."""
    n = T.shape[1]
    may = column > TINY
    safe = np.where(may, column, 1.0)
    tied = may.copy()
    for k in (T.shape[2] - 1, *range(n)):
        ratio = np.where(tied, T[:, :, k] / safe, np.inf)
        least = ratio.min(axis=1, keepdims=True)
        tied &= ratio <= least + TIE * np.maximum(1.0, np.abs(least))
        if k == T.shape[2] - 1:
            last = tied & (basis == 2 * n)
            tied = np.where(last.any(axis=1, keepdims=True), last, tied)
        if (tied.sum(axis=1) <= 1).all():
            break
    return tied.argmax(axis=1)


def _note_rays(ray: Array, at: Whole, column: Array, basis: Whole, enter: Whole) -> None:
    """The direction in z along which the problem is unbounded."""
    n = ray.shape[1]
    for m, col in zip(at, column, strict=True):
        along = np.zeros(2 * n + 1)
        along[basis[m]] = -col
        along[enter[m]] = 1.0
        ray[m] = np.maximum(along[n : 2 * n], 0.0)
