"""The joint types. A joint is one class here and nothing anywhere else; making the class registers it.

A class says `kind`, `nq`, `nv`, where it goes (`transform`), which motions it allows (`axes`), and only where they
differ from a plain coordinate how it turns velocities into rates, moves, and stands at rest. Everything is over
scalars. Transforms and axes are those of featherstone1987 Table 8-1, in the joint's outer frame.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from hinge.errors import ModelError, NotCovered, did_you_mean
from hinge.graph.expr import Scalar
from hinge.graph.functions import atan2, cos, sin
from hinge.model.joint_constraints import beside, lag, met, random_quaternions, rates_of, tilted, turned
from hinge.model.springs import Spring, felt, pose_springs, springs, turn_springs
from hinge.spatial.inertia import RigidInertia
from hinge.spatial.linear3 import ZERO, Mat3, Sym3, Vec3, cross3
from hinge.spatial.rotation import conjugate, displacement_exp, displacement_log, quaternion_exp, quaternion_log

from hinge.spatial.rotation import quaternion_product, rotation_from_quaternion, square, unit  # isort: skip
from hinge.spatial.transform import Rigid, Transform, slide, turn
from hinge.spatial.vectors import Force, ForceSpace, Motion, MotionSpace, cross

JOINTS: dict[str, type[Joint]] = {}
X_AXIS, Y_AXIS, Z_AXIS = Vec3((1.0, 0.0, 0.0)), Vec3((0.0, 1.0, 0.0)), Vec3((0.0, 0.0, 1.0))


def spelled(format: str) -> dict[str, str]:
    """The words a file format ("urdf", "mjcf", "dh") has for joints, with the kind each is read as: the first of it."""
    return {word: kind for kind, joint in reversed(JOINTS.items()) if (word := getattr(joint, format))}


@dataclass(frozen=True)
class Joint:
    """A joint between an inner frame on the parent and an outer frame on the child.

    By default the velocities are the rates of the coordinates, and coordinates add.
    """

    kind: ClassVar[str]
    nq: ClassVar[int]
    nv: ClassVar[int]
    urdf: ClassVar[str] = ""  # how the file formats spell it
    mjcf: ClassVar[str] = ""
    dh: ClassVar[str] = ""
    rates_are_velocities: ClassVar[bool] = True  # the velocities are the rates of the coordinates
    holonomic: ClassVar[bool] = True  # any two configurations are joined by a constant velocity
    axes_vary: ClassVar[bool] = False  # the axes depend on q
    about_z: ClassVar[bool] = False  # a builder's `axis` is this joint's z axis
    singular_at: ClassVar[tuple[int, float] | None] = None  # a coordinate, and where its axes become dependent

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if "integrate" in cls.__dict__ and "moved" not in cls.__dict__:
            cls.moved = cls.integrate  # type: ignore[method-assign]  # whoever says how it moves has said it all
        kind = cls.__dict__.get("kind")
        if isinstance(kind, str):
            ours = cls.__module__.startswith("hinge.")
            if not ours and kind in JOINTS and JOINTS[kind].__module__.startswith("hinge."):
                raise ModelError(
                    "joint-type", f"class {cls.__name__} has kind {kind!r}, which is hinge's own.", "Rename it."
                )
            JOINTS[kind] = cls

    def transform(self, q: Sequence[Scalar]) -> Transform:
        """From inner to outer coordinates."""
        raise NotImplementedError

    def axes(self, q: Sequence[Scalar]) -> MotionSpace:
        """The motions of the outer frame relative to the inner, in outer coordinates, one a velocity."""
        raise NotImplementedError

    def velocity(self, q: Sequence[Scalar], qd: Sequence[Scalar]) -> Motion:
        """The motion across the joint: axes(q) @ qd, and what is driven besides."""
        return self.axes(q) @ qd + self.drift(q)

    def drift(self, q: Sequence[Scalar]) -> Motion:
        """The part of the motion that is given as a function of time."""
        return Motion()

    def axes_rate(self, q: Sequence[Scalar], qd: Sequence[Scalar]) -> MotionSpace:
        """How the axes change as seen from the outer frame; found by differentiation where they depend on q."""
        if not self.axes_vary:
            return MotionSpace([Motion()] * self.nv)
        return rates_of(lambda x: self.axes(x), q, self.rate(q, qd))

    def actuation(self, q: Sequence[Scalar]) -> ForceSpace:
        """The forces its actuators can make, a column an actuator: along the axes unless the joint says otherwise."""
        return ForceSpace(Force(s.ang, s.lin) for s in self.axes(q))

    def bias(self, q: Sequence[Scalar], qd: Sequence[Scalar]) -> Motion:
        """The rate of the axes times the velocities: the acceleration that velocities alone make."""
        return self.axes_rate(q, qd) @ qd

    def rate(self, q: Sequence[Scalar], qd: Sequence[Scalar]) -> list[Scalar]:
        """The rates of the coordinates."""
        return list(qd)

    def velocities(self, q: Sequence[Scalar], rates: Sequence[Scalar]) -> list[Scalar]:
        """The velocities at which the coordinates change at these rates: `rate` undone."""
        return list(rates) if self.rates_are_velocities else met(self.difference, q, rates)

    def integrate(self, q: Sequence[Scalar], v: Sequence[Scalar]) -> list[Scalar]:
        """Where constant velocity v leads in unit time."""
        return self.moved(self.normal(q), v)

    def moved(self, q: Sequence[Scalar], v: Sequence[Scalar]) -> list[Scalar]:
        """Where it leads from coordinates that are normal already."""
        return [a + b for a, b in zip(q, v, strict=True)]

    def normal(self, q: Sequence[Scalar]) -> list[Scalar]:
        """The same position with quaternions of length one."""
        return list(q)

    def bracket(self, a: Sequence[Scalar], b: Sequence[Scalar]) -> list[Scalar]:
        """What is left over when two motions are made in one order and undone in the other: [a, b], in velocities."""
        return [0.0] * self.nv

    def difference(self, q0: Sequence[Scalar], q1: Sequence[Scalar]) -> list[Scalar]:
        """The constant velocity that leads from q0 to q1 in unit time."""
        return [b - a for a, b in zip(q0, q1, strict=True)]

    def spring(self, rest: Sequence[Scalar], q: Sequence[Scalar], k: Sequence[Scalar]) -> Spring:
        """The energy in springs of stiffness k that are slack at `rest`, and its gradient along the velocities."""
        plain = springs(k, self.difference(rest, q))
        return plain if self.rates_are_velocities else felt(self.difference, self.rate, rest, q, plain)

    reach: ClassVar[float] = math.pi  # half the range of random coordinates that have no limits

    def random(self, rng: np.random.Generator, n: int, lower: Sequence[float], upper: Sequence[float]) -> np.ndarray:
        """n random positions within the limits."""
        low = np.array([x if math.isfinite(x) else -self.reach for x in lower])
        high = np.array([x if math.isfinite(x) else self.reach for x in upper])
        return rng.uniform(np.minimum(low, high), np.maximum(low, high), (n, self.nq))

    def positive(self, q: Sequence[Scalar]) -> list[Scalar]:
        """What has to be positive for q to be a position at all."""
        return []

    def apart(self, q: Sequence[Scalar]) -> list[Scalar]:
        """What has to be positive for its axes to be independent."""
        return []

    def neutral(self) -> list[float]:
        """Where the inner and outer frames coincide."""
        return [0.0] * self.nq

    def unidentifiable_inertia(self, inertia: RigidInertia) -> RigidInertia:
        """The part of an inertia beyond the joint that moves alike, and asks for the same forces, before it."""
        return RigidInertia()

    def gap(self, R: Mat3, p: Vec3) -> list[Scalar]:
        """Zero where it can have its outer frame at axes R and origin p of the inner: as many as it has constraints."""
        raise NotCovered(f"a {self.kind} joint cannot close a loop: its class does not say how far a pose is from it.")

    @property
    def line(self) -> Vec3 | None:
        """The direction of the line through the origin that the joint turns about or slides along, if it has one."""
        return None

    def on_z(self) -> Joint | None:
        """The same joint with its line on the z axis, if it has one."""
        return None

    def chain(self) -> Sequence[tuple[Joint, tuple[int, ...]]]:
        """The same motion by simpler joints, each on the one before, with the coordinates each has; none by default."""
        return ()

    @property
    def is_ours(self) -> bool:
        """Whether its class is one of hinge's, so that its name and numbers say all about it."""
        return type(self).__module__.startswith("hinge.")

    @property
    def is_single(self) -> bool:
        """Whether one number is both position and velocity, so that another joint can follow it."""
        return self.nq == self.nv == 1


