"""Contacts of boxes with half-spaces, spheres, capsules and each other, in closed form, over scalars.

Points and normals are as in round_contacts. Two boxes meet in the direction, of fifteen, in which they are farthest
apart: the normal of a face, against which the other box's face is cut, or the common perpendicular of two edges.
"""

from __future__ import annotations

from collections.abc import Sequence

from hinge.contact.collision_shapes import Posed
from hinge.contact.round_contacts import Add, chosen, clipped, unit
from hinge.graph import Scalar, absolute, less, maximum, minimum, repeat, select, sqrt, when
from hinge.spatial import Mat3, Vec3, cross3, dot3

PARALLEL = 1e-16  # sin² of the angle between edges that have no common perpendicular to speak of
EDGES_LOSE = 1e-6  # by which share edges have to be farther apart than faces
ALIKE, FIVE_PERCENT = 0.99, 0.05  # a perpendicular so near a face's normal has to be farther apart by that
SAME = 1e-7  # of an edge: nearer than this, two points of a face are one


def plane_box(a: Posed, b: Posed, add: Add) -> None:
    """The first four corners of the lower half that are near."""
    n = a.axis

    def corner(k: Scalar, found: Scalar, like: Scalar) -> tuple[Scalar, ...]:
        z = select(less(k, 3.5), -1.0, 1.0)
        left = k - select(less(k, 3.5), 0.0, 4.0)
        y = select(less(left, 1.5), -1.0, 1.0)
        x = 2.0 * (left - select(less(left, 1.5), 0.0, 2.0)) - 1.0
        out = b.R @ Vec3((x * b.half[0], y * b.half[1], z * b.half[2]))
        low = select(less(0.0, dot3(n, out)), 0.0, less(found, 3.5))
        gap = dot3(n, b.p + out - a.p)
        return found + add(gap, b.p + out - n * (0.5 * gap), n, condition=low), like

    repeat(8, (0.0, b.p[0]), corner, until=lambda found, like: less(3.5, found))


def ball_and_box(add: Add, p: Vec3, r: Scalar, b: Posed, condition: Scalar = True) -> Scalar:
    """A ball, the first shape, against the nearest point of a box; from within, against the nearest face."""
    x = b.R.T @ (p - b.p)
    foot = Vec3(clipped(c, h) for c, h in zip(x, b.half, strict=True))
    out, length = unit(foot - x, Vec3((0.0, 0.0, 0.0)))
    inside = less(length, 1e-15)
    depth = [h - absolute(c) for h, c in zip(b.half, x, strict=True)]
    face = nearest_face(depth)
    inward = Vec3(select(on, select(less(c, 0.0), 1.0, -1.0), 0.0) for on, c in zip(face, x, strict=True))
    closest = minimum(minimum(depth[0], depth[1]), depth[2])
    n = chosen(inside, inward, out)
    gap = select(inside, -closest, length) - r
    return add(gap, p + b.R @ (n * (r + 0.5 * gap)), b.R @ n, condition=condition)


def nearest_face(depth: Sequence[Scalar]) -> tuple[Scalar, ...]:
    """Of three depths, which is the least: a one there."""
    second, third = less(depth[1], depth[0]), less(depth[2], minimum(depth[0], depth[1]))
    y = select(third, 0.0, second)
    return select(third, 0.0, select(second, 0.0, 1.0)), y, third


def sphere_box(a: Posed, b: Posed, add: Add) -> None:
    ball_and_box(add, a.p, a.rounding, b)


def capsule_box(a: Posed, b: Posed, add: Add) -> None:
    """The point of the line that is nearest to the box, and the end of what of the line is over the same face.

    The squared distance of a point of the line is convex, and quadratic between where the line passes the planes of
    the faces.
    """
    c, h = b.R.T @ (a.p - b.p), (b.R.T @ a.axis) * a.half[2]

    def slope(t: Scalar) -> Scalar:
        beyond = (x + t * d - clipped(x + t * d, half) for x, d, half in zip(c, h, b.half, strict=True))
        return dot3(Vec3(beyond), h)

    low, high, low_slope, high_slope = -1.0, 1.0, slope(-1.0), slope(1.0)
    crossings = []
    for x, d, half in zip(c, h, b.half, strict=True):
        moves = less(1e-12, absolute(d))
        safe = select(moves, d, 1.0)
        crossings.append([select(moves, (side * half - x) / safe, 2.0 * side) for side in (-1.0, 1.0)])
    for t in (t for pair in crossings for t in pair):
        t = clipped(t, 1.0)
        s = slope(t)
        up, down = select(less(s, 0.0), less(low, t), 0.0), select(less(s, 0.0), 0.0, less(t, high))
        low, low_slope = select(up, t, low), select(up, s, low_slope)
        high, high_slope = select(down, t, high), select(down, s, high_slope)
    rise = high_slope - low_slope
    between = low - low_slope * (high - low) / select(less(0.0, rise), rise, 1.0)
    t = select(
        less(low_slope, 0.0), select(less(0.0, high_slope), between, select(less(high_slope, 0.0), 1.0, high)), low
    )

    # what of the line is over the face that is nearest there
    at = c + h * t
    face = nearest_face([half - absolute(x) for x, half in zip(at, b.half, strict=True)])
    first, last = -1.0, 1.0
    for on, d, pair in zip(face, h, crossings, strict=True):
        free = select(on, 1.0, less(absolute(d), 1e-12))
        first = select(free, first, maximum(first, minimum(*pair)))
        last = select(free, last, minimum(last, maximum(*pair)))
    other = select(less(t - first, last - t), last, first)
    apart = select(less(first, last), less(1e-3, absolute(other - t)), 0.0)
    ball_and_box(add, a.p + a.axis * (a.half[2] * t), a.rounding, b)
    ball_and_box(add, a.p + a.axis * (a.half[2] * other), a.rounding, b, apart)


