"""Coordinate transforms: constant placements, joint motions, and their products.

A transform X takes motions from a parent's coordinates to a child's: `X @ m`. Its transpose takes forces and
inertias the other way: `X.T @ f`, and `X.T @ I` for Xᵀ I X. An inverse inertia goes with motions: `X @ Φ` for X Φ Xᵀ.
A transform is kept as the list of its factors and applied one after the other, because a turn about a coordinate axis
is cheaper than a general rotation: featherstone1987 8.3.4.
"""

from __future__ import annotations

import math
from copy import copy
from typing import Protocol, TypeVar, overload

from hinge.errors import TraceError
from hinge.graph.expr import Scalar
from hinge.graph.functions import cos, sin
from hinge.spatial.inertia import ArticulatedInertia, InverseInertia, RigidInertia
from hinge.spatial.linear3 import IDENTITY, ZERO, Mat3, Sym3, Vec3, congruence, cross3, skew, upper
from hinge.spatial.rotation import snapped_circle
from hinge.spatial.vectors import Force, ForceSpace, Motion, MotionSpace, article

Inertia = TypeVar("Inertia", RigidInertia, ArticulatedInertia)


class Factor(Protocol):
    """What a factor of a transform can do."""

    def motion(self, m: Motion) -> Motion: ...
    def force_back(self, f: Force) -> Force: ...
    def rigid_back(self, I: RigidInertia) -> RigidInertia: ...
    def articulated_back(self, I: ArticulatedInertia) -> ArticulatedInertia: ...
    def pose(self, R: Mat3, p: Vec3) -> tuple[Mat3, Vec3]: ...
    def turned(self, v: Vec3) -> Vec3: ...
    def back(self, v: Vec3) -> Vec3: ...
    def tensor_back(self, B: Mat3) -> Mat3: ...
    @property
    def r(self) -> Vec3: ...


class Screw:
    """A turn about coordinate axis k (0, 1, 2 for x, y, z) and a shift along it."""

    __slots__ = ("angle", "axis", "c", "s", "shift")

    def __init__(self, axis: int, angle: Scalar, shift: Scalar = 0.0):
        self.axis, self.angle, self.shift = axis, angle, shift
        if isinstance(angle, float | int):
            self.c, self.s = snapped_circle(math.cos(angle), math.sin(angle))
        else:
            self.c, self.s = cos(angle), sin(angle)

    def __repr__(self) -> str:
        return f"Screw({'xyz'[self.axis]}, {self.angle!r}, {self.shift!r})"

    def after(self, first: Screw) -> Screw:
        """The product of two screws about one axis. A quarter turn swaps sine and cosine and costs nothing."""
        shift = first.shift + self.shift
        quarter = next((one for one in (self, first) if type(one.c) is float and one.c in (0.0, 1.0, -1.0)), None)
        if quarter is None:
            return Screw(self.axis, first.angle + self.angle, shift)
        other = first if quarter is self else self
        made = copy(other)
        made.angle, made.shift = first.angle + self.angle, shift
        made.c, made.s = other.c * quarter.c - other.s * quarter.s, other.s * quarter.c + other.c * quarter.s
        return made

    def turned(self, v: Vec3) -> Vec3:
        """The same vector in the turned coordinates."""
        return _turned(self.axis, self.c, -self.s, v)

    def back(self, v: Vec3) -> Vec3:
        """A vector of the turned coordinates in those before."""
        return _turned(self.axis, self.c, self.s, v)

    def tensor_back(self, B: Mat3) -> Mat3:
        """The same of a map from vectors to vectors."""
        return _turned_general(self.axis, self.c, self.s, B)

    @property
    def r(self) -> Vec3:
        """The child's origin in the parent's coordinates."""
        return self.pose(IDENTITY, ZERO)[1]

    def _along(self, v: Vec3) -> Vec3:
        """shift × v."""
        x, y, _ = _frame(self.axis)
        made = [0.0, 0.0, 0.0]
        made[x], made[y] = -(self.shift * v[y]), self.shift * v[x]
        return Vec3(made)

    def motion(self, m: Motion) -> Motion:
        return Motion(self.turned(m.ang), self.turned(m.lin - self._along(m.ang)))

    def force_back(self, f: Force) -> Force:
        lin = self.back(f.lin)
        return Force(self.back(f.ang) + self._along(lin), lin)

    def rigid_back(self, I: RigidInertia) -> RigidInertia:
        x, y, z = _frame(self.axis)
        h, J = self.back(I.h), _turned_symmetric(self.axis, self.c, self.s, I.I)
        d, moved = self.shift, list(h)
        moved[z] = h[z] + I.m * d
        gained = d * (h[z] + moved[z])
        changes = {(x, x): gained, (y, y): gained, (x, z): -(d * h[x]), (y, z): -(d * h[y])}
        return RigidInertia(I.m, Vec3(moved), _changed(J, changes))

    def articulated_back(self, I: ArticulatedInertia) -> ArticulatedInertia:
        k, c, s, d = self.axis, self.c, self.s, self.shift
        x, y, z = _frame(k)
        J, H, M = _turned_symmetric(k, c, s, I.I), _turned_general(k, c, s, I.H), _turned_symmetric(k, c, s, I.M)
        G = list(H)  # H + shift × M
        for j in range(3):
            G[3 * x + j] = H[3 * x + j] - d * M.at(y, j)
            G[3 * y + j] = H[3 * y + j] + d * M.at(x, j)
        changes = {  # shift × Hᵀ - G shift ×
            (x, x): -(d * (H[3 * x + y] + G[3 * x + y])),
            (y, y): d * (H[3 * y + x] + G[3 * y + x]),
            (x, y): d * (G[3 * x + x] - H[3 * y + y]),
            (x, z): -(d * H[3 * z + y]),
            (y, z): d * H[3 * z + x],
        }
        return ArticulatedInertia(_changed(J, changes), Mat3(G), M)

    def pose(self, R: Mat3, p: Vec3) -> tuple[Mat3, Vec3]:
        columns = [R.row(i) for i in range(3)]
        turned = [self.turned(row) for row in columns]
        return Mat3(e for row in turned for e in row), p + R.column(self.axis) * self.shift


