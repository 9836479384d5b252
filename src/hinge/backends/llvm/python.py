"""Entry points that Python calls without ctypes, in machine code made beside the kernel.

`call` is a METH_FASTCALL function: it looks into the arrays it is given, and where each is a plain vector of the right
type and length it makes the result, runs one state, and returns it. `fill` does the same for a batch of rows, into an
array given last, and lets other threads run meanwhile. For anything unusual both return None, and the ordinary path
takes over. `bound` is a METH_NOARGS function on arrays fixed beforehand.

The addresses it needs are handed over when the code is loaded; none is in the code, which may come from a cache.
"""

from __future__ import annotations

from hinge.backends.llvm.block import Precision
from hinge.graph import Program

# what is handed over at load, in this order
LINKS = (
    "array type", "number type", "PyArray_New", "Py_IncRef", "None", "work", "most states", "PyMem_RawMalloc",
    "PyMem_RawFree", "PyEval_SaveThread", "PyEval_RestoreThread",
)  # fmt: skip
# offsets in the head of an array object, in a tuple and in a bytes object
TYPE, DATA, NDIM, DIMENSIONS, DESCR, FLAGS = 8, 16, 24, 32, 56, 64
FIRST_ITEM, FIRST_BYTE = 24, 32
PLAIN, WRITABLE = 0x101, 0x400  # C-contiguous and aligned; writable
LINE = 64  # bytes in a cache line; work buffers are aligned to it
TYPE_NUMBER = {"double": 12, "float": 11}


def entries(program: Program, precision: Precision, work: int) -> list[str]:
    """The text of `connect`, `call`, `fill` and `bound`; `work` is the size of the work buffer in bytes."""
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
        code += _look(k, (one.size,))
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
    if len(program.outputs) > 1:
        return code[:7]
    return [*code, *_fill(program, work), *_bound(count, len(program.outputs))]


def _fill(program: Program, work: int) -> list[str]:
    """A batch: rows of the same number of states in every array, the last of them the result."""
    sizes = [one.size for one in program.inputs] + [len(program.outputs[0].entries)]
    rowwise = [k for k, one in enumerate(program.inputs) if not one.uniform] + [len(program.inputs)]
    last = len(sizes) - 1
    code = [
        "define ptr @fill(ptr %self, ptr %args, i64 %count) {",
        "entry:",
        _link("array", 0),
        _link("number", 1),
        f"  %enough = icmp eq i64 %count, {len(sizes)}",
        "  br i1 %enough, label %look0, label %unusual",
    ]
    for k, size in enumerate(sizes):
        code += _look(k, ("any", size) if k in rowwise else (size,), PLAIN | (WRITABLE if k == last else 0))
    code += [
        f"look{len(sizes)}:",
        f"  %states = load i64, ptr %dims{last}, align 8",
        "  %fit0 = icmp sgt i64 %states, 0",
    ]
    for n, k in enumerate(rowwise[:-1]):
        code += [
            f"  %rows{k} = load i64, ptr %dims{k}, align 8",
            f"  %equal{k} = icmp eq i64 %rows{k}, %states",
            f"  %fit{n + 1} = and i1 %fit{n}, %equal{k}",
        ]
    arguments = ", ".join(f"ptr %data{k}" for k in range(len(sizes)))
    return [
        *code,
        _link("most.at", 6),
        "  %most = load i64, ptr %most.at, align 8",
        f"  %amount = mul i64 %states, {len(program.code)}",
        "  %few = icmp sle i64 %amount, %most",
        f"  %all = and i1 %fit{len(rowwise) - 1}, %few",
        "  br i1 %all, label %take, label %unusual",
        "take:",
        _link("allocate", 7),
        f"  %raw = call ptr %allocate(i64 {work + LINE})",
        "  %none.left = icmp eq ptr %raw, null",
        "  br i1 %none.left, label %unusual, label %compute",
        "compute:",
        "  %raw.number = ptrtoint ptr %raw to i64",
        f"  %up = add i64 %raw.number, {LINE - 1}",
        f"  %aligned = and i64 %up, {-LINE}",
        "  %work = inttoptr i64 %aligned to ptr",
        _link("free", 8),
        _link("leave", 9),
        _link("return", 10),
        "  %thread = call ptr %leave()",
        f"  call void @kernel({arguments}, i64 %states, ptr %work)",
        "  call void %return(ptr %thread)",
        "  call void %free(ptr %raw)",
        _link("increase", 3),
        f"  call void %increase(ptr %arg{last})",
        f"  ret ptr %arg{last}",
        "unusual:",
        "  %none = call ptr @nothing()",
        "  ret ptr %none",
        "}",
    ]


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


def _look(k: int, shape: tuple[int | str, ...], flags: int = PLAIN) -> list[str]:
    """Argument k is an array of the right type, number of axes and length of the last, as plain as can be."""
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
        f"  %one{k} = icmp eq i32 %ndim{k}, {len(shape)}",
        f"  %same{k} = icmp eq ptr %descr{k}, %number",
        f"  %bits{k} = and i32 %flags{k}, {flags}",
        f"  %plain{k} = icmp eq i32 %bits{k}, {flags}",
        f"  %fits{k} = and i1 %one{k}, %same{k}",
        f"  %good{k} = and i1 %fits{k}, %plain{k}",
        f"  br i1 %good{k}, label %length{k}, label %unusual",
        f"length{k}:",
        *_field(f"arg{k}", f"dims{k}", DIMENSIONS, "ptr"),
        f"  %size{k}.at = getelementptr i64, ptr %dims{k}, i64 {len(shape) - 1}",
        f"  %size{k} = load i64, ptr %size{k}.at, align 8",
        *_field(f"arg{k}", f"data{k}", DATA, "ptr"),
        f"  %right{k} = icmp eq i64 %size{k}, {shape[-1]}",
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
        "many:",  # other threads may run meanwhile
        _link("leave", 9),
        _link("return", 10),
        "  %thread = call ptr %leave()",
        f"  call void @kernel({arguments}, i64 %states, ptr %work)",
        "  call void %return(ptr %thread)",
        "  br label %end",
        "end:",
        "  %none = call ptr @nothing()",
        "  ret ptr %none",
        "}",
    ]
