"""The joint types of the textbook beyond hinge, slide, ball and screw: featherstone1987 7.4, 8.2 and Table 8-1.

A bare number is an equation there. Coordinates are angular first. Where axes depend on q their rates are found by
differentiating them, so a class here says no more than where it goes and which motions it allows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from hinge.graph.expr import Scalar
from hinge.graph.functions import cos, sin
from hinge.model.joint_constraints import random_quaternions, tilted, turned
from hinge.model.joints import X_AXIS, Y_AXIS, Z_AXIS, Joint, Prismatic, Revolute, Spherical
from hinge.model.springs import Spring, springs
from hinge.spatial.linear3 import IDENTITY, ZERO, Mat3, Vec3, cross3
from hinge.spatial.rotation import rotation_from_quaternion
from hinge.spatial.transform import Rigid, Transform, slide, turn
from hinge.spatial.vectors import Motion, MotionSpace

Chain = Sequence[tuple[Joint, tuple[int, ...]]]
DEPENDENT = 1e-13  # the square of the volume that unit axes span: below this it is rounding


def _shift(x: Scalar, y: Scalar, z: Scalar = 0.0) -> Transform:
    return Transform(Rigid(IDENTITY, Vec3((x, y, z))))


class Fixed(Joint):
    """A weld. A model folds it into its parent body; only the world's own joint stays."""

    kind, urdf, nq, nv = "fixed", "fixed", 0, 0

    def transform(self, q: Sequence[Scalar]) -> Transform:
        return Transform(Rigid(IDENTITY, ZERO))

    def axes(self, q: Sequence[Scalar]) -> MotionSpace:
        return MotionSpace(())

    def gap(self, R: Mat3, p: Vec3) -> list[Scalar]:
        return [*turned(R), *p]


@dataclass(frozen=True)
class Planar(Joint):
    """Slides on a plane and turns about its normal, z: q = [angle, x, y], x and y along the inner frame's axes.

    Differs from the source: the table's row mixes two choices of x and y; this is the one with them in the inner frame.
    """

    kind, urdf, nq, nv, axes_vary, about_z = "planar", "planar", 3, 3, True, True

    def transform(self, q: Sequence[Scalar]) -> Transform:
        return turn(Z_AXIS, q[0]) @ _shift(q[1], q[2])

    def axes(self, q: Sequence[Scalar]) -> MotionSpace:
        c, s = cos(q[0]), sin(q[0])
        return MotionSpace((Motion(Z_AXIS), Motion(ZERO, Vec3((c, -s, 0.0))), Motion(ZERO, Vec3((s, c, 0.0)))))

    def gap(self, R: Mat3, p: Vec3) -> list[Scalar]:
        return [*tilted(R, Z_AXIS), p[2]]

    def chain(self) -> Chain:
        return (Prismatic(X_AXIS), (1,)), (Prismatic(Y_AXIS), (2,)), (Revolute(Z_AXIS), (0,))


class PlanarOuter(Planar):
    """The same, with x and y along the outer frame's axes."""

    kind, urdf, nq, nv, axes_vary, about_z = "planar_outer", "", 3, 3, True, True

    def transform(self, q: Sequence[Scalar]) -> Transform:
        return _shift(q[1], q[2]) @ turn(Z_AXIS, q[0])

    def axes(self, q: Sequence[Scalar]) -> MotionSpace:
        return MotionSpace((Motion(Z_AXIS, Vec3((-q[2], q[1], 0.0))), Motion(ZERO, X_AXIS), Motion(ZERO, Y_AXIS)))

    def chain(self) -> Chain:
        return (Revolute(Z_AXIS), (0,)), (Prismatic(X_AXIS), (1,)), (Prismatic(Y_AXIS), (2,))


class Universal(Joint):
    """Hooke's joint: turns about x, then about the new y."""

    kind, nq, nv, axes_vary = "universal", 2, 2, True

    def transform(self, q: Sequence[Scalar]) -> Transform:
        return turn(Y_AXIS, q[1]) @ turn(X_AXIS, q[0])

    def axes(self, q: Sequence[Scalar]) -> MotionSpace:
        return MotionSpace((Motion(Vec3((cos(q[1]), 0.0, sin(q[1])))), Motion(Y_AXIS)))

    def gap(self, R: Mat3, p: Vec3) -> list[Scalar]:
        return [R[1], *p]  # the inner x axis stays square to the outer y axis

    def chain(self) -> Chain:
        return (Revolute(X_AXIS), (0,)), (Revolute(Y_AXIS), (1,))


