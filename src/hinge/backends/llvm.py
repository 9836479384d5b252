"""The native back end: vector machine code through LLVM, one lane a state.

    void kernel(ptr input_0, …, ptr output_0, …, i64 states, ptr work)

Arrays are row after row, a state each; a uniform input has one row. A block of W states is loaded into vectors, run
through the program in straight line, and stored; what is left over runs through the same code on a padded block, so
one state equals its row in any batch, bit for bit. No fast-math flag is set anywhere and nothing is contracted here:
the program already says which sums and products are fused.
"""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import numpy as np

from hinge.backends.llvm_math import arc_tangent, sine_and_cosine
from hinge.graph import Program

LINE = 64  # bytes in a cache line; the work buffer is aligned to it


class Block:
    """A straight run of instructions on vectors of `lanes` doubles."""

    def __init__(self, lanes: int):
        self.lanes, self.lines = lanes, list[str]()
        self.real, self.whole, self.truth = (f"<{lanes} x {t}>" for t in ("double", "i64", "i1"))
        self.suffix = f"v{lanes}f64"
        self.declared: dict[str, int] = {}
        self._count = 0
        self._angles: dict[str, tuple[str, str]] = {}

    def put(self, instruction: str) -> str:
        """Append an instruction; the name of what it makes."""
        self._count += 1
        name = f"%t{self._count}"
        self.lines.append(f"  {name} = {instruction}")
        return name

    def do(self, instruction: str) -> None:
        """Append an instruction that makes nothing."""
        self.lines.append(f"  {instruction}")

    def constant(self, x: float) -> str:
        bits = struct.unpack("<Q", struct.pack("<d", x))[0]
        return f"splat (double 0x{bits:016X})"

    def integer(self, x: int) -> str:
        return f"splat (i64 {x})"

    def call(self, intrinsic: str, *args: str) -> str:
        self.declared[intrinsic] = len(args)
        given = ", ".join(f"{self.real} {a}" for a in args)
        return self.put(f"call {self.real} @{intrinsic}.{self.suffix}({given})")

    def fma(self, a: str, b: str, c: str) -> str:
        return self.call("llvm.fma", a, b, c)

    def absolute(self, x: str) -> str:
        return self.call("llvm.fabs", x)

    def select(self, condition: str, a: str, b: str) -> str:
        return self.put(f"select {self.truth} {condition}, {self.real} {a}, {self.real} {b}")

    def negative(self, x: str) -> str:
        """Whether the sign bit is set."""
        bits = self.put(f"bitcast {self.real} {x} to {self.whole}")
        return self.put(f"icmp slt {self.whole} {bits}, {self.integer(0)}")

    def neg(self, x: str) -> str:
        return self.put(f"fneg {self.real} {x}")

    def angle(self, x: str) -> tuple[str, str]:
        """Sine and cosine, made together."""
        if x not in self._angles:
            self._angles[x] = sine_and_cosine(self, x)
        return self._angles[x]

    def choose(self, relation: str, a: str, b: str) -> str:
        """a where it stands in the relation to b, else b; NaN if either is."""
        chosen = self.select(self.binary(f"fcmp {relation}", a, b), a, b)
        return self.select(self.binary("fcmp uno", a, a), a, chosen)

    def binary(self, op: str, a: str, b: str) -> str:
        return self.put(f"{op} {self.real} {a}, {b}")


EMIT: dict[str, Callable[..., str]] = {
    "add": lambda b, x, y: b.binary("fadd", x, y),
    "sub": lambda b, x, y: b.binary("fsub", x, y),
    "mul": lambda b, x, y: b.binary("fmul", x, y),
    "div": lambda b, x, y: b.binary("fdiv", x, y),
    "neg": lambda b, x: b.neg(x),
    "sqrt": lambda b, x: b.call("llvm.sqrt", x),
    "sin": lambda b, x: b.angle(x)[0],
    "cos": lambda b, x: b.angle(x)[1],
    "atan2": arc_tangent,
    "min": lambda b, x, y: b.choose("olt", x, y),
    "max": lambda b, x, y: b.choose("ogt", x, y),
    "less": lambda b, x, y: b.binary("fcmp olt", x, y),
    "select": lambda b, c, x, y: b.select(c, x, y),
    "fma": lambda b, x, y, z: b.fma(x, y, z),
    "fms": lambda b, x, y, z: b.fma(x, y, b.neg(z)),
    "fnma": lambda b, x, y, z: b.fma(b.neg(x), y, z),
}


