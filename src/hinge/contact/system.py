"""The equations of contact dynamics, over scalars.

    I qdd = τ + Fᵀ α (9.49),  C = F I⁻¹ Fᵀ (9.52),  d = F I⁻¹ τ + u (9.53)

Source: featherstone1987, section 9.7. A bare number in the margin is an equation there. With material points p1, p2 at
the feet of the common perpendicular, ρ apart, the gap φ = n · (p2 - p1) - offset has

    φ'' = n · (a2 - a1) + 2 n' · (v2 - v1) - ρ |n'|²

whatever touches; only n' depends on it.
Differs from the source: F has a row a contact, not a column. a and v are of points, not spatial; the velocity-product
terms of (9.44) then carry the factor two, which the derivative of a line vector hides.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from hinge.contact.contacts import Contact
from hinge.dynamics.composite import composite
from hinge.dynamics.kinematics import (
    axes_in_base,
    bias_accelerations_in_base,
    joint_velocities_in_base,
    poses,
    velocities_in_base,
)
from hinge.dynamics.newton_euler import bias_force
from hinge.dynamics.solve import LDL
from hinge.graph import Scalar, inner, less, select, sqrt
from hinge.model import Model
from hinge.spatial import ZERO, Force, Motion, Vec3, cross3, dot, dot3

PER_CONTACT = 13  # how many numbers a kernel is given of a contact


class Rows(NamedTuple):
    """Of each contact: its row of F, u, its gap and how fast that grows."""

    F: list[list[Scalar]]
    u: list[Scalar]
    gap: list[Scalar]
    speed: list[Scalar]


class Equations(NamedTuple):
    """C and d, F, the free accelerations, the responses I⁻¹ Fᵀ (a row a contact), gaps, speeds, and pivots."""

    C: list[list[Scalar]]
    d: list[Scalar]
    F: list[list[Scalar]]
    free: list[Scalar]
    response: list[list[Scalar]]
    gap: list[Scalar]
    speed: list[Scalar]
    pivots: Sequence[Scalar]


def friction_equations(model: Model, contacts: Sequence[Contact], q: Any, qd: Any, tau: Any, numbers: Any) -> Any:
    """C, F, u, free accelerations, responses and gaps with three rows a contact, normal first, for faces.

    F qd is the velocity of the surface of `body` against that of `other` where they touch, in directions fixed in
    `other`, and F qdd + u its rate of change.
    """
    R, r = poses(model, q)
    S = axes_in_base(model, q, R, r)
    vJ = joint_velocities_in_base(model, q, qd, S, R, r)
    v = velocities_in_base(model, vJ)
    a = bias_accelerations_in_base(model, q, qd, vJ, v, R, r)
    F, u, gap = [], [], []
    for contact, given in zip(contacts, numbers, strict=True):
        b, o = contact.bodies(model)
        one = _Touch(model, contact, given, (R, r), v, a)
        arm, swing = one.n * -given[12], one.rate * -given[12]  # from the centre to the surface, and its rate
        at, centre = one.p2 + arm, _point(v[b], one.p2)
        slip = centre + cross3(v[b].ang, arm) - _point(v[o], at)
        pull = _acceleration(v[b], a[b], one.p2) + cross3(a[b].ang, arm) + cross3(v[b].ang, swing)
        pull = pull - _acceleration(v[o], a[o], at) - cross3(v[o].ang, centre + swing - _point(v[o], at))
        for t in (one.n, *_tangents(one.n)):
            F.append(_generalised(model, contact, S, Force(cross3(at, t), t)))
            u.append(dot3(t, pull) + dot3(cross3(v[o].ang, t), slip))
        gap.append(one.distance - one.rise[0])
    H, free = _free(model, q, qd, tau)
    response = [H.solve(f) for f in F]
    return (_products(F, response), F, u, free, response, gap), H.pivots


def _tangents(n: Vec3) -> tuple[Vec3, Vec3]:
    """Two directions that stand on a normal and on each other."""
    x, y, z = n
    sign = select(less(z, 0.0), -1.0, 1.0)
    a = -1.0 / (sign + z)
    b = x * y * a
    return Vec3((1.0 + sign * x * x * a, sign * b, -sign * x)), Vec3((b, sign + y * y * a, -y))


def _free(model: Model, q: Any, qd: Any, tau: Any) -> tuple[LDL, list[Scalar]]:
    """The mass matrix factored, and the accelerations without contact."""
    H = LDL(composite(model, q), model.blame())
    nothing = [Force()] * len(model.parent)
    C = model.generalised_forces(bias_force(model, q, qd, nothing, (Motion(), Motion())))
    return H, H.solve([t - c for t, c in zip(model.generalised_forces(tau), C, strict=True)])


def _products(F: Sequence[Sequence[Scalar]], response: Sequence[Sequence[Scalar]]) -> list[list[Scalar]]:
    """C = F I⁻¹ Fᵀ."""
    n = range(len(F))
    upper = [[inner(F[i], response[j]) if j >= i else 0.0 for j in n] for i in n]
    return [[upper[min(i, j)][max(i, j)] for j in n] for i in n]  # (9.52)


def _generalised(model: Model, contact: Contact, S: Any, line: Force) -> list[Scalar]:
    """The generalised force of a unit force on `body` along a line, and its opposite on `other`."""
    b, o = contact.bodies(model)
    beyond, before = _path(model, b), _path(model, o)
    return model.generalised_forces([
        [dot(s, line) if i in beyond else -dot(s, line) for s in S[i]] if (i in beyond) != (i in before)
        else [0.0] * len(S[i]) for i in range(len(S))
    ])  # fmt: skip


def contact_equations(model: Model, contacts: Sequence[Contact], q: Any, qd: Any, tau: Any, numbers: Any) -> Equations:
    """All of (9.49) to (9.53) for a set of contacts, whose numbers may be constants or symbols."""
    rows = contact_rows(model, contacts, q, qd, numbers)
    H, free = _free(model, q, qd, tau)
    response = [H.solve(f) for f in rows.F]
    d = [inner(f, free) + u for f, u in zip(rows.F, rows.u, strict=True)]  # (9.53)
    return Equations(_products(rows.F, response), d, rows.F, free, response, rows.gap, rows.speed, H.pivots)


def contact_rows(model: Model, contacts: Sequence[Contact], q: Any, qd: Any, numbers: Any) -> Rows:
    """F, u, gaps and speeds: what the contacts ask of the motion."""
    R, r = poses(model, q)
    S = axes_in_base(model, q, R, r)
    vJ = joint_velocities_in_base(model, q, qd, S, R, r)
    v = velocities_in_base(model, vJ)
    a = bias_accelerations_in_base(model, q, qd, vJ, v, R, r)
    made = Rows([], [], [], [])
    for contact, given in zip(contacts, numbers, strict=True):
        b, o = contact.bodies(model)
        one = _Touch(model, contact, given, (R, r), v, a)
        made.F.append(_generalised(model, contact, S, Force(cross3(one.at, one.n), one.n)))  # (9.43)
        across = _point(v[b], one.p2) - _point(v[o], one.p1)
        pull = _acceleration(v[b], a[b], one.p2) - _acceleration(v[o], a[o], one.p1)
        turn = dot3(one.rate, one.rate) * one.distance
        made.u.append(dot3(one.n, pull) + 2.0 * dot3(one.rate, across) - turn - one.rise[2])  # (9.44)
        made.gap.append(one.distance - one.rise[0])
        made.speed.append(dot3(one.n, across) - one.rise[1])
    return made


class _Touch:
    """Where a contact is in base coordinates: feet p2 and p1 of the perpendicular, n, its rate, and the distance.

    `at` is the point where force acts; `rise` is what the surfaces stand out, and how fast and how faster that grows.
    """

    def __init__(self, model: Model, contact: Contact, given: Sequence[Scalar], poses: Any, v: Sequence[Motion],
                 a: Sequence[Motion]):  # fmt: skip
        R, r = poses
        b, o = contact.bodies(model)
        on, off = model.frame(contact.body), None if contact.other is None else model.frame(contact.other)

        def seen(body: int, frame: Any, x: Vec3, point: bool) -> Vec3:
            if frame is not None:
                x = frame.R @ x + (frame.p if point else ZERO)
            return R[body] @ x + (r[body] if point else ZERO)

        parts = [Vec3(tuple(given[k : k + 3])) for k in (0, 3, 6, 9)]
        self.rise: tuple[Scalar, Scalar, Scalar] = (given[12], 0.0, 0.0)
        p2, p1 = seen(b, on, parts[0], True), seen(o, off, parts[1], True)
        e1, e2 = seen(o, off, parts[2], False), seen(b, on, parts[3], False)
        self.turns = a[b].ang, a[o].ang
        getattr(self, f"_{contact.kind}")(p2, p1, e1, e2, v[b], v[o])
        if contact.kind != "rim":
            self.at = self.p2

    def _face(self, p2: Vec3, p1: Vec3, e1: Vec3, e2: Vec3, v2: Motion, v1: Motion) -> None:
        self.n, self.rate, self.distance = e1, cross3(v1.ang, e1), dot3(e1, p2 - p1)
        self.p2, self.p1 = p2, p2 - e1 * self.distance

    def _rim(self, p2: Vec3, p1: Vec3, n: Vec3, axis: Vec3, v2: Motion, v1: Motion) -> None:
        """A disc reaches down s = √(1 - x²) of its radius, x = n · axis; its lowest point is no point of the body."""
        self._face(p2, p1, n, axis, v2, v1)
        radius = self.rise[0]
        xn, xa = cross3(v1.ang, n), cross3(v2.ang, axis)
        bend_n = cross3(self.turns[1], n) + cross3(v1.ang, xn)
        bend_a = cross3(self.turns[0], axis) + cross3(v2.ang, xa)
        x, xd = dot3(n, axis), dot3(xn, axis) + dot3(n, xa)
        xdd = dot3(bend_n, axis) + 2.0 * dot3(xn, xa) + dot3(n, bend_a)
        s = sqrt(1.0 - x * x)
        sd = -x * xd / s
        sdd = -(xd * xd + x * xdd + sd * sd) / s
        self.at = p2 - (n - axis * x) * (radius / s)
        self.rise = radius * s, radius * sd, radius * sdd

    def _points(self, p2: Vec3, p1: Vec3, e1: Vec3, e2: Vec3, v2: Motion, v1: Motion) -> None:
        self.p2, self.p1 = p2, p1
        self.distance = sqrt(dot3(p2 - p1, p2 - p1))
        self.n = (p2 - p1) * (1.0 / self.distance)
        across = _point(v2, p2) - _point(v1, p1)
        self.rate = (across - self.n * dot3(self.n, across)) * (1.0 / self.distance)

    def _edge(self, p2: Vec3, p1: Vec3, e1: Vec3, e2: Vec3, v2: Motion, v1: Motion) -> None:
        self.p2, self.p1 = p2, p1 + e1 * dot3(e1, p2 - p1)
        away = self.p2 - self.p1
        self.distance = sqrt(dot3(away, away))
        self.n = away * (1.0 / self.distance)
        b = cross3(e1, self.n)
        across = _point(v2, self.p2) - _point(v1, self.p1)
        self.rate = b * (dot3(across, b) / self.distance) - e1 * dot3(self.n, cross3(v1.ang, e1))

    def _edges(self, p2: Vec3, p1: Vec3, e1: Vec3, e2: Vec3, v2: Motion, v1: Motion) -> None:
        N = cross3(e1, e2)
        square = dot3(N, N)
        length = sqrt(square)
        self.n = N * (1.0 / length)
        away, c = p2 - p1, dot3(e1, e2)
        x1, x2 = dot3(e1, away), dot3(e2, away)
        self.p1 = p1 + e1 * ((x1 - c * x2) / square)
        self.p2 = p2 + e2 * ((c * x1 - x2) / square)
        self.distance = dot3(self.n, away)
        turn = cross3(cross3(v1.ang, e1), e2) + cross3(e1, cross3(v2.ang, e2))
        self.rate = (turn - self.n * dot3(self.n, turn)) * (1.0 / length)


def _point(v: Motion, p: Vec3) -> Vec3:
    """The velocity of a point of a body."""
    return v.lin + cross3(v.ang, p)


def _acceleration(v: Motion, a: Motion, p: Vec3) -> Vec3:
    """The acceleration of a point of a body, from its spatial velocity and acceleration."""
    return a.lin + cross3(a.ang, p) + cross3(v.ang, _point(v, p))


def _path(model: Model, i: int) -> set[int]:
    """The joints between the base and a body."""
    made = set()
    while i > 0:
        made.add(i)
        i = model.parent[i]
    return made
