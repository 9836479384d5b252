"""The mass matrix, and forward dynamics through it.

    H(q) qdd = tau - C(q, qd)

Composite-rigid-body method, each body in its own coordinates; the equations are solved by a factorisation that keeps
the zeros of the tree.
Source: featherstone1987, sections 5.2 and 5.4, 7.2 for trees, and 9.9 for impulses. A bare number in the margin is an
equation there.
Differs from the source: H is factored from its last row to its first, which fills in no zero.
"""

from __future__ import annotations

from hinge.dynamics.newton_euler import bias_force, still
from hinge.dynamics.registry import ACCELERATION, BASE, EXTERNAL, FORCE, MATRIX, POSITION, VELOCITY, algorithm
from hinge.dynamics.solve import LDL, LL, READABLE, plus_diagonal
from hinge.graph import units
from hinge.model.driven import stopped
from hinge.model.potentials import forceless
from hinge.spatial import Motion


@algorithm("mass_matrix", priority=1, q=POSITION, returns=MATRIX)
def composite(model, q):
    """The joint-space inertia matrix H(q), armature in: symmetric, and positive definite for a physical robot.

    Takes q (nq); gives (nv, nv) in kg m², kg m and kg.

    >>> hinge.samples.planar_2r().mass_matrix([0.0, 0.0]).shape
    (2, 2)
    """
    X, S = model.per_body(2)
    IC = list(model.inertia)
    for i, _ in model.outward():
        joint = model.joint[i]
        X[i] = joint.transform(q[i]) @ model.placement[i]
        S[i] = joint.axes(q[i])

    # inward: a body with all it carries is one rigid body; the force that accelerates it is felt by every joint below
    H = {}
    for i, p in model.inward():
        f = IC[i] @ S[i]  # (5.12)
        H[i, i] = plus_diagonal(S[i].T @ f, model.armature(i))
        for j, k in model.toward_base(i):
            f = X[j].T @ f  # (5.13)
            H[k, i] = S[k].T @ f  # (5.14), (7.9)
            H[i, k] = [list(column) for column in zip(*H[k, i], strict=True)]
        IC[p] = IC[p] + X[i].T @ IC[i]  # (5.11)
    return model.generalised_matrix(H)


@algorithm("inverse_mass_matrix", q=POSITION, returns=MATRIX, pivots=True)
def inverse_composite(model, q):
    """The inverse of the mass matrix: accelerations per joint force.

    Takes q (nq); gives (nv, nv).

    >>> arm = hinge.samples.planar_2r()
    >>> bool(np.allclose(arm.inverse_mass_matrix([0.1, 0.2]) @ arm.mass_matrix([0.1, 0.2]), np.eye(2)))
    True
    """
    H = LDL(composite(model, q), model.joint_label())
    n = model.nv
    columns = [H.solve(unit) for unit in units(n)]
    return [[columns[max(i, j)][min(i, j)] for j in range(n)] for i in range(n)], H.pivots


@algorithm("forward_dynamics", priority=1, method="composite", q=POSITION, qd=VELOCITY, tau=FORCE, external=EXTERNAL,
           base_motion=BASE, returns=ACCELERATION, pivots=True, competes=True, readable=READABLE)  # fmt: skip
def forward_composite(model, q, qd, tau, external, base_motion, factor=LDL, bias=bias_force):
    """Accelerations that follow from joint forces, by way of the mass matrix."""
    C = model.generalised_forces(bias(model, q, qd, external, base_motion))
    H = factor(composite(model, q), model.joint_label())
    asked = model.generalised_forces(tau)
    return H.solve([t - c for t, c in zip(asked, C, strict=True)]), H.pivots  # (5.6)


@algorithm("forward_dynamics", method="composite_llt", q=POSITION, qd=VELOCITY, tau=FORCE, external=EXTERNAL,
           base_motion=BASE, returns=ACCELERATION, pivots=True)  # fmt: skip
def forward_composite_llt(model, q, qd, tau, external, base_motion):
    """Forward dynamics with the mass matrix factored as Lᵀ L."""
    return forward_composite(model, q, qd, tau, external, base_motion, LL)


@algorithm("impulse_response", q=POSITION, impulses=FORCE, external=EXTERNAL, returns=ACCELERATION, pivots=True)
def impulse_response(model, q, impulses, external):
    """The change of velocity that impulses make: H(q) δqd = impulses, forces that stay finite having no time to act.

    Takes q (nq) and generalised impulses (nv) in N m s and N s; gives δqd (nv). `external` has spatial impulses on
    bodies.

    >>> arm = hinge.samples.planar_2r()
    >>> arm.impulse_response([0.0, 0.0], [0.0, 0.0], external={"hand": [0, 0, 0, 0, 0, 1.0]}).round(3)
    array([-0.857,  5.143])
    """
    H = LDL(composite(model, q), model.joint_label())
    return H.solve(struck(model, q, impulses, external)), H.pivots  # (9.62)


def struck(model, q, impulses, external):
    """Generalised impulses and those on bodies, over the user's velocities."""
    weightless = stopped(forceless(model, ["armature"]))
    carried = model.generalised_forces(bias_force(weightless, q, still(model), external, (Motion(), Motion())))
    return [t - c for t, c in zip(model.generalised_forces(impulses), carried, strict=True)]
