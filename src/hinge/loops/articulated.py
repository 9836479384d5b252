"""Forward dynamics with loops by articulated bodies: the bodies a loop joins are handles of one articulated body.

    a_i = Σ_j Φ_ij f_j + b_i        Λ f + β = 0

Source: featherstone1987, section 9.5. A bare number in the margin is an equation there.
Differs from the source: the bias accelerations b come from forward dynamics of the tree by the articulated-body method.
"""

from __future__ import annotations

from hinge.constraints.inertias import Articulated
from hinge.constraints.multipliers import Held, Semidefinite, massless, met
from hinge.dynamics.articulated import articulated
from hinge.dynamics.composite import composite
from hinge.dynamics.kinematics import poses
from hinge.dynamics.registry import algorithm
from hinge.graph import inner
from hinge.loops.dynamics import FOUND, GIVEN, either, in_body, loop_dynamics
from hinge.loops.kinematics import closing
from hinge.spatial import Force, dot


def tied(model):
    why = either(model)
    names = [loop.name for loop in model.loops if not loop.size or not hasattr(loop, "a")]
    return why or (f"loop {names[0]!r} joins no bodies" if names else "")


@algorithm("loop_dynamics", method="articulated", **GIVEN, returns=FOUND, pivots=True, refuses=tied)
def loop_articulated(model, q, qd, tau, external, base_motion, loop_tau=None):
    """Forward dynamics with loops by inverse and cross inertias of the bodies that the loops join.

    A robot with a joint that moves no inertia is solved by its mass matrix.
    """
    if massless(composite(model, q)):
        return loop_dynamics(model, q, qd, tau, external, base_motion, loop_tau)
    tree, loops = Articulated(model, q), closing(model, q, qd, loop_tau)
    driven = _per_joint(model, loops.driven)
    pushed = [[t + d for t, d in zip(a, b, strict=True)] for a, b in zip(tau, driven, strict=True)]
    free, _ = articulated(model, q, qd, pushed, external, base_motion)
    beta = [inner(row, free) + c for row, c in zip(loops.A, loops.c, strict=True)]  # (9.21)

    # each constraint's force on its two handles, in their own coordinates
    R, r = poses(model, q)
    on = [
        [(body, in_body(force * sign, R[body], r[body])) for body, sign in ((s, 1.0), (p, -1.0)) if body]
        for p, s, force in loops.forces
    ]
    phi, known = tree.inverse_inertias(), {}

    def across(i, j):
        if (i, j) not in known:
            known[i, j] = phi[i] if i == j else tree.cross_inertia(phi, i, j)
        return known[i, j]

    rows = [
        [sum((dot(across(i, j) @ fj, fi) for i, fi in on[k] for j, fj in on[m]), 0.0) for m in range(k + 1)]
        for k in range(len(on))
    ]  # (9.27)
    factors = Semidefinite(rows, loops.A, loops.state)
    forces = factors.solve([-x for x in beta])  # (9.29)
    handles = [Force()] * len(model.parent)
    for acting, size in zip(on, forces, strict=True):
        for body, force in acting:
            handles[body] = handles[body] + force * size  # (9.23)
    added, _ = tree.response([0.0] * model.nv, handles)
    qdd = [x + y for x, y in zip(free, added, strict=True)]  # (9.18)
    return (qdd, forces), tree.pivots, met(Held(loops.A, loops.c, loops.state), factors, free, qdd)


def _per_joint(model, flat):
    return [flat[at] for _, at in model.slices]
