"""Calls on arrays that live on a GPU: nothing is copied to the host, and nobody waits.

Their library makes rows of them where they are none, and memory for results; the kernel goes into the stream that it
names. What there is to know of a call depends on shapes, types and places alone, and is found out once for each.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import reduce
from math import prod
from operator import or_
from typing import Any

import numpy as np

from hinge.backends.cuda.device import Device, gpu
from hinge.backends.cuda.launcher import Launch, Several
from hinge.backends.kernel import Kernel
from hinge.backends.places import ALIGNMENT, MOST, ArrayKind, ArrayLibrary, require_one_device


@dataclass(frozen=True)
class Fit:
    """What is known of a call before it is made."""

    on: Device
    launch: Launch | Several
    states: int
    inputs: tuple[ArrayKind, ...]  # as the kernel takes them
    as_given: tuple[bool, ...]
    straight: bool  # whether all are given so
    makers: tuple[Callable[[], Any], ...]  # of results
    size: int  # bytes of the first result
    total: int  # bytes of all results and copies
    fills: bool  # whether an array that is given for the first result is such a one


class Entry:
    """The way of arrays of one library into a kernel."""

    def __init__(self, kernel: Kernel, library: ArrayLibrary):
        self.kernel, self.library = kernel, library
        self._fits: dict[Any, Fit] = {}

    def __call__(self, arrays: Sequence[Any], out: Any = None) -> tuple[Any, ...]:
        """The results of the kernel for arrays of the library, as arrays of it."""
        library = self.library
        key = library.keys(arrays if out is None else (*arrays, out))
        fit = self._fits.get(key)
        if fit is None:
            fit = self._fits[key] = self._fitted(arrays, out)
        places, held, first = library.places(arrays), None, None
        try:
            if not fit.straight or reduce(or_, places) % ALIGNMENT:
                held = self._in_rows(fit, arrays, places)
            if out is None:
                results = [make() for make in fit.makers]
            else:
                first = out if fit.fills and self._is_free(out, fit, places) else fit.makers[0]()
                results = [first, *(make() for make in fit.makers[1:])]
        except library.exhausted:
            fit.on.refuse(fit.total, f"{self.kernel.name}: ")
        if fit.states:
            fit.launch(places + library.places(results), library.stream(fit.on.number))
        del held  # memory that a library takes back is used again in the same stream only
        if out is not None and first is not out:
            library.fill(out, first)
            results[0] = out
        return tuple(results)

    def _fitted(self, arrays: Sequence[Any], out: Any) -> Fit:
        """What there is to know of a call with such arrays; refuses what does not fit."""
        kernel, library = self.kernel, self.library
        given = [library.kind(x) for x in arrays]
        last = None if out is None else library.kind(out)
        names = [*(one.name for one in kernel.plan.inputs), "out"]
        kinds = [*given, last] if last else given
        require_one_device(kernel.name, {name: kind.device for name, kind in zip(names, kinds, strict=False)})
        number, batch, shapes = kernel.fitted(given, last)
        on, states = gpu(given[0].device), prod(batch)
        inputs = tuple(
            ArrayKind(shape if one.uniform else (*batch, *shape), number, on.number)
            for one, shape in zip(kernel.plan.inputs, kernel.plan.shapes, strict=True)
        )
        as_given = tuple(
            kind == wanted and library.place(x) != 0 for x, kind, wanted in zip(arrays, given, inputs, strict=True)
        )
        results = tuple(
            ArrayKind((*batch, *shape), kernel.type_of(k, number), on.number) for k, shape in enumerate(shapes)
        )
        launch = kernel.code(number).launching(on, len(inputs) + len(results), (), states)  # type: ignore[attr-defined]
        if len(self._fits) >= MOST:
            self._fits.clear()
        copied = [kind for kind, as_it_is in zip(inputs, as_given, strict=True) if not as_it_is]
        total = sum(map(_bytes, (*results, *copied)))
        fills = out is not None and last == results[0] and library.place(out) != 0
        makers = tuple(map(library.maker, results))
        return Fit(on, launch, states, inputs, as_given, all(as_given), makers, _bytes(results[0]), total, fills)

    def _in_rows(self, fit: Fit, arrays: Sequence[Any], places: list[int]) -> list[Any]:
        """Copies of those arrays that do not lie as the kernel takes them, whose places are put in."""
        held = []
        for k, (x, kind, as_given) in enumerate(zip(arrays, fit.inputs, fit.as_given, strict=True)):
            if not as_given or places[k] % ALIGNMENT:
                held.append(self.library.rows(x, kind.shape, kind.dtype))
                places[k] = self.library.place(held[-1])
        return held

    def _is_free(self, out: Any, fit: Fit, places: Sequence[int]) -> bool:
        """Whether results can be written straight into an array that was given for them: no input lies there."""
        start = self.library.place(out)
        spans = zip(places, fit.inputs, strict=True)
        return not start % ALIGNMENT and all(start + fit.size <= at or at + _bytes(kind) <= start for at, kind in spans)


def bind(kernel: Kernel, library: ArrayLibrary, given: Sequence[Any], outs: Sequence[Any]) -> Callable[[], None]:
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


def put(library: ArrayLibrary, device: int, array: Any, numbers: np.ndarray[Any, Any]) -> None:
    """Copy the numbers of a NumPy array into an array on a GPU."""
    gpu(device).put(library.place(array), numbers, library.stream(device))


def hold(arrays: dict[int, Any]) -> Any:
    """Return copies of NumPy arrays on the first GPU."""
    return gpu().held(arrays)


def record(library: ArrayLibrary, shape: tuple[int, ...], dtype: np.dtype[Any], device: int) -> Any:
    """An array (states, rows, width) for a record, which lies coordinates first."""
    states, rows, width = shape
    return library.empty((rows, width, states), dtype, device).swapaxes(1, 2).swapaxes(0, 1)


def _bytes(kind: ArrayKind) -> int:
    return prod(kind.shape) * kind.dtype.itemsize
