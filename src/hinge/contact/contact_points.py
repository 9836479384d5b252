"""A contact that geometry found, in base coordinates, and what several pairs of solids find alike."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hinge.arguments import Array
from hinge.contact.solids import Solid

FLAT = 1e-6  # directions closer than this are parallel
ROUND = 72  # corners of a polygon that stands for the face of a disc
RIM = 8  # points that stand for the rim of a disc that lies flat


class Found(NamedTuple):
    """A contact in base coordinates, from `other` to `body`."""

    body: Solid
    other: Solid
    gap: float
    point: Array
    other_point: Array
    normal: Array | None = None
    edge: Array | None = None
    other_edge: Array | None = None
    offset: float = 0.0
    rim: Array | None = None
    other_rim: Array | None = None
    face: Array | None = None  # the corners of the face of `other` that has the normal; None: it has no end

    @property
    def other_offset(self) -> float:
        """How much of the offset is the radius of `other`."""
        round_one = self.normal is None and self.other_rim is None and self.other.kind != "box"
        return self.other.size[0] if round_one else 0.0


def between_points(body: Solid, other: Solid, point: Array, other_point: Array, offset: float) -> Found:
    return Found(body, other, float(np.linalg.norm(point - other_point)) - offset, point, other_point, offset=offset)


def beside_line(body: Solid, other: Solid, point: Array, ends: Array, offset: float) -> Found:
    """A point with a radius against a segment: its inside, or one of its ends."""
    along = ends[1] - ends[0]
    t = float(np.clip((point - ends[0]) @ along / (along @ along), 0.0, 1.0))
    foot = ends[0] + t * along
    if t in (0.0, 1.0):
        return between_points(body, other, point, foot, offset)
    direction = along / np.linalg.norm(along)
    gap = float(np.linalg.norm(point - foot)) - offset
    return Found(body, other, gap, point, foot, other_edge=direction, offset=offset)


def crossed(
    a: Solid, b: Solid, p: Array, u: Array, half_p: float, q: Array, w: Array, half_q: float, offset: float
) -> list[Found]:
    """Two lines with a radius that pass each other within their lengths; `a` is the body that is pushed."""
    N = np.cross(w, u)
    square = float(N @ N)
    if square < FLAT**2:
        return []
    away, c = p - q, float(u @ w)
    x, y = float(w @ away), float(u @ away)
    s, t = (x - c * y) / square, (c * x - y) / square
    if abs(s) > half_q or abs(t) > half_p:
        return []
    point, other = p + t * u, q + s * w
    reach = float((point - other) @ N / np.sqrt(square))
    return [Found(a, b, abs(reach) - offset, point, other, edge=u if reach >= 0.0 else -u, other_edge=w, offset=offset)]


def cut(corners: list[Array], n: Array, height: float, closed: bool = True) -> list[Array]:
    """The part of a polygon, or of a segment that is not closed, below a plane."""
    made = []
    following = corners[1:] + corners[:1] if closed else corners[1:] + corners[-1:]
    for here, there in zip(corners, following, strict=True):
        a, b = float(n @ here) - height, float(n @ there) - height
        if a <= 1e-12:
            made.append(here)
        if (a < -1e-12 and b > 1e-12) or (a > 1e-12 and b < -1e-12):
            made.append(here + (there - here) * (a / (a - b)))
    return made


def box_face(box: Solid, k: int, n: Array) -> Array:
    """Return the corners of the face of a box across its axis k that looks along n, in order around it."""
    half, i, j = np.asarray(box.size) / 2, (k + 1) % 3, (k + 2) % 3
    signs = np.array([(-1, -1), (1, -1), (1, 1), (-1, 1)])
    return box.p + n * half[k] + (signs * half[[i, j]]) @ box.R[:, [i, j]].T


def disc_face(solid: Solid, end: Array) -> Array:
    """Return corners around the flat end of a cylinder, outside of it by a thousandth of its radius at most."""
    angles = 2.0 * np.pi * np.arange(ROUND) / ROUND
    around = np.outer(np.cos(angles), solid.R[:, 0]) + np.outer(np.sin(angles), solid.R[:, 1])
    return end + solid.size[0] / np.cos(np.pi / ROUND) * around


def rim_points(solid: Solid, centre: Array) -> Array:
    angles = 2.0 * np.pi * np.arange(RIM) / RIM
    around = np.outer(np.cos(angles), solid.R[:, 0]) + np.outer(np.sin(angles), solid.R[:, 1])
    return centre + solid.size[0] * around
