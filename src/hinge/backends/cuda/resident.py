"""Calls on arrays that live on a GPU: nothing is copied to the host, and nobody waits.

Their library makes rows of them where they are none, and memory for results; the kernel goes into the stream that it
names. What there is to know of a call depends on shapes, types and places alone, and is found out once for each.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any, NamedTuple, Protocol
from weakref import WeakKeyDictionary

import numpy as np

from hinge.backends.cuda.device import Device, gpu
from hinge.backends.kernel import Kernel
from hinge.errors import SizeError

HOST = -1  # in the place of a GPU's number
MOST = 256  # calls of different kinds that a kernel remembers
LINE = 16  # bytes: rows that are read as vectors begin at multiples of it


class Kind(NamedTuple):
    """What a kernel has to know of an array: its shape, NumPy's type of its numbers, and the number of its GPU."""

    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    device: int


class Library(Protocol):
    """What a library of arrays on GPUs has to do."""

    def kind(self, array: Any) -> Kind: ...
    def place(self, array: Any) -> int:
        """Where its numbers begin, one after another; 0 where they lie otherwise."""

    def stream(self, device: int) -> int:
        """The address of the stream in which work on that GPU goes now."""

    def empty(self, shape: tuple[int, ...], dtype: np.dtype[Any], device: int) -> Any: ...
    def rows(self, array: Any, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Any:
        """A copy of the array, broadcast to that shape, of that type, in memory of its own."""

    def fill(self, out: Any, array: Any) -> None: ...
    def stamp(self, array: Any) -> Any:
        """What is another as soon as the array's numbers are, as long as the array lives."""


@dataclass(frozen=True)
class Fit:
    """What is known of a call before it is made."""

    on: Device
    code: Any
    number: np.dtype[Any]
    states: int
    inputs: tuple[tuple[Kind, bool], ...]  # as the kernel takes them, and whether they are given so
    results: tuple[Kind, ...]


_fits: WeakKeyDictionary[Kernel, dict[Any, Fit]] = WeakKeyDictionary()


def call(kernel: Kernel, library: Library, arrays: Sequence[Any], out: Any = None) -> tuple[Any, ...]:
    """The results of a kernel for arrays of a library, as arrays of it."""
    kinds = tuple([library.kind(x) for x in (arrays if out is None else (*arrays, out))])
    known = _fits.get(kernel)
    if known is None:
        known = _fits.setdefault(kernel, {})
    fit = known.get((kinds, out is None))
    if fit is None:
        if len(known) >= MOST:
            known.clear()
        fit = known[kinds, out is None] = _fit(kernel, kinds, out is not None)
    addresses, held = list[int](), list[Any]()
    for x, (kind, as_given) in zip(arrays, fit.inputs, strict=True):
        place = library.place(x) if as_given else 0
        if not place or place % LINE:
            held.append(library.rows(x, kind.shape, kind.dtype))
            place = library.place(held[-1])
        addresses.append(place)
    direct = out is not None and _is_plain(library, out, fit, addresses)
    results = [out if direct and not k else library.empty(*kind) for k, kind in enumerate(fit.results)]
    addresses += [library.place(x) for x in results]
    if fit.states:
        fit.code.launch(fit.on, addresses, (), fit.states, library.stream(fit.on.number))
    if out is not None and not direct:
        library.fill(out, results[0])
        results[0] = out
    return tuple(results)


def bind(kernel: Kernel, library: Library, given: Sequence[Any], outs: Sequence[Any]) -> Callable[[], None]:
    """A call without arguments, as `Kernel.bind` makes one: it reads and writes these very arrays.

    They lie in rows, and records as `record` makes them. What is given as an array of NumPy is copied there in every
    call.
    """
    kind = library.kind(outs[0])
    code: Any = kernel.code(kind.dtype)
    on, every = gpu(kind.device), [*given, *outs]
    here = {k: x for k, x in enumerate(given) if isinstance(x, np.ndarray)}
    for k, x in here.items():
        every[k] = library.empty(x.shape, kind.dtype, on.number)
    counts = [every[k].shape[-2] for k in code.streams]
    for k in code.records:
        every[k] = every[k].swapaxes(0, 1).swapaxes(1, 2)
    addresses = [library.place(x) for x in every]

    def call() -> None:
        stream = library.stream(on.number)
        for k, x in here.items():
            on.put(library.place(every[k]), np.ascontiguousarray(x, kind.dtype), stream)
        if kind.shape[0]:
            code.launch(on, addresses, counts, kind.shape[0], stream)

    return call


def record(library: Library, shape: tuple[int, ...], dtype: np.dtype[Any], device: int) -> Any:
    """An array (states, rows, width) for a record, which lies coordinates first."""
    states, rows, width = shape
    return library.empty((rows, width, states), dtype, device).swapaxes(1, 2).swapaxes(0, 1)


def one_place(call: str, kinds: Mapping[str, Kind]) -> None:
    """Refuse arrays, by their names, that are not in one place."""
    (first, at), *others = kinds.items()
    for name, kind in others:
        if kind.device != at.device:
            raise SizeError(f"{call}: {first} is {_where(at)} and {name} {_where(kind)}.\n  Bring them to one place.")


def _fit(kernel: Kernel, kinds: Sequence[Kind], has_out: bool) -> Fit:
    """What there is to know of a call with arrays of these kinds, the last of them out; refuses what does not fit."""
    names = [*(one.name for one in kernel.plan.inputs), "out"]
    one_place(kernel.name, dict(zip(names, kinds, strict=False)))
    given = kinds[:-1] if has_out else kinds
    number, batch, shapes = kernel.fitted(given, kinds[-1] if has_out else None)
    on = gpu(kinds[0].device)
    inputs = []
    for kind, one, shape in zip(given, kernel.plan.inputs, kernel.plan.shapes, strict=True):
        wanted = Kind(shape if one.uniform else (*batch, *shape), number, on.number)
        inputs.append((wanted, wanted == kind))
    results = tuple(Kind((*batch, *shape), kernel.type_of(k, number), on.number) for k, shape in enumerate(shapes))
    return Fit(on, kernel.code(number), number, prod(batch), tuple(inputs), results)


def _is_plain(library: Library, out: Any, fit: Fit, addresses: Sequence[int]) -> bool:
    """Whether results can be written straight into an array that was given for them: no input lies there."""
    start = library.place(out)
    if not start or start % LINE or library.kind(out) != fit.results[0]:
        return False
    end = start + _bytes(fit.results[0])
    spans = zip(addresses, fit.inputs, strict=True)
    return all(end <= address or address + _bytes(kind) <= start for address, (kind, _) in spans)


def _bytes(kind: Kind) -> int:
    return prod(kind.shape) * kind.dtype.itemsize


def _where(one: Kind) -> str:
    return "on the CPU" if one.device == HOST else f"on GPU {one.device}"
