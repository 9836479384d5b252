"""What commands write: places that are looked at before the work, --force, and `-` for standard output."""

from __future__ import annotations

import itertools
import json
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import click

import hinge
from hinge.cli.faults import worded
from hinge.cli.inputs import STREAM, stand_in
from hinge.errors import FileFault
from hinge.model import Report
from hinge.robot import Robot
from hinge.robot.writing import written

FORMATS = {"urdf": ".urdf", "mjcf": ".xml", "toml": ".toml"}
CHUNK = 1 << 20  # bytes
FORCED = "hinge.cli.forced"  # in a context: that --force was given


def _force(context: click.Context, option: click.Parameter, value: bool) -> None:
    context.meta[FORCED] = value


FORCE = click.option(
    "--force", is_flag=True, is_eager=True, expose_value=False, callback=_force, help="Overwrite what is there."
)
FORMAT = click.option(
    "--to",
    type=click.Choice(list(FORMATS)),
    help="The format, where it goes to standard output; of a file, its suffix.",
)


class Target(click.ParamType):
    """A place to write to, which is refused where something is and --force is not given; `-` is standard output."""

    name = "path"

    def __init__(self, stream: bool = False) -> None:
        self.stream = stream

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        path = os.fspath(value)
        if path == STREAM and not self.stream:
            self.fail("standard output is no place for it: give the name of a file.", param, ctx)
        if path != STREAM:
            free(path)
        return path

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[Any]:
        return click.Path().shell_complete(ctx, param, incomplete)


ROBOT_OUT = click.argument("out", type=Target(stream=True))


def forced() -> bool:
    """Whether --force was given."""
    return bool(click.get_current_context().meta.get(FORCED))


def free(path: str) -> None:
    """Raise where a path has no folder, or where something is and --force is not given."""
    folder = os.path.dirname(path)
    if folder and not os.path.isdir(folder):
        raise FileFault(f"{path} cannot be written: there is no folder {folder}.\n  Make it first.")
    if os.path.lexists(path) and not forced():
        raise FileFault(f"{path} is there already.\n  Choose another place, or overwrite it with --force.")


@contextmanager
def log_to(path: str) -> Iterator[str]:
    """The path a log is written to; for `-`, of a file that goes to standard output as CSV, whole or what there is."""
    place = stand_in("standard output", ".csv") if path == STREAM else path
    try:
        yield place
    finally:
        if path == STREAM and os.path.exists(place):
            with open(place, "rb") as file:
                for part in iter(partial(file.read, CHUNK), b""):
                    click.echo(part, nl=False)


def put_robot(robot: Robot, out: str, to: str | None) -> Report:
    """Write a robot to a file, or to standard output in a format; what that cannot say."""
    if (out == STREAM) != (to is not None):
        raise click.UsageError("--to says the format of what goes to -; of a file its suffix does.")
    if to is None:
        return hinge.write(robot, out)
    text, report = written(robot, FORMATS[to])
    click.echo(text, nl=False)
    return report


def tell_robot(out: str, as_json: bool, **reports: Report) -> None:
    """Print what was found while a robot was written, in words or as JSON; its place last, where it is a file."""
    tell = teller(out)
    if as_json:
        tell(json.dumps({"out": out} | {name: [one.data() for one in report] for name, report in reports.items()}))
    else:
        for finding in itertools.chain(*reports.values()):
            tell(worded(str(finding)))
    if out != STREAM:
        click.echo(f"wrote {out}", err=True)


def teller(*outs: str | None) -> Callable[[str], None]:
    """What prints words on a result: to standard output, or to standard error where the result itself goes there."""
    return lambda text: click.echo(text, err=STREAM in outs)
