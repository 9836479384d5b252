"""Machine code in this process: compiling, loading, and calling it."""

from __future__ import annotations

import ctypes
import json
import mmap
import os
import warnings
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from math import prod
from typing import Any

import numpy as np

from hinge.arguments import Array
from hinge.backends import Code, memory, threads
from hinge.backends.llvm import cpython_entry, cpython_layout, spread
from hinge.backends.llvm.block import DOUBLE, SINGLE, Precision
from hinge.backends.llvm.emit import emit, work_size
from hinge.backends.llvm.known import shortest
from hinge.backends.llvm.spread import ABOUT, LINE, MOST_ARRAYS
from hinge.errors import UnknownName
from hinge.graph import Program
from hinge.graph.order import ends, taken

PRECISIONS = {np.dtype(p.dtype): p for p in (DOUBLE, SINGLE)}
TYPE_NUMBER = {"double": 12, "float": 11, "byte": 2}  # NumPy's


# what LLVM's code calls besides its own: probes of large stack frames on Windows, `fma` of processors that have none
OUTSIDE = {"ntdll": ("__chkstk", "memcpy", "memset"), "ucrtbase": ("fma", "fmaf")}  # by the libraries of Windows


@cache
def binding() -> Any:
    """LLVM, ready for this processor; on Windows it is told where the functions are that its code calls."""
    import llvmlite.binding as llvm

    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    if os.name == "nt":
        for library, names in OUTSIDE.items():
            for name in names:
                llvm.add_symbol(name, ctypes.cast(getattr(ctypes.CDLL(library), name), ctypes.c_void_p).value)
    return llvm


@cache
def processor() -> tuple[str, str]:
    """Return the name of this processor and its features, in LLVM's words.

    HINGE_CPU_FEATURES switches features off: -avx512f gives the code of a processor that has AVX2 only.
    """
    host = binding().get_host_cpu_features()
    switched_off = os.environ.get("HINGE_CPU_FEATURES", "").replace(",", " ").split()
    for word in switched_off:
        if word[0] != "-" or word[1:] not in host:
            raise UnknownName(
                f"HINGE_CPU_FEATURES has {word!r}. Give features of this processor to switch off, such as -avx512f; "
                f"it has {', '.join(sorted(name for name, has in host.items() if has))}."
            )
    features = [word for word in host.flatten().split(",") if f"-{word[1:]}" not in switched_off]
    # LLVM reads from left to right: a feature that is switched off last takes along those that need it
    return binding().get_host_cpu_name(), ",".join([*features, *switched_off])


@cache
def may_run() -> bool:
    """Whether the system lets this process run code it has written; if not, says so once."""
    if os.name != "posix":
        return True
    page = mmap.mmap(-1, mmap.PAGESIZE)
    start = ctypes.addressof(ctypes.c_char.from_buffer(page))
    allowed = ctypes.CDLL(None).mprotect(ctypes.c_void_p(start), ctypes.c_size_t(mmap.PAGESIZE), 5) == 0
    if not allowed:
        warnings.warn("this system does not let hinge run machine code; the slow interpreter serves.", stacklevel=5)
    return allowed


def _target(level: int = 2) -> Any:
    """A new description of this processor; an engine keeps the one it is given.

    At level 2 instructions are ordered once more after they have their registers, which only short programs gain from.
    """
    name, features = processor()
    triple = binding().Target.from_default_triple()
    return triple.create_target_machine(cpu=name, features=features, opt=level, codemodel="jitdefault", jit=True)


def lanes(precision: Precision = DOUBLE) -> int:
    """How many states a block holds on this machine."""
    features = processor()[1].split(",")
    register = 16 if "+avx" not in features else 64 if "+avx512f" in features else 32
    return register // precision.bytes


def breadth(program: Program, precision: Precision = DOUBLE) -> int:
    """How many states a block holds: several vectors side by side where most time goes to short loops that wait."""
    often, (length, carried) = taken(program, MANY), shortest(program)
    carrying = {args[0] for op, args in program.code if op == "carry"}
    short = {n for start, end in ends(program).items() if start in carrying and end - start <= SHORT
             for n in range(start, end)}  # fmt: skip
    if len(program.code) > LONG or 2 * sum(often[n] for n in short) <= sum(often):
        return lanes(precision)
    return lanes(precision) * (4 if length <= SHORTER and carried <= FEW else 2 if length <= SHORT else 1)


