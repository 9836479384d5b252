"""Forward dynamics in time proportional to the number of bodies.

    qdd = H(q)⁻¹ (tau - C(q, qd))

Articulated-body method, each body in its own coordinates.
Source: featherstone1987, section 6.4, and 7.2 and 7.4 for trees and joints of several freedoms. A bare number in the
margin is an equation there.
Differs from the source: velocities and accelerations are those seen by an observer who moves with each body's origin
(see motion.py), which changes no force; the bias force is handed on through the inertia that is left.
"""

from __future__ import annotations

from hinge.dynamics.motion import carried
from hinge.dynamics.registry import ACCELERATION, BASE, EXTERNAL, FORCE, POSITION, VELOCITY, algorithm
from hinge.dynamics.solve import LDL, plus_diagonal
from hinge.spatial import ArticulatedInertia, Force, ForceSpace, comoving, cross


def coupled(model):
    names = [model.joint_name[i] for i in model.follows]
    return f"joint {names[0]!r} follows another" if names else ""


@algorithm("forward_dynamics", priority=3, q=POSITION, qd=VELOCITY, tau=FORCE, external=EXTERNAL, base_motion=BASE,
           returns=ACCELERATION, pivots=True, refuses=coupled, competes=True, rolls=True)  # fmt: skip
def articulated(model, q, qd, tau, external, base_motion):
    """Accelerations that follow from joint forces: qdd = H(q)⁻¹ (tau - C(q, qd)).

    Takes q (nq), qd and tau (nv); gives qdd (nv). Gravity and armature are in, and what else `joint_terms` names.
    `external` adds known forces on bodies; `base_motion` is the base's spatial velocity and acceleration in its own
    coordinates, gravity not included. A state whose equations are singular gives a row of NaN.

    >>> arm = hinge.samples.pendulum(1)
    >>> arm.forward_dynamics([0.0], [0.0], [0.0])
    array([0.])
    """
    X, S, v, c, IA, pA, U, D, u, a, pivots, qdd = model.per_body(12)
    v[0], a[0] = comoving(base_motion[0], base_motion[1] - model.gravity_motion)  # (6.45)
    IA[0], pA[0] = ArticulatedInertia(), Force()

    # outward: velocities, and the force each body needs on their account
    for i, p in model.outward():
        joint, I = model.joint[i], model.inertia[i]
        X[i] = joint.transform(q[i]) @ model.placement[i]
        S[i] = joint.axes(q[i])
        v[i], c[i] = carried(X[i], v[p], joint.velocity(q[i], qd[i]), joint.bias(q[i], qd[i]))  # (6.60), (6.56)
        IA[i] = I.articulated()
        pA[i] = cross(v[i], I @ v[i]) - external[i]  # (6.61)

    # inward: the inertia a body seems to have, less what its joint gives way to, goes to the parent
    for i, p in model.inward():
        U[i] = IA[i] @ S[i]  # (6.57)
        Di = LDL(plus_diagonal(S[i].T @ U[i], model.armature(i)), model.joint_label(i))  # (6.58)
        u[i] = [t - r - f for t, r, f in zip(tau[i], model.resistance(i, q, qd), S[i].T @ pA[i], strict=True)]
        V = ForceSpace(Di.solve(U[i]))
        Ia = IA[i].without(U[i], V)  # (7.19)
        IA[p] = IA[p] + X[i].T @ Ia  # (6.62)
        pA[p] = pA[p] + X[i].T @ (pA[i] + Ia @ c[i] + V @ u[i])  # (6.63)
        D[i], pivots[i] = Di, Di.pivots

    # outward: each joint now answers for itself
    for i, p in model.outward():
        a[i] = X[i] @ a[p] + c[i]
        qdd[i] = D[i].solve([x - y for x, y in zip(u[i], U[i].T @ a[i], strict=True)])  # (6.65)
        a[i] = a[i] + S[i] @ qdd[i]  # (6.64)
    return model.flat(qdd), [x for i in reversed(model.leaders) for x in pivots[i]]
