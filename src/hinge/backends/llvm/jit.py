"""Machine code in this process: compiling, loading, and calling it."""

from __future__ import annotations

import ctypes
import functools
import mmap
import os
import sys
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from hinge.backends import threads
from hinge.backends.llvm.block import DOUBLE, SINGLE, Precision
from hinge.backends.llvm.emit import emit, work_size
from hinge.backends.llvm.python import (
    DATA,
    DESCR,
    DIMENSIONS,
    FIRST_BYTE,
    FIRST_ITEM,
    FLAGS,
    LINE,
    LINKS,
    NDIM,
    PLAIN,
    TYPE,
)
from hinge.graph import Input, Program

PRECISIONS = {p.name: p for p in (DOUBLE, SINGLE)}
Array = np.ndarray[Any, np.dtype[Any]]


@cache
def binding() -> Any:
    """LLVM, ready for this processor."""
    import llvmlite.binding as llvm

    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    return llvm


@cache
def processor() -> tuple[str, str]:
    """The name of this processor and what it can do, in LLVM's words."""
    return binding().get_host_cpu_name(), binding().get_host_cpu_features().flatten()


@cache
def may_run() -> bool:
    """Whether the system lets this process run code it has written; if not, says so once."""
    if os.name != "posix":
        return True
    memory = mmap.mmap(-1, mmap.PAGESIZE)
    start = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    allowed = ctypes.CDLL(None).mprotect(ctypes.c_void_p(start), ctypes.c_size_t(mmap.PAGESIZE), 5) == 0
    if not allowed:
        warnings.warn("this system does not let hinge run machine code; the slow interpreter serves.", stacklevel=5)
    return allowed


def _target() -> Any:
    """A new description of this processor; an engine keeps the one it is given."""
    name, features = processor()
    triple = binding().Target.from_default_triple()
    return triple.create_target_machine(cpu=name, features=features, opt=2, codemodel="jitdefault", jit=True)


def lanes(precision: Precision = DOUBLE) -> int:
    """How many states a block holds on this machine."""
    features = processor()[1].split(",")
    register = 64 if "+avx512f" in features else 32 if "+avx" in features else 16
    return register // precision.bytes


@dataclass(frozen=True)
class Signature:
    """What has to be known of a compiled program to call it."""

    inputs: tuple[Input, ...]
    outputs: tuple[tuple[str, tuple[int, ...]], ...]
    work: int  # numbers in the work buffer
    length: int  # instructions
    precision: str = "double"

    @classmethod
    def of(cls, program: Program, precision: Precision) -> Signature:
        shapes = tuple((one.name, one.shape) for one in program.outputs)
        return cls(program.inputs, shapes, work_size(program, lanes(precision)), len(program.code), precision.name)


def compile_program(program: Program, precision: Precision = DOUBLE) -> bytes:
    """The program as an object file for this processor. No pass is run: the tracer has done the optimising."""
    module = binding().parse_assembly(emit(program, lanes(precision), precision))
    return bytes(_target().emit_object(module))


