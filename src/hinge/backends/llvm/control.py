"""The way through a program whose loops are too long for one function: pieces, and what calls them.

    void program(ptr work, …)                     for a loop, between the pieces before it and after it:
    {                                                 begin(work)                what is carried gets its first values
        piece0(work); begin12(work);                  while (k < trips
        for (k = 0; k < trips                                && arrive(work))    some lane has not arrived
                    && arrive12(work); k++) {             piece…(work, k)
            piece1(work, k); piece2(work, k);             carry(work)            and what is carried its next ones
            carry12(work); }
        piece3(work);
    }

Values that leave a piece, and what a long loop carries, have places in the work buffer. A short loop is inside its
piece, in registers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

from hinge.backends.llvm.block import Block
from hinge.backends.partition import Long, Pieces, Straight


class Control:
    """Writes the functions of a program: its pieces, what begins and ends a trip, and `program`, which calls them."""

    def __init__(self, pieces: Pieces, block: Callable[[], Block], piece: Callable[..., Any], shared: str):
        self.pieces, self.block, self.piece, self.shared = pieces, block, piece, shared
        self.code, self.declared, self.count = list[str](), dict[str, str](), 0
        self.lines: list[str] = []
        self.label = "entry"

    def written(self) -> tuple[list[str], dict[str, str]]:
        """The text of all functions, and what they declare."""
        self.walk(self.pieces.parts, [])
        names = self.shared.replace("ptr %", "ptr noalias %")
        head = f"define internal void @program(ptr noalias %work{names}) noinline {{"
        return [*self.code, head, "entry:", *self.lines, "  ret void", "}"], self.declared

    def function(self, name: str, loops: list[Long], write: Callable[[Any], str], result: str = "void") -> str:
        """A function of the work buffer and of the counters around it; the call of it."""
        b = self.block()
        counters = "".join(f", i64 %k{loop.start}" for loop in loops)
        value = write(self.piece(b, loops))
        names = self.shared.replace("ptr %", "ptr noalias %")
        self.code += [
            f"define internal {result} @{name}(ptr noalias %work{names}{counters}) noinline {{",
            "entry:",
            *b.lines,
            f"  ret {result} {value}".rstrip(),
            "}",
        ]
        self.declared.update(b.declared)
        return f"call {result} @{name}(ptr %work{self.shared}{counters})"

    def walk(self, items: Iterable[Any], loops: list[Long]) -> None:
        for one in items:
            if isinstance(one, Straight):
                name, self.count = f"piece{self.count}", self.count + 1
                self.lines.append("  " + self.function(name, loops, partial(_write, one)))
            else:
                self.loop(one, loops)

    def loop(self, loop: Long, loops: list[Long]) -> None:
        s, inside = loop.start, [*loops, loop]
        self.lines.append("  " + self.function(f"begin{s}", loops, lambda p: p.begin_long(loop) or ""))
        trips = self.function(f"trips{s}", loops, lambda p: p.trips_of(loop), "i64")
        self.lines += [f"  %n{s} = {trips}", f"  br label %head{s}", f"head{s}:"]
        at, before = len(self.lines), self.label
        self.lines.append("")
        self.label = f"head{s}"
        self.walk(loop.before, inside)
        go = f"%go{s}"
        self.lines.append(f"  {go} = icmp slt i64 %k{s}, %n{s}")
        if loop.check:
            arrive = self.function(f"arrive{s}", inside, lambda p: p.arrive_long(loop), "i1")
            self.lines += [f"  %some{s} = {arrive}", f"  %both{s} = and i1 {go}, %some{s}"]
            go = f"%both{s}"
        self.lines += [f"  br i1 {go}, label %body{s}, label %exit{s}", f"body{s}:"]
        self.label = f"body{s}"
        self.walk(loop.body, inside)
        self.lines.append("  " + self.function(f"carry{s}", inside, lambda p: p.carry_long(loop) or ""))
        self.lines += [f"  %k{s}.next = add i64 %k{s}, 1", f"  br label %head{s}", f"exit{s}:"]
        self.lines[at] = f"  %k{s} = phi i64 [0, %{before}], [%k{s}.next, %{self.label}]"
        self.label = f"exit{s}"


def _write(part: Straight, piece: Any) -> str:
    piece.write(part.start, part.end)
    return ""
