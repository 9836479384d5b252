"""A stand-in for NVIDIA's driver, whose GPUs have the memory of this machine and run programs by the interpreter."""

import ctypes
import enum
import json
from functools import cache
from types import SimpleNamespace

import numpy as np

from hinge.backends import cuda, interpret
from hinge.backends.cuda import device, launcher, resident

FIRST = 0x1000  # the context of GPU 0


class Result(enum.Enum):
    CUDA_SUCCESS = 0
    CUDA_ERROR_OUT_OF_MEMORY = 2
    CUDA_ERROR_NO_DEVICE = 100
    CUDA_ERROR_INVALID_CONTEXT = 201
    CUDA_ERROR_LAUNCH_FAILED = 719


OK = Result.CUDA_SUCCESS


class Driver:
    """What `cuda.bindings.driver` has, as far as we use it; `launched` has the GPU and the stream of each launch."""

    CUresult = Result
    CUdevice_attribute = SimpleNamespace(
        CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR=9,
        CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR=0,
        CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT=2,
    )
    CUstream_flags = SimpleNamespace(CU_STREAM_NON_BLOCKING=1)
    CUdriverProcAddress_flags = SimpleNamespace(CU_GET_PROC_ADDRESS_DEFAULT=0)

    def __init__(self, gpus=2, started=OK, version=13000, free=1 << 30, second=0):
        self.gpus, self.started, self.version, self.free, self.second = gpus, started, version, free, second
        self.programs, self.contexts, self.memory, self.launched, self.answer = [], [0], {}, [], OK
        self.functions = {}
        pointer, number = ctypes.c_void_p, ctypes.c_uint
        for name, call, kinds in (
            ("cuCtxGetCurrent", self._current, [pointer]),
            ("cuCtxPushCurrent", self._push, [pointer]),
            ("cuCtxPopCurrent", self._pop, [pointer]),
            ("cuLaunchKernel", self._launch, [pointer, *[number] * 7, *[pointer] * 3]),
        ):
            self.functions[name] = ctypes.CFUNCTYPE(ctypes.c_int, *kinds)(call)

    # what machine code calls

    def _current(self, place):
        ctypes.c_void_p.from_address(place).value = self.contexts[-1]
        return 0

    def _push(self, context):
        self.contexts.append(context)
        return 0

    def _pop(self, place):
        ctypes.c_void_p.from_address(place).value = self.contexts.pop()
        return 0

    def _launch(self, kernel, blocks, _, __, threads, *rest):
        stream, places = rest[-3:-1]
        program, number = self.programs[kernel - 1]
        every = [*program.inputs, *program.outputs]
        row = (ctypes.c_void_p * (len(every) + 1)).from_address(places)
        *addresses, states = (ctypes.c_int64.from_address(at).value for at in row)
        self.launched.append((self.contexts[-1] - FIRST, stream))
        if self.answer is not OK or self.contexts[-1] < FIRST or not 0 <= blocks * threads - states < threads:
            return self.answer.value or Result.CUDA_ERROR_INVALID_CONTEXT.value
        arrays = []
        for one, address in zip(every, addresses, strict=True):
            size = one.size if hasattr(one, "size") else len(one.entries)
            kind = np.dtype(np.uint8 if getattr(one, "whole", False) else number)
            shape = (size,) if getattr(one, "uniform", False) else (states, size)
            assert address % resident.ALIGNMENT == 0
            held = (ctypes.c_byte * (int(np.prod(shape)) * kind.itemsize)).from_address(address)
            arrays.append(np.frombuffer(held, kind).reshape(shape))
        count = len(program.inputs)
        interpret.run(program, arrays[:count], arrays[count:])
        return 0

    # what Python calls

    def cuInit(self, flags):
        return (self.started,)

    def cuDriverGetVersion(self):
        return OK, self.version

    def cuGetErrorString(self, status):
        return OK, status.name.removeprefix("CUDA_ERROR_").replace("_", " ").lower().encode()

    def cuDeviceGetCount(self):
        return OK, self.gpus

    def cuDeviceGet(self, number):
        return OK, number

    def cuDeviceGetName(self, length, number):
        return OK, b"stand-in\0\0"

    def cuDeviceGetAttribute(self, which, number):
        """Of sm_90; a further GPU may be of another kind."""
        return OK, self.second if number and self.second else which

    def cuDevicePrimaryCtxRetain(self, number):
        return OK, FIRST + number

    def cuCtxPushCurrent(self, context):
        return (Result(self._push(context)),)

    def cuCtxPopCurrent(self):
        return OK, self.contexts.pop()

    def cuStreamCreate(self, flags):
        return OK, 7

    def cuStreamSynchronize(self, stream):
        return (OK,)

    def cuMemGetInfo(self):
        return OK, self.free, 2 * self.free

    def cuMemAlloc(self, size):
        room = np.empty(size + 256, np.uint8)
        address = -(-room.ctypes.data // 256) * 256
        self.memory[address] = room
        return OK, address

    def cuMemFree(self, address):
        del self.memory[address]
        return (OK,)

    def cuMemcpyHtoD(self, to, source, size):
        ctypes.memmove(to, source, size)
        return (OK,)

    cuMemcpyDtoH = cuMemcpyHtoD  # noqa: N815

    def cuLibraryLoadData(self, code, *_):
        return OK, int(code)

    def cuLibraryGetKernel(self, library, name):
        return OK, library

    def cuGetProcAddress(self, name, version, flag):
        return OK, ctypes.cast(self.functions[name.decode()], ctypes.c_void_p).value, 0

    def content(self, program, dtype, architecture):
        """What is kept of a compiled program: its number here."""
        self.programs.append((program, dtype))
        code = str(len(self.programs)).encode()
        head = {"kernels": [("program", 128, len(code))], "rows": [], "room": 0, "streams": [], "records": [],
                "together": False}  # fmt: skip
        return json.dumps(head).encode() + b"\n" + code


def put_in(patch, *args, **keywords):
    """Put a stand-in where the driver is looked for; programs are not compiled, nor kept on disk."""
    made = Driver(*args, **keywords)
    patch.setattr(device, "driver", lambda: made)
    patch.setattr(launcher, "driver", lambda: made)
    patch.setattr(cuda, "content", made.content)
    patch.setattr(cuda.Cuda, "key", lambda self, dtype: ())
    patch.setattr(launcher, "entries", cache(launcher.entries.__wrapped__))
    gpu = cache(device.gpu.__wrapped__)
    for room in (device, cuda, resident):
        patch.setattr(room, "gpu", gpu)
    return made


# arrays of CuPy, which NumPy's functions do not take


class Memory:
    def __init__(self, ptr, device_id):
        self.ptr, self.device_id = ptr, device_id


class Array:
    """An array on such a GPU."""

    def __init__(self, host, device):
        self.host, self.at = host, device

    def __array__(self, *_, **__):
        raise TypeError("Implicit conversion to a NumPy array is not allowed.")

    shape = property(lambda self: self.host.shape)
    strides = property(lambda self: self.host.strides)
    ndim = property(lambda self: self.host.ndim)
    dtype = property(lambda self: self.host.dtype)
    flags = property(lambda self: self.host.flags)
    data = property(lambda self: Memory(self.host.ctypes.data, self.at))

    def get(self):
        return self.host.copy()

    def reshape(self, *shape):
        return Array(self.host.reshape(*shape), self.at)


class Cupy:
    """What of `cupy` we use."""

    def __init__(self):
        self.current, self.room = 0, 1 << 30
        self.ndarray = type("ndarray", (Array,), {"__module__": "cupy", "__init__": lambda *given: self._init(*given)})
        streams = SimpleNamespace(ptr=3, synchronize=lambda: None)
        self.cuda = SimpleNamespace(
            Device=self.device, get_current_stream=lambda device=None: streams,
            runtime=SimpleNamespace(getDeviceCount=lambda: 2), memory=SimpleNamespace(OutOfMemoryError=MemoryError),
        )  # fmt: skip

    def _init(self, array, shape, dtype):
        room = np.empty(int(np.prod(shape)) * np.dtype(dtype).itemsize + 256, np.uint8)
        if room.nbytes > self.room:
            raise MemoryError
        start = -room.ctypes.data % 256
        Array.__init__(array, room[start : len(room) - 256 + start].view(dtype).reshape(shape), self.current)

    def device(self, number):
        owner, before = self, self.current

        class Current:
            def __enter__(self):
                owner.current = number

            def __exit__(self, *_):
                owner.current = before

        return Current()

    def asarray(self, given):
        made = self.ndarray(np.shape(given), np.asarray(given).dtype)
        made.host[...] = given
        return made

    def view(self, host, device=0):
        made = self.ndarray.__new__(self.ndarray)
        Array.__init__(made, host, device)
        return made

    def broadcast_to(self, array, shape):
        return self.view(np.broadcast_to(array.host, shape), array.at)

    def concatenate(self, arrays, axis):
        assert {x.at for x in arrays} == {self.current}
        return self.asarray(np.concatenate([x.host for x in arrays], axis))

    def array(self, array, dtype, order):
        return self.asarray(array.host.astype(dtype))

    def copyto(self, out, array, casting):
        out.host[...] = array.host
