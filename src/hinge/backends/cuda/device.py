"""A GPU through NVIDIA's driver: what it is, memory on it, and launching kernels in streams."""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from threading import get_ident
from typing import Any
from weakref import finalize

from hinge.backends.cuda.compiler import EXTRA
from hinge.errors import DeviceError

OLDEST = 13000  # what the driver says for CUDA 13.0, whose compiler we use


@functools.cache
def driver() -> Any:
    """The driver as cuda-bindings has it, ready."""
    try:
        from cuda.bindings import driver as found
    except ImportError as fault:
        raise DeviceError(f'backend="cuda" needs cuda-bindings, which is not there: {fault}.\n  {EXTRA}') from None
    try:
        (status,) = found.cuInit(0)
    except (RuntimeError, OSError) as fault:
        raise DeviceError(
            f'backend="cuda" needs NVIDIA\'s driver, which is not there: {fault}\n  Install it, or use backend="llvm".'
        ) from None
    if status.value:
        raise DeviceError(f'backend="cuda" finds no GPU: {_words(found, status)}.\n  Use backend="llvm".')
    _, version = found.cuDriverGetVersion()
    if version < OLDEST:
        had = f"{version // 1000}.{version % 1000 // 10}"
        raise DeviceError(f'backend="cuda" needs a driver for CUDA 13.0 or later; this one is for {had}.\n  Update it.')
    return found


def _words(found: Any, status: Any) -> str:
    _, text = found.cuGetErrorString(status)
    return text.decode() if text else f"error {status.value}"


def checked(answer: tuple[Any, ...], what: str = "the driver") -> Any:
    """What a call of the driver gives, if all went well."""
    status, *made = answer
    if status.value:
        raise DeviceError(f"{what}: {_words(driver(), status)} ({status.name}).")
    return made[0] if len(made) == 1 else tuple(made) if made else None


class Held(dict[int, int]):
    """Where copies of arrays are on a GPU, by their numbers; they are gone with it."""

    def __init__(self, on: Device, arrays: Mapping[int, Any]):
        room = ExitStack()
        finalize(self, _freed, on, room)
        with on.current() as cu:
            for k, array in arrays.items():
                self[k] = room.enter_context(on.memory(array.nbytes))
                if array.nbytes:
                    checked(cu.cuMemcpyHtoD(self[k], array.ctypes.data, array.nbytes))


def _freed(on: Device, room: ExitStack) -> None:
    with on.current():
        room.close()


class Device:
    """One GPU, with the context that CuPy and torch use too."""

    def __init__(self, number: int):
        cu = driver()
        count = checked(cu.cuDeviceGetCount())
        if number >= count:
            raise DeviceError(f"there is no GPU {number}: this machine has {count}.")
        self.number, handle = number, checked(cu.cuDeviceGet(number))
        self.name = checked(cu.cuDeviceGetName(100, handle)).split(b"\0")[0].decode()
        which = cu.CUdevice_attribute
        major, minor = (
            checked(cu.cuDeviceGetAttribute(one, handle))
            for one in (
                which.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR,
                which.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR,
            )
        )
        self.architecture = 10 * major + minor
        self.context = checked(cu.cuDevicePrimaryCtxRetain(handle))
        self.handle = int(self.context)

    def __str__(self) -> str:
        return f"GPU {self.number} ({self.name})"

    @contextmanager
    def current(self) -> Iterator[Any]:
        """The driver, with this GPU's context."""
        cu = driver()
        checked(cu.cuCtxPushCurrent(self.context))
        try:
            yield cu
        finally:
            cu.cuCtxPopCurrent()

    @functools.cached_property
    def stream(self) -> Any:
        """A stream for arrays that come from elsewhere."""
        with self.current() as cu:
            return checked(cu.cuStreamCreate(cu.CUstream_flags.CU_STREAM_NON_BLOCKING))

    @contextmanager
    def memory(self, size: int) -> Iterator[int]:
        """The address of so many bytes; call it where the context is current."""
        cu = driver()
        free, total = checked(cu.cuMemGetInfo())
        if size > free:
            self._refuse(size, free, total)
        status, place = cu.cuMemAlloc(max(size, 1))
        if status == cu.CUresult.CUDA_ERROR_OUT_OF_MEMORY:
            self._refuse(size, free, total)
        address = int(checked((status, place), f"memory on {self}"))
        try:
            yield address
        finally:
            cu.cuMemFree(address)

    def held(self, arrays: Mapping[int, Any]) -> Held:
        """Copies of arrays of NumPy that stay here as long as the result."""
        return Held(self, arrays)

    def put(self, address: int, array: Any, stream: Any) -> None:
        """Copy an array of NumPy there, in a stream; it may change when this returns."""
        with self.current() as cu:
            checked(cu.cuMemcpyHtoDAsync(address, array.ctypes.data, array.nbytes, stream), f"a copy to {self}")

    def _refuse(self, size: int, free: int, total: int) -> None:
        raise DeviceError(
            f"{self} has no memory for {size} bytes: {free} of its {total} are free.\n"
            "  Give fewer states at a time, or ask for less of each."
        )

    def launch(self, kernel: Any, states: int, threads: int, numbers: Sequence[int], stream: Any) -> None:
        """Put a kernel into a stream, with its arguments, all of 64 bits; as many blocks of threads as states need."""
        cu, count = driver(), len(numbers)
        values, places = _arguments(get_ident(), count)
        values[:] = numbers
        pushed = int(checked(cu.cuCtxGetCurrent())) != self.handle
        if pushed:
            checked(cu.cuCtxPushCurrent(self.context))
        made = cu.cuLaunchKernel(
            kernel, -(-states // threads), 1, 1, threads, 1, 1, 0, stream, ctypes.addressof(places), 0
        )
        if pushed:
            cu.cuCtxPopCurrent()
        checked(made)

    def loaded(self, code: bytes, name: str) -> Any:
        """A kernel of machine code."""
        with self.current() as cu:
            module = checked(cu.cuModuleLoadData(code), f"{name} on {self}")
            return checked(cu.cuModuleGetFunction(module, name.encode()))


@functools.cache
def gpu(number: int = 0) -> Device:
    """The GPU with that number."""
    return Device(number)


@functools.lru_cache(256)
def _arguments(thread: int, count: int) -> tuple[Any, Any]:
    """Room for the arguments of a kernel, each thread's own, and the list of their addresses."""
    values = (ctypes.c_int64 * count)()
    start = ctypes.addressof(values)
    places = (ctypes.c_void_p * count)(*range(start, start + 8 * count, 8))
    return values, places
