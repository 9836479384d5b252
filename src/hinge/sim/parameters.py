"""Numbers that rollouts are given by name: of a varied robot, and of surfaces that touch."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from hinge.arguments import Array
from hinge.calls import inputs
from hinge.contact.surfaces import surface_parameters
from hinge.model.vary import Parameter
from hinge.robot import Robot


def varying(robot: Robot, names: Iterable[str]) -> tuple[Robot, dict[str, Parameter]]:
    """The robot with the numbers of these names varied that are its own, and what all of them are of."""
    surfaces = surface_parameters("sweep", robot.target, dict.fromkeys(names, 0.0))
    known = {one.name for one in (*robot.target.vary, *surfaces)}
    more = [name for name in names if name not in known]
    robot = robot.vary(*more) if more else robot
    return robot, {one.name: one for one in (*robot.target.vary, *surfaces)}


def varied(robot: Robot, parameters: Mapping[str, Any] | None) -> Array | None:
    """The numbers of a varied robot and then those of surfaces, (…, size); None where there are none."""
    vary = (*robot.target.vary, *surface_parameters("simulate", robot.target, parameters))
    made = inputs.parameters("simulate", robot.model, vary, parameters)
    return np.asarray(made[0], float) if made else None
