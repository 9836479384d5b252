"""What the older texts say of a link, read from a model.

A link is a body on a joint of one freedom whose line is fixed in it: it turns about the line, slides along it, or
both at once. Everything is in the link's own coordinates unless it says otherwise; its origin is on the line.
Source: turney1981, section 2, and silver1981, section 2.4. A bare number in the margin is an equation of the first.
Differs from the source: joint i passes through the origin of link i, not of the link before, so that any placement
and any tree will do; the text's i - 1 is the parent. Translational joints and screws are ours.
"""

from __future__ import annotations

from typing import NamedTuple

from hinge.dynamics import newton_euler
from hinge.dynamics.turney import pseudo
from hinge.graph.expr import Scalar, on_paper
from hinge.graph.ops import less, select
from hinge.model import Model
from hinge.model.driven import Driven
from hinge.spatial.inertia import RigidInertia
from hinge.spatial.linear3 import ZERO, Mat3, Sym3, Vec3


class Link(NamedTuple):
    """A body, how it stands in its parent's coordinates, and how its joint moves it."""

    R: Mat3  # its axes in its parent's coordinates: takes vectors from its coordinates to its parent's
    p: Vec3  # its origin in its parent's coordinates
    turn: Vec3  # angular velocity across the joint for each unit of rate; zero where the joint only slides
    slide: Vec3  # velocity of its origin across the joint for each unit of rate; zero where the joint only turns
    body: RigidInertia

    @property
    def r(self) -> Vec3:
        """From its parent's origin to its own, in its own coordinates."""
        return self.R.T @ self.p  # (2.17)

    @property
    def z(self) -> Vec3:
        """The line of a joint that turns or slides, a unit vector."""
        return self.turn if self.turn != ZERO else self.slide

    @property
    def m(self) -> Scalar:
        return self.body.m

    @property
    def h(self) -> Vec3:
        """Mass times centre of mass."""
        return self.body.h

    @property
    def r_bar(self) -> Vec3:
        """From its origin to its centre of mass; without mass, no way at all."""
        return self.h * (1.0 / _unless_zero(self.m))

    @property
    def I_com(self) -> Sym3:
        """Inertia about the centre of mass."""
        return self.I_origin - RigidInertia.at_com(self.m, self.r_bar, [ZERO] * 3).I

    @property
    def I_origin(self) -> Sym3:
        """Inertia about the origin."""
        return self.body.I

    @property
    def J(self) -> Sym3:
        """The integral of d dᵗ over the mass, with d from the origin."""
        return pseudo(self.I_origin)  # (2.31)

    @property
    def K(self) -> Sym3:
        """The inertia with d from the centre of mass."""
        return pseudo(self.I_com)  # (2.34)

    @property
    def J_a(self) -> list[list[Scalar]]:
        """J with a row and a column for the fourth coordinate, which is one at every point."""
        rows = [[*self.J.full().row(k), self.h[k]] for k in range(3)]
        return [*rows, [*self.h, self.m]]  # (2.37)


def links(model: Model, q: list[list[Scalar]]) -> list[Link]:
    """The links of a robot at q, an entry a body; the base's says only that it is there."""
    made = [Link(*model.placement[0].pose(), ZERO, ZERO, RigidInertia())]
    for i, _ in model.outward():
        joint = model.joint[i]
        (S,) = joint.axes(q[i])
        made.append(Link(*(joint.transform(q[i]) @ model.placement[i]).pose(), S.ang, S.lin, model.inertia[i]))
    return made


def inertia(J: Sym3) -> Sym3:
    """tr(J) 1 - J: the way back."""
    trace = J[0] + J[1] + J[2]
    return Sym3((trace - J[0], trace - J[1], trace - J[2], -J[3], -J[4], -J[5]))  # silver1981 (2.11)


def path(model: Model, i: int) -> list[int]:
    """The bodies that move body i, from the base outward; i itself is the last."""
    return [k for _, k in model.toward_base(i)][::-1] + [i] if i else []


def at_joint(model: Model, i: int, force: Scalar, q: list, qd: list, qdd: list) -> list[Scalar]:
    """The force of joint i: what moves the links, and what its rotor, damping, friction and spring take."""
    return newton_euler.at_joint(model, i, [force], q, qd, qdd)


def refuses(model: Model) -> str:
    """Which joint is no joint of a link, or which body no body of one, if any."""
    for i, _ in model.outward():
        joint, name, I = model.joint[i], model.joint_name[i], model.inertia[i]
        if isinstance(joint, Driven):
            return f"joint {name!r} is driven"
        if joint.nv != 1:
            return f"joint {name!r} is {joint.kind}, with {joint.nv} freedoms"
        if joint.axes_vary or not joint.rates_are_velocities:
            return f"joint {name!r} is {joint.kind}, and its line is not fixed in its body"
        if I.m == 0.0 and I.h != ZERO:
            return f"the masses of body {model.body_name[i]!r} add up to nothing, so that it has no centre of mass"
    return ""


def refuses_trees(model: Model) -> str:
    """Why methods that know chains only do not cover a model: they also say where it branches."""
    for i, children in enumerate(model.children):
        if len(children) > 1:
            names = " and ".join(repr(model.joint_name[c]) for c in children[:2])
            return refuses(model) or f"it branches at {model.body_name[i]!r}, into joints {names}"
    return refuses(model)


def _unless_zero(m: Scalar) -> Scalar:
    """m, or one where there is nothing to divide; on paper a mass is a mass."""
    if isinstance(m, float | int):
        return m or 1.0
    if on_paper(m):
        return m
    return select(less(0.0, m), m, select(less(m, 0.0), m, 1.0))
