"""The back end for NVIDIA's GPUs: programs as CUDA C++, compiled by NVRTC, one thread a state.

Read emit (a program as text) and rows (its arrays), registers and parts (long programs), compiler (NVRTC), device (the
driver), resident (arrays that live there).
"""

from __future__ import annotations

import json
import os
from collections.abc import Collection, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from hinge.backends import Backend, Code
from hinge.backends.cuda import compiler
from hinge.backends.cuda.device import Device, checked, gpu
from hinge.backends.cuda.emit import Kernel, emit
from hinge.backends.cuda.parts import cost
from hinge.backends.cuda.rows import WARP, at_a_time
from hinge.backends.statements import REALS
from hinge.graph import OPS, Program
from hinge.graph.order import STRUCTURE

__all__ = ["BACKEND", "Loaded", "cost", "emit"]
ALIGNED = 256  # bytes: arrays begin at multiples of it
NAME = "program"


class Loaded(Code):
    """A program as machine code of a GPU."""

    def __init__(self, content: bytes):
        head, rest = content.split(b"\n", 1)
        said = json.loads(head)
        self.content, self.streams, self.records = content, said["streams"], said["records"]
        self.rows, self.room = said["rows"], said["room"]  # bytes of a state: of each array, and that kernels share
        self.kernels: list[tuple[Kernel, bytes]] = []
        for *kernel, size in said["kernels"]:
            self.kernels.append((Kernel(*kernel), rest[:size]))
            rest = rest[size:]
        self._loaded: dict[int, list[tuple[Any, Kernel]]] = {}

    def launch(self, on: Device, addresses: Sequence[int], counts: Sequence[int], states: int, stream: Any) -> None:
        """Put a call into a stream: where all arrays are, and how many rows each stream of rows has."""
        loaded = self._loaded.get(on.number)
        if loaded is None:
            loaded = [(on.loaded(code, kernel.name), kernel) for kernel, code in self.kernels]
            self._loaded[on.number] = loaded
        if not self.room:
            ((kernel, said),) = loaded
            on.launch(kernel, states, said.threads, (*addresses, *counts, states), stream)
            return
        most = at_a_time(self.room)
        with on.room(self.room * min(states, most), stream) as room:
            for first in range(0, states, most):
                count = min(most, states - first)
                here = [address + first * row for address, row in zip(addresses, self.rows, strict=True)]
                for kernel, said in loaded:
                    threads = -(-count // WARP) * WARP * said.warps
                    on.launch(kernel, threads, said.threads, (*here, *counts, room, count), stream)

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

    def cost(self, program: Program) -> float:
        return cost(program)

    def compile(self, program: Program, dtype: np.dtype[Any]) -> Code:
        return Loaded(content(program, dtype, gpu().architecture))

    def key(self, dtype: np.dtype[Any]) -> tuple[str, ...]:
        return (f"sm_{gpu().architecture}", compiler.version(), dtype.name)

    def opened(self, content: bytes, dtype: np.dtype[Any]) -> Code:
        return Loaded(content)


def content(program: Program, dtype: np.dtype[Any], architecture: int) -> bytes:
    """What is kept of a compiled program: a line that says how it is called, and machine code of each kernel."""
    text = emit(program, next(real for real in REALS.values() if real.dtype == dtype), NAME)
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        codes = list(
            pool.map(lambda k: compiler.compiled(text.source, NAME, architecture, k), range(len(text.kernels)))
        )
    streams = sorted(program.streams)
    rows = [0 if one.uniform else one.size * dtype.itemsize for one in program.inputs]
    rows += [len(one.entries) * (1 if one.whole else dtype.itemsize) for one in program.outputs]
    said = {
        "kernels": [
            (one.name, one.threads, one.warps, len(code)) for one, code in zip(text.kernels, codes, strict=True)
        ],
        "rows": rows,
        "room": text.columns * dtype.itemsize,
        "streams": streams,
        "records": [k for k in streams if k >= len(program.inputs)],
    }
    return b"".join([json.dumps(said).encode(), b"\n", *codes])


BACKEND = Cuda()