MANY = 100.0  # trips of a loop of which nobody knows how often it is taken
SHORT, SHORTER = 60, 20  # instructions in a loop
LONG = 600  # instructions of a program that would be compiled twice
FEW = 4  # values that a loop carries
LARGE = 8000  # instructions of a program that is rather compiled sooner


@dataclass(frozen=True)
class Signature:
    """What has to be known of a compiled program to call it."""

    # inputs, then outputs: shape, one row for all, bytes, any number of rows
    arrays: tuple[tuple[tuple[int, ...], bool, bool, bool], ...]
    inputs: int
    work: int  # numbers in the work buffer
    length: int  # instructions
    lanes: int

    @classmethod
    def of(cls, program: Program, width: int, precision: Precision) -> Signature:
        arrays = [
            ((one.size,) if one.shape is None or one.stream else one.shape, one.uniform, False, one.stream)
            for one in program.inputs
        ]
        arrays += [(one.shape, False, one.whole, one.stream) for one in program.outputs]
        work = work_size(program, width, precision)
        return cls(tuple(arrays), len(program.inputs), work, len(program.code), width)


def object_file(text: str, passes: bool = False, level: int = 2) -> bytes:
    """LLVM text as an object file for this processor.

    No pass is run on a kernel: the tracer has done the optimising. What is written with cells and loops needs some.
    """
    llvm, target = binding(), _target(level)
    module = llvm.parse_assembly(text)
    if passes:
        builder = llvm.create_pass_builder(target, llvm.create_pipeline_tuning_options())
        manager = llvm.create_new_function_pass_manager()
        manager.add_sroa_pass()
        manager.add_simplify_cfg_pass()
        for function in module.functions:
            if not function.is_declaration:
                manager.run(function, builder)
    return bytes(target.emit_object(module))


def loaded(code: bytes) -> Any:
    """An object file in memory; the engine owns the code."""
    llvm = binding()
    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), _target())
    engine.add_object_file(llvm.ObjectFileRef.from_data(code))
    engine.finalize_object()
    return engine


class Entry:
    """What all kernels share: the way in from Python, and the way of a batch over threads."""

    def __init__(self, code: bytes):
        self.engine = loaded(code)
        table = (
            spread.addresses() | {"threads": ctypes.addressof(threads.SETTING)} | cpython_entry.addresses(memory.empty)
        )
        links = (ctypes.c_int64 * len(cpython_entry.LINKS))(*(table[name] for name in cpython_entry.LINKS))
        connect = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(self.engine.get_function_address("connect"))
        connect(ctypes.addressof(links))
        kind = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_char_p, ctypes.c_void_p, ctypes.c_int64)
        self.spread = kind(self.engine.get_function_address("spread"))

    def builtin(self, symbol: str, flags: int, about: bytes, *kept: Any) -> Callable[..., Any]:
        """A function of Python's that runs that code on what it is told; it keeps alive what that speaks of."""
        definition = _MethodDef(symbol.encode(), self.engine.get_function_address(symbol), flags, None)
        make = ctypes.pythonapi.PyCFunction_NewEx
        make.restype, make.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.py_object, ctypes.c_void_p]
        owner = _Told(about)
        owner.kept = (*kept, definition, self)
        return make(ctypes.addressof(definition), owner, None)


METH_NOARGS, METH_FASTCALL = 0x0004, 0x0080


class _Told(bytes):
    """What a builtin is told, with what has to live as long as it does."""

    kept: tuple[Any, ...]


class _MethodDef(ctypes.Structure):
    _fields_ = (
        ("name", ctypes.c_char_p), ("function", ctypes.c_void_p), ("flags", ctypes.c_int), ("doc", ctypes.c_char_p),
    )  # fmt: skip


@cache
def entry() -> Entry:
    """The shared part: from the cache, or compiled now."""
    from hinge.backends import cache as disk

    key = disk.key("llvm entry", *circumstances(), str(cpython_layout.HEAD))
    code = disk.find(key, "shared")
    if code is None:
        code = object_file(cpython_entry.text(), passes=True)
        disk.keep(key, code, "shared")
    return Entry(code)


@cache
def circumstances() -> tuple[str, ...]:
    """Return what code depends on: the processor, the versions of LLVM and of NumPy, which computes constants."""
    import llvmlite

    return (*processor(), llvmlite.__version__, np.__version__)