class Rigid:
    """A general transform: the child's origin at r in the parent's coordinates, then a rotation E into the child's."""

    __slots__ = ("E", "r")

    def __init__(self, E: Mat3 = IDENTITY, r: Vec3 = ZERO):
        self.E, self.r = E, r

    def __repr__(self) -> str:
        return f"Rigid({tuple(self.E)}, {tuple(self.r)})"

    def turned(self, v: Vec3) -> Vec3:
        return self.E @ v

    def back(self, v: Vec3) -> Vec3:
        return self.E.T @ v

    def tensor_back(self, B: Mat3) -> Mat3:
        return self.E.T.times(B).times(self.E)

    def motion(self, m: Motion) -> Motion:
        return Motion(self.E @ m.ang, self.E @ (m.lin - cross3(self.r, m.ang)))

    def force_back(self, f: Force) -> Force:
        lin = self.E.T @ f.lin
        return Force(self.E.T @ f.ang + cross3(self.r, lin), lin)

    def rigid_back(self, I: RigidInertia) -> RigidInertia:
        E, r = self.E.T, self.r
        h, J = E @ I.h, congruence(E, I.I)
        if r == ZERO:
            return RigidInertia(I.m, h, J)
        moved = h + r * I.m
        return RigidInertia(I.m, moved, J - upper(skew(h).times(skew(r)) + skew(r).times(skew(moved))))

    def articulated_back(self, I: ArticulatedInertia) -> ArticulatedInertia:
        E, r = self.E.T, self.r
        J, H, M = congruence(E, I.I), E.times(I.H).times(E.T), congruence(E, I.M)
        G = H + skew(r).times(M.full())
        changes = {}  # r × Hᵀ - G r ×, with what multiplies the same component of r taken together
        for x, y, z in (_frame(2), _frame(0), _frame(1)):
            changes[x, x] = r[y] * (H[3 * x + z] + G[3 * x + z]) - r[z] * (H[3 * x + y] + G[3 * x + y])
            changes[x, y] = r[z] * (G[3 * x + x] - H[3 * y + y]) + r[y] * H[3 * y + z] - r[x] * G[3 * x + z]
        return ArticulatedInertia(_changed(J, changes), G, M)

    def pose(self, R: Mat3, p: Vec3) -> tuple[Mat3, Vec3]:
        return R.times(self.E.T), p + R @ self.r


