"""A GPU that is none: kernels of the back end for GPUs run by the interpreter, on tensors of torch in the host's memory."""

import ctypes
from types import SimpleNamespace

import numpy as np

from hinge.backends import Backend, Code, interpret, register
from hinge.backends.cuda.resident import Kind
from hinge.graph import OPS
from hinge.graph.order import STRUCTURE


def at(address, shape, number):
    """The array that lies at an address."""
    count = int(np.prod(shape))
    room = (ctypes.c_char * max(1, count * number.itemsize)).from_address(address or ctypes.addressof(ctypes.c_double()))
    return np.frombuffer(room, number, count).reshape(shape)


class Launched(Code):
    """A program that is launched as on a GPU."""

    def __init__(self, program, number):
        self.program, self.number, self.streams = program, number, sorted(program.streams)
        self.launches = 0

    def launch(self, on, addresses, counts, states, stream):
        rows, every = dict(zip(self.streams, counts, strict=True)), (*self.program.inputs, *self.program.outputs)
        arrays = []
        for k, (one, address) in enumerate(zip(every, addresses, strict=True)):
            given = k < len(self.program.inputs)
            lead = (() if given and one.uniform else (states,)) + ((rows[k],) if k in rows else ())
            width = one.size if given else one.shape[0] if one.stream else len(one.entries)
            whole = not given and one.whole
            arrays.append(at(address, (*lead, width), np.dtype(np.uint8) if whole else self.number))
        inputs = len(self.program.inputs)
        interpret.run(self.program, arrays[:inputs], arrays[inputs:])
        self.launches += 1


class Pretended(Backend):
    name = "cuda"
    operations = OPS.keys() | STRUCTURE

    def compile(self, program, dtype):
        return Launched(program, dtype)


class Device:
    number = 0

    def put(self, address, array, stream):
        at(address, array.shape, array.dtype)[...] = array


def pretend(monkeypatch):
    """Put it in the place of the first GPU, and give a library of torch for it."""
    import torch

    import hinge.backends
    from hinge.backends.cuda import resident
    from hinge.calls import torch_on_gpu
    from hinge.sim import on_gpu

    before = hinge.backends.find("cuda")
    register(Pretended())
    monkeypatch.setitem(hinge.backends._ROWS, "cuda", hinge.backends._ROWS["cuda"])
    monkeypatch.setitem(hinge.backends._ROWS, "cuda", Pretended())
    for module in (resident, on_gpu):
        monkeypatch.setattr(module, "gpu", lambda number=0: Device())

    class Library(torch_on_gpu.Torch):
        def kind(self, array):
            return Kind(tuple(array.shape), torch_on_gpu.TYPES[array.dtype], 0)

        def stream(self, device):
            return 0

        def empty(self, shape, dtype, device):
            return torch.empty(shape, dtype=torch_on_gpu.OURS[dtype])

    return SimpleNamespace(library=Library(), before=before)
