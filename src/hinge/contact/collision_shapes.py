"""The collision shapes of a robot, and where they are in a state: in memory of a program, read by number.

Body poses are 12 numbers each, axes and origin in base coordinates. What is constant of a shape is a row of tables, and
a number that all rows share is no table.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from hinge.arguments import Array
from hinge.contact.solids import hull_of
from hinge.errors import NotCovered
from hinge.graph import Scalar, Scratch, Table, less, repeat, select
from hinge.model import Model
from hinge.model.shapes import SHAPES, Geometry, Plane, Shape
from hinge.model.support import farthest
from hinge.spatial import Mat3, Vec3, dot3

POSE = 12  # numbers of a body's pose


class CollisionShape(NamedTuple):
    """A shape on a body, in the body's coordinates, and a ball that holds it, in its own."""

    name: str  # of its link; "ground"
    geometry: Geometry
    body: int
    R: Array
    p: Array
    centre: Array
    reach: float
    shape: Shape | None = None  # what the file says of it

    def moved(self, model: Model) -> CollisionShape:
        """The same shape in the coordinates of a model that has other body frames."""
        assert self.shape is not None
        R, p = _at(model, self.name, self.shape)
        return self._replace(R=R, p=p)


def shapes_of(model: Model) -> list[CollisionShape]:
    """The collision shapes of a robot, link by link; refuses by name those of no known kind."""
    return [placed(model, link, shape) for link, many in model.shapes.items() for shape in many
            if shape.role == "collision"]  # fmt: skip


def placed(model: Model, link: str, shape: Shape) -> CollisionShape:
    """A shape on its body; the corners of a mesh are those of its hull."""
    geometry, frame = shape.geometry, model.frame(link)
    if geometry is None:
        known = f"Known are {', '.join(SHAPES)}. Leave it out, or replace it."
        raise NotCovered(f"link {link!r} has a collision shape of kind {shape.kind!r}.\n  {known}")
    hull = hull_of(geometry, link)
    centre = np.zeros(3) if hull is None else (hull.min(axis=0) + hull.max(axis=0)) / 2
    reach = geometry.reach if hull is None else float(np.linalg.norm(hull - centre, axis=1).max())
    return CollisionShape(link, geometry, frame.body, *_at(model, link, shape), centre, reach, shape)


def _at(model: Model, link: str, shape: Shape) -> tuple[Array, Array]:
    """The axes and the origin of a shape in its body's coordinates."""
    frame = model.frame(link)
    R = np.array(frame.R, float).reshape(3, 3)
    return R @ np.array(shape.rotation, float), np.array(frame.p, float) + R @ np.array(shape.xyz, float)


def half_space(normal: Array, offset: float, turn: Array) -> CollisionShape:
    """The half-space normal · x ≤ offset, whose axes `turn` has in its columns."""
    return CollisionShape("ground", Plane(), 0, turn, normal * offset, np.zeros(3), np.inf)


class Posed(NamedTuple):
    """A shape where it is in a state: its axes, its origin, its parts, and the place of its points in `hulls`."""

    R: Mat3
    p: Vec3
    half: Vec3
    radii: Vec3
    rounding: Scalar
    reach: Scalar
    first: Scalar
    count: Scalar
    hulls: Table | None

    @property
    def axis(self) -> Vec3:
        return self.R.column(2)

    def core(self, d: Vec3) -> Vec3:
        """Its farthest point in a direction, rounding left out."""
        local = self.R.T @ d
        return self.p + self.R @ (farthest(self.half, self.radii, local) + self.point(local))

    def point(self, d: Vec3) -> Vec3:
        """The farthest of its points, by a direction in its own axes."""
        if self.hulls is None:
            return Vec3((0.0, 0.0, 0.0))

        def compare(k: Scalar, best: Scalar, *far: Scalar) -> tuple[Scalar, ...]:
            x = self.corner(k)
            height = dot3(x, d)
            more = less(best, height)
            return (select(more, height, best), *(select(more, a, b) for a, b in zip(x, far, strict=True)))

        return Vec3(repeat(self.count, (-1e30, 0.0, 0.0, 0.0), compare)[1:])

    def corner(self, k: Scalar) -> Vec3:
        """One of its points, in its own axes."""
        assert self.hulls is not None
        return Vec3(self.hulls[3.0 * (self.first + k) + float(j)] for j in range(3))


