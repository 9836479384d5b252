"""Linear programs of one and of two unknowns, the latter for many polygons at once.

A polygon is what half-planes A z ≤ c leave of a box, which is itself the first of them. Its furthest point in a
direction is found by Seidel's method: half-planes are added one by one; as long as the furthest point so far obeys, it
stays, else the new one is on the edge of the half-plane that was added, a program of one unknown.
"""

from __future__ import annotations

import numpy as np

from hinge.arguments import Array

REACH = 1e8  # a greater ṡ² is not looked for: the path would take a tenth of a millisecond
SLACK = 1e-9  # of a limit: what rounding may leave
ROUNDING = 1e-11  # of the terms of a sum: what rounding in rows that are differences leaves
PARALLEL, FLAT = 1e-6, 1e-15  # sines of angles: a place that is found by such a small one is not known exactly
BOX = 4  # the half-planes that bound a polygon whatever the others are


def interval(a: Array, b: Array, size: Array) -> tuple[Array, Array]:
    """The least and the greatest t with a t ≤ b, along the last axis; the least is infinite where there is none.

    `size` is what a is to be compared with: below a small share of it b may be passed by SLACK, and below a tiny one t
    has no say.
    """
    flat = np.abs(a) <= FLAT * size
    b = np.where(np.abs(a) <= PARALLEL * size, b + SLACK, b)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = b / a
    top = np.where(flat | (a < 0.0), np.inf, ratio).min(axis=-1)
    low = np.where(flat | (a > 0.0), -np.inf, ratio).max(axis=-1)
    return np.where((flat & (b < 0.0)).any(axis=-1), np.inf, low), top


def furthest(A: Array, c: Array, goal: Array, corner: Array) -> tuple[Array, Array]:
    """The furthest points (n, 2) of n polygons, A (n, m, 2) and c (n, m), and which of them are empty.

    The first half-planes of each are a box, and `corner` (n, 2) is its furthest point in the direction `goal` (n, 2).
    """
    size, empty, z = np.hypot(A[..., 0], A[..., 1]), np.zeros(len(A), bool), np.array(corner, float)
    for h in range(BOX, A.shape[1]):
        terms = A[:, h] * z
        rounding = SLACK + ROUNDING * np.abs(terms).sum(axis=1)
        beyond = np.flatnonzero((terms.sum(axis=1) > c[:, h] + rounding) & ~empty)
        if len(beyond):
            part = A[beyond, : h + 1], c[beyond, : h + 1], size[beyond, : h + 1], goal[beyond]
            z[beyond], empty[beyond] = _on_edge(*part)
    return z, empty


def _on_edge(A: Array, c: Array, size: Array, goal: Array) -> tuple[Array, Array]:
    """The furthest points on the edges of the last half-planes, within all the others."""
    edge, long = A[:, -1], np.maximum(size[:, -1], 1e-100)
    foot = edge * (c[:, -1] / long**2)[:, None]
    along = np.stack([-edge[:, 1], edge[:, 0]], axis=1) / long[:, None]
    slope, room = np.einsum("nmk,nk->nm", A[:, :-1], along), c[:, :-1] - np.einsum("nmk,nk->nm", A[:, :-1], foot)
    low, top = interval(slope, room, size[:, :-1])
    none = (low == np.inf) | (low - top > 1e-9 * (np.abs(low) + np.abs(top))) | (size[:, -1] < 1e-100)
    end = np.where(none, 0.0, np.where((along * goal).sum(axis=1) > 0.0, top, low))
    return foot + along * end[:, None], none
