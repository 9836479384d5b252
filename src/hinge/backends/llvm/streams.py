"""Rows that a program reads and writes by their number, where the caller has them.

In the work buffer stands for each stream how many rows it has, and where those of each lane's state begin; `streams`
writes that down for a block of states. The lanes that a last block has too many are those of the last state once more,
and write the same numbers to the same place. A row that is not there is read from a row of NaN in the work buffer, and
written to a row there that nobody reads.

A row of each lane becomes a vector of lanes for each of its numbers: squares are turned in registers, the last one
overlapping the one before where the width asks.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hinge.backends.llvm.block import Block
from hinge.graph import Program

COLUMNS = 4  # that hold the number of rows and an address a lane, at any width of vectors


def placing(program: Program, columns: dict[int, int], b: Block) -> list[str]:
    """The function `streams`, which writes down where the rows of a block of states are.

    The addresses of all arrays come first among `arrays`, then how many rows each has.
    """
    count = len(program.inputs) + len(program.outputs)
    for k, (_, size) in program.streams.items():
        shared = k < len(program.inputs) and program.inputs[k].uniform
        start = b.put(f"load ptr, ptr {b.put(f'getelementptr ptr, ptr %arrays, i64 {k}')}, align 8")
        rows = b.put(f"load i64, ptr {b.put(f'getelementptr i64, ptr %arrays, i64 {count + k}')}, align 8")
        place = b.column(columns[k])
        b.do(f"store i64 {rows}, ptr {place}, align 8")
        stride = b.put(f"mul i64 {rows}, {0 if shared else size}")
        for lane in range(b.lanes):
            state = b.put(f"call i64 @llvm.umin.i64(i64 {b.put(f'add i64 %s, {lane}')}, i64 %last)")
            at = b.put(f"getelementptr {b.scalar}, ptr {start}, i64 {b.put(f'mul i64 {state}, {stride}')}")
            b.do(f"store ptr {at}, ptr {b.put(f'getelementptr i64, ptr {place}, i64 {1 + lane}')}, align 8")
    head = "define internal void @streams(ptr %arrays, i64 %s, i64 %last, ptr noalias %work) noinline {"
    return [head, "entry:", *b.lines, "  ret void", "}"]


def read(piece: Any, memory: Any, a: Any) -> str:
    """A number of a row, for each lane; the row is fetched as a whole."""
    row = piece.b.once(_row, piece, memory.name, memory.size, a, type(a))
    return row[memory.column]


def _row(b: Block, piece: Any, stream: int, size: int, a: Any, kind: type) -> list[str]:
    alone = piece.program.inputs[stream].uniform and piece.alike(a)
    places = _places(piece, stream, size, a, piece.layout.nowhere, 1 if alone else b.lanes)
    if alone:
        return [b.everywhere(b.put(f"getelementptr {b.scalar}, ptr {places[0]}, i64 {j}")) for j in range(size)]
    return gathered(b, places, size)


def write(piece: Any, memory: Any, a: Any, values: Sequence[str]) -> None:
    """A row of each lane that has not arrived."""
    b = piece.b
    aside = b.column(piece.layout.aside)
    places = _places(piece, len(piece.program.inputs) + memory.name, memory.size, a, piece.layout.aside, b.lanes)
    for arrived in piece.arrived:
        stays = [b.put(f"extractelement {b.truth} {arrived}, i32 {lane}") for lane in range(b.lanes)]
        places = [b.put(f"select i1 {x}, ptr {aside}, ptr {p}") for x, p in zip(stays, places, strict=True)]
    scattered(b, places, values)


def _places(piece: Any, stream: int, size: int, a: Any, elsewhere: int, lanes: int) -> list[str]:
    """Where the row with a number begins for each lane, or elsewhere where there is none."""
    b = piece.b
    known, other = b.column(piece.layout.streams[stream]), b.column(elsewhere)
    rows = b.put(f"load i64, ptr {known}, align 8")
    made, at, inside = list[str](), "", ""
    for lane in range(lanes):
        if not (lane and piece.alike(a)):
            at, inside = _number(piece, rows, a, lane)
            at = b.put(f"mul i64 {at}, {size}")
        start = b.put(f"load ptr, ptr {b.put(f'getelementptr i64, ptr {known}, i64 {1 + lane}')}, align 8")
        row = b.put(f"getelementptr {b.scalar}, ptr {start}, i64 {at}")
        made.append(b.put(f"select i1 {inside}, ptr {row}, ptr {other}"))
    return made


def _number(piece: Any, rows: str, a: Any, lane: int) -> tuple[str, str]:
    """The number of a row as a whole number, and whether there is such a row."""
    b = piece.b
    counted = type(a) is int and piece.program.code[a][0] == "counter"
    if counted or type(a) is not int:
        at = piece.counters[piece.program.code[a][1][0]] if counted else str(int(a))
        return at, b.put(f"icmp ult i64 {at}, {rows}")
    x = b.lane(piece.number(a), lane)
    low = b.put(f"fcmp oge {b.scalar} {x}, 0.0")
    high = b.put(f"fcmp olt {b.scalar} {x}, {b.put(f'sitofp i64 {rows} to {b.scalar}')}")
    inside = b.put(f"and i1 {low}, {high}")
    safe = b.put(f"select i1 {inside}, {b.scalar} {x}, {b.scalar} 0.0")
    return b.put(f"fptosi {b.scalar} {safe} to i64"), inside


def gathered(b: Block, places: Sequence[str], size: int) -> list[str]:
    """A vector of lanes for each number of a row, from where the row of each lane is."""
    made = [""] * size
    square = b.narrower(_side(b, size))
    for first in _firsts(size, square.lanes):
        at = [b.put(f"getelementptr {b.scalar}, ptr {p}, i64 {first}") for p in places]
        rows = [b.put(f"load {square.real}, ptr {p}, align {b.precision.bytes}") for p in at]
        turned = [square.transposed(rows[g : g + square.lanes]) for g in range(0, b.lanes, square.lanes)]
        for j in range(square.lanes):
            made[first + j] = b.joined([group[j] for group in turned], square.lanes)
    return made


def scattered(b: Block, places: Sequence[str], values: Sequence[str]) -> None:
    """The other way."""
    square = b.narrower(_side(b, len(values)))
    n = square.lanes
    for first in _firsts(len(values), n):
        for g in range(0, b.lanes, n):
            columns = [b.split(x, g, n) for x in values[first : first + n]]
            for p, row in zip(places[g : g + n], square.transposed(columns), strict=True):
                at = b.put(f"getelementptr {b.scalar}, ptr {p}, i64 {first}")
                b.do(f"store {square.real} {row}, ptr {at}, align {b.precision.bytes}")


def _side(b: Block, size: int) -> int:
    """How large a square is: no more than a row, the lanes, or a register holds."""
    side = 1
    while 2 * side <= min(size, b.lanes, 64 // b.precision.bytes):
        side *= 2
    return side


def _firsts(size: int, side: int) -> list[int]:
    """Where squares begin that cover a row."""
    return sorted({*range(0, size - side, side), size - side}) if size else []
