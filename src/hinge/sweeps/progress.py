"""How far a sweep is, how fast it goes and how long it will take: a bar on a terminal, else a line now and then."""

from __future__ import annotations

import sys
import time
from typing import Any

APART = 10.0  # s between lines


def words(done: int, total: int, failed: int, rate: float) -> str:
    """How far a sweep is.

    >>> from hinge.sweeps.progress import words
    >>> words(250_000, 1_000_000, 3, 20_000.0)
    '250,000 of 1,000,000 rollouts, 20,000 a second, 0:00:38 left, 3 failed'
    """
    left = f"{_clock((total - done) / rate)} left" if rate > 0.0 else "nobody knows how long"
    bad = f", {failed:,} failed" if failed else ""
    return f"{done:,} of {total:,} rollouts, {rate:,.0f} a second, {left}{bad}"


def _clock(seconds: float) -> str:
    minutes, s = divmod(round(seconds), 60)
    return f"{minutes // 60}:{minutes % 60:02}:{s:02}"


class Progress:
    """Counts rollouts, and tells of them on standard error: on a terminal, or wherever it is asked to."""

    def __init__(self, total: int, done: int, progress: bool | None) -> None:
        self.total, self.done, self.before, self.failed = total, done, done, 0
        self.begun = self.told = time.monotonic()
        self.terminal = sys.stderr.isatty() and progress is not False
        self.lines = bool(progress) and not self.terminal
        self.bar: Any = None

    def add(self, rollouts: int, failed: int) -> None:
        """So many more are done."""
        self.done, self.failed = self.done + rollouts, self.failed + failed
        now = time.monotonic()
        said = words(self.done, self.total, self.failed, (self.done - self.before) / max(now - self.begun, 1e-9))
        if self.terminal:
            self._bar().update(0, completed=self.done, words=said)
        elif self.lines and (now - self.told > APART or self.done == self.total):
            self.told = now
            print(said, file=sys.stderr, flush=True)

    def _bar(self) -> Any:
        if self.bar is None:
            from rich.console import Console
            from rich.progress import BarColumn, TextColumn
            from rich.progress import Progress as Rich

            columns = (BarColumn(), TextColumn("{task.fields[words]}"))
            self.bar = Rich(*columns, console=Console(stderr=True), transient=True)
            self.bar.add_task("", total=self.total, words="")
            self.bar.start()
        return self.bar

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *problem: Any) -> None:
        if self.bar is not None:
            self.bar.stop()
