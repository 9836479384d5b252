"""Which of the pairs touch in a state, and where: a loop over the pairs of each class, which fills a list of contacts.

A class of pairs is a row of `CLASSES`: two kinds of shapes and how their contacts are found. All other pairs are
found by a search over directions, with each of the prisms under a solid where one is terrain. A pair far away costs no
more than two balls that are apart, or one above a plane.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

from hinge.contact.box_contacts import box_box, capsule_box, plane_box, sphere_box
from hinge.contact.collision_pairs import Pairs
from hinge.contact.collision_shapes import Posed, Shapes, column
from hinge.contact.convex_contacts import convex_convex, plane_convex
from hinge.contact.height_field_contacts import OnHeights
from hinge.contact.round_contacts import (
    Add,
    capsule_capsule,
    plane_capsule,
    plane_cylinder,
    plane_ellipsoid,
    plane_sphere,
    sphere_capsule,
    sphere_cylinder,
    sphere_sphere,
    tangent_of,
)
from hinge.contact.slots import Slots, Touch
from hinge.graph import Scalar, less, repeat, select, when
from hinge.model.height_fields import HeightField
from hinge.model.shapes import Geometry
from hinge.spatial import Mat3, Vec3

Narrow = Callable[[Posed, Posed, Add], None]
CLASSES: dict[tuple[str, str], Narrow] = {
    ("plane", "sphere"): plane_sphere, ("plane", "capsule"): plane_capsule, ("plane", "ellipsoid"): plane_ellipsoid,
    ("plane", "cylinder"): plane_cylinder, ("plane", "box"): plane_box,
    ("sphere", "sphere"): sphere_sphere, ("sphere", "capsule"): sphere_capsule,
    ("sphere", "cylinder"): sphere_cylinder, ("sphere", "box"): sphere_box,
    ("capsule", "capsule"): capsule_capsule, ("capsule", "box"): capsule_box, ("box", "box"): box_box,
}  # fmt: skip


def collide(
    pairs: Pairs, R: Sequence[Mat3], r: Sequence[Vec3], slots: Slots, like: Scalar, slopes: bool = False
) -> None:
    """Fill a list with the contacts of bodies that stand at (R, r): of each pair, all that are within its distance.

    With `slopes` they have derivatives; those that a search finds, as long as the same corners are nearest.
    """
    shapes = Shapes(pairs.shapes, R, r, like)
    for narrow, rows in pairs.classes(partial(_narrow, pairs.sides)).items():
        _class(pairs, shapes, narrow, rows, slots, like, slopes)


def _narrow(sides: bool, a: Geometry, b: Geometry) -> Narrow:
    """What finds the contacts of two shapes."""
    if isinstance(a, HeightField):
        return OnHeights(a, sides)
    return CLASSES.get((a.kind, b.kind), plane_convex if a.kind == "plane" else convex_convex)


def searched(pairs: Pairs) -> list[int]:
    """The pairs whose contacts are found by a search."""
    known = {plane_convex, *CLASSES.values()}
    return [
        k for narrow, rows in pairs.classes(partial(_narrow, pairs.sides)).items() if narrow not in known for k in rows
    ]


def _class(pairs: Pairs, shapes: Shapes, narrow: Narrow, rows: Sequence[int], slots: Slots, like: Scalar, slopes: bool
           ) -> None:  # fmt: skip
    """One class of pairs."""
    everything, both = range(len(rows)), [pairs.rows[k] for k in rows]
    firsts, seconds = [i for i, _ in both], [j for _, j in both]
    number, first, second = (column(x, everything) for x in (rows, firsts, seconds))
    within = column([pairs.within[k] for k in rows], everything)
    one, other, near = shapes.reader(firsts), shapes.reader(seconds), shapes.near(both, [pairs.within[k] for k in rows])

    def pair(k: Scalar, kept: Scalar) -> tuple[Scalar, ...]:
        i, j = first(k), second(k)

        def found(kept: Scalar) -> tuple[Scalar, ...]:
            narrow(one(i), other(j), Adding(slots, number(k), within(k), slopes))
            return (kept,)

        return when(near(k, i, j), (kept,), found)

    repeat(len(rows), (like,), pair)


class Adding(NamedTuple):
    """Takes contacts of a pair into a list, where they are near enough."""

    slots: Slots
    pair: Scalar
    within: Scalar
    slopes: bool = False

    def __call__(
        self, gap: Scalar, point: Vec3, normal: Vec3, tangent: Vec3 | None = None, condition: Scalar = True
    ) -> Scalar:
        near = select(condition, less(gap, self.within), 0.0)
        self.slots.add(near, Touch(self.pair, gap, point, normal, tangent_of(normal, tangent)))
        return near
