"""Where a contact is and how it moves, in base coordinates, over scalars: normal, point and gap, and their rates.

What touches says how the normal n turns. With feet P1 and P2 of the common perpendicular, D apart on edges with unit
tangents T and curvatures k, which the feet move along at speeds σ relative to their bodies,

    V + T2 σ2 - T1 σ1 = D' n + D n',    n · T = 0,    T' = ω × T + k σ

where V is the velocity of the material point at P2 against the one at P1. A vertex has no tangent.
Source: featherstone1987, section 9.6.1; the curved edges are worked out here.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hinge.contact.contacts import Contact, ContactKind
from hinge.contact.curves import At, Edge, nearest_points
from hinge.graph import Scalar, sqrt
from hinge.model import Model
from hinge.spatial import ZERO, Motion, Vec3, cross3, dot3

PER_CONTACT = 20  # how many numbers a kernel is given of a contact


class Touch:
    """One contact at a state: n and its rate, the point `at` where the bodies touch and how fast it moves, the gap."""

    n: Vec3
    rate: Vec3
    at: Vec3
    at_rate: Vec3
    gap: Scalar

    def __init__(
        self, model: Model, contact: Contact | ContactKind, given: Sequence[Scalar], poses: Any, v: Sequence[Motion]
    ):
        R, r = poses
        b, o = contact.bodies(model)
        on, off = model.frame(contact.body), None if contact.other is None else model.frame(contact.other)

        def seen(body: int, frame: Any, k: int, point: bool = False) -> Vec3:
            x = Vec3(tuple(given[k : k + 3]))
            if frame is not None:
                x = frame.R @ x + (frame.p if point else ZERO)
            return R[body] @ x + (r[body] if point else ZERO)

        self.v2, self.v1, self.offset, self.radius = v[b], v[o], given[12], given[12] - given[13]
        two = Edge(seen(b, on, 0, True), seen(b, on, 9), seen(b, on, 14) if contact.rim else None)
        one = Edge(seen(o, off, 3, True), seen(o, off, 6), seen(o, off, 17) if contact.other_rim else None)
        if contact.kind in ("edges", "curves"):
            self._across(*nearest_points(one, two))
        elif contact.kind in ("edge", "ring"):
            self._beside(two.point, one.nearest(two.point))
        else:
            getattr(self, f"_{contact.kind}")(two, one)

    def _face(self, two: Edge, one: Edge) -> None:
        self.n = one.direction
        self.rate = cross3(self.v1.ang, self.n)
        self._placed(two.point, velocity_at(self.v2, two.point), dot3(self.n, two.point - one.point))

    def _rim(self, two: Edge, one: Edge) -> None:
        """A disc reaches down s = √(1 - x²) of its radius, x = n · axis; its lowest point is no point of the body."""
        self._face(two, one)
        n, axis, radius = self.n, two.direction, self.offset
        axis_rate = cross3(self.v2.ang, axis)
        x, x_rate = dot3(n, axis), dot3(self.rate, axis) + dot3(n, axis_rate)
        s = sqrt(1.0 - x * x)
        down, down_rate = n - axis * x, self.rate - axis * x_rate - axis_rate * x
        self.at = two.point - down * (radius / s)
        turning = down_rate * (1.0 / s) + down * (x * x_rate / (s * s * s))
        self.at_rate = velocity_at(self.v2, two.point) - turning * radius
        self.gap = dot3(n, two.point - one.point) - radius * s

    def _points(self, two: Edge, one: Edge) -> None:
        self._beside(two.point, At(one.point, ZERO, ZERO))

    def _beside(self, p2: Vec3, foot: At) -> None:
        """A vertex of `body` and a vertex or edge of `other`."""
        distance = sqrt(dot3(p2 - foot.p, p2 - foot.p))
        self.n = (p2 - foot.p) * (1.0 / distance)
        V = velocity_at(self.v2, p2) - velocity_at(self.v1, foot.p)
        tilt, bend = dot3(self.n, cross3(self.v1.ang, foot.tangent)), dot3(self.n, foot.bend)
        slide = (dot3(V, foot.tangent) + distance * tilt) / (1.0 - distance * bend)
        left = V - foot.tangent * slide
        self.rate = (left - self.n * dot3(self.n, V)) * (1.0 / distance)
        self._placed(p2, velocity_at(self.v2, p2), distance)

    def _across(self, one: At, two: At) -> None:
        """An edge of `other` and an edge of `body`; the normal is the product of their tangents."""
        N = cross3(one.tangent, two.tangent)
        length = sqrt(dot3(N, N))
        n = self.n = N * (1.0 / length)
        V = velocity_at(self.v2, two.p) - velocity_at(self.v1, one.p)
        D, c = dot3(n, two.p - one.p), dot3(one.tangent, two.tangent)
        turn1, turn2 = cross3(self.v1.ang, one.tangent), cross3(self.v2.ang, two.tangent)
        a, b = D * dot3(n, one.bend) - 1.0, D * dot3(n, two.bend) + 1.0
        x, y = -dot3(V, one.tangent) - D * dot3(n, turn1), -dot3(V, two.tangent) - D * dot3(n, turn2)
        scale = 1.0 / (a * b + c * c)
        slide1, slide2 = (b * x - c * y) * scale, (a * y + c * x) * scale
        bent1, bent2 = turn1 + one.bend * slide1, turn2 + two.bend * slide2
        N_rate = cross3(bent1, two.tangent) + cross3(one.tangent, bent2)
        self.rate = (N_rate - n * dot3(n, N_rate)) * (1.0 / length)
        self._placed(two.p, velocity_at(self.v2, two.p) + two.tangent * slide2, D)

    def _placed(self, foot: Vec3, foot_rate: Vec3, distance: Scalar) -> None:
        """The bodies touch where the surface of `body` is, its radius down from the foot."""
        self.at = foot - self.n * self.radius
        self.at_rate = foot_rate - self.rate * self.radius
        self.gap = distance - self.offset


def velocity_at(v: Motion, p: Vec3) -> Vec3:
    """The velocity of a point of a body."""
    return v.lin + cross3(v.ang, p)
