"""Linear programs of one and of two unknowns, the latter for many polygons at once.

A polygon is what half-planes A z ≤ c leave of the square from 0 to REACH. Its furthest point in a direction is found by
Seidel's method: half-planes are added one by one; as long as the furthest point so far obeys, it stays, else the new
one is on the edge of the half-plane that was added, a program of one unknown.
"""

from __future__ import annotations

import numpy as np

from hinge.arguments import Array

REACH = 1e8  # a greater ṡ² is not looked for: the path would take a tenth of a millisecond
SLACK = 1e-11  # of a limit: what rounding may leave
ROUNDING = 1e-15  # of the terms of a sum
PARALLEL = 1e-11  # as the sine of an angle
SQUARE = np.array([[-1.0, 0.0], [1.0, 0.0], [0.0, -1.0], [0.0, 1.0]]), np.array([0.0, REACH, 0.0, REACH])


def interval(a: Array, b: Array, size: Array) -> tuple[Array, Array]:
    """The least and the greatest t with a t ≤ b, along the last axis; the least is infinite where there is none.

    `size` is what a is to be compared with: below a tiny share of it, t has no say.
    """
    flat = np.abs(a) <= PARALLEL * size
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = b / a
    top = np.where(flat | (a < 0.0), np.inf, ratio).min(axis=-1)
    low = np.where(flat | (a > 0.0), -np.inf, ratio).max(axis=-1)
    return np.where((flat & (b < -SLACK)).any(axis=-1), np.inf, low), top


def furthest(A: Array, c: Array, way: tuple[float, float]) -> tuple[Array, Array]:
    """The furthest points (n, 2) of n polygons, A (n, m, 2) and c (n, m), and which of them are empty."""
    A = np.concatenate([np.broadcast_to(SQUARE[0], (len(A), 4, 2)), A], axis=1)
    c = np.concatenate([np.broadcast_to(SQUARE[1], (len(c), 4)), c], axis=1)
    goal, size, empty = np.array(way), np.hypot(A[..., 0], A[..., 1]), np.zeros(len(A), bool)
    z = np.where(goal > 0.0, REACH, 0.0) * np.ones((len(A), 1))
    for h in range(4, A.shape[1]):
        terms = A[:, h] * z
        rounding = SLACK + ROUNDING * np.abs(terms).sum(axis=1)  # which is large far out, where pieces are narrow
        beyond = np.flatnonzero((terms.sum(axis=1) > c[:, h] + rounding) & ~empty)
        if len(beyond):
            z[beyond], empty[beyond] = _on_edge(A[beyond, : h + 1], c[beyond, : h + 1], size[beyond, : h + 1], goal)
    return z, empty


def _on_edge(A: Array, c: Array, size: Array, goal: Array) -> tuple[Array, Array]:
    """The furthest points on the edges of the last half-planes, within all the others."""
    edge, long = A[:, -1], np.maximum(size[:, -1], 1e-100)
    foot = edge * (c[:, -1] / long**2)[:, None]
    along = np.stack([-edge[:, 1], edge[:, 0]], axis=1) / long[:, None]
    slope, room = np.einsum("nmk,nk->nm", A[:, :-1], along), c[:, :-1] - np.einsum("nmk,nk->nm", A[:, :-1], foot)
    low, top = interval(slope, room, size[:, :-1])
    none = (low == np.inf) | (low - top > 1e-9 * (np.abs(low) + np.abs(top))) | (size[:, -1] < 1e-100)
    end = np.where(none, 0.0, np.where(along @ goal > 0.0, top, low))
    return foot + along * end[:, None], none
