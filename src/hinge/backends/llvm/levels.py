"""Long runs of one constant in a row of results: they are written as they are, without columns.

Matrices of trees are mostly such runs of zeros. A row that has some is written part by part:

    void turned(ptr to, i64 size, ptr columns, i64 count)               what is computed (`squares`)
    void level(ptr to, i64 size, i64 rows, i64 count, <n x real> x)     a run of x in each of some rows

Where rows go another way (`past_cache`, or a block that is not full) these runs are put into their columns like other
constants.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from hinge.backends.llvm import squares
from hinge.backends.llvm.block import Block


class Part(NamedTuple):
    """Some numbers of a row: the first, how many, and what they are in every state, or None."""

    first: int
    width: int
    value: float | None


def parts(entries: Sequence[Any], b: Block) -> list[Part]:
    """A row as parts, none of them narrower than a square; one part, where no run is long."""
    n = squares.side(b, len(entries), squares.SIDE)
    made, at = list[Part](), 0
    for first, count, value in _runs(entries):
        end = first + count
        if at < first < at + n:  # what is computed before it is as wide as a square
            first = at + n
        if 0 < len(entries) - end < n:  # and what comes after the last one
            end = len(entries) - n
        if end - first >= n and count >= 2 * n:
            made += [Part(at, first - at, None)] if first > at else []
            made.append(Part(first, end - first, value))
            at = end
    return [*made, Part(at, len(entries) - at, None)] if at < len(entries) else made


def _runs(entries: Sequence[Any]) -> list[tuple[int, int, float]]:
    """Runs of equal constants: the first, how many, and their value."""
    made: list[tuple[int, int, float]] = []
    for k, x in enumerate(entries):
        if type(x) is float:
            if made and made[-1][0] + made[-1][1] == k and repr(made[-1][2]) == repr(x):
                made[-1] = (made[-1][0], made[-1][1] + 1, x)
            else:
                made.append((k, 1, x))
    return made


def runs(found: Sequence[Part], entries: Sequence[Any], column: int) -> list[tuple[int, int, float]]:
    """The constants of a row that are no level: first column, how many, and the value."""
    return [
        (column + part.first + first, count, x)
        for part in found
        if part.value is None
        for first, count, x in _runs(entries[part.first : part.first + part.width])
    ]


def unpacker(name: str, size: int, column: int, found: Sequence[Part], b: Block) -> list[str]:
    """A function that writes the rows of a block part by part."""
    for part in found:
        to = b.put(f"getelementptr {b.scalar}, ptr %rows, i64 {part.first}")
        if part.value is None:
            columns = b.column(column + part.first)
            b.do(f"call void @turned(ptr {to}, i64 {size}, ptr {columns}, i64 {part.width})")
        else:
            b.do(call(to, size, b.lanes, part, b))
    head = f"define internal void @{name}(ptr noalias %rows, ptr noalias %work) noinline {{"
    return [head, *b.lines, "  ret void", "}"]


def call(to: str, size: int, rows: int, part: Part, b: Block) -> str:
    """The call that writes a level."""
    square = b.narrower(squares.side(b, squares.SIDE, squares.SIDE))
    assert part.value is not None
    x = square.constant(part.value)
    return f"call void @level(ptr {to}, i64 {size}, i64 {rows}, i64 {part.width}, {square.real} {x})"


def function(b: Block) -> list[str]:
    """`level`."""
    n = squares.side(b, squares.SIDE, squares.SIDE)
    real = b.narrower(n).real
    return [
        f"define internal void @level(ptr %to, i64 %size, i64 %rows, i64 %count, {real} %x) noinline {{",
        "entry:",
        f"  %end = sub i64 %count, {n}",
        "  br label %row",
        "row:",
        "  %l = phi i64 [0, %entry], [%l.next, %done]",
        "  %start = mul i64 %l, %size",
        "  br label %some",
        "some:",
        "  %j = phi i64 [0, %row], [%j.next, %some]",
        "  %k = add i64 %start, %j",
        f"  %at = getelementptr {b.scalar}, ptr %to, i64 %k",
        f"  store {real} %x, ptr %at, align {b.precision.bytes}",
        f"  %j.far = add i64 %j, {n}",
        "  %j.next = call i64 @llvm.umin.i64(i64 %j.far, i64 %end)",
        "  %more = icmp ult i64 %j, %end",
        "  br i1 %more, label %some, label %done",
        "done:",
        "  %l.next = add i64 %l, 1",
        "  %again = icmp ult i64 %l.next, %rows",
        "  br i1 %again, label %row, label %over",
        "over:",
        "  ret void",
        "}",
    ]
