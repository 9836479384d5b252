"""The fastest pace along a path, by the sets of speeds from which the rest of it can be followed.

    x = ṡ² = (1 - p) x_i + p x_{i+1} + p (1 - p) b_i,    s̈ = ½ dx/ds,    |α s̈ + β x + γ| ≤ 1

Between two points of a grid, at the share p of the way, x is a parabola whose bend b is known beforehand: none at
first, then that of the pace just found. So every limit at every place between them is linear in x_i and x_{i+1}: their
pairs make a polygon. Backward, the set of those x_i from which some x_{i+1} in the next set can be had is an interval;
forward, the greatest x_{i+1} within reach is taken. No switching points are sought, so points at which a joint's α
vanishes (zero inertia) are points like any other.
Limits are asked for at the ends and the middle of each piece, looked at in between, and narrowed where they were
passed, until none is.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NoReturn

import numpy as np

from hinge.arguments import Array
from hinge.errors import PathError
from hinge.planning.paths import Limits, Path, Rows, used
from hinge.planning.polygons import REACH, SLACK, furthest, interval

Range = tuple[float, float]  # the least and the greatest
PART = np.linspace(0.0, 1.0, 9)  # the places in a piece where limits are looked at
ASKED = (0, 4, 8)  # at which of them they are asked for
INSET = 1e-9  # of a piece: how far from its ends the first and last of them are
SPARE = 1e-6  # of a limit: how much more it is narrowed than it was passed, so that few rounds do
ROUNDS = 40
JUMP = 8.0  # times the next greatest change between places: that is a jump


@dataclass(frozen=True, eq=False)
class Track:
    """Limits along a path: rows within each piece, from just after its start to just before its end, and whose."""

    s: Array  # (pieces + 1), the grid
    rows: Rows  # (pieces · places, limits), piece after piece
    labels: list[tuple[str, str]]

    @staticmethod
    def along(path: Path, limits: Limits, grid: Array) -> Track:
        """The limits of a path on a grid; where its q'' jumps at a point of it, each piece sees its own side."""
        s = grid[:-1, None] + np.diff(grid)[:, None] * np.clip(PART, INSET, 1.0 - INSET)
        return Track(grid, limits.rows(*path(s.ravel())), limits.labels)

    @property
    def step(self) -> Array:
        return np.diff(self.s)

    def squares(self, x: Array, bend: Array) -> Array:
        """ṡ² at the places of each piece, (pieces, places)."""
        return x[:-1, None] * (1.0 - PART) + x[1:, None] * PART + bend[:, None] * PART * (1.0 - PART)

    def shares(self, x: Array, bend: Array) -> Array:
        """The share of each limit that is used, (pieces, places, limits), at ṡ² (pieces + 1) with bends (pieces)."""
        pull = (np.diff(x)[:, None] + bend[:, None] * (1.0 - 2.0 * PART)) / (2.0 * self.step[:, None])
        return self.rows.shares(self.squares(x, bend).ravel(), pull.ravel()).reshape(*pull.shape, -1)

    def excess(self, x: Array, bend: Array) -> Array:
        """By how much each limit is passed in each piece, (pieces, limits), with what may happen between two places."""
        share = self.shares(x, bend)
        change = _without_jump(np.diff(share, axis=1))
        rise = np.abs(np.diff(change, axis=1)).max(axis=1) / 4.0  # of a corner between places; of a parabola half that
        return np.abs(share).max(axis=1) + rise - 1.0

    def polygons(self, margin: Array, bend: Array) -> tuple[Array, Array]:
        """The half-planes A (x_i, x_{i+1}) ≤ c of each piece."""
        A, c = [], []
        for k in ASKED:
            slope, square, rest = self.rows.at(slice(k, None, len(PART)))
            pull = slope / (2.0 * self.step[:, None])
            pair = np.stack([square * (1.0 - PART[k]) - pull, square * PART[k] + pull], axis=-1)
            rest = rest + bend[:, None] * (square * PART[k] * (1.0 - PART[k]) + pull * (1.0 - 2.0 * PART[k]))
            A += [pair, -pair]
            c += [1.0 - margin - rest, 1.0 - margin + rest]
        return np.concatenate(A, axis=1), np.concatenate(c, axis=1)


def _without_jump(change: Array) -> Array:
    """Changes from place to place, (pieces, places - 1, limits), without that of a jump of q'' between two of them.

    A limit is used there as on one side of the jump or on the other, and both are looked at.
    """
    size, change = np.abs(change), change.copy()
    most = size.argmax(axis=1)[:, None]
    second = np.sort(size, axis=1)[:, -2]
    jumps = np.take_along_axis(size, most, axis=1)[:, 0] > JUMP * second
    last = change.shape[1] - 1
    beside = [np.take_along_axis(change, np.clip(most + k, 0, last), axis=1) for k in (-1, 1)]
    usual = np.where(most == 0, beside[1], np.where(most == last, beside[0], 0.5 * (beside[0] + beside[1])))
    np.put_along_axis(change, most, np.where(jumps[:, None], usual, np.take_along_axis(change, most, axis=1)), axis=1)
    return change


def fastest(track: Track, start: Range, end: Range) -> tuple[Array, Array]:
    """ṡ² at the points of the grid, as great as the limits allow, and its bends; its first and last are in ranges."""
    margin, bend = np.full((len(track.step), len(track.labels)), SLACK), np.zeros(len(track.step))
    for k in range(ROUNDS):
        try:
            x = Pass(track, *track.polygons(margin, bend)).run(start, end)
        except PathError:
            if not bend.any():
                raise
            bend = np.zeros_like(bend)  # they do not fit what the limits became
            continue
        if k < 2:
            bend = bends(x)
            continue
        bend = np.where(track.squares(x, bend)[:, 1:-1].min(axis=1) > 0.0, bend, 0.0)
        over = track.excess(x, bend)
        if (over <= 0.0).all():
            return x, bend
        margin += np.where(over > 0.0, 1.5 * over + SPARE, 0.0)
    piece, which = np.unravel_index(int(over.argmax()), over.shape)
    (joint, kind), s = track.labels[which], float(track.s[piece])
    raise PathError(f"near s = {s:.4g} the path bends so much that the {kind} limit of joint {joint!r} cannot be kept "
                    "between points.\n  Give more points=.", s, joint)  # fmt: skip


def bends(x: Array) -> Array:
    """How ṡ² bends in each piece: the lesser of the second differences at its ends, none where they disagree."""
    curve = np.diff(x, 2) / 2.0
    before, after = np.concatenate([curve[:1], curve]), np.concatenate([curve, curve[-1:]])
    least = np.minimum(np.abs(before), np.abs(after))
    return np.where(before * after > 0.0, -np.sign(before) * np.minimum(least, 0.2 * np.maximum(x[:-1], x[1:])), 0.0)


class Pass:
    """One pass back and one forth through the polygons."""

    def __init__(self, track: Track, A: Array, c: Array):
        self.track, self.A, self.c, self.size = track, A, c, np.hypot(A[..., 0], A[..., 1])
        (self.right, empty), (self.left, _) = furthest(A, c, (1.0, 0.0)), furthest(A, c, (-1.0, 0.0))
        if empty.any():
            self._refuse(int(np.argmax(empty)), (0.0, REACH))

    def run(self, start: Range, end: Range) -> Array:
        """ṡ² at the points of the grid."""
        sets = self._back(end)
        low, high = sets[0]
        if start[0] > high * (1.0 + 1e-9) or start[1] < low * (1.0 - 1e-9):
            speed, bound, word = (start[0], high, "fast") if start[0] > high else (start[1], low, "slow")
            joint = self._blame(0, (0.0, REACH), speed)[0]
            s = float(self.track.s[0])
            raise PathError(f"at s = {s:.4g} the path cannot be followed from ṡ = {speed**0.5:.4g}: that is too {word} "
                            f"for joint {joint!r}, ṡ = {bound**0.5:.4g} is not.", s, joint)  # fmt: skip
        x = np.empty(len(sets))
        x[0] = max(min(start[1], self._lead(sets[1]) if start[0] < start[1] else high), low)
        for i, (low, high) in enumerate(sets[1:]):
            _, most = interval(self.A[i, :, 1], self.c[i] - self.A[i, :, 0] * x[i], self.size[i])
            x[i + 1] = max(min(float(most), high), low)
            if x[i + 1] == x[i] == 0.0:
                self._refuse(i, (low, high))
        return x

    def _lead(self, goal: Range) -> float:
        """Of the x_0 that are free to choose the one that leads to the greatest x_1: from a greater one x drops."""
        A = np.concatenate([self.A[0], [[0.0, 1.0], [0.0, -1.0]]])
        z, _ = furthest(A[None], np.append(self.c[0], [goal[1], -goal[0]])[None], (1e-3, 1.0))
        return float(z[0, 0])

    def _back(self, end: Range) -> list[Range]:
        """For each point the least and the greatest ṡ² from which the rest can be followed."""
        sets = [end]
        for i in reversed(range(len(self.A))):
            low = self._extreme(i, sets[-1], self.left[i], 0)
            high = self._extreme(i, sets[-1], self.right[i], 1)
            if not low <= high * (1.0 + 1e-9) + 1e-300:
                self._refuse(i, sets[-1])
            sets.append((low, max(low, high)))
        return sets[::-1]

    def _extreme(self, i: int, goal: Range, corner: Array, side: int) -> float:
        """The least or greatest x_i with an x_{i+1} in the next set: at the polygon's corner, or as near as may be."""
        y = min(max(corner[1], goal[0]), goal[1])
        if y == corner[1]:
            return float(corner[0])
        low, high = map(float, interval(self.A[i, :, 0], self.c[i] - self.A[i, :, 1] * y, self.size[i]))
        if low - high > 1e-9 * (abs(low) + abs(high)) or high < 0.0:
            return (np.inf, -np.inf)[side]
        return min(high, REACH) if side else max(min(low, high), 0.0)

    def _refuse(self, i: int, goal: Range) -> NoReturn:
        joint, kind, share = self._blame(i, goal)
        s = float(self.track.s[i])
        raise PathError(f"the path cannot be followed at s = {s:.4g}: joint {joint!r} would need {share:.4g} times its "
                        f"{kind} limit.", s, joint)  # fmt: skip

    def _blame(self, i: int, goal: Range, start: float | None = None) -> tuple[str, str, float]:
        """Whose limit it is, of what, and how many times as great it would have to be along with all the others."""
        fixed = [([0.0, 1.0], goal[1]), ([0.0, -1.0], -goal[0])]
        fixed += [] if start is None else [([1.0, 0.0], start), ([-1.0, 0.0], -start)]
        rigid = np.array([a for a, _ in fixed]), np.array([c for _, c in fixed])
        A = np.concatenate([rigid[0], self.A[i]])[None]
        few, many = 0.0, 1.0
        room = lambda more: np.concatenate([rigid[1], self.c[i] + more])[None]
        while furthest(A, room(many), (1.0, 1.0))[1][0] and many < 1e9:
            few, many = many, 2.0 * many
        for _ in range(60):
            middle = 0.5 * (few + many)
            few, many = (middle, many) if furthest(A, room(middle), (1.0, 1.0))[1][0] else (few, middle)
        z, _ = furthest(A, room(many), (1.0, 1.0))
        tight = np.flatnonzero(self.A[i] @ z[0] - self.c[i] > many - 1e-6 * (1.0 + many))
        k = tight[self.c[i][tight].argmin()] if len(tight) else 0  # of those, the one that is worst off at rest
        k = k % len(self.track.labels)
        return *self.track.labels[k], float(used(self.track.labels, np.full(len(self.track.labels), 1.0 + many))[k])
