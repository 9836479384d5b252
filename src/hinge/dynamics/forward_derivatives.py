"""Derivatives of forward dynamics: how accelerations change with coordinates, velocities and joint forces.

    ∂qdd/∂q = -H⁻¹ ∂tau/∂q      ∂qdd/∂qd = -H⁻¹ ∂tau/∂qd      ∂qdd/∂tau = H⁻¹

Forces and accelerations that belong together are what inverse dynamics says they are, so its derivatives, at the
accelerations that follow, are those of forward dynamics but for the mass matrix H.
A change of acceleration along a joint's own axes, Pdd = S c, asks for forces H c and is answered by -c alone: it is
taken out before, which leaves exact zeros, in all the columns of a floating base for instance.
Source: carpentier2018 for the identity; featherstone1987, section 5.4 for the solution.
Differs from the source: H = Lᵀ D L, factored from its last row to its first, and L⁻¹ is made once: its rows have the
zeros of the tree, and joints of different branches meet in what both stand on.
"""

from __future__ import annotations

from hinge.dynamics.composite import composite
from hinge.dynamics.inverse_derivatives import Change, changes, forces, side_by_side
from hinge.dynamics.registry import BASE, EXTERNAL, FORCE, POSITION, SLOPES, VELOCITY, algorithm
from hinge.dynamics.solve import Inverse
from hinge.dynamics.turney import bias_force
from hinge.graph import inner


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
    C = model.generalised_forces(bias_force(model, q, qd, external, base_motion))
    H = Inverse(composite(model, q), model.joint_label())
    qdd = H.solve([t - c for t, c in zip(model.generalised_forces(tau), C, strict=True)])
    moving = changes(model, q, qd, model.joint_velocities(qdd), external, base_motion)
    by_q, own_q = spared(model, moving.S, moving.by_q)
    by_qd, own_qd = spared(model, moving.S, moving.by_qd)
    dq, dqd, _ = forces(model, moving._replace(by_q=by_q, by_qd=by_qd), q, qd, external)
    return side_by_side(answered(model, H, dq, own_q), answered(model, H, dqd, own_qd), H.rows()), H.pivots


def spared(model, S, changed):
    """The changes without what lies along the joint's own axes, where these are coordinate axes; and that, as a matrix.

    Joints that are coupled move others with them, and keep theirs.
    """
    coupled = {*model.follows, *(follow.leader for follow in model.follows.values())}
    left, own = list(changed), [[0.0] * model.nv for _ in range(model.nv)]
    for i in set(model.leaders) - coupled:
        at, left[i] = model.slices[i][1].start, []
        for b, change in enumerate(changed[i]):
            c = [inner(list(s), list(change.a)) if list(s).count(0.0) == 5 else 0.0 for s in S[i]]
            left[i].append(Change(change.v, change.a - S[i] @ c))
            for k, x in enumerate(c):
                own[at + k][at + b] = x
    return left, own


def answered(model, H, asked, own):
    """The accelerations that undo forces, in columns, where some are known beforehand but for the rotors' part."""
    rotors = [J for i in model.leaders for J in model.armature(i)]
    left = [[x - J * c for x, c in zip(*rows, strict=True)] for J, *rows in zip(rotors, asked, own, strict=True)]
    columns = [H.solve(column) for column in zip(*left, strict=True)]
    return [
        [-(x + c) for x, c in zip(*rows, strict=True)] for rows in zip(zip(*columns, strict=True), own, strict=True)
    ]
