"""Rigid-body and articulated-body inertias: maps from motions to forces.

    [n]   [ I   H ] [ω]
    [f] = [ Hᵀ  M ] [v]

For a rigid body M = m 1 and H = h ×, with h = m c the first moment: featherstone1987 (3.4), blocks in our order.
Ten numbers are kept for a rigid body and twenty-one for an articulated one; Table 8-2 there has more, because it does
not make use of symmetry.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import overload

from hinge.graph.expr import Scalar
from hinge.spatial.linear3 import (
    IDENTITY,
    NO_SYM,
    NOTHING,
    ZERO,
    Mat3,
    Sym3,
    Vec3,
    cross3,
    dot3,
    skew,
    sym3,
    upper,
)  # fmt: skip
from hinge.spatial.vectors import Force, ForceSpace, Motion, MotionSpace


class RigidInertia:
    """Mass m, first moment h = m c, and second moment I about the body's origin."""

    __slots__ = ("I", "h", "m")

    def __init__(self, m: Scalar = 0.0, h: Vec3 = ZERO, I: Sym3 = NO_SYM):
        self.m, self.h, self.I = m, h, I

    def __repr__(self) -> str:
        return f"RigidInertia({self.m!r}, {tuple(self.h)}, {tuple(self.I)})"

    @classmethod
    def at_com(cls, mass: Scalar, com: Vec3, inertia: Sequence[Sequence[Scalar]]) -> RigidInertia:
        """From the mass, the centre of mass and the rotational inertia about it, body axes: (3.3)."""
        cx = skew(com)
        return cls(mass, com * mass, sym3(inertia) - upper(cx.times(cx) * mass))

    @property
    def com(self) -> Vec3:
        """The centre of mass; meaningless without mass."""
        return self.h * (1.0 / self.m)

    @property
    def about_com(self) -> Sym3:
        """The rotational inertia about the centre of mass."""
        cx = skew(self.com)
        return self.I + upper(cx.times(cx) * self.m)

    def __add__(self, other: RigidInertia) -> RigidInertia:
        return RigidInertia(self.m + other.m, self.h + other.h, self.I + other.I)  # (3.8)

    def less(self, part: RigidInertia) -> RigidInertia:
        """What is left when a part is taken away."""
        return RigidInertia(self.m - part.m, self.h - part.h, self.I - part.I)

    @overload
    def __matmul__(self, x: Motion) -> Force: ...
    @overload
    def __matmul__(self, x: MotionSpace) -> ForceSpace: ...

    def __matmul__(self, x: Motion | MotionSpace) -> Force | ForceSpace:
        if isinstance(x, MotionSpace):
            return ForceSpace(self @ m for m in x)
        _check_motion(x)
        return Force(self.I @ x.ang + cross3(self.h, x.lin), x.lin * self.m - cross3(self.h, x.ang))

    def articulated(self) -> ArticulatedInertia:
        """The same inertia, ready to have joints taken out of it."""
        return ArticulatedInertia(self.I, skew(self.h), Sym3((self.m, self.m, self.m, 0.0, 0.0, 0.0)))

    def inverse(self) -> ArticulatedInertia:
        """The closed form of the inverse, a map from forces to motions in the same blocks: (3.14)."""
        J, cx = _inverse(self.about_com.full()), skew(self.com)
        H = -J.times(cx)
        return ArticulatedInertia(upper(J), H, upper(IDENTITY * (1.0 / self.m) - cx.times(J).times(cx)))


class ArticulatedInertia:
    """The inertia a body seems to have when others hang on it: symmetric I and M, general H."""

    __slots__ = ("H", "I", "M")

    def __init__(self, I: Sym3 = NO_SYM, H: Mat3 = NOTHING, M: Sym3 = NO_SYM):
        self.I, self.H, self.M = I, H, M

    def __add__(self, other: ArticulatedInertia) -> ArticulatedInertia:
        return ArticulatedInertia(self.I + other.I, self.H + other.H, self.M + other.M)

    @overload
    def __matmul__(self, x: Motion) -> Force: ...
    @overload
    def __matmul__(self, x: MotionSpace) -> ForceSpace: ...

    def __matmul__(self, x: Motion | MotionSpace) -> Force | ForceSpace:
        if isinstance(x, MotionSpace):
            return ForceSpace(self @ m for m in x)
        _check_motion(x)
        return Force(self.I @ x.ang + self.H @ x.lin, self.H.T @ x.ang + self.M @ x.lin)

    def without(self, U: ForceSpace, V: ForceSpace) -> ArticulatedInertia:
        """I - U Vᵀ, where U Vᵀ is symmetric: what is left when a joint gives way."""
        I, H, M = self.I, self.H, self.M
        for u, v in zip(U, V, strict=True):
            I = Sym3(map(_minus, I, _symmetric_dyad(u.ang, v.ang)))
            H = Mat3(map(_minus, H, [v.ang[i] * u.lin[j] for i in range(3) for j in range(3)]))
            M = Sym3(map(_minus, M, _symmetric_dyad(u.lin, v.lin)))
        return ArticulatedInertia(I, H, M)

    def matrix(self) -> list[list[Scalar]]:
        """All thirty-six entries."""
        I, H, M = self.I.full(), self.H, self.M.full()
        top = [[*I.row(i), *H.row(i)] for i in range(3)]
        return top + [[*H.column(i), *M.row(i)] for i in range(3)]


def _minus(a: Scalar, b: Scalar) -> Scalar:
    """a - b, where two constants that differ only by rounding differ by nothing: a joint leaves exact zeros."""
    if type(a) is float and type(b) is float and abs(a - b) <= 1e-15 * abs(a):
        return 0.0
    return a - b


def _symmetric_dyad(u: Vec3, v: Vec3) -> Sym3:
    return Sym3((v[0] * u[0], v[1] * u[1], v[2] * u[2], v[1] * u[2], v[0] * u[2], v[0] * u[1]))


def _check_motion(x: object) -> None:
    if type(x) is not Motion:
        from hinge.errors import TraceError

        raise TraceError(f"an inertia takes a motion to a force; it was given a {type(x).__name__}.")


def _inverse(A: Mat3) -> Mat3:
    """The inverse of a 3×3 matrix, from its cofactors."""
    r = [A.row(i) for i in range(3)]
    cofactors = [cross3(r[1], r[2]), cross3(r[2], r[0]), cross3(r[0], r[1])]
    scale = 1.0 / dot3(r[0], cofactors[0])
    return Mat3(cofactors[j][i] * scale for i in range(3) for j in range(3))
