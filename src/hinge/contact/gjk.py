"""The nearest points of two convex solids that are apart, from their farthest points in directions alone.

The difference of the solids holds the origin where they overlap, and is as far from it as they are apart. Four corners
of it are kept, some of them alike; the point nearest to the origin among what they span says in which direction a
better corner is, which takes the place of one that has no share in that point. The method is by Gilbert, Johnson and
Keerthi (1988). Corners are not counted: where they are alike, edges and faces between them have no extent.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations
from typing import NamedTuple

from hinge.contact.round_contacts import chosen
from hinge.graph import Scalar, less, maximum, minimum, repeat, select
from hinge.spatial import ZERO, Vec3, cross3, dot3

ROUNDS = 64
FLAT = 1e-14  # sin² of an angle between edges, below which a face has no extent
GAIN = 1e-12  # of the squared distance: less than this, a corner is no better
ALIKE = 1e-24  # of the squared size: what is nearer than this touches

Farthest = Callable[[Vec3], tuple[Vec3, Vec3]]  # of a direction: a corner of the difference, and the first solid's part


class Apart(NamedTuple):
    """The point of the first solid that is nearest to the second, the way there from it, if they overlap, and the
    corners that span what is nearest: of the difference, and the first solid's parts."""

    p: Vec3
    v: Vec3
    overlap: Scalar
    corners: list[tuple[Vec3, Vec3]]


def apart(farthest: Farthest, start: Vec3, enough: Scalar) -> Apart:
    """The nearest points of two solids; `start` leads from one to the other. Those that are known to be farther apart
    than `enough` are looked at no further, and their points are some."""
    w, a = farthest(start)
    first = (0.0, *w, *([*w, *a] * 4), 1.0, 0.0, 0.0, 0.0)

    def round(_: Scalar, *state: Scalar) -> tuple[Scalar, ...]:
        v = Vec3(state[1:4])
        corners = [(Vec3(state[6 * k + 4 : 6 * k + 7]), Vec3(state[6 * k + 7 : 6 * k + 10])) for k in range(4)]
        shares = state[28:]
        w, a = farthest(-v)
        square, along = dot3(v, v), dot3(v, w)
        far = select(less(0.0, along), less(enough * enough * square, along * along), 0.0)
        least = minimum(minimum(shares[0], shares[1]), minimum(shares[2], shares[3]))
        free, taken = [], 0.0
        for share in shares:  # the first that has no share
            free.append(select(taken, 0.0, select(less(least, share), 0.0, 1.0)))
            taken = select(taken, 1.0, free[-1])
        made = [(chosen(on, w, x), chosen(on, a, y)) for on, (x, y) in zip(free, corners, strict=True)]
        near, shares_there, within = _nearest([x for x, _ in made])
        size = maximum(maximum(*(dot3(x, x) for x, _ in made[:2])), maximum(*(dot3(x, x) for x, _ in made[2:])))
        touch = select(within, 1.0, less(dot3(near, near), ALIKE * size))
        gains = select(less(square * GAIN, square - along), less(dot3(near, near), square), 0.0)
        better = select(far, 0.0, select(touch, 1.0, gains))
        done = select(far, 1.0, select(touch, 2.0, select(gains, 0.0, 1.0)))
        new = (*near, *(c for pair in made for vector in pair for c in vector), *shares_there)
        return (done, *(select(better, x, y) for x, y in zip(new, state[1:], strict=True)))

    done, *state = repeat(ROUNDS, first, round, until=lambda done, *_: less(0.5, done))
    corners = [(Vec3(state[6 * k + 3 : 6 * k + 6]), Vec3(state[6 * k + 6 : 6 * k + 9])) for k in range(4)]
    return Apart(_shared(corners, state[27:]), Vec3(state[:3]), less(1.5, done), corners)


def spanned(corners: list[tuple[Vec3, Vec3]]) -> Apart:
    """The same of corners that are known, and of nothing besides."""
    v, shares, within = _nearest([w for w, _ in corners])
    return Apart(_shared(corners, shares), v, within, corners)


def _shared(corners: Sequence[tuple[Vec3, Vec3]], shares: Sequence[Scalar]) -> Vec3:
    p = ZERO
    for share, (_, part) in zip(shares, corners, strict=True):
        p = p + part * share
    return p


def _nearest(x: Sequence[Vec3]) -> tuple[Vec3, list[Scalar], Scalar]:
    """Of what four corners span, the point nearest to the origin, its shares of them, and if the origin is inside."""
    best, point, shares = dot3(x[0], x[0]), x[0], [1.0, 0.0, 0.0, 0.0]

    def offer(condition: Scalar, at: Vec3, mine: dict[int, Scalar]) -> None:
        nonlocal best, point, shares
        size = dot3(at, at)
        take = select(condition, less(size, best), 0.0)
        best, point = select(take, size, best), chosen(take, at, point)
        shares = [select(take, mine.get(k, 0.0), share) for k, share in enumerate(shares)]

    for i, j in combinations(range(4), 2):
        e = x[j] - x[i]
        length = dot3(e, e)
        t = maximum(minimum(-dot3(x[i], e) / select(less(0.0, length), length, 1.0), 1.0), 0.0)
        offer(1.0, x[i] + e * t, {i: 1.0 - t, j: t})
    for i, j, k in combinations(range(4), 3):
        e, f = x[j] - x[i], x[k] - x[i]
        n = cross3(e, f)
        area = dot3(n, n)
        some = less(FLAT * dot3(e, e) * dot3(f, f), area)
        safe = select(some, area, 1.0)
        s, t = dot3(cross3(f, x[i]), n) / safe, dot3(cross3(x[i], e), n) / safe
        inside = select(less(0.0, minimum(s, t)), less(s + t, 1.0), 0.0)
        offer(select(some, inside, 0.0), n * (dot3(n, x[i]) / safe), {i: 1.0 - s - t, j: s, k: t})
    e, f, g = x[1] - x[0], x[2] - x[0], x[3] - x[0]
    volume = dot3(cross3(e, f), g)
    scale = dot3(e, e) * dot3(f, f) * dot3(g, g)
    some = less(FLAT * scale, volume * volume)
    safe = select(some, volume, 1.0)
    r, s, t = (-dot3(y, x[0]) / safe for y in (cross3(f, g), cross3(g, e), cross3(e, f)))
    all_within = select(less(0.0, minimum(minimum(r, s), t)), less(r + s + t, 1.0), 0.0)
    return point, shares, select(some, all_within, 0.0)
