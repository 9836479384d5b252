"""The mass matrix out of inverse dynamics, one acceleration at a time, and forward dynamics with it or without it.

    H(q) u = tau(q, 0, u)       without gravity

    strobe               every column whole: Walker and Orin's first method
    strobe_symmetric     the triangle on and below the diagonal: their second
    conjugate_gradient   H times a vector, as often as there are velocities, and H itself never: their fourth
    articulated_static   velocity forces first, then articulated bodies at rest

Source: featherstone1987, sections 5.2 and 6.1. A bare number in the margin is an equation there. The word strobe, and
which equations are strobed, are from turney1981, section 8.
Differs from the source: the conjugate gradients are made conjugate to all before them and not only to the last, which
is the same in exact arithmetic and much less so in ours. Where nothing is left over, no step is taken.
"""

from __future__ import annotations

from dataclasses import replace

from hinge.dynamics.articulated import articulated, coupled
from hinge.dynamics.newton_euler import still
from hinge.dynamics.registry import ACCELERATION, BASE, EXTERNAL, FORCE, MATRIX, POSITION, VELOCITY, algorithm
from hinge.dynamics.solve import LDL
from hinge.dynamics.turney import bias_force, turney
from hinge.graph import inner, units
from hinge.graph.expr import Expr
from hinge.graph.ops import less, select
from hinge.model.driven import driven
from hinge.spatial import Force, Motion

PER_BODY = ("joint", "placement", "inertia", "data", "body_name", "joint_name")
LEAST = (
    1e-20  # a direction is at least as long as the residual it is made from; where it is so much less, by its square,
)
NOTHING = 1e-290  # or so short in all, only rounding is left, and the answer stands


def at_rest(model):
    """The model with rotors, but without springs and what else stores energy; gravity stays."""
    return replace(model, terms=model.terms & {"armature"}, potentials=())


def falling(model):
    """The motion of a base that falls, which feels no gravity."""
    return Motion(), model.gravity_motion


def pulled(model, q, u, bodies=None):
    """H u over the user's velocities, by inverse dynamics at rest: (5.5). Joints of bodies left out feel nothing."""
    bodies = range(1, len(model.parent)) if bodies is None else bodies
    here, part, qdd = [0, *bodies], only(model, bodies), model.joint_velocities(u)
    at, qdd, nothing = [q[i] for i in here], [qdd[i] for i in here], [Force()] * len(here)
    tau = dict(zip(here, turney(at_rest(part), at, still(part), qdd, nothing, falling(part)), strict=True))
    return model.generalised_forces([tau.get(i) or [0.0] * joint.nv for i, joint in enumerate(model.joint)])


def only(model, bodies):
    """Those bodies of a model, on a base that stands where the others are; a joint that followed moves by itself."""
    number = {i: k for k, i in enumerate([0, *bodies])}
    parent = (-1, *(number.get(model.parent[i], 0) for i in bodies))
    kept = {name: tuple(getattr(model, name)[i] for i in number) for name in PER_BODY}
    return replace(model, parent=parent, follows={}, **kept)


def beyond(model, k):
    """The bodies that matter to column k of H from the diagonal on: those that velocity k moves.

    Where joints are coupled, also those between them and a joint of a later velocity.
    """
    moves, reached, kept = {0: False}, {0: False}, set()
    for i, p in model.outward():
        at = model.slices[i][1]
        moves[i] = moves[p] or at.start <= k < at.stop
        reached[i] = reached[p] or at.stop > k
    for i, p in model.inward():
        if moves[i] or i in kept:
            kept |= {i, p} if reached[p] else {i}
    return sorted(kept)


@algorithm("mass_matrix", q=POSITION, returns=MATRIX, refuses=driven)
def strobe(model, q):
    """The joint-space inertia matrix H(q), a column for each acceleration."""
    columns = [pulled(model, q, u) for u in units(model.nv)]
    return [list(row) for row in zip(*columns, strict=True)]


@algorithm("mass_matrix", q=POSITION, returns=MATRIX, refuses=driven)
def strobe_symmetric(model, q):
    """The joint-space inertia matrix H(q), of each column only what is beyond its joint: no force goes further in."""
    columns = [pulled(model, q, u, beyond(model, k)) for k, u in enumerate(units(model.nv))]
    return [[columns[min(i, k)][max(i, k)] for k in range(model.nv)] for i in range(model.nv)]


def left_over(model, q, qd, tau, external, base_motion):
    """The joint forces that are left to accelerate: tau - C."""
    C = model.generalised_forces(bias_force(model, q, qd, external, base_motion))  # (5.3)
    return [t - c for t, c in zip(model.generalised_forces(tau), C, strict=True)]


@algorithm("forward_dynamics", method="strobe", q=POSITION, qd=VELOCITY, tau=FORCE, external=EXTERNAL,
           base_motion=BASE, returns=ACCELERATION, pivots=True, refuses=driven)  # fmt: skip
def forward_strobe(model, q, qd, tau, external, base_motion):
    """Accelerations that follow from joint forces, by way of a strobed mass matrix."""
    H = LDL(strobe_symmetric(model, q), model.joint_label())
    return H.solve(left_over(model, q, qd, tau, external, base_motion)), H.pivots  # (5.6)


@algorithm("forward_dynamics", q=POSITION, qd=VELOCITY, tau=FORCE, external=EXTERNAL, base_motion=BASE,
           returns=ACCELERATION, pivots=True, refuses=driven)  # fmt: skip
def conjugate_gradient(model, q, qd, tau, external, base_motion):
    """Accelerations that follow from joint forces, by conjugate gradients: as many steps as there are velocities."""
    r = left_over(model, q, qd, tau, external, base_motion)
    qdd, before, pivots = [0.0] * model.nv, [], []
    for _ in range(model.nv):
        u = r
        for d, Hd in before:
            u = _less(u, d, inner(r, Hd))
        Hu = pulled(model, q, u)
        _all_move(model, Hu)
        done = less(inner(u, u), LEAST * inner(r, r) + NOTHING)
        curvature = select(done, 1.0, inner(u, Hu))
        step = select(done, 0.0, inner(r, u) / curvature)
        qdd, r = _less(qdd, u, -step), _less(r, Hu, step)
        before.append((u, [x / curvature for x in Hu]))
        pivots.append(curvature)
    return qdd, pivots


def _all_move(model, Hu):
    """Refuse, by name, a joint that moves nothing, whatever the direction."""
    for k, x in enumerate(Hu):
        if type(x) is not Expr and not x:
            LDL([[0.0]], lambda _, k=k: model.joint_label()(k))


def _less(a, b, s):
    """a - s b."""
    return [x - s * y for x, y in zip(a, b, strict=True)]


@algorithm("forward_dynamics", q=POSITION, qd=VELOCITY, tau=FORCE, external=EXTERNAL, base_motion=BASE,
           returns=ACCELERATION, pivots=True, refuses=lambda model: coupled(model) or driven(model))  # fmt: skip
def articulated_static(model, q, qd, tau, external, base_motion):
    """Accelerations that follow from joint forces: velocity forces taken off, then articulated bodies at rest."""
    C = bias_force(model, q, qd, external, base_motion)
    rest = [[t - c for t, c in zip(*pair, strict=True)] for pair in zip(tau, [c or [] for c in C], strict=True)]
    return articulated(at_rest(model), q, still(model), rest, [Force()] * len(model.parent), falling(model))
