"""The code around a program: rows of states into columns of lanes, the pieces of the program, columns into rows.

    void kernel(ptr arrays, i64 states, ptr work)
    void single(ptr arrays, ptr work)

`arrays` has the addresses of the inputs' rows, then of the outputs', then how many rows a state has in each. `kernel`
walks through a batch in blocks of as many states as there are lanes. `single` does one state, which it puts into every
lane. Both run the same pieces.
Results that are the same for every state are put into their columns once. Results that no cache can hold go past it
(`past_cache`). A status is written as a byte.

The loop of `gravity_force` of a pendulum on eight lanes, as `robot.source("gravity_force")` prints it, in short:

    next:                                                             ; s: the first state of a block
      %s = phi i64 [0, %entry], [%s.next, %near], …
      %s.next = add i64 %s, 8
      br i1 %empty, label %end, label %some
    some:
      br i1 %whole, label %full, label %short
    full:
      call void @pack.in0(ptr %in0.at, ptr %work)                     ; eight rows of q into columns of lanes
      call void @program(ptr %work)                                   ; the pieces, one after another
      br i1 %far, label %past, label %near
    near:
      call void @unpack.out0(ptr %out0.at, ptr %work)                 ; columns into eight rows of results
      br label %next
    short:                                                            ; the last few states, in a block of their own
      call void @short.in.double(ptr %in0.at, i64 1, i64 0, i64 %left, ptr %work)
      call void @program(ptr %work)
      call void @short.out.double(ptr %out0.at, i64 1, i64 8, i64 %left, ptr %work)
      br label %next
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from hinge.backends.llvm import levels, past_cache, squares
from hinge.backends.llvm.block import Block
from hinge.backends.llvm.levels import Part
from hinge.graph import Program


class Row(NamedTuple):
    """An array of rows: its name, its place among the arrays, the numbers in a row, and its first column."""

    name: str
    place: int
    size: int
    column: int
    kind: str  # of its numbers, in LLVM's words
    parts: Sequence[Part] = ()  # of a result

    @property
    def has_levels(self) -> bool:
        return len(self.parts) > 1 or any(part.value is not None for part in self.parts)


FAR = 1 << 24  # bytes of inputs and results that do not fit into the cache together
LEAST = 128  # bytes of a row that is worth the way past it


def driver(
    program: Program,
    in_columns: Sequence[int],
    out_columns: Sequence[int],
    out_parts: Sequence[Sequence[Part]],
    stage: int,
    b: Block,
) -> list[str]:
    """The functions `kernel` and `single` and what they call; `b` says the type and width of vectors.

    The columns say where the rows of inputs and outputs are in the work buffer, and where rows are staged.
    """
    count = len(program.inputs)
    ins = [
        Row(f"in{k}", k, one.size, in_columns[k], b.scalar) for k, one in enumerate(program.inputs) if not one.stream
    ]
    outs = [
        Row(f"out{k}", count + k, len(one.entries), out_columns[k], "i8" if one.whole else b.scalar, out_parts[k])
        for k, one in enumerate(program.outputs)
        if not one.stream
    ]
    shared = [row for row in ins if program.inputs[row.place].uniform]
    ins = [row for row in ins if row not in shared]
    handed = "".join(f", ptr %{row.name}" for row in shared)
    run = [f"  call void @program(ptr %work{handed})"]
    if program.streams:
        run.insert(0, "  call void @streams(ptr %arrays, i64 %s, i64 %last, ptr %work)")
    start = [_load(row) for row in (*ins, *shared, *outs)]
    code = [*_kernel(start, ins, outs, run, stage, b), *_single(start, ins, outs, run, b)]
    for row in ins:
        code += _transposer(f"pack.{row.name}", row, Block(b.lanes, b.precision), inward=True)
    for row in outs:
        if row.kind == "i8":
            continue
        inner, name = Block(b.lanes, b.precision), f"unpack.{row.name}"
        if row.has_levels:
            code += levels.unpacker(name, row.size, row.column, row.parts, inner)
        else:
            code += _transposer(name, row, inner, inward=False)
    leveled = any(row.has_levels for row in outs)
    long = any(row.kind != "i8" and not past_cache.is_short(row.size, b) for row in outs)
    code += past_cache.functions(long, b)
    code += squares.turned(Block(b.lanes, b.precision)) if long or leveled else []
    code += levels.function(b) if leveled else []
    code += [*_short("in", b.scalar, b), *_short("out", b.scalar, b), *_one("in", b), *_one("out", b)]
    if any(row.kind == "i8" for row in outs):
        code += _short("out", "i8", b)
    return [*code, UMIN, "!0 = !{i32 1}"]


UMIN = "declare i64 @llvm.umin.i64(i64, i64)"


def _load(row: Row) -> str:
    at = f"getelementptr ptr, ptr %arrays, i64 {row.place}"
    return f"  %{row.name}.here = {at}\n  %{row.name} = load ptr, ptr %{row.name}.here, align 8"


def _kernel(
    start: Sequence[str], ins: Sequence[Row], outs: Sequence[Row], run: Sequence[str], stage: int, b: Block
) -> list[str]:
    state = sum(row.size * (1 if row.kind == "i8" else b.precision.bytes) for row in (*ins, *outs))  # bytes
    code = [
        "define void @kernel(ptr %arrays, i64 %states, ptr noalias %work) {",
        "entry:",
        *start,
        "  call void @constants(ptr %work)",
        f"  %far = icmp uge i64 %states, {FAR // max(1, state)}",
        f"  %stage = getelementptr {b.real}, ptr %work, i64 {stage}",
        "  call void @levels(ptr %work, i1 %far)",
        "  br label %next",
        "next:",
        "  %s = phi i64 [0, %entry], [%s.next, %near], [%s.next, %past], [%s.next, %short]",
        "  %left = sub i64 %states, %s",
        "  %last = sub i64 %states, 1",
        f"  %s.next = add i64 %s, {b.lanes}",
        "  %empty = icmp sle i64 %left, 0",
        "  br i1 %empty, label %end, label %some",
        "some:",
        f"  %whole = icmp sge i64 %left, {b.lanes}",
    ]
    for row in (*ins, *outs):
        code += [
            f"  %{row.name}.offset = mul i64 %s, {row.size}",
            f"  %{row.name}.at = getelementptr {row.kind}, ptr %{row.name}, i64 %{row.name}.offset",
        ]
    code += ["  br i1 %whole, label %full, label %short", "full:"]
    code += [f"  call void @pack.{row.name}(ptr %{row.name}.at, ptr %work)" for row in ins]
    code += [*run, "  br i1 %far, label %past, label %near", "near:"]
    code += [_unpacked(row, b) for row in outs]
    code += ["  br label %next", "past:"]
    code += [line for row in outs for line in _past(row, b)]
    code += ["  br label %next", "short:", "  call void @levels(ptr %work, i1 true)"]
    code += [_short_call("in", row, "%left", b) for row in ins] + [*run]
    code += [_short_call("out", row, "%left", b) for row in outs]
    code += ["  br label %next", "end:", "  br i1 %far, label %settle, label %done", "settle:", "  fence seq_cst"]
    return [*code, "  br label %done", "done:", "  ret void", "}"]


def _unpacked(row: Row, b: Block) -> str:
    if row.kind == "i8":
        return _short_call("out", row, str(b.lanes), b)
    return f"  call void @unpack.{row.name}(ptr %{row.name}.at, ptr %work)"


def _past(row: Row, b: Block) -> list[str]:
    """The rows of a block past the cache."""
    if row.kind == "i8" or row.size * b.precision.bytes < LEAST:
        return [_unpacked(row, b)]
    if past_cache.is_short(row.size, b):
        return [
            f"  call void @unpack.{row.name}(ptr %stage, ptr %work)",
            f"  call void @sent(ptr %{row.name}.at, ptr %stage, i64 {row.size * b.lanes})",
        ]
    return [
        f"  %{row.name}.columns = getelementptr {b.real}, ptr %work, i64 {row.column}",
        f"  call void @tiled(ptr %{row.name}.at, i64 {row.size}, ptr %{row.name}.columns, ptr %stage)",
    ]


def constants(runs: Sequence[tuple[int, int, float]], level: Sequence[tuple[int, int, float]], b: Block) -> list[str]:
    """Functions that put runs of equal numbers into their columns: first column, how many, and the number.

    `levels` does so with the runs that full blocks do not need, where they are asked for.
    """
    calls, wanted = (
        [f"  call void @filled(ptr %work, i64 {at}, i64 {count}, {b.real} {b.constant(x)})" for at, count, x in some]
        for some in (runs, level)
    )
    b.do("%k = add i64 %first, %j")
    b.keep("%k", "%x")
    return [
        "define internal void @constants(ptr noalias %work) noinline {",
        *calls,
        "  ret void",
        "}",
        "define internal void @levels(ptr noalias %work, i1 %asked) noinline {",
        "  br i1 %asked, label %fill, label %end",
        "fill:",
        *wanted,
        "  br label %end",
        "end:",
        "  ret void",
        "}",
        f"define internal void @filled(ptr noalias %work, i64 %first, i64 %count, {b.real} %x) noinline {{",
        "entry:",
        "  br label %next",
        "next:",
        "  %j = phi i64 [0, %entry], [%j.next, %next]",
        *b.lines,
        "  %j.next = add i64 %j, 1",
        "  %more = icmp ult i64 %j.next, %count",
        "  br i1 %more, label %next, label %end",
        "end:",
        "  ret void",
        "}",
    ]


def _short_call(direction: str, row: Row, left: str, b: Block, at: str = ".at") -> str:
    first = row.column * b.lanes
    return (
        f"  call void @short.{direction}.{row.kind}(ptr %{row.name}{at}, i64 {row.size}, i64 {first}, i64 {left}, "
        "ptr %work)"
    )


def _single(start: Sequence[str], ins: Sequence[Row], outs: Sequence[Row], run: Sequence[str], b: Block) -> list[str]:
    def spread(direction: str, row: Row, part: Part) -> list[str]:
        to = f"%{row.name}.{part.first}"
        lines = [f"  {to} = getelementptr {b.scalar}, ptr %{row.name}, i64 {part.first}"]
        if part.value is not None:
            return [*lines, "  " + levels.call(to, 0, 1, part, b)]
        column = row.column + part.first
        return [*lines, f"  call void @one.{direction}(ptr {to}, i64 {part.width}, i64 {column}, ptr %work)"]

    code = ["define void @single(ptr %arrays, ptr noalias %work) {", *start, "  call void @constants(ptr %work)"]
    code += ["  %s = add i64 0, 0", "  %last = add i64 0, 0"]
    code += [line for row in ins for line in spread("in", row, Part(0, row.size, None))] + [*run]
    for row in outs:
        if row.kind == "i8":
            code.append(_short_call("out", row, "1", b, at=""))
        else:
            code += [line for part in row.parts for line in spread("out", row, part)]
    return [*code, "  ret void", "}"]


def _one(direction: str, b: Block) -> list[str]:
    """A row into every lane of its columns, or back from the first lane."""
    inner = Block(b.lanes, b.precision)
    inner.do("%row.at = getelementptr " + f"{b.scalar}, ptr %rows, i64 %j")
    inner.do("%k = add i64 %column, %j")
    if direction == "in":
        inner.keep("%k", inner.everywhere("%row.at"))
    else:
        x = inner.put(f"load {b.scalar}, ptr {inner.column('%k')}, align {b.precision.bytes}")
        inner.do(f"store {b.scalar} {x}, ptr %row.at, align {b.precision.bytes}")
    return [
        f"define internal void @one.{direction}(ptr %rows, i64 %size, i64 %column, ptr %work) noinline {{",
        "entry:",
        "  %nothing = icmp eq i64 %size, 0",
        "  br i1 %nothing, label %end, label %next",
        "next:",
        "  %j = phi i64 [0, %entry], [%j.next, %next]",
        *inner.lines,
        "  %j.next = add i64 %j, 1",
        "  %more = icmp ult i64 %j.next, %size",
        "  br i1 %more, label %next, label %end",
        "end:",
        "  ret void",
        "}",
    ]


def _short(direction: str, kind: str, b: Block) -> list[str]:
    """Rows into columns and back for fewer states than lanes; the last state is repeated in the lanes that are left.

    Rows hold numbers, or bytes of that `kind` on the way out.
    """
    number, align = b.scalar, b.precision.bytes
    move = [f"  %x = load {number}, ptr %row.at, align {align}", f"  store {number} %x, ptr %lane.at, align {align}"]
    if direction == "out":
        move = [f"  %x = load {number}, ptr %lane.at, align {align}"]
        move += (
            [f"  store {number} %x, ptr %row.at, align {align}"]
            if kind != "i8"
            else [f"  %byte = fptoui {number} %x to i8", "  store i8 %byte, ptr %row.at, align 1"]
        )
    return [
        f"define internal void @short.{direction}.{kind}(ptr %rows, i64 %size, i64 %first, i64 %left, ptr %work) "
        "noinline {",
        "entry:",
        "  %last = sub i64 %left, 1",
        "  %nothing = icmp eq i64 %size, 0",
        "  br i1 %nothing, label %end, label %lane",
        "lane:",
        "  %l = phi i64 [0, %entry], [%l.next, %lane.end]",
        "  %row = call i64 @llvm.umin.i64(i64 %l, i64 %last)",
        "  %start = mul i64 %row, %size",
        "  br label %number",
        "number:",
        "  %j = phi i64 [0, %lane], [%j.next, %number]",
        "  %row.index = add i64 %start, %j",
        f"  %row.at = getelementptr {kind}, ptr %rows, i64 %row.index",
        f"  %skip = mul i64 %j, {b.lanes}",
        "  %column = add i64 %first, %skip",
        "  %lane.index = add i64 %column, %l",
        f"  %lane.at = getelementptr {number}, ptr %work, i64 %lane.index",
        *move,
        "  %j.next = add i64 %j, 1",
        "  %more = icmp ult i64 %j.next, %size",
        "  br i1 %more, label %number, label %lane.end",
        "lane.end:",
        "  %l.next = add i64 %l, 1",
        f"  %again = icmp ult i64 %l.next, {b.lanes if direction == 'in' else '%left'}",
        "  br i1 %again, label %lane, label %end",
        "end:",
        "  ret void",
        "}",
    ]


def _transposer(name: str, row: Row, b: Block, inward: bool) -> list[str]:
    """A function that turns as many rows as there are lanes into columns, or back."""
    size, n = row.size, squares.side(b, row.size, squares.SIDE)
    head = [f"define internal void @{name}(ptr noalias %rows, ptr noalias %work) noinline {{", "entry:"]
    if not size:
        return [*head, "  ret void", "}"]
    b.lines += ["  br label %square", "square:", "  %j = phi i64 [0, %entry], [%j.next, %square]"]
    at = [b.put(f"add i64 %j, {lane * size}") for lane in range(b.lanes)]
    rows = [b.put(f"getelementptr {b.scalar}, ptr %rows, i64 {k}") for k in at]
    columns = [b.column(b.put(f"add i64 %j, {row.column + c}")) for c in range(n)]
    if inward:
        for p, vector in zip(columns, squares.inward(b, rows, n), strict=True):
            b.do(f"store {b.real} {vector}, ptr {p}, align {b.align}")
    else:
        squares.outward(b, rows, [b.put(f"load {b.real}, ptr {p}, align {b.align}") for p in columns])
    b.lines += [
        f"  %j.far = add i64 %j, {n}",
        f"  %j.next = call i64 @llvm.umin.i64(i64 %j.far, i64 {size - n})",
        f"  %more = icmp ult i64 %j, {size - n}",
        "  br i1 %more, label %square, label %end",
    ]
    return [*head, *b.lines, "end:", "  ret void", "}"]
