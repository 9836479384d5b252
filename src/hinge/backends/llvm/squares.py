"""Rows of numbers into vectors of lanes and back: a row is a state's, a vector has one number of each state.

Squares are turned in registers. A square is as large as a row, the lanes and registers allow; the last one of a row
overlaps the one before where the length asks.
"""

from __future__ import annotations

from collections.abc import Sequence

from hinge.backends.llvm.block import Block

SIDE = 64  # bytes of a side of a square at most, where rows are long


def gathered(b: Block, places: Sequence[str], size: int, most: int) -> list[str]:
    """A vector of lanes for each number of a row, from where each row is; a square has sides of `most` bytes."""
    made = [""] * size
    n = side(b, size, most)
    for first in sorted({*range(0, size - n, n), size - n}):
        made[first : first + n] = inward(b, shifted(b, places, first), n)
    return made


def scattered(b: Block, places: Sequence[str], values: Sequence[str], most: int) -> None:
    """The other way."""
    n = side(b, len(values), most)
    for first in sorted({*range(0, len(values) - n, n), len(values) - n}):
        outward(b, shifted(b, places, first), values[first : first + n])


def side(b: Block, size: int, most: int) -> int:
    """How many numbers the side of a square has."""
    n = 1
    while 2 * n <= min(size, b.lanes, most // b.precision.bytes):
        n *= 2
    return n


def shifted(b: Block, places: Sequence[str], by: int | str) -> list[str]:
    return [b.put(f"getelementptr {b.scalar}, ptr {p}, i64 {by}") for p in places]


def inward(b: Block, places: Sequence[str], n: int) -> list[str]:
    """n numbers from each place as n vectors of lanes."""
    square = b.narrower(n)
    rows = [b.put(f"load {square.real}, ptr {p}, align {b.precision.bytes}") for p in places]
    turned = [square.transposed(rows[g : g + n]) for g in range(0, b.lanes, n)]
    return [b.joined([group[j] for group in turned], n) for j in range(n)]


def outward(b: Block, places: Sequence[str], columns: Sequence[str]) -> None:
    """Vectors of lanes to n numbers at each place."""
    n = len(columns)
    square = b.narrower(n)
    for g in range(0, b.lanes, n):
        rows = square.transposed([b.split(x, g, n) for x in columns])
        for p, row in zip(places[g : g + n], rows, strict=True):
            b.do(f"store {square.real} {row}, ptr {p}, align {b.precision.bytes}")


def turned(b: Block) -> list[str]:
    """turned(to, size, columns, count): columns into rows of that size, one a lane; at least a square of them."""
    n = side(b, SIDE, SIDE)
    at = [b.put(f"mul i64 %size, {lane}") for lane in range(b.lanes)]
    starts = [b.put(f"getelementptr {b.scalar}, ptr %to, i64 {k}") for k in at]
    b.lines += ["  br label %square", "square:", "  %j = phi i64 [0, %entry], [%j.next, %square]"]
    first = b.put(f"getelementptr {b.real}, ptr %columns, i64 %j")
    columns = [b.put(f"getelementptr {b.real}, ptr {first}, i64 {c}") for c in range(n)]
    loaded = [b.put(f"load {b.real}, ptr {p}, align {b.align}") for p in columns]
    outward(b, shifted(b, starts, "%j"), loaded)
    return [
        "define internal void @turned(ptr noalias %to, i64 %size, ptr noalias %columns, i64 %count) noinline {",
        "entry:",
        f"  %end = sub i64 %count, {n}",
        *b.lines,
        f"  %j.far = add i64 %j, {n}",
        "  %j.next = call i64 @llvm.umin.i64(i64 %j.far, i64 %end)",
        "  %more = icmp ult i64 %j, %end",
        "  br i1 %more, label %square, label %done",
        "done:",
        "  ret void",
        "}",
    ]
