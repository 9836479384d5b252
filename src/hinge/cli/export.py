"""`hinge export`: the algorithms of a robot as C."""

from __future__ import annotations

import click

from hinge.cli.common import AT, BASE, NAMES, ROBOT, loaded


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
    from hinge.export import c_files

    files = c_files.c_files(
        loaded(robot, base).target, names or c_files.EXPORTED, "float" if single else "double", at=at
    )
    for path in c_files.put(folder, files, force):
        click.echo(path)
