"""Where the states of a simulation go while it runs: into memory, or into a file chunk by chunk."""

from __future__ import annotations

import sys
import time
from math import prod
from typing import Any, Protocol

import numpy as np

from hinge.arguments import MOST, Array
from hinge.errors import SizeError
from hinge.sim.recording import Event


class Recorder(Protocol):
    """Has arrays (rollouts, rows, width) that a run writes, the first of them being row `row` of the record.

    `fill` says that rows are whole now, at those times; `made` gives times, and states with rollouts before time.
    """

    arrays: dict[str, Array]
    row: int
    room: int
    count: int  # rows that are whole
    events: list[Event]

    def fill(self, t: Array) -> None: ...

    def made(self) -> tuple[Array, dict[str, Any]]: ...


def affordable(count: int, rows: int, width: int) -> None:
    """Refuse a record that takes more memory than anybody means to use."""
    size = 8 * count * rows * width
    if size > MOST:
        hint = 'Record less often (record=10), only the end (record="last"), or into a file (file="run.zarr").'
        size_in = f"{size / 2**30:.1f} GiB of memory"
        raise SizeError(f"the record would take {size_in} ({count} times × {rows} rollouts).\n  {hint}")


class Memory:
    """States in arrays that are as long as they will have to be."""

    def __init__(self, count: int, batch: tuple[int, ...], widths: dict[str, int]) -> None:
        rows = prod(batch)
        affordable(count, rows, sum(widths.values()))
        self.count, self.batch, self.row, self.room = 0, batch, 0, count
        self.t, self.events = np.empty(count), list[Event]()
        self.arrays = {name: np.full((rows, count, width), np.nan) for name, width in widths.items()}

    def fill(self, t: Array) -> None:
        self.t[self.count : self.count + len(t)] = t
        self.count += len(t)

    def made(self) -> tuple[Array, dict[str, Any]]:
        n = self.count
        return self.t[:n], {name: a[:, :n].reshape(*self.batch, n, a.shape[-1]) for name, a in self.arrays.items()}


def rollouts(a: Array, batch: tuple[int, ...]) -> Array:
    """States with time before rollouts as (…, T, n)."""
    return np.moveaxis(a, 0, 1).reshape(*batch, len(a), a.shape[-1])


class Bar:
    """How far a run is, on a terminal, where it takes longer than a second."""

    def __init__(self, steps: int, progress: bool | None) -> None:
        self.steps, self.wanted = steps, sys.stderr.isatty() if progress is None else progress
        self.start = time.monotonic()
        self.bar: Any = None

    def at(self, step: int) -> None:
        if not self.wanted or time.monotonic() - self.start < 1.0:
            return
        if self.bar is None:
            self.bar = _bar(self.steps)
        self.bar.update(self.bar.task_ids[0], completed=step)

    def __enter__(self) -> Bar:
        return self

    def __exit__(self, *problem: Any) -> None:
        if self.bar is not None:
            self.bar.stop()


def _bar(steps: int) -> Any:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    bar = Progress(TextColumn("simulating"), BarColumn(), TextColumn("{task.percentage:.0f} %"), TimeRemainingColumn(),
                   console=Console(stderr=True), transient=True)  # fmt: skip
    bar.add_task("", total=steps)
    bar.start()
    return bar
