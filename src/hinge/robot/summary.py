"""A robot in words and as HTML: its freedoms, its masses, its joints as a tree."""

from __future__ import annotations

from typing import Any

from hinge import notebook
from hinge.calls import inputs
from hinge.model import Model

DEEPER = "\u2003"  # before a body, once for each it is carried by
COLUMNS = ("body", "joint", "type", "kg", "lower", "upper", "velocity", "effort")


def freedoms(model: Model) -> str:
    """Return the number of degrees of freedom in words, and which joints follow others."""
    name = model.joint_name
    follow = [f"{name[i]} follows {name[one.leader]}" for i, one in model.follows.items()]
    return f"{model.nv} degree{'s' * (model.nv != 1)} of freedom" + (f" ({', '.join(follow)})" if follow else "")


def moving_mass(model: Model) -> Any:
    """Return the mass of all moving bodies in kg, an expression where the model has symbols."""
    return inputs.number_or_expression(sum((inertia.m for inertia in model.inertia[1:]), 0.0))


def base_mass(model: Model) -> Any:
    """Return the mass of the bodies that are fixed to the ground in kg, which is not in `robot.mass`."""
    return inputs.number_or_expression(model.inertia[0].m)


def masses(model: Model) -> str:
    """Return the mass of the moving bodies in words, and that of the fixed base, if there is one."""
    fixed = base_mass(model)
    return f"{figure(moving_mass(model))} kg" + (f" without the fixed base of {figure(fixed)} kg" if fixed else "")


def figure(x: Any) -> str:
    """A number in four digits, or an expression."""
    try:
        return f"{float(x):.4g}"
    except TypeError:
        return str(x)


def robot_html(model: Model) -> str:
    """Return the tree of a robot with masses and limits, and its findings, as HTML."""
    depth, rows = {0: 0}, []
    for i, p in model.outward():
        depth[i] = depth[p] + 1
        data, kind = model.data[i], model.joint[i].kind + (" (follows)" if i in model.follows else "")
        limits = [", ".join(map(figure, x)) for x in (data.lower, data.upper, data.velocity, data.effort)]
        body = DEEPER * (depth[i] - 1) + model.body_name[i]
        rows.append([body, model.joint_name[i], kind, figure(inputs.number_or_expression(model.inertia[i].m)), *limits])
    title = f"{model.name}: {freedoms(model)}, {masses(model)}"
    return notebook.table(COLUMNS, rows, title, words=3) + (model.report._repr_html_() if model.report else "")
