"""MuJoCo: models and states both ways.

There: a free joint [position, quaternion] with the linear velocity in world coordinates and the angular one in body
coordinates; a ball's quaternion and body-frame angular velocity are ours. Armature, damping, springs and dry friction
act in its dynamics; hinge takes them in by `joint_terms=`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from hinge.errors import NotCovered
from hinge.formats.mjcf.settings import about
from hinge.formats.write import mjcf
from hinge.formats.write.notes import Notes
from hinge.interop import forms
from hinge.interop.common import installed
from hinge.interop.states import States, Their
from hinge.model import Builder
from hinge.model.build import WORLD, unused
from hinge.model.joints import Free, Joint, Prismatic, Revolute, Spherical
from hinge.robot import Robot
from hinge.spatial.linear3 import Vec3
from hinge.spatial.rotation import rotation_from_quaternion

FREE, BALL, SLIDE, HINGE = range(4)  # mjtJoint
ON_JOINTS = (0, 1)  # mjtTrn: a joint, and a joint seen from the parent
FORMS = {FREE: forms.FREE_MIXED, BALL: forms.BALL, SLIDE: forms.SINGLE, HINGE: forms.SINGLE}


def to_model(robot: Robot) -> Any:
    """A `mujoco.MjModel` with the robot's joints, bodies and sites by name; shapes stay behind.

    Joints that follow others are held by equality constraints. MuJoCo refuses bodies that move and have no mass, and
    inertias that no body has.
    """
    mujoco = installed("mujoco", "mujoco")
    text = mjcf.write(replace(robot.model, shapes={}), "", Notes())
    try:
        return mujoco.MjModel.from_xml_string(text)
    except ValueError as refusal:
        raise NotCovered(f"MuJoCo refuses robot {robot.name!r}: {str(refusal).splitlines()[0]}") from None


def from_model(model: Any) -> Robot:
    """A robot from a `mujoco.MjModel`, read from its fields: bodies, joints, inertias, sites, limits, joint terms.

    What acts in MuJoCo and is no rigid-body dynamics (constraints, contact, tendons, actuators, fluids) is left out.
    """
    if model.tendon_armature.any():
        raise NotCovered("a tendon has armature, which couples its joints in the mass matrix; hinge does not model it.")
    builder = Builder(_robot_name(model), tuple(model.opt.gravity))
    builder.snap = 0.0
    bodies = [model.body(b).name or f"body_{b}" for b in range(model.nbody)]
    bodies[0] = WORLD
    taken, joints = set(bodies), _joint_names(model)
    builder.link(WORLD)
    for b in range(1, model.nbody):
        turned = _rotation(model.body_iquat[b])
        inertia = turned @ np.diag(model.body_inertia[b]) @ turned.T
        builder.link(bodies[b], model.body_mass[b], model.body_ipos[b], inertia)
        first, count = model.body_jntadr[b], model.body_jntnum[b]
        parent, R, p = bodies[model.body_parentid[b]], _rotation(model.body_quat[b]), model.body_pos[b]
        if not count:
            builder.joint(unused(bodies[b], set(joints)), "fixed", parent, bodies[b], p, R)
        for j in range(first, first + count):
            child = bodies[b] if j == first + count - 1 else unused(f"{bodies[b]}({joints[j]})", taken)
            if child not in taken:
                taken.add(child)
                builder.link(child)
            _add_joint(builder, model, j, joints[j], parent, child, R, p)
            parent, R, p = child, np.eye(3), np.zeros(3)
    for s in range(model.nsite):
        if model.site(s).name:
            name = unused(model.site(s).name, taken)
            taken.add(name)
            builder.frame(name, bodies[model.site_bodyid[s]], model.site_pos[s], _rotation(model.site_quat[s]))
    return Robot(builder.build())


def states(robot: Robot, model: Any) -> States:
    """States of a robot as a `mujoco.MjModel` of it has them: qpos, qvel, qacc and forces dual to qvel."""
    names = _joint_names(model)
    theirs = {
        names[j]: Their(FORMS[int(model.jnt_type[j])], int(model.jnt_qposadr[j]), int(model.jnt_dofadr[j]))
        for j in range(model.njnt)
    }
    return States(robot, theirs, model.nq, model.nv)


def _joint_names(model: Any) -> list[str]:
    """The names of joints; those without one are called as hinge's reader of files calls them."""
    names = [model.joint(j).name for j in range(model.njnt)]
    taken = set(names)
    for j, name in enumerate(names):
        if not name:
            names[j] = unused("base" if model.jnt_type[j] == FREE else f"joint_{j}", taken)
            taken.add(names[j])
    return names


def _add_joint(builder: Builder, model: Any, j: int, name: str, parent: str, child: str, R: Any, p: Any) -> None:
    """A joint in its body: `pos` and `axis` are those of the body, which stands where it does at qpos0."""
    kind, at, dof = int(model.jnt_type[j]), model.jnt_pos[j], model.jnt_dofadr[j]
    joint = _joint(model, j)
    reference = model.qpos0[model.jnt_qposadr[j] :][: joint.nq]
    dofs = slice(dof, dof + joint.nv)
    said: dict[str, Any] = {"damping": model.dof_damping[dofs] + _by_actuators(model, j, "damping"),
                            "armature": model.dof_armature[dofs] + _by_actuators(model, j, "armature"),
                            "friction": model.dof_frictionloss[dofs], "stiffness": float(model.jnt_stiffness[j]),
                            "child_xyz": -at}  # fmt: skip
    if kind in (HINGE, SLIDE):
        axis, ref = model.jnt_axis[j], float(reference[0])
        back, shift = (about(axis, -ref), 0.0) if kind == HINGE else (np.eye(3), -ref * axis)
        said |= {"reference": ref, "rest": float(model.qpos_spring[model.jnt_qposadr[j]]), "child_rotation": back,
                 "child_xyz": shift - back @ at}  # fmt: skip
        if model.jnt_limited[j]:
            said["lower"], said["upper"] = map(float, model.jnt_range[j])
        if model.jnt_actfrclimited[j]:
            said["effort"] = float(model.jnt_actfrcrange[j, 1])
    elif kind == FREE:
        said |= {"reference": [*reference[3:], *reference[:3]], "child_xyz": np.zeros(3)}
        for term in ("damping", "friction", "armature"):  # theirs are in the order of qvel
            said[term] = said[term][[3, 4, 5, 0, 1, 2]]
        R, p, at = np.eye(3), np.zeros(3), np.zeros(3)
    builder.joint(name, joint, parent, child, p + R @ at, R, **said)


def _by_actuators(model: Any, j: int, what: str) -> float:
    """What the actuators of a joint add to its armature or damping, after their gears."""
    own = getattr(model, f"actuator_{what}", np.zeros(model.nu))
    mine = [u for u in range(model.nu) if model.actuator_trntype[u] in ON_JOINTS and model.actuator_trnid[u, 0] == j]
    return float(sum(model.actuator_gear[u, 0] ** 2 * np.ravel(own[u])[0] for u in mine))


def _joint(model: Any, j: int) -> Joint:
    kind = int(model.jnt_type[j])
    if kind in (HINGE, SLIDE):
        return (Revolute if kind == HINGE else Prismatic)(Vec3(tuple(model.jnt_axis[j].tolist())))
    return Free() if kind == FREE else Spherical()


def _rotation(quaternion: Any) -> Any:
    return np.array(list(rotation_from_quaternion(quaternion.tolist()))).reshape(3, 3)


def _robot_name(model: Any) -> str:
    """The first of MuJoCo's names is the model's."""
    return bytes(model.names).split(b"\0", 1)[0].decode() or "robot"
