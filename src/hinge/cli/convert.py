"""`hinge convert`: a robot file into another format."""

from __future__ import annotations

import click

from hinge.cli.common import JSON
from hinge.cli.inputs import reads_robot
from hinge.cli.outputs import FORCE, FORMAT, ROBOT_OUT, put_robot, tell_robot
from hinge.robot import Robot


@click.command()
@reads_robot()
@ROBOT_OUT
@FORMAT
@FORCE
@JSON
def convert(robot: Robot, out: str, to: str | None, as_json: bool) -> None:
    """Write ROBOT, a robot file, as OUT: URDF (.urdf), MJCF (.xml) or a Denavit-Hartenberg table (.toml).

    What the format cannot say is printed. What would be another robot is refused.
    """
    tell_robot(out, as_json, findings=put_robot(robot, out, to))
