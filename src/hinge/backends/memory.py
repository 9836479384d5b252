"""Memory for results, used again.

A fresh array of more than a few pages costs the system as much as computing its contents: every page is mapped and
cleared. So the memory of large results is kept when the last array on it is gone, and serves the next call.
"""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

SMALLEST, LARGEST, KEPT = 1 << 16, 1 << 26, 1 << 26  # bytes: of an array worth keeping, and of all that is kept
ALIGNED = 64  # bytes: results begin where a line of the cache does
Array = np.ndarray[Any, np.dtype[Any]]
_free: list[tuple[Array, int]] = []  # arrays of bytes, and where they begin


class _Lease:
    """Owns the memory of one result; numpy keeps it alive as the base of the array and of every view."""

    __slots__ = ("__array_interface__", "memory")

    def __init__(self, memory: tuple[Array, int], shape: tuple[int, ...], dtype: np.dtype[Any]):
        self.memory = memory
        self.__array_interface__ = {"shape": shape, "typestr": dtype.str, "data": (memory[1], False), "version": 3}

    def __del__(self) -> None:
        if sum(m.nbytes for m, _ in _free) + self.memory[0].nbytes <= KEPT:
            _free.append(self.memory)


def empty(shape: tuple[int, ...], number: Any) -> Array:
    """An array like np.empty's."""
    dtype = np.dtype(number)
    size = prod(shape) * dtype.itemsize
    if size < SMALLEST:
        return np.empty(shape, dtype)
    for k, (memory, _) in enumerate(_free if size <= LARGEST else ()):
        if size + ALIGNED <= memory.nbytes <= 2 * size + ALIGNED:
            try:
                found = _free.pop(k)
            except IndexError:  # another thread was faster
                break
            if size + ALIGNED <= found[0].nbytes:
                return np.asarray(_Lease(found, shape, dtype))
            break
    fresh = np.empty(size + ALIGNED, np.uint8)
    skip = -fresh.ctypes.data % ALIGNED
    if size > LARGEST:
        return fresh[skip : skip + size].view(dtype).reshape(shape)
    return np.asarray(_Lease((fresh, fresh.ctypes.data + skip), shape, dtype))
