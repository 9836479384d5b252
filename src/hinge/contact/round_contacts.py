"""Contacts of spheres, capsules and cylinders with each other and with half-spaces, in closed form, over scalars.

Each takes two shapes and `add`, which takes a contact in where its gap is small enough and says whether it did:
add(gap, point, normal, tangent, condition). Points lie midway between the surfaces and normals lead from the first
shape to the second, as in MuJoCo, whose choice of points this is.
"""

from __future__ import annotations

from typing import Protocol

from hinge.contact.collision_shapes import Posed
from hinge.graph import Scalar, absolute, less, maximum, minimum, repeat, select, sqrt
from hinge.spatial import ZERO, Vec3, cross3, dot3

TINY = 1e-15  # below this MuJoCo takes a length for zero
PARALLEL = 1e-8  # sin² of the angle between lines that it takes for parallel


class Add(Protocol):
    """Takes a contact in where a condition holds and its gap is less than `within`, and says whether it did."""

    @property
    def within(self) -> Scalar: ...

    @property
    def slopes(self) -> bool: ...

    def __call__(self, gap: Scalar, point: Vec3, normal: Vec3, tangent: Vec3 | None = None,
                 condition: Scalar = True) -> Scalar: ...  # fmt: skip


def clipped(x: Scalar, limit: Scalar) -> Scalar:
    """x, at most a limit away from zero."""
    return maximum(minimum(x, limit), -limit)


def chosen(condition: Scalar, a: Vec3, b: Vec3) -> Vec3:
    """One vector where a condition holds, else another."""
    return Vec3(select(condition, x, y) for x, y in zip(a, b, strict=True))


def unit(x: Vec3, otherwise: Vec3) -> tuple[Vec3, Scalar]:
    """A direction and its length; another direction where it has none."""
    length = sqrt(dot3(x, x))
    some = less(TINY, length)
    return chosen(some, x / select(some, length, 1.0), otherwise), length


def tangent_of(normal: Vec3, tangent: Vec3 | None) -> Vec3:
    """A direction at right angles to a normal: nearest to one that is given, else to y, or z where y is near it."""
    up = select(less(normal[1] * normal[1], 0.25), 1.0, 0.0)
    default = Vec3((0.0, up, 1.0 - up))
    x = default if tangent is None else tangent
    x = x - normal * dot3(normal, x)
    size = dot3(x, x)
    some = less(1e-30, size)
    return Vec3(select(some, c / sqrt(select(some, size, 1.0)), d) for c, d in zip(x, (1.0, 0.0, 0.0), strict=True))


def balls(add: Add, p: Vec3, r: Scalar, q: Vec3, s: Scalar, otherwise: Vec3, condition: Scalar = True) -> Scalar:
    """Two balls."""
    normal, length = unit(q - p, otherwise)
    gap = length - r - s
    return add(gap, p + normal * (r + 0.5 * gap), normal, condition=condition)


def ball_on_plane(
    add: Add, n: Vec3, p: Vec3, q: Vec3, r: Scalar, tangent: Vec3 | None = None, sign: float = 1.0
) -> None:
    """A ball above the plane through p; its normal turned round where the ball is the first shape."""
    gap = dot3(n, q - p) - r
    add(gap, q - n * (r + 0.5 * gap), n * sign, tangent)


def _between_axes(a: Posed, b: Posed) -> Vec3:
    """The normal of balls with one centre: at right angles to both axes."""
    return unit(cross3(a.axis, b.axis), Vec3((1.0, 0.0, 0.0)))[0]


def plane_sphere(a: Posed, b: Posed, add: Add) -> None:
    ball_on_plane(add, a.axis, a.p, b.p, b.rounding)


def plane_capsule(a: Posed, b: Posed, add: Add) -> None:
    def end(k: Scalar, kept: Scalar) -> tuple[Scalar, ...]:
        ball_on_plane(add, a.axis, a.p, b.p + b.axis * (b.half[2] * (1.0 - 2.0 * k)), b.rounding, b.axis)
        return (kept,)

    repeat(2, (b.p[0],), end)


def plane_ellipsoid(a: Posed, b: Posed, add: Add) -> None:
    ball_on_plane(add, a.axis, a.p, b.core(-a.axis), 0.0)


