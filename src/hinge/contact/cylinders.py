"""Where a cylinder touches a sphere, a capsule, a box or another cylinder.

The direction in which they are nearest says which parts of them meet: a flat face, a straight line with a radius (the
side of a cylinder, a capsule, an edge of a box), a round edge, or a point with a radius. Each pair of parts makes its
own contacts, whose gaps are exact. A flat end is an octagon against other flat faces.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from hinge.arguments import Array
from hinge.contact.contact_points import Found, beside_line, crossed, cut, disc_face, rim_points
from hinge.contact.convex import nearest
from hinge.contact.curves import Edge, nearest_points
from hinge.contact.solids import Solid
from hinge.spatial import vec3

LEAN = 1e-4  # directions closer than this are parallel; parts that lean less meet as a whole
CORNER = 1e-9  # m: a corner nearer to a rim than this is on it


KINDS = ("face", "line", "ring", "point")


class Part(NamedTuple):
    """A part of a solid: the corners of a face, the ends of a line, the centre of a circle, or a point."""

    kind: str  # one of KINDS
    solid: Solid
    points: Array
    axis: Array  # the normal of a face, the direction of a line, the axis of a ring
    radius: float = 0.0


def cylinder_contacts(a: Solid, b: Solid) -> list[Found]:
    """The contacts of two solids, one of which is a cylinder."""
    p, q = nearest(a, b)
    d = (q - p) / np.linalg.norm(q - p)
    for lean in (LEAN, 0.0):  # parts that lean a little and then miss each other meet at their edges
        one, two = sorted((part(a, d, lean), part(b, -d, lean)), key=_rank)
        towards, near = (d, q) if two.solid is b else (-d, p)
        found = list(MEETINGS[one.kind, two.kind](one, two, towards, near))
        if found:
            return found
    return []


def _rank(one: Part) -> tuple[int, float]:
    """Return the place of a part in the order of KINDS; of two faces the larger comes first, to move on."""
    return KINDS.index(one.kind), -float(np.linalg.norm(np.ptp(one.points, axis=0))) if one.kind == "face" else 0.0


def part(solid: Solid, d: Array, lean: float) -> Part:
    """The part of a solid that is farthest in a direction."""
    if solid.kind == "sphere":
        return Part("point", solid, solid.p[None], d, solid.size[0])
    if solid.kind == "box":
        return _part_of_box(solid, d, lean)
    along = float(d @ solid.axis)
    if abs(along) < lean:
        return Part("line", solid, solid.ends, solid.axis, solid.size[0])
    end = solid.ends[int(along > 0.0)]
    if solid.kind == "capsule":
        return Part("point", solid, end[None], d, solid.size[0])
    if np.linalg.norm(np.cross(d, solid.axis)) < lean:
        return Part("face", solid, rim_points(solid, end)[:: int(np.sign(along))], np.sign(along) * solid.axis)
    return Part("ring", solid, end[None], solid.axis, solid.size[0])


def _part_of_box(box: Solid, d: Array, lean: float) -> Part:
    x, half = box.R.T @ d, np.asarray(box.size) / 2
    flat = np.flatnonzero(np.abs(x) < lean)
    corner = box.p + box.R @ (np.where(np.abs(x) < lean, 0.0, np.sign(x)) * half)
    if len(flat) == 0:
        return Part("point", box, corner[None], d)
    if len(flat) == 1:
        way = box.R[:, flat[0]]
        return Part("line", box, corner + np.outer([-half[flat[0]], half[flat[0]]], way), way)
    i, j = flat
    signs = ((-1, -1), (1, -1), (1, 1), (-1, 1))
    corners = np.array([corner + s * half[i] * box.R[:, i] + t * half[j] * box.R[:, j] for s, t in signs])
    k = 3 - i - j
    n = np.sign(x[k]) * box.R[:, k]
    turns = np.cross(corners[1] - corners[0], corners[2] - corners[1]) @ n
    return Part("face", box, corners if turns > 0 else corners[::-1], n)


# what meets what: `towards` leads from the first solid to the second, `near` is the nearest point of the second


def _onto(face: Part, other: Part, point: Array, offset: float = 0.0, edge: Array | None = None) -> Found:
    height = float(face.axis @ (point - face.points[0]))
    reach = offset if edge is None else offset * float(np.linalg.norm(np.cross(face.axis, edge)))
    ends = face.solid.ends[int(face.axis @ face.solid.axis > 0.0)] if face.solid.kind == "cylinder" else None
    corners = face.points if ends is None else disc_face(face.solid, ends)
    return Found(other.solid, face.solid, height - reach, point, face.points[0], normal=face.axis, edge=edge,
                 offset=offset, face=corners)  # fmt: skip


def _within(face: Part, corners: Array) -> list[Array]:
    """A polygon or a segment, cut to what lies over a face."""
    left = list(corners)
    for here, there in zip(face.points, np.roll(face.points, -1, axis=0), strict=True):
        out = np.cross(there - here, face.axis)
        left = cut(left, out, float(out @ here), closed=len(corners) > 2)
    return left


def _face_face(one: Part, two: Part, towards: Array, near: Array) -> Iterator[Found]:
    yield from (_onto(one, two, point) for point in _within(one, two.points))


def _face_line(one: Part, two: Part, towards: Array, near: Array) -> Iterator[Found]:
    axis = two.axis if two.solid.kind == "cylinder" else None
    yield from (_onto(one, two, point, two.radius, axis) for point in _within(one, two.points))


def _face_ring(one: Part, two: Part, towards: Array, near: Array) -> Iterator[Found]:
    yield _onto(one, two, two.points[0], two.radius, two.axis)


def _face_point(one: Part, two: Part, towards: Array, near: Array) -> Iterator[Found]:
    yield _onto(one, two, two.points[0], two.radius)


def _line_line(one: Part, two: Part, towards: Array, near: Array) -> Iterator[Found]:
    offset = one.radius + two.radius
    middle, half = one.points.mean(axis=0), float(np.linalg.norm(one.points[1] - one.points[0])) / 2
    other, other_half = two.points.mean(axis=0), float(np.linalg.norm(two.points[1] - two.points[0])) / 2
    if np.linalg.norm(np.cross(one.axis, two.axis)) > LEAN:
        yield from crossed(one.solid, two.solid, middle, one.axis, half, other, two.axis, other_half, offset)
        return
    ends = [beside_line(one.solid, two.solid, p, two.points, offset) for p in one.points]
    ends += [beside_line(two.solid, one.solid, p, one.points, offset) for p in two.points]
    yield from [f for f in ends if f.other_edge is not None][:2]  # side by side along a line: two points of it


def _line_ring(line: Part, ring: Part, towards: Array, near: Array) -> Iterator[Found]:
    yield _edges(line, ring, towards, near, Edge(vec3(line.points[0]), vec3(line.axis)))


def _ring_ring(one: Part, two: Part, towards: Array, near: Array) -> Iterator[Found]:
    yield _edges(one, two, towards, near, Edge(vec3(one.points[0]), vec3(one.axis), vec3(_rim(one, near))))


def _edges(one: Part, ring: Part, towards: Array, near: Array, edge: Edge) -> Found:
    """A straight or round edge of one solid against the round edge of another, which it is pushed away from."""
    circle = Edge(vec3(ring.points[0]), vec3(ring.axis), vec3(_rim(ring, near)))
    if edge.rim is None:
        edge = edge._replace(point=vec3(one.points[0] + one.axis * float(one.axis @ (near - one.points[0]))))
    at, foot = nearest_points(circle, edge)
    p, q = np.array(at.p, float), np.array(foot.p, float)
    n = np.cross(np.array(at.tangent, float), np.array(foot.tangent, float))
    sign = -1.0 if n @ towards > 0.0 else 1.0
    n *= sign / np.linalg.norm(n)
    offset = one.radius if edge.rim is None else 0.0
    centre, rim = ring.points[0], p - ring.points[0]
    if edge.rim is None:
        return Found(one.solid, ring.solid, float(n @ (q - p)) - offset, q, centre, edge=one.axis,
                     other_edge=sign * ring.axis, offset=offset, other_rim=rim)  # fmt: skip
    return Found(one.solid, ring.solid, float(n @ (q - p)), one.points[0], centre, edge=one.axis,
                 other_edge=sign * ring.axis, rim=q - one.points[0], other_rim=rim)  # fmt: skip


def _rim(ring: Part, near: Array) -> Array:
    """From the centre of a ring to its point in the direction of another."""
    out = near - ring.points[0]
    out = out - ring.axis * (ring.axis @ out)
    return out * (ring.radius / np.linalg.norm(out))


def _line_point(line: Part, point: Part, towards: Array, near: Array) -> Iterator[Found]:
    yield beside_line(point.solid, line.solid, point.points[0], line.points, line.radius + point.radius)


def _ring_point(ring: Part, point: Part, towards: Array, near: Array) -> Iterator[Found]:
    centre, p = ring.points[0], point.points[0]
    rim = _rim(ring, p)
    gap = float(np.linalg.norm(p - centre - rim)) - point.radius
    if gap > CORNER or point.radius:
        yield Found(point.solid, ring.solid, gap, p, centre, other_edge=ring.axis, offset=point.radius, other_rim=rim)
        return
    # a corner on the very rim has no normal of its own: the edge of the box that crosses the rim most has one
    ways = point.solid.R.T
    way = ways[int(np.argmax([abs(np.cross(np.cross(ring.axis, rim), w) @ towards) for w in ways]))]
    yield from _line_ring(Part("line", point.solid, point.points, way), ring, -towards, near)


MEETINGS = {
    ("face", "face"): _face_face,
    ("face", "line"): _face_line,
    ("face", "ring"): _face_ring,
    ("face", "point"): _face_point,
    ("line", "line"): _line_line,
    ("line", "ring"): _line_ring,
    ("line", "point"): _line_point,
    ("ring", "ring"): _ring_ring,
    ("ring", "point"): _ring_point,
}
