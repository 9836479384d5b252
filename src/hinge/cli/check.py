"""`hinge check`: what is wrong or odd about robot files."""

from __future__ import annotations

from typing import Any

import click

import hinge
from hinge.cli.common import console
from hinge.cli.faults import plain
from hinge.cli.inputs import robot_flags, source_of

STYLES = {"error": "bold red", "warning": "yellow", "note": "cyan", "fix": "dim", "summary": "bold",
          "passed": "green", "failed": "bold red", "skipped": "dim"}  # fmt: skip


@click.command()
@click.argument("files", nargs=-1, required=True, type=click.Path(allow_dash=True), metavar="FILE...")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object a file, a line each.")
@click.option(
    "--certify", is_flag=True, help="Prove the dynamics on this machine, and compare them with other libraries."
)
@click.option("--strict", is_flag=True, help="Let notes count for the exit code.")
@robot_flags
def check(
    files: tuple[str, ...],
    as_json: bool,
    certify: bool,
    strict: bool,
    base: str | None,
    packages: tuple[str, ...],
) -> None:
    """Say all that is wrong or odd about robot files, and what to do.

    Exits with 0 when there is nothing but notes, 1 where there are errors, warnings or a proof that failed, and 2 where
    a file cannot be loaded; of several files, with the worst.
    """
    screen, worst = console(), 0
    for file in files:
        found = hinge.check(source_of(file), certify, strict, base=base or "fixed", packages=packages)
        worst = max(worst, found.exit_code)
        if as_json:
            click.echo(found.to_json())
            continue
        for kind, line in found.lines():
            screen.print(_painted(kind, plain(line)), soft_wrap=True)
    raise SystemExit(worst)


def _painted(kind: str, line: str) -> Any:
    """A line of a diagnosis with its first word of judgement coloured, and the place before it bold."""
    from rich.text import Text

    if kind in ("fix", "summary"):
        return Text(line, style=STYLES[kind])
    text, at = Text(line), max(line.find(f"{kind}: "), 0)  # a proof begins with the word
    text.stylize("bold", 0, at)
    text.stylize(STYLES[kind], at, at + len(kind))
    return text