class Shapes:
    """Shapes as rows of tables, and body poses as memory of a program."""

    def __init__(self, shapes: Sequence[CollisionShape], R: Sequence[Mat3], r: Sequence[Vec3], like: Scalar):
        self.shapes = shapes
        self.poses = Scratch(POSE * len(R), like, zeros=False)
        for i, (axes, origin) in enumerate(zip(R, r, strict=True)):
            for k, x in enumerate((*axes, *origin)):
                self.poses[POSE * i + k] = x
        hulls = {s.geometry: s.geometry.parts.points for s in shapes}
        starts = dict(zip(hulls, np.cumsum([0, *map(len, hulls.values())]), strict=False))
        flat = np.concatenate([np.zeros((0, 3)), *hulls.values()]).reshape(-1)
        self.hulls = Table(flat.tolist()) if len(flat) else None
        self.points = [(starts[s.geometry], len(hulls[s.geometry])) for s in shapes]
        self.centres = Scratch(3 * len(shapes), like, zeros=False)
        everything = range(len(shapes))
        middle = np.array([s.p + s.R @ s.centre for s in shapes]).reshape(-1, 3)

        def centre(k: Scalar, kept: Scalar) -> tuple[Scalar, ...]:
            at = self._body(column([s.body for s in shapes], everything)(k))
            local = Vec3(column(middle[:, j].tolist(), everything)(k) for j in range(3))
            for j, x in enumerate(at[1] + at[0] @ local):
                self.centres[3.0 * k + float(j)] = x
            return (kept,)

        repeat(len(shapes), (like,), centre)

    def _body(self, i: Scalar) -> tuple[Mat3, Vec3]:
        """Where a body is."""
        x = [self.poses[float(POSE) * i + float(k)] for k in range(POSE)]
        return Mat3(x[:9]), Vec3(x[9:])

    def centre(self, i: Scalar) -> Vec3:
        """The centre of the ball that holds a shape."""
        return Vec3(self.centres[3.0 * i + float(j)] for j in range(3))

    def near(self, rows: Sequence[tuple[int, int]], within: Sequence[float]) -> Callable[..., Scalar]:
        """A function of a row and its two shapes: whether the balls around them are near, or the one above a plane.

        What is not a number is near.
        """
        planes = [self.shapes[i].geometry.kind == "plane" for i, _ in rows]
        balls = [(self.shapes[j].reach + (0.0 if plane else self.shapes[i].reach) + far)
                 for (i, j), plane, far in zip(rows, planes, within, strict=True)]  # fmt: skip
        everything = range(len(rows))
        if planes[0]:
            reach, plane = column(balls, everything), self.reader([i for i, _ in rows])

            def above(k: Scalar, i: Scalar, j: Scalar) -> Scalar:
                ground = plane(i)
                return select(less(reach(k), dot3(ground.axis, self.centre(j) - ground.p)), 0.0, 1.0)

            return above
        square = column([reach * reach for reach in balls], everything)

        def apart(k: Scalar, i: Scalar, j: Scalar) -> Scalar:
            between = self.centre(j) - self.centre(i)
            return select(less(square(k), dot3(between, between)), 0.0, 1.0)

        return apart

    def reader(self, used: Sequence[int]) -> Callable[[Scalar], Posed]:
        """A function that gives a shape by its number, which is one of those that are used."""
        rows = [
            (
                s.body,
                *s.R.flat,
                *s.p,
                *s.geometry.parts.half,
                *s.geometry.parts.radii,
                s.geometry.rounding,
                s.reach,
                *points,
            )
            for s, points in zip(self.shapes, self.points, strict=True)
        ]
        columns = [column(values, used) for values in zip(*rows, strict=True)]
        hulls = self.hulls if any(self.points[i][1] for i in used) else None

        def read(i: Scalar) -> Posed:
            body, *x = (one(i) for one in columns)
            R, p = self._body(body)
            rounding, reach, start, count = x[18:]
            at, turned = p + R @ Vec3(x[9:12]), R.times(Mat3(x[:9]))
            return Posed(turned, at, Vec3(x[12:15]), Vec3(x[15:18]), rounding, reach, start, count, hulls)

        return read


def column(values: Sequence[Any], used: Sequence[int]) -> Callable[[Scalar], Scalar]:
    """A function that reads a number by a row; it is a plain number where all rows that are used have the same."""
    kept = {float(values[i]) for i in used}
    if len(kept) == 1:
        return lambda i: next(iter(kept))
    table = Table(values)
    return lambda i: table[i]
