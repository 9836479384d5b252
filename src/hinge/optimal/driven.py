"""Which velocities of a robot have a motor."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from hinge.errors import NotCovered, SizeError
from hinge.model.coasting import FREE
from hinge.robot import Robot


def driven_velocities(robot: Robot, driven: Sequence[str] | None) -> tuple[int, ...]:
    """The numbers (nu) of the velocities that joints have that are driven, in the robot's order.

    `driven` names joints, none twice; without it they are all but those that float.
    """
    model = robot.model
    if driven is None:
        driven = [model.joint_name[i] for i in model.leaders if model.joint[i].nv < FREE]
    if isinstance(driven, str) or not all(isinstance(name, str) for name in driven):
        raise SizeError(f"driven={driven!r} is not known. Give a list of names of joints.")
    every = np.arange(robot.nv)
    made = sorted(int(k) for name in driven for k in every[robot.coordinates(name)[1]])
    if len(set(made)) < len(made):
        raise SizeError(
            f"driven={list(driven)} moves a joint twice. Name each once, and one of those that follow others."
        )
    if not made:
        raise NotCovered(
            f"no joint of robot {robot.name!r} is driven: there is nothing to choose. Name some in driven=."
        )
    return tuple(made)
