"""The way of a call into a stream: host code that launches kernels, for Python and for what XLA has compiled.

    launch(about, numbers, stream)        the driver's answer; `numbers` are addresses, counts, and last the states
    handle(frame)                         the same, called by XLA, which has the addresses and the stream

`about` says of a kernel what ABOUT lists. It is written once for all kernels, and needs neither Python nor its lock.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from functools import cache
from struct import Struct
from typing import Any

from hinge.backends.cuda.device import Device, checked, driver, failed
from hinge.backends.cuda.rows import at_a_time
from hinge.backends.llvm import xla_entry
from hinge.backends.llvm.building import Building

ABOUT = ("context", "kernel", "threads", "count")  # no context: that of the calling thread; `count` is of the numbers
DRIVER = ("cuCtxGetCurrent", "cuCtxPushCurrent", "cuCtxPopCurrent", "cuLaunchKernel")
LINKS = (*DRIVER, "minor version", "words")
WORDS = b"hinge: a GPU does not take a kernel."
CONTEXT, STREAM, STREAM_SIZE = 24, 80, 32  # of a call frame; of XLA's interface; of what that function takes
INTERNAL = 13  # among XLA's errors
VERSION = 12000  # of the driver's functions


class Launch:
    """A kernel on a GPU, with all but the addresses known: a call puts it into a stream."""

    def __init__(self, kernel: int, threads: int, on: Device | None, addresses: int, further: Sequence[int]):
        self.on, self.further = on, tuple(further)
        count = addresses + len(self.further)
        self.about = Struct(f"{len(ABOUT)}q").pack(on.handle if on else 0, kernel, threads, count)
        self.pack, self.enter = Struct(f"{count}q").pack, entries(0)[0]

    def __call__(self, addresses: Sequence[int], stream: int) -> None:
        status = self.enter(self.about, self.pack(*addresses, *self.further), stream)
        if status:
            failed(status, f"a program on {self.on}")

    @property
    def place(self) -> int:
        """Where its description is, as long as it lives."""
        return ctypes.cast(ctypes.c_char_p(self.about), ctypes.c_void_p).value or 0


class Several:
    """Kernels that share room, launched one after another, for so many states at a time as there is room for."""

    def __init__(self, kernels: Sequence[tuple[int, int]], on: Device, rows: Sequence[int], room: int, states: int):
        self.on, self.rows, most = on, rows, at_a_time(room)
        self.size = room * min(states, most)
        self.calls = [(first, min(most, states - first)) for first in range(0, states, most)]
        self.launches = {
            count: [Launch(kernel, threads, on, len(rows) + 1, (count,)) for kernel, threads in kernels]
            for _, count in self.calls
        }

    def __call__(self, addresses: Sequence[int], stream: int) -> None:
        with self.on.room(self.size, stream) as room:
            for first, count in self.calls:
                here = [address + first * row for address, row in zip(addresses, self.rows, strict=True)]
                for launch in self.launches[count]:
                    launch((*here, room), stream)


def handler(header: str) -> Any:
    """What XLA calls, for the interface that a header describes; None where that is another one."""
    minor = xla_entry.known(header)
    return None if minor is None else entries(minor)[1]


@cache
def entries(minor: int) -> tuple[Any, Any]:
    """The two ways in, for a minor version of XLA's interface."""
    flag = driver().CUdriverProcAddress_flags.CU_GET_PROC_ADDRESS_DEFAULT
    table = {name: int(checked(driver().cuGetProcAddress(name.encode(), VERSION, flag))[0]) for name in DRIVER}
    engine = xla_entry.connected("cuda launcher", text, LINKS, table | xla_entry.told(minor, WORDS))
    launch = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_char_p, ctypes.c_char_p, ctypes.c_void_p)
    return launch(engine.get_function_address("launch")), xla_entry.entered(engine)


def text() -> str:
    """Both as LLVM text."""
    c = Building("cuda_launcher", LINKS)
    launch = _launch(c)
    frame = xla_entry.begin(c)
    arrays, count = xla_entry.buffers(c, frame, 1)
    about, states = xla_entry.attributes(c, frame, 2)
    c.put(arrays, count, states)
    asked = c.row(4)
    for k, value in enumerate((c.n(STREAM_SIZE), c.zero, c.field(frame, CONTEXT, c.i64), c.zero)):
        c.put(asked, c.n(k), value)
    api = c.field(frame, xla_entry.API, c.ptr)
    refused = c.call_at(c.field(api, STREAM, c.i64), c.ptr, (asked,))
    c.demand(c.is_null(refused), refused)
    status = c.b.call(launch, [c.pointer(about), arrays, c.pointer(c.get(asked, c.n(3)))])
    xla_entry.end(c, frame, status, INTERNAL)
    return str(c.module)


def _launch(c: Building) -> Any:
    function = c.define("launch", c.i64, [c.ptr, c.ptr, c.ptr], public=True)
    about, numbers, stream = function.args
    context, kernel, threads, count = (c.get(about, c.n(k)) for k in range(len(ABOUT)))
    places, current, popped = c.numbers(count), c.cell(c.zero), c.cell(c.zero)
    with c.below(count) as k:
        c.put(places, k, c.address(c.item(numbers, k)))
    c.ask("cuCtxGetCurrent", current, result=c.i32)
    elsewhere = c.b.and_(c.b.not_(c.same(context, c.zero)), c.b.not_(c.same(context, c.read(current))))
    with c.b.if_then(elsewhere, likely=False):
        status = c.b.sext(c.ask("cuCtxPushCurrent", c.pointer(context), result=c.i32), c.i64)
        c.demand(c.same(status, c.zero), status)
    states = c.get(numbers, c.b.sub(count, c.one))
    blocks = c.b.sdiv(c.b.add(states, c.b.sub(threads, c.one)), threads)
    one, wide, none = c.int32(1), c.b.trunc(threads, c.i32), c.int32(0)
    sizes = (c.b.trunc(blocks, c.i32), one, one, wide, one, one, none)
    made = c.ask("cuLaunchKernel", c.pointer(kernel), *sizes, stream, places, c.null, result=c.i32)
    with c.b.if_then(elsewhere, likely=False):
        c.ask("cuCtxPopCurrent", popped, result=c.i32)
    c.b.ret(c.b.sext(made, c.i64))
    return function