class Transform:
    """A product of factors; the first is nearest to the parent."""

    __slots__ = ("factors",)

    def __init__(self, *factors: Factor):
        self.factors = factors

    def __repr__(self) -> str:
        return f"Transform{self.factors}"

    @overload
    def __matmul__(self, x: Motion) -> Motion: ...
    @overload
    def __matmul__(self, x: MotionSpace) -> MotionSpace: ...
    @overload
    def __matmul__(self, x: Transform) -> Transform: ...
    @overload
    def __matmul__(self, x: InverseInertia) -> InverseInertia: ...

    def __matmul__(
        self, x: Motion | MotionSpace | Transform | InverseInertia
    ) -> Motion | MotionSpace | Transform | InverseInertia:
        if isinstance(x, Transform):
            return Transform(*_merged((*x.factors, *self.factors)))
        if isinstance(x, InverseInertia):
            R, p = self.pose()
            return x.seen_from(R.T, p)
        if isinstance(x, MotionSpace):
            return MotionSpace(self @ m for m in x)
        if not isinstance(x, Motion):
            raise TraceError(f"a transform takes motions to the child; {article(x)} goes back with X.T @ f.")
        for factor in self.factors:
            x = factor.motion(x)
        return x

    @property
    def T(self) -> _Back:
        return _Back(self)

    def turned(self, v: Vec3) -> Vec3:
        """The same vector in the child's coordinates."""
        for factor in self.factors:
            v = factor.turned(v)
        return v

    def legs(self, line: Vec3 | None) -> tuple[Vec3, Vec3]:
        """The way to the child's origin in two legs: as far as `line`, a direction the same in both, and then along it.

        The first is in the parent's coordinates, the second in the child's.
        """
        last = self.factors[-1] if self.factors else None
        if line is not None and isinstance(last, Screw) and line[last.axis] in (1.0, -1.0):
            return Transform(*self.factors[:-1]).pose()[1], last.r
        return self.pose()[1], ZERO

    def pose(self, R: Mat3 = IDENTITY, p: Vec3 = ZERO) -> tuple[Mat3, Vec3]:
        """Rotation (child's axes in the outer coordinates) and origin, when the parent stands at (R, p)."""
        for factor in self.factors:
            R, p = factor.pose(R, p)
        return R, p


class _Back:
    """Xᵀ: forces and inertias from the child's coordinates to the parent's."""

    __slots__ = ("X",)

    def __init__(self, X: Transform):
        self.X = X

    @overload
    def __matmul__(self, x: Force) -> Force: ...
    @overload
    def __matmul__(self, x: ForceSpace) -> ForceSpace: ...
    @overload
    def __matmul__(self, x: Inertia) -> Inertia: ...

    def __matmul__(
        self, x: Force | ForceSpace | RigidInertia | ArticulatedInertia
    ) -> Force | ForceSpace | RigidInertia | ArticulatedInertia:
        if isinstance(x, ForceSpace):
            return ForceSpace(self @ f for f in x)
        if not isinstance(x, Force | RigidInertia | ArticulatedInertia):
            raise TraceError(f"X.T @ takes forces and inertias to the parent; {article(x)} goes with X @ m.")
        for factor in reversed(self.X.factors):
            if isinstance(x, Force):
                x = factor.force_back(x)
            elif isinstance(x, RigidInertia):
                x = factor.rigid_back(x)
            elif isinstance(x, ArticulatedInertia):
                x = factor.articulated_back(x)
            else:
                raise TraceError(f"X.T @ takes forces and inertias to the parent; {article(x)} goes with X @ m.")
        return x