def emit(program: Program, lanes: int) -> str:
    """The program as LLVM text."""
    b = Block(lanes)
    values: list[str] = []

    def named(a: Any) -> str:
        return values[a] if type(a) is int else b.constant(a)

    places = _places(program)
    for n, (op, args) in enumerate(program.code):
        values.append(_load(b, program, *args) if op == "input" else EMIT[op](b, *(named(a) for a in args)))
        for k, j in places.get(n, ()):  # at once, so that no register has to hold it
            _store(b, program, k, j, values[n])
    for k, output in enumerate(program.outputs):
        for j, entry in enumerate(output.entries):
            if type(entry) is float:
                _store(b, program, k, j, b.constant(entry))

    pointers = [f"%in{k}" for k in range(len(program.inputs))] + [f"%out{k}" for k in range(len(program.outputs))]
    parameters = ", ".join(f"ptr noalias {p}" for p in pointers)
    body = [f"define internal void @block({parameters}) noinline {{", *b.lines, "  ret void", "}"]
    declared = [
        f"declare {b.real} @{name}.{b.suffix}({', '.join([b.real] * n)})" for name, n in sorted(b.declared.items())
    ]
    return "\n".join([*declared, *body, *_driver(program, lanes), ""])


def _load(b: Block, program: Program, k: int, j: int) -> str:
    """Entry j of input k, a lane a state."""
    size, uniform = program.inputs[k].size, program.inputs[k].uniform
    vector = "poison"
    for lane in range(b.lanes):
        at = b.put(f"getelementptr double, ptr %in{k}, i64 {j + (0 if uniform else lane * size)}")
        x = b.put(f"load double, ptr {at}, align 8")
        vector = b.put(f"insertelement {b.real} {vector}, double {x}, i32 {lane}")
    return vector


def _places(program: Program) -> dict[int, list[tuple[int, int]]]:
    """For each value that is an output: which output arrays it goes to, and where."""
    places: dict[int, list[tuple[int, int]]] = {}
    for k, output in enumerate(program.outputs):
        for j, entry in enumerate(output.entries):
            if type(entry) is int:
                places.setdefault(entry, []).append((k, j))
    return places


def _store(b: Block, program: Program, k: int, j: int, name: str) -> None:
    """A value into entry j of output k, a state a lane."""
    size = len(program.outputs[k].entries)
    for lane in range(b.lanes):
        x = b.put(f"extractelement {b.real} {name}, i32 {lane}")
        at = b.put(f"getelementptr double, ptr %out{k}, i64 {lane * size + j}")
        b.do(f"store double {x}, ptr {at}, align 8")


def _row_sizes(program: Program) -> list[tuple[str, int]]:
    """(name, doubles from one state to the next) for each array."""
    ins = [(f"in{k}", 0 if one.uniform else one.size) for k, one in enumerate(program.inputs)]
    return ins + [(f"out{k}", len(one.entries)) for k, one in enumerate(program.outputs)]


def work_size(program: Program, lanes: int) -> int:
    """Doubles the kernel needs to lay out the last, padded block."""
    return lanes * sum(size for _, size in _row_sizes(program)) + LINE


