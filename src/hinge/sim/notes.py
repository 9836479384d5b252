"""Notes of a run: numbers of the robot that do not act in it, with the words that let them."""

from __future__ import annotations

import math
from typing import Any

from hinge.robot import Robot
from hinge.steps.step import Physics

TERMS = ("damping", "friction", "stiffness")
ENDS = ("lower", "upper")


def unused_numbers(robot: Robot, physics: Physics) -> tuple[str, ...]:
    """Return a note for joint terms and one for position limits that the robot has and a run leaves out."""
    if physics.integrator:  # all that the file says acts
        return ()
    model = robot.model
    varied = {(one.owner, one.field) for one in robot.target.vary}
    data = [(i, model.data[i]) for i in range(len(model.joint)) if model.joint[i].nv]
    left_out = [one for one in TERMS if one not in physics.terms]
    joints: dict[str, set[int]] = {
        term: {i for i, row in data if (model.joint_name[i], term) in varied or any(map(_acts, getattr(row, term)))}
        for term in left_out
    }
    found, notes = [one for one in left_out if joints[one]], []
    if found:
        words = tuple(one for one in ("armature", *TERMS) if one in physics.terms or one in found)
        notes.append(
            f"{' and '.join(found)} of {_counted(len(set().union(*joints.values())))} of the robot did not act; "
            f"joint_terms={words!r} lets them act"
        )
    bounded = [
        i
        for i, row in data
        if model.joint[i].is_single
        and ({(model.joint_name[i], end) for end in ENDS} & varied or any(map(_ends, (*row.lower, *row.upper))))
    ]
    if bounded and not physics.stops and physics.springs is None:
        notes.append(f'position limits of {_counted(len(bounded))} were ignored; limits="stop" or "spring" keeps them')
    return tuple(notes)


def _acts(number: Any) -> bool:
    """Whether a number, or a symbol, may be another than zero."""
    return not (isinstance(number, int | float) and number == 0.0)


def _ends(limit: Any) -> bool:
    return not (isinstance(limit, int | float) and math.isinf(limit))


def _counted(joints: int) -> str:
    return f"{joints} joint{'s' * (joints > 1)}"
