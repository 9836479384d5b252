"""A robot in words and as HTML: its freedoms, its masses, its joints as a tree."""

from __future__ import annotations

from typing import Any

from hinge import notebook
from hinge.calls import inputs
from hinge.robot.robot import Robot

DEEPER = "\u2003"  # before a body, once for each it is carried by
COLUMNS = ("body", "joint", "type", "kg", "lower", "upper", "velocity", "effort")


def freedoms(robot: Robot) -> str:
    """How many degrees of freedom there are, and which joints follow others and have none of their own."""
    name = robot.model.joint_name
    follow = [f"{name[i]} follows {name[one.leader]}" for i, one in robot.model.follows.items()]
    return f"{robot.nv} degree{'s' * (robot.nv != 1)} of freedom" + (f" ({', '.join(follow)})" if follow else "")


def base_mass(robot: Robot) -> Any:
    """The mass of what is fixed to the ground, in kg, which is not in `robot.mass`."""
    return inputs.known(robot.model.inertia[0].m)


def masses(robot: Robot) -> str:
    """The mass of the bodies that move, and whether there is a base that is not in it."""
    fixed = base_mass(robot)
    return f"{figure(robot.mass)} kg" + (f" without the fixed base of {figure(fixed)} kg" if fixed else "")


def figure(x: Any) -> str:
    """A number in four digits, or an expression."""
    try:
        return f"{float(x):.4g}"
    except TypeError:
        return str(x)


def robot_html(robot: Robot) -> str:
    """The tree of a robot with masses and limits, and its findings."""
    model, depth, rows = robot.model, {0: 0}, []
    for i, p in model.outward():
        depth[i] = depth[p] + 1
        data, kind = model.data[i], model.joint[i].kind + (" (follows)" if i in model.follows else "")
        limits = [", ".join(map(figure, x)) for x in (data.lower, data.upper, data.velocity, data.effort)]
        body = DEEPER * (depth[i] - 1) + model.body_name[i]
        rows.append([body, model.joint_name[i], kind, figure(inputs.known(model.inertia[i].m)), *limits])
    title = f"{robot.name}: {freedoms(robot)}, {masses(robot)}"
    return notebook.table(COLUMNS, rows, title, words=3) + (robot.report._repr_html_() if robot.report else "")
