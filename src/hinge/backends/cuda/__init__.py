"""The back end for NVIDIA's GPUs: programs as CUDA C++, compiled by NVRTC, one thread a state.

Read emit (a program as text) and rows (its arrays), compiler (NVRTC), device (the driver), resident (arrays that live
there).
"""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from hinge.backends import Backend, Code
from hinge.backends.cuda import compiler
from hinge.backends.cuda.device import Device, checked, gpu, loaded
from hinge.backends.cuda.emit import emit
from hinge.backends.cuda.launcher import Launch
from hinge.backends.statements import REALS
from hinge.errors import DeviceError
from hinge.graph import OPS, Program
from hinge.graph.order import STRUCTURE

__all__ = ["BACKEND", "Loaded", "emit"]
ALIGNED = 256  # bytes: arrays begin at multiples of it
NAME = "program"


class Loaded(Code):
    """A program as machine code of a GPU."""

    def __init__(self, content: bytes):
        head, self.machine_code = content.split(b"\n", 1)
        said = json.loads(head)
        self.content, self.threads, self.streams, self.records = (
            content,
            said["threads"],
            said["streams"],
            said["records"],
        )

    @cached_property
    def kernel(self) -> int:
        return loaded(self.machine_code, NAME)

    def launching(self, on: Device | None, arrays: int, counts: Sequence[int], states: int) -> Launch:
        """A call with so many arrays, rows of each stream of rows, and states, of which only the addresses are open."""
        if on and on.architecture != gpu().architecture:
            raise DeviceError(
                f"programs are compiled for {gpu()} of sm_{gpu().architecture}, and {on} is of sm_{on.architecture}.\n"
                "  Set CUDA_VISIBLE_DEVICES to GPUs of one kind."
            )
        return Launch(self.kernel, self.threads, on, arrays, (*counts, states))

    def launch(self, on: Device, addresses: Sequence[int], counts: Sequence[int], states: int, stream: Any) -> None:
        """Put a call into a stream: where all arrays are, and how many rows each stream of rows has."""
        self.launching(on, len(addresses), counts, states)(addresses, int(stream))

    def run(self, arrays: Sequence[Any], outs: Sequence[Any]) -> None:
        """Arrays of NumPy are copied there and back."""
        on, every = gpu(), (*arrays, *outs)
        places, size = list[int](), 0
        for one in every:
            places.append(size)
            size += -(-one.nbytes // ALIGNED) * ALIGNED
        counts = [every[k].shape[-2] for k in self.streams]
        with on.current() as cu, on.memory(size) as start:
            addresses = [start + place for place in places]
            for k, (one, address) in enumerate(zip(every, addresses, strict=True)):
                if one.nbytes and (k < len(arrays) or k in self.records):
                    checked(cu.cuMemcpyHtoD(address, one.ctypes.data, one.nbytes))
            self.launch(on, addresses, counts, len(outs[0]), on.stream)
            checked(cu.cuStreamSynchronize(on.stream), f"a program on {on}")
            for one, address in zip(outs, addresses[len(arrays) :], strict=True):
                if one.nbytes:
                    checked(cu.cuMemcpyDtoH(one.ctypes.data, address, one.nbytes))


class Cuda(Backend):
    """One thread of a GPU a state."""

    name = "cuda"

    @property
    def operations(self) -> Collection[str]:  # type: ignore[override]
        return OPS.keys() | STRUCTURE

    def compile(self, program: Program, dtype: np.dtype[Any]) -> Code:
        return Loaded(content(program, dtype, gpu().architecture))

    def key(self, dtype: np.dtype[Any]) -> tuple[str, ...]:
        return (f"sm_{gpu().architecture}", compiler.version(), dtype.name)

    def opened(self, content: bytes, dtype: np.dtype[Any]) -> Code:
        return Loaded(content)


def content(program: Program, dtype: np.dtype[Any], architecture: int) -> bytes:
    """What is kept of a compiled program: a line that says how it is called, and machine code."""
    text = emit(program, next(real for real in REALS.values() if real.dtype == dtype), NAME)
    streams = sorted(program.streams)
    records = [k for k in streams if k >= len(program.inputs)]
    head = json.dumps({"threads": text.threads, "streams": streams, "records": records})
    return head.encode() + b"\n" + compiler.compiled(text.source, NAME, architecture)


BACKEND = Cuda()
