"""A toy array library and a toy device that computes on its arrays, each written as another project would add it.

The numbers of an array are out of NumPy's reach, as those on a GPU are: what asks for them by accident fails.
"""

from contextlib import nullcontext
from math import prod

import numpy as np

from hinge.arguments import real
from hinge.backends import Code, DeviceBackend, interpret
from hinge.backends.places import HOST, ArrayKind, require_one_device
from hinge.calls.operands import prepared

# the device


class ToyCode(Code):
    """A program that the interpreter runs; it counts how often."""

    def __init__(self, program):
        self.program, self.runs = program, 0

    def run(self, arrays, outs):
        self.runs += 1
        interpret.run(self.program, arrays, outs)


class ToyDevice(DeviceBackend):
    """Device number 0, on which NumPy computes."""

    name, operations = "toy", interpret.BACKEND.operations

    def compile(self, program, dtype):
        return ToyCode(program)

    def entry(self, kernel, library):
        def call(arrays, out=None):
            kinds = [library.kind(x) for x in arrays]
            names = [one.name for one in kernel.plan.inputs]
            require_one_device(kernel.name, dict(zip(names, [kind.device for kind in kinds], strict=True)))
            dtype, batch, shapes = kernel.fitted(kinds, None if out is None else library.kind(out))
            inputs = [
                library.rows(x, shape if one.uniform else (*batch, *shape), dtype).numbers
                for x, one, shape in zip(arrays, kernel.plan.inputs, kernel.plan.shapes, strict=True)
            ]
            results = [library.empty((*batch, *shape), kernel.type_of(k, dtype), 0) for k, shape in enumerate(shapes)]
            kernel.code(dtype).run(
                [x.reshape(-1) if one.uniform else x.reshape(prod(batch), -1)
                 for x, one in zip(inputs, kernel.plan.inputs, strict=True)],
                [x.numbers.reshape(prod(batch), -1) for x in results],
            )  # fmt: skip
            if out is not None:
                library.fill(out, results[0])
                results[0] = out
            return tuple(results)

        return call

    def bind(self, kernel, library, given, outs):
        code = kernel.code(library.kind(outs[0]).dtype)
        arrays, results = ([getattr(x, "numbers", x) for x in each] for each in (given, outs))
        return lambda: code.run(arrays, results)

    def record(self, library, shape, dtype, device):
        return library.empty(shape, dtype, device)

    def put(self, library, device, array, numbers):
        array.numbers[...] = numbers


# the library


class ToyArray:
    def __init__(self, numbers, device=0):
        self.numbers, self.device = numbers, device

    shape = property(lambda self: self.numbers.shape)
    dtype = property(lambda self: self.numbers.dtype)
    ndim = property(lambda self: self.numbers.ndim)

    def __len__(self):
        return len(self.numbers)

    def reshape(self, *shape):
        return ToyArray(self.numbers.reshape(*shape), self.device)

    def __array__(self, *_, **__):
        raise AssertionError("numbers were read on the host")

    def __getitem__(self, at):
        return ToyArray(self.numbers[at], self.device)

    def __setitem__(self, at, values):
        self.numbers[at] = getattr(values, "numbers", values)

    def __abs__(self):
        return ToyArray(abs(self.numbers), self.device)


class Functions:
    """The functions of the library that joining arrays needs."""

    @staticmethod
    def broadcast_to(array, shape):
        return ToyArray(np.broadcast_to(array.numbers, shape), array.device)

    @staticmethod
    def concatenate(arrays, axis):
        return ToyArray(np.concatenate([x.numbers for x in arrays], axis), arrays[0].device)


class Toy:
    functions, exhausted, backend = Functions, MemoryError, "toy"

    def owns(self, given):
        return isinstance(given, ToyArray)

    plain = owns

    def device(self, array):
        return array.device if isinstance(array, ToyArray) else HOST

    def seen(self, arrays):
        return True

    def array(self, what, given, constant):
        x = real(what, given)
        return x if isinstance(given, np.ndarray) else constant(x)

    def constant(self, given, where, dtype):
        return ToyArray(given.astype(dtype), where)

    def at(self, where):
        return nullcontext()

    def host(self, array):
        return array.numbers

    def kind(self, array):
        return ArrayKind(array.shape, array.dtype, array.device)

    def place(self, array):
        return array.numbers.ctypes.data if array.numbers.flags.c_contiguous else 0

    def empty(self, shape, dtype, device):
        return ToyArray(np.empty(shape, dtype), device)

    def rows(self, array, shape, dtype):
        return ToyArray(np.array(np.broadcast_to(array.numbers, shape), dtype, order="C"), array.device)

    def fill(self, out, array):
        out.numbers[...] = array.numbers

    def stamp(self, array):
        return object()


LIBRARY = Toy()


def run(call, arguments, out, check, backend):
    call, arrays = prepared(LIBRARY, call, arguments, check, backend)
    return call.run_on(LIBRARY, arrays, out)


class Entry:
    def __init__(self, call):
        self.entry = call.device_entry(LIBRARY)

    def enter(self, *given):
        arrays, out = given[:-1], given[-1]
        if not all(type(x) is ToyArray for x in arrays):
            return None
        results = self.entry(arrays, out)
        return results[0] if len(results) == 1 else results


def differentiable(function, arrays):
    return function.run_on(LIBRARY, arrays)
