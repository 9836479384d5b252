"""The equations of contact dynamics, over scalars.

    I qdd = τ + Fᵀ α (9.49),  C = F I⁻¹ Fᵀ (9.52),  d = F I⁻¹ τ + u (9.53)

Source: featherstone1987, section 9.7. A bare number in the margin is an equation there. The bodies slip past each other
where they touch at the difference of two material velocities; its parts along the normal, which is how fast the gap
grows, and across it change by the accelerations of the bodies, the motion of the point, and the turning of the normal.
Differs from the source: F has a row a contact, not a column; a and v are of points, not spatial.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from hinge.constraints.multipliers import Keeping, factored
from hinge.contact.contact_kinematics import PER_CONTACT as PER_CONTACT
from hinge.contact.contact_kinematics import Touch, velocity_at
from hinge.contact.contacts import Contact, ContactKind
from hinge.dynamics.composite import composite
from hinge.dynamics.kinematics import (
    axes_in_base,
    bias_accelerations_in_base,
    joint_velocities_in_base,
    poses,
    velocities_in_base,
)
from hinge.dynamics.newton_euler import bias_force
from hinge.graph import Scalar, inner, less, select
from hinge.loops.kinematics import closing, row
from hinge.model import Model
from hinge.model.loops import passed
from hinge.spatial import Force, Motion, Vec3, cross3, dot3


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


def friction_equations(model: Model, contacts: Sequence[Contact | ContactKind], q: Any, qd: Any, tau: Any, numbers: Any,
                       external: Any, base_motion: Any) -> Any:  # fmt: skip
    """C, F, u, free accelerations, responses and gaps with three rows a contact, the normal first.

    F qd is the velocity of the surface of `body` against that of `other` where they touch, and F qdd + u its rate of
    change, along the normal and two directions that turn with it and, about it, with `other`.
    """
    rows = contact_rows(model, contacts, q, qd, numbers, friction=True)
    robot = _Motions(model, q, qd, tau, external, base_motion)
    response = [robot.response(f) for f in rows.F]
    return (_products(rows.F, response), rows.F, rows.u, robot.free, response, rows.gap), robot.H.pivots


def _tangents(n: Vec3) -> tuple[Vec3, Vec3]:
    """Two directions that stand on a normal and on each other."""
    x, y, z = n
    sign = select(less(z, 0.0), -1.0, 1.0)
    a = -1.0 / (sign + z)
    b = x * y * a
    return Vec3((1.0 + sign * x * x * a, sign * b, -sign * x)), Vec3((b, sign + y * y * a, -y))


class _Motions:
    """How a robot moves without contact, and what generalized forces add to that; its loops stay closed.

    A base that moves changes accelerations, not gaps: these depend on the joints alone.
    """

    def __init__(self, model: Model, q: Any, qd: Any, tau: Any, external: Any, base_motion: Any):
        loops = closing(model, q, qd) if model.loops else None
        self.H = factored(model, composite(model, q), loops.A if loops else [])
        C = model.generalised_forces(bias_force(model, q, qd, external, base_motion))
        self.free = self.H.solve([t - c for t, c in zip(model.generalised_forces(tau), C, strict=True)])
        self.loops: Keeping | None = None
        if loops:
            self.loops = Keeping(self.H, loops.A, loops.state)
            self.free, _ = self.loops.kept(self.free, loops.c)

    def response(self, f: Sequence[Scalar]) -> list[Scalar]:
        """The accelerations that a generalised force makes, or velocities that an impulse makes: (9.62), (9.63)."""
        made = self.H.solve(f)
        return self.loops.kept(made)[0] if self.loops else made


def _products(F: Sequence[Sequence[Scalar]], response: Sequence[Sequence[Scalar]]) -> list[list[Scalar]]:
    """C = F I⁻¹ Fᵀ."""
    n = range(len(F))
    upper = [[inner(F[i], response[j]) if j >= i else 0.0 for j in n] for i in n]
    return [[upper[min(i, j)][max(i, j)] for j in n] for i in n]  # (9.52)


def contact_equations(model: Model, contacts: Sequence[Contact | ContactKind], q: Any, qd: Any, tau: Any, numbers: Any,
                      external: Any, base_motion: Any) -> Equations:  # fmt: skip
    """All of (9.49) to (9.53) for a set of contacts, whose numbers may be constants or symbols."""
    rows = contact_rows(model, contacts, q, qd, numbers)
    robot = _Motions(model, q, qd, tau, external, base_motion)
    response = [robot.response(f) for f in rows.F]
    d = [inner(f, robot.free) + u for f, u in zip(rows.F, rows.u, strict=True)]  # (9.53)
    C = _products(rows.F, response)
    return Equations(C, d, rows.F, robot.free, response, rows.gap, rows.speed, robot.H.pivots)


def contact_rows(
    model: Model, contacts: Sequence[Contact | ContactKind], q: Any, qd: Any, numbers: Any, friction: bool = False
) -> Rows:
    """F, u, gaps and speeds: what the contacts ask of the motion; with friction two more rows of F and u each."""
    R, r = poses(model, q)
    S = axes_in_base(model, q, R, r)
    vJ = joint_velocities_in_base(model, q, qd, S, R, r)
    v = velocities_in_base(model, vJ)
    a = bias_accelerations_in_base(model, q, qd, vJ, v, R, r)
    made = Rows([], [], [], [])
    for contact, given in zip(contacts, numbers, strict=True):
        b, o = contact.bodies(model)
        one, E = Touch(model, contact, given, (R, r), v), passed(model, o, b)
        at, slip = one.at, velocity_at(v[b], one.at) - velocity_at(v[o], one.at)
        pull = _changing(v[b], a[b], at, one.at_rate) - _changing(v[o], a[o], at, one.at_rate)
        turn = cross3(one.n, one.rate) + one.n * dot3(one.n, v[o].ang)
        for t in (one.n, *(_tangents(one.n) if friction else ())):
            made.F.append(row(model, S, E, Force(cross3(at, t), t)))  # (9.43)
            made.u.append(dot3(t, pull) + dot3(cross3(turn, t), slip))  # (9.44)
        made.gap.append(one.gap)
        made.speed.append(dot3(one.n, slip))
    return made


def _changing(v: Motion, a: Motion, p: Vec3, rate: Vec3) -> Vec3:
    """How the velocity of the body at a moving point changes, from its spatial velocity and acceleration."""
    return a.lin + cross3(a.ang, p) + cross3(v.ang, rate)
