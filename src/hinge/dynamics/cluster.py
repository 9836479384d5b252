"""Forward dynamics of robots with coupled joints, in time proportional to the number of bodies.

    qdd = (Gᵀ H G)⁻¹ (tau - Gᵀ C)

The articulated-body method with clusters: joints that move together (mimic joints, geared rotors) and all that lies
between them form one joint of several bodies, on the nearest body that carries them all. A joint that is coupled to
nothing is a cluster of one, and then this is articulated.py with its transforms applied first.
Source: ours, after featherstone1987, section 6.4; numbers in the margin are equations there, of which these are the
forms for clusters.
"""

from __future__ import annotations

from hinge.dynamics.motion import carried
from hinge.dynamics.registry import ACCELERATION, BASE, EXTERNAL, FORCE, POSITION, VELOCITY, algorithm
from hinge.dynamics.solve import LDL, plus_diagonal
from hinge.spatial import ArticulatedInertia, Force, ForceSpace, Motion, MotionSpace, comoving, cross


@algorithm("forward_dynamics", priority=2, serves="articulated", q=POSITION, qd=VELOCITY, tau=FORCE, external=EXTERNAL,
           base_motion=BASE, returns=ACCELERATION, pivots=True, competes=True)  # fmt: skip
def cluster(model, q, qd, tau, external, base_motion):
    """Accelerations that follow from joint forces, by articulated clusters of coupled bodies."""
    X, S, v, c, IA, pA, J, cr, a = model.per_body(9)
    v[0], a[0] = comoving(base_motion[0], base_motion[1] - model.gravity_motion)
    IA[0], pA[0] = ArticulatedInertia(), Force()

    # outward: velocities, and the force each body needs on their account
    for i, p in model.outward():
        joint, I = model.joint[i], model.inertia[i]
        X[i] = joint.transform(q[i]) @ model.placement[i]
        S[i] = joint.axes(q[i])
        v[i], c[i] = carried(X[i], v[p], joint.velocity(q[i], qd[i]), joint.bias(q[i], qd[i]))  # (6.60), (6.56)
        IA[i] = I.articulated()
        pA[i] = cross(v[i], I @ v[i]) - external[i]  # (6.61)

    # inward, cluster by cluster: what its bodies do for each of its velocities, and what is left for the one below
    solved, pivots = [], []
    for group in reversed(model.clusters):
        Y = _travel(model, group, X)
        for i in group.bodies:
            p = model.parent[i]
            inner = p in group.bodies
            below = X[i] @ J[p] if inner else MotionSpace([Motion()] * group.nv)
            J[i] = MotionSpace(b + s for b, s in zip(below, group.columns(model, i, S[i]), strict=True))
            cr[i] = X[i] @ cr[p] + c[i] if inner else c[i]
        D = _sum_matrix([J[i].T @ (IA[i] @ J[i]) for i in group.bodies], group.nv)
        D = LDL(plus_diagonal(D, group.armature(model)), group.joint_label(model))  # (6.58)
        bias = {i: pA[i] + IA[i] @ cr[i] for i in group.bodies}
        u = group.forces(model, q, qd, tau)
        for i in group.bodies:
            u = [x - y for x, y in zip(u, J[i].T @ bias[i], strict=True)]  # (6.59)
        U = ForceSpace([Force()] * group.nv)
        whole, force = ArticulatedInertia(), Force()
        for i in group.bodies:
            U = ForceSpace(x + y for x, y in zip(U, Y[i].T @ (IA[i] @ J[i]), strict=True))  # (6.57)
            whole, force = whole + Y[i].T @ IA[i], force + Y[i].T @ bias[i]
        V = ForceSpace(D.solve(U))
        IA[group.base] = IA[group.base] + whole.without(U, V)  # (6.62)
        pA[group.base] = pA[group.base] + force + V @ u  # (6.63)
        solved.append((group, Y, D, U, u))
        pivots += D.pivots

    # outward: each cluster answers for itself
    qdd = [0.0] * model.nv
    for group, Y, D, U, u in reversed(solved):
        answer = D.solve([x - y for x, y in zip(u, U.T @ a[group.base], strict=True)])  # (6.65)
        for i in group.bodies:
            a[i] = Y[i] @ a[group.base] + cr[i] + J[i] @ answer  # (6.64)
        for k, x in zip(group.velocities, answer, strict=True):
            qdd[k] = x
    return qdd, pivots


def _travel(model, group, X):
    """For each body of a cluster the transform from the body that carries it."""
    Y = {}
    for i in group.bodies:
        p = model.parent[i]
        Y[i] = X[i] @ Y[p] if p in Y else X[i]
    return Y


def _sum_matrix(matrices, n):
    total = [[0.0] * n for _ in range(n)]
    for m in matrices:
        total = [[x + y for x, y in zip(a, b, strict=True)] for a, b in zip(total, m, strict=True)]
    return total
