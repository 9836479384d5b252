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
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from hinge.backends import cut
from hinge.backends.llvm.block import Block
from hinge.graph import Program
from hinge.graph.order import ends


@dataclass
class Straight:
    """Instructions start to end that are one function."""

    start: int
    end: int


@dataclass
class Long:
    """A loop over several functions: where it begins, where all may have arrived (0: nowhere), and where it ends."""

    start: int
    check: int
    end: int
    before: list[Any] = field(default_factory=list)  # what the question needs
    body: list[Any] = field(default_factory=list)
    carried: list[int] = field(default_factory=list)


def parts(program: Program, start: int, stop: int, alive: list[int], loops: dict[int, int]) -> list[Any]:
    """The instructions from start to stop as straight parts and long loops."""
    made: list[Any] = []
    n = start
    while n < stop:
        stretch = _long_loop(n, stop, loops)
        made += _straight(program, n, stretch, alive, loops)
        if stretch == stop:
            break
        code, end = program.code, loops[stretch]
        own = [m for m in range(stretch, end) if code[m][0] in ("carry", "until") and code[m][1][0] == stretch]
        carried = [m for m in own if code[m][0] == "carry"]
        check = next((m for m in own if code[m][0] == "until"), 0)
        loop = Long(stretch, check, end, carried=carried)
        if check:
            loop.before = parts(program, stretch + 1, check, alive, loops)
        loop.body = parts(program, (check or stretch) + 1, end, alive, loops)
        made.append(loop)
        n = end + 1
    return made


def _long_loop(start: int, stop: int, loops: dict[int, int]) -> int:
    """Where the next loop begins that is too long for a piece, or the stop."""
    n = start
    while n < stop:
        if n in loops:
            if loops[n] - n > cut.LONGEST:
                return n
            n = loops[n]
        n += 1
    return stop


def _straight(program: Program, start: int, stop: int, alive: list[int], loops: dict[int, int]) -> list[Straight]:
    """Pieces that end where fewest values cross, and never within a loop or before what is left of it."""
    inside = {m for n, e in loops.items() if start <= n < stop for m in range(n + 1, e + 1)}
    inside |= {n for n in range(start, stop) if program.code[n][0] == "last"}
    made = []
    while stop - start > cut.LONGEST:
        window = [n for n in range(start + cut.SHORTEST, start + cut.LONGEST) if n not in inside]
        window = window or [next((n for n in range(start + cut.LONGEST, stop) if n not in inside), stop)]
        end = min(window, key=lambda n: alive[n])
        made.append(Straight(start, end))
        start = end
    return [*made, Straight(start, stop)] if start < stop else made


@dataclass(frozen=True)
class Partition:
    """A program in parts; `slot` says where a value that leaves its part is kept, of `slots` places."""

    parts: list[Any]
    slot: dict[int, int]
    slots: int
    arrived: dict[int, int]  # a long loop → the place that says which lanes have arrived


def partition(program: Program) -> Partition:
    """The parts of a program, and a place for each value that leaves its part."""
    code, loops = program.code, ends(program)
    last = list(range(len(code)))  # the last instruction that reads each value
    for n, (op, args) in enumerate(code):
        for a in args if op != "input" else ():
            if type(a) is int:
                last[a] = n
    made = parts(program, 0, len(code), _alive(program, last), loops)
    number, long = _numbered(made, len(code))
    for loop in long:  # what comes from before is there in every trip
        for n in range(loop.start):
            if loop.start < last[n] < loop.end:
                last[n] = loop.end
        for n in loop.carried:
            last[n] = max(last[n], loop.end)
    arrived = {loop.start: k for k, loop in enumerate(loop for loop in long if loop.check)}
    slot, free, slots = dict[int, int](), list[int](), len(arrived)
    given_back: dict[int, list[int]] = {}
    current = -1
    for n, (op, _) in enumerate(code):
        while current < number[n]:
            free += given_back.pop(current, [])
            current += 1
        if op not in ("input", "loop", "end", "until", "counter", "store", "fresh") and number[last[n]] > number[n]:
            if free:
                slot[n] = free.pop()
            else:
                slot[n], slots = slots, slots + 1
            given_back.setdefault(number[last[n]], []).append(slot[n])
    return Partition(made, slot, slots, arrived)


def _alive(program: Program, last: list[int]) -> list[int]:
    """How many values are alive before each instruction."""
    change = [0] * (len(last) + 2)
    for n, (op, _) in enumerate(program.code):
        if op != "input" and last[n] > n:
            change[n + 1] += 1
            change[last[n] + 1] -= 1
    alive, running = [], 0
    for c in change:
        running += c
        alive.append(running)
    return alive


def _numbered(made: Iterable[Any], total: int) -> tuple[list[int], list[Long]]:
    """A number for each instruction, that of its part in the order they stand in; and the long loops."""
    number, long, at = [0] * total, list[Long](), 0

    def walk(items: Iterable[Any]) -> None:
        nonlocal at
        for one in items:
            at += 1
            if isinstance(one, Straight):
                number[one.start : one.end] = [at] * (one.end - one.start)
                continue
            long.append(one)
            for n in (one.start, *one.carried):
                number[n] = at
            walk(one.before)
            at += 1
            if one.check:
                number[one.check] = at
            walk(one.body)
            at += 1
            number[one.end] = at

    walk(made)
    for loop in long:  # carried values are not made in the parts they stand in
        first = number[loop.start]
        for n in loop.carried:
            number[n] = first
    return number, long


class Control:
    """Writes the functions of a program: its pieces, what begins and ends a trip, and `program`, which calls them."""

    def __init__(self, division: Partition, block: Callable[[], Block], piece: Callable[..., Any], shared: str):
        self.division, self.block, self.piece, self.shared = division, block, piece, shared
        self.code, self.declared, self.count = list[str](), dict[str, str](), 0
        self.lines: list[str] = []
        self.label = "entry"

    def written(self) -> tuple[list[str], dict[str, str]]:
        """The text of all functions, and what they declare."""
        self.walk(self.division.parts, [])
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