class SphericalAngles(Joint):
    """A ball by three angles, about x, then y, then z; singular where the second is a quarter turn."""

    kind, nq, nv, axes_vary, singular_at = "spherical_angles", 3, 3, True, (1, np.pi / 2)

    def transform(self, q: Sequence[Scalar]) -> Transform:
        return turn(Z_AXIS, q[2]) @ turn(Y_AXIS, q[1]) @ turn(X_AXIS, q[0])

    def axes(self, q: Sequence[Scalar]) -> MotionSpace:
        c2, s2, c3, s3 = cos(q[1]), sin(q[1]), cos(q[2]), sin(q[2])
        columns = Vec3((c2 * c3, -(c2 * s3), s2)), Vec3((s3, c3, 0.0)), Z_AXIS
        return MotionSpace(Motion(column) for column in columns)

    def apart(self, q: Sequence[Scalar]) -> list[Scalar]:
        c2 = cos(q[1])
        return [c2 * c2 - DEPENDENT]  # the Gramian of the axes

    def gap(self, R: Mat3, p: Vec3) -> list[Scalar]:
        return list(p)

    def chain(self) -> Chain:
        return tuple((Revolute(axis), (k,)) for k, axis in enumerate((X_AXIS, Y_AXIS, Z_AXIS)))


class Cartesian2(Joint):
    """Slides along x and y."""

    kind, nq, nv, reach = "cartesian_2", 2, 2, 1.0

    def transform(self, q: Sequence[Scalar]) -> Transform:
        return slide(Y_AXIS, q[1]) @ slide(X_AXIS, q[0])

    def axes(self, q: Sequence[Scalar]) -> MotionSpace:
        return MotionSpace((Motion(ZERO, X_AXIS), Motion(ZERO, Y_AXIS)))

    def gap(self, R: Mat3, p: Vec3) -> list[Scalar]:
        return [*turned(R), p[2]]

    def chain(self) -> Chain:
        return (Prismatic(X_AXIS), (0,)), (Prismatic(Y_AXIS), (1,))


class Cartesian3(Joint):
    """Slides along x, y and z."""

    kind, nq, nv, reach = "cartesian_3", 3, 3, 1.0

    def transform(self, q: Sequence[Scalar]) -> Transform:
        return _shift(*q)

    def axes(self, q: Sequence[Scalar]) -> MotionSpace:
        return MotionSpace(Motion(ZERO, e) for e in (X_AXIS, Y_AXIS, Z_AXIS))

    def gap(self, R: Mat3, p: Vec3) -> list[Scalar]:
        return turned(R)

    def chain(self) -> Chain:
        return tuple((Prismatic(axis), (k,)) for k, axis in enumerate((X_AXIS, Y_AXIS, Z_AXIS)))


