"""Arrays of CuPy: calls run where they live, in CuPy's current stream, and give such arrays."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, lru_cache, partial
from typing import Any

import cupy
import numpy as np

from hinge.arguments import Array, real
from hinge.backends.places import HOST, ArrayKind
from hinge.calls.call import Call
from hinge.calls.evaluate import Arguments
from hinge.calls.operands import prepared
from hinge.errors import SizeError


class Cupy:
    """What CuPy does for calls on its arrays."""

    functions = cupy
    exhausted = cupy.cuda.memory.OutOfMemoryError
    backend = "cuda"

    # what is given

    def owns(self, given: Any) -> bool:
        return isinstance(given, cupy.ndarray)

    plain = owns

    def device(self, array: Any) -> int:
        return array.data.device_id if isinstance(array, cupy.ndarray) else HOST

    def seen(self, arrays: Sequence[Any]) -> bool:
        return True

    def array(self, what: str, given: Any, constant: Callable[[Array], Any]) -> Any:
        """What is no array of CuPy: numbers and lists go where these are, and arrays of NumPy stay on the CPU."""
        x = real(what, given)
        return x if isinstance(given, np.ndarray) else constant(x)

    def constant(self, given: Array, where: int, number: np.dtype[Any]) -> Any:
        return _constant(given.astype(number).tobytes(), given.shape, number, where)

    def at(self, where: int) -> Any:
        return cupy.cuda.Device(where)

    def host(self, array: Any) -> Array:
        return array.get()

    # where it is

    def keys(self, arrays: Sequence[Any]) -> tuple[Any, ...]:
        return tuple([(x.shape, x.strides, x.dtype, x.data.device_id) for x in arrays])

    def places(self, arrays: Sequence[Any]) -> list[int]:
        return [x.data.ptr for x in arrays]

    def kind(self, array: Any) -> ArrayKind:
        return ArrayKind(array.shape, array.dtype, array.data.device_id)

    def place(self, array: Any) -> int:
        return array.data.ptr if array.flags.c_contiguous else 0

    def stream(self, device: int) -> int:
        return cupy.cuda.get_current_stream(device).ptr

    def empty(self, shape: tuple[int, ...], dtype: np.dtype[Any], device: int) -> Any:
        with self.at(device):
            return cupy.ndarray(shape, dtype)

    def maker(self, kind: ArrayKind) -> Callable[[], Any]:
        return partial(cupy.ndarray, kind.shape, kind.dtype) if _one() else partial(self.empty, *kind)

    def rows(self, array: Any, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Any:
        with self.at(array.data.device_id):
            return cupy.array(cupy.broadcast_to(array, shape), dtype, order="C")

    def fill(self, out: Any, array: Any) -> None:
        with self.at(array.data.device_id):
            cupy.copyto(out, array, casting="same_kind")

    def stamp(self, array: Any) -> Any:
        return object()


@cache
def _one() -> bool:
    """Whether there is one GPU, which is the current one then."""
    return cupy.cuda.runtime.getDeviceCount() == 1


@lru_cache(256)
def _constant(numbers: bytes, shape: tuple[int, ...], number: np.dtype[Any], where: int) -> Any:
    """An array that is the same in every call, and in every stream."""
    with cupy.cuda.Device(where):
        made = cupy.asarray(np.frombuffer(numbers, number).reshape(shape))
        cupy.cuda.get_current_stream().synchronize()
    return made


LIBRARY = Cupy()


def run(call: Call, arguments: Arguments, out: Any, check: str, backend: str | None) -> tuple[Any, ...]:
    """Return the results of a call, in arrays of CuPy."""
    if out is not None and not LIBRARY.owns(out):
        raise SizeError(
            f"{call.name}: out is of type {type(out).__name__}; it has to be an array of CuPy, as others are."
        )
    call, arrays = prepared(LIBRARY, call, arguments, check, backend)
    return call.run_on(LIBRARY, arrays, out)


class Entry:
    """The way of plain calls with arrays of CuPy to a kernel."""

    def __init__(self, call: Call):
        self.way = call.device_entry(LIBRARY)

    def enter(self, *given: Any) -> Any:
        """What the call gives for these arrays and the last as `out`; None where some are not CuPy's."""
        arrays, out = given[:-1], given[-1]
        for x in arrays if out is None else given:
            if type(x) is not cupy.ndarray:
                return None
        made = self.way(arrays, out)
        return made[0] if len(made) == 1 else made


def differentiable(function: Any, arrays: Sequence[Any]) -> Any:
    """The results of a function that can be run where arrays are; CuPy knows no gradients."""
    return function.run_on(LIBRARY, arrays)
