"""`hinge show`: what is in a robot file."""

from __future__ import annotations

import json
from typing import Any

import click
import numpy as np

from hinge.cli.common import BASE, JSON, ROBOT, console, loaded, plain, table
from hinge.robot import Robot


@click.command()
@ROBOT
@JSON
@BASE
def show(robot: str, as_json: bool, base: str) -> None:
    """Show the joints and frames of ROBOT, a robot file, and the findings on it."""
    found = loaded(robot, base)
    if as_json:
        findings = [{"severity": f.severity, "code": f.code, "what": f.what, "fix": f.fix} for f in found.report]
        about = {"name": found.name, "nq": found.nq, "nv": found.nv, "mass": found.mass}
        click.echo(json.dumps(about | {"joints": _joints(found), "frames": found.frame_names, "findings": findings}))
        return
    screen = console()
    screen.print(joint_table(found))
    others = [name for name in found.frame_names if name not in {*found.body_names, found.model.body_name[0]}]
    if others:
        screen.print(plain(f"other frames: {', '.join(others)}"), soft_wrap=True)
    for finding in found.report:
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
    model, rows = robot.model, []
    for i, p in model.outward():
        data = model.data[i]
        limits = [f"{data.lower[0]:.3g}", f"{data.upper[0]:.3g}"] if len(data.lower) == 1 else ["", ""]
        kind = model.joint[i].kind + (" (follows)" if i in model.follows else "")
        rows.append(
            [model.joint_name[i], kind, model.body_name[i], model.body_name[p], f"{model.inertia[i].m:.4g}", *limits]
        )
    title = f"{robot.name}: {robot.nv} degrees of freedom, {robot.mass:.4g} kg"
    return table(title, ("joint", "type", "carries", "on", "kg", "lower", "upper"), rows, left=4)
