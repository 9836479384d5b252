"""Which velocities of a robot have a motor."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from hinge.arguments import Array
from hinge.errors import SizeError
from hinge.robot import Robot

FREE = 6  # velocities of a joint that lets everything move: none of them has a motor


def driven_velocities(what: str, robot: Robot, driven: Sequence[str] | None) -> Array:
    """The numbers (nu,) of the velocities that joints have that are driven, in the robot's order.

    `driven` names joints, none twice; without it they are all but those that float. `what` is the call that asks.
    """
    model = robot.model
    if driven is None:
        joints = [i for i in model.leaders if model.joint[i].nv < FREE]
        return _velocities([model.slices[i][1] for i in joints])
    made = named_velocities(f"{what}: driven", robot, driven)
    if not len(made):
        raise SizeError(f"{what}: driven names no joint that moves. Name one of robot {robot.name!r}, or leave it out.")
    return made


def named_velocities(what: str, robot: Robot, joints: Sequence[str]) -> Array:
    """The numbers of the velocities of joints by name, in the robot's order."""
    if isinstance(joints, str) or not all(isinstance(name, str) for name in joints):
        raise SizeError(f"{what}={joints!r} is not known. Give a list of names of joints.")
    made = _velocities([robot.coordinates(name)[1] for name in joints])
    if len(np.unique(made)) < len(made):
        raise SizeError(
            f"{what}={list(joints)} moves a joint twice. Name each once, and one of those that follow others."
        )
    return made


def _velocities(slices: Sequence[Any]) -> Array:
    return np.sort(np.concatenate([np.zeros(0, int), *(np.arange(at.start, at.stop) for at in slices)]))
