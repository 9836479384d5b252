"""How Python and NumPy lay out the objects that `cpython_entry` reads, looked up and not assumed.

Each kind of object is probed apart from the others. A kind that is laid out in another way is not recognised in calls,
which then go the ordinary way through Python; the other kinds keep the fast one. Which are not recognised is said once.
"""

from __future__ import annotations

import ctypes
import sys
import warnings
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

HEAD = object.__basicsize__  # bytes of any object's head, which ends with its type: 16, or 32 of a free-threaded Python
TYPE = HEAD - 8
DATA, NDIM, DIMENSIONS, DESCR, FLAGS = HEAD, HEAD + 8, HEAD + 16, HEAD + 40, HEAD + 48  # in NumPy's array object
PLAIN, WRITABLE = 0x101, 0x400  # C-contiguous and aligned; writable


@cache
def known() -> frozenset[str]:
    """The kinds of objects that calls in machine code recognise here: those of PROBES, or fewer.

    >>> sorted(hinge.backends.llvm.cpython_layout.known())
    ['arrays', 'lists', 'numbers', 'tuples']
    """
    if why := obstacle():
        _say(f"calls of hinge from Python take longer here: {why}.")
        return frozenset()
    found = frozenset(kind for kind, probe in PROBES.items() if probe())
    if missing := sorted(PROBES.keys() - found):
        kinds = " and ".join(missing)
        _say(f"calls of hinge with {kinds} take longer here: this Python lays {kinds} out as hinge does not know it.")
    return found


def obstacle() -> str:
    """Why Python cannot call machine code here as one of its own functions; empty where it can."""
    if sys.implementation.name != "cpython":
        return f"this Python is {sys.implementation.name}, and only that of python.org can call machine code"
    if ctypes.sizeof(ctypes.c_void_p) != 8 or sys.byteorder != "little":
        return "this is no 64-bit little-endian machine"
    if hasattr(sys, "gettotalrefcount"):
        return "this Python is built to be debugged"
    if not getattr(sys, "_is_gil_enabled", lambda: True)():
        return (
            "this Python runs threads without a lock, and a kernel's memory for one state serves one thread at a time"
        )
    return ""


def _say(what: str) -> None:
    warnings.warn(f"{what}\n  Results are the same.", stacklevel=7)


def _arrays() -> bool:
    array, strided = np.arange(5.0), np.arange(5.0)[::2]
    at = id(array)
    return (
        _typed(array)
        and _look(at + DATA, ctypes.c_void_p) == array.ctypes.data
        and _look(at + NDIM, ctypes.c_int) == 1
        and _look(_look(at + DIMENSIONS, ctypes.c_void_p), ctypes.c_int64) == 5
        and _look(at + DESCR, ctypes.c_void_p) == id(np.dtype(np.float64))
        and _look(at + FLAGS, ctypes.c_int) & (PLAIN | WRITABLE) == PLAIN | WRITABLE
        and not _look(id(strided) + FLAGS, ctypes.c_int) & 1
    )


def _typed(*objects: Any) -> bool:
    return all(_look(id(x) + TYPE, ctypes.c_void_p) == id(type(x)) for x in objects)


def _look(where: int, kind: Any) -> Any:
    return kind.from_address(where).value


PROBES: dict[str, Callable[[], bool]] = {
    "arrays": _arrays,
    "lists": lambda: _typed([0.5], []),
    "tuples": lambda: _typed((0.5,), ()),
    "numbers": lambda: _typed(0.5, 7, 1 << 70),
}
