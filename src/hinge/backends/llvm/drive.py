"""The code around a program: rows of states into columns of lanes, the pieces of the program, columns into rows.

`kernel` walks through a batch in blocks of as many states as there are lanes. `single` does one state, which it puts
into every lane. Both run the same pieces. Results that are the same for every state are put into their columns once.
Results that no cache can hold go past it: memory they are written to is not read first.
"""

from __future__ import annotations

from collections.abc import Sequence

from hinge.backends.llvm.block import Block
from hinge.graph import Program

Row = tuple[str, int, int]  # name of an array, numbers in its row, first column
LONG = 64  # numbers in a row from which on it is worth asking whether the results fit into the cache
FAR = 1 << 25  # bytes of results that do not
EVEN = 1 << 23  # the same where rows are whole vectors, which go past it at no cost


def driver(program: Program, in_columns: Sequence[int], out_columns: Sequence[int], pieces: int, b: Block) -> list[str]:
    """The functions `kernel` and `single` and what they call; `b` says the type and width of vectors."""
    ins = [(f"in{k}", one.size, in_columns[k]) for k, one in enumerate(program.inputs) if not one.uniform]
    outs = [(f"out{k}", len(one.entries), out_columns[k]) for k, one in enumerate(program.outputs)]
    names = ", ".join(f"ptr noalias %in{k}" for k in range(len(program.inputs)))
    names += "".join(f", ptr noalias %{name}" for name, _, _ in outs)
    shared = "".join(f", ptr %in{k}" for k, one in enumerate(program.inputs) if one.uniform)
    run = [f"  call void @piece{k}(ptr %work{shared})" for k in range(pieces)]
    code = [*_kernel(names.lstrip(", "), ins, outs, run, b), *_single(names.lstrip(", "), ins, outs, run, b)]
    for name, size, column in ins:
        code += _transposer(f"pack.{name}", size, column, Block(b.lanes, b.precision), inward=True)
    for name, size, column in outs:
        code += _transposer(f"unpack.{name}", size, column, Block(b.lanes, b.precision), inward=False)
        if size >= LONG:
            for word, align in (("stream", b.precision.bytes), ("flow", b.align)):
                code += _transposer(f"{word}.{name}", size, column, Block(b.lanes, b.precision), False, past=align)
    return [*code, *_short("in", b), *_short("out", b), *_one("in", b), *_one("out", b), UMIN, "!0 = !{i32 1}"]


UMIN = "declare i64 @llvm.umin.i64(i64, i64)"


def _kernel(names: str, ins: Sequence[Row], outs: Sequence[Row], run: Sequence[str], b: Block) -> list[str]:
    longest = max((size for _, size, _ in outs), default=0)
    even = all(size % b.lanes == 0 for _, size, _ in outs if size >= LONG)
    far = (EVEN if even else FAR) // (longest * b.precision.bytes) if longest >= LONG else (1 << 63) - 1
    code = [
        f"define void @kernel({names}, i64 %states, ptr noalias %work) {{",
        "entry:",
        "  call void @constants(ptr %work)",
        f"  %far = icmp uge i64 %states, {far}",
        *(line for name, size, _ in outs if size >= LONG for line in _aligned(name, size, b)),
        "  br label %next",
        "next:",
        "  %s = phi i64 [0, %entry], [%s.next, %near], [%s.next, %past], [%s.next, %short]",
        "  %left = sub i64 %states, %s",
        f"  %s.next = add i64 %s, {b.lanes}",
        "  %empty = icmp sle i64 %left, 0",
        "  br i1 %empty, label %end, label %some",
        "some:",
        f"  %whole = icmp sge i64 %left, {b.lanes}",
    ]
    for name, size, _ in (*ins, *outs):
        code += [
            f"  %{name}.offset = mul i64 %s, {size}",
            f"  %{name}.at = getelementptr {b.scalar}, ptr %{name}, i64 %{name}.offset",
        ]
    code += ["  br i1 %whole, label %full, label %short", "full:"]
    code += [f"  call void @pack.{name}(ptr %{name}.at, ptr %work)" for name, _, _ in ins]
    code += [*run, "  br i1 %far, label %past, label %near", "near:"]
    code += [f"  call void @unpack.{name}(ptr %{name}.at, ptr %work)" for name, _, _ in outs]
    code += ["  br label %next", "past:"]
    code += [
        f"  call void {f'%past.{name}' if size >= LONG else f'@unpack.{name}'}(ptr %{name}.at, ptr %work)"
        for name, size, _ in outs
    ]
    code += ["  br label %next", "short:"]
    code += [_short_call("in", row, b) for row in ins] + [*run] + [_short_call("out", row, b) for row in outs]
    code += ["  br label %next", "end:", "  br i1 %far, label %settle, label %done", "settle:", "  fence seq_cst"]
    return [*code, "  br label %done", "done:", "  ret void", "}"]


