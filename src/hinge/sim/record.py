"""Where the states of a simulation go while it runs: into memory, or into a file chunk by chunk."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from math import prod
from typing import Any, Protocol

import numpy as np

from hinge.errors import SizeError, TrajectoryError

Array = np.ndarray[Any, np.dtype[Any]]
MOST = 8 << 30  # bytes kept in memory without being asked


class CannotWrite(TrajectoryError):
    """Why a record cannot go on: a run stops and keeps what it has, all others pass it on."""


class Recorder(Protocol):
    """Takes states one after another, rollouts first; `made` gives times, and states with rollouts before time."""

    count: int

    def add(self, t: float, q: Array, qd: Array, tau: Array) -> None: ...

    def made(self) -> tuple[Array, dict[str, Any]]: ...


class Memory:
    """States in arrays that are as long as they will have to be."""

    def __init__(self, count: int, batch: tuple[int, ...], widths: dict[str, int]) -> None:
        rows = prod(batch)
        size = 8 * count * rows * sum(widths.values())
        if size > MOST:
            hint = 'Record less often (record=10), only the end (record="last"), or into a file (file="run.zarr").'
            size_in = f"{size / 2**30:.1f} GiB of memory"
            raise SizeError(f"the record would take {size_in} ({count} times × {rows} rollouts).\n  {hint}")
        self.count, self.batch = 0, batch
        self.t = np.empty(count)
        self.arrays = {name: np.empty((count, rows, width)) for name, width in widths.items()}

    def add(self, t: float, q: Array, qd: Array, tau: Array) -> None:
        k = self.count
        self.t[k] = t
        for name, value in (("q", q), ("qd", qd), ("tau", tau)):
            if name in self.arrays:
                self.arrays[name][k] = value
        self.count += 1

    def made(self) -> tuple[Array, dict[str, Any]]:
        return self.t[: self.count], {name: rollouts(a[: self.count], self.batch) for name, a in self.arrays.items()}


def rollouts(a: Array, batch: tuple[int, ...]) -> Array:
    """States with time before rollouts as (…, T, n)."""
    return np.moveaxis(a, 0, 1).reshape(*batch, len(a), a.shape[-1])


def shown(steps: int, progress: bool | None) -> Iterator[int]:
    """Counts steps, with a bar on a terminal where it takes longer than a second."""
    wanted = sys.stderr.isatty() if progress is None else progress
    bar: Any = None
    start = last = time.monotonic()
    try:
        for k in range(steps):
            yield k
            if wanted and (k & 63 == 0 or steps < 1000):
                now = time.monotonic()
                if bar is None and now - start > 1.0:
                    bar = _bar(steps)
                if bar is not None and now - last > 0.1:
                    bar.update(bar.task_ids[0], completed=k)
                    last = now
    finally:
        if bar is not None:
            bar.stop()


def _bar(steps: int) -> Any:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    bar = Progress(TextColumn("simulating"), BarColumn(), TextColumn("{task.percentage:.0f} %"), TimeRemainingColumn(),
                   console=Console(stderr=True), transient=True)  # fmt: skip
    bar.add_task("", total=steps)
    bar.start()
    return bar
