"""A GPU that is none: kernels of the back end for GPUs run by the interpreter, on arrays in the host's memory."""

import ctypes

import numpy as np

import hinge.backends
from hinge.backends import Code, interpret, places
from hinge.backends.cuda import Cuda, device, resident

NOWHERE = ctypes.c_double()


def at(address, shape, number):
    """The array that lies at an address."""
    count = int(np.prod(shape))
    room = (ctypes.c_char * max(1, count * number.itemsize)).from_address(address or ctypes.addressof(NOWHERE))
    return np.frombuffer(room, number, count).reshape(shape)


class Launched(Code):
    """A program that takes addresses, as on a GPU."""

    def __init__(self, program, number):
        self.program, self.number, self.streams = program, number, sorted(program.streams)
        self.records = [k for k in self.streams if k >= len(program.inputs)]

    def run(self, arrays, outs, there=None):
        interpret.run(self.program, [(there or {}).get(k, one) for k, one in enumerate(arrays)], outs)

    def launching(self, on, count, counts, states):
        return lambda addresses, stream: self.launch(on, addresses, counts, states, stream)

    def launch(self, on, addresses, counts, states, stream):
        rows, inputs, arrays = dict(zip(self.streams, counts, strict=True)), len(self.program.inputs), []
        for k, (one, address) in enumerate(zip((*self.program.inputs, *self.program.outputs), addresses, strict=True)):
            given = k < inputs
            if k in self.records:
                arrays.append(at(address, (rows[k], one.shape[0], states), self.number))
                continue
            lead = (() if given and one.uniform else (states,)) + ((rows[k],) if k in rows else ())
            number = np.dtype(np.uint8) if not given and one.whole else self.number
            arrays.append(at(address, (*lead, one.size if given else len(one.entries)), number))
        outs = arrays[inputs:]
        for k in self.records:  # coordinates first
            outs[k - inputs] = np.ascontiguousarray(np.moveaxis(arrays[k], -1, 0))
        interpret.run(self.program, arrays[:inputs], outs)
        for k in self.records:
            arrays[k][...] = np.moveaxis(outs[k - inputs], 0, -1)


class Pretended(Cuda):
    def compile(self, program, dtype):
        return Launched(program, dtype)

    def key(self, dtype):
        return ()  # nothing is kept on disk

    def cost(self, program):
        return program.operations


class Device:
    number = 0

    def held(self, arrays):
        return {k: one.copy() for k, one in arrays.items()}

    def put(self, address, array, stream):
        at(address, array.shape, array.dtype)[...] = array


def pretend(monkeypatch):
    """Put it in the place of the first GPU."""
    monkeypatch.setitem(hinge.backends._ROWS, "cuda", Pretended())
    for module in (device, resident):
        monkeypatch.setattr(module, "gpu", lambda number=0: Device())


def tensors(monkeypatch):
    """The same, with tensors of torch on the CPU for its arrays."""
    import torch

    from hinge.calls import torch_arrays, torch_calls

    class There(torch_arrays.Torch):
        def kind(self, array):
            return places.ArrayKind(tuple(array.shape), torch_arrays.TYPES[array.dtype], 0)

        def stream(self, device):
            return 0

        def empty(self, shape, dtype, device):
            return torch.empty(shape, dtype=torch_arrays.OURS[dtype])

        def maker(self, kind):
            return lambda: self.empty(*kind)

    pretend(monkeypatch)
    there = There()
    monkeypatch.setattr(torch_calls, "_run", lambda function, given: tuple(function.run_on(there, given)))
    return there
