"""Forward dynamics in one sweep inward and one outward, each link seen from the frame of the joint before it.

    L U = F        U: the reactions of joint i, and in the place of the one along its axis its acceleration

Source: nasser1990, sections 2.1, 2.2 and 2.3. A bare number in the margin is an equation there.
Differs from the source: forces and motions are angular first. L is the unit matrix but for the column of the axis, so
its inverse is written out: G F is F and a multiple of A* Z. The rotor's part of γ is put right, which makes M symmetric
(see docs/sources.toml). Joint forces enter where the axis is, gravity as an acceleration of the base. A joint that
turns and slides at once is both of the text's.
"""

from __future__ import annotations

from hinge.dynamics.articulated import coupled
from hinge.dynamics.registry import ACCELERATION, BASE, EXTERNAL, FORCE, POSITION, VELOCITY, algorithm
from hinge.dynamics.solve import LDL, plus_diagonal
from hinge.formulations.links import refuses
from hinge.spatial import ZERO, ArticulatedInertia, Force, ForceSpace, Motion, comoving, cross, cross3


@algorithm("forward_dynamics", q=POSITION, qd=VELOCITY, tau=FORCE, external=EXTERNAL, base_motion=BASE,
           returns=ACCELERATION, pivots=True, refuses=lambda model: refuses(model) or coupled(model))  # fmt: skip
def nasser(model, q, qd, tau, external, base_motion):
    """Accelerations that follow from joint forces, each link's equations in the frame of the joint before it."""
    J, Y, Z, w, A, B, s, sP, AZ, L, u, g = model.per_body(12)
    v, g[0] = comoving(base_motion[0], base_motion[1] - model.gravity_motion)
    J[0], w[0], A[0], B[0], s[0] = model.joint[0].transform(q[0]), v.ang, ArticulatedInertia(), Force(), Motion()

    # velocities, and each link by itself; w[i] is the angular velocity of link i in the frame of joint i
    for i, p in model.outward():
        joint = model.joint[i]
        J[i], Y[i], Z[i] = joint.transform(q[i]), model.placement[i] @ J[p], joint.axes(q[i])
        rate, before = Z[i] @ qd[i], Y[i].turned(w[p])
        w[i] = before + rate.ang
        s[i] = Motion(cross3(before, rate.ang), cross3(before, rate.lin + rate.lin))  # (2.1.13.2), (2.2.6)
        sP[i] = s[p] + Motion(ZERO, cross3(w[p], cross3(w[p], Y[i].pose()[1])))
        I = J[i].T @ model.inertia[i]  # (2.1.7.4)
        B[i] = cross(Motion(w[i]), I @ Motion(w[i])) + I @ s[i] - J[i].T @ external[i]  # (2.1.7.6), (2.2.4)
        A[i] = I.articulated()

    # inbound: what a joint leaves of the links beyond it is added to the link before it
    pivots = []
    for i, p in model.inward():
        AZ[i] = A[i] @ Z[i]
        L[i] = LDL(plus_diagonal(Z[i].T @ AZ[i], model.armature(i)), model.joint_label(i))  # (2.1.19.1)
        u[i] = [t - r - b for t, r, b in zip(tau[i], model.resistance(i, q, qd), Z[i].T @ B[i], strict=True)]
        G = ForceSpace(L[i].solve(AZ[i]))
        beyond = Y[i].T @ A[i].without(AZ[i], G)  # (2.1.19.4)
        A[p] = A[p] + beyond  # (2.1.19.3), (2.3.3)
        B[p] = B[p] + Y[i].T @ (B[i] + G @ u[i]) + beyond @ sP[i]  # (2.1.19.5), (2.1.19.6), (2.3.4)
        pivots += L[i].pivots

    # outbound: each joint answers, and the motion of the next frame follows
    qdd = []
    for i, p in model.outward():
        g[i] = Y[i] @ (g[p] + sP[i])  # (2.1.13)
        answer = L[i].solve([x - y for x, y in zip(u[i], AZ[i].T @ g[i], strict=True)])  # (2.1.20)
        g[i] = g[i] + Z[i] @ answer  # (2.1.13.1), (2.2.5)
        qdd += answer
    return qdd, pivots
