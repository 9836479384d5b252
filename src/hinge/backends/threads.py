"""Batches over threads: how many there are, and how the states of a call are shared among them.

Kernels release Python's lock, so plain threads do. A batch is split into as many runs of whole blocks as there are
threads, and not at all where the work would take less than it costs to hand out. Results do not depend on the split.
"""

from __future__ import annotations

import contextlib
import ctypes
import operator
import os
from collections.abc import Callable
from typing import TYPE_CHECKING

from hinge.errors import SizeError

if TYPE_CHECKING:
    from concurrent.futures import ThreadPoolExecutor

SMALLEST = 100_000.0  # nanoseconds of work that are worth a thread
_ROUGHLY = 0.1  # nanoseconds an instruction takes for one state

MOST = ctypes.c_int64(0)  # instructions × states that machine code may do in one thread without asking here

_wanted: int | None = None
_pool: tuple[int, int, ThreadPoolExecutor] | None = None  # process, size, pool


def set_threads(n: int | None) -> None:
    """Use n threads for batches; None goes back to HINGE_THREADS, or as many as this process may use.

    >>> hinge.set_threads(1)
    """
    global _wanted
    if n is not None and (isinstance(n, bool) or not hasattr(n, "__index__") or operator.index(n) < 1):
        raise SizeError(f"set_threads: {n!r} is not a number of threads. Give 1 or more, or None.")
    _wanted = None if n is None else operator.index(n)
    _set_most()


def _set_most() -> None:
    MOST.value = (1 << 62) if number() == 1 else int(2 * SMALLEST / _ROUGHLY)


def number() -> int:
    """How many threads a large batch uses."""
    if _wanted is not None:
        return _wanted
    with contextlib.suppress(ValueError):
        asked = int(os.environ.get("HINGE_THREADS", ""))
        if asked > 0:
            return asked
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def share(part: Callable[[int, int], None], states: int, block: int, length: int) -> None:
    """Call part(first, states) for all states: at once, or in as many parts as are worth it."""
    n = number()
    if n > 1:
        n = min(n, int(states * length * _ROUGHLY / SMALLEST), states // block)
    if n <= 1:
        part(0, states)
        return
    step = -(-states // (n * block)) * block
    firsts = range(0, states, step)
    try:
        others = [_executor(n - 1).submit(part, first, min(step, states - first)) for first in firsts[1:]]
    except RuntimeError:  # the interpreter is shutting down: no new threads
        part(0, states)
        return
    try:
        part(0, step)
    finally:
        for other in others:
            other.result()


def _executor(n: int) -> ThreadPoolExecutor:
    """A pool of n threads of this very process: a fork leaves the parent's threads behind."""
    global _pool
    from concurrent.futures import ThreadPoolExecutor

    if _pool is None or _pool[0] != os.getpid() or _pool[1] < n:
        _pool = os.getpid(), n, ThreadPoolExecutor(n, thread_name_prefix="hinge")
    return _pool[2]


_set_most()
