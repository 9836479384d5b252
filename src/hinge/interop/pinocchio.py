"""Pinocchio: models and states both ways.

There: linear before angular in velocities and forces; a free joint [position, quaternion with the scalar last] with
velocity [v; ω] in body coordinates; a joint that goes round as cosine and sine; children in any order. Armature is in
its dynamics, damping and friction are data.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from hinge.errors import NotCovered
from hinge.interop import forms
from hinge.interop.common import Step, inertia_of, installed, matrix, pose_of, steps
from hinge.interop.states import States, Their
from hinge.model import Builder
from hinge.model.build import unused
from hinge.model.joints import Continuous, Free, Helical, Joint, Prismatic, Revolute, Spherical
from hinge.model.mechanisms import Cartesian3, Planar
from hinge.model.potentials import refuse
from hinge.robot import Robot
from hinge.spatial.linear3 import Vec3

FORMS = {"FreeFlyer": forms.FREE_BODY, "Spherical": forms.BALL_SCALAR_LAST, "Planar": forms.PLANE_CIRCLE,
         "Translation": forms.TRIPLE}  # fmt: skip
KINDS: dict[str, type[Joint]] = {"FreeFlyer": Free, "Spherical": Spherical, "Planar": Planar, "Translation": Cartesian3}
SPELLED = ("revolute", "continuous", "prismatic", "helical", "spherical", "free", "cartesian_3")
ALIGNED = {"revolute": "R", "continuous": "RUB", "prismatic": "P", "helical": "H"}
ANY = {"revolute": "Revolute", "continuous": "Revolute", "prismatic": "Prismatic", "helical": "Helical"}


def to_model(robot: Robot) -> Any:
    """A `pinocchio.Model` with the robot's joints, bodies and frames by name.

    Joints that follow others are independent in it. One that goes round is cosine and sine where its axis is x, y or z,
    and an angle elsewhere. Its reference configuration "neutral" is the robot's.
    """
    pin, model = installed("pinocchio", "pin"), robot.model
    refuse(model, "a model of Pinocchio")
    made = pin.Model()
    made.name, made.gravity.linear = model.name, np.array(model.gravity)
    numbers = [0]
    for i, p in model.outward():
        parent, at = numbers[p], pin.SE3(*pose_of(model.placement[i]))
        for step in steps(model, i, SPELLED, "Pinocchio"):
            there = _joint(pin, step.joint)
            parent = made.addJoint(parent, there, at, step.name, *_limits(step, there.nq))
            made.addJointFrame(parent)
            k = made.idx_vs[parent]
            for column, values in ((made.armature, step.data.armature), (made.damping, step.data.damping),
                                   (made.friction, step.data.friction)):  # fmt: skip
                column[k : k + step.joint.nv] = _in_their_order(step.joint, values)
            at = pin.SE3.Identity()
        made.inertias[parent] = _inertia(pin, model.inertia[i])
        numbers.append(parent)
    for name, frame in model.frames.items():
        kind = pin.FrameType.BODY if name in model.links else pin.FrameType.OP_FRAME
        made.addFrame(pin.Frame(name, numbers[frame.body], pin.SE3(matrix(frame.R), np.array(frame.p)), kind))
    made.referenceConfigurations["neutral"] = states(robot, made).there(robot.neutral()).q
    return made


def from_model(model: Any) -> Robot:
    """A robot from a `pinocchio.Model`, read from its fields: joints, inertias, frames, limits, gravity."""
    pin = installed("pinocchio", "pin")
    builder = Builder(model.name or "robot", tuple(model.gravity.linear))
    builder.snap = 0.0
    joints = _subspaces(pin, model)
    taken = {frame.name for frame in model.frames if frame.type == pin.FrameType.BODY}
    links = []
    for j in range(model.njoints):
        here = [frame for frame in model.frames if frame.type == pin.FrameType.BODY and frame.parentJoint == j]
        name = next((frame.name for frame in here if frame.placement == pin.SE3.Identity()), None)
        if name is None:
            name = unused("world" if j == 0 else model.names[j], taken)
            taken.add(name)
        links.append(name)
        I = model.inertias[j]
        builder.link(name, I.mass, I.lever, I.inertia)
    for j in range(1, model.njoints):
        at = model.jointPlacements[j]
        builder.joint(model.names[j], joints[j], links[model.parents[j]], links[j], at.translation, at.rotation,
                      **_data(model, j, joints[j]))  # fmt: skip
    named = set(links)
    for frame in model.frames:
        wanted = frame.type in (pin.FrameType.BODY, pin.FrameType.OP_FRAME, pin.FrameType.FIXED_JOINT)
        if wanted and frame.name not in named:
            named.add(frame.name)
            at = frame.placement
            builder.frame(frame.name, links[frame.parentJoint], at.translation, at.rotation)
    return Robot(builder.build())


def states(robot: Robot, model: Any) -> States:
    """States of a robot as a `pinocchio.Model` of it has them."""
    theirs = {}
    for j in range(1, model.njoints):
        form = _form(model.joints[j])
        if form is None:
            raise NotCovered(f"joint {model.names[j]!r} is {model.joints[j].shortname()}, which hinge does not read.")
        theirs[model.names[j]] = Their(form, model.idx_qs[j], model.idx_vs[j])
    return States(robot, theirs, model.nq, model.nv)


def _form(joint: Any) -> forms.Form | None:
    kind = joint.shortname().removeprefix("JointModel")
    if kind in FORMS or joint.nv != 1 or kind.startswith("Composite"):
        return FORMS.get(kind)
    return forms.CIRCLE if joint.nq == 2 else forms.SINGLE


# ---- there -----------------------------------------------------------------------------------------------------------


def _joint(pin: Any, joint: Joint) -> Any:
    if joint.line is None:
        return {"free": pin.JointModelFreeFlyer, "spherical": pin.JointModelSpherical,
                "cartesian_3": pin.JointModelTranslation}[joint.kind]()  # fmt: skip
    axis, pitch = np.array(joint.line), (joint.pitch,) if isinstance(joint, Helical) else ()
    letter = {(1.0, 0.0, 0.0): "X", (0.0, 1.0, 0.0): "Y", (0.0, 0.0, 1.0): "Z"}.get(tuple(joint.line))
    if letter:
        return getattr(pin, f"JointModel{ALIGNED[joint.kind]}{letter}")(*pitch)
    return getattr(pin, f"JointModel{ANY[joint.kind]}Unaligned")(axis, *pitch)


def _limits(step: Step, nq: int) -> tuple[Any, ...]:
    """Greatest effort and velocity, least and greatest position."""
    data, joint = step.data, step.joint
    effort, velocity = (_in_their_order(joint, x) for x in (data.effort, data.velocity))
    if joint.kind == "free":
        return (
            effort,
            velocity,
            *(np.array([*x[4:], *[s * np.inf] * 4]) for x, s in ((data.lower, -1), (data.upper, 1))),
        )
    if nq > joint.nq:  # cosine and sine
        return effort, velocity, np.full(nq, -np.inf), np.full(nq, np.inf)
    return effort, velocity, np.array(data.lower), np.array(data.upper)


def _in_their_order(joint: Joint, values: Any) -> Any:
    made = np.array(values or (0.0,) * joint.nv)
    return made[[3, 4, 5, 0, 1, 2]] if joint.nv == 6 else made


def _inertia(pin: Any, I: Any) -> Any:
    mass, com, about_com = inertia_of(I)
    made = pin.Inertia.Zero()
    made.mass, made.lever, made.inertia = mass, com, about_com
    return made


# ---- back ------------------------------------------------------------------------------------------------------------


def _subspaces(pin: Any, model: Any) -> list[Any]:
    """The joints as ours, from the motions they allow: a line to turn about or slide along, or both."""
    data = model.createData()
    pin.forwardKinematics(model, data, pin.neutral(model))
    made: list[Any] = [None]
    for j in range(1, model.njoints):
        kind = model.joints[j].shortname().removeprefix("JointModel")
        if _form(model.joints[j]) is None:
            raise NotCovered(f"joint {model.names[j]!r} is {kind}, which hinge does not read.")
        made.append(KINDS[kind]() if kind in KINDS else _on_line(np.array(data.joints[j].S), model.joints[j].nq))
    return made


def _on_line(S: Any, nq: int) -> Joint:
    lin, ang = S.reshape(6)[:3], S.reshape(6)[3:]
    if not ang.any():
        return Prismatic(Vec3(lin))
    if lin.any():
        return Helical(Vec3(ang), pitch=float(lin @ ang))
    return (Continuous if nq == 2 else Revolute)(Vec3(ang))


def _data(model: Any, j: int, joint: Joint) -> dict[str, Any]:
    q, v = model.idx_qs[j], model.idx_vs[j]
    rates = slice(v, v + joint.nv)
    columns = {"velocity": model.velocityLimit, "effort": model.effortLimit, "damping": model.damping,
               "friction": model.friction, "armature": model.armature}  # fmt: skip
    made = {name: _in_their_order(joint, tuple(column[rates])) for name, column in columns.items()}
    if joint.is_single and model.joints[j].nq == 1:
        made |= {"lower": model.lowerPositionLimit[q : q + 1], "upper": model.upperPositionLimit[q : q + 1]}
    return {name: list(x) for name, x in made.items()}
