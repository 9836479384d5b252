"""The way from a program of XLA's, which JAX compiles, into machine code, written once for all kernels.

It is a handler of XLA's foreign function interface (xla/ffi/api/c_api.h), and needs neither Python nor its lock. Where
a kernel's description is, and how many states there are, XLA keeps as attributes. In C it would read

    XLA_FFI_Error *handle(XLA_FFI_CallFrame *frame)
    {
        if (frame->extension_start) { write down the version of the interface; return NULL; }
        void *arrays[2 * n];                      /* where they are, and one row a state in each */
        if (spread(about, arrays, states)) return error("out of memory");
        return NULL;
    }
"""

from __future__ import annotations

import ctypes
import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any

from hinge.backends import Code
from hinge.backends import cache as disk
from hinge.backends.llvm.building import Building
from hinge.backends.llvm.jit import Native, circumstances, entry, loaded, object_file

LINKS = ("spread", "minor version", "words")  # what is handed over at load
MAJOR, MINOR = 0, 3  # the version of the interface whose offsets these are; another minor one adds to their ends
EXTENSION, API = 8, 16  # of a call frame
INPUTS, OUTPUTS, ATTRIBUTES = (56, 72), (96, 112), 160  # how many there are, and where
DATA, VALUE = 24, 8  # of a buffer; of a number that is an attribute
METADATA, VERSION, TRAITS = 24, (24, 28), 32  # of an extension; of the metadata
ERROR, ERROR_SIZE, EXHAUSTED = 48, 28, 8  # the function that makes one, of the interface; the size of what it takes
WORDS = b"hinge: there is no memory for a work buffer."


def serves(code: Code) -> bool:
    """Whether code can be entered this way: machine code, with one row a state in every array."""
    return isinstance(code, Native) and not any(stream for *_, stream in code.signature.arrays)


def about(code: Any) -> int:
    """Where a kernel's description is, as long as its code lives."""
    return ctypes.cast(ctypes.c_char_p(code._about), ctypes.c_void_p).value or 0


def address(header: str) -> Any:
    """The handler, for the interface that a header describes; None where that is another one."""
    minor = known(header)
    return None if minor is None else _handler(minor)


@cache
def _handler(minor: int) -> Any:
    table = {"spread": entry().engine.get_function_address("spread")} | told(minor, WORDS)
    made = entered(connected("xla entry", text, LINKS, table))
    made.kept = *made.kept, entry()
    return made


def text() -> str:
    """The handler as LLVM text."""
    c = Building("xla_entry", LINKS)
    frame = begin(c)
    arrays, count = buffers(c, frame, 2)
    with c.below(count) as k:
        c.put(arrays, c.b.add(count, k), c.one)
    about, states = attributes(c, frame, 2)
    end(c, frame, c.ask("spread", c.pointer(about), arrays, states, result=c.i64), EXHAUSTED)
    return str(c.module)


# what handlers have in common


def known(header: str) -> int | None:
    """The minor version of the interface that a header describes, or the last that we know; None where it is unlike."""
    version = [re.search(rf"XLA_FFI_API_{word} (\d+)", header) for word in ("MAJOR", "MINOR")]
    major, minor = (int(found[1]) if found else -1 for found in version)
    return min(minor, MINOR) if major == MAJOR and ctypes.sizeof(ctypes.c_void_p) == 8 else None


@cache
def told(minor: int, words: bytes) -> dict[str, int]:
    """What every handler is linked with: the version it is for, and what it says where something fails."""
    return {"minor version": minor, "words": ctypes.addressof(_kept(words))}


@cache
def _kept(words: bytes) -> Any:
    return ctypes.create_string_buffer(words)


def connected(name: str, text: Callable[[], str], links: Sequence[str], table: Mapping[str, int]) -> Any:
    """A module of host code in memory, from the cache or compiled now, with the addresses that it asks for."""
    key = disk.key(name, *circumstances())
    code = disk.find(key, "shared")
    if code is None:
        code = object_file(text(), passes=True)
        disk.keep(key, code, "shared")
    engine = loaded(code)
    row = (ctypes.c_int64 * len(links))(*(table[name] for name in links))
    ctypes.CFUNCTYPE(None, ctypes.c_void_p)(engine.get_function_address("connect"))(ctypes.addressof(row))
    return engine


def entered(engine: Any) -> Any:
    """The handler of a module, which keeps it alive."""
    made = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p)(engine.get_function_address("handle"))
    made.kept = (engine,)  # type: ignore[attr-defined]
    return made


def begin(c: Building) -> Any:
    """Begin a handler; gives its call frame. XLA asks it first which version of the interface it is for."""
    frame = c.define("handle", c.ptr, [c.ptr], public=True).args[0]
    extension = c.field(frame, EXTENSION, c.ptr)
    with c.b.if_then(c.b.not_(c.is_null(extension))):
        _tell(c, c.field(extension, METADATA, c.ptr))
        c.b.ret(c.null)
    return frame


def buffers(c: Building, frame: Any, more: int) -> tuple[Any, Any]:
    """A row that begins with where all arrays are, and how many there are; it has room for `more` times as many."""
    given, made = (c.field(frame, many, c.i64) for many, _ in (INPUTS, OUTPUTS))
    count = c.b.add(given, made)
    arrays = c.numbers(c.b.add(c.b.mul(count, c.n(more)), c.one))
    for number, (_, at), start in ((given, INPUTS, c.zero), (made, OUTPUTS, given)):
        places = c.field(frame, at, c.ptr)
        with c.below(number) as k:
            c.put(arrays, c.b.add(start, k), c.field(c.pointer(c.get(places, k)), DATA, c.i64))
    return arrays, count


def attributes(c: Building, frame: Any, count: int) -> list[Any]:
    """The numbers that XLA keeps for it, in the order of their names."""
    row = c.field(frame, ATTRIBUTES, c.ptr)
    return [c.get(c.field(c.pointer(c.get(row, c.n(k))), VALUE, c.ptr), c.zero) for k in range(count)]


def end(c: Building, frame: Any, failed: Any, code: int) -> None:
    """End a handler: with an error of XLA's where something failed: its size, no extension, the words, and a code."""
    with c.b.if_then(c.b.not_(c.same(failed, c.zero)), likely=False):
        row = c.row(4)
        for k, value in enumerate((c.n(ERROR_SIZE), c.zero, c.link("words"), c.n(code))):
            c.put(row, c.n(k), value)
        c.b.ret(c.call_at(c.field(c.field(frame, API, c.ptr), ERROR, c.i64), c.ptr, (row,)))
    c.b.ret(c.null)


def _tell(c: Building, metadata: Any) -> None:
    """Write down which version of the interface this is for."""
    major, minor = VERSION
    told = ((major, c.int32(MAJOR)), (minor, c.b.trunc(c.link("minor version"), c.i32)), (TRAITS, c.int32(0)))
    for offset, value in told:
        c.b.store(value, c.b.gep(metadata, [c.n(offset)], source_etype=c.ir.IntType(8)))
