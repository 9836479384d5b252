"""How many threads a batch may use.

A batch is split into as many runs of whole blocks as there are threads, and not at all where the work would take less
than it costs to begin one. Machine code does the splitting, and reads the two numbers here. Results do not depend on
the split.
"""

from __future__ import annotations

import ctypes
import operator
import os

from hinge.errors import SizeError

SMALLEST = 100_000.0  # nanoseconds of work that are worth a thread
_ROUGHLY = 0.1  # nanoseconds an instruction takes for one state

SETTING = (ctypes.c_int64 * 2)()  # how many threads there may be, and instructions × states that are worth one

_wanted: int | None = None


def set_threads(n: int | None) -> None:
    """Use n threads for batches; None goes back to HINGE_THREADS, or as many as this process may use.

    >>> hinge.set_threads(1)
    """
    global _wanted
    if n is not None and (isinstance(n, bool) or not hasattr(n, "__index__") or operator.index(n) < 1):
        raise SizeError(f"set_threads: {n!r} is not a number of threads. Give 1 or more, or None.")
    _wanted = None if n is None else operator.index(n)
    tell()


def tell(smallest: float = SMALLEST) -> None:
    """Write down for machine code how many threads there are, and how many nanoseconds of work are worth one."""
    SETTING[:] = [number(), max(1, int(smallest / _ROUGHLY))]


def number() -> int:
    """How many threads a large batch uses."""
    if _wanted is not None:
        return _wanted
    asked = os.environ.get("HINGE_THREADS", "").strip()
    if asked:
        if not asked.isdecimal() or int(asked) < 1:
            raise SizeError(f"HINGE_THREADS={asked!r} is not a number of threads. Give 1 or more, or leave it out.")
        return int(asked)
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


tell()
