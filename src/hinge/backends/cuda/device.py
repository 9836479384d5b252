"""A GPU through NVIDIA's driver: what it is, memory on it, and launching kernels in streams."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from typing import Any, NoReturn
from weakref import finalize

from hinge.backends.cuda.compiler import EXTRA
from hinge.errors import DeviceError

ROOM_KEPT = 1 << 30  # bytes that stay with us between calls
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
        failed(status.value, what)
    return made[0] if len(made) == 1 else tuple(made) if made else None


def failed(number: int, what: str) -> NoReturn:
    """Raise what the driver says of an error."""
    status = driver().CUresult(number)
    raise DeviceError(f"{what}: {_words(driver(), status)} ({status.name}).")


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
        major, minor, self.multiprocessors = (
            checked(cu.cuDeviceGetAttribute(one, handle))
            for one in (
                which.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR,
                which.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR,
                which.CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT,
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
        if size > checked(cu.cuMemGetInfo())[0]:
            self.refuse(size)
        status, place = cu.cuMemAlloc(max(size, 1))
        if status == cu.CUresult.CUDA_ERROR_OUT_OF_MEMORY:
            self.refuse(size)
        address = int(checked((status, place), f"memory on {self}"))
        try:
            yield address
        finally:
            cu.cuMemFree(address)

    @contextmanager
    def room(self, size: int, stream: int) -> Iterator[int]:
        """The address of so many bytes for what is put into a stream meanwhile; nobody waits, and they are kept."""
        with self.current() as cu:
            status, place = cu.cuMemAllocFromPoolAsync(size, self._pool, cu.CUstream(stream))
            if status == cu.CUresult.CUDA_ERROR_OUT_OF_MEMORY:
                self.refuse(size)
            address = checked((status, place), f"memory on {self}")
            try:
                yield int(address)
            finally:
                checked(cu.cuMemFreeAsync(address, cu.CUstream(stream)))

    @functools.cached_property
    def _pool(self) -> Any:
        """Memory that is not given back to the driver."""
        cu = driver()
        wanted = cu.CUmemPoolProps()
        wanted.allocType = cu.CUmemAllocationType.CU_MEM_ALLOCATION_TYPE_PINNED
        wanted.location.type = cu.CUmemLocationType.CU_MEM_LOCATION_TYPE_DEVICE
        wanted.location.id = self.number
        pool = checked(cu.cuMemPoolCreate(wanted))
        kept = cu.CUmemPool_attribute.CU_MEMPOOL_ATTR_RELEASE_THRESHOLD
        checked(cu.cuMemPoolSetAttribute(pool, kept, cu.cuuint64_t(ROOM_KEPT)))
        return pool

    def held(self, arrays: Mapping[int, Any]) -> Held:
        """Copies of arrays of NumPy that stay here as long as the result."""
        return Held(self, arrays)

    def put(self, address: int, array: Any, stream: Any) -> None:
        """Copy an array of NumPy there, in a stream; it may change when this returns."""
        with self.current() as cu:
            checked(cu.cuMemcpyHtoDAsync(address, array.ctypes.data, array.nbytes, stream), f"a copy to {self}")

    def refuse(self, size: int, what: str = "") -> NoReturn:
        """Say that there is no memory for so many bytes."""
        with self.current() as cu:
            free, total = checked(cu.cuMemGetInfo())
        raise DeviceError(
            f"{what}{self} has no memory for {size} bytes: {free} of its {total} are free.\n"
            "  Give fewer states at a time, or ask for less of each."
        ) from None


def loaded(code: bytes, name: str) -> int:
    """A kernel of machine code, for whichever GPU it is launched on."""
    cu = driver()
    library = checked(cu.cuLibraryLoadData(code, [], [], 0, [], [], 0), name)
    return int(checked(cu.cuLibraryGetKernel(library, name.encode()), name))


@functools.cache
def gpu(number: int = 0) -> Device:
    """The GPU with that number."""
    return Device(number)
