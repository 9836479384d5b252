"""The fastest pace along a path, by the sets of speeds from which the rest of it can be followed.

    x = ṡ² = (1 - p) x_i + p x_{i+1} + p (1 - p) b_i,    s̈ = ½ dx/ds,    |α s̈ + β x + γ| ≤ 1

Between two points of a grid, at the share p of the way, x is a parabola whose bend b is known beforehand: none at
first, then that of the pace just found. So every limit at every place between them is linear in x_i and in the mean
pull a of the piece, x_{i+1} = x_i + 2 h a: their pairs make a polygon. (In x_i and x_{i+1} its edges would be all but
parallel where h is small.) Backward, the set of those x_i from which some x_{i+1} in the next set can be had is an
interval; forward, the greatest x_{i+1} within reach is taken. No switching points are sought, so points at which a
joint's α vanishes (zero inertia) are points like any other.
Limits are asked for at the ends and the middle of each piece, and looked at in between. A piece in which they are
passed by far is divided; where they are passed by little they are narrowed, until none is.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np

from hinge.arguments import Array
from hinge.errors import PathError
from hinge.planning.paths import BESIDE, NARROWEST, Limits, Path, Rows, used
from hinge.planning.polygons import BOX, REACH, SLACK, furthest, interval

Range = tuple[float, float]  # the least and the greatest
PART = np.linspace(0.0, 1.0, 9)  # the places in a piece where limits are looked at
ASKED = (0, 4, 8)  # at which of them they are asked for
SPARE = 1e-6  # of a limit: how much more it is narrowed than it was passed, so that few rounds do
FAR = 0.5  # of a limit: a piece in which it is passed by more is divided
DIVISIONS = 16  # parts of a piece that is divided, at most
ROUNDS, STRAIGHT = 40, 10
NEAR, TRIES = 2.0, 2  # pieces about a place where the path seems not to go on, and how often they are divided
MANY = 1 << 15  # pieces


@dataclass(frozen=True, eq=False)
class Track:
    """Limits along a path, within each piece of a grid, from just after its start to just before its end."""

    path: Path
    limits: Limits
    s: Array  # (pieces + 1), the grid

    @functools.cached_property
    def rows(self) -> Rows:
        """(pieces · places, limits), piece after piece; where q'' jumps between two pieces, each sees its own side."""
        s = self.s[:-1, None] + self.step[:, None] * np.clip(PART, BESIDE, 1.0 - BESIDE)
        return self.limits.rows(*self.path(s.ravel()))

    @functools.cached_property
    def labels(self) -> list[tuple[str, str]]:
        """Whose limit each row is, and of what."""
        return self.limits.labels

    @functools.cached_property
    def step(self) -> Array:
        return np.diff(self.s)

    @functools.cached_property
    def room(self) -> Array:
        """What rest leaves of each limit in each piece, (pieces, limits)."""
        return _room(self.rows.rest).reshape(len(self.step), len(PART), -1).min(axis=1)

    @functools.cached_property
    def divisible(self) -> Any:
        """Which pieces are not too short to be divided."""
        return self.step > NARROWEST * (self.s[-1] - self.s[0])

    def divided(self, which: Any, parts: Any) -> Track | None:
        """The track with some of its pieces divided into so many parts; None where all of them are too short."""
        which = which & self.divisible
        if not which.any():
            return None
        ends = zip(self.s[:-1][which], self.s[1:][which], np.broadcast_to(parts, which.shape)[which], strict=True)
        inside = [np.linspace(a, b, n + 1)[1:-1] for a, b, n in ends]
        return Track(self.path, self.limits, np.unique(np.concatenate([self.s, *inside])))

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
        bent = np.abs(np.diff(share, 2, axis=1))
        rise = np.maximum(0.5 * bent.max(axis=1), np.maximum(bent[:, 0], bent[:, -1]))  # of a corner between places
        return np.abs(share).max(axis=1) + rise - 1.0

    def polygons(self, margin: Array, bend: Array) -> tuple[Array, Array]:
        """The half-planes A (x_i, a) ≤ c of each piece, the first of them the box 0 ≤ x_i, x_{i+1} ≤ REACH.

        `margin` (pieces, limits) is the share of what rest leaves of a limit by which it is narrowed.
        """
        one, double = np.ones_like(self.step), 2.0 * self.step
        box = np.stack([np.stack([sign * one, sign * way], axis=1)
                        for way in (0.0 * one, double) for sign in (-1.0, 1.0)], axis=1)  # fmt: skip
        A, c = [box], [np.tile([0.0, REACH, 0.0, REACH], (len(one), 1))]
        for k in ASKED:
            slope, square, rest = self.rows.at(slice(k, None, len(PART)))
            pair = np.stack([square, slope + (PART[k] * double)[:, None] * square], axis=-1)
            share = bend[:, None] * (square * PART[k] * (1.0 - PART[k]))
            less = margin * _room(rest)
            rest = rest + share + (bend / double)[:, None] * slope * (1.0 - 2.0 * PART[k])
            A += [pair, -pair]
            c += [1.0 - less - rest, 1.0 - less + rest]
        return np.concatenate(A, axis=1), np.concatenate(c, axis=1)


def _room(rest: Array) -> Array:
    """The share of a limit that rest leaves; all of it where rest alone passes it."""
    return np.where(np.abs(rest) < 1.0, 1.0 - np.abs(rest), 1.0)


def fastest(track: Track, start: Range, end: Range) -> tuple[Track, Array, Array]:
    """ṡ² at the points of the grid, as great as the limits allow, and its bends; its first and last are in ranges.

    The track that comes with them is the one given, with pieces divided where that was needed.
    """
    refusals: list[PathError] = []
    while True:
        try:
            x, bend, over = _narrowed(track, start, end)
        except PathError as problem:
            near = np.abs(track.s[:-1] - problem.s) <= NEAR * track.step
            finer = track.divided(near, DIVISIONS)
            refusals.append(problem)
            if finer is None or len(refusals) > TRIES:
                raise refusals[0] from None
        else:
            most = over.max(axis=1)
            if (most <= 0.0).all():
                return track, x, bend
            parts = np.clip(np.sqrt(np.clip(most, 0.0, DIVISIONS**2)).astype(int) + 1, 2, DIVISIONS)
            finer = track.divided(most > min(FAR, 0.5 * most.max()), parts)
        if finer is None or len(finer.step) > MANY:
            break
        track = finer
    piece, which = np.unravel_index(int(over.argmax()), over.shape)
    (joint, kind), s = track.labels[which], float(track.s[piece])
    raise PathError(f"near s = {s:.4g} the path bends so much that the {kind} limit of joint {joint!r} cannot be kept "
                    "between points.\n  Give more points=.", s, joint)  # fmt: skip


def _narrowed(track: Track, start: Range, end: Range) -> tuple[Array, Array, Array]:
    """ṡ² and its bends, and by how much limits are passed: none, or so much that pieces must be divided."""
    margin, bend = np.full((len(track.step), len(track.labels)), 2.0 * SLACK), np.zeros(len(track.step))
    x, over = np.zeros(len(track.s)), margin
    for k in range(ROUNDS):
        try:
            x = Pass(track, *track.polygons(margin, bend)).run(start, end)
        except PathError:
            if not bend.any():
                if k < 2:
                    raise
                return x, bend, margin  # narrowed so much that nothing is left
            bend = np.zeros_like(bend)  # they do not fit what the limits became
            continue
        if k < 2:
            bend = bends(x, track.step)
            continue
        bend = np.where(track.squares(x, bend)[:, 1:-1].min(axis=1) > 0.0, bend, 0.0)
        over = track.excess(x, bend)
        if (over <= 0.0).all() or (over[track.divisible] > FAR).any():
            break
        if k > STRAIGHT:  # narrowed again and again, a piece keeps to a pace that does not bend
            bend = np.where((over > 0.0).any(axis=1), 0.0, bend)
        more = (1.5 * over + SPARE) / track.room
        margin = np.where(over > 0.0, 1.0 - (1.0 - margin) / (1.0 + more), margin)
    return x, bend, over


def bends(x: Array, step: Array) -> Array:
    """How ṡ² bends in each piece: the lesser of its second derivatives at the ends, none where they disagree."""
    curve = np.diff(np.diff(x) / step) / (step[1:] + step[:-1])
    before, after = np.concatenate([curve[:1], curve]), np.concatenate([curve, curve[-1:]])
    least = np.minimum(np.abs(before), np.abs(after)) * step**2
    return np.where(before * after > 0.0, -np.sign(before) * np.minimum(least, 0.2 * np.maximum(x[:-1], x[1:])), 0.0)


class Pass:
    """One pass back and one forth through the polygons."""

    def __init__(self, track: Track, A: Array, c: Array):
        self.track, self.A, self.c, self.size = track, A, c, np.hypot(A[..., 0], A[..., 1])
        self.right, empty = furthest(A, c, *_ways(len(A), (1.0, 0.0), (REACH, 0.0)))
        self.left, _ = furthest(A, c, *_ways(len(A), (-1.0, 0.0), (0.0, 0.0)))
        self.double = 2.0 * track.step
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
            x[i + 1] = max(min(x[i] + self.double[i] * float(most), high), low)
            if x[i + 1] == x[i] == 0.0:
                self._refuse(i, (low, high))
        return x

    def _lead(self, goal: Range) -> float:
        """Of the x_0 that are free to choose the one that leads to the greatest x_1: from a greater one x drops."""
        ahead = np.array([1.0, self.double[0]])
        A = np.concatenate([self.A[0], [ahead, -ahead]])[None]
        c = np.append(self.c[0], [goal[1], -goal[0]])[None]
        z, _ = furthest(A, c, *_ways(1, (1.0 + 1e-3, self.double[0]), (REACH, 0.0)))
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
        double, ahead = self.double[i], corner[0] + self.double[i] * corner[1]
        y = min(max(ahead, goal[0]), goal[1])
        if y == ahead:
            return float(max(corner[0], 0.0))
        low, high = interval(self.A[i, :, 1] - double * self.A[i, :, 0], self.c[i] - self.A[i, :, 0] * y, self.size[i])
        if low - high > 1e-9 * (abs(low) + abs(high)):
            return (np.inf, -np.inf)[side]
        return float(min(max(y - double * (low if side else max(low, high)), 0.0), REACH))

    def _refuse(self, i: int, goal: Range) -> NoReturn:
        joint, kind, share = self._blame(i, goal)
        s = float(self.track.s[i])
        raise PathError(f"the path cannot be followed at s = {s:.4g}: joint {joint!r} would need {share:.4g} times its "
                        f"{kind} limit.", s, joint)  # fmt: skip

    def _blame(self, i: int, goal: Range, start: float | None = None) -> tuple[str, str, float]:
        """Whose limit it is, of what, and how many times as great it would have to be along with all the others."""
        ahead = np.array([1.0, self.double[i]])
        fixed = [(ahead, goal[1]), (-ahead, -goal[0])]
        fixed += [] if start is None else [(np.array([1.0, 0.0]), start), (np.array([-1.0, 0.0]), -start)]
        A = np.concatenate([self.A[i, :BOX], [a for a, _ in fixed], self.A[i, BOX:]])[None]
        rigid, limits = np.append(self.c[i, :BOX], [c for _, c in fixed]), self.c[i, BOX:]
        few, many, way = 0.0, 1.0, _ways(1, (1.0, 0.0), (REACH, 0.0))
        room = lambda more: np.concatenate([rigid, limits + more])[None]
        while furthest(A, room(many), *way)[1][0] and many < 1e9:
            few, many = many, 2.0 * many
        for _ in range(60):
            middle = 0.5 * (few + many)
            few, many = (middle, many) if furthest(A, room(middle), *way)[1][0] else (few, middle)
        z, _ = furthest(A, room(many), *way)
        tight = np.flatnonzero(self.A[i, BOX:] @ z[0] - limits > many - 1e-6 * (1.0 + many))
        k = tight[limits[tight].argmin()] if len(tight) else 0  # of those, the one that is worst off at rest
        k = k % len(self.track.labels)
        return *self.track.labels[k], float(used(self.track.labels, np.full(len(self.track.labels), 1.0 + many))[k])


def _ways(n: int, goal: Range, corner: Range) -> tuple[Array, Array]:
    """A direction, and the corner of the box that is furthest in it, for each of n polygons."""
    return np.tile(goal, (n, 1)), np.tile(corner, (n, 1))
