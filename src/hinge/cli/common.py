"""What several commands have besides a robot: options of the same meaning, tables, a progress bar on a terminal."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import click

from hinge.cli.faults import plain
from hinge.dynamics.registry import ALGORITHMS

WIDE = 160  # columns of text that goes to a file
AT = click.option("--at", default="", metavar="FRAME", help="The frame, for what is about one, such as pose.")
JSON = click.option("--json", "as_json", is_flag=True, help="Print as JSON.")
TERMS = click.option(
    "--joint-terms",
    default="armature",
    show_default=True,
    metavar="TERM,…",
    help="What of the joints acts: armature, damping, friction, stiffness.",
)
BACKEND = click.option("--backend", metavar="NAME", help="Who does the arithmetic: llvm, or interpret.")


class Name(click.ParamType):
    """The name of an algorithm, with dashes or underscores; it is looked up where it is used."""

    name = "name"

    def convert(self, value: Any, param: Any, ctx: Any) -> str:
        return str(value).replace("-", "_")

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[Any]:
        from click.shell_completion import CompletionItem

        names = [name.replace("_", "-") for name in ALGORITHMS]
        return [CompletionItem(name) for name in names if name.startswith(incomplete.replace("_", "-"))]


NAMES = click.argument("names", nargs=-1, type=Name(), metavar="[NAME...]")


def split(words: str) -> tuple[Any, ...]:
    """Words with commas between them."""
    return tuple(word.strip() for word in words.split(",") if word.strip())


def console(stderr: bool = False) -> Any:
    """Where text is printed as it is, coloured on a terminal only."""
    from rich.console import Console

    made = Console(highlight=False, markup=False, stderr=stderr)
    return made if made.is_terminal else Console(highlight=False, markup=False, stderr=stderr, width=WIDE)


def table(title: str, columns: Sequence[str], rows: Sequence[Sequence[str]], left: int = 1) -> Any:
    """A table for a terminal; the first columns are to the left, numbers to the right."""
    from rich.table import Table
    from rich.text import Text

    made = Table(title=Text(plain(title)) if title else None, title_justify="left")
    for k, column in enumerate(columns):
        made.add_column(column, justify="left" if k < left else "right", overflow="fold", no_wrap=k == 0)
    for row in rows:
        made.add_row(*(Text(plain(cell)) for cell in row))
    return made


@contextmanager
def progress(what: str) -> Iterator[Callable[..., None]]:
    """A function that takes the share that is done and words on it, and draws a bar where there is a terminal."""
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    screen = console(stderr=True)
    if not screen.is_terminal:
        yield lambda share, words="": None
        return
    columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.percentage:.0f} %"),
               TextColumn("{task.fields[words]}"), TimeRemainingColumn())  # fmt: skip
    with Progress(*columns, console=screen, transient=True) as bar:
        task = bar.add_task(what, total=1.0, words="")
        yield lambda share, words="": bar.update(task, completed=share, words=words)