def plane_cylinder(a: Posed, b: Posed, add: Add) -> None:
    """The lowest point of each end, and two of the nearer end that make a triangle with it."""
    n, r = a.axis, b.radii[0]
    down = select(less(0.0, dot3(n, b.axis)), -1.0, 1.0)
    axis = b.axis * (down * b.half[2])
    across = b.axis * dot3(n, b.axis) - n
    size = dot3(across, across)
    tilted = less(TINY * TINY, size)
    rim = chosen(tilted, across * (r / sqrt(select(tilted, size, 1.0))), b.R.column(0) * r)
    side = unit(cross3(rim, axis), ZERO)[0] * (r * 0.75**0.5)

    def at(x: Vec3, condition: Scalar) -> Scalar:
        gap = dot3(n, b.p + x - a.p)
        return add(gap, b.p + x - n * (0.5 * gap), n, condition=condition)

    first = at(rim + axis, True)
    at(rim - axis, first)
    at(side + axis - rim * 0.5, first)
    at(axis - side - rim * 0.5, first)


def sphere_sphere(a: Posed, b: Posed, add: Add) -> None:
    balls(add, a.p, a.rounding, b.p, b.rounding, _between_axes(a, b))


def sphere_capsule(a: Posed, b: Posed, add: Add) -> None:
    along = clipped(dot3(b.axis, a.p - b.p), b.half[2])
    balls(add, a.p, a.rounding, b.p + b.axis * along, b.rounding, _between_axes(a, b))


def sphere_cylinder(a: Posed, b: Posed, add: Add) -> None:
    """Against the side, an end, or the rim between them; from within, whichever is nearer."""
    r, h = b.radii[0], b.half[2]
    x = dot3(b.axis, a.p - b.p)
    across = a.p - b.p - b.axis * x
    out = sqrt(dot3(across, across))
    beside, above = less(absolute(x), h), less(out, r)
    nearer_end = less(h - absolute(x), r - out)
    side = select(beside, select(above, select(nearer_end, 0.0, 1.0), 1.0), 0.0)
    end = select(above, select(beside, select(nearer_end, 1.0, 0.0), 1.0), 0.0)
    up = select(less(0.0, x), 1.0, -1.0)
    top = b.p + b.axis * (up * h)

    # a ball against the axis with the cylinder's radius, or against a point of the rim
    rim = top + across * (r / select(less(0.0, out), out, 1.0))
    beside_axis = less(0.5, side)
    foot = chosen(beside_axis, b.p + b.axis * x, rim)
    normal, length = unit(foot - a.p, _between_axes(a, b))
    gap = length - a.rounding - select(beside_axis, r, 0.0)

    # or against the plane of an end
    n = b.axis * up
    high = dot3(n, a.p - top) - a.rounding
    flat = less(0.5, end)
    gap, normal = select(flat, high, gap), chosen(flat, -n, normal)
    add(gap, a.p + normal * (a.rounding + 0.5 * gap), normal)


def capsule_capsule(a: Posed, b: Posed, add: Add) -> None:
    """The nearest points of two lines; of parallel ones, those nearest to either end of the second."""
    A, B = a.axis * a.half[2], b.axis * b.half[2]
    d = a.p - b.p
    aa, ab, bb, u, v = dot3(A, A), dot3(A, B), dot3(B, B), -dot3(A, d), dot3(B, d)
    det = aa * bb - ab * ab
    parallel = select(less(PARALLEL * aa * bb, det), 0.0, 1.0)
    det, aa, bb_safe = (select(less(0.0, x), x, 1.0) for x in (det, aa, bb))
    middle = clipped((bb * u + ab * v) / det, 1.0)

    def candidate(k: Scalar, x: Scalar) -> tuple[Scalar, ...]:
        y = (v + ab * x) / bb_safe
        x = select(less(absolute(y), 1.0), x, clipped((u + ab * clipped(y, 1.0)) / aa, 1.0))
        feet = a.p + A * x, b.p + B * clipped(y, 1.0)
        balls(add, feet[0], a.rounding, feet[1], b.rounding, _between_axes(a, b), select(parallel, 1.0, less(k, 0.5)))
        return (clipped((u + ab) / aa, 1.0),)

    repeat(2, (select(parallel, clipped((u - ab) / aa, 1.0), middle),), candidate)
