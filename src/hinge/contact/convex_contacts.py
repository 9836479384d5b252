"""Contacts of convex solids by their farthest points in directions: any two, and any with a half-space.

Two solids touch in one point, and where they lie face to face in more: these are found by turning both by a little, one
against the other, about two axes across the normal, as MuJoCo does. Points have then the gap of the first.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from hinge.contact.collision_shapes import Posed
from hinge.contact.expanding_polytope import way_out
from hinge.contact.gjk import apart, spanned
from hinge.contact.round_contacts import Add, ball_on_plane, chosen, tangent_of, unit
from hinge.graph import Scalar, Table, absolute, held, less, minimum, repeat, select, when
from hinge.model.support import farthest
from hinge.spatial import IDENTITY, ZERO, Mat3, Vec3, cross3, dot3
from hinge.spatial.linear3 import skew

TURNS = Table([0.0, -1e-3, 1e-3, -1e-3, 1e-3])  # rad, about one axis and then about another
FAR = 1e15
TRIPS, BEYOND, SETTLED = 10, 1e-2, 1e-9  # how often, how far apart as a share of the size, and the square of a change
DISTINCT = 2e-2  # of the smaller solid: how far apart points have to be
SPREAD = 1e-3  # of a solid on a plane: the same


class Separation(NamedTuple):
    """How far two solids are apart, negative where they overlap, the way from the first to the second, and where."""

    gap: Scalar
    normal: Vec3
    p: Vec3  # on the first
    q: Vec3  # on the second
    shift: Vec3 = ZERO  # by which the cores of two that overlap were parted


def separation(a: Posed, b: Posed, enough: Scalar = FAR, start: Vec3 | None = None, shift: Vec3 = ZERO,
               slopes: bool = False) -> Separation:  # fmt: skip
    """The distance of two solids with a sign, and the points between which it is; where it is more than `enough`, some.

    Solids that overlap are shifted along the way out until they are a little apart, and are then nearest along a way
    that is shorter: a few times over, the shortest, and the sooner the less deep they are. `start` and `shift` are such
    a way and such a shift, where they are known. With `slopes` derivatives are those of the corners that were found
    last, each a point of its solid.
    """

    def closer(k: Scalar, done: Scalar, size: Scalar, *state: Scalar) -> tuple[Scalar, ...]:
        before, shift = Vec3(state[:3]), Vec3(state[3:6])
        shifted = less(0.0, dot3(shift, shift))

        def difference(d: Vec3) -> tuple[Vec3, Vec3]:
            p = a.core(d)
            return p - b.core(-d) - shift, p

        def deep(size: Scalar, *_: Scalar) -> tuple[Scalar, ...]:
            normal, size = way_out(difference, a.p[0])
            w, p = difference(normal)
            return (size, *normal, -dot3(normal, w + shift), *p)

        found = apart(difference, before, select(shifted, FAR, enough + a.rounding + b.rounding))
        normal, _ = unit(-found.v, before)
        gap = -dot3(normal, found.v + shift)
        size, *made = when(found.overlap, (size, *normal, gap, *found.p), deep)
        normal, gap, p = Vec3(made[:3]), made[3], Vec3(made[4:])
        off = normal - before
        going = select(found.overlap, 1.0, select(shifted, less(SETTLED, dot3(off, off)), 0.0))
        ahead = chosen(going, normal * (BEYOND * size - gap), shift)
        corners = [x for pair in found.corners for vector in pair for x in vector] if slopes else []
        return (1.0 - going, size, *normal, *ahead, gap, *p, *(shift if slopes else ()), *corners)

    way = b.p - a.p
    along = chosen(less(0.0, dot3(way, way)), way, Vec3((1.0, 0.0, 0.0))) if start is None else start
    size = minimum(a.reach, b.reach)
    room = [0.0] * (4 + 27 * slopes)
    made = repeat(TRIPS, (0.0, size, *along, *shift, *room), closer, until=lambda done, *_: less(0.5, done))
    normal, shift, gap, p = Vec3(made[2:5]), Vec3(made[5:8]), made[8], Vec3(made[9:12])
    if slopes:
        normal, gap, p = _with_corners(a, b, normal, Vec3(made[12:15]), made[15:])
    q = p + normal * gap
    apart_by = gap - a.rounding - b.rounding
    return Separation(apart_by, normal, p + normal * a.rounding, q - normal * b.rounding, shift)


def _with_corners(
    a: Posed, b: Posed, normal: Vec3, shift: Vec3, corners: Sequence[Scalar]
) -> tuple[Vec3, Scalar, Vec3]:
    """Normal, gap and nearest point again, of corners that stay where they are on their solids.

    The shift turns with the normal, which does not depend on it.
    """
    parted, n = _held(shift), normal
    for _ in range(2):
        made = []
        for k in range(4):
            w, p = Vec3(corners[6 * k : 6 * k + 3]), Vec3(corners[6 * k + 3 : 6 * k + 6])
            q = p - w - shift
            one, other = (x.p + x.R @ _held(x.R.T @ (at - x.p)) for x, at in ((a, p), (b, q)))
            made.append((one - other - parted, one))
        found = spanned(made)
        n, _ = unit(-found.v, _held(normal))
        gap = -dot3(n, found.v + parted)
        parted = _held(shift) + (n - _held(n)) * held(dot3(n, shift))
    return n, gap, found.p


def _held(x: Vec3) -> Vec3:
    return Vec3(held(y) for y in x)


def plane_separation(a: Posed, b: Posed) -> Separation:
    """The same of a half-space and a solid."""
    n = a.axis
    q = b.core(-n) - n * b.rounding
    gap = dot3(n, q - a.p)
    return Separation(gap, n, q - n * gap, q)


def convex_convex(a: Posed, b: Posed, add: Add) -> None:
    """One contact, and up to four more where faces or edges lie on each other."""
    flat = select(less(0.0, _straight(a)), less(0.0, _straight(b)), 0.0)
    apart_by, way = DISTINCT * minimum(a.reach, b.reach), b.p - a.p
    between = chosen(less(0.0, dot3(way, way)), way, Vec3((1.0, 0.0, 0.0)))

    def find(k: Scalar, done: Scalar, gap: Scalar, *state: Scalar) -> tuple[Scalar, ...]:
        normal, shift, *points = (Vec3(state[3 * j : 3 * j + 3]) for j in range(7))
        tangent = tangent_of(normal, None)
        axis = chosen(less(k, 2.5), tangent, cross3(normal, tangent))
        turn = _turn(axis * TURNS[k])
        one, other = _turned(a, turn, points[0]), _turned(b, turn.T, points[0])
        found = separation(one, other, add.within, normal, shift, add.slopes)
        middle, first = (found.p + found.q) * 0.5, less(k, 0.5)
        new = 1.0
        for point in points:
            new = select(less(apart_by * apart_by, dot3(middle - point, middle - point)), new, 0.0)
        gap, normal, shift = (
            select(first, found.gap, gap),
            chosen(first, found.normal, normal),
            chosen(first, found.shift, shift),
        )
        added = add(gap, middle, normal, condition=select(first, 1.0, select(less(found.gap, add.within), new, 0.0)))
        kept = [chosen(select(first, 1.0, less(absolute(k - float(j)), 0.5)), middle, x) for j, x in enumerate(points)]
        ended = select(first, select(added, select(flat, 0.0, 1.0), 1.0), 0.0)
        return (ended, gap, *normal, *shift, *(x for point in kept for x in point))

    repeat(5, (0.0, 0.0, *between, *([0.0] * 18)), find, until=lambda done, *_: less(0.5, done))


def _straight(a: Posed) -> Scalar:
    """How much of a solid is straight: nothing of a ball and an ellipsoid."""
    return a.half[0] + a.half[1] + a.half[2] + a.count


def _turn(v: Vec3) -> Mat3:
    """A rotation by a small vector, to its second order."""
    square = dot3(v, v) * 0.5
    return Mat3(x * y * 0.5 for x in v for y in v) + skew(v) + IDENTITY * (1.0 - square)


def _turned(a: Posed, turn: Mat3, about: Vec3) -> Posed:
    return a._replace(R=turn.times(a.R), p=about + turn @ (a.p - about))


def plane_convex(a: Posed, b: Posed, add: Add) -> None:
    """The lowest point, the near one farthest from it, and those farthest to either side of the line between them."""
    n, down = a.axis, b.R.T @ (-a.axis)
    if b.hulls is None:
        ball_on_plane(add, n, a.p, b.core(-n), b.rounding)
        return
    foot = b.p + b.R @ farthest(b.half, b.radii, down) - n * b.rounding
    low = dot3(n, foot - a.p)
    first, second = Vec3((0.0, 0.0, 0.0)), Vec3((0.0, 0.0, 0.0))

    def choose(trip: Scalar, *state: Scalar) -> tuple[Scalar, ...]:
        first, second = Vec3(state[:3]), Vec3(state[3:])
        side = cross3(down, second - first)
        sign = select(less(trip, 2.5), 1.0, -1.0)

        def compare(k: Scalar, best: Scalar, *far: Scalar) -> tuple[Scalar, ...]:
            x = b.corner(k)
            off = x - first
            worth = select(less(trip, 1.5), dot3(off, off), sign * dot3(side, off))
            worth = select(less(trip, 0.5), dot3(down, x), worth)
            near = select(less(trip, 0.5), 1.0, less(low - dot3(down, x), add.within))
            more = select(near, less(best, worth), 0.0)
            return (select(more, worth, best), *(select(more, c, d) for c, d in zip(x, far, strict=True)))

        least = select(less(trip, 0.5), -FAR, (SPREAD * b.reach) ** 2)
        best, *x = repeat(b.count, (least, *first), compare)
        at = foot + b.R @ Vec3(x)
        gap = dot3(n, at - a.p)
        add(gap, at - n * (0.5 * gap), n, condition=less(least, best))
        one = less(trip, 0.5)
        return (*(select(one, c, d) for c, d in zip(x, first, strict=True)),
                *(select(less(trip, 1.5), c, d) for c, d in zip(x, second, strict=True)))  # fmt: skip

    repeat(4, (*first, *second), choose)
