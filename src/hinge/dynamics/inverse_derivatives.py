"""Derivatives of inverse dynamics: how joint forces change with coordinates, velocities and accelerations.

    dtau = ∂tau/∂q dq + ∂tau/∂qd dqd + H dqdd

When a joint moves along one of its axes s, everything beyond it moves along. As seen from there velocities and
accelerations change, everywhere beyond, by the motions

    Pd = v × s      Pdd = a × s + v × Pd        v, a of the parent, gravity in

and with a unit of velocity along s by s and Sd = 2 v × s + vJ × s. Such a pair of changes asks for the forces
2 B Pd + I Pdd, with I the inertia of the composite body beyond and B as in turning.py. Joints further out feel them as
(2 Bᵀ S) · Pd + (I S) · Pdd. Joints further in feel them too, and that the force through the joint, f, is carried along:
s × f. Where axes depend on q, what that adds is found by differentiation. Columns of q are along `integrate`.
Source: turney1981, section 7, differentiated; the derivatives by motions are those of singh2022, after carpentier2018.
Differs from them: bodies are in their own coordinates, and at each joint the observer moves with that point of the
parent which the body's origin is passing, so v has no linear part. The matrix A of turney.py has Pdd in it, and along a
joint's line the child's serves as well as the parent's. Any joint, driven ones too; the base may move.
"""

from __future__ import annotations

from hinge.dynamics.registry import ACCELERATION, BASE, EXTERNAL, POSITION, SLOPES, VELOCITY, algorithm
from hinge.dynamics.solve import plus_diagonal
from hinge.dynamics.tangents import joint_slopes, load_slopes, resistance_slopes
from hinge.dynamics.turney import acceleration_matrix, needed, outward
from hinge.dynamics.turning import Turning, Way
from hinge.spatial import Force, ForceSpace, Motion, cross, cross3, dot


@algorithm("inverse_dynamics_derivatives", q=POSITION, qd=VELOCITY, qdd=ACCELERATION, external=EXTERNAL,
           base_motion=BASE, returns=SLOPES, competes=True, regroups=True)  # fmt: skip
def inverse_derivatives(model, q, qd, qdd, external, base_motion):
    """How the joint forces of `inverse_dynamics` change: ∂tau/∂q, ∂tau/∂qd and ∂tau/∂qdd, side by side.

    Takes q (nq), qd and qdd (nv); gives (nv, 3 nv), in N m and N for each rad, m, rad/s, … Columns of q are along
    `integrate`; the last nv columns are the mass matrix. Forces given as `external` stay as they are in the coordinates
    they are given in.

    >>> arm = hinge.samples.puma560()
    >>> arm.kernel("inverse_dynamics_derivatives")(arm.neutral(), np.zeros(6), np.zeros(6)).shape
    (6, 18)
    """
    return side_by_side(*slopes(model, q, qd, qdd, external, base_motion))


def side_by_side(*matrices):
    """Matrices as one, each to the right of the one before."""
    return [[x for row in rows for x in row] for rows in zip(*matrices, strict=True)]


def slopes(model, q, qd, qdd, external, base_motion):
    """∂tau/∂q, ∂tau/∂qd and ∂tau/∂qdd, each over the user's velocities."""
    X, way, S, slip, Pd, Pdd, Sd, dS, omega, f, BC = model.per_body(11)
    omega[0], f[0], BC[0], IC = base_motion[0].ang, Force(), Turning(), list(model.inertia)

    # outward: the force each body needs; how its motion changes along each axis of its joint, and with each velocity
    for i, body in outward(model, q, qd, qdd, base_motion):
        joint, p = model.joint[i], model.parent[i]
        X[i], S[i], slip[i], omega[i] = body.X, body.S, body.across.lin * 2.0, body.omega
        way[i] = Way(X[i], omega[p])
        f[i] = needed(IC[i], body.A, body.a) - external[i]
        BC[i] = Turning.twice(IC[i], omega[i])
        w, A = (body.omega, body.A) if joint.line else (body.w, acceleration_matrix(body.w, body.wd))
        v = Motion(body.w + body.w) + body.across
        dS[i], dv, da, dc = joint_slopes(joint, q[i], qd[i], qdd[i])
        turned = [Motion(cross3(w, s.ang), cross3(w, s.lin)) for s in S[i]]
        Pd[i] = [d + own for d, own in zip(turned, dv, strict=True)]
        Pdd[i] = [
            Motion(A @ s.ang, A @ s.lin + cross3(body.there, s.ang)) + cross(v, own) + more
            for s, own, more in zip(S[i], dv, da, strict=True)
        ]
        Sd[i] = [d + d + cross(body.across, s) + own for s, d, own in zip(S[i], turned, dc, strict=True)]

    # inward: the forces of a composite body change with the joints that carry it, and those with its own joint
    dq, dqd, H = {}, {}, {}
    for i, p in model.inward():
        I, T = IC[i], BC[i].observed(IC[i].m, IC[i].h, slip[i])
        U, C = ForceSpace(I @ s for s in S[i]), ForceSpace(T.transposed(s) for s in S[i])
        Fq = ForceSpace(T @ d + I @ dd for d, dd in zip(Pd[i], Pdd[i], strict=True))
        Fv = ForceSpace(T @ s + I @ d for s, d in zip(S[i], Sd[i], strict=True))
        own = [[dot(s, f[i]) for s in axes] for axes in zip(*dS[i], strict=True)]
        dq[i, i] = [[x + y for x, y in zip(*rows, strict=True)] for rows in zip(S[i].T @ Fq, own, strict=True)]
        dqd[i, i] = S[i].T @ Fv
        H[i, i] = plus_diagonal(S[i].T @ U, model.armature(i))
        Fq = ForceSpace(g + cross(s, f[i]) for g, s in zip(Fq, S[i], strict=True))
        for k, j in model.toward_base(i):
            pairs = [way[k].felt_inward(u, c) for u, c in zip(U, C, strict=True)]
            U, C = ForceSpace(u for u, _ in pairs), ForceSpace(c + Force(cross3(slip[j], u.lin)) for u, c in pairs)
            Fq, Fv = X[k].T @ Fq, X[k].T @ Fv
            H[j, i] = S[j].T @ U
            H[i, j] = [list(column) for column in zip(*H[j, i], strict=True)]
            dq[i, j], dq[j, i] = changed(U, C, Pd[j], Pdd[j]), S[j].T @ Fq
            dqd[i, j], dqd[j, i] = changed(U, C, S[j], Sd[j]), S[j].T @ Fv
        I, T = way[i].inward(I, T)
        IC[p], BC[p], f[p] = IC[p] + I, BC[p] + T, f[p] + X[i].T @ f[i]

    by_q, by_qd = resistance_slopes(model, q, qd)
    load = load_slopes(model, q, external, X, S)
    dq = plus(plus(model.generalised_matrix(dq), by_q), load)
    return dq, plus(model.generalised_matrix(dqd), by_qd), model.generalised_matrix(H)


def changed(U, C, first, second):
    """The change of joint forces, a row each, with changes of velocity and acceleration nearer to the base."""
    return [[dot(a, c) + dot(b, u) for a, b in zip(first, second, strict=True)] for u, c in zip(U, C, strict=True)]


def plus(A, B):
    """The sum of two matrices."""
    return [[x + y for x, y in zip(*rows, strict=True)] for rows in zip(A, B, strict=True)]