@dataclass(frozen=True)
class OnLine(Joint):
    """A joint with a line: the unit vector `axis` through the origin, the same in the inner and the outer frame."""

    axis: Vec3 = Z_AXIS

    @property
    def line(self) -> Vec3:
        return self.axis

    def on_z(self) -> Joint:
        return replace(self, axis=Z_AXIS)


class Revolute(OnLine):
    """A hinge: turns about its axis, by q radians."""

    kind, urdf, mjcf, dh, nq, nv = "revolute", "revolute", "hinge", "revolute", 1, 1

    def transform(self, q: Sequence[Scalar]) -> Transform:
        return turn(self.axis, q[0])

    def axes(self, q: Sequence[Scalar]) -> MotionSpace:
        return MotionSpace((Motion(self.axis, ZERO),))

    def gap(self, R: Mat3, p: Vec3) -> list[Scalar]:
        return [*tilted(R, self.axis), *p]

    def unidentifiable_inertia(self, inertia: RigidInertia) -> RigidInertia:
        if self.axis != Z_AXIS:
            return RigidInertia()
        across = inertia.I[1]  # a mass on the axis, and an inertia that is the same all around it but for its spin
        return RigidInertia(inertia.m, Vec3((0.0, 0.0, inertia.h[2])), Sym3((across, across, 0.0, 0.0, 0.0, 0.0)))


