"""Three-dimensional vectors, matrices and symmetric matrices over any scalar.

They are tuples of scalars, so that a zero or a one among them is a plain number and costs nothing when traced.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from hinge.graph.expr import Scalar


class Vec3(tuple[Scalar, Scalar, Scalar]):
    """Three components."""

    __slots__ = ()

    def __add__(self, other: Vec3) -> Vec3:  # type: ignore[override]
        return Vec3((self[0] + other[0], self[1] + other[1], self[2] + other[2]))

    def __sub__(self, other: Vec3) -> Vec3:
        return Vec3((self[0] - other[0], self[1] - other[1], self[2] - other[2]))

    def __neg__(self) -> Vec3:
        return Vec3((-self[0], -self[1], -self[2]))

    def __mul__(self, s: Scalar) -> Vec3:
        return Vec3((self[0] * s, self[1] * s, self[2] * s))

    def __truediv__(self, s: Scalar) -> Vec3:
        return Vec3((self[0] / s, self[1] / s, self[2] / s))


ZERO = Vec3((0.0, 0.0, 0.0))


def vec3(values: Iterable[Scalar]) -> Vec3:
    """A vector from any three scalars."""
    x, y, z = values
    return Vec3((x, y, z))


def cross3(a: Vec3, b: Vec3) -> Vec3:
    """a × b."""
    return Vec3((a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]))


def dot3(a: Vec3, b: Vec3) -> Scalar:
    """a · b; of numbers, what rounding leaves where zero is meant is zero."""
    x, y, z = a[0] * b[0], a[1] * b[1], a[2] * b[2]
    total = x + y + z
    if type(x) is type(y) is type(z) is float and abs(total) <= 4e-16 * (abs(x) + abs(y) + abs(z)):
        return 0.0
    return total


class Mat3(tuple[Scalar, ...]):
    """A 3×3 matrix, its nine entries row by row."""

    __slots__ = ()

    def row(self, i: int) -> Vec3:
        return Vec3(self[3 * i : 3 * i + 3])

    def column(self, j: int) -> Vec3:
        return Vec3((self[j], self[3 + j], self[6 + j]))

    @property
    def T(self) -> Mat3:
        if self is IDENTITY:
            return self
        return Mat3((self[0], self[3], self[6], self[1], self[4], self[7], self[2], self[5], self[8]))

    def __matmul__(self, v: Vec3) -> Vec3:
        if self is IDENTITY:
            return v
        return Vec3((dot3(self.row(0), v), dot3(self.row(1), v), dot3(self.row(2), v)))

    def times(self, other: Mat3) -> Mat3:
        """The matrix product."""
        if self is IDENTITY or other is IDENTITY:
            return other if self is IDENTITY else self
        columns = [self @ other.column(j) for j in range(3)]
        return Mat3(columns[j][i] for i in range(3) for j in range(3))

    def __add__(self, other: Sequence[Scalar]) -> Mat3:
        return Mat3(a + b for a, b in zip(self, other, strict=True))

    def __sub__(self, other: Sequence[Scalar]) -> Mat3:
        return Mat3(a - b for a, b in zip(self, other, strict=True))

    def __neg__(self) -> Mat3:
        return Mat3(-a for a in self)

    def __mul__(self, s: Scalar) -> Mat3:
        return Mat3(a * s for a in self)


IDENTITY = Mat3((1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0))
NOTHING = Mat3((0.0,) * 9)


def mat3(rows: Iterable[Iterable[Scalar]]) -> Mat3:
    """A matrix from three rows of three scalars."""
    return Mat3(x for row in rows for x in row)


def skew(v: Vec3) -> Mat3:
    """The matrix of v ×."""
    return Mat3((0.0, -v[2], v[1], v[2], 0.0, -v[0], -v[1], v[0], 0.0))


_AT = ((0, 5, 4), (5, 1, 3), (4, 3, 2))  # where entry (i, j) of a symmetric matrix is kept


class Sym3(tuple[Scalar, ...]):
    """A symmetric 3×3 matrix: xx, yy, zz, yz, xz, xy. What is equal is computed once."""

    __slots__ = ()

    @staticmethod
    def place(i: int, j: int) -> int:
        """Where entry (i, j) is kept."""
        return _AT[i][j]

    def at(self, i: int, j: int) -> Scalar:
        return self[_AT[i][j]]

    def __add__(self, other: Sym3) -> Sym3:  # type: ignore[override]
        return Sym3(a + b for a, b in zip(self, other, strict=True))

    def __sub__(self, other: Sym3) -> Sym3:
        return Sym3(a - b for a, b in zip(self, other, strict=True))

    def __mul__(self, s: Scalar) -> Sym3:
        return Sym3(a * s for a in self)

    def __matmul__(self, v: Vec3) -> Vec3:
        xx, yy, zz, yz, xz, xy = self
        x, y, z = v
        return Vec3((xx * x + xy * y + xz * z, xy * x + yy * y + yz * z, xz * x + yz * y + zz * z))

    def full(self) -> Mat3:
        """All nine entries."""
        xx, yy, zz, yz, xz, xy = self
        return Mat3((xx, xy, xz, xy, yy, yz, xz, yz, zz))


NO_SYM = Sym3((0.0,) * 6)


def sym3(rows: Sequence[Sequence[Scalar]]) -> Sym3:
    """The symmetric matrix whose upper triangle is that of `rows`."""
    return Sym3((rows[0][0], rows[1][1], rows[2][2], rows[1][2], rows[0][2], rows[0][1]))


def upper(m: Mat3) -> Sym3:
    """A full matrix known to be symmetric."""
    return Sym3((m[0], m[4], m[8], m[5], m[2], m[1]))


def congruence(E: Mat3, S: Sym3) -> Sym3:
    """E S Eᵀ."""
    if E is IDENTITY:
        return S
    half = E.times(S.full())
    rows = [half.row(i) for i in range(3)]
    e = [E.row(i) for i in range(3)]
    return Sym3(dot3(rows[i], e[j]) for i, j in ((0, 0), (1, 1), (2, 2), (1, 2), (0, 2), (0, 1)))
