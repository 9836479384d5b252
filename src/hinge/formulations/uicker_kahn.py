"""Inverse dynamics by Lagrange's equation on 4×4 matrices.

    tau_i = Σ_r tr(∂W_r/∂q_i J_r Ẅ_rᵀ)

W_r takes points from link r's coordinates to the base's. `uicker_kahn_direct` writes Ẅ out and takes each coefficient
of an acceleration or of a product of rates by itself, which is the first form there was; `uicker_kahn` sums before it
takes traces, the strategy of the appendix.
Source: turney1981, sections 2 and 3.1 and the appendix. A bare number in the margin is an equation there.
Differs from the source: see links.py; a link is r here, for q is the coordinates. Q_i is a 4×4 matrix in link i's
coordinates, of a turn or of a slide, and ∂T/∂q = T Q for both. Gravity has any direction. A force on a link does work
like a matrix of forces on its points.
"""

from __future__ import annotations

from hinge.dynamics.registry import ACCELERATION, EXTERNAL, FORCE, POSITION, VELOCITY, algorithm
from hinge.formulations.links import Link, at_joint, links, path, refuses
from hinge.formulations.mat4 import ONE4, ZERO4, Mat4, trace, trace_of_product
from hinge.graph import total
from hinge.spatial import Force, skew


def pose(link: Link) -> Mat4:
    """T from the link's coordinates to its parent's."""
    return Mat4.of(link.R, link.p, 1.0)  # (2.16)


def generator(link: Link) -> Mat4:
    """Q with ∂T/∂q = T Q."""
    return Mat4.of(skew(link.turn), link.slide)  # (2.5)


def inertia4(link: Link) -> Mat4:
    """The 4×4 inertia."""
    return Mat4(x for row in link.J_a for x in row)  # (2.37)


def load4(f: Force) -> Mat4:
    """The matrix Φ for which tr(∂W/∂q Φᵀ Wᵀ) is the work a force, in the link's coordinates, does along q."""
    return Mat4.of(skew(f.ang) * 0.5, f.lin)


def derivatives(model, q):
    """W of each link, ∂W/∂q by link and coordinate, and ∂²W/∂q∂q by link and two coordinates."""
    link = links(model, q)
    Q = [generator(one) for one in link]
    T, D1, D2 = {(0, 0): ONE4}, {}, {}
    for r, p in model.outward():
        T[r, r] = ONE4
        for i in (0, *path(model, p)):
            T[i, r] = T[i, p] @ pose(link[r])  # (2.18)
        for v in path(model, r):
            D1[r, v] = T[0, v] @ Q[v] @ T[v, r]  # (2.14)
            for u in path(model, v):
                D2[r, u, v] = D2[r, v, u] = D1[v, u] @ Q[v] @ T[v, r]  # (2.15), u before v
    return link, [T[0, r] for r in range(len(model.parent))], D1, D2


@algorithm("inverse_dynamics", method="uicker_kahn_direct", q=POSITION, qd=VELOCITY, qdd=ACCELERATION,
           external=EXTERNAL, returns=FORCE, refuses=refuses)  # fmt: skip
def uicker_kahn_direct(model, q, qd, qdd, external):
    """Joint forces for a given motion, each coefficient by itself: silver1981 (1.2) as it is written."""
    link, W, D1, D2 = derivatives(model, q)
    J = [inertia4(one) for one in link]
    tau = model.per_body(1)[0]
    for i, _ in model.outward():
        force = 0.0
        for r in sorted(model.subtree[i]):
            for j in path(model, r):
                force = force + trace(D1[r, j] @ J[r] @ D1[r, i].T) * qdd[j][0]  # (3.1)
                for k in path(model, r):
                    force = force + trace(D2[r, j, k] @ J[r] @ D1[r, i].T) * qd[j][0] * qd[k][0]  # (3.1)
            force = force - work(model, J[r], D1[r, i]) - trace(D1[r, i] @ load4(external[r]).T @ W[r].T)
        tau[i] = at_joint(model, i, force, q, qd, qdd)
    return tau


@algorithm("inverse_dynamics", method="uicker_kahn", q=POSITION, qd=VELOCITY, qdd=ACCELERATION, external=EXTERNAL,
           returns=FORCE, refuses=refuses)  # fmt: skip
def uicker_kahn(model, q, qd, qdd, external):
    """Joint forces for a given motion, with 4×4 matrices and in time proportional to the cube of the links."""
    link, W, D1, D2 = derivatives(model, q)
    J = [inertia4(one) for one in link]
    P = model.per_body(1)[0]
    for r, _ in model.outward():
        accelerated = ZERO4
        for j in path(model, r):
            accelerated = accelerated + D1[r, j] * qdd[j][0]
            for k in path(model, j):
                rates = qd[j][0] * qd[k][0]
                accelerated = accelerated + D2[r, j, k] * (rates if j == k else 2.0 * rates)
        P[r] = accelerated @ J[r] - W[r] @ load4(external[r])

    tau = model.per_body(1)[0]
    for i, _ in model.outward():
        beyond = sorted(model.subtree[i])
        force = total(trace_of_product(P[r], D1[r, i].T) - work(model, J[r], D1[r, i]) for r in beyond)  # (3.1)
        tau[i] = at_joint(model, i, force, q, qd, qdd)
    return tau


def work(model, J, D):
    """What gravity does on a link along a coordinate: m g · D r̄, and m r̄ is the last column of J."""
    moment = J.column(3)
    return total(g * total(d * h for d, h in zip(D[4 * k : 4 * k + 4], moment, strict=True))
                 for k, g in enumerate(model.gravity))  # fmt: skip