class Native(Code):
    """A program as machine code in this process: for batches, and for a state alone where that takes other vectors."""

    def __init__(self, program: Program, precision: Precision = DOUBLE, width: int = 0):
        width, alone = width or breadth(program, precision), width or lanes(precision)
        widths = [width, alone] if alone != width else [width]
        level = 1 if len(program.code) > LARGE else 2
        codes = [object_file(emit(program, n, precision), level=level) for n in widths]
        self._open(Signature.of(program, width, precision), precision, codes)

    @classmethod
    def opened(cls, content: bytes, precision: Precision) -> Native:
        """From what `content` of another one was."""
        head, _, code = content.partition(b"\n")
        described = json.loads(head)
        size = described.pop("size")
        codes = [part for part in (code[:size], code[size:]) if part]
        arrays = tuple((tuple(shape), *said) for shape, *said in described.pop("arrays"))
        made = cls.__new__(cls)
        made._open(Signature(arrays, **described), precision, codes)
        return made

    @property
    def content(self) -> bytes:  # type: ignore[override]
        head = asdict(self.signature) | {"size": len(self._codes[0])}
        return json.dumps(head).encode() + b"\n" + b"".join(self._codes)

    def _open(self, signature: Signature, precision: Precision, codes: Sequence[bytes]) -> None:
        self.signature, self.precision, self._codes = signature, precision, codes
        self._engines, self._entry = [loaded(code) for code in codes], entry()
        self._own_work = self._work()
        self._about = self._description()
        usual = len(signature.arrays) <= MOST_ARRAYS and all(len(shape) <= 3 for shape, *_ in signature.arrays)
        self._binds = usual and not cpython_layout.obstacle()
        if usual and "arrays" in cpython_layout.known() and not any(stream for *_, stream in signature.arrays):
            self.enter = self._entry.builtin("enter", METH_FASTCALL, self._about, self)

    def _work(self) -> Array:
        """A work buffer that begins on a cache line."""
        extra = LINE // self.precision.bytes
        raw = np.empty(self.signature.work + extra, self.precision.dtype)
        skip = -raw.ctypes.data % LINE // self.precision.bytes
        return raw[skip:]

    def _description(self) -> bytes:
        """What the shared part has to know of this kernel."""
        signature, number = self.signature, self.precision
        said = {
            "kernel": self._engines[0].get_function_address("kernel"),
            "single": self._engines[-1].get_function_address("single"),
            "work bytes": signature.work * number.bytes,
            "own work": self._own_work.ctypes.data,
            "number": id(np.dtype(number.dtype)),
            "inputs": signature.inputs,
            "outputs": len(signature.arrays) - signature.inputs,
            "length": signature.length,
            "lanes": signature.lanes,
        }
        row = [said[word] for word in ABOUT]
        for shape, uniform, byte, stream in signature.arrays:
            kind, width = (TYPE_NUMBER["byte"], 1) if byte else (TYPE_NUMBER[number.name], number.bytes)
            row += [prod(shape), len(shape), uniform, stream, kind, width, *(*shape, 1, 1, 1)[:3]]
        return np.array(row, np.int64).tobytes()

    def run(self, arrays: Sequence[Array], outs: Sequence[Array]) -> None:
        """Fill `outs` from `arrays`: contiguous, of this precision, (states, size), or (size,) for a uniform input.

        Streams are (states, rows, size), or (rows, size).
        """
        starts = np.array(self._places(arrays, outs), np.int64)
        if self._entry.spread(self._about, starts.ctypes.data, len(outs[0])):
            raise MemoryError(f"there are no {self.signature.work * self.precision.bytes} bytes for a work buffer.")

    def _places(self, arrays: Sequence[Array], outs: Sequence[Array]) -> list[int]:
        """Where the arrays are, and how many rows a state has in each."""
        given = [*arrays, *outs]
        rows = [a.shape[-2] if stream else 1 for a, (*_, stream) in zip(given, self.signature.arrays, strict=True)]
        return [a.ctypes.data for a in given] + rows

    def bind(self, arrays: Sequence[Array], outs: Sequence[Array]) -> Callable[[], None]:
        """A call without arguments that fills `outs` from these very arrays, which it keeps alive."""
        if not self._binds:
            return lambda: self.run(arrays, outs)
        work = self._work()
        fixed = [len(outs[0]), work.ctypes.data, *self._places(arrays, outs)]
        told = self._about + np.array(fixed, np.int64).tobytes()
        return self._entry.builtin("bound", METH_NOARGS, told, self, arrays, outs, work)
