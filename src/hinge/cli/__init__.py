"""The command line: `hinge demo`, `show`, `check`, `run`, `simulate`, `sweep`, `view`, `film`, `count`, `bench`, …

A command is a row of VERBS and a function of its name in the file of its name, which is imported when it is called.
Flags that commands share are in inputs, outputs and common, exit codes in faults.
"""

from __future__ import annotations

import io
import os
import sys
import warnings
from importlib import import_module
from typing import Any

import click

from hinge.cli.faults import FAILED, STOPPED, fault_of, worded
from hinge.errors import HingeError, did_you_mean
from hinge.files import FULL, unwritten
from hinge.version import __version__

VERBS = {  # in the order of the help, a line each
    "demo": "What hinge does, on an arm of its own or on yours.",
    "show": "The joints of a robot, their limits, and findings.",
    "check": "All that is wrong or odd about robot files.",
    "convert": "A robot file into another format.",
    "repair": "A robot file with what cannot be mended.",
    "identify": "A robot fitted to measured motion.",
    "run": "An algorithm on every row of a log.",
    "simulate": "A robot that moves under gravity; a log, a plot.",
    "sweep": "Any number of rollouts into a store, on many workers.",
    "view": "A robot, or a saved run, in the browser.",
    "film": "A saved run, or rollouts of a sweep, as a film.",
    "count": "The operations of every method.",
    "bench": "How fast the algorithms run on this machine.",
    "equations": "The equations, as text, LaTeX or Python.",
    "export": "The algorithms as C.",
    "cache": "What the kernel cache holds; clear it.",
}


class Verbs(click.Group):
    """The commands, and what becomes of their faults."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in VERBS:
            return None
        found: click.Command = getattr(import_module(f"hinge.cli.{cmd_name}"), cmd_name)
        return found

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(VERBS.items()))

    def resolve_command(self, ctx: click.Context, args: list[str]) -> Any:
        if args and args[0] not in VERBS and not args[0].startswith("-"):
            raise click.UsageError(f"there is no command {args[0]!r}. {did_you_mean(args[0], VERBS)}", ctx)
        return super().resolve_command(ctx, args)

    def main(self, *given: Any, **more: Any) -> Any:
        if isinstance(sys.stdout, io.TextIOWrapper):  # what its encoding has not, a file's name say, is spelled out
            sys.stdout.reconfigure(errors="backslashreplace")
        try:
            return super().main(*given, **more)
        except OSError as problem:
            if problem.errno not in FULL:
                raise
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # where what Python holds of it goes when it ends
            click.echo("Error: " + "\n  ".join(unwritten("what is printed", problem)), err=True)
            raise SystemExit(FAILED) from None

    def invoke(self, ctx: click.Context) -> Any:
        try:
            with warnings.catch_warnings():
                warnings.showwarning = _warned
                return super().invoke(ctx)
        except HingeError as problem:
            raise fault_of(problem) from None
        except KeyboardInterrupt as stop:
            click.echo(" ".join(["\nStopped.", *map(str, stop.args)]), err=True)
            raise click.exceptions.Exit(STOPPED) from None


def _warned(message: Warning | str, *where: Any, **more: Any) -> None:
    click.echo(f"Warning: {worded(str(message))}", err=True)


@click.group(cls=Verbs, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="hinge")
def main() -> None:
    """Robot dynamics, traced once and compiled."""
