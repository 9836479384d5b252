"""Contacts of convex solids with a height field: one for each prism under its triangles that they overlap.

A prism is what lies under a triangle, down to the base. Those of the cells under the box around a solid are looked at,
as MuJoCo does it, all others are not.

Prisms have sides where terrain has none: a solid that slides from one to the next would be held up at an inner edge. A
normal counts only where the triangles around lie below the plane across it; otherwise the contact has the normal of its
own triangle. Contacts of an MJCF file by the soft law are those of the plain prisms, as in MuJoCo.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, cast

from hinge.contact.collision_shapes import Posed
from hinge.contact.convex_contacts import separation
from hinge.contact.round_contacts import Add, chosen
from hinge.graph import Scalar, Table, floor, less, maximum, minimum, repeat, select, sqrt, when
from hinge.model.height_fields import HeightField
from hinge.spatial import IDENTITY, Mat3, Vec3, cross3, dot3

# Corners (row, column) of the triangles around the triangle (0, 0), (1, 1), (1, 0). Each comes with the corners of the
# triangle itself whose weights are zero at a point that both triangles share.
AROUND = (((2, 1), (0,)), ((0, -1), (1,)), ((0, 1), (2,)), ((-1, 0), (1, 2)), ((-1, -1), (1, 2)), ((1, 2), (0, 2)),
          ((2, 2), (0, 2)), ((2, 0), (0, 1)), ((1, -1), (0, 1)))  # fmt: skip
EDGE = 1e-9  # of a cell: how far beside a triangle a point may be
FLAT = 1e-7  # of a cell: how far a corner may be above the plane across a normal
DEEP = 0.5  # of the size of a solid
ON_EDGE = 1e-6  # the weight of a corner at a point of the opposite edge
AXES = tuple(Vec3(float(i == j) for j in range(3)) for i in range(3))


class Prism(NamedTuple):
    """What lies under three points, down to a height."""

    tops: Sequence[Vec3]
    bottom: float
    reach: float
    rounding: float = 0.0

    @property
    def R(self) -> Mat3:
        return IDENTITY

    @property
    def p(self) -> Vec3:
        """A point within."""
        middle = (self.tops[0] + self.tops[1] + self.tops[2]) * (1.0 / 3.0)
        return Vec3((middle[0], middle[1], 0.5 * (middle[2] + self.bottom)))

    def core(self, d: Vec3) -> Vec3:
        """Its farthest point in a direction."""
        up = less(0.0, d[2])
        ends = [Vec3((x[0], x[1], select(up, x[2], self.bottom))) for x in self.tops]
        best = ends[0]
        for x in ends[1:]:
            best = chosen(less(dot3(best, d), dot3(x, d)), x, best)
        return best


@dataclass(frozen=True)
class OnHeights:
    """Finds the contacts of solids with one height field, which is the first of each pair.

    With `sides` a prism is a solid by itself, and its inner sides are felt.
    """

    field: HeightField
    sides: bool = False

    def __call__(self, a: Posed, b: Posed, add: Add) -> None:
        heights, (dx, dy) = self.field.heights, self.field.heights.step
        (rows, columns), half = heights.rows.shape, [0.5 * x for x in heights.size]
        table, reach = Table(heights.rows.reshape(-1).tolist()), 0.5 * (dx * dx + dy * dy) ** 0.5
        seen = b._replace(R=a.R.T.times(b.R), p=a.R.T @ (b.p - a.p))
        near = b.rounding + add.within
        low = [seen.core(-axis)[k] - near for k, axis in enumerate(AXES)]
        high = [seen.core(axis)[k] + near for k, axis in enumerate(AXES[:2])]
        first = [maximum(floor((x + h) / d), 0.0) for x, h, d in zip(low, half, (dx, dy), strict=False)]
        last = [minimum(floor((x + h) / d) + 1.0, n - 1.0)
                for x, h, d, n in zip(high, half, (dx, dy), (columns, rows), strict=True)]  # fmt: skip
        wide = 2.0 * (last[0] - first[0])
        count = select(less(0.0, minimum(wide, last[1] - first[1])), wide * (last[1] - first[1]), 0.0)

        def corner(r: Scalar, c: Scalar) -> Vec3:
            return Vec3((c * dx - half[0], r * dy - half[1], table[r * float(columns) + c]))

        def one(_: Scalar, k: Scalar) -> tuple[Scalar, ...]:
            row = floor((k + 0.5) / wide)
            cell = floor((k - row * wide + 0.5) * 0.5)
            upper = less(k - row * wide - 2.0 * cell, 0.5)
            r, c = first[1] + row, first[0] + cell
            start, end = corner(r, c), corner(r + 1.0, c + 1.0)
            third = corner(select(upper, r + 1.0, r), select(upper, c, c + 1.0))
            prism = Prism((start, end, third), -heights.base, reach)

            def weights(x: Vec3) -> tuple[Scalar, Scalar, Scalar]:
                """The weights of the corners of the triangle that give the point above or below x."""
                u, v = (x[0] + half[0]) / dx - c, (x[1] + half[1]) / dy - r
                far, near = select(upper, v, u), select(upper, u, v)
                return 1.0 - far, near, far - near

            def rise(x: Vec3, normal: Vec3) -> Scalar:
                """How far the triangles at x reach beyond the plane across a normal (m)."""
                highest, share = -FLAT * reach, weights(x)
                for (i, j), zeros in AROUND:
                    row, column = select(upper, r + i, r + j), select(upper, c + j, c + i)
                    there = minimum(minimum(row, rows - 1.0 - row), minimum(column, columns - 1.0 - column))
                    for k in zeros:
                        there = minimum(there, select(less(share[k], ON_EDGE), 0.0, -1.0))
                    place = [maximum(minimum(x, n - 1.0), 0.0) for x, n in ((row, rows), (column, columns))]
                    height = dot3(normal, corner(*place) - x)
                    highest = maximum(highest, select(less(-0.5, there), height, highest))
                return highest

            def touch(k: Scalar) -> tuple[Scalar, ...]:
                found = separation(cast(Any, prism), seen, add.within, slopes=add.slopes)
                if self.sides:
                    add(found.gap, a.p + a.R @ ((found.p + found.q) * 0.5), a.R @ found.normal)
                    return (k,)
                across = cross3(end - start, third - start) * select(upper, 1.0, -1.0)
                face = across * (1.0 / sqrt(dot3(across, across)))
                tilted = less(dot3(found.normal, face), 1.0 - EDGE)
                shallow = less(-DEEP * b.reach, found.gap)  # the way out of deep overlaps is that of the prism
                inner = select(tilted, select(shallow, less(FLAT * reach, rise(found.p, found.normal)), 0.0), 0.0)
                gap = select(inner, dot3(face, found.q - start), found.gap)
                middle = chosen(inner, found.q - face * (0.5 * gap), (found.p + found.q) * 0.5)
                first_weight, *others = weights(found.q)
                beside = less(minimum(first_weight, minimum(*others)), -EDGE)
                counts = select(inner, select(beside, 0.0, less(found.gap, add.within)), 1.0)
                add(gap, a.p + a.R @ middle, a.R @ chosen(inner, face, found.normal), condition=counts)
                return (k,)

            top = maximum(maximum(start[2], end[2]), third[2])
            (k,) = when(less(low[2], top), (k,), touch)
            return (k + 1.0,)

        most = 2 * (rows - 1) * (columns - 1)
        (_,) = repeat(most, (0.0 * count,), one, until=lambda k: less(count - 0.5, k))
