"""Arrays of CuPy: calls run where they live, in CuPy's current stream, and give such arrays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import cupy
import numpy as np

from hinge.backends.cuda import resident
from hinge.calls import inputs
from hinge.calls.target import USUAL, Target
from hinge.dynamics.registry import default
from hinge.errors import NotCovered, SizeError


class Cupy:
    """What CuPy does for calls on its arrays."""

    def seen(self, array: Any) -> resident.Seen:
        return resident.Seen(array.shape, array.dtype, array.device.id, array.data.ptr)

    def stream(self, device: int) -> int:
        return cupy.cuda.get_current_stream(device).ptr

    def empty(self, shape: tuple[int, ...], dtype: np.dtype[Any], device: int) -> Any:
        with cupy.cuda.Device(device):
            return cupy.empty(shape, dtype)

    def rows(self, array: Any, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Any:
        fitted = array.astype(dtype, copy=False)
        return cupy.ascontiguousarray(fitted if fitted.shape == shape else cupy.broadcast_to(fitted, shape))

    def moved(self, array: Any) -> Any:
        return array.copy()

    def fill(self, out: Any, array: Any) -> None:
        out[...] = array


LIBRARY = Cupy()


def call(target: Target, name: str, given: Sequence[Any], frames: Sequence[str], out: Any = None,
         method: str | None = None, backend: str | None = None, check: str = "sizes", return_status: bool = False,
         joint_terms: Sequence[str] = USUAL, regroup: bool = False, slopes: Any = (), seeds: Sequence[Any] = (),
         flat: bool = False, packed: bool = False, external_frame: str = "body", **more: Any) -> Any:  # fmt: skip
    """What a target gives, in arrays of CuPy, where some of what it is given are."""
    if backend not in (None, "cuda"):
        raise NotCovered(f"{name}: backend={backend!r} cannot take arrays of CuPy.\n  Leave it out.")
    words = ("parameters", "prescribed", "external", "base_motion")
    refused = [word for word in words if more.pop(word, None) is not None]
    refused += ["check='values'"] if check == "values" else []
    if refused:
        raise NotCovered(f"{name}: {refused[0]} cannot be had with arrays of CuPy.\n  Give arrays of NumPy.")
    own = inputs.taken_from(more, target.model, default(name))
    present = [one for one, value in own.items() if value is not None]
    kernel = target.kernel(
        name, method, "cuda", present, joint_terms, return_status, regroup,
        inputs.places(target.model, name, frames), more, slopes, flat, packed,
    )  # fmt: skip
    arrays = [*given, *(own[one] for one in present), *seeds]
    for one, x in zip(kernel.plan.inputs, arrays, strict=False):
        if not isinstance(x, cupy.ndarray):
            raise SizeError(
                f"{name}: {one.name} is {type(x).__name__}, and others are arrays of CuPy.\n"
                "  Bring all to one place: cupy.asarray(x)."
            )
    return resident.call(kernel, LIBRARY, arrays, out)
