"""Motion in which nothing accelerates, where velocities of a free body are in its own axes, which turn.

Along the velocities of all other joints that is a motion with constant velocities. The origin of a free body goes
straight on in space, so that its velocity in the body's axes changes as they turn. MuJoCo has that velocity in space,
where it stays; steps and constraints that are MuJoCo's count accelerations from here.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from hinge.graph.expr import Scalar
from hinge.model.joints import Joint
from hinge.spatial.linear3 import Vec3, cross3
from hinge.spatial.rotation import quaternion_exp, quaternion_product, rotation_from_quaternion, unit

if TYPE_CHECKING:
    from hinge.model.model import Model

FREE = 6  # velocities


def floating(model: Model) -> NDArray[np.bool_]:
    """Return a mask of the velocities (nv) of free joints, which no actuator moves."""
    mask = np.zeros(model.nv, bool)
    for i in model.leaders:
        mask[model.slices[i][1]] = model.joint[i].nv == FREE
    return mask


def coasting(joint: Joint, qd: Sequence[Scalar]) -> list[Scalar]:
    """The joint accelerations of such a motion."""
    if joint.nv < FREE:
        return [0.0] * joint.nv
    return [0.0, 0.0, 0.0, *cross3(Vec3(tuple(qd[3:])), Vec3(tuple(qd[:3])))]


def coasted(joint: Joint, q: Sequence[Scalar], qd: Sequence[Scalar], h: Scalar) -> tuple[list[Scalar], list[Scalar]]:
    """Coordinates and velocities after h seconds of it."""
    if joint.nv < FREE:
        return joint.integrate(q, [h * x for x in qd]), list(qd)
    ang, lin, start = Vec3(tuple(qd[:3])), Vec3(tuple(qd[3:])), unit(q[:4])
    turn = quaternion_exp(ang * h)
    position = Vec3(tuple(q[4:])) + rotation_from_quaternion(start) @ (lin * h)
    return [*quaternion_product(start, turn), *position], [*ang, *(rotation_from_quaternion(turn).T @ lin)]
