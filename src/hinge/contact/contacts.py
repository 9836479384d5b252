"""A possible contact: a point, line or face of one body against one of another.

    contact = hinge.Contact("foot", (0.0, 0.0, -0.3), normal=(0.0, 0.0, 1.0))

`body` is pushed along the normal, `other` (the world where it is None) against it. What touches says how the normal
turns: with a face of `other`; with the common perpendicular of two edges, straight or round; with the perpendicular
from a point to an edge; or with the line between two points, as for two spheres. Round bodies are points and lines with
an `offset`.
Source: featherstone1987, section 9.6.1, Figures 9-4 and 9-5.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from hinge.arguments import finite, number
from hinge.errors import SizeError
from hinge.model import Model
from hinge.spatial.linear3 import Vec3
from hinge.spatial.rotation import shortest_turn
from hinge.typing import Numbers

Triple = tuple[float, ...]
RANGES = {
    "offset": (-math.inf, math.inf, "a finite number"),
    "other_offset": (-math.inf, math.inf, "a finite number"),
    "restitution": (0.0, 1.0, "a number from 0 to 1"),
    "friction": (0.0, math.inf, "a finite number from 0 up"),
    "compliance": (0.0, math.inf, "a finite number from 0 up"),
}


@dataclass(frozen=True)
class Contact:
    """A point of `body` that may touch `other`; vectors are in the coordinates of their own body.

    `normal` points from `other` to `body` and is fixed in `other`. Without it the normal is that of `edge` and
    `other_edge` (directions of lines through the two points): (other_edge × edge), or the perpendicular from the point
    to `other_edge`, or the line from `other_point` to `point`. The gap is the distance less `offset`, of which
    `other_offset` is the radius of `other`. With a normal, `edge` is the axis of a disc around the point with radius
    `offset`, whose rim touches the face as it rolls. With `rim` or `other_rim` the edge is round: the point is its
    centre, the edge its axis, and the rim leads from the centre to where it touches. `face` has the corners of a
    convex polygon in the plane of the normal, in order: beyond its edges nothing touches. Without it the plane has no
    end. With no corners, (), it is not known where the plane ends: the contact serves one configuration.

    >>> hinge.Contact("foot", (0, 0, -0.3), normal=(0, 0, 2)).normal
    (0.0, 0.0, 1.0)
    """

    body: str
    point: Triple
    normal: Triple | None = None
    other: str | None = None
    other_point: Triple = (0.0, 0.0, 0.0)
    edge: Triple | None = None
    other_edge: Triple | None = None
    offset: float = 0.0
    restitution: float = 0.0
    friction: float = 0.0
    compliance: float = 0.0
    name: str = ""
    other_offset: float = 0.0
    rim: Triple | None = None
    other_rim: Triple | None = None
    face: tuple[Triple, ...] | None = None

    def __post_init__(self) -> None:
        if self.face is not None:
            object.__setattr__(self, "face", tuple(_triple(self, "face", corner, False) for corner in self.face))
            if self.normal is None or 0 < len(self.face) < 3:
                raise SizeError(f"{self} has a face of {len(self.face)} corners. Give a normal and at least 3 corners.")
        for label in ("point", "other_point", "normal", "edge", "other_edge", "rim", "other_rim"):
            value = getattr(self, label)
            if value is not None:
                object.__setattr__(self, label, _triple(self, label, value, label in ("normal", "edge", "other_edge")))
        if self.edge is not None and self.other_edge is None and self.normal is None:
            raise SizeError(f"{self} has an edge and no other_edge. Swap the bodies, or give both lines.")
        if self.normal is not None and self.other_edge is not None:
            raise SizeError(f"{self} has a normal and edges. Give the one or the other.")
        for rim, axis, label in ((self.rim, self.edge, "rim"), (self.other_rim, self.other_edge, "other_rim")):
            if rim is not None and (axis is None or abs(np.dot(rim, axis)) > 1e-6 * max(map(abs, rim)) or not any(rim)):
                raise SizeError(f"{self}: {label} has to stand on the circle's axis, which is its edge. Give both.")
        if self.rim is not None and self.other_rim is None:
            raise SizeError(f"{self} has a rim and `other` none. Swap the bodies.")
        for label, (low, high, wanted) in RANGES.items():
            value = _number(getattr(self, label))
            if not (math.isfinite(value) and low <= value <= high):
                raise SizeError(f"{self} has {label} {getattr(self, label)!r}. Give {wanted}.")
            object.__setattr__(self, label, value)

    def __str__(self) -> str:
        called = f" {self.name!r}" if self.name else ""
        return f"contact{called} of {self.body!r} with {'the world' if self.other is None else repr(self.other)}"

    @property
    def kind(self) -> str:
        """What touches: "face", "rim", "edges", "edge" or "points"; with a round edge "curves" or "ring"."""
        if self.normal is not None:
            return "face" if self.edge is None else "rim"
        if self.other_rim is not None:
            return "ring" if self.edge is None else "curves"
        return "edges" if self.edge is not None else "edge" if self.other_edge is not None else "points"

    @property
    def numbers(self) -> tuple[float, ...]:
        """What a kernel is given of it: point, point of the other, normal or line of the other, line, radii, rims."""
        none = (0.0, 0.0, 0.0)
        on_other, edge = self.normal or self.other_edge or none, self.edge or none
        return (*self.point, *self.other_point, *on_other, *edge, self.offset, self.other_offset,
                *(self.rim or none), *(self.other_rim or none))  # fmt: skip

    def bodies(self, model: Model) -> tuple[int, int]:
        """The numbers of its bodies; refuses names that are not there, and a body against itself."""
        first = model.frame(self.body).body
        second = 0 if self.other is None else model.frame(self.other).body
        if first == second:
            raise SizeError(f"{self}: both are body {model.body_name[first]!r}, which cannot touch itself.")
        return first, second


class ContactKind(NamedTuple):
    """What a program about a contact depends on. The numbers of the contact are inputs of the program."""

    body: str
    other: str | None
    kind: str
    rim: bool
    other_rim: bool

    @classmethod
    def of(cls, contact: Contact) -> ContactKind:
        return cls(contact.body, contact.other, contact.kind, contact.rim is not None, contact.other_rim is not None)

    def bodies(self, model: Model) -> tuple[int, int]:
        """Return the indices of the bodies."""
        return model.frame(self.body).body, 0 if self.other is None else model.frame(self.other).body


def _triple(contact: Contact, label: str, given: Any, direction: bool) -> Triple:
    try:
        value = tuple(float(x) for x in given)
    except (TypeError, ValueError):
        value = ()
    if len(value) != 3 or not all(map(math.isfinite, value)):
        raise SizeError(f"contact of {contact.body!r}: {label} is {given!r}. Give three finite numbers.")
    if not direction:
        return value
    length = math.sqrt(sum(x * x for x in value))
    if not length > 0.0:
        raise SizeError(f"contact of {contact.body!r}: {label} is zero. Give a direction.")
    return tuple(x / length for x in value)


def _number(given: Any) -> float:
    """A number, or NaN for what is none."""
    try:
        return number("", given)
    except SizeError:
        return math.nan


# extended contacts: featherstone1987, Figure 9-5


def edge_contact(body: str, start: Sequence[float], end: Sequence[float], **details: Any) -> list[Contact]:
    """A straight edge against a face: a contact at each end.

    >>> len(hinge.edge_contact("block", (0, 0, 0), (1, 0, 0), normal=(0, 0, 1)))
    2
    """
    return [Contact(body, tuple(point), **details) for point in (start, end)]


def polygon_contact(body: str, vertices: Numbers, **details: Any) -> list[Contact]:
    """A flat polygon against a face: a contact at each vertex of its convex hull, in order around it.

    >>> square = [(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0), (0.5, 0.5, 0)]
    >>> len(hinge.polygon_contact("block", square, normal=(0, 0, 1)))
    4
    """
    points = finite(f"polygon_contact of {body!r}: vertices", vertices)
    if points.ndim != 2 or points.shape[1] != 3 or not len(points):
        raise SizeError(f"polygon_contact of {body!r}: vertices have shape {points.shape}; give (n, 3).")
    return [Contact(body, tuple(points[k]), **details) for k in _hull(points)]


def patch_contact(
    body: str, centre: Sequence[float], radius: float, m: int = 8, axis: Sequence[float] = (0, 0, 1), **details: Any
) -> list[Contact]:
    """A round patch against a face: m contacts on its rim. `patch_error` says how far it then tips too soon.

    >>> len(hinge.patch_contact("cup", (0, 0, 0), 0.1, 6, normal=(0, 0, 1)))
    6
    """
    if m < 3 or not radius > 0.0:
        raise SizeError(f"patch_contact of {body!r}: m={m} points, radius={radius}. Give at least 3, and a radius.")
    x, y, _ = np.array(shortest_turn(Vec3(np.asarray(axis, float) / np.linalg.norm(axis)))).T
    angles = 2.0 * np.pi * np.arange(m) / m
    rim = np.asarray(centre, float) + radius * (np.outer(np.cos(angles), x) + np.outer(np.sin(angles), y))
    return [Contact(body, tuple(point), **details) for point in rim]


def patch_error(radius: float, m: int) -> float:
    """How much nearer to the centre than the rim the edge of support by m points can be (m).

    >>> round(hinge.contact.patch_error(1.0, 6), 3)
    0.134
    """
    return float(radius * (1.0 - math.cos(math.pi / m)))


def _hull(points: Any) -> list[int]:
    """The vertices of the convex hull of points in a plane, in order: a walk that always turns the same way."""
    centre = points.mean(axis=0)
    _, _, axes = np.linalg.svd(points - centre)
    flat = (points - centre) @ axes[:2].T
    order = sorted(range(len(flat)), key=lambda k: tuple(flat[k]))
    size = max(float(np.abs(flat).max()), 1e-300)

    def chain(ks: Any) -> list[int]:
        made: list[int] = []
        for k in ks:
            while len(made) > 1:
                a, b = flat[made[-1]] - flat[made[-2]], flat[k] - flat[made[-1]]
                if a[0] * b[1] - a[1] * b[0] > 1e-12 * size * size:
                    break
                made.pop()
            made.append(k)
        return made

    lower, upper = chain(order), chain(order[::-1])
    return lower[:-1] + upper[:-1] if len(order) > 1 else order
