"""4×4 matrices over any scalar: rotation and translation in one, as Denavit and Hartenberg write them."""

from __future__ import annotations

from hinge.graph.expr import Scalar
from hinge.graph.scalars import total
from hinge.spatial.linear3 import IDENTITY, NOTHING, ZERO, Mat3, Vec3

LINE = (0, 1, 2, 3)


class Mat4(tuple[Scalar, ...]):
    """Its sixteen entries row by row."""

    __slots__ = ()

    @classmethod
    def of(cls, R: Mat3 = NOTHING, p: Vec3 = ZERO, corner: Scalar = 0.0) -> Mat4:
        """[R p; 0 corner]: a pose where the corner is one, a rate of a pose where it is zero."""
        return cls((*R[:3], p[0], *R[3:6], p[1], *R[6:], p[2], 0.0, 0.0, 0.0, corner))

    @property
    def T(self) -> Mat4:
        return Mat4(self[4 * j + i] for i in LINE for j in LINE)

    def column(self, j: int) -> tuple[Scalar, ...]:
        return self[j::4]

    def __matmul__(self, other: Mat4) -> Mat4:
        columns = [other[j::4] for j in LINE]
        return Mat4([_dot(self[4 * i : 4 * i + 4], column) for i in LINE for column in columns])

    def __add__(self, other: tuple[Scalar, ...]) -> Mat4:
        return Mat4(a + b for a, b in zip(self, other, strict=True))

    def __sub__(self, other: tuple[Scalar, ...]) -> Mat4:
        return Mat4(a - b for a, b in zip(self, other, strict=True))

    def __mul__(self, s: Scalar) -> Mat4:
        return Mat4(a * s for a in self)


ONE4 = Mat4.of(IDENTITY, ZERO, 1.0)
ZERO4 = Mat4.of()


def _dot(a: tuple[Scalar, ...], b: tuple[Scalar, ...]) -> Scalar:
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3]


def trace(A: Mat4) -> Scalar:
    """The sum of the diagonal."""
    return A[0] + A[5] + A[10] + A[15]


def trace_of_product(A: Mat4, B: Mat4) -> Scalar:
    """tr(A B), without the entries of the product that are not on its diagonal."""
    return total(_dot(A[4 * i : 4 * i + 4], B[i::4]) for i in LINE)
