"""How the force on a turning body changes with its velocity, and how that is carried inward.

For one body with inertia I and velocity v

    B = ½ (v × I - I v × + (I v) ×̄ ),   with f ×̄ m = m × f

is a map from motions to forces: B v = v × I v, B + Bᵀ is the rate of I, and where a velocity and an acceleration change
by motions d and e that are fixed in space, the force the body needs changes by 2 B d + I e. Composite bodies are sums.
Twelve of its numbers are not zero:

    [ B₁₁  0 ]
    [ -p×  0 ]        p the linear momentum

By Galileo's principle forces do not notice who looks, but B does: to an observer to whom the body moves by u besides,

    B₁₁ becomes B₁₁ - h × u ×      p becomes p + m u      Bᵀ m becomes Bᵀ m + u × f, with f the linear part of I m

To one who moves with the body's origin B₁₁ and p have the fewest products. On the way inward the observer changes shift
by shift, because a shift along a coordinate axis is cheap.
Source: ours; the parts are featherstone1987 (2.27) and (3.7).
"""

from __future__ import annotations

from hinge.dynamics.turney import pseudo
from hinge.graph import Scalar
from hinge.spatial import Force, Mat3, Motion, RigidInertia, Transform, Vec3, cross3, skew
from hinge.spatial.linear3 import NOTHING, ZERO
from hinge.spatial.transform import Factor


class Turning:
    """B, or twice that, as a map from motions to forces."""

    def __init__(self, B: Mat3 = NOTHING, p: Vec3 = ZERO):
        self.B, self.p = B, p

    @classmethod
    def of(cls, I: RigidInertia, v: Motion) -> Turning:
        """B of a body with that velocity."""
        h, n = I.h, I @ v
        wx, ux, hx, J = skew(v.ang), skew(v.lin), skew(h), I.I.full()
        twice = wx.times(J) - J.times(wx) - ux.times(hx) - hx.times(ux) - skew(n.ang)
        return cls(twice * 0.5, n.lin)

    @classmethod
    def twice(cls, I: RigidInertia, omega: Vec3) -> Turning:
        """2 B of a body that turns about its origin: B₁₁ = -ω × Σ, with Σ the second moments of mass."""
        moments = pseudo(I.I).full() * 2.0
        columns = [cross3(moments.column(j), omega) for j in range(3)]
        return cls(Mat3(columns[j][i] for i in range(3) for j in range(3)), cross3(omega, I.h * 2.0))

    def __add__(self, other: Turning) -> Turning:
        return Turning(self.B + other.B, self.p + other.p)

    def __matmul__(self, m: Motion) -> Force:
        return Force(self.B @ m.ang, -cross3(self.p, m.ang))

    def transposed(self, m: Motion) -> Force:
        return Force(self.B.T @ m.ang + cross3(self.p, m.lin))

    def observed(self, m: Scalar, h: Vec3, u: Vec3) -> Turning:
        """To an observer to whom the body, of mass m and first moment h, moves by u besides."""
        return Turning(self.B - skew(h).times(skew(u)), self.p + u * m)

    def about(self, r: Vec3) -> Turning:
        """About a point from which the origin is at r."""
        return Turning(self.B - skew(r).times(skew(self.p)), self.p)


class Way:
    """The way across a joint: the factors of its transform, with twice the speed of each one's far end.

    That speed is the one the parent's turning makes, and is seen from the near end.
    """

    def __init__(self, X: Transform, omega: Vec3):
        self.steps: list[tuple[Factor, Vec3]] = []
        for factor in X.factors:
            self.steps.insert(0, (factor, cross3(omega, factor.r * 2.0)))
            omega = factor.turned(omega)

    def inward(self, I: RigidInertia, T: Turning) -> tuple[RigidInertia, Turning]:
        """A body's inertia and twice its B in the parent's coordinates."""
        for factor, u in self.steps:
            turned = Turning(factor.tensor_back(T.B), factor.back(T.p))
            T = turned.observed(I.m, factor.back(I.h), u).about(factor.r)
            I = factor.rigid_back(I)
        return I, T

    def felt_inward(self, U: Force, C: Force) -> tuple[Force, Force]:
        """U = I m and C = 2 Bᵀ m, of a motion m of the body, in the parent's coordinates."""
        for factor, u in self.steps:
            C = Force(factor.back(C.ang) + cross3(u, factor.back(U.lin)))
            U = factor.force_back(U)
        return U, C
