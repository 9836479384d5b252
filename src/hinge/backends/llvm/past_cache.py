"""Results that no cache can hold, written past it in whole lines.

Memory that is written past the cache is not read first. That pays where a line is written whole and at once; a line in
two parts is far slower than through the cache, and rows begin and end anywhere in a line. So rows are turned into a
stage that stays in the nearest cache, and lines are sent from there:

    short rows   all rows of a block, which are one run of numbers in memory
    long rows    a tile of some lines of each row, and one line more: a run a row, from line to line

    void sent(ptr to, ptr from, i64 count)                     a run of numbers; past the cache but for its ends
    void tiled(ptr to, i64 size, ptr columns, ptr stage)       long rows
"""

from __future__ import annotations

from hinge.backends.llvm.block import Block

LINE = 64  # bytes that are written at once
NEAR = 1 << 14  # bytes of a stage that the nearest cache holds beside the columns it is made from
LINES = 9  # of each row in a tile


def is_short(size: int, b: Block) -> bool:
    """Whether a block of rows of that size can be staged whole."""
    return size * b.align <= NEAR


def stage(sizes: list[int], b: Block) -> int:
    """How many columns of the work buffer the stage takes, for rows of these sizes."""
    return max((size if is_short(size, b) else LINES * _line(b) for size in sizes), default=0)


def functions(long: bool, b: Block) -> list[str]:
    """The text of what is called; `tiled`, which calls `squares.turned`, where there are long rows."""
    return [*_sent(b), *(_tiled(b) if long else ())]


def _line(b: Block) -> int:
    """The numbers in a line."""
    return LINE // b.precision.bytes


def _sent(b: Block) -> list[str]:
    line, bytes = f"<{_line(b)} x {b.scalar}>", b.precision.bytes

    def moved(name: str, first: str, end: str, before: str, after: str, kind: str, step: int, how: str) -> list[str]:
        """A loop that copies from `first` to `end`."""
        return [
            f"{name}:",
            f"  %{name}.k = phi i64 [{first}, %{before}], [%{name}.next, %{name}.body]",
            f"  %{name}.more = icmp ult i64 %{name}.k, {end}",
            f"  br i1 %{name}.more, label %{name}.body, label %{after}",
            f"{name}.body:",
            f"  %{name}.from = getelementptr {b.scalar}, ptr %from, i64 %{name}.k",
            f"  %{name}.to = getelementptr {b.scalar}, ptr %to, i64 %{name}.k",
            f"  %{name}.x = load {kind}, ptr %{name}.from, align {bytes}",
            f"  store {kind} %{name}.x, ptr %{name}.to, {how}",
            f"  %{name}.next = add i64 %{name}.k, {step}",
            f"  br label %{name}",
        ]

    return [
        "define internal void @sent(ptr noalias %to, ptr noalias %from, i64 %count) noinline {",
        "entry:",
        *_to_line("%to", b),
        "  %start = call i64 @llvm.umin.i64(i64 %skip, i64 %count)",
        "  %rest = sub i64 %count, %start",
        f"  %whole = and i64 %rest, {-_line(b)}",
        "  %stop = add i64 %start, %whole",
        "  br label %head",
        *moved("head", "0", "%start", "entry", "lines", b.scalar, 1, f"align {bytes}"),
        *moved("lines", "%start", "%stop", "head", "tail", line, _line(b), f"align {LINE}, !nontemporal !0"),
        *moved("tail", "%stop", "%count", "lines", "end", b.scalar, 1, f"align {bytes}"),
        "end:",
        "  ret void",
        "}",
    ]


def _to_line(place: str, b: Block) -> list[str]:
    """How many numbers there are before the next line begins: %skip."""
    return [
        f"  %address = ptrtoint ptr {place} to i64",
        "  %before = sub i64 0, %address",
        f"  %bytes = and i64 %before, {LINE - 1}",
        f"  %skip = udiv i64 %bytes, {b.precision.bytes}",
    ]


def _tiled(b: Block) -> list[str]:
    """A row sends what is in a tile from its first whole line on, up to where its next tile goes on."""
    tile = LINES * _line(b)
    return [
        "define internal void @tiled(ptr noalias %to, i64 %size, ptr noalias %columns, ptr noalias %stage) noinline {",
        "entry:",
        "  br label %tile",
        "tile:",
        "  %c = phi i64 [0, %entry], [%c.next, %sent]",
        "  %first = icmp eq i64 %c, 0",
        "  %left = sub i64 %size, %c",
        f"  %last = icmp ule i64 %left, {tile}",
        f"  %width = call i64 @llvm.umin.i64(i64 %left, i64 {tile})",
        f"  %here = getelementptr {b.real}, ptr %columns, i64 %c",
        f"  call void @turned(ptr %stage, i64 {tile}, ptr %here, i64 %width)",
        "  br label %row",
        "row:",
        "  %l = phi i64 [0, %tile], [%l.next, %row]",
        "  %start = mul i64 %l, %size",
        "  %offset = add i64 %start, %c",
        f"  %row.at = getelementptr {b.scalar}, ptr %to, i64 %offset",
        *_to_line("%row.at", b),
        "  %a = select i1 %first, i64 0, i64 %skip",
        f"  %on = add i64 %skip, {tile - _line(b)}",
        "  %b = select i1 %last, i64 %left, i64 %on",
        f"  %staged = mul i64 %l, {tile}",
        "  %from.a = add i64 %staged, %a",
        f"  %from = getelementptr {b.scalar}, ptr %stage, i64 %from.a",
        f"  %there = getelementptr {b.scalar}, ptr %row.at, i64 %a",
        "  %count = sub i64 %b, %a",
        "  call void @sent(ptr %there, ptr %from, i64 %count)",
        "  %l.next = add i64 %l, 1",
        f"  %more = icmp ult i64 %l.next, {b.lanes}",
        "  br i1 %more, label %row, label %sent",
        "sent:",
        f"  %c.next = add i64 %c, {tile - _line(b)}",
        "  br i1 %last, label %done, label %tile",
        "done:",
        "  ret void",
        "}",
    ]
