"""Inertias: rigid-body and articulated-body ones map motions to forces, inverse ones map forces to motions.

    [n]   [ I   H ] [ω]
    [f] = [ Hᵀ  M ] [v]

For a rigid body M = m 1 and H = h ×, with h = m c the first moment: featherstone1987 (3.4), blocks in our order.
Ten numbers are kept for a rigid body and twenty-one for an articulated one; Table 8-2 there has more, because it does
not make use of symmetry. An inverse inertia has the same blocks as an articulated one, but it is a tensor of the other
kind: section 3.5.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self, overload

from hinge.errors import TraceError
from hinge.graph.expr import Scalar
from hinge.spatial.linear3 import (
    IDENTITY,
    NO_SYM,
    NOTHING,
    ZERO,
    Mat3,
    Sym3,
    Vec3,
    congruence,
    cross3,
    dot3,
    skew,
    sym3,
    upper,
)  # fmt: skip
from hinge.spatial.vectors import Force, ForceSpace, Motion, MotionSpace, Tensor, article


class _Inertia(Tensor):
    """Sums, differences and multiples, which are those of the numbers in `_numbers`."""

    __slots__ = ()

    def _numbers(self) -> tuple[Any, ...]:
        """Return the constructor's arguments, each of which can be added, subtracted and scaled."""
        raise NotImplementedError

    def _like(self, other: object, doing: str) -> tuple[Any, Any]:
        """Return both operands as inertias of one type: a rigid-body inertia is an articulated one too."""
        if type(other) is type(self):
            return self, other
        pair = [x.articulated() if isinstance(x, RigidInertia) else x for x in (self, other)]
        if all(isinstance(x, ArticulatedInertia) for x in pair):
            return pair[0], pair[1]
        raise TraceError(
            f"cannot {doing} {article(self)} and {article(other)}.\n"
            "  Rigid-body and articulated-body inertias add, and inverse inertias add to each other."
        )

    def __add__(self, other: Any) -> Any:
        a, b = self._like(other, "add")
        return type(a)(*(x + y for x, y in zip(a._numbers(), b._numbers(), strict=True)))  # (3.8)

    def __sub__(self, other: Any) -> Any:
        a, b = self._like(other, "subtract")
        return type(a)(*(x - y for x, y in zip(a._numbers(), b._numbers(), strict=True)))

    def __radd__(self, other: object) -> Any:
        return self._like(other, "add")

    def __rsub__(self, other: object) -> Any:
        return self._like(other, "subtract")

    def _scaled(self, scale: Scalar) -> Self:
        return type(self)(*(x * scale for x in self._numbers()))

    def __rmatmul__(self, other: object) -> Any:
        raise TraceError(f"{article(other)} does not act on {article(self)}: apply an inertia from the left, as I @ m.")


class RigidInertia(_Inertia):
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

    def _numbers(self) -> tuple[Scalar, Vec3, Sym3]:
        return self.m, self.h, self.I

    @overload
    def __add__(self, other: RigidInertia) -> RigidInertia: ...
    @overload
    def __add__(self, other: ArticulatedInertia) -> ArticulatedInertia: ...

    def __add__(self, other: RigidInertia | ArticulatedInertia) -> RigidInertia | ArticulatedInertia:
        return super().__add__(other)

    @overload
    def __sub__(self, other: RigidInertia) -> RigidInertia: ...
    @overload
    def __sub__(self, other: ArticulatedInertia) -> ArticulatedInertia: ...

    def __sub__(self, other: RigidInertia | ArticulatedInertia) -> RigidInertia | ArticulatedInertia:
        return super().__sub__(other)

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

    def inverse(self) -> InverseInertia:
        """Return the closed form of the inverse, which maps forces to motions: (3.14)."""
        J, cx = _inverse(self.about_com.full()), skew(self.com)
        H = -J.times(cx)
        return InverseInertia(upper(J), H, upper(IDENTITY * (1.0 / self.m) - cx.times(J).times(cx)))


class _Blocks(_Inertia):
    """A symmetric 6×6 matrix in three blocks: symmetric I and M, general H."""

    __slots__ = ("H", "I", "M")

    def __init__(self, I: Sym3 = NO_SYM, H: Mat3 = NOTHING, M: Sym3 = NO_SYM):
        self.I, self.H, self.M = I, H, M

    def __repr__(self) -> str:
        return f"{type(self).__name__}({tuple(self.I)}, {tuple(self.H)}, {tuple(self.M)})"

    def _numbers(self) -> tuple[Sym3, Mat3, Sym3]:
        return self.I, self.H, self.M

    def _times(self, ang: Vec3, lin: Vec3) -> tuple[Vec3, Vec3]:
        """Return the product with the vector [ang; lin]."""
        return self.I @ ang + self.H @ lin, self.H.T @ ang + self.M @ lin

    def matrix(self) -> list[list[Scalar]]:
        """Return all thirty-six entries."""
        I, H, M = self.I.full(), self.H, self.M.full()
        top = [[*I.row(i), *H.row(i)] for i in range(3)]
        return top + [[*H.column(i), *M.row(i)] for i in range(3)]


