"""Hybrid dynamics: at each joint either the force or the acceleration is given, and the other is found.

    H(q) qdd + C(q, qd) = tau

`known` is 1 where the acceleration is given and 0 where the force is. It is data: one program serves every choice,
which may differ from state to state and within a joint. A joint whose acceleration is given is rigid as far as the
inertia behind it is concerned.
Source: featherstone1987, section 7.5. A bare number in the margin is an equation there.
Differs from the source: instead of sorting joints by what is given, unknowns are masked; with m = 1 - known the
equations are solved with m D m + known in place of D. A robot whose mass matrix is singular has an answer where enough
accelerations are given.
"""

from __future__ import annotations

from typing import Any

from hinge.dynamics.articulated import coupled
from hinge.dynamics.composite import composite
from hinge.dynamics.motion import carried
from hinge.dynamics.newton_euler import newton_euler
from hinge.dynamics.registry import (
    ACCELERATION,
    BASE,
    BEYOND_BASE,
    EXTERNAL,
    FORCE,
    JOINTS_ONLY,
    KNOWN,
    POSITION,
    SPATIAL,
    VELOCITY,
    algorithm,
)
from hinge.dynamics.solve import LDL, plus_diagonal
from hinge.dynamics.weightless import idle, margins
from hinge.graph import select
from hinge.spatial import ArticulatedInertia, Force, ForceSpace, Motion, RigidInertia, comoving, cross

GIVEN: dict[str, Any] = {
    "q": POSITION, "qd": VELOCITY, "tau": FORCE, "qdd": ACCELERATION, "known": KNOWN, "external": EXTERNAL,
    "base_motion": BASE,
}  # fmt: skip
FOUND = {"tau": FORCE, "qdd": ACCELERATION}


@algorithm("hybrid_dynamics", priority=1, method="articulated", **GIVEN, returns=FOUND, pivots=True, refuses=coupled)
def hybrid_articulated(model, q, qd, tau, qdd, known, external, base_motion):
    """Forces where accelerations are given, accelerations where forces are: gives all of both, (tau, qdd).

    Takes q (nq), qd, tau and qdd (nv), and known (nv): 1 or True where the acceleration is given. Entries of tau where
    it is known, and of qdd where it is not, are not looked at. Gives tau and qdd, (nv) each.

    >>> arm = hinge.samples.planar_2r()
    >>> tau, qdd = arm.hybrid_dynamics([0.1, 0.2], [0.0, 0.0], [0.0, 3.0], [1.0, 0.0], [True, False])
    >>> float(qdd[0]), round(float(tau[1]), 12)
    (1.0, 3.0)
    """
    X, S, v, c, IA, pA, U, D, u, a = model.per_body(10)
    v[0], a[0] = comoving(base_motion[0], base_motion[1] - model.gravity_motion)
    IA[0], pA[0] = ArticulatedInertia(), Force()
    known = [[select(k, 1.0, 0.0) for k in row] for row in known]
    free = [[1.0 - k for k in row] for row in known]
    given = _where(known, qdd)

    # outward: velocities, and what is known of the accelerations with them
    for i, p in model.outward():
        joint, I = model.joint[i], model.inertia[i]
        X[i] = joint.transform(q[i]) @ model.placement[i]
        S[i] = joint.axes(q[i])
        v[i], product = carried(X[i], v[p], joint.velocity(q[i], qd[i]), joint.bias(q[i], qd[i]))
        c[i] = product + S[i] @ given[i]
        IA[i] = I.articulated()
        pA[i] = cross(v[i], I @ v[i]) - external[i]

    # inward: a joint gives way only where its force is given
    pivots = []
    for i, p in model.inward():
        U[i] = IA[i] @ S[i]
        full = plus_diagonal(S[i].T @ U[i], model.armature(i))
        D[i] = LDL(masked(full, free[i], known[i]), model.joint_label(i))
        asked = zip(known[i], tau[i], model.resistance(i, q, qd), S[i].T @ pA[i], strict=True)
        u[i] = [select(k, 0.0, t - r - f) for k, t, r, f in asked]
        W = ForceSpace(column * m for column, m in zip(U[i], free[i], strict=True))
        V = ForceSpace(D[i].solve(W))
        Ia = IA[i].without(W, V)  # (7.36) where known, (6.62) where not
        IA[p] = IA[p] + X[i].T @ Ia
        pA[p] = pA[p] + X[i].T @ (pA[i] + Ia @ c[i] + V @ u[i])  # (7.37), (6.63)
        pivots += D[i].pivots

    # outward: accelerations where they were open, forces where they were
    accelerations, forces = [], model.per_body(1)[0]
    for i, p in model.outward():
        a[i] = X[i] @ a[p] + c[i]
        felt = [m * y for m, y in zip(free[i], U[i].T @ a[i], strict=True)]
        answer = D[i].solve([x - y for x, y in zip(u[i], felt, strict=True)])
        answer = [m * x for m, x in zip(free[i], answer, strict=True)]
        a[i] = a[i] + S[i] @ answer
        motion = [g + x for g, x in zip(given[i], answer, strict=True)]
        rotor = [J * x for J, x in zip(model.armature(i), motion, strict=True)]
        parts = zip(S[i].T @ (IA[i] @ a[i] + pA[i]), rotor, model.resistance(i, q, qd), strict=True)
        found = [f + r + d for f, r, d in parts]  # (7.38)
        forces[i] = [select(k, f, t) for k, f, t in zip(known[i], found, tau[i], strict=True)]
        accelerations += motion
    if idle(model) is not None:
        pivots += margins(masked(composite(model, q), model.flat(free), model.flat(known)))
    return (forces, accelerations), pivots


