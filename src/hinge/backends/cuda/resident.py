"""Calls on arrays that live on a GPU: nothing is copied to the host, and nobody waits.

Their library makes rows of them and memory for results; the kernel goes into the stream that it names.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import Any, Protocol

import numpy as np

from hinge.backends.cuda.device import gpu
from hinge.backends.kernel import Kernel
from hinge.errors import SizeError

HOST = -1  # in the place of a GPU's number
LINE = 16  # bytes: rows that are read as vectors begin at multiples of it


@dataclass(frozen=True)
class Seen:
    """An array as a kernel has to know it: shape, NumPy's type, the number of its GPU, and its address."""

    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    device: int
    address: int


class Library(Protocol):
    """What a library of arrays on GPUs has to do."""

    def seen(self, array: Any) -> Seen: ...
    def stream(self, device: int) -> int:
        """The address of the stream in which work on that GPU goes now."""

    def empty(self, shape: tuple[int, ...], dtype: np.dtype[Any], device: int) -> Any: ...
    def rows(self, array: Any, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Any:
        """The array broadcast to that shape, of that type, contiguous; itself where it is all that."""

    def moved(self, array: Any) -> Any:
        """A copy in memory of its own."""

    def fill(self, out: Any, array: Any) -> None: ...


def call(kernel: Kernel, library: Library, arrays: Sequence[Any], out: Any = None) -> Any:
    """The results of a kernel for arrays of a library, as arrays of it."""
    names = [one.name for one in kernel.plan.inputs]
    seen = [library.seen(x) for x in arrays]
    target = None if out is None else library.seen(out)
    everyone = [*zip(names, seen, strict=True), *([("out", target)] if target else [])]
    for name, one in everyone[1:]:
        if one.device != everyone[0][1].device:
            raise SizeError(
                f"{kernel.name}: {everyone[0][0]} is {_where(everyone[0][1])} and {name} {_where(one)}.\n"
                "  Bring them to one place."
            )
    number, batch, shapes = kernel.fitted(seen, target)
    states, on = prod(batch), gpu(everyone[0][1].device)
    rows = []
    for x, given, shape in zip(arrays, kernel.plan.inputs, kernel.plan.shapes, strict=True):
        row = library.rows(x, shape if given.uniform else (*batch, *shape), number)
        rows.append(row if library.seen(row).address % LINE == 0 else library.moved(row))
    results = [library.empty((*batch, *shape), kernel.type_of(k, number), on.number) for k, shape in enumerate(shapes)]
    direct = target is not None and _is_plain(library, target, out, [*arrays, *rows], number)
    if direct:
        results[0] = out
    if states:
        addresses = [library.seen(x).address for x in (*rows, *results)]
        code: Any = kernel.code(number)
        with on.current():
            code.launch(on, addresses, [], states, library.stream(on.number))
    if out is not None and not direct:
        library.fill(out, results[0])
        results[0] = out
    return results[0] if len(results) == 1 else tuple(results)


def _is_plain(library: Library, seen: Seen, out: Any, arrays: Sequence[Any], number: np.dtype[Any]) -> bool:
    """Whether results can be written straight into an array that was given for them."""
    if seen.dtype != number or seen.address % LINE or library.seen(library.rows(out, seen.shape, number)) != seen:
        return False
    end = seen.address + prod(seen.shape) * number.itemsize
    spans = [(one.address, one.address + prod(one.shape) * one.dtype.itemsize) for one in map(library.seen, arrays)]
    return all(stop <= seen.address or end <= start for start, stop in spans)


def _where(one: Seen) -> str:
    return "on the CPU" if one.device == HOST else f"on GPU {one.device}"