class Continuous(Revolute):
    """A hinge that goes round: its differences are taken the short way."""

    kind, urdf, mjcf, dh, nq, nv = "continuous", "continuous", "hinge", "revolute", 1, 1

    def difference(self, q0: Sequence[Scalar], q1: Sequence[Scalar]) -> list[Scalar]:
        d = q1[0] - q0[0]
        return [atan2(sin(d), cos(d))]


class Prismatic(OnLine):
    """A slide: shifts along its axis, by q metres."""

    kind, urdf, mjcf, dh, nq, nv, reach = "prismatic", "prismatic", "slide", "prismatic", 1, 1, 1.0

    def transform(self, q: Sequence[Scalar]) -> Transform:
        return slide(self.axis, q[0])

    def axes(self, q: Sequence[Scalar]) -> MotionSpace:
        return MotionSpace((Motion(ZERO, self.axis),))

    def gap(self, R: Mat3, p: Vec3) -> list[Scalar]:
        return [*turned(R), *beside(p, self.axis)]

    def unidentifiable_inertia(self, inertia: RigidInertia) -> RigidInertia:
        return RigidInertia(0.0, ZERO, inertia.I)  # both sides turn alike


@dataclass(frozen=True)
class Helical(OnLine):
    """A screw: turns by q radians and advances `pitch` metres a radian.

    Driven by a screw force (featherstone1987 7.3) or, with driven_by="couple", by a pure couple.
    """

    pitch: float = 0.0
    driven_by: str = "screw"

    def __post_init__(self) -> None:
        if self.driven_by not in ("screw", "couple"):
            hint = did_you_mean(str(self.driven_by), ("screw", "couple"))
            raise ModelError("driven-by", f"a helical joint is driven by {self.driven_by!r}.", hint)

    kind, dh, nq, nv = "helical", "screw", 1, 1

    def transform(self, q: Sequence[Scalar]) -> Transform:
        return slide(self.axis, q[0] * self.pitch) @ turn(self.axis, q[0])

    def axes(self, q: Sequence[Scalar]) -> MotionSpace:
        return MotionSpace((Motion(self.axis, self.axis * self.pitch),))

    def gap(self, R: Mat3, p: Vec3) -> list[Scalar]:
        return [*tilted(R, self.axis), *beside(p, self.axis), lag(R, p, self.axis, self.pitch)]

    def actuation(self, q: Sequence[Scalar]) -> ForceSpace:
        if self.driven_by == "couple":
            return ForceSpace((Force(self.axis, ZERO),))
        along = self.axis / (1.0 + self.pitch * self.pitch)
        return ForceSpace((Force(along, along * self.pitch),))