class ArticulatedInertia(_Blocks):
    """The inertia a body seems to have when others hang on it."""

    __slots__ = ()

    def __add__(self, other: RigidInertia | ArticulatedInertia) -> ArticulatedInertia:
        return super().__add__(other)

    def __sub__(self, other: RigidInertia | ArticulatedInertia) -> ArticulatedInertia:
        return super().__sub__(other)

    @overload
    def __matmul__(self, x: Motion) -> Force: ...
    @overload
    def __matmul__(self, x: MotionSpace) -> ForceSpace: ...

    def __matmul__(self, x: Motion | MotionSpace) -> Force | ForceSpace:
        if isinstance(x, MotionSpace):
            return ForceSpace(self @ m for m in x)
        _check_motion(x)
        return Force(*self._times(x.ang, x.lin))

    def without(self, U: ForceSpace, V: ForceSpace) -> ArticulatedInertia:
        """I - U Vᵀ, where U Vᵀ is symmetric: what is left when a joint gives way."""
        I, H, M = self.I, self.H, self.M
        for u, v in zip(U, V, strict=True):
            I = Sym3(map(_minus, I, _symmetric_dyad(u.ang, v.ang)))
            H = Mat3(map(_minus, H, [v.ang[i] * u.lin[j] for i in range(3) for j in range(3)]))
            M = Sym3(map(_minus, M, _symmetric_dyad(u.lin, v.lin)))
        return ArticulatedInertia(I, H, M)


class InverseInertia(_Blocks):
    """The inverse of an inertia, a map from forces to motions: featherstone1987, section 3.5.

    The sum of two is the inverse inertia between two bodies that one force drives apart. Because it makes motions,
    it changes coordinates as they do: `X @ Φ` is X Φ Xᵀ, in the child's coordinates.
    """

    __slots__ = ()

    def __add__(self, other: InverseInertia) -> InverseInertia:
        return super().__add__(other)

    def __sub__(self, other: InverseInertia) -> InverseInertia:
        return super().__sub__(other)

    @overload
    def __matmul__(self, x: Force) -> Motion: ...
    @overload
    def __matmul__(self, x: ForceSpace) -> MotionSpace: ...

    def __matmul__(self, x: Force | ForceSpace) -> Motion | MotionSpace:
        if isinstance(x, ForceSpace):
            return MotionSpace(self @ f for f in x)
        if type(x) is not Force:
            raise TraceError(f"an inverse inertia takes a force to a motion; it was given {article(x)}.")
        return Motion(*self._times(x.ang, x.lin))

    def seen_from(self, E: Mat3, r: Vec3) -> InverseInertia:
        """Return X Φ Xᵀ for X = [E 0; -E r× E]: the same in coordinates with origin r, rotated by E."""
        rx, J = skew(r), self.I.full()
        H = self.H + J.times(rx)
        M = self.M.full() - rx.times(H) + self.H.T.times(rx)
        return InverseInertia(congruence(E, self.I), E.times(H).times(E.T), congruence(E, upper(M)))


def _minus(a: Scalar, b: Scalar) -> Scalar:
    """a - b, where two constants that differ only by rounding differ by nothing: a joint leaves exact zeros."""
    if type(a) is float and type(b) is float and abs(a - b) <= 1e-15 * abs(a):
        return 0.0
    return a - b


def _symmetric_dyad(u: Vec3, v: Vec3) -> Sym3:
    return Sym3((v[0] * u[0], v[1] * u[1], v[2] * u[2], v[1] * u[2], v[0] * u[2], v[0] * u[1]))


def _check_motion(x: object) -> None:
    if type(x) is not Motion:
        raise TraceError(f"an inertia takes a motion to a force; it was given {article(x)}.")


def _inverse(A: Mat3) -> Mat3:
    """The inverse of a 3×3 matrix, from its cofactors."""
    r = [A.row(i) for i in range(3)]
    cofactors = [cross3(r[1], r[2]), cross3(r[2], r[0]), cross3(r[0], r[1])]
    scale = 1.0 / dot3(r[0], cofactors[0])
    return Mat3(cofactors[j][i] * scale for i in range(3) for j in range(3))
