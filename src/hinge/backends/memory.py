"""Memory for results, used again.

A fresh array of more than a few pages costs the system as much as computing its contents: every page is mapped and
cleared. So the memory of large results is remembered, and serves again when the last array on it is gone.
"""

from __future__ import annotations

import sys
from math import prod
from threading import Lock
from typing import Any

import numpy as np

from hinge.typing import AnyArray
from hinge.typing import Statuses as Bytes

SMALLEST, LARGEST, KEPT = 1 << 16, 1 << 26, 1 << 26  # bytes: of an array worth keeping, and of all that is kept
ALIGNED = 64  # bytes: results begin where a line of the cache does
_known: list[Bytes] = []  # arrays of bytes; the one used last stands last
_unlent = [np.empty(0, np.uint8)]  # held by its list alone, as those are that no array is on
_lock = Lock()


def empty(shape: tuple[int, ...], number: Any) -> AnyArray:
    """An array like np.empty's."""
    dtype = np.dtype(number)
    size = prod(shape) * dtype.itemsize
    if size < SMALLEST:
        return np.empty(shape, dtype)
    memory = _memory(size + ALIGNED)
    skip = -memory.ctypes.data % ALIGNED
    return memory[skip : skip + size].view(dtype).reshape(shape)


def _memory(size: int) -> Bytes:
    """Bytes that no array is on, at most twice as many as are asked for."""
    if size > LARGEST or not _lock.acquire(blocking=False):
        return np.empty(size, np.uint8)
    try:
        (free,) = map(sys.getrefcount, _unlent)  # what asking adds to it differs between versions of Python
        for k, held in enumerate(map(sys.getrefcount, _known)):
            if held == free and size <= _known[k].nbytes <= 2 * size:
                _known.append(_known.pop(k))
                return _known[-1]
        fresh = np.empty(size, np.uint8)
        _known.append(fresh)
        while sum(one.nbytes for one in _known) > KEPT:
            del _known[0]
        return fresh
    finally:
        _lock.release()
