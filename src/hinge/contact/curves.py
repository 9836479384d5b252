"""Straight and round edges, and where two of them are nearest, over scalars.

    P(t) = centre + x cos t + y sin t        or        P(t) = point + t direction

Nearest points make the distance stationary along both edges. From where the second edge is said to touch, the nearest
point of the one is taken from that of the other a few times; then Newton's method doubles the digits each time.
"""

from __future__ import annotations

from typing import NamedTuple

from hinge.graph import Scalar, cos, sin, sqrt
from hinge.spatial import ZERO, Vec3, cross3, dot3

APPROACHES, ROUNDS = 3, 4


class At(NamedTuple):
    """A point of an edge, the unit tangent there, and the curvature: towards the centre, one over the radius long."""

    p: Vec3
    tangent: Vec3
    bend: Vec3


class Edge(NamedTuple):
    """A line through a point, or a circle about it: `rim` leads from its centre to where it is said to touch."""

    point: Vec3
    direction: Vec3  # of the line, or the circle's axis
    rim: Vec3 | None = None

    def at(self, t: Scalar) -> tuple[Vec3, Vec3, Vec3]:
        """The point at t, and its first and second derivative."""
        if self.rim is None:
            return self.point + self.direction * t, self.direction, ZERO
        x, y = self.rim, cross3(self.direction, self.rim)
        out, along = x * cos(t) + y * sin(t), y * cos(t) - x * sin(t)
        return self.point + out, along, -out

    def begun(self, p: Vec3) -> Edge:
        """The same edge, at p where t is zero."""
        return self._replace(point=p) if self.rim is None else self._replace(rim=p - self.point)

    def feature(self, t: Scalar) -> At:
        """The edge with a tangent of length one."""
        p, along, second = self.at(t)
        square = dot3(along, along)
        return At(p, along * (1.0 / sqrt(square)), second * (1.0 / square))

    def nearest(self, p: Vec3) -> At:
        """Where it is nearest to a point: of a circle in the direction of the point from its axis."""
        away = p - self.point
        along = dot3(self.direction, away)
        if self.rim is None:
            return At(self.point + self.direction * along, self.direction, ZERO)
        out = away - self.direction * along
        out = out * (1.0 / sqrt(dot3(out, out)))
        radius = sqrt(dot3(self.rim, self.rim))
        return At(self.point + out * radius, cross3(self.direction, out), out * (-1.0 / radius))


def nearest_points(one: Edge, two: Edge) -> tuple[At, At]:
    """Where two edges are nearest to each other, not far from where the second is said to touch."""
    straight = one.rim is None and two.rim is None
    if not straight:
        q = two.point if two.rim is None else two.point + two.rim
        for _ in range(APPROACHES):
            p = one.nearest(q).p
            q = two.nearest(p).p
        one, two = one.begun(p), two.begun(q)
    s: Scalar = 0.0
    t: Scalar = 0.0
    for _ in range(1 if straight else ROUNDS):
        (p, dp, ddp), (q, dq, ddq) = one.at(s), two.at(t)
        away = q - p
        a, b, c = dot3(dp, dp) - dot3(away, ddp), -dot3(dp, dq), dot3(dq, dq) + dot3(away, ddq)
        x, y = dot3(away, dp), -dot3(away, dq)
        scale = 1.0 / (a * c - b * b)
        s, t = s + (c * x - b * y) * scale, t + (a * y - b * x) * scale
    return one.feature(s), two.feature(t)
