"""Contacts of convex solids by their farthest points in directions: any two, and any with a half-space.

Two solids touch in one point, and where they lie face to face in more: these are found by turning both by a little, one
against the other, about two axes across the normal, as MuJoCo does. Points have then the gap of the first.
"""

from __future__ import annotations

from typing import NamedTuple

from hinge.contact.collision_shapes import Posed
from hinge.contact.expanding_polytope import way_out
from hinge.contact.gjk import apart
from hinge.contact.round_contacts import Add, ball_on_plane, chosen, unit
from hinge.graph import Scalar, less, repeat, select, when
from hinge.model.support import farthest
from hinge.spatial import Mat3, Vec3, cross3, dot3

TURN = 1e-3  # rad
TRIPS, BEYOND, SETTLED = 10, 1e-2, 1e-9  # how often, how far apart as a share of the size, and the square of a change
DISTINCT = 1e-3  # of the smaller solid: how far apart points have to be
SPREAD = 1e-3  # of a solid on a plane: the same


class Separation(NamedTuple):
    """How far two solids are apart, negative where they overlap, the way from the first to the second, and where."""

    gap: Scalar
    normal: Vec3
    p: Vec3  # on the first
    q: Vec3  # on the second


def separation(a: Posed, b: Posed) -> Separation:
    """The distance of two solids with a sign, and the points between which it is.

    Solids that overlap are shifted along the way out until they are a little apart, and are then nearest along a way
    that is shorter: a few times over, the shortest, and the sooner the less deep they are.
    """

    def closer(k: Scalar, done: Scalar, size: Scalar, *state: Scalar) -> tuple[Scalar, ...]:
        before, shift = Vec3(state[:3]), Vec3(state[3:6])

        def difference(d: Vec3) -> tuple[Vec3, Vec3]:
            p = a.core(d)
            return p - b.core(-d) - shift, p

        def deep(size: Scalar, *_: Scalar) -> tuple[Scalar, ...]:
            normal, size = way_out(difference, a.p[0])
            w, p = difference(normal)
            return (size, *normal, -dot3(normal, w), *p)

        found = apart(difference, before)
        normal, _ = unit(-found.v, before)
        gap = -dot3(normal, found.v + shift)
        size, *made = when(found.overlap, (size, *normal, gap, *found.p), deep)
        normal, gap, p = Vec3(made[:3]), made[3], Vec3(made[4:])
        off = normal - before
        settled = select(less(k, 0.5), 1.0, less(dot3(off, off), SETTLED))
        return (select(found.overlap, 0.0, settled), size, *normal, *(normal * (BEYOND * size - gap)), gap, *p)

    way = b.p - a.p
    start = chosen(less(0.0, dot3(way, way)), way, Vec3((1.0, 0.0, 0.0)))
    made = repeat(TRIPS, (0.0, 0.0, *start, *([0.0] * 7)), closer, until=lambda done, *_: less(0.5, done))
    normal, gap, p = Vec3(made[2:5]), made[8], Vec3(made[9:])
    q = p + normal * gap
    return Separation(gap - a.rounding - b.rounding, normal, p + normal * a.rounding, q - normal * b.rounding)


def plane_separation(a: Posed, b: Posed) -> Separation:
    """The same of a half-space and a solid."""
    n = a.axis
    q = b.core(-n) - n * b.rounding
    gap = dot3(n, q - a.p)
    return Separation(gap, n, q - n * gap, q)


def convex_convex(a: Posed, b: Posed, add: Add) -> None:
    """One contact, and up to four more where faces or edges lie on each other."""
    found = separation(a, b)
    add(found.gap, (found.p + found.q) * 0.5, found.normal)


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

        least = select(less(trip, 0.5), -1e30, select(less(trip, 1.5), SPREAD**2 * dot3(second, second) * 0.0, 1e-12))
        best, *x = repeat(b.count, (least, *first), compare)
        at = foot + b.R @ Vec3(x)
        gap = dot3(n, at - a.p)
        add(gap, at - n * (0.5 * gap), n, condition=less(least, best))
        one = less(trip, 0.5)
        return (*(select(one, c, d) for c, d in zip(x, first, strict=True)),
                *(select(less(trip, 1.5), c, d) for c, d in zip(x, second, strict=True)))  # fmt: skip

    repeat(4, (*first, *second), choose)
