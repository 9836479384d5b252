"""What becomes of faults: the exit code of each kind, and messages that name flags instead of Python's arguments.

| exit code | means |
|---|---|
| 0 | done |
| 1 | it could not be done, or `check` found something |
| 2 | what was given is wrong: a flag, a name, a number, a file that is not there or cannot be read |
| 130 | Ctrl-C |
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

import click

from hinge.errors import (
    CannotWrite,
    HingeError,
    LogError,
    ModelError,
    SizeError,
    TrajectoryError,
    UnknownName,
    UnwrittenLog,
)

FAILED, WRONG, STOPPED = 1, 2, 130
GIVEN = (ModelError, UnknownName, SizeError, LogError, TrajectoryError)
UNWRITTEN = ("not-writable", "no-folder")  # codes of a ModelError on a file that is to be written
RENAMED = "hinge.cli.renamed"  # in a context: files that stand for standard input and output


class Wrong(click.ClickException):
    """A fault of what was given."""

    exit_code = WRONG


def fault_of(problem: HingeError) -> click.ClickException:
    """What a command ends with for an error of the library: its message and exit code."""
    unwritten = isinstance(problem, UnwrittenLog | CannotWrite) or getattr(problem, "code", "") in UNWRITTEN
    without_package = isinstance(problem.__context__, ImportError)
    given = isinstance(problem, GIVEN) and not unwritten and not without_package
    return (Wrong if given else click.ClickException)(worded(str(problem)))


@contextmanager
def asked() -> Iterator[None]:
    """A block that reads what the command was given: any fault in it is one of the command."""
    try:
        yield
    except HingeError as problem:
        raise Wrong(worded(str(problem))) from None


def worded(message: str) -> str:
    """A message of the library as the command line says it: printable, with flags and the names of streams."""
    context = click.get_current_context()
    command = context.command
    if isinstance(command, click.Group) and context.invoked_subcommand:
        command = command.get_command(context, context.invoked_subcommand) or command
    for path, name in context.meta.get(RENAMED, {}).items():
        message = message.replace(path, name)
    flags = {one.name: one.opts[0] for one in command.params if isinstance(one, click.Option) and one.name}
    return plain(flagged(message, flags))


def flagged(message: str, flags: dict[str, str]) -> str:
    """A message with the arguments that flags stand for as those flags.

    >>> flagged("method='rk5' is not known. Or give resume=True.", {"method": "--method", "resume": "--resume"})
    "--method 'rk5' is not known. Or give --resume."
    """
    names = "|".join(map(re.escape, flags))
    found = rf"(?<![\w'.\-])({names})(?:=True\b|=(?=[\s,.])|=\['([^']*)'\]|(=)|(?= has '| has to be ))"
    return re.sub(found, lambda m: flags[m[1]] + (f" {m[2]}" if m[2] else " " if m[3] else ""), message)


def plain(text: str) -> str:
    """Text from a file with what would steer a terminal spelled out, as Python does."""
    return "".join(c if c.isprintable() or c == "\n" else repr(c)[1:-1] for c in text)
