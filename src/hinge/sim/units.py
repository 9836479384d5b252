"""The units of coordinates, velocities, joint forces and numbers of a robot, as words for a store."""

from __future__ import annotations

from typing import Any

import numpy as np

from hinge.calls.target import Target
from hinge.model import Model
from hinge.model.vary import Parameter

RATE = {"rad": "rad/s", "m": "m/s"}
FORCE = {"rad": "N m", "m": "N"}
SURFACE = {"friction": "1", "restitution": "1", "spinning": "m", "rolling": "m"}
LINK = {"mass": "kg", "com": "m", "inertia": "kg m2", "gravity": "m/s2"}
JOINT = {  # of a joint that turns, and of one that slides
    "armature": ("kg m2", "kg"), "damping": ("N m s/rad", "N s/m"), "friction": ("N m", "N"),
    "stiffness": ("N m/rad", "N/m"), "velocity": ("rad/s", "m/s"), "effort": ("N m", "N"),
    "lower": ("rad", "m"), "upper": ("rad", "m"), "rest": ("rad", "m"), "offset": ("rad", "m"),
}  # fmt: skip


def coordinates(model: Model, i: int) -> list[str]:
    """The units of the coordinates of a joint; those of an orientation that is no angle have 1."""
    joint = model.joint[i]
    q = [x + 0.1 * k for k, x in enumerate(model.neutral(i), start=1)]  # nowhere special
    turned = lambda at: np.array(joint.transform(at).pose()[0], float)
    turns = [not np.array_equal(turned(q), turned([*q[:k], q[k] + 0.1, *q[k + 1 :]])) for k in range(joint.nq)]
    return [("rad" if joint.rates_are_velocities else "1") if one else "m" for one in turns]


def velocities(model: Model, i: int) -> list[str]:
    """What the velocities of a joint are rates of: turns, in rad, or ways, in m."""
    return ["rad" if any(axis.ang) else "m" for axis in model.joint[i].axes(list(model.neutral(i)))]


def units(model: Model, of: str) -> list[str]:
    """The unit of each coordinate ("q"), velocity ("qd") or joint force ("tau")."""
    if of == "q":
        return [unit for i in model.leaders for unit in coordinates(model, i)]
    rows = RATE if of == "qd" else FORCE
    return [rows[unit] for i in model.leaders for unit in velocities(model, i)]


def of_parameter(target: Target, one: Parameter) -> str | list[str]:
    """The unit of a number that rollouts are given by name, the robot's or a surface's; "" where nobody knows it."""
    if one not in target.vary:
        return SURFACE[one.field]
    if one.field not in JOINT:
        return LINK.get(one.field, "")
    i = target.model.joint_number(one.owner)
    of = coordinates if one.field in ("lower", "upper", "rest") else velocities
    return common([JOINT[one.field][kind == "m"] for kind in of(target.model, i)])


def common(unit: list[str]) -> Any:
    """One unit where all are alike, else a list of them."""
    return unit[0] if len(set(unit)) == 1 else unit
