"""`hinge equations` and `hinge export`: programs on paper."""

from __future__ import annotations

import click

from hinge.cli.common import AT, BASE, NAMES, ROBOT, loaded


@click.command()
@ROBOT
@NAMES
@click.option("--latex", "form", flag_value="latex", help="Print LaTeX.")
@click.option("--python", "form", flag_value="python", help="Print a function in Python.")
@click.option("--vary", multiple=True, metavar="NAME", help="A number that stays a symbol, such as hand.mass.")
@click.option("--digits", type=click.IntRange(1), metavar="N", help="Round decimals to N significant digits.")
@BASE
@AT
def equations(robot: str, names: tuple[str, ...], form: str | None, vary: tuple[str, ...], digits: int | None,
              base: str, at: str) -> None:  # fmt: skip
    """Print the equations of ROBOT, a robot file: inverse-dynamics, or those NAMEs."""
    from hinge import paper

    varied = loaded(robot, base).vary(*vary)
    pages = [paper.page(varied, name, form or "text", at=at, digits=digits) for name in names or ("inverse_dynamics",)]
    click.echo("\n".join(pages), nl=False)


@click.command()
@ROBOT
@NAMES
@click.option("--c", "folder", required=True, metavar="DIR", type=click.Path(), help="Write C99 into this folder.")
@click.option("--float", "single", is_flag=True, help="In single precision.")
@click.option("--force", is_flag=True, help="Overwrite files that are there.")
@BASE
@AT
def export(robot: str, names: tuple[str, ...], folder: str, single: bool, force: bool, base: str, at: str) -> None:
    """Write the algorithms NAME of ROBOT, a robot file, as C: inverse and forward dynamics and mass matrix if none."""
    from hinge import paper

    files = paper.c_files(loaded(robot, base), names or paper.EXPORTED, "float" if single else "double", at=at)
    for path in paper.put(folder, files, force):
        click.echo(path)
