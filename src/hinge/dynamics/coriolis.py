"""The Coriolis matrix: the velocity forces as a matrix on the velocities.

    C(q, qd) qd + gravity = bias,      dH/dt - 2 C skew

Of the many matrices with the first property this is the one of the Christoffel symbols, where velocities are rates
of coordinates, and its like for quaternion joints. For one body with inertia I and velocity v it is

    B = ½ (v × I - I v × + (I v) ×̄ ),   with f ×̄ m = m × f

which gives B v = v × I v, and B + Bᵀ is the rate of I. Composite bodies are summed as in composite.py.
In base coordinates B needs only twelve numbers, and those of a composite body are sums.
Source: ours; the parts are featherstone1987 (2.27), (3.7) and (5.10), numbers in the margin.
"""

from __future__ import annotations

from hinge.dynamics.kinematics import (
    axes_in_base,
    axis_rates_in_base,
    joint_velocities_in_base,
    poses,
    velocities_in_base,
)
from hinge.dynamics.registry import MATRIX, POSITION, VELOCITY, algorithm
from hinge.model.driven import driven
from hinge.spatial import Force, Mat3, Rigid, Transform, Vec3, cross3, dot, skew


class Turning:
    """B, as a map from motions to forces: [B₁₁ 0; -p× 0] with p the linear momentum."""

    def __init__(self, B: Mat3, p: Vec3):
        self.B, self.p = B, p

    @classmethod
    def of(cls, I, v):
        h, n = I.h, I @ v
        wx, ux, hx, J = skew(v.ang), skew(v.lin), skew(h), I.I.full()
        twice = wx.times(J) - J.times(wx) - ux.times(hx) - hx.times(ux) - skew(n.ang)
        return cls(twice * 0.5, n.lin)

    def __add__(self, other):
        return Turning(self.B + other.B, self.p + other.p)

    def __matmul__(self, m):
        return Force(self.B @ m.ang, -cross3(self.p, m.ang))

    def transposed(self, m):
        return Force(self.B.T @ m.ang + cross3(self.p, m.lin))


@algorithm("coriolis_matrix", q=POSITION, qd=VELOCITY, returns=MATRIX, refuses=driven)
def coriolis(model, q, qd):
    """The matrix C with C qd the velocity forces and dH/dt - 2 C skew.

    Takes q (nq) and qd (nv); gives (nv, nv). It is the one of the Christoffel symbols where velocities are rates of
    coordinates. Gravity is not in it.

    >>> hinge.samples.planar_2r().coriolis_matrix([0.0, 0.0], [1.0, 0.0]).shape
    (2, 2)
    """
    R, r = poses(model, q)
    S = axes_in_base(model, q, R, r)
    v = velocities_in_base(model, joint_velocities_in_base(model, q, qd, S, R, r))
    Sd = axis_rates_in_base(model, q, qd, S, v, R, r)  # (2.27)

    IC, BC = model.per_body(2)
    for i, _ in model.outward():
        IC[i] = Transform(Rigid(R[i].T, r[i])).T @ model.inertia[i]
        BC[i] = Turning.of(IC[i], v[i])  # (3.7)

    # inward: as for the mass matrix, with the rates of axes and inertias beside them
    C = {}
    for j, p in model.inward():
        for i in _up(model, j):
            C[i, j] = [[dot(s, IC[j] @ sd + BC[j] @ t) for t, sd in zip(S[j], Sd[j], strict=True)] for s in S[i]]
            if i != j:
                C[j, i] = [
                    [dot(sd, IC[j] @ t) + dot(s, BC[j].transposed(t)) for s, sd in zip(S[i], Sd[i], strict=True)]
                    for t in S[j]
                ]
        if p:
            IC[p], BC[p] = IC[p] + IC[j], BC[p] + BC[j]  # (5.7)
    return model.generalised_matrix(C)


def _up(model, j):
    return [j, *(k for _, k in model.toward_base(j))]