@algorithm("hybrid_dynamics", method="composite", **GIVEN, returns=FOUND, pivots=True)
def hybrid_composite(model, q, qd, tau, qdd, known, external, base_motion):
    """Hybrid dynamics by way of the mass matrix."""
    known = [[select(k, 1.0, 0.0) for k in row] for row in known]
    mask = model.flat(known)
    free = [1.0 - k for k in mask]
    given = _where(known, qdd)
    C = model.generalised_forces(newton_euler(model, q, qd, given, external, base_motion))  # C' of (7.33)
    H = composite(model, q)
    solver = LDL(masked(H, free, mask), model.joint_label())
    asked = model.generalised_forces(tau)
    answer = solver.solve([select(k, 0.0, t - c) for k, t, c in zip(mask, asked, C, strict=True)])  # (7.34)
    answer = [m * x for m, x in zip(free, answer, strict=True)]
    motion = [x + k for x, k in zip(answer, model.flat(given), strict=True)]
    forces = []
    for row, c, k, t in zip(H, C, mask, asked, strict=True):
        total = c
        for h, x in zip(row, answer, strict=True):
            total = total + h * x
        forces.append(select(k, total, t))
    split = [[0.0] * joint.nv for joint in model.joint]
    for i in model.leaders:
        split[i] = forces[model.slices[i][1]]
    return (split, motion), solver.pivots if idle(model) is None else margins(masked(H, free, mask))


def _not_floating(model):
    free = model.count and model.joint[1].nv == 6 and model.children[0] == (1,) and 1 not in model.follows
    if not free:
        return "its first joint is not a free base that carries all the rest"
    return coupled(model)


@algorithm("floating_inverse_dynamics", q=POSITION, qd=VELOCITY, qdd_joints=JOINTS_ONLY, external=EXTERNAL,
           returns={"base_acceleration": SPATIAL, "tau": BEYOND_BASE}, pivots=True, refuses=_not_floating)  # fmt: skip
def floating_inverse(model, q, qd, qdd_joints, external):
    """For a robot with a floating base: the base's acceleration and the joint forces, from the joints' accelerations.

    Takes q (nq), qd (nv) and qdd_joints (nv - 6); gives the base's acceleration (6,), the first six entries of qdd,
    and the forces of the other joints (nv - 6), found in time proportional to the number of bodies. Nothing pushes the
    base but `external`.

    >>> brick = '''<robot name="brick"><link name="a"><inertial><mass value="1"/>
    ...   <inertia ixx="1" iyy="1" izz="1"/></inertial></link></robot>'''
    >>> falling = hinge.load(brick, base="floating")
    >>> falling.floating_inverse_dynamics(falling.neutral(), np.zeros(6), [])[0][5].round(2)
    np.float64(-9.81)
    """
    X, S, v, a, pb, IC, a0 = model.per_body(7)
    v[0], a[0] = Motion(), -model.gravity_motion
    IC[0], pb[0] = RigidInertia(), Force()

    # outward: velocities (7.26), and accelerations as if the base had none of its own (7.27)
    for i, p in model.outward():
        joint, I = model.joint[i], model.inertia[i]
        X[i] = joint.transform(q[i]) @ model.placement[i]
        S[i] = joint.axes(q[i])
        v[i], c = carried(X[i], v[p], joint.velocity(q[i], qd[i]), joint.bias(q[i], qd[i]))
        a[i] = X[i] @ a[p] + c + S[i] @ qdd_joints[i]
        IC[i] = I
        pb[i] = I @ a[i] + cross(v[i], I @ v[i]) - external[i]

    # inward: composite inertias (7.28) and bias forces (7.29)
    for i, p in model.inward():
        IC[p], pb[p] = IC[p] + X[i].T @ IC[i], pb[p] + X[i].T @ pb[i]

    # the base moves so that nothing pushes it (7.30); what it does adds to every force (7.25)
    D = LDL(plus_diagonal(S[1].T @ (IC[1] @ S[1]), model.armature(1)), model.joint_label(1))
    answer = D.solve([-x - r for x, r in zip(S[1].T @ pb[1], model.resistance(1, q, qd), strict=True)])
    a0[1] = S[1] @ answer
    tau = []
    for i, p in model.outward():
        if p:
            a0[i] = X[i] @ a0[p]
            rotor = [J * x for J, x in zip(model.armature(i), qdd_joints[i], strict=True)]
            parts = zip(S[i].T @ (IC[i] @ a0[i] + pb[i]), rotor, model.resistance(i, q, qd), strict=True)
            tau += [f + r + d for f, r, d in parts]  # (7.31)
    return (answer, tau), D.pivots


def masked(rows, free, known):
    """The matrix with the rows and columns of what is known made those of the identity."""
    return [
        [m * n * x + (k if r == c else 0.0) for c, (n, x) in enumerate(zip(free, row, strict=True))]
        for r, (m, k, row) in enumerate(zip(free, known, rows, strict=True))
    ]


def _where(known, values):
    """The values that are known, and zero for the others, whatever stands there."""
    return [[select(k, x, 0.0) for k, x in zip(ks, xs, strict=True)] for ks, xs in zip(known, values, strict=True)]