class SphereInCylinder(Joint):
    """A ball that slides along the inner z axis: q = [quaternion, distance], qd = [angular velocity, speed]."""

    kind, nq, nv, axes_vary, rates_are_velocities = "sphere_in_cylinder", 5, 4, True, False
    _ball = Spherical()

    def transform(self, q: Sequence[Scalar]) -> Transform:
        return self._ball.transform(q[:4]) @ slide(Z_AXIS, q[4])

    def axes(self, q: Sequence[Scalar]) -> MotionSpace:
        along = rotation_from_quaternion(q[:4]).row(2)
        return MotionSpace([*self._ball.axes(q), Motion(ZERO, along)])

    def gap(self, R: Mat3, p: Vec3) -> list[Scalar]:
        return [p[0], p[1]]

    def positive(self, q: Sequence[Scalar]) -> list[Scalar]:
        return self._ball.positive(q[:4])

    def rate(self, q: Sequence[Scalar], qd: Sequence[Scalar]) -> list[Scalar]:
        return [*self._ball.rate(q[:4], qd[:3]), qd[3]]

    def moved(self, q: Sequence[Scalar], v: Sequence[Scalar]) -> list[Scalar]:
        return [*self._ball.moved(q[:4], v[:3]), q[4] + v[3]]

    def normal(self, q: Sequence[Scalar]) -> list[Scalar]:
        return [*self._ball.normal(q[:4]), q[4]]

    def bracket(self, a: Sequence[Scalar], b: Sequence[Scalar]) -> list[Scalar]:
        return [*self._ball.bracket(a[:3], b[:3]), 0.0]

    def difference(self, q0: Sequence[Scalar], q1: Sequence[Scalar]) -> list[Scalar]:
        return [*self._ball.difference(q0[:4], q1[:4]), q1[4] - q0[4]]

    def spring(self, rest: Sequence[Scalar], q: Sequence[Scalar], k: Sequence[Scalar]) -> Spring:
        turn, couple = self._ball.spring(rest[:4], q[:4], k[:3])
        pull, force = springs(k[3:], [q[4] - rest[4]])
        return turn + pull, [*couple, *force]

    def random(self, rng: np.random.Generator, n: int, lower: Sequence[float], upper: Sequence[float]) -> np.ndarray:
        return np.concatenate(
            [random_quaternions(rng, n), np.clip(rng.normal(size=(n, 1)), lower[4:], upper[4:])], axis=1
        )

    def neutral(self) -> list[float]:
        return [1.0, 0.0, 0.0, 0.0, 0.0]


@dataclass(frozen=True)
class Rolling(Joint):
    """A ball of some `radius` (m) that rolls without slipping on a plane z = -radius of the inner frame: section 7.4.4.

    Its outer frame is at the ball's centre. q = [quaternion, x, y], qd = the angular velocity in the outer frame: five
    freedoms of position, three of velocity, whose rates are not derivatives of any coordinates.
    """

    radius: float = 1.0
    kind, nq, nv, axes_vary, rates_are_velocities, holonomic = "rolling", 6, 3, True, False, False
    _ball = Spherical()

    def transform(self, q: Sequence[Scalar]) -> Transform:
        return self._ball.transform(q[:4]) @ _shift(q[4], q[5])

    def axes(self, q: Sequence[Scalar]) -> MotionSpace:
        up = rotation_from_quaternion(q[:4]).row(2) * self.radius
        return MotionSpace(Motion(e, cross3(e, up)) for e in (X_AXIS, Y_AXIS, Z_AXIS))

    def positive(self, q: Sequence[Scalar]) -> list[Scalar]:
        return self._ball.positive(q[:4])

    def rate(self, q: Sequence[Scalar], qd: Sequence[Scalar]) -> list[Scalar]:
        return [*self._ball.rate(q[:4], qd), *self._rolled(q, qd)]

    def _rolled(self, q: Sequence[Scalar], v: Sequence[Scalar]) -> tuple[Scalar, Scalar]:
        """How far the centre goes; a constant angular velocity in the outer frame is constant in the inner too."""
        turned = rotation_from_quaternion(q[:4]) @ Vec3(tuple(v))
        return turned[1] * self.radius, -(turned[0] * self.radius)

    def moved(self, q: Sequence[Scalar], v: Sequence[Scalar]) -> list[Scalar]:
        x, y = self._rolled(q, v)
        return [*self._ball.moved(q[:4], v), q[4] + x, q[5] + y]

    def normal(self, q: Sequence[Scalar]) -> list[Scalar]:
        return [*self._ball.normal(q[:4]), *q[4:]]

    def difference(self, q0: Sequence[Scalar], q1: Sequence[Scalar]) -> list[Scalar]:
        return self._ball.difference(q0[:4], q1[:4])

    def spring(self, rest: Sequence[Scalar], q: Sequence[Scalar], k: Sequence[Scalar]) -> Spring:
        return self._ball.spring(rest[:4], q[:4], k)

    def random(self, rng: np.random.Generator, n: int, lower: Sequence[float], upper: Sequence[float]) -> np.ndarray:
        return np.concatenate(
            [random_quaternions(rng, n), np.clip(rng.normal(size=(n, 2)), lower[4:], upper[4:])], axis=1
        )

    def neutral(self) -> list[float]:
        return [1.0, 0.0, 0.0, 0.0, 0.0, 0.0]
