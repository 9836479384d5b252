"""Forward dynamics of a mechanism with kinematic loops, by way of the tree that is left when they are cut.

    [ H  Aᵀ ] [ qdd ]   [ tau - C + Σ Jᵀ fᵃ ]
    [ A  0  ] [ -f  ] = [ -c                ]

Source: featherstone1987, sections 9.3 and 9.4. A bare number in the margin is an equation there.
Differs from the source: the system is solved for the forces first; constraints that say nothing new are passed over
(section 9.4.1) and their forces are zero. The sparse method multiplies by H⁻¹ with articulated bodies, so that its cost
grows in proportion to the tree for a given number of loops.
"""

from __future__ import annotations

from typing import Any

from hinge.constraints.inertias import Articulated
from hinge.constraints.multipliers import constrained
from hinge.dynamics.articulated import coupled
from hinge.dynamics.composite import composite
from hinge.dynamics.newton_euler import bias_force
from hinge.dynamics.registry import ACCELERATION, BASE, EXTERNAL, FORCE, POSITION, VELOCITY, algorithm
from hinge.dynamics.solve import LDL
from hinge.graph import inner
from hinge.loops.kinematics import LOOP_FORCE, ROWS, closing, open_tree

GIVEN: dict[str, Any] = {
    "q": POSITION, "qd": VELOCITY, "tau": FORCE, "external": EXTERNAL, "base_motion": BASE, "loop_tau": LOOP_FORCE,
}  # fmt: skip
FOUND = {"qdd": ACCELERATION, "forces": ROWS}


def either(model):
    return open_tree(model) or coupled(model)


@algorithm("loop_dynamics", priority=1, method="mass_matrix", **GIVEN, returns=FOUND, pivots=True, refuses=open_tree)
def loop_dynamics(model, q, qd, tau, external, base_motion, loop_tau=None):
    """Accelerations of a mechanism with loops, and the forces in them: gives (qdd, forces).

    Takes q (nq), qd and tau (nv); gives qdd (nv) and forces (r), one a constraint, on the successor of each loop joint.
    q and qd have to close the loops: see `assemble`. `loop_tau` are the forces of powered loop joints. Forces of
    constraints that only repeat others are zero; `mobility` names those that cannot be told apart.

    >>> linkage = hinge.samples.four_bar()
    >>> q = linkage.assemble([0.5, 0.0, 0.0], hold=["crank"]).q
    >>> qdd, forces = linkage.loop_dynamics(q, np.zeros(3), np.zeros(3))
    >>> qdd.shape, forces.shape
    ((3,), (5,))
    """
    H = LDL(composite(model, q), model.blame())
    return _solved(model, q, qd, tau, external, base_motion, loop_tau, H)


@algorithm("loop_dynamics", method="sparse", **GIVEN, returns=FOUND, pivots=True, refuses=either)
def loop_sparse(model, q, qd, tau, external, base_motion, loop_tau=None):
    """Forward dynamics with loops in time proportional to the tree, for a given number of loops."""
    return _solved(model, q, qd, tau, external, base_motion, loop_tau, Articulated(model, q))


@algorithm(
    "forward_dynamics", method="loops", **GIVEN, returns=ACCELERATION, pivots=True, refuses=open_tree, closes=True
)
def forward_loops(model, q, qd, tau, external, base_motion, loop_tau=None):
    """Accelerations of a mechanism whose loops stay closed."""
    (qdd, _), pivots = loop_dynamics(model, q, qd, tau, external, base_motion, loop_tau)
    return qdd, pivots


def forward_stabilised(model, q, qd, tau, external, base_motion, time):
    """Accelerations with springs and dampers, critical and of that time constant (s), beside the constraints."""
    H, v = LDL(composite(model, q), model.blame()), model.flat(qd)

    def back(loops):
        rates = [inner(row, v) for row in loops.A]
        given = zip(loops.c, rates, loops.gap, strict=True)
        return [c + (2.0 / time) * rate + gap / (time * time) for c, rate, gap in given]

    (qdd, _), pivots = _solved(model, q, qd, tau, external, base_motion, None, H, back)
    return qdd, pivots


@algorithm("loop_project", q=POSITION, qd=VELOCITY, returns={"q": POSITION, "qd": VELOCITY}, pivots=True,
           refuses=open_tree)  # fmt: skip
def loop_project(model, q, qd):
    """The state brought back to the loops, by the least change in the metric of kinetic energy: gives (q, qd).

    Takes a state that all but closes them, as after a step of simulation; `assemble` is for others.

    >>> linkage = hinge.samples.four_bar()
    >>> q = linkage.assemble([0.5, 0.0, 0.0], hold=["crank"]).q
    >>> q, qd = linkage.loop_project(q + 1e-6, [1.0, 0.0, 0.0])
    >>> bool(np.abs(linkage.loop_gap(q)).max() < 1e-12), bool(np.abs(linkage.loop_jacobian(q) @ qd).max() < 1e-12)
    (True, True)
    """
    pivots, nothing = [], [0.0] * model.nv
    for _ in range(2):
        H, loops = LDL(composite(model, q), model.blame()), closing(model, q)
        change, _ = constrained(H, nothing, loops.A, loops.gap)
        moved = model.joint_velocities(change)
        q = [joint.integrate(q[i], moved[i]) for i, joint in enumerate(model.joint)]
        pivots += H.pivots
    H, loops = LDL(composite(model, q), model.blame()), closing(model, q)
    v = model.flat(qd)
    change, _ = constrained(H, nothing, loops.A, [inner(row, v) for row in loops.A])
    return (q, [x + y for x, y in zip(v, change, strict=True)]), [*pivots, *H.pivots]


def _solved(model, q, qd, tau, external, base_motion, loop_tau, H, back=None):
    loops = closing(model, q, qd, loop_tau)
    C = model.generalised_forces(bias_force(model, q, qd, external, base_motion))
    asked = zip(model.generalised_forces(tau), C, loops.driven, strict=True)
    c = back(loops) if back else loops.c
    return constrained(H, [t - bias + d for t, bias, d in asked], loops.A, c), H.pivots  # (9.17)
