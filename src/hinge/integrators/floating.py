"""Velocities of floating robots, carried from one configuration to another with their linear momentum.

A joint with six velocities constrains nothing, so only forces change the linear momentum of the bodies on it. Its
velocities are in the axes of its body, which rotate: a step that adds h times the accelerations to them gains
momentum. A step therefore adds accelerations that are counted from a motion without forces, to velocities at the
configuration of its start, and carries the sum to the configuration of its end: the linear velocity of the floating
joint changes so that the momentum does not.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from hinge.dynamics.solve import LU, is_zero
from hinge.graph import Expr, Scalar, total
from hinge.model import Model
from hinge.model.coasting import FREE
from hinge.spatial import ZERO, Force, Motion, RigidInertia, Vec3, cross3

Flat = list[Scalar]
PerJoint = list[list[Scalar]]


class Part(NamedTuple):
    """The bodies that float on one joint, up to the next joint that floats, and their mass.

    `carrier` is the joint of the floating part that it rides on, 0 for the base.
    """

    joint: int
    bodies: tuple[int, ...]
    mass: Scalar
    carrier: int


def floating_parts(model: Model) -> list[Part]:
    """Return the parts of a robot that float, from the base outward; one without mass has no momentum to keep."""
    owner: list[int] = [0] * len(model.parent)
    bodies: dict[int, list[int]] = {}
    for i, p in model.outward():
        owner[i] = i if model.joint[i].nv == FREE else owner[p]
        if owner[i]:
            bodies.setdefault(owner[i], []).append(i)
    parts = []
    for joint, own in bodies.items():
        mass = total(model.inertia[i].m for i in own)
        if type(mass) is Expr or mass != 0.0:
            parts.append(Part(joint, tuple(own), mass, owner[model.parent[joint]]))
    return parts


class Floating:
    """The floating parts of a robot at a configuration."""

    def __init__(self, model: Model, q: PerJoint) -> None:
        self.model, self.q, self.parts = model, q, floating_parts(model)
        moving = {i for part in self.parts for i in (*part.bodies, *_ancestors(model, part.joint))}
        self.X = {i: model.joint[i].transform(q[i]) @ model.placement[i] for i in sorted(moving)}

    def momenta(self, v: Flat) -> list[Vec3]:
        """Return the linear momentum of each part, in base coordinates."""
        speeds = self.model.joint_velocities(v)
        return [self._momentum(part, speeds)[0] for part in self.parts]

    def counted(self, v: Flat, a: Flat) -> Flat:
        """Return accelerations counted from a motion that keeps each momentum and all other velocities."""
        speeds = self.model.joint_velocities(v)
        pushes = {0: ZERO}
        for part in self.parts:
            pushes[part.joint] = self._momentum(part, speeds)[1] / part.mass
            a = self._translated(a, part, pushes[part.joint] - pushes.get(part.carrier, ZERO))
        return a

    def with_momenta(self, v: Flat, momenta: Sequence[Vec3]) -> Flat:
        """Return the velocities with other linear velocities of floating joints, which give these momenta."""
        for part, wanted in zip(self.parts, momenta, strict=True):
            now, _ = self._momentum(part, self.model.joint_velocities(v))
            v = self._translated(v, part, (wanted - now) / part.mass)
        return v

    def _momentum(self, part: Part, qd: PerJoint) -> tuple[Vec3, Vec3]:
        """The momentum of a part, and its rate where no joint accelerates, in base coordinates.

        For each body: the first moment of the mass that it carries, and the first and second rate of that, as seen
        from the body.
        """
        model, seen = self.model, [(RigidInertia(), ZERO, ZERO)] * len(self.model.parent)
        for i in part.bodies:
            seen[i] = RigidInertia(model.inertia[i].m, model.inertia[i].h), ZERO, ZERO
        for i in (*reversed(part.bodies), *_ancestors(model, part.joint)):
            joint, (carries, rate, second) = model.joint[i], seen[i]
            m, h = carries.m, carries.h
            v, c = joint.velocity(self.q[i], qd[i]), joint.bias(self.q[i], qd[i])
            momentum = v.lin * m + cross3(v.ang, h) + rate
            force = c.lin * m + cross3(c.ang, h) + second + cross3(v.ang, rate) + cross3(v.ang, momentum)
            back, (carried, first, then) = self.X[i].T, seen[model.parent[i]]
            lin = [(back @ Force(ZERO, x)).lin for x in (momentum, force)]
            seen[model.parent[i]] = carried + back @ carries, first + lin[0], then + lin[1]
        return seen[0][1:]

    def _translated(self, v: Flat, part: Part, push: Vec3) -> Flat:
        """Velocities with a translation of a part added, which is given in base coordinates."""
        motion, own = Motion(ZERO, push), self.model.slices[part.joint][1]
        for i in (*reversed(_ancestors(self.model, part.joint)), part.joint):
            motion = self.X[i] @ motion
        columns = [list(axis) for axis in self.model.joint[part.joint].axes(self.q[part.joint])]
        more = LU([list(row) for row in zip(*columns, strict=True)]).solve(list(motion))
        return [*v[: own.start], *(x + y for x, y in zip(v[own], more, strict=True)), *v[own.stop :]]


def carried(start: Floating, v: Flat, end: Floating) -> Flat:
    """Return velocities v of one configuration as they are at another, where no force acts between the two."""
    return end.with_momenta(v, start.momenta(v))


def translations(model: Model, q: PerJoint) -> set[int]:
    """Return the velocities that translate what floats, whose forces change its linear momentum."""
    found = set()
    for part in floating_parts(model):
        start = model.slices[part.joint][1].start
        axes = model.joint[part.joint].axes(q[part.joint])
        found |= {start + k for k, axis in enumerate(axes) if all(is_zero(x) for x in axis.ang)}
    return found


def _ancestors(model: Model, i: int) -> list[int]:
    """The moving bodies that carry body i, the nearest first."""
    return [p for _, p in model.toward_base(i)]
