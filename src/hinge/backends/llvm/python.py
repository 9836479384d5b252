"""Entry points that Python calls without ctypes, in machine code made beside the kernel.

`call` is a METH_FASTCALL function: it looks into the arrays it is given, and where each is a plain vector of the right
type and length it makes the result, runs one state, and returns it. For anything unusual it returns None, and the
ordinary path takes over. `bound` is a METH_NOARGS function on arrays fixed beforehand.

The addresses it needs are handed over when the code is loaded; none is in the code, which may come from a cache.
"""

from __future__ import annotations

from hinge.backends.llvm.block import Precision
from hinge.graph import Program

# what is handed over at load, in this order
LINKS = ("array type", "number type", "PyArray_New", "Py_IncRef", "None", "work")
# offsets in the head of an array object, in a tuple and in a bytes object
TYPE, DATA, NDIM, DIMENSIONS, DESCR, FLAGS = 8, 16, 24, 32, 56, 64
FIRST_ITEM, FIRST_BYTE = 24, 32
PLAIN = 0x101  # C-contiguous and aligned
TYPE_NUMBER = {"double": 12, "float": 11}


def entries(program: Program, precision: Precision) -> list[str]:
    """The text of `connect`, `call` and `bound`."""
    count = len(program.inputs)
    shape = program.outputs[0].shape
    dims = ", ".join(f"i64 {n}" for n in shape) or "i64 0"
    code = [
        f"@links = internal global [{len(LINKS)} x ptr] zeroinitializer",
        f"@shape = internal constant [{max(1, len(shape))} x i64] [{dims}]",
        "declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)",
        "define void @connect(ptr %table) {",
        f"  call void @llvm.memcpy.p0.p0.i64(ptr @links, ptr %table, i64 {8 * len(LINKS)}, i1 false)",
        "  ret void",
        "}",
        *_nothing(),
        "define ptr @call(ptr %self, ptr %args, i64 %count) {",
        "entry:",
        _link("array", 0),
        _link("number", 1),
        f"  %enough = icmp eq i64 %count, {count}",
        "  br i1 %enough, label %look0, label %unusual",
    ]
    for k, one in enumerate(program.inputs):
        code += _look(k, one.size)
    arguments = ", ".join(f"ptr %data{k}" for k in range(count)) + (", " if count else "")
    code += [
        f"look{count}:",
        _link("new", 2),
        f"  %made = call ptr %new(ptr %array, i32 {len(shape)}, ptr @shape, i32 {TYPE_NUMBER[precision.name]}, "
        "ptr null, ptr null, i32 0, i32 0, ptr null)",
        "  %failed = icmp eq ptr %made, null",
        "  br i1 %failed, label %end, label %compute",
        "compute:",
        *_field("made", "out", DATA, "ptr"),
        _link("work", 5),
        f"  call void @single({arguments}ptr %out, ptr %work)",
        "  br label %end",
        "end:",
        "  ret ptr %made",
        "unusual:",
        "  %none = call ptr @nothing()",
        "  ret ptr %none",
        "}",
    ]
    return [*code, *_bound(count, len(program.outputs))] if len(program.outputs) == 1 else code[:7]


def _link(name: str, k: int) -> str:
    at = f"getelementptr inbounds ([{len(LINKS)} x ptr], ptr @links, i64 0, i64 {k})"
    return f"  %{name} = load ptr, ptr {at}, align 8"


def _field(base: str, name: str, offset: int, kind: str) -> list[str]:
    return [
        f"  %{name}.at = getelementptr i8, ptr %{base}, i64 {offset}",
        f"  %{name} = load {kind}, ptr %{name}.at, align {4 if kind == 'i32' else 8}",
    ]


def _nothing() -> list[str]:
    """A function that returns a new reference to None."""
    return [
        "define internal ptr @nothing() {",
        _link("count", 3),
        _link("none", 4),
        "  call void %count(ptr %none)",
        "  ret ptr %none",
        "}",
    ]


def _look(k: int, size: int) -> list[str]:
    """Argument k is an array of one axis, of the right type and length, as plain as can be."""
    return [
        f"look{k}:",
        f"  %arg{k}.at = getelementptr ptr, ptr %args, i64 {k}",
        f"  %arg{k} = load ptr, ptr %arg{k}.at, align 8",
        *_field(f"arg{k}", f"type{k}", TYPE, "ptr"),
        f"  %is{k} = icmp eq ptr %type{k}, %array",
        f"  br i1 %is{k}, label %head{k}, label %unusual",
        f"head{k}:",
        *_field(f"arg{k}", f"ndim{k}", NDIM, "i32"),
        *_field(f"arg{k}", f"descr{k}", DESCR, "ptr"),
        *_field(f"arg{k}", f"flags{k}", FLAGS, "i32"),
        f"  %one{k} = icmp eq i32 %ndim{k}, 1",
        f"  %same{k} = icmp eq ptr %descr{k}, %number",
        f"  %bits{k} = and i32 %flags{k}, {PLAIN}",
        f"  %plain{k} = icmp eq i32 %bits{k}, {PLAIN}",
        f"  %fits{k} = and i1 %one{k}, %same{k}",
        f"  %good{k} = and i1 %fits{k}, %plain{k}",
        f"  br i1 %good{k}, label %length{k}, label %unusual",
        f"length{k}:",
        *_field(f"arg{k}", f"dims{k}", DIMENSIONS, "ptr"),
        f"  %size{k} = load i64, ptr %dims{k}, align 8",
        *_field(f"arg{k}", f"data{k}", DATA, "ptr"),
        f"  %right{k} = icmp eq i64 %size{k}, {size}",
        f"  br i1 %right{k}, label %look{k + 1}, label %unusual",
    ]


def _bound(inputs: int, outputs: int) -> list[str]:
    """self is a tuple whose first item is bytes: the addresses of inputs, outputs and work, and how many states."""
    pointers = [f"p{k}" for k in range(inputs + outputs)]
    code = ["define ptr @bound(ptr %self, ptr %ignored) {", *_field("self", "item", FIRST_ITEM, "ptr")]
    for k, name in enumerate([*pointers, "work"]):
        code += _field("item", name, FIRST_BYTE + 8 * k, "ptr")
    code += _field("item", "states", FIRST_BYTE + 8 * (len(pointers) + 1), "i64")
    arguments = ", ".join(f"ptr %{name}" for name in pointers)
    return [
        *code,
        "  %alone = icmp eq i64 %states, 1",
        "  br i1 %alone, label %one, label %many",
        "one:",
        f"  call void @single({arguments}, ptr %work)",
        "  br label %end",
        "many:",
        f"  call void @kernel({arguments}, i64 %states, ptr %work)",
        "  br label %end",
        "end:",
        "  %none = call ptr @nothing()",
        "  ret ptr %none",
        "}",
    ]