class Cylindrical(OnLine):
    """Turns about and slides along one axis, independently: q = [radians, metres]."""

    kind, dh, nq, nv = "cylindrical", "cylindric", 2, 2

    def transform(self, q: Sequence[Scalar]) -> Transform:
        return slide(self.axis, q[1]) @ turn(self.axis, q[0])

    def axes(self, q: Sequence[Scalar]) -> MotionSpace:
        return MotionSpace((Motion(self.axis, ZERO), Motion(ZERO, self.axis)))

    def chain(self) -> Sequence[tuple[Joint, tuple[int, ...]]]:
        return (Revolute(self.axis), (0,)), (Prismatic(self.axis), (1,))

    def gap(self, R: Mat3, p: Vec3) -> list[Scalar]:
        return [*tilted(R, self.axis), *beside(p, self.axis)]


class Spherical(Joint):
    """A ball: q a quaternion, qd the angular velocity in the outer frame (featherstone1987 8.2.3)."""

    kind, urdf, mjcf, nq, nv, rates_are_velocities = "spherical", "spherical", "ball", 4, 3, False

    def transform(self, q: Sequence[Scalar]) -> Transform:
        return Transform(Rigid(rotation_from_quaternion(q).T))

    def axes(self, q: Sequence[Scalar]) -> MotionSpace:
        return MotionSpace(Motion(e, ZERO) for e in (X_AXIS, Y_AXIS, Z_AXIS))

    def gap(self, R: Mat3, p: Vec3) -> list[Scalar]:
        return list(p)

    def unidentifiable_inertia(self, inertia: RigidInertia) -> RigidInertia:
        return RigidInertia(inertia.m)  # a mass in its centre

    def positive(self, q: Sequence[Scalar]) -> list[Scalar]:
        return [square(q)]

    def rate(self, q: Sequence[Scalar], qd: Sequence[Scalar]) -> list[Scalar]:
        return [0.5 * c for c in quaternion_product(q, (0.0, *qd))]  # (8.1)

    def velocities(self, q: Sequence[Scalar], rates: Sequence[Scalar]) -> list[Scalar]:
        return [2.0 / square(q) * c for c in quaternion_product(conjugate(q), rates)[1:]]  # (8.1) solved

    def moved(self, q: Sequence[Scalar], v: Sequence[Scalar]) -> list[Scalar]:
        return list(quaternion_product(q, quaternion_exp(Vec3(tuple(v)))))

    def normal(self, q: Sequence[Scalar]) -> list[Scalar]:
        return list(unit(q))

    def bracket(self, a: Sequence[Scalar], b: Sequence[Scalar]) -> list[Scalar]:
        return list(cross3(Vec3(tuple(a)), Vec3(tuple(b))))

    def difference(self, q0: Sequence[Scalar], q1: Sequence[Scalar]) -> list[Scalar]:
        return list(quaternion_log(quaternion_product(conjugate(unit(q0)), unit(q1))))

    def spring(self, rest: Sequence[Scalar], q: Sequence[Scalar], k: Sequence[Scalar]) -> Spring:
        return turn_springs(k, self.difference(rest, q))

    def random(self, rng: np.random.Generator, n: int, lower: Sequence[float], upper: Sequence[float]) -> np.ndarray:
        return random_quaternions(rng, n)

    def neutral(self) -> list[float]:
        return [1.0, 0.0, 0.0, 0.0]


