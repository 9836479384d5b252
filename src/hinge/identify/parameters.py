"""The numbers that joint forces are linear in: read from a robot, and put into one.

    tau = Y(q, qd, qdd) π

π has ten numbers a moving body: mass m, first moment h = m c, and second moment about the origin (xx, yy, zz, yz, xz,
xy), in the frame that has the body's name. After them, for each of `joint_terms`, one for each velocity of each joint.
The pseudo-inertia of a body holds the same ten numbers as a symmetric matrix, positive definite where mass is:

    P = [ Σ  h ]     Σ = ½ tr(I) 1 - I, the integral of x xᵀ dm
        [ hᵀ m ]
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, cast

import numpy as np

from hinge import arguments
from hinge.calls import inputs
from hinge.calls.call import DEFAULT_TERMS
from hinge.errors import NotCovered, SizeError
from hinge.model import Model
from hinge.model.model import NUMBERS
from hinge.robot import Robot
from hinge.spatial import Mat3, Rigid, RigidInertia, Sym3, Transform, Vec3
from hinge.typing import Array, Numbers, Term

WORDS = ("m", "mx", "my", "mz", "Ixx", "Iyy", "Izz", "Iyz", "Ixz", "Ixy")


def parameters(robot: Robot, joint_terms: Sequence[Term] = DEFAULT_TERMS) -> Array:
    """π (p,) of a robot: `robot.regressor(…) @ π` is `robot.inverse_dynamics(…)` with the same `joint_terms`.

    >>> arm = hinge.samples.planar_2r()
    >>> hinge.identify.parameters(arm)[:4]
    array([1. , 0.5, 0. , 0. ])
    """
    model = _with_terms(robot, joint_terms)
    bodies = [_in_frame(model, i) for i, _ in model.outward()]
    joints = [getattr(model.data[i], term)[k] if getattr(model.data[i], term) else 0.0 for term, i, k in model.in_terms]
    return np.array([x for I in bodies for x in (I.m, *I.h, *I.I)] + joints, float)


def in_force(joint_terms: Sequence[Term]) -> tuple[Term, ...]:
    """Return the terms that joint forces have: those named, and armature, which a robot's dynamics have by default."""
    return tuple(dict.fromkeys((*DEFAULT_TERMS, *joint_terms)))


def parameter_names(robot: Robot, joint_terms: Sequence[Term] = DEFAULT_TERMS) -> tuple[str, ...]:
    """The names of π's entries: "LINK.m", "LINK.mx", …, "LINK.Ixy", "JOINT.armature"; "JOINT.damping[1]" of several.

    >>> hinge.identify.parameter_names(hinge.samples.pendulum(1))[-2:]
    ('rod1.Ixy', 'joint1.armature')
    """
    model = _with_terms(robot, joint_terms)
    bodies = [f"{name}.{word}" for name in model.body_name[1:] for word in WORDS]
    joints = [
        f"{model.joint_name[i]}.{term}" + (f"[{k}]" if model.joint[i].nv > 1 else "") for term, i, k in model.in_terms
    ]
    return (*bodies, *joints)


def with_parameters(robot: Robot, values: Numbers, joint_terms: Sequence[Term] = DEFAULT_TERMS) -> Robot:
    """The robot with these numbers (p,) for its bodies and joints.

    >>> arm = hinge.samples.planar_2r()
    >>> hinge.identify.with_parameters(arm, 2 * hinge.identify.parameters(arm)).mass
    4.0
    """
    model = _with_terms(robot, joint_terms)
    given = arguments.real("with_parameters: values", values).astype(float)
    if given.shape != (model.parameter_count,):
        raise SizeError(
            f"with_parameters: values has shape {given.shape}; robot {robot.name!r} has p = {model.parameter_count} "
            f"with joint_terms={tuple(joint_terms)}.\n  hinge.identify.parameter_names(robot) has their order."
        )
    if not np.all(np.isfinite(given)):
        bad = parameter_names(robot, joint_terms)[int(np.argmin(np.isfinite(given)))]
        raise SizeError(f"with_parameters: {bad} is not a finite number.")
    inertia, data = list(model.inertia), list(model.data)
    for i, _ in model.outward():
        m, hx, hy, hz, *moments = given[NUMBERS * (i - 1) : NUMBERS * i].tolist()
        frame = model.frames[model.body_name[i]]
        inertia[i] = frame.transform.T @ RigidInertia(m, Vec3((hx, hy, hz)), Sym3(moments))
    for (term, i, k), x in zip(model.in_terms, given[NUMBERS * model.count :].tolist(), strict=True):
        old = getattr(data[i], term) or (0.0,) * model.joint[i].nv
        data[i] = replace(data[i], **cast(Any, {term: (*old[:k], x, *old[k + 1 :])}))
    return robot._with(replace(robot.model, inertia=tuple(inertia), data=tuple(data)))


def pseudo_inertia(ten: Array) -> Array:
    """The 4×4 matrices (…, 4, 4) of the ten numbers (…, 10) of bodies."""
    return np.tensordot(ten, PSEUDO, 1)


def _pseudo() -> Array:
    """The ten symmetric matrices that the numbers of a body multiply in its pseudo-inertia."""
    made = np.zeros((NUMBERS, 4, 4))
    made[0, 3, 3] = 1.0
    for k in range(3):
        made[1 + k, k, 3] = made[1 + k, 3, k] = 1.0
        made[4 + k, range(3), range(3)] = 0.5
        made[4 + k, k, k] = -0.5
    for k, (i, j) in enumerate(((1, 2), (0, 2), (0, 1)), start=7):
        made[k, i, j] = made[k, j, i] = -1.0
    return made


PSEUDO = _pseudo()


def _with_terms(robot: Robot, joint_terms: Sequence[str]) -> Model:
    if robot.model.symbols:
        raise NotCovered(
            f"robot {robot.name!r} is built from symbols ({', '.join(robot.model.symbols)}) without numbers.\n"
            "  Give them with robot.with_values({…})."
        )
    return replace(robot.model, terms=frozenset(inputs.joint_terms(joint_terms)))


def _in_frame(model: Model, i: int) -> RigidInertia:
    """The inertia of a body in the frame that has its name."""
    frame = model.frames[model.body_name[i]]
    R: Mat3 = frame.R
    return Transform(Rigid(R, -(R.T @ frame.p))).T @ model.inertia[i]