class Native:
    """A program as machine code in this process."""

    def __init__(self, program: Program, precision: Precision = DOUBLE):
        self._open(Signature.of(program, precision), compile_program(program, precision))

    @classmethod
    def opened(cls, signature: Signature, code: bytes) -> Native:
        """From an object file made earlier."""
        made = cls.__new__(cls)
        made._open(signature, code)
        return made

    def _open(self, signature: Signature, code: bytes) -> None:
        llvm = binding()
        self.signature, self.precision = signature, PRECISIONS[signature.precision]
        self._engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), _target())  # owns the code
        self._engine.add_object_file(llvm.ObjectFileRef.from_data(code))
        self._engine.finalize_object()
        arrays = len(signature.inputs) + len(signature.outputs)
        kind = ctypes.CFUNCTYPE(None, *([ctypes.c_void_p] * arrays), ctypes.c_int64, ctypes.c_void_p)
        self._call = kind(self._engine.get_function_address("kernel"))
        sizes = [0 if one.uniform else one.size for one in signature.inputs]
        sizes += [int(np.prod(shape)) for _, shape in signature.outputs]
        self._steps = [size * self.precision.bytes for size in sizes]
        self._own_work = self._work()
        self.call: Callable[..., Any] | None = None
        self.fill: Callable[..., Any] | None = None
        if len(signature.outputs) == 1 and _usual():
            self._connect()
            self.call, self.fill = (
                self._builtin("call", METH_FASTCALL),
                self._builtin("fill", METH_FASTCALL),
            )

    def _work(self) -> Array:
        """A work buffer that begins on a cache line."""
        extra = LINE // self.precision.bytes
        raw = np.empty(self.signature.work + extra, self.precision.dtype)
        skip = -raw.ctypes.data % LINE // self.precision.bytes
        return raw[skip:]

    def run(self, arrays: Sequence[Array], outs: Sequence[Array]) -> None:
        """Fill `outs` from `arrays`: contiguous, of this precision, (states, size), or (size,) for a uniform input."""
        starts = [address(a) for a in (*arrays, *outs)]

        def part(first: int, states: int) -> None:
            pointers = [start + first * step for start, step in zip(starts, self._steps, strict=True)]
            work = self._work()  # one a thread
            self._call(*pointers, states, address(work))

        threads.share(part, outs[0].shape[0], lanes(self.precision), self.signature.length)

    # entry points for Python that do without ctypes

    def _connect(self) -> None:
        """Hand the code the addresses it needs."""
        table = _links(self.precision.name) | {"work": address(self._own_work)}
        links = (ctypes.c_void_p * len(LINKS))(*(table[name] for name in LINKS))
        ctypes.CFUNCTYPE(None, ctypes.c_void_p)(self._engine.get_function_address("connect"))(ctypes.addressof(links))

    def bind(self, arrays: Sequence[Array], outs: Sequence[Array], states: int) -> Callable[[], None]:
        """A call without arguments that fills `outs` from these very arrays, which it keeps alive."""
        work = self._work()
        if self.call is None and states > FEW:
            rows = [
                a if one.uniform else a.reshape(states, -1)
                for a, one in zip(arrays, self.signature.inputs, strict=True)
            ]
            results = [out.reshape(states, -1) for out in outs]
            return lambda: self.run(rows, results)
        if self.call is None:  # several results, or an unusual Python
            pointers = [ctypes.c_void_p(address(a)) for a in (*arrays, *outs)]
            fixed_call = functools.partial(
                self._call, *pointers, ctypes.c_int64(states), ctypes.c_void_p(address(work))
            )
            fixed_call.alive = (arrays, outs, work, self)  # type: ignore[attr-defined]
            return fixed_call
        (out,) = outs
        numbers = [address(a) for a in (*arrays, out, work)] + [states]
        fixed = np.array(numbers, np.uint64).tobytes()
        return self._builtin("bound", METH_NOARGS, (fixed, *arrays, out, work))

    def _builtin(self, symbol: str, flags: int, bound_to: tuple[Any, ...] = ()) -> Callable[..., Any]:
        definition = _MethodDef(symbol.encode(), self._engine.get_function_address(symbol), flags, None)
        owner = (*bound_to, definition, self)  # a builtin keeps its self, and so its definition and the code
        make = ctypes.pythonapi.PyCFunction_NewEx
        make.restype, make.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.py_object, ctypes.c_void_p]
        return make(ctypes.addressof(definition), owner, None)  # type: ignore[no-any-return]


METH_NOARGS, METH_FASTCALL = 0x0004, 0x0080
FEW = 64  # states that are not worth being shared among threads


class _MethodDef(ctypes.Structure):
    _fields_ = (
        ("name", ctypes.c_char_p), ("function", ctypes.c_void_p), ("flags", ctypes.c_int), ("doc", ctypes.c_char_p),
    )  # fmt: skip


@cache
def _links(precision: str) -> dict[str, int]:
    """The addresses that the entry points need, but for the work buffer."""
    import numpy._core.multiarray as multiarray

    api = ctypes.pythonapi.PyCapsule_GetPointer
    api.restype, api.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    functions = (ctypes.c_void_p * 94).from_address(api(multiarray._ARRAY_API, None))
    table = {
        "array type": id(np.ndarray),
        "number type": id(np.dtype(PRECISIONS[precision].dtype)),
        "PyArray_New": functions[93] or 0,
        "None": id(None),
        "most states": ctypes.addressof(threads.MOST),
    }
    for name in LINKS:
        if name.startswith(("Py_", "PyMem_", "PyEval_")):
            table[name] = ctypes.cast(getattr(ctypes.pythonapi, name), ctypes.c_void_p).value or 0
    return table


@cache
def _usual() -> bool:
    """Whether this Python and this NumPy lay out their objects as `call` expects; looked up, not assumed."""
    if sys.implementation.name != "cpython" or ctypes.sizeof(ctypes.c_void_p) != 8 or sys.byteorder != "little":
        return False
    if hasattr(sys, "gettotalrefcount") or not getattr(sys, "_is_gil_enabled", lambda: True)():
        return False
    probe, text = np.arange(5.0), b"hinge"
    at, pair, raw = id(probe), (text, probe), id(text)

    def look(where: int, kind: Any) -> Any:
        return kind.from_address(where).value

    try:
        _links("double")
    except (ImportError, AttributeError, ValueError):
        return False
    return (
        look(at + TYPE, ctypes.c_void_p) == id(np.ndarray)
        and look(at + DATA, ctypes.c_void_p) == probe.ctypes.data
        and look(at + NDIM, ctypes.c_int) == 1
        and look(look(at + DIMENSIONS, ctypes.c_void_p), ctypes.c_int64) == 5
        and look(at + DESCR, ctypes.c_void_p) == id(np.dtype(np.float64))
        and look(at + FLAGS, ctypes.c_int) & PLAIN == PLAIN
        and not look(id(probe[::2]) + FLAGS, ctypes.c_int) & 1
        and look(id(pair) + FIRST_ITEM, ctypes.c_void_p) == raw
        and bytes((ctypes.c_char * 5).from_address(raw + FIRST_BYTE)) == text
    )


def address(a: Array) -> int:
    """Where an array's first number is."""
    if _usual():
        return ctypes.c_void_p.from_address(id(a) + DATA).value or 0
    return int(a.ctypes.data)
