"""Contacts of convex solids with a height field: one for each prism under its triangles that they overlap.

A prism is what lies under a triangle, down to the base. Those of the cells under the box around a solid are looked at,
as MuJoCo does it, all others are not.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, cast

from hinge.contact.collision_shapes import Posed
from hinge.contact.convex_contacts import separation
from hinge.contact.round_contacts import Add, chosen
from hinge.graph import Scalar, Table, floor, less, maximum, minimum, repeat, select, when
from hinge.model.height_fields import HeightField
from hinge.spatial import IDENTITY, Mat3, Vec3, dot3

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
    """Finds the contacts of solids with one height field, which is the first of each pair."""

    field: HeightField

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

            def touch(k: Scalar) -> tuple[Scalar, ...]:
                found = separation(cast(Any, prism), seen, add.within, slopes=add.slopes)
                add(found.gap, a.p + a.R @ ((found.p + found.q) * 0.5), a.R @ found.normal)
                return (k,)

            top = maximum(maximum(start[2], end[2]), third[2])
            (k,) = when(less(low[2], top), (k,), touch)
            return (k + 1.0,)

        most = 2 * (rows - 1) * (columns - 1)
        (_,) = repeat(most, (0.0 * count,), one, until=lambda k: less(count - 0.5, k))
