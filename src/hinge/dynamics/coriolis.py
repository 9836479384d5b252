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
from hinge.dynamics.turning import Turning
from hinge.model.driven import driven
from hinge.spatial import Rigid, Transform, dot


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
