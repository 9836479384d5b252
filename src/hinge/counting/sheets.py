"""A table that prints itself: in a terminal, as Markdown, as data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from hinge import notebook

Cell = Any  # anything with a text


@dataclass(frozen=True)
class Sheet:
    """A title, the names of the columns, the rows, and what has to be said about them."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    notes: tuple[str, ...] = ()
    words: int = 1  # how many columns on the left are words and not figures

    def markdown(self) -> str:
        marks = ["---"] * self.words + ["---:"] * (len(self.columns) - self.words)
        lines = [self.columns, marks, *([str(cell) for cell in row] for row in self.rows)]
        table = "\n".join("| " + " | ".join(line) + " |" for line in lines)
        return "\n\n".join([table, *self.notes]) + "\n"

    def _repr_html_(self) -> str:
        table = notebook.table(self.columns, self.rows, self.title, self.words)
        return table + (notebook.lines("\n".join(self.notes)) if self.notes else "")

    def data(self) -> dict[str, Any]:
        """What JSON can say of it."""
        rows = [[cell if isinstance(cell, int | float) else str(cell) for cell in row] for row in self.rows]
        return {"title": self.title, "columns": list(self.columns), "rows": rows, "notes": list(self.notes)}

    def show(self, console: Any) -> None:
        """Print it in a terminal."""
        from rich.table import Table
        from rich.text import Text

        table = Table(title=Text(self.title), title_justify="left", title_style="bold")
        for k, name in enumerate(self.columns):
            table.add_column(name, justify="left" if k < self.words else "right")
        for row in self.rows:
            table.add_row(*(Text(str(cell)) for cell in row))
        console.print(table)
        for note in self.notes:
            console.print(note, soft_wrap=True)
        console.print()
