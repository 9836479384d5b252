"""`hinge equations`: the equations of a robot."""

from __future__ import annotations

import click

from hinge.cli.common import AT, NAMES
from hinge.cli.inputs import reads_robot
from hinge.robot import Robot


@click.command()
@reads_robot()
@NAMES
@click.option("--latex", "form", flag_value="latex", help="Print LaTeX.")
@click.option("--python", "form", flag_value="python", help="Print a function in Python.")
@click.option("--vary", multiple=True, metavar="NAME", help="A number that stays a symbol, such as hand.mass.")
@click.option("--digits", type=click.IntRange(1), metavar="N", help="Round decimals to N significant digits.")
@AT
def equations(
    robot: Robot, names: tuple[str, ...], form: str | None, vary: tuple[str, ...], digits: int | None, at: str
) -> None:
    """Print the equations of ROBOT, a robot file: inverse-dynamics, or those NAMEs."""
    from hinge.export.equations import page

    varied = robot.vary(*vary)
    asked = names or ("inverse_dynamics",)
    pages = [page(varied.target, name, form or "text", at=at, digits=digits) for name in asked]
    click.echo("\n".join(pages), nl=False)
