"""`hinge show`: what is in a robot file."""

from __future__ import annotations

import json
from typing import Any

import click
import numpy as np

from hinge.cli.common import JSON, console, table
from hinge.cli.faults import plain
from hinge.cli.inputs import reads_robot
from hinge.robot import Robot
from hinge.robot.summary import base_mass, freedoms, masses


@click.command()
@reads_robot()
@JSON
def show(robot: Robot, as_json: bool) -> None:
    """Show the joints and frames of ROBOT, a robot file, and the findings on it."""
    if as_json:
        about = {
            "name": robot.name,
            "nq": robot.nq,
            "nv": robot.nv,
            "mass": robot.mass,
            "base_mass": base_mass(robot.model),
        }
        findings = [finding.data() for finding in robot.report]
        click.echo(json.dumps(about | {"joints": _joints(robot), "frames": robot.frame_names, "findings": findings}))
        return
    screen = console()
    screen.print(joint_table(robot))
    others = [name for name in robot.frame_names if name not in {*robot.body_names, robot.model.body_name[0]}]
    if others:
        screen.print(plain(f"other frames: {', '.join(others)}"), soft_wrap=True)
    for finding in robot.report:
        screen.print(plain(str(finding)), soft_wrap=True)


def _joints(robot: Robot) -> list[dict[str, Any]]:
    """What is said of each joint, as data; limits that are none are null."""
    model, made = robot.model, []
    for i, p in model.outward():
        data = model.data[i]
        limits = {key: [x if np.isfinite(x) else None for x in getattr(data, key)]
                  for key in ("lower", "upper", "velocity", "effort")}  # fmt: skip
        names = {"joint": model.joint_name[i], "body": model.body_name[i], "on": model.body_name[p]}
        kind = {"type": model.joint[i].kind, "follows": i in model.follows, "mass": model.inertia[i].m}
        made.append(names | kind | limits)
    return made


def joint_table(robot: Robot) -> Any:
    """The joints of a robot, for a terminal."""
    from rich.console import Group
    from rich.text import Text

    model, rows = robot.model, []
    for i, p in model.outward():
        data = model.data[i]
        limits = [f"{data.lower[0]:.3g}", f"{data.upper[0]:.3g}"] if len(data.lower) == 1 else ["", ""]
        kind = model.joint[i].kind + (" (follows)" if i in model.follows else "")
        rows.append(
            [model.joint_name[i], kind, model.body_name[i], model.body_name[p], f"{model.inertia[i].m:.4g}", *limits]
        )
    title = Text(plain(f"{robot.name}: {freedoms(robot.model)}, {masses(robot.model)}"))
    return Group(title, table("", ("joint", "type", "carries", "on", "kg", "lower", "upper"), rows, left=4))
