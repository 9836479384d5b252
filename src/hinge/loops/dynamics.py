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
from hinge.constraints.multipliers import Held, Keeping, constrained, factored, massless, met
from hinge.dynamics.actuators import REACTIONS, improper, joint_reactions
from hinge.dynamics.articulated import coupled
from hinge.dynamics.composite import composite, struck
from hinge.dynamics.kinematics import poses
from hinge.dynamics.newton_euler import bias_force
from hinge.dynamics.registry import ACCELERATION, BASE, EXTERNAL, FORCE, POSITION, VELOCITY, algorithm
from hinge.graph import inner, less, select
from hinge.loops.kinematics import LOOP_FORCE, OPEN, ROWS, closing, open_tree
from hinge.spatial import Force, cross3
from hinge.status import Status

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
    return _solved(model, q, qd, tau, external, base_motion, loop_tau)


@algorithm("loop_dynamics", method="sparse", **GIVEN, returns=FOUND, pivots=True, refuses=either)
def loop_sparse(model, q, qd, tau, external, base_motion, loop_tau=None):
    """Forward dynamics with loops in time proportional to the tree, for a given number of loops.

    A robot with a joint that moves no inertia is solved by its mass matrix.
    """
    H = None if massless(composite(model, q)) else Articulated(model, q)
    return _solved(model, q, qd, tau, external, base_motion, loop_tau, H)


@algorithm(
    "forward_dynamics", method="loops", **GIVEN, returns=ACCELERATION, pivots=True, refuses=open_tree, closes=True
)
def forward_loops(model, q, qd, tau, external, base_motion, loop_tau=None):
    """Accelerations of a mechanism whose loops stay closed."""
    (qdd, _), *fared = loop_dynamics(model, q, qd, tau, external, base_motion, loop_tau)
    return qdd, *fared


@algorithm("impulse_response", method="loops", q=POSITION, impulses=FORCE, external=EXTERNAL, returns=ACCELERATION,
           pivots=True, refuses=open_tree, closes=True)  # fmt: skip
def impulse_loops(model, q, impulses, external):
    """The change of velocity that impulses make while the loops stay closed."""
    loops = closing(model, q)
    H = factored(model, composite(model, q), loops.A)
    free = H.solve(struck(model, q, impulses, external))
    return Keeping(H, loops.A, loops.state).kept(free)[0], H.pivots


@algorithm("loop_reactions", q=POSITION, qd=VELOCITY, qdd=ACCELERATION, forces=ROWS, external=EXTERNAL,
           base_motion=BASE, returns=REACTIONS, pivots=True,
           refuses=lambda model: open_tree(model) or improper(model))  # fmt: skip
def loop_reactions(model, q, qd, qdd, forces, external, base_motion):
    """What `joint_reactions` gives, of the joints of a mechanism with loops: total, active, bearing and base.

    Takes q (nq), qd and qdd (nv), and the forces (r) in the loops, as `loop_dynamics` and `loop_inverse_dynamics` give
    them: where constraints repeat each other they are not determined by the motion.

    >>> linkage = hinge.samples.four_bar()
    >>> q, still = linkage.assemble([0.5, 0.0, 0.0], hold=["crank"]).q, np.zeros(3)
    >>> qdd, forces = linkage.loop_dynamics(q, still, still)
    >>> total, active, bearing, base = linkage.loop_reactions(q, still, qdd, forces)
    >>> bool(np.abs(active).max() < 1e-9)  # no motor pushes
    True
    """
    R, r = poses(model, q)
    pushed = list(external)
    for (a, b, force), size in zip(closing(model, q).forces, forces, strict=True):
        for body, sign in ((b, 1.0), (a, -1.0)):
            pushed[body] = pushed[body] + in_body(force * (size * sign), R[body], r[body])
    return joint_reactions(model, q, qd, qdd, pushed, base_motion)


def forward_stabilised(model, q, qd, tau, external, base_motion, time):
    """Accelerations with springs and dampers, critical and of that time constant (s), beside the constraints."""
    (qdd, _), *fared = _solved(model, q, qd, tau, external, base_motion, pull=1.0 / time)
    return qdd, *fared


@algorithm("loop_project", q=POSITION, qd=VELOCITY, returns={"q": POSITION, "qd": VELOCITY}, pivots=True,
           refuses=open_tree, unmet=Status.UNCLOSED)  # fmt: skip
def loop_project(model, q, qd):
    """The state brought back to the loops, by the least change in the metric of kinetic energy: gives (q, qd).

    Takes a state that all but closes them, as after a step of simulation; `assemble` is for others. The status is
    `hinge.Status.UNCLOSED` where a gap of more than 1e-6 rad, or of that share of a lever, is left.

    >>> linkage = hinge.samples.four_bar()
    >>> q = linkage.assemble([0.5, 0.0, 0.0], hold=["crank"]).q
    >>> q, qd = linkage.loop_project(q + 1e-6, [1.0, 0.0, 0.0])
    >>> bool(np.abs(linkage.loop_gap(q)).max() < 1e-12), bool(np.abs(linkage.loop_jacobian(q) @ qd).max() < 1e-12)
    (True, True)
    """
    pivots, nothing = [], [0.0] * model.nv
    for _ in range(2):
        loops = closing(model, q)
        H = factored(model, composite(model, q), loops.A)
        change, _ = constrained(H, nothing, loops.A, loops.gap, loops.state)
        moved = model.joint_velocities(change)
        q = [joint.integrate(q[i], moved[i]) for i, joint in enumerate(model.joint)]
        pivots += H.pivots
    loops = closing(model, q)
    H, v = factored(model, composite(model, q), loops.A), model.flat(qd)
    change, _ = constrained(H, nothing, loops.A, [inner(row, v) for row in loops.A], loops.state)
    closed = select(less(OPEN * OPEN, loops.state.off), 0.0, 1.0)
    return (q, [x + y for x, y in zip(v, change, strict=True)]), [*pivots, *H.pivots], closed


def in_body(f, R, r):
    """A force in the coordinates of a body, from base coordinates."""
    return Force(R.T @ (f.ang - cross3(r, f.lin)), R.T @ f.lin)


def _solved(model, q, qd, tau, external, base_motion, loop_tau=None, H=None, pull=0.0):
    loops, v = closing(model, q, qd, loop_tau), model.flat(qd)
    back = zip(loops.c, loops.A, loops.gap, strict=True)
    c = [c + 2.0 * pull * inner(row, v) + pull * pull * gap for c, row, gap in back]
    H = H or factored(model, composite(model, q), loops.A)
    C = model.generalised_forces(bias_force(model, q, qd, external, base_motion))
    asked = zip(model.generalised_forces(tau), C, loops.driven, strict=True)
    free = H.solve([t - bias + d for t, bias, d in asked])
    keeping = Keeping(H, loops.A, loops.state)
    qdd, forces = keeping.kept(free, c)  # (9.17)
    return (qdd, forces), H.pivots, met(Held(loops.A, c, loops.state), keeping.factors, free, qdd, pull)
