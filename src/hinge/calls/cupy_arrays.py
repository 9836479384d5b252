"""Arrays of CuPy: calls run where they live, in CuPy's current stream, and give such arrays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import cupy
import numpy as np

from hinge.backends.cuda import resident
from hinge.backends.cuda.resident import Kind
from hinge.backends.kernel import Kernel
from hinge.calls.differentiable import requested
from hinge.calls.target import Target
from hinge.errors import NotCovered, SizeError


class Cupy:
    """What CuPy does for calls on its arrays."""

    def kind(self, array: Any) -> Kind:
        return Kind(array.shape, array.dtype, array.data.device_id)

    def place(self, array: Any) -> int:
        return array.data.ptr if array.flags.c_contiguous else 0

    def stream(self, device: int) -> int:
        return cupy.cuda.get_current_stream(device).ptr

    def empty(self, shape: tuple[int, ...], dtype: np.dtype[Any], device: int) -> Any:
        if device == cupy.cuda.runtime.getDevice():
            return cupy.empty(shape, dtype)
        with cupy.cuda.Device(device):
            return cupy.empty(shape, dtype)

    def rows(self, array: Any, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Any:
        return cupy.array(cupy.broadcast_to(array, shape), dtype, order="C")

    def fill(self, out: Any, array: Any) -> None:
        out[...] = array

    def stamp(self, array: Any) -> Any:
        return object()


LIBRARY = Cupy()


def call(target: Target, name: str, given: Sequence[Any], frames: Sequence[str], out: Any = None,
         backend: str | None = None, **keywords: Any) -> Any:  # fmt: skip
    """What a target gives, in arrays of CuPy, where some of what it is given are."""
    if backend not in (None, "cuda"):
        raise NotCovered(f"{name}: backend={backend!r} cannot take arrays of CuPy.\n  Leave it out.")
    asked_for, values = requested(target, name, given, frames, _stacked, backend="cuda", **keywords)
    arrays = [_array(f"{name}: {one}", x) for one, x in zip(asked_for.names, values, strict=True)]
    made = asked_for.run_on(LIBRARY, arrays, None if out is None else _array(f"{name}: out", out))
    return made[0] if len(made) == 1 else made


class Straight:
    """The way of plain calls with arrays of CuPy to a kernel."""

    def __init__(self, kernel: Kernel):
        self.kernel = kernel

    def enter(self, *given: Any) -> Any:
        """What the kernel gives for these arrays and the last as `out`; None where some are not CuPy's."""
        arrays, out = given[:-1], given[-1]
        for x in arrays if out is None else given:
            if type(x) is not cupy.ndarray:
                return None
        made = resident.call(self.kernel, LIBRARY, arrays, out)
        return made[0] if len(made) == 1 else made


def straight(target: Target, name: str, frames: Sequence[str], return_status: bool, options: Any) -> Straight | None:
    """The way that the next plain call may go, where it needs nothing besides what it is given."""
    asked_for, _ = requested(target, name, (), frames, _stacked, backend="cuda", return_status=return_status, **options)
    besides = target.vary or len(asked_for.names) != len(asked_for.kernel.plan.inputs)
    return None if besides else Straight(asked_for.kernel)


def differentiable(function: Any, arrays: Sequence[Any]) -> Any:
    """The results of a function that can be run where arrays are; CuPy knows no gradients."""
    return function.run_on(LIBRARY, arrays)


def _array(what: str, given: Any) -> Any:
    if not isinstance(given, cupy.ndarray):
        raise SizeError(
            f"{what} is of type {type(given).__name__}, and others are arrays of CuPy.\n"
            "  Bring all to one place: cupy.asarray(x)."
        )
    return given


def _stacked(what: str, parts: Sequence[Any]) -> Any:
    """Arrays, broadcast, as the rows of one."""
    return cupy.stack(cupy.broadcast_arrays(*(_array(what, x) for x in parts)), -2)
