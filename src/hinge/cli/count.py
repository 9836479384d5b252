"""`hinge count`: operations."""

from __future__ import annotations

import json

import click

from hinge.cli.common import JSON, NAMES, console
from hinge.cli.inputs import reads_robot
from hinge.robot import Robot


@click.command()
@reads_robot(required=False)
@NAMES
@click.option("--table", is_flag=True, help="Every count the texts print, beside ours on general arms.")
@JSON
def count(robot: Robot | None, names: tuple[str, ...], table: bool, as_json: bool) -> None:
    """Count the operations of every method on ROBOT, a robot file, for one state.

    NAME is what is computed, such as inverse-dynamics; without it, that and mass-matrix and forward-dynamics are.
    """
    if table == (robot is not None):
        raise click.UsageError("give a robot file, or --table and no file.")
    from hinge.counting.measure import COUNTED
    from hinge.counting.table import of_robot, sheets

    made = sheets() if robot is None else (of_robot(robot, name) for name in names or COUNTED)
    if as_json:
        click.echo(json.dumps([sheet.data() for sheet in made], indent=1, ensure_ascii=False))
        return
    screen = console()
    for sheet in made:
        sheet.show(screen)
