"""The back end for NVIDIA's GPUs: programs as CUDA C++, compiled by NVRTC, one thread a state.

Read emit (a program as text) and rows (its arrays), registers and parts (long programs), compiler (NVRTC), device (the
driver), launcher (host code that puts a call into a stream, compiled by LLVM), resident (arrays that live there).
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from importlib import import_module
from typing import Any

import numpy as np

from hinge.backends import Code, DeviceBackend
from hinge.backends.cuda import compiler, launcher, nvcc_files
from hinge.backends.cuda.device import Device, checked, gpu, loaded
from hinge.backends.cuda.emit import emit
from hinge.backends.cuda.launcher import Launch, Several
from hinge.backends.cuda.parts import cost
from hinge.backends.cuda.rows import WARP
from hinge.backends.statements import REALS
from hinge.errors import DeviceError
from hinge.graph import OPS, Program
from hinge.graph.order import STRUCTURE

__all__ = ["BACKEND", "Loaded", "cost", "emit"]
ALIGNED = 256  # bytes: arrays begin at multiples of it
NAME = "program"
NONE: Mapping[int, int] = {}


class Loaded(Code):
    """A program as machine code of a GPU."""

    def __init__(self, content: bytes):
        head, rest = content.split(b"\n", 1)
        said = json.loads(head)
        self.content, self.streams, self.records = content, said["streams"], said["records"]
        self.together = said["together"]  # whether a block may have fewer threads
        self.rows, self.room = said["rows"], said["room"]  # bytes of a state: of each array, and that kernels share
        self.machine_code: list[tuple[str, int, bytes]] = []  # of each kernel, with its name and the threads of a block
        for name, threads, size in said["kernels"]:
            self.machine_code.append((name, threads, rest[:size]))
            rest = rest[size:]

    @cached_property
    def kernels(self) -> list[tuple[int, int]]:
        """The kernels, and how many threads a block of each has."""
        return [(loaded(code, name), threads) for name, threads, code in self.machine_code]

    def launching(self, on: Device | None, arrays: int, counts: Sequence[int], states: int) -> Launch | Several:
        """A call with so many arrays, rows of each stream of rows, and states, of which only the addresses are open."""
        if on and on.architecture != gpu().architecture:
            raise DeviceError(
                f"programs are compiled for {gpu()} of sm_{gpu().architecture}, and {on} is of sm_{on.architecture}.\n"
                "  Set CUDA_VISIBLE_DEVICES to GPUs of one kind."
            )
        if self.room:
            assert on is not None
            return Several(self.kernels, on, self.rows, self.room, states)
        ((kernel, threads),) = self.kernels
        if self.together and on:
            threads = min(threads, WARP * -(-states // (WARP * on.multiprocessors)))
        return Launch(kernel, threads, on, arrays, (*counts, states))

    def launch(self, on: Device, addresses: Sequence[int], counts: Sequence[int], states: int, stream: Any) -> None:
        """Put a call into a stream: where all arrays are, and how many rows each stream of rows has."""
        self.launching(on, len(addresses), counts, states)(addresses, int(stream))

    def run(self, arrays: Sequence[Any], outs: Sequence[Any], there: Mapping[int, int] = NONE) -> None:
        """Arrays of NumPy are copied there and back; some may be `there` already, at these addresses."""
        on, every = gpu(), [*arrays, *outs]
        for k in self.records:  # coordinates first, as the program has them
            every[k] = np.ascontiguousarray(np.moveaxis(every[k], 0, -1))
        places, size = list[int](), 0
        for k, one in enumerate(every):
            places.append(size)
            size += 0 if k in there else -(-one.nbytes // ALIGNED) * ALIGNED
        counts = [every[k].shape[0] if k in self.records else every[k].shape[-2] for k in self.streams]
        with on.current() as cu, on.memory(size) as start:
            addresses = [there.get(k, start + place) for k, place in enumerate(places)]
            for k, (one, address) in enumerate(zip(every, addresses, strict=True)):
                if one.nbytes and k not in there and (k < len(arrays) or k in self.records):
                    checked(cu.cuMemcpyHtoD(address, one.ctypes.data, one.nbytes))
            self.launch(on, addresses, counts, len(outs[0]), on.stream)
            checked(cu.cuStreamSynchronize(on.stream), f"a program on {on}")
            for k in range(len(arrays), len(every)):
                if every[k].nbytes:
                    checked(cu.cuMemcpyDtoH(every[k].ctypes.data, addresses[k], every[k].nbytes))
        for k in self.records:
            outs[k - len(arrays)][...] = np.moveaxis(every[k], -1, 0)


class Cuda(DeviceBackend):
    """One thread of a GPU a state."""

    name = "cuda"
    xla_platform = "CUDA"

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

    def entry(self, kernel: Any, library: Any) -> Callable[..., tuple[Any, ...]]:
        return _resident().Entry(kernel, library)

    def bind(self, kernel: Any, library: Any, given: Sequence[Any], outs: Sequence[Any]) -> Callable[[], None]:
        return _resident().bind(kernel, library, given, outs)

    def record(self, library: Any, shape: tuple[int, ...], dtype: np.dtype[Any], device: int) -> Any:
        return _resident().record(library, shape, dtype, device)

    def put(self, library: Any, device: int, array: Any, numbers: np.ndarray[Any, Any]) -> None:
        _resident().put(library, device, array, numbers)

    def hold(self, arrays: dict[int, Any]) -> Any:
        return _resident().hold(arrays)

    def xla_handler(self, header: str) -> Any:
        return launcher.handler(header)

    def xla_launch(self, code: Any, arrays: int, states: int) -> Any:
        # XLA enters one kernel; several share room that it does not know of
        return None if code.room else code.launching(None, arrays, (), states)

    def files(
        self, prefix: str, about: Sequence[str], sizes: Any, routines: Sequence[Any], scalar: str
    ) -> dict[str, str]:
        real = REALS[scalar]
        return {
            f"{prefix}.cuh": nvcc_files.header(prefix, about, sizes, routines, real),
            **{f"{one.name}.cu": nvcc_files.code(prefix, one, real) for one in routines},
            f"{prefix}_test.cu": nvcc_files.test_main(prefix, routines, real),
        }

    def source(self, program: Program, scalar: str, name: str) -> str:
        return emit(program, REALS[scalar], name).source


def _resident() -> Any:
    """Return the module for arrays on GPUs, which imports kernels and so this package."""
    return import_module("hinge.backends.cuda.resident")


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
        "kernels": list(zip(text.kernels, text.threads, map(len, codes), strict=True)),
        "rows": rows,
        "room": text.columns * dtype.itemsize,
        "streams": streams,
        "together": text.together,
        "records": [k for k in streams if k >= len(program.inputs)],
    }
    return b"".join([json.dumps(said).encode(), b"\n", *codes])


BACKEND = Cuda()
