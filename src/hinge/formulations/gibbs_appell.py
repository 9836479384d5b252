"""Inverse dynamics by the equations of Gibbs and Appell, with vectors in base coordinates.

    tau_i = Σ_r (z_i · N_r + ∂p̄_r/∂q_i · F_r)

Source: turney1981, section 3.4. A bare number in the margin is an equation there.
Differs from the source: the print has u and v exchanged in the rotational bracket, lacks masses, and has no gravity;
what depends on the link r and not on i is summed once, as section 6 there begins to do. Translational joints are ours:
they have no z, and the centre of mass moves by `slide`. See links.py.
"""

from __future__ import annotations

from hinge.dynamics.registry import ACCELERATION, EXTERNAL, FORCE, POSITION, VELOCITY, algorithm
from hinge.formulations.links import at_joint, links, path, refuses
from hinge.spatial import IDENTITY, ZERO, Vec3, cross3, dot3
from hinge.spatial.linear3 import congruence


@algorithm("inverse_dynamics", method="gibbs_appell", q=POSITION, qd=VELOCITY, qdd=ACCELERATION, external=EXTERNAL,
           returns=FORCE, refuses=refuses)  # fmt: skip
def gibbs_appell(model, q, qd, qdd, external):
    """Joint forces for a given motion, by the equations of Gibbs and Appell."""
    link = links(model, q)
    R, o, z, s, F, N, c = model.per_body(7)
    R[0], o[0] = IDENTITY, ZERO
    for r, p in model.outward():
        one = link[r]
        R[r], o[r] = R[p].times(one.R), o[p] + R[p] @ one.p
        z[r], s[r] = R[r] @ one.turn, R[r] @ one.slide

        # how the centre of mass moves with each coordinate, and the force and moment its motion needs
        arm, I = R[r] @ one.r_bar, congruence(R[r], one.I_com)
        half = 0.5 * (I[0] + I[1] + I[2])
        c[r] = {j: cross3(z[j], o[r] + arm - o[j]) + s[j] for j in path(model, r)}  # (2.23)
        acceleration, moment = -Vec3(model.gravity), ZERO
        for v in path(model, r):
            acceleration = acceleration + c[r][v] * qdd[v][0]
            moment = moment + I @ z[v] * qdd[v][0]
            for u in path(model, v):
                rates = qd[u][0] * qd[v][0] * (1.0 if u == v else 2.0)
                acceleration = acceleration + cross3(z[u], c[r][v]) * rates  # (2.24)
                moment = moment + (cross3(z[v], I @ z[u]) + cross3(z[u], z[v]) * half) * rates
        push = R[r] @ external[r].lin
        F[r] = acceleration * one.m - push
        N[r] = moment - (R[r] @ external[r].ang - cross3(arm, push))

    tau = model.per_body(1)[0]
    for i, _ in model.outward():
        force = 0.0
        for r in sorted(model.subtree[i]):
            force = force + dot3(z[i], N[r]) + dot3(c[r][i], F[r])  # (3.14)
        tau[i] = at_joint(model, i, force, q, qd, qdd)
    return tau
