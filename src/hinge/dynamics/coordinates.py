"""Coordinates that are not vectors: moving along a velocity, and the velocity between two configurations."""

from __future__ import annotations

from hinge.dynamics.registry import POSITION, VELOCITY, Quantity, algorithm
from hinge.model.joints import Joint

RATE = Quantity("rates of the coordinates", lambda model: (model.nq,), counted="nq")


@algorithm("integrate", q=POSITION, v=VELOCITY, returns=POSITION)
def integrate(model, q, v):
    """Where velocity times time leads: q moved by v.

    Takes q (nq) and v (nv), a velocity times a time; gives q (nq). A free joint moves by the exponential of its body
    twist, a spherical one by that of its angular velocity; quaternions come out with length one.

    >>> hinge.samples.planar_2r().integrate([0.0, 1.0], [0.5, 0.5])
    array([0.5, 1.5])
    """
    return [joint.integrate(q[i], v[i]) for i, joint in enumerate(model.joint)]


@algorithm("rate", q=POSITION, qd=VELOCITY, returns=RATE)
def rate(model, q, qd):
    """How fast the coordinates change: qd itself, but for quaternions and the position of a free joint.

    Takes q (nq) and qd (nv); gives (nq).

    >>> hinge.samples.planar_2r().rate([0.0, 1.0], [0.5, 0.6])
    array([0.5, 0.6])
    """
    return [x for i in model.leaders for x in model.joint[i].rate(q[i], qd[i])]


@algorithm("difference", q0=POSITION, q1=POSITION, returns=VELOCITY)
def difference(model, q0, q1):
    """The velocity times time that leads from q0 to q1: the inverse of `integrate`.

    Takes q0 and q1 (nq); gives (nv). Continuous joints take the short way, into (-pi, pi], unless others follow them;
    revolute ones do not.

    >>> hinge.samples.planar_2r().difference([0.0, 1.0], [0.5, 1.5])
    array([0.5, 0.5])
    """
    made = []
    for i in model.leaders:
        joint = model.joint[i]
        leads = any(follow.leader == i for follow in model.follows.values())
        # a turn of a joint that others follow is not nothing: they would not come back with it
        made += Joint.difference(joint, q0[i], q1[i]) if leads else joint.difference(q0[i], q1[i])
    return made
