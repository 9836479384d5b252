"""What commands read: a robot, with --base and --packages, and logs; `-` is standard input."""

from __future__ import annotations

import functools
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import click

import hinge
from hinge.cli.faults import RENAMED
from hinge.errors import NotCovered
from hinge.formats.xml import MAX_BYTES
from hinge.robot import Robot

STREAM = "-"
READ = "hinge.cli.read"  # in a context: that standard input has been taken
KINDS = {b"PAR1": ".parquet", b"PK\3\4": ".npz"}  # how logs begin; others are text
Command = Callable[..., Any]


def robot_flags(command: Command) -> Command:
    """The options of every command that reads a robot."""
    packages = click.option(
        "--packages", multiple=True, metavar="DIR", type=click.Path(), help="Where packages with meshes lie."
    )
    base = click.option(
        "--base", type=click.Choice(["fixed", "floating"]), help="What the robot stands on; fixed unless its file says."
    )
    return base(packages(command))


def reads_robot(required: bool = True, moves: bool = False) -> Callable[[Command], Command]:
    """The argument ROBOT and its options; the command is given the robot, or None where none was named.

    One that `moves` is refused where it has no moving joint.
    """

    def decorated(command: Command) -> Command:
        @functools.wraps(command)
        def called(robot: str | None, base: str | None, packages: Sequence[str], **given: Any) -> Any:
            made = None if robot is None else robot_of(robot, base, packages)
            if moves and made is not None and not made.nv:
                raise NotCovered(f"robot {made.name!r} has no moving joint: there is nothing to compute.")
            return command(robot=made, **given)

        return click.argument("robot", required=required, type=click.Path(allow_dash=True))(robot_flags(called))

    return decorated


def robot_of(path: str, base: Any = None, packages: Sequence[str] = ()) -> Robot:
    """The robot of a file, or of standard input."""
    return hinge.load(source_of(path), base=base or "fixed", packages=packages)


def source_of(path: str) -> Path | bytes:
    """What `hinge.load` and `hinge.check` take for a path; for `-`, the bytes of standard input."""
    return Path(path) if path != STREAM else bytes(_standard_input().read(MAX_BYTES + 1))


def log_of(path: str) -> str:
    """The path of a log; for `-`, of a file with what standard input holds: CSV, Parquet or NPZ."""
    if path != STREAM:
        return path
    stream = _standard_input()
    start = stream.read(4)
    copy = stand_in("standard input", KINDS.get(start, ".csv"))
    with open(copy, "xb") as file:
        file.write(start)
        shutil.copyfileobj(stream, file)
    return copy


def stand_in(name: str, suffix: str) -> str:
    """A path for a file that stands for a stream until the command ends; messages have the stream's name."""
    context = click.get_current_context()
    folder = context.with_resource(tempfile.TemporaryDirectory(prefix="hinge-"))
    path = os.path.join(folder, f"log{suffix}")
    context.meta.setdefault(RENAMED, {})[path] = name
    return path


def _standard_input() -> Any:
    """Standard input, which one argument can have."""
    meta = click.get_current_context().meta
    if meta.get(READ):
        raise click.UsageError("- is given twice, and standard input can be read once.")
    meta[READ] = True
    return sys.stdin.buffer