def _aligned(name: str, size: int, b: Block) -> list[str]:
    """Which way past the cache: whole vectors, where every row begins where one may, or single numbers."""
    if size % b.lanes:
        return [f"  %past.{name} = getelementptr i8, ptr @stream.{name}, i64 0"]
    return [
        f"  %{name}.address = ptrtoint ptr %{name} to i64",
        f"  %{name}.odd = and i64 %{name}.address, {b.align - 1}",
        f"  %{name}.even = icmp eq i64 %{name}.odd, 0",
        f"  %past.{name} = select i1 %{name}.even, ptr @flow.{name}, ptr @stream.{name}",
    ]


def constants(runs: Sequence[tuple[int, int, float]], b: Block) -> list[str]:
    """A function that puts runs of equal numbers into their columns: first column, how many, and the number."""
    calls = [
        f"  call void @filled(ptr %work, i64 {at}, i64 {count}, {b.real} {b.constant(x)})" for at, count, x in runs
    ]
    b.do("%k = add i64 %first, %j")
    b.keep("%k", "%x")
    return [
        "define internal void @constants(ptr noalias %work) noinline {",
        *calls,
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


def _short_call(direction: str, row: Row, b: Block) -> str:
    name, size, column = row
    return f"  call void @short.{direction}(ptr %{name}.at, i64 {size}, i64 {column * b.lanes}, i64 %left, ptr %work)"


def _single(names: str, ins: Sequence[Row], outs: Sequence[Row], run: Sequence[str], b: Block) -> list[str]:
    def spread(direction: str, row: Row) -> str:
        name, size, column = row
        return f"  call void @one.{direction}(ptr %{name}, i64 {size}, i64 {column}, ptr %work)"

    code = [f"define void @single({names}, ptr noalias %work) {{", "  call void @constants(ptr %work)"]
    code += [spread("in", row) for row in ins] + [*run] + [spread("out", row) for row in outs]
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


def _short(direction: str, b: Block) -> list[str]:
    """Rows into columns and back for fewer states than lanes; the last state is repeated in the lanes that are left."""
    number, align = b.scalar, b.precision.bytes
    source, target = ("%row.at", "%lane.at") if direction == "in" else ("%lane.at", "%row.at")
    return [
        f"define internal void @short.{direction}(ptr %rows, i64 %size, i64 %first, i64 %left, ptr %work) noinline {{",
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
        f"  %row.at = getelementptr {number}, ptr %rows, i64 %row.index",
        f"  %skip = mul i64 %j, {b.lanes}",
        "  %column = add i64 %first, %skip",
        "  %lane.index = add i64 %column, %l",
        f"  %lane.at = getelementptr {number}, ptr %work, i64 %lane.index",
        f"  %x = load {number}, ptr {source}, align {align}",
        f"  store {number} %x, ptr {target}, align {align}",
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


def _transposer(name: str, size: int, column: int, b: Block, inward: bool, past: int = 0) -> list[str]:
    """A function that turns as many rows as there are lanes into columns, or back.

    Squares of lanes × lanes are turned in registers; the last square overlaps the one before where the size asks. With
    `past`, an alignment in bytes, the rows are written past the cache.
    """
    head = [f"define internal void @{name}(ptr noalias %rows, ptr noalias %work) noinline {{", "entry:"]
    if size < b.lanes:
        for j in range(size):
            _narrow_column(b, size, column, j, inward)
        return [*head, *b.lines, "  ret void", "}"]
    last = size - b.lanes
    b.lines += ["  br label %square", "square:", "  %j = phi i64 [0, %entry], [%j.next, %square]"]
    row_at = [
        b.put(f"getelementptr {b.scalar}, ptr %rows, i64 {b.put(f'add i64 %j, {r * size}')}") for r in range(b.lanes)
    ]
    column_at = [b.column(b.put(f"add i64 %j, {column + c}")) for c in range(b.lanes)]
    source, target, align = (row_at, column_at, (b.precision.bytes, b.align))
    if not inward:
        source, target, align = column_at, row_at, (b.align, b.precision.bytes)
    vectors = [b.put(f"load {b.real}, ptr {p}, align {align[0]}") for p in source]
    for p, vector in zip(target, b.transposed(vectors), strict=True):
        b.do(f"store {b.real} {vector}, ptr {p}, align {past or align[1]}" + ", !nontemporal !0" * bool(past))
    b.lines += [
        f"  %j.far = add i64 %j, {b.lanes}",
        f"  %j.next = call i64 @llvm.umin.i64(i64 %j.far, i64 {last})",
        f"  %more = icmp ult i64 %j, {last}",
        "  br i1 %more, label %square, label %end",
    ]
    return [*head, *b.lines, "end:", "  ret void", "}"]


def _narrow_column(b: Block, size: int, column: int, j: int, inward: bool) -> None:
    """One column of rows too short for a square."""
    vector = "poison" if inward else b.fetch(column + j)
    for lane in range(b.lanes):
        at = b.put(f"getelementptr {b.scalar}, ptr %rows, i64 {lane * size + j}")
        if inward:
            x = b.put(f"load {b.scalar}, ptr {at}, align {b.precision.bytes}")
            vector = b.put(f"insertelement {b.real} {vector}, {b.scalar} {x}, i32 {lane}")
        else:
            x = b.put(f"extractelement {b.real} {vector}, i32 {lane}")
            b.do(f"store {b.scalar} {x}, ptr {at}, align {b.precision.bytes}")
    if inward:
        b.keep(column + j, vector)
