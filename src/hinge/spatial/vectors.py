"""Spatial motions and forces, and the spaces they span.

A motion is [ω; v], a force [couple; force]: angular before linear, so that a plain transpose gives power. A motion
is not a force: adding one to the other is an error. The derivations are in featherstone1987, chapters 2 and 3.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Self, TypeVar

from hinge.errors import TraceError
from hinge.graph.expr import Scalar
from hinge.spatial.linear3 import ZERO, Vec3, cross3, dot3


class Tensor:
    """A spatial vector or inertia: something that a number scales, from either side."""

    __slots__ = ()
    __array_ufunc__ = None  # NumPy leaves `np.float64(2.0) * m` to the tensor

    def _scaled(self, scale: Scalar) -> Self:
        raise NotImplementedError

    def __mul__(self, scale: Scalar) -> Self:
        try:
            if not isinstance(scale, Tensor | tuple | list | str):
                return self._scaled(scale)
        except TypeError:  # of something that multiplies no number
            pass
        raise TraceError(
            f"{article(self)} is multiplied by a number; it was given {article(scale)}.\n"
            "  An inertia is applied with @; dot(motion, force) is a power."
        )

    __rmul__ = __mul__


def article(x: object) -> str:
    """Return the name of an operand's type after its article."""
    name = type(x).__name__
    return f"{'an' if name[0] in 'AEIOaeiou' else 'a'} {name}"


class _Spatial(Tensor):
    """What motions and forces share: two three-vectors that add and scale."""

    __slots__ = ("ang", "lin")

    def __init__(self, ang: Vec3 = ZERO, lin: Vec3 = ZERO):
        self.ang, self.lin = ang, lin

    def _same(self, other: object, doing: str) -> None:
        if type(other) is not type(self):
            mine, theirs = type(self).__name__.lower(), type(other).__name__.lower()
            raise TraceError(
                f"cannot {doing} a {mine} and a {theirs}: they are dual to each other.\n"
                "  An inertia takes a motion to a force; dot(motion, force) is their power."
            )

    def __add__(self, other: Self) -> Self:
        self._same(other, "add")
        return type(self)(self.ang + other.ang, self.lin + other.lin)

    def __sub__(self, other: Self) -> Self:
        self._same(other, "subtract")
        return type(self)(self.ang - other.ang, self.lin - other.lin)

    def __neg__(self) -> Self:
        return type(self)(-self.ang, -self.lin)

    def _scaled(self, scale: Scalar) -> Self:
        return type(self)(self.ang * scale, self.lin * scale)

    def __truediv__(self, s: Scalar) -> Self:
        return type(self)(self.ang / s, self.lin / s)

    def __iter__(self) -> Iterator[Scalar]:
        yield from self.ang
        yield from self.lin

    def __repr__(self) -> str:
        return f"{type(self).__name__}(ang={tuple(self.ang)}, lin={tuple(self.lin)})"


class Motion(_Spatial):
    """A spatial velocity or acceleration."""

    __slots__ = ()


class Force(_Spatial):
    """A spatial force or momentum."""

    __slots__ = ()


V = TypeVar("V", Motion, Force)


def cross(v: Motion, x: V) -> V:
    """The rate of change of x when it is carried along with velocity v.

    On a motion [ω × ω'; ω × v' + v × ω'], on a force [ω × n + v × f; ω × f].
    """
    if type(v) is not Motion or not isinstance(x, Motion | Force):
        kinds = f"{type(v).__name__} and a {type(x).__name__}"
        raise TraceError(f"cross takes a motion and then a motion or a force, not a {kinds}.")
    ang, lin = cross3(v.ang, x.ang), cross3(v.ang, x.lin)
    if isinstance(x, Motion):
        return type(x)(ang, lin + cross3(v.lin, x.ang))
    return type(x)(ang + cross3(v.lin, x.lin), lin)


def dot(m: Motion, f: Force) -> Scalar:
    """The power of a force on a motion."""
    if type(m) is not Motion or type(f) is not Force:
        raise TraceError(f"dot takes a motion and a force, not a {type(m).__name__} and a {type(f).__name__}.")
    return dot3(m.ang, f.ang) + dot3(m.lin, f.lin)


def comoving(v: Motion, a: Motion) -> tuple[Motion, Motion]:
    """Velocity and acceleration as seen by an observer who moves with the origin, in a straight line, at its speed.

    By Galileo's principle the laws of motion do not notice. To that observer the origin is at rest, so the linear
    velocity is zero, and the linear part of the acceleration is the origin's own: the conventional, not the spatial.
    """
    return Motion(v.ang), Motion(a.ang, a.lin + cross3(v.ang, v.lin))


def _check_numbers(space: str, given: object) -> None:
    """Raise where a space of vectors is applied to an inertia."""
    if isinstance(given, Tensor) and not isinstance(given, _Spatial):
        raise TraceError(f"a space of {space} takes one number per column; it was given {article(given)}.")


class MotionSpace(tuple[Motion, ...]):
    """The motions a joint allows, one column a freedom: S."""

    __slots__ = ()

    def __matmul__(self, rates: Sequence[Scalar]) -> Motion:
        _check_numbers("motions", rates)
        total = Motion()
        for column, rate in zip(self, rates, strict=True):
            total = total + column * rate
        return total

    @property
    def T(self) -> _Working:
        return _Working(self)


class ForceSpace(tuple[Force, ...]):
    """Forces side by side, one column a freedom."""

    __slots__ = ()

    def __matmul__(self, sizes: Sequence[Scalar]) -> Force:
        _check_numbers("forces", sizes)
        total = Force()
        for column, size in zip(self, sizes, strict=True):
            total = total + column * size
        return total

    @property
    def T(self) -> _Resisting:
        return _Resisting(self)


class _Working(tuple[Motion, ...]):
    """Sᵀ: a force goes to the parts of it that do work, one a freedom; forces side by side go to a matrix."""

    __slots__ = ()

    def __matmul__(self, f: Force | ForceSpace) -> list[Scalar] | list[list[Scalar]]:
        if isinstance(f, ForceSpace):
            return [[dot(m, column) for column in f] for m in self]
        return [dot(m, f) for m in self]


class _Resisting(tuple[Force, ...]):
    """Uᵀ: a motion goes to the power of each force on it."""

    __slots__ = ()

    def __matmul__(self, m: Motion) -> list[Scalar]:
        return [dot(m, f) for f in self]