def _merged(factors: tuple[Factor, ...]) -> list[Factor]:
    """The same product with neighbouring screws about one axis made one."""
    made: list[Factor] = []
    for factor in factors:
        last = made[-1] if made else None
        if isinstance(factor, Screw) and isinstance(last, Screw) and factor.axis == last.axis:
            made[-1] = factor.after(last)
        else:
            made.append(factor)
    return made


def turn(axis: Vec3, angle: Scalar) -> Transform:
    """A turn by `angle` about the unit vector `axis` through the origin: a screw where the axis is a coordinate one."""
    k = _coordinate_axis(axis)
    if k is not None:
        return Transform(Screw(k, angle * axis[k]))
    c, s = cos(angle), sin(angle)
    x, y, z = axis
    v = 1.0 - c
    rows = (  # Rodrigues, transposed: into the turned coordinates
        c + x * x * v, x * y * v + z * s, x * z * v - y * s,
        x * y * v - z * s, c + y * y * v, y * z * v + x * s,
        x * z * v + y * s, y * z * v - x * s, c + z * z * v,
    )  # fmt: skip
    return Transform(Rigid(Mat3(rows)))


def slide(axis: Vec3, distance: Scalar) -> Transform:
    """A shift by `distance` along the unit vector `axis`."""
    k = _coordinate_axis(axis)
    if k is not None:
        return Transform(Screw(k, 0.0, distance * axis[k]))
    return Transform(Rigid(IDENTITY, axis * distance))


def _coordinate_axis(axis: Vec3) -> int | None:
    for k in range(3):
        if axis[k] in (1.0, -1.0) and axis[k - 1] == 0.0 and axis[k - 2] == 0.0:
            return k
    return None


def _frame(k: int) -> tuple[int, int, int]:
    """Axes x, y, z renamed so that axis k is called z."""
    return (k + 1) % 3, (k + 2) % 3, k


def _turned(k: int, c: Scalar, s: Scalar, v: Vec3) -> Vec3:
    x, y, _ = _frame(k)
    made = list(v)
    made[x], made[y] = c * v[x] - s * v[y], s * v[x] + c * v[y]
    return Vec3(made)


def _turned_symmetric(k: int, c: Scalar, s: Scalar, S: Sym3) -> Sym3:
    """R S Rᵀ: the block across the axis in four multiplications, with u = s (a - d) + 2 c b."""
    x, y, z = _frame(k)
    a, b, d = S.at(x, x), S.at(x, y), S.at(y, y)
    u = s * (a - d) + (c + c) * b
    made = {
        (x, x): a - s * u, (y, y): d + s * u, (x, y): c * u - b,
        (x, z): c * S.at(x, z) - s * S.at(y, z), (y, z): s * S.at(x, z) + c * S.at(y, z),
    }  # fmt: skip
    return _replaced(S, made)


def _turned_general(k: int, c: Scalar, s: Scalar, B: Mat3) -> Mat3:
    """R B Rᵀ: a turn leaves the trace and the antisymmetric part of the block across the axis."""
    x, y, z = _frame(k)
    p, q, r, t = B[3 * x + x], B[3 * x + y], B[3 * y + x], B[3 * y + y]
    u = s * (p - t) + c * (q + r)
    made = list(B)
    made[3 * x + x], made[3 * y + y] = p - s * u, t + s * u
    made[3 * x + y], made[3 * y + x] = c * u - r, c * u - q
    made[3 * x + z], made[3 * y + z] = c * B[3 * x + z] - s * B[3 * y + z], s * B[3 * x + z] + c * B[3 * y + z]
    made[3 * z + x], made[3 * z + y] = c * B[3 * z + x] - s * B[3 * z + y], s * B[3 * z + x] + c * B[3 * z + y]
    return Mat3(made)


def _changed(S: Sym3, changes: dict[tuple[int, int], Scalar]) -> Sym3:
    return _replaced(S, {at: S.at(*at) + change for at, change in changes.items()})


def _replaced(S: Sym3, entries: dict[tuple[int, int], Scalar]) -> Sym3:
    made = list(S)
    for (i, j), entry in entries.items():
        made[S.place(i, j)] = entry
    return Sym3(made)
