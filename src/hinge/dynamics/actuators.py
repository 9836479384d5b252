"""Actuators and bearings: the forces they make, and the generalised forces those amount to.

    tau = Sᵀ F Q

Source: featherstone1987, section 7.4.2. A bare number in the margin is an equation there.
"""

from __future__ import annotations

from functools import partial

from hinge.dynamics.newton_euler import joint_forces
from hinge.dynamics.registry import (
    ACCELERATION,
    BASE,
    EXTERNAL,
    FORCE,
    ON_BODIES,
    POSITION,
    SPATIAL,
    VELOCITY,
    algorithm,
)
from hinge.dynamics.solve import solve_general


def improper(model, passive=False):
    """Return why a joint's actuators do not determine its force, if so; with `passive` a joint may have none."""
    for i, _ in model.outward():
        joint = getattr(model.joint[i], "inner", model.joint[i])  # a driven joint has the actuators of its own
        count = len(joint.actuation(joint.neutral()))
        if count != joint.nv and (count or not passive):
            how = "under-powered" if count < joint.nv else "over-powered"
            return f"joint {model.joint_name[i]!r} is {how}: {count} actuators for {joint.nv} freedoms"
    return ""


@algorithm("generalised_forces", q=POSITION, actuators=FORCE, returns=FORCE, refuses=partial(improper, passive=True))
def generalised_forces(model, q, actuators):
    """Joint forces from actuator forces: tau = Sᵀ F Q.

    Takes q (nq) and actuator forces (nv); gives tau (nv). They are the same for plain hinges and slides. A joint
    without actuators is passive: its joint force is zero, and the entries in its place mean nothing.

    >>> hinge.samples.planar_2r().generalised_forces([0.0, 0.0], [1.0, 2.0])
    array([1., 2.])
    """
    made = model.per_body(1)[0]
    for i, joint in enumerate(model.joint):
        q_i = q[i]
        F = joint.actuation(q_i)
        made[i] = joint.axes(q_i).T @ (F @ actuators[i]) if F else [0.0] * joint.nv  # (7.12), (7.13)
    return made


@algorithm("actuator_forces", q=POSITION, tau=FORCE, returns=FORCE, pivots=True, refuses=improper)
def actuator_forces(model, q, tau):
    """Actuator forces from joint forces: the inverse of `generalised_forces`.

    Takes q (nq) and tau (nv); gives actuator forces (nv).

    >>> hinge.samples.planar_2r().actuator_forces([0.0, 0.0], [1.0, 2.0])
    array([1., 2.])
    """
    made, pivots = model.per_body(1)[0], []
    for i, joint in enumerate(model.joint):
        made[i], own = solve_general(joint.axes(q[i]).T @ joint.actuation(q[i]), tau[i])  # (7.14)
        pivots += own
    return made, pivots


REACTIONS = {"total": ON_BODIES, "active": ON_BODIES, "bearing": ON_BODIES, "base": SPATIAL}


@algorithm("joint_reactions", q=POSITION, qd=VELOCITY, qdd=ACCELERATION, external=EXTERNAL, base_motion=BASE,
           returns=REACTIONS, pivots=True, refuses=improper)  # fmt: skip
def joint_reactions(model, q, qd, qdd, external, base_motion):
    """The whole spatial force through each joint, its active and bearing parts, and the force on the base.

    Takes q (nq), qd and qdd (nv); gives total, active and bearing, (bodies, 6) each, forces [couple; force] on each
    moving body through its joint, in the body's own frame, and the force (6,) that the robot's joints take from the
    base, in base coordinates. total = active + bearing.

    >>> total, active, bearing, base = hinge.samples.planar_2r().joint_reactions([0.0, 0.0], [0.0, 0.0], [0.0, 0.0])
    >>> base[3:].round(2)
    array([ 0.  ,  0.  , 19.62])
    """
    S, f = joint_forces(model, q, qd, qdd, external, base_motion)
    rows, pivots = [[], [], []], []
    for i, _ in model.outward():
        F = model.joint[i].actuation(q[i])
        K = S[i].T @ F
        Q, own = solve_general(K, S[i].T @ f[i])  # (7.14)
        active, pivots = F @ Q, [*pivots, *own]  # (7.12)
        for row, force in zip(rows, (f[i], active, f[i] - active), strict=True):  # (7.15)
            row.append(list(model.in_user_frame(i, force)))
    return (*rows, list(f[0])), pivots