def _driver(program: Program, lanes: int) -> list[str]:
    """The loop over full blocks, and the padded block at the end: the last state is repeated in unused lanes."""
    rows = _row_sizes(program)
    parameters = ", ".join(f"ptr noalias %{name}" for name, _ in rows)
    code = [
        f"define void @kernel({parameters}, i64 %states, ptr noalias %work) {{",
        "entry:",
        f"  %rest = urem i64 %states, {lanes}",
        "  %full = sub i64 %states, %rest",
        "  br label %next",
        "next:",
        "  %s = phi i64 [0, %entry], [%s.next, %run]",
        "  %more = icmp ult i64 %s, %full",
        "  br i1 %more, label %run, label %tail",
        "run:",
    ]
    for name, size in rows:
        code += [
            f"  %{name}.offset = mul i64 %s, {size}",
            f"  %{name}.at = getelementptr double, ptr %{name}, i64 %{name}.offset",
        ]
    code += [
        "  call void @block(" + ", ".join(f"ptr %{name}.at" for name, _ in rows) + ")",
        f"  %s.next = add i64 %s, {lanes}",
        "  br label %next",
        "tail:",
        "  %any = icmp ugt i64 %rest, 0",
        "  br i1 %any, label %pad, label %done",
        "pad:",
        "  %last = sub i64 %rest, 1",
    ]
    offset, padded = 0, []
    for name, size in rows:
        if size == 0:
            padded.append(f"%{name}")
            continue
        code += [
            f"  %{name}.pad = getelementptr double, ptr %work, i64 {offset}",
            f"  %{name}.tail = mul i64 %full, {size}",
            f"  %{name}.from = getelementptr double, ptr %{name}, i64 %{name}.tail",
        ]
        padded.append(f"%{name}.pad")
        offset += lanes * size
        for lane in range(lanes if name.startswith("in") else 0):
            code += [
                f"  %{name}.l{lane} = call i64 @llvm.umin.i64(i64 {lane}, i64 %last)",
                f"  %{name}.o{lane} = mul i64 %{name}.l{lane}, {size}",
                f"  %{name}.p{lane} = getelementptr double, ptr %{name}.from, i64 %{name}.o{lane}",
                f"  %{name}.d{lane} = getelementptr double, ptr %{name}.pad, i64 {lane * size}",
                f"  call void @llvm.memcpy.p0.p0.i64(ptr %{name}.d{lane}, ptr %{name}.p{lane}, i64 {8 * size}, i1 false)",
            ]
    code.append("  call void @block(" + ", ".join(f"ptr {p}" for p in padded) + ")")
    for name, size in rows:
        if name.startswith("out"):
            code += [
                f"  %{name}.bytes = mul i64 %rest, {8 * size}",
                f"  call void @llvm.memcpy.p0.p0.i64(ptr %{name}.from, ptr %{name}.pad, i64 %{name}.bytes, i1 false)",
            ]
    code += ["  br label %done", "done:", "  ret void", "}"]
    return [*code, "declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)", "declare i64 @llvm.umin.i64(i64, i64)"]


@cache
def _binding() -> Any:
    """LLVM, ready for this processor."""
    import llvmlite.binding as binding

    binding.initialize_native_target()
    binding.initialize_native_asmprinter()
    return binding


def _target() -> Any:
    """A new description of this processor; an engine keeps the one it is given."""
    binding = _binding()
    return binding.Target.from_default_triple().create_target_machine(
        cpu=binding.get_host_cpu_name(),
        features=binding.get_host_cpu_features().flatten(),
        opt=2,
        codemodel="jitdefault",
        jit=True,
    )


@cache
def lanes() -> int:
    """How many states a block holds on this machine."""
    features = _binding().get_host_cpu_features()
    return 8 if features.get("avx512f") else 4 if features.get("avx") else 2


def compile_object(program: Program) -> bytes:
    """The program as an object file for this processor. No pass is run: the tracer has done the optimising."""
    return bytes(_target().emit_object(_binding().parse_assembly(emit(program, lanes()))))


class Native:
    """A program as machine code in this process."""

    def __init__(self, program: Program):
        binding = _binding()
        self._engine = binding.create_mcjit_compiler(binding.parse_assembly(""), _target())  # owns the code
        self._engine.add_object_file(binding.ObjectFileRef.from_data(compile_object(program)))
        self._engine.finalize_object()
        arrays = len(program.inputs) + len(program.outputs)
        kind = ctypes.CFUNCTYPE(None, *([ctypes.c_void_p] * arrays), ctypes.c_int64, ctypes.c_void_p)
        self._call = kind(self._engine.get_function_address("kernel"))
        self._work = work_size(program, lanes())

    def run(self, arrays: Sequence[np.ndarray], outs: Sequence[np.ndarray]) -> None:
        """Fill `outs` from `arrays`: contiguous doubles, (states, size), or (size,) for a uniform input."""
        work = np.empty(self._work)
        pointers = [a.ctypes.data for a in (*arrays, *outs)]
        self._call(*pointers, outs[0].shape[0], work.ctypes.data)
