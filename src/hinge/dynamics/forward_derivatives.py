"""Derivatives of forward dynamics: how accelerations change with coordinates, velocities and joint forces.

    ∂qdd/∂q = -H⁻¹ ∂tau/∂q      ∂qdd/∂qd = -H⁻¹ ∂tau/∂qd      ∂qdd/∂tau = H⁻¹

Forces and accelerations that belong together are what inverse dynamics says they are, so its derivatives, at the
accelerations that follow, are those of forward dynamics but for the mass matrix H, whose factor is there already.
Source: featherstone1987, section 5.4 for the solution, and carpentier2018 for the identity.
Differs from the source: H is factored from its last row to its first, so that a column keeps the zeros of the tree.
"""

from __future__ import annotations

from hinge.dynamics.composite import composite, inverse_composite
from hinge.dynamics.inverse_derivatives import side_by_side, slopes
from hinge.dynamics.registry import BASE, EXTERNAL, FORCE, POSITION, SLOPES, VELOCITY, algorithm
from hinge.dynamics.solve import LDL
from hinge.dynamics.turney import composite_turney


@algorithm("forward_dynamics_derivatives", q=POSITION, qd=VELOCITY, tau=FORCE, external=EXTERNAL, base_motion=BASE,
           returns=SLOPES, pivots=True, competes=True, regroups=True)  # fmt: skip
def forward_derivatives(model, q, qd, tau, external, base_motion):
    """How the accelerations of `forward_dynamics` change: ∂qdd/∂q, ∂qdd/∂qd and ∂qdd/∂tau, side by side.

    Takes q (nq), qd and tau (nv); gives (nv, 3 nv), in rad/s² and m/s² for each rad, m, rad/s, … Columns of q are along
    `integrate`; the last nv columns are the inverse of the mass matrix. Forces given as `external` stay as they are in
    the coordinates they are given in.

    >>> arm = hinge.samples.puma560()
    >>> arm.kernel("forward_dynamics_derivatives")(arm.neutral(), np.zeros(6), np.zeros(6)).shape
    (6, 18)
    """
    qdd, _ = composite_turney(model, q, qd, tau, external, base_motion)
    dq, dqd, _ = slopes(model, q, qd, model.joint_velocities(qdd), external, base_motion)
    H = LDL(composite(model, q), model.joint_label())
    by_q, by_qd = ([[-x for x in H.solve(column)] for column in zip(*rows, strict=True)] for rows in (dq, dqd))
    by_tau, pivots = inverse_composite(model, q)
    return side_by_side(zip(*by_q, strict=True), zip(*by_qd, strict=True), by_tau), pivots
