"""Constants that are chosen by the time: what a motion in pieces is made of.

Times are numbers, arrays of them, or traced. A traced time is compared with the beginnings of a few pieces; among many
the piece is found by halving, and its constants are read from tables.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from hinge.arguments import Array
from hinge.graph import Scalar, Table, less, select
from hinge.graph.arrays import Symbols, symbols

FEW = 8  # pieces that are chosen by comparing with all of them


class Pieces:
    """Arrays (k, …) of constants, an entry for each piece; `starts` (k,) is when they begin, the first the earliest."""

    def __init__(self, starts: Array, *constants: Array) -> None:
        self.later, self.constants = starts[1:], constants

    def at(self, t: Any) -> tuple[Any, ...]:
        """The constants of the piece at times (…,), (…, …) each."""
        if not isinstance(t, Symbols):
            k = np.searchsorted(self.later, t, side="right")
            return tuple(c[k] for c in self.constants)
        found = [self._chosen(x) for x in np.asarray(t).ravel().tolist()]
        rows = np.empty((len(found), len(self._columns)), object)
        rows[:] = found
        ends = np.cumsum([c[0].size for c in self.constants])[:-1]
        parts = np.split(rows, ends, axis=1)
        return tuple(symbols(x.reshape((*t.shape, *c.shape[1:]))) for x, c in zip(parts, self.constants, strict=True))

    @functools.cached_property
    def _columns(self) -> list[list[float]]:
        """The constants, each a number for every piece."""
        count = len(self.later) + 1
        return [column for c in self.constants for column in c.reshape(count, -1).T.tolist()]

    @functools.cached_property
    def _tables(self) -> list[Table | float]:
        return [column[0] if len(set(column)) == 1 else Table(column) for column in self._columns]

    @functools.cached_property
    def _starts(self) -> Table:
        """When pieces begin, and as many that never do as halving may come upon."""
        size = 1 << len(self.later).bit_length()
        return Table([*self.later.tolist(), *[np.inf] * (size - len(self.later))])

    def _chosen(self, t: Scalar) -> list[Scalar]:
        if len(self.later) >= FEW:
            k: Scalar = 0.0  # how many pieces have ended
            for half in (1 << j for j in reversed(range(len(self.later).bit_length()))):
                k = select(less(t, self._starts[k + (half - 1.0)]), k, k + float(half))
            return [x[k] if isinstance(x, Table) else x for x in self._tables]
        made: list[Scalar] = [column[0] for column in self._columns]
        for j, start in enumerate(self.later.tolist(), 1):
            earlier = less(t, start)
            made = [select(earlier, x, column[j]) for x, column in zip(made, self._columns, strict=True)]
        return made
