"""Inverse dynamics by Lagrange's equation made recursive: time proportional to the number of links.

    tau_i = tr(∂R_i/∂q_i D_i) + ∂p_i/∂q_i · e_i

R_i and p_i are the rotation and the origin of link i in base coordinates; D_i gathers what is beyond joint i, and e_i
is the force that moves it, in base coordinates.
Source: turney1981, section 3.2. A bare number in the margin is an equation there.
Differs from the source: see links.py. Joint i passes through origin i, so the terms of D_i in r_i, which are r_i e_iᵗ
together, are handed to the parent. The terms in `slide` are ours. The print of D_i has a term too many.

The 4×4 recursion is described in silver1981 1.4 and not written down; it is derived here. As the derivative of W_j by
q_i is that of W_i times T_i^j, the sum of silver1981 (1.2) is tr(∂W_i/∂q_i D_i) with D_i = Σ_j T_i^j J_j Ẅ_jᵀ, and that
is J_i Ẅ_iᵀ + Σ T_c D_c over the children c.
"""

from __future__ import annotations

from typing import Any

from hinge.dynamics.registry import ACCELERATION, BASE, EXTERNAL, FORCE, POSITION, VELOCITY, algorithm
from hinge.formulations.links import at_joint, links, refuses
from hinge.formulations.mat4 import ONE4, ZERO4, Mat4, trace_of_product
from hinge.formulations.uicker_kahn import generator, inertia4, load4, pose
from hinge.spatial import IDENTITY, ZERO, Mat3, comoving, dot3, skew
from hinge.spatial.linear3 import NOTHING

GIVEN: dict[str, Any] = {"q": POSITION, "qd": VELOCITY, "qdd": ACCELERATION, "external": EXTERNAL, "base_motion": BASE}


@algorithm("inverse_dynamics", method="hollerbach", **GIVEN, returns=FORCE, refuses=refuses)
def hollerbach(model, q, qd, qdd, external, base_motion):
    """Joint forces for a given motion, by recursion with 3×3 matrices."""
    link = links(model, q)
    R, Rd, Rdd, pdd, D, e = model.per_body(6)
    R[0], Rd[0], Rdd[0], pdd[0] = base_rates(model, base_motion)
    D[0], e[0] = NOTHING, ZERO

    # outward: rotations, origins and their rates, and what each link by itself needs
    for i, p in model.outward():
        one, Q, rate = link[i], skew(link[i].turn), qd[i][0]
        R[i] = R[p].times(one.R)
        carried = Rd[p].times(one.R)
        across = carried * (2.0 * rate) + R[i] * qdd[i][0] + R[i].times(Q) * (rate * rate)
        Rd[i] = carried + R[i].times(Q) * rate  # (3.6)
        Rdd[i] = Rdd[p].times(one.R) + across.times(Q)  # (3.5)
        pdd[i] = pdd[p] + Rdd[p] @ one.p + across @ one.slide
        D[i] = one.J.full().times(Rdd[i].T) + outer(one.h, pdd[i]) + skew(external[i].ang * 0.5).times(R[i].T)
        e[i] = pdd[i] * one.m + Rdd[i] @ one.h - R[i] @ external[i].lin

    # inward: what a joint moves is its link and all beyond
    tau = model.per_body(1)[0]
    for i, p in model.inward():
        one = link[i]
        turned, shifted = R[i].times(skew(one.turn)), R[i] @ one.slide  # (2.14)
        tau[i] = at_joint(model, i, trace3(turned, D[i]) + dot3(shifted, e[i]), q, qd, qdd)  # (3.2)
        D[p] = D[p] + one.R.times(D[i]) + outer(one.p, e[i])  # (3.3)
        e[p] = e[p] + e[i]  # (3.4)
    return tau


@algorithm("inverse_dynamics", method="hollerbach_4x4", **GIVEN, returns=FORCE, refuses=refuses)
def hollerbach_4x4(model, q, qd, qdd, external, base_motion):
    """Joint forces for a given motion, by recursion with 4×4 matrices."""
    link = links(model, q)
    W, Wd, Wdd, D = model.per_body(4)
    _, turning, speeding, lifted = base_rates(model, base_motion)
    W[0], Wd[0], Wdd[0], D[0] = ONE4, Mat4.of(turning), Mat4.of(speeding, lifted), ZERO4

    # outward: (3.6) and (3.5) with T for R
    for i, p in model.outward():
        T, Q, rate = pose(link[i]), generator(link[i]), qd[i][0]
        W[i] = W[p] @ T
        carried = Wd[p] @ T
        Wd[i] = carried + W[i] @ Q * rate
        Wdd[i] = Wdd[p] @ T + (carried * (2.0 * rate) + W[i] * qdd[i][0] + W[i] @ Q * (rate * rate)) @ Q
        D[i] = inertia4(link[i]) @ Wdd[i].T - load4(external[i]).T @ W[i].T

    # inward: as above
    tau = model.per_body(1)[0]
    for i, p in model.inward():
        tau[i] = at_joint(model, i, trace_of_product(W[i] @ generator(link[i]), D[i]), q, qd, qdd)
        D[p] = D[p] + pose(link[i]) @ D[i]
    return tau


def base_rates(model, base_motion):
    """Rotation of the base, its rate and second rate, and its origin's acceleration, with gravity an upward one."""
    v, a = comoving(base_motion[0], base_motion[1] - model.gravity_motion)
    turning = skew(v.ang)
    return IDENTITY, turning, skew(a.ang) + turning.times(turning), a.lin


def outer(a, b):
    """a bᵗ."""
    return Mat3(x * y for x in a for y in b)


def trace3(A, B):
    """tr(A B)."""
    return dot3(A.row(0), B.column(0)) + dot3(A.row(1), B.column(1)) + dot3(A.row(2), B.column(2))
