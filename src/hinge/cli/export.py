"""`hinge export`: the algorithms of a robot as C or CUDA."""

from __future__ import annotations

import click

from hinge.cli.common import AT, NAMES
from hinge.cli.inputs import reads_robot
from hinge.cli.outputs import FORCE, forced
from hinge.robot import Robot


@click.command()
@reads_robot()
@NAMES
@click.option("--c", "c_folder", metavar="DIR", type=click.Path(), help="Write C99 into this folder.")
@click.option("--cuda", "cuda_folder", metavar="DIR", type=click.Path(), help="Write CUDA C++ into this folder.")
@click.option("--float", "single", is_flag=True, help="In single precision.")
@FORCE
@AT
def export(
    robot: Robot, names: tuple[str, ...], c_folder: str | None, cuda_folder: str | None, single: bool, at: str
) -> None:
    """Write the algorithms NAME of ROBOT, a robot file, as C or CUDA: inverse and forward dynamics and mass matrix if
    none."""
    from hinge.export import c_files, cuda_files

    wanted = [(c_folder, c_files.c_files), (cuda_folder, cuda_files.cuda_files)]
    if c_folder is None and cuda_folder is None:
        raise click.UsageError("Say where to: --c DIR, --cuda DIR, or both.")
    for folder, texts in wanted:
        if folder is not None:
            files = texts(robot.target, names or c_files.EXPORTED, "float" if single else "double", at=at)
            for path in c_files.put(folder, files, forced()):
                click.echo(path)
