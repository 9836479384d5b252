"""Inverse dynamics by Lagrange's equation with the angular velocity in place of rates of rotation matrices.

    tau_j = Σ_i (F_i · ∂v_i/∂q̇_j + N_i · ∂ω_i/∂q̇_j)

v_i is the velocity of the centre of mass of link i. The text shows that this is the Newton-Euler computation: its
efficiency is in the recursion and in ω, and not in whose equations one begins with.
Source: silver1981, section 3.2. A bare number in the margin is an equation there.
Differs from the source: each link is in its own coordinates, as the text recommends; see links.py for the joints.
"""

from __future__ import annotations

from hinge.dynamics.registry import ACCELERATION, BASE, EXTERNAL, FORCE, POSITION, VELOCITY, algorithm
from hinge.formulations.links import at_joint, links, refuses
from hinge.spatial import ZERO, Force, comoving, cross3, dot3


@algorithm("inverse_dynamics", method="silver", q=POSITION, qd=VELOCITY, qdd=ACCELERATION, external=EXTERNAL,
           base_motion=BASE, returns=FORCE, refuses=refuses)  # fmt: skip
def silver(model, q, qd, qdd, external, base_motion):
    """Joint forces for a given motion, by Lagrange's equation with angular velocities."""
    link = links(model, q)
    w, wd, a, F, N = model.per_body(5)
    v, lifted = comoving(base_motion[0], base_motion[1] - model.gravity_motion)
    w[0], wd[0], a[0], F[0], N[0] = v.ang, lifted.ang, lifted.lin, ZERO, ZERO

    # outward: angular velocity and acceleration, the acceleration of the origin, and what they need at the origin
    for i, p in model.outward():
        one, rate = link[i], qd[i][0]
        before = one.R.T @ w[p]
        w[i] = before + one.turn * rate  # (3.14)
        wd[i] = one.R.T @ wd[p] + one.turn * qdd[i][0] + cross3(before, one.turn * rate)  # the rate of it
        swung = a[p] + cross3(wd[p], one.p) + cross3(w[p], cross3(w[p], one.p))
        a[i] = one.R.T @ swung + one.slide * qdd[i][0] + cross3(before + w[i], one.slide * rate)
        c, I = one.r_bar, one.I_com
        vd = a[i] + cross3(wd[i], c) + cross3(w[i], cross3(w[i], c))  # the rate of (3.13)
        extra = fictitious_link(external[i])
        F[i] = vd * one.m + extra.lin  # (3.12)
        N[i] = I @ wd[i] + cross3(w[i], I @ w[i]) + cross3(c, vd * one.m) + extra.ang  # (3.11)

    # inward: the sums over the links beyond, about a point of the axis
    tau = model.per_body(1)[0]
    for j, p in model.inward():
        one = link[j]
        tau[j] = at_joint(model, j, dot3(one.turn, N[j]) + dot3(one.slide, F[j]), q, qd, qdd)  # (3.15), (3.16)
        F[p], N[p] = F[p] + (push := one.R @ F[j]), N[p] + one.R @ N[j] + cross3(one.p, push)
    return tau


def fictitious_link(load):
    """The force and moment that a further link needs which moves so as to exert the load.

    Section 3.2: what pushes a link from outside is one more link. This one is held at its origin and does not turn;
    its mass and inertia are anybody's choice.
    """
    mass, inertia = 1.0, 1.0
    vd, wd = -load.lin / mass, -load.ang / inertia
    return Force(wd * inertia, vd * mass)
