"""Actuators: the forces they make, and the generalised forces those amount to.

    tau = Sᵀ F Q

Source: featherstone1987, section 7.4.2. A bare number in the margin is an equation there.
"""

from __future__ import annotations

from hinge.dynamics.registry import FORCE, POSITION, algorithm
from hinge.dynamics.solve import solve_general


def _improper(model):
    """Why a joint's actuators do not determine its force, if so."""
    for i, _ in model.outward():
        joint = model.joint[i]
        count = len(joint.actuation(joint.neutral()))
        if count != joint.nv:
            how = "under-powered" if count < joint.nv else "over-powered"
            return f"joint {model.joint_name[i]!r} is {how}: {count} actuators for {joint.nv} freedoms"
    return ""


@algorithm("generalised_forces", q=POSITION, actuators=FORCE, returns=FORCE, refuses=_improper)
def generalised_forces(model, q, actuators):
    """Joint forces from actuator forces: tau = Sᵀ F Q.

    Takes q (nq) and actuator forces (nv); gives tau (nv). They are the same for plain hinges and slides.

    >>> hinge.samples.planar_2r().generalised_forces([0.0, 0.0], [1.0, 2.0])
    array([1., 2.])
    """
    made = model.per_body(1)[0]
    for i, joint in enumerate(model.joint):
        q_i = q[i]
        made[i] = joint.axes(q_i).T @ (joint.actuation(q_i) @ actuators[i])  # (7.12), (7.13)
    return made


@algorithm("actuator_forces", q=POSITION, tau=FORCE, returns=FORCE, refuses=_improper)
def actuator_forces(model, q, tau):
    """Actuator forces from joint forces: the inverse of `generalised_forces`.

    Takes q (nq) and tau (nv); gives actuator forces (nv).

    >>> hinge.samples.planar_2r().actuator_forces([0.0, 0.0], [1.0, 2.0])
    array([1., 2.])
    """
    made = model.per_body(1)[0]
    for i, joint in enumerate(model.joint):
        made[i] = solve_general(joint.axes(q[i]).T @ joint.actuation(q[i]), tau[i])  # (7.14)
    return made
