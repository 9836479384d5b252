"""Rows that a program reads and writes by their number, where the caller has them.

In the work buffer stands for each stream how many rows it has, how many states there are, and where the rows of each
lane's state begin; `streams` writes that down for a block of states. The lanes that a last block has too many are those
of the last state once more, and write the same numbers to the same place; a state alone is written once. A row that is
not there is read from a row of NaN in the work buffer, and written to a row there that nobody reads.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hinge.backends.llvm import squares
from hinge.backends.llvm.block import Block
from hinge.graph import Program

ROWS, STATES, STARTS = range(3)  # what is known of a stream, 64 bits each; the last for every lane
COLUMNS = 6  # that hold it at any width of vectors
SIDE = 32  # bytes of a side of a square: larger ones do not stay in registers


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
        _keep(b, place, ROWS, f"i64 {rows}")
        _keep(b, place, STATES, f"i64 {b.put('sub i64 %last, %s')}")
        stride = b.put(f"mul i64 {rows}, {0 if shared else size}")
        for lane in range(b.lanes):
            state = b.put(f"call i64 @llvm.umin.i64(i64 {b.put(f'add i64 %s, {lane}')}, i64 %last)")
            at = b.put(f"getelementptr {b.scalar}, ptr {start}, i64 {b.put(f'mul i64 {state}, {stride}')}")
            _keep(b, place, STARTS + lane, f"ptr {at}")
    head = "define internal void @streams(ptr %arrays, i64 %s, i64 %last, ptr noalias %work) noinline {"
    return [head, "entry:", *b.lines, "  ret void", "}"]


def _keep(b: Block, place: str, k: int, what: str) -> None:
    b.do(f"store {what}, ptr {b.put(f'getelementptr i64, ptr {place}, i64 {k}')}, align 8")


def _known(b: Block, place: str, k: int, kind: str = "i64") -> str:
    return b.put(f"load {kind}, ptr {b.put(f'getelementptr i64, ptr {place}, i64 {k}')}, align 8")


def read(piece: Any, memory: Any, a: Any) -> str:
    """A number of a row, for each lane; the row is fetched as a whole."""
    row = piece.b.once(_row, piece, memory.name, memory.size, a, type(a))
    return row[memory.column]


def _row(b: Block, piece: Any, stream: int, size: int, a: Any, kind: type) -> list[str]:
    alone = piece.program.inputs[stream].uniform and piece.alike(a)
    places = _places(piece, stream, size, a, piece.layout.nowhere, 1 if alone else b.lanes)
    if alone:
        return [b.everywhere(b.put(f"getelementptr {b.scalar}, ptr {places[0]}, i64 {j}")) for j in range(size)]
    return squares.gathered(b, places, size, SIDE)


def write(piece: Any, memory: Any, a: Any, values: Sequence[str]) -> None:
    """A row of each lane that has not arrived."""
    b, stream = piece.b, len(piece.program.inputs) + memory.name
    if type(a) is int and piece.program.code[a][0] != "counter":
        piece.number(a)  # before the way parts
    more = _known(b, b.column(piece.layout.streams[stream]), STATES)
    label = f"rows{more[2:]}"
    b.do(f"br i1 {b.put(f'icmp eq i64 {more}, 0')}, label %{label}.one, label %{label}.all")
    b.lines.append(f"{label}.one:")
    (place,) = _open(piece, stream, memory.size, a, 1)
    for j, x in enumerate(values):
        at = b.put(f"getelementptr {b.scalar}, ptr {place}, i64 {j}")
        b.do(f"store {b.scalar} {b.lane(x, 0)}, ptr {at}, align {b.precision.bytes}")
    b.do(f"br label %{label}.end")
    b.lines.append(f"{label}.all:")
    squares.scattered(b, _open(piece, stream, memory.size, a, b.lanes), values, SIDE)
    piece.begin(f"{label}.end")


def _open(piece: Any, stream: int, size: int, a: Any, lanes: int) -> list[str]:
    """Where the first lanes write their rows: aside where there is none, and where a lane has arrived."""
    b, aside = piece.b, piece.b.column(piece.layout.aside)
    places = _places(piece, stream, size, a, piece.layout.aside, lanes)
    for arrived in piece.arrived:
        stays = [b.put(f"extractelement {b.truth} {arrived}, i32 {lane}") for lane in range(lanes)]
        places = [b.put(f"select i1 {x}, ptr {aside}, ptr {p}") for x, p in zip(stays, places, strict=True)]
    return places


def _places(piece: Any, stream: int, size: int, a: Any, elsewhere: int, lanes: int) -> list[str]:
    """Where the row with a number begins for each lane, or elsewhere where there is none."""
    b = piece.b
    known, other = b.column(piece.layout.streams[stream]), b.column(elsewhere)
    rows = _known(b, known, ROWS)
    made, at, inside = list[str](), "", ""
    for lane in range(lanes):
        if not (lane and piece.alike(a)):
            at, inside = _number(piece, rows, a, lane)
            at = b.put(f"mul i64 {at}, {size}")
        start = _known(b, known, STARTS + lane, "ptr")
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
