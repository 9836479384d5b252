"""`hinge repair`: a robot file with inertias that bodies can have, and joints that move something."""

from __future__ import annotations

import click

import hinge
from hinge.checking.repairs import REPAIRS
from hinge.cli.common import JSON
from hinge.cli.inputs import reads_robot
from hinge.cli.outputs import FORCE, FORMAT, ROBOT_OUT, put_robot, tell_robot
from hinge.robot import Robot


@click.command()
@reads_robot()
@ROBOT_OUT
@click.option("--only", multiple=True, type=click.Choice(list(REPAIRS)), help="This repair, and no other.")
@FORMAT
@FORCE
@JSON
def repair(robot: Robot, out: str, only: tuple[str, ...], to: str | None, as_json: bool) -> None:
    """Write ROBOT, a robot file, as OUT with repairs applied, and print what was changed and why."""
    better, changes = hinge.repair(robot, only or None)
    tell_robot(out, as_json, changes=changes, findings=put_robot(better, out, to))
