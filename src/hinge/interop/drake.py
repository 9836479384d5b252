"""Drake: models and states both ways.

There: a free joint [quaternion, position] as ours, its velocity [ω; v] in world axes; a ball by roll, pitch and yaw,
with its angular velocity in the parent's axes; a plane [x, y, angle]; a screw's pitch in metres a revolution. Damping
and armature (the reflected inertia of an actuator) act in its dynamics; hinge takes damping in by `joint_terms=`.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from hinge.errors import NotCovered
from hinge.interop import forms
from hinge.interop.common import Step, inertia_of, installed, matrix, pose_of, steps
from hinge.interop.states import States, Their
from hinge.model import Builder, Model
from hinge.model.build import WORLD, unused
from hinge.model.joints import Free, Helical, Joint, Prismatic, Revolute, Spherical
from hinge.model.mechanisms import Planar, Universal
from hinge.model.potentials import refuse
from hinge.robot import Robot
from hinge.spatial.linear3 import Vec3

FORMS = {
    "revolute": forms.SINGLE,
    "prismatic": forms.SINGLE,
    "screw": forms.SINGLE,
    "ball_rpy": forms.BALL_ANGLES,
    "universal": forms.PAIR,
    "planar": forms.PLANE_ANGLE_LAST,
    "quaternion_floating": forms.FREE_WORLD,
}
MODULES = ("math", "multibody.plant", "multibody.tree")
SPELLED = ("revolute", "continuous", "prismatic", "helical", "spherical", "free", "universal", "planar")
TURN = 2.0 * math.pi


def to_model(robot: Robot) -> Any:
    """A finalized `MultibodyPlant` with the robot's joints, bodies and frames by name; shapes stay behind.

    Joints that follow others are independent in it. Drake has no body with inertia and no mass.
    """
    math3, multibody, tree = (installed(f"pydrake.{module}", "drake", "drake") for module in MODULES)

    def transform(R: Any, p: Any) -> Any:
        return math3.RigidTransform(math3.RotationMatrix.ProjectToRotationMatrix(R), p)

    model, plant = robot.model, multibody.MultibodyPlant(time_step=0.0)
    refuse(model, "a plant of Drake")
    plant.mutable_gravity_field().set_gravity_vector(np.array(model.gravity))
    frames = [plant.world_frame()]  # of each body of ours: its joint's outer frame
    for i, p in model.outward():
        on, at, listed = frames[p], transform(*pose_of(model.placement[i])), steps(model, i, SPELLED, "Drake")
        for step in listed:
            name, inertia, seat = model.body_name[i], _inertia(tree, model, i), transform(*_seat(model, i))
            if step is not listed[-1]:
                name, inertia, seat = f"{name}({step.name})", tree.SpatialInertia.Zero(), math3.RigidTransform()
            body = plant.AddRigidBody(name, inertia)
            inner = plant.AddFrame(tree.FixedOffsetFrame(f"{step.name}_inner", on, at))
            on = plant.AddFrame(tree.FixedOffsetFrame(f"{step.name}_outer", body.body_frame(), seat.inverse()))
            _add_joint(tree, plant, step, inner, on)
            at = math3.RigidTransform()
        frames.append(on)
    for name, frame in model.frames.items():
        if name != model.body_name[frame.body] and name != WORLD:
            at = transform(matrix(frame.R), np.array(frame.p))
            plant.AddFrame(tree.FixedOffsetFrame(name, frames[frame.body], at))
    plant.Finalize()
    return plant


def from_model(plant: Any) -> Robot:
    """A robot from a `MultibodyPlant`, read from its bodies and joints; what is welded to the world is its base."""
    tree = installed("pydrake.multibody.tree", "drake", "drake")
    builder = Builder("robot", tuple(plant.gravity_field().gravity_vector()))
    builder.snap = 0.0
    names = [plant.get_body(tree.BodyIndex(b)).name() for b in range(plant.num_bodies())]
    names[0] = unused(WORLD, set(names[1:]))
    builder.link(names[0])
    for b in range(1, plant.num_bodies()):
        M = plant.get_body(tree.BodyIndex(b)).default_spatial_inertia()
        m, com, about_origin = M.get_mass(), M.get_com(), M.CalcRotationalInertia().CopyToFullMatrix3()
        builder.link(names[b], m, com, about_origin - m * (com @ com * np.eye(3) - np.outer(com, com)))
    actuated, taken = _actuated(plant), set(names)
    for j in plant.GetJointIndices():
        joint = plant.get_joint(j)
        inner = joint.frame_on_parent().GetFixedPoseInBodyFrame()
        outer = joint.frame_on_child().GetFixedPoseInBodyFrame().inverse()
        builder.joint(joint.name(), _joint(joint), names[int(joint.parent_body().index())],
                      names[int(joint.child_body().index())], inner.translation(), inner.rotation().matrix(),
                      child_xyz=outer.translation(), child_rotation=outer.rotation().matrix(),
                      **_data(joint, actuated.get(int(j), {})))  # fmt: skip
        taken |= {joint.frame_on_parent().name(), joint.frame_on_child().name()}
    for f in range(plant.num_frames()):
        frame = plant.get_frame(tree.FrameIndex(f))
        if frame.name() not in taken and not frame.is_body_frame():
            taken.add(frame.name())
            at = frame.GetFixedPoseInBodyFrame()
            builder.frame(frame.name(), names[int(frame.body().index())], at.translation(), at.rotation().matrix())
    return Robot(builder.build())


def states(robot: Robot, plant: Any) -> States:
    """States of a robot as a finalized `MultibodyPlant` of it has them."""
    theirs = {}
    for j in plant.GetJointIndices():
        joint = plant.get_joint(j)
        if joint.num_velocities():
            theirs[joint.name()] = Their(_form(joint), joint.position_start(), joint.velocity_start())
    return States(robot, theirs, plant.num_positions(), plant.num_velocities())


def _form(joint: Any) -> forms.Form:
    if joint.type_name() not in FORMS:
        raise NotCovered(f"joint {joint.name()!r} is {joint.type_name()}, which hinge does not read.")
    return FORMS[joint.type_name()]


# ---- there -----------------------------------------------------------------------------------------------------------


def _seat(model: Model, i: int) -> tuple[Any, Any]:
    """Where the frame that has the body's name stands in the joint's."""
    frame = model.frames[model.body_name[i]]
    return matrix(frame.R), np.array(frame.p)


def _inertia(tree: Any, model: Model, i: int) -> Any:
    """The inertia of a body in the frame that has its name."""
    mass, com, about_com = inertia_of(model.inertia[i])
    R, p = _seat(model, i)
    I = R.T @ about_com @ R
    if not mass:
        if I.any():
            raise NotCovered(f"body {model.body_name[i]!r} has inertia and no mass, which Drake does not have.")
        return tree.SpatialInertia.Zero()
    try:
        moments = tree.RotationalInertia(I[0, 0], I[1, 1], I[2, 2], I[0, 1], I[0, 2], I[1, 2])
        return tree.SpatialInertia.MakeFromCentralInertia(mass, R.T @ (com - p), moments)
    except RuntimeError:
        raise NotCovered(
            f"body {model.body_name[i]!r} has an inertia that no body has, which Drake refuses.\n"
            "  See what hinge.repair makes of it."
        ) from None


def _add_joint(tree: Any, plant: Any, step: Step, inner: Any, outer: Any) -> None:
    joint, data = step.joint, step.data
    damping = data.damping or (0.0,) * joint.nv
    if isinstance(joint, Revolute | Prismatic):
        kind = tree.RevoluteJoint if isinstance(joint, Revolute) else tree.PrismaticJoint
        made = kind(step.name, inner, outer, np.array(joint.axis), data.lower[0], data.upper[0], damping[0])
    elif isinstance(joint, Helical):
        made = tree.ScrewJoint(step.name, inner, outer, np.array(joint.axis), TURN * joint.pitch, damping[0])
    elif isinstance(joint, Planar):
        made = tree.PlanarJoint(step.name, inner, outer, np.array(damping)[[1, 2, 0]])
    elif isinstance(joint, Free):
        made = tree.QuaternionFloatingJoint(step.name, inner, outer, damping[0], damping[3])
    else:
        kind = tree.UniversalJoint if isinstance(joint, Universal) else tree.BallRpyJoint
        made = kind(step.name, inner, outer, damping[0])
    made = plant.AddJoint(made)
    if joint.nv == 1:
        velocity, effort = data.velocity[0], data.effort[0]
        made.set_velocity_limits([-velocity], [velocity])
        actuator = plant.AddJointActuator(step.name, made, effort if effort > 0.0 else math.inf)
        if any(data.armature):
            actuator.set_default_rotor_inertia(data.armature[0])
            actuator.set_default_gear_ratio(1.0)
    elif any(data.armature):
        raise NotCovered(f"joint {step.name!r} has armature and several freedoms, which Drake does not have.")


# ---- back ------------------------------------------------------------------------------------------------------------


def _joint(joint: Any) -> Joint | str:
    kind = joint.type_name()
    if kind == "weld":
        return "fixed"
    _form(joint)
    if kind == "screw":
        return Helical(_axis(_screw_axis(joint)), pitch=joint.screw_pitch() / TURN)
    if kind == "revolute":
        return Revolute(_axis(joint.revolute_axis()))
    if kind == "prismatic":
        return Prismatic(_axis(joint.translation_axis()))
    return {"ball_rpy": Spherical, "universal": Universal, "planar": Planar, "quaternion_floating": Free}[kind]()


def _screw_axis(joint: Any) -> Any:
    """The axis of a screw, which Drake does not tell in Python: what stays when it turns by a radian."""
    plant = joint.GetParentPlant()
    context = plant.CreateDefaultContext()
    q = plant.GetPositions(context)
    q[joint.position_start()] = 1.0
    plant.SetPositions(context, q)
    R = joint.frame_on_child().CalcPose(context, joint.frame_on_parent()).rotation().matrix()
    axis = np.array([R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]])
    return axis / np.linalg.norm(axis)


def _axis(axis: Any) -> Vec3:
    return Vec3(tuple(axis.tolist()))


def _actuated(plant: Any) -> dict[int, dict[str, float]]:
    """What the actuators of a joint add up to, by the joint's number: reflected inertia and greatest effort."""
    made: dict[int, dict[str, float]] = {}
    for k in plant.GetJointActuatorIndices():
        one = plant.get_joint_actuator(k)
        said = made.setdefault(int(one.joint().index()), {"armature": 0.0, "effort": 0.0})
        said["armature"] += one.default_rotor_inertia() * one.default_gear_ratio() ** 2
        said["effort"] += one.effort_limit()
    return made


def _data(joint: Any, actuated: dict[str, float]) -> dict[str, Any]:
    if joint.type_name() == "weld":
        return {}
    damping = joint.default_damping_vector()
    if joint.type_name() == "planar":
        damping = damping[[2, 0, 1]]
    said: dict[str, Any] = {"damping": damping.tolist()}
    if joint.num_velocities() == 1:
        said |= {"lower": joint.position_lower_limits().tolist(), "upper": joint.position_upper_limits().tolist(),
                 "velocity": joint.velocity_upper_limits().tolist()} | actuated  # fmt: skip
    return said