def picked(which: Sequence[Scalar], many: Sequence[Scalar]) -> Scalar:
    """The entry that has a one."""
    return select(which[0], many[0], select(which[1], many[1], many[2]))


def box_box(a: Posed, b: Posed, add: Add) -> None:
    between = b.p - a.p
    columns = [[s.R.column(k) for k in range(3)] for s in (a, b)]
    C = [[dot3(x, y) for y in columns[1]] for x in columns[0]]  # b's axes in a's
    sizes = [[absolute(x) for x in row] for row in C]

    # the face that is farthest from the other box, of six
    best, face = -1e30, 0.0
    for k in range(6):
        own, other = (a, b) if k < 3 else (b, a)
        across = sizes[k] if k < 3 else [row[k - 3] for row in sizes]
        along = dot3(between, columns[k // 3][k % 3])
        apart = absolute(along) - own.half[k % 3] - dot3(Vec3(across), other.half)
        more = less(best, apart)
        best, face = select(more, apart, best), select(more, float(k), face)

    # the edges that are, of nine pairs
    most, edges, L = best, -1.0, Vec3((0.0, 0.0, 1.0))
    for i in range(3):
        for j in range(3):
            axis = cross3(columns[0][i], columns[1][j])
            square = dot3(axis, axis)
            some = less(PARALLEL, square)
            axis = axis / sqrt(select(some, square, 1.0))
            reach = sum(s.half[k] * absolute(dot3(axis, columns[o][k]))
                        for o, s, skip in ((0, a, i), (1, b, j)) for k in range(3) if k != skip)  # fmt: skip
            apart = absolute(dot3(axis, between)) - reach
            more = select(some, select(less(best, apart), less(most, apart - EDGES_LOSE * absolute(apart)), 0.0), 0.0)
            most, edges = select(more, apart, most), select(more, float(3 * i + j), edges)
            L = chosen(more, axis, L)
    normal = Vec3(select(less(face, 2.5), *both) for both in zip(
        _pick3(face, columns[0]), _pick3(face - 3.0, columns[1]), strict=True))  # fmt: skip
    alike = select(
        less(ALIKE, absolute(dot3(L, normal))), less(most, best + FIVE_PERCENT * absolute(best) + 1e-15), 0.0
    )
    by_edges = select(less(edges, -0.5), 0.0, select(alike, 0.0, 1.0))

    when(by_edges, (0.0,), lambda kept: _edges(a, b, add, L, edges, columns, kept))
    when(select(by_edges, 0.0, 1.0), (0.0,), lambda kept: _faces(a, b, add, face, kept))


def _pick3(k: Scalar, vectors: Sequence[Vec3]) -> Vec3:
    """One of three vectors, by its number."""
    return chosen(less(k, 0.5), vectors[0], chosen(less(k, 1.5), vectors[1], vectors[2]))


def _pick(k: Scalar, numbers: Sequence[Scalar]) -> Scalar:
    return select(less(k, 0.5), numbers[0], select(less(k, 1.5), numbers[1], numbers[2]))


def _edges(a: Posed, b: Posed, add: Add, L: Vec3, edges: Scalar, columns: Sequence[Sequence[Vec3]], kept: Scalar
           ) -> tuple[Scalar, ...]:  # fmt: skip
    """The nearest points of two edges."""
    L = chosen(less(dot3(L, b.p - a.p), 0.0), -L, L)
    i = select(less(edges, 2.5), 0.0, select(less(edges, 5.5), 1.0, 2.0))
    j = edges - 3.0 * i
    u, w = _pick3(i, columns[0]), _pick3(j, columns[1])
    p, q = a.p, b.p
    for k in range(3):
        out, back = dot3(L, columns[0][k]), dot3(L, columns[1][k])
        here, there = less(absolute(i - float(k)), 0.5), less(absolute(j - float(k)), 0.5)
        p = p + columns[0][k] * select(here, 0.0, select(less(out, 0.0), -a.half[k], a.half[k]))
        q = q + columns[1][k] * select(there, 0.0, select(less(back, 0.0), b.half[k], -b.half[k]))
    e, c = q - p, dot3(u, w)
    ue, we, square = dot3(u, e), dot3(w, e), 1.0 - c * c
    length_a, length_b = _pick(i, a.half), _pick(j, b.half)
    s = clipped((ue - c * we) / select(less(1e-15, square), square, 1.0), length_a)
    t = clipped(c * s - we, length_b)
    s = clipped(ue + c * t, length_a)
    x, y = p + u * s, q + w * t
    add(dot3(y - x, L), (x + y) * 0.5, L)
    return (kept,)


def _faces(a: Posed, b: Posed, add: Add, face: Scalar, kept: Scalar) -> tuple[Scalar, ...]:
    """The other box's face that looks at this one, cut to its size: corners of either, and where edges cross."""
    first = less(face, 2.5)
    R, P = (Mat3(select(first, x, y) for x, y in zip(m, n, strict=True)) for m, n in ((a.R, b.R), (b.R, a.R)))
    p, q = chosen(first, a.p, b.p), chosen(first, b.p, a.p)
    half, other = (chosen(first, Vec3(x), Vec3(y)) for x, y in ((a.half, b.half), (b.half, a.half)))
    k = select(first, face, face - 3.0)

    # axes of this face: its normal n towards the other box, x and y
    own, theirs = [R.column(m) for m in range(3)], [P.column(m) for m in range(3)]
    n = _pick3(k, own)
    n = chosen(less(dot3(n, q - p), 0.0), -n, n)
    x, y = _pick3(k, [own[1], own[2], own[0]]), _pick3(k, [own[2], own[0], own[1]])
    height, wide, deep = _pick(k, half), _pick(k, [half[1], half[2], half[0]]), _pick(k, [half[2], half[0], half[1]])

    # the other's face: its middle m, half edges u and v, all as x, y and height above this face
    facing = [-absolute(dot3(n, z)) for z in theirs]
    on = nearest_face(facing)
    z = Vec3(picked(on, [t[c] for t in theirs]) for c in range(3))
    out = picked(on, other) * select(less(0.0, dot3(n, z)), -1.0, 1.0)
    u = Vec3(picked(on, [theirs[(m + 1) % 3][c] * other[(m + 1) % 3] for m in range(3)]) for c in range(3))
    v = Vec3(picked(on, [theirs[(m + 2) % 3][c] * other[(m + 2) % 3] for m in range(3)]) for c in range(3))
    seen = Mat3((*x, *y, *n))
    m, u, v = seen @ (q + z * out - p), seen @ u, seen @ v
    m = m - Vec3((0.0, 0.0, height))
    sign = select(first, 1.0, -1.0)

    def at(point: Vec3, condition: Scalar) -> None:
        where = p + x * point[0] + y * point[1] + n * (height + 0.5 * point[2])
        add(point[2], where, n * sign, condition=condition)

    def edge(k: Scalar, kept: Scalar) -> tuple[Scalar, ...]:
        """An edge of the other's face: where it comes in, and where it goes out before its end."""
        s = select(less(k, 0.5), 1.0, select(less(k, 2.5), -1.0, 1.0))
        t = select(less(k, 1.5), 1.0, -1.0)
        turn = less(0.5, absolute(k - 1.0 - 2.0 * select(less(k, 1.5), 0.0, 1.0)))
        start = m + u * s + v * t
        along = chosen(turn, u * (-2.0 * s), v * (-2.0 * t))
        low, high = 0.0, 1.0
        for c, size in ((0, wide), (1, deep)):
            moves = less(1e-14, absolute(along[c]))
            safe = select(moves, along[c], 1.0)
            one, two = (-size - start[c]) / safe, (size - start[c]) / safe
            inside = less(absolute(start[c]), size * (1.0 + SAME))
            low = maximum(low, select(moves, minimum(one, two), select(inside, 0.0, 2.0)))
            high = minimum(high, select(moves, maximum(one, two), 1.0))
        at(start + along * low, less(low, high + SAME))
        at(start + along * high, select(less(high, 1.0 - SAME), less(low + SAME, high), 0.0))
        return (kept,)

    def corner(k: Scalar, kept: Scalar) -> tuple[Scalar, ...]:
        """A corner of this face that is within the other's."""
        s = wide * select(less(k, 1.5), 1.0, -1.0)
        t = deep * select(less(absolute(k - 1.5), 1.0), 1.0, -1.0)
        det = u[0] * v[1] - u[1] * v[0]
        safe = select(less(1e-30, absolute(det)), det, 1.0)
        dx, dy = s - m[0], t - m[1]
        f, g = (dx * v[1] - dy * v[0]) / safe, (u[0] * dy - u[1] * dx) / safe
        inside = less(maximum(absolute(f), absolute(g)), 1.0 - SAME)
        at(Vec3((s, t, m[2] + u[2] * f + v[2] * g)), select(less(1e-30, absolute(det)), inside, 0.0))
        return (kept,)

    repeat(4, (p[0],), edge)
    repeat(4, (p[0],), corner)
    return (kept,)