class Free(Joint):
    """No joint at all: q = [quaternion, position], qd = [ω; v] in the body's coordinates."""

    kind, urdf, mjcf, nq, nv, rates_are_velocities = "free", "floating", "free", 7, 6, False

    def transform(self, q: Sequence[Scalar]) -> Transform:
        return Transform(Rigid(rotation_from_quaternion(q[:4]).T, Vec3(tuple(q[4:]))))

    def axes(self, q: Sequence[Scalar]) -> MotionSpace:
        directions = (X_AXIS, Y_AXIS, Z_AXIS)
        return MotionSpace([Motion(e, ZERO) for e in directions] + [Motion(ZERO, e) for e in directions])

    def gap(self, R: Mat3, p: Vec3) -> list[Scalar]:
        return []

    def positive(self, q: Sequence[Scalar]) -> list[Scalar]:
        return [square(q[:4])]

    def rate(self, q: Sequence[Scalar], qd: Sequence[Scalar]) -> list[Scalar]:
        return [*Spherical().rate(q[:4], qd[:3]), *(rotation_from_quaternion(q[:4]) @ Vec3(tuple(qd[3:])))]

    def velocities(self, q: Sequence[Scalar], rates: Sequence[Scalar]) -> list[Scalar]:
        shift = rotation_from_quaternion(q[:4]).T @ Vec3(tuple(rates[4:]))
        return [*Spherical().velocities(q[:4], rates[:4]), *shift]

    def moved(self, q: Sequence[Scalar], v: Sequence[Scalar]) -> list[Scalar]:
        quaternion, shift = displacement_exp(Vec3(tuple(v[:3])), Vec3(tuple(v[3:])))
        position = Vec3(tuple(q[4:])) + rotation_from_quaternion(q[:4]) @ shift
        return [*quaternion_product(q[:4], quaternion), *position]

    def normal(self, q: Sequence[Scalar]) -> list[Scalar]:
        return [*unit(q[:4]), *q[4:]]

    def bracket(self, a: Sequence[Scalar], b: Sequence[Scalar]) -> list[Scalar]:
        made = cross(*(Motion(Vec3(tuple(x[:3])), Vec3(tuple(x[3:]))) for x in (a, b)))
        return [*made.ang, *made.lin]

    def difference(self, q0: Sequence[Scalar], q1: Sequence[Scalar]) -> list[Scalar]:
        turned = quaternion_product(conjugate(unit(q0[:4])), unit(q1[:4]))
        shift = rotation_from_quaternion(q0[:4]).T @ (Vec3(tuple(q1[4:])) - Vec3(tuple(q0[4:])))
        ang, lin = displacement_log(turned, shift)
        return [*ang, *lin]

    def spring(self, rest: Sequence[Scalar], q: Sequence[Scalar], k: Sequence[Scalar]) -> Spring:
        turn, shift = Spherical().difference(rest[:4], q[:4]), Vec3(tuple(q[4:])) - Vec3(tuple(rest[4:]))
        return pose_springs(k, turn, shift, rotation_from_quaternion(q[:4]))

    def random(self, rng: np.random.Generator, n: int, lower: Sequence[float], upper: Sequence[float]) -> np.ndarray:
        return np.hstack([random_quaternions(rng, n), np.clip(rng.normal(size=(n, 3)), lower[4:], upper[4:])])

    def neutral(self) -> list[float]:
        return [1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]
