"""Cutting a long program into pieces that a code generator can digest.

Code generation takes more than linear time in the length of a straight run, and the longer the run the more values it
moves in and out of registers, so a long program becomes several functions that hand values on through a work buffer.
A piece ends where fewest values cross, which is where a body of the robot ends. Inputs are not handed on: they are
read again where they are needed. A short loop is within a piece; one that is longer than a piece has pieces of its own,
and what it carries is handed on as well.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from hinge.graph import Program
from hinge.graph.order import ends

SHORTEST = 120  # instructions in a piece, which has twice as many at most
LONGEST = 400  # instructions of a program or a loop that stays whole
# what makes no value to be kept
NOWHERE = frozenset({"input", "loop", "end", "until", "counter", "store", "fresh", "write"})


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


def _parts(
    program: Program, start: int, stop: int, alive: list[int], loops: dict[int, int], longest: float
) -> list[Any]:
    """The instructions from start to stop as straight parts and long loops."""
    made: list[Any] = []
    n = start
    while n < stop:
        stretch = _long_loop(n, stop, loops, longest)
        made += _straight(program, n, stretch, alive, loops)
        if stretch == stop:
            break
        code, end = program.code, loops[stretch]
        own = [m for m in range(stretch, end) if code[m][0] in ("carry", "until") and code[m][1][0] == stretch]
        carried = [m for m in own if code[m][0] == "carry"]
        check = next((m for m in own if code[m][0] == "until"), 0)
        loop = Long(stretch, check, end, carried=carried)
        if check:
            loop.before = _parts(program, stretch + 1, check, alive, loops, longest)
        loop.body = _parts(program, (check or stretch) + 1, end, alive, loops, longest)
        made.append(loop)
        n = end + 1
    return made


def _long_loop(start: int, stop: int, loops: dict[int, int], longest: float) -> int:
    """Where the next loop begins that is too long for a piece, or the stop."""
    n = start
    while n < stop:
        if n in loops:
            if loops[n] - n > longest:
                return n
            n = loops[n]
        n += 1
    return stop


def _straight(program: Program, start: int, stop: int, alive: list[int], loops: dict[int, int]) -> list[Straight]:
    """Pieces that end where fewest values cross, and never within a loop or before what is left of it."""
    inside = {m for n, e in loops.items() if start <= n < stop for m in range(n + 1, e + 1)}
    inside |= {n for n in range(start, stop) if program.code[n][0] == "last"}
    made, longest = [], 2 * SHORTEST if stop - start > LONGEST else LONGEST
    while stop - start > longest:
        window = [n for n in range(start + SHORTEST, start + longest) if n not in inside]
        window = window or [next((n for n in range(start + longest, stop) if n not in inside), stop)]
        end = min(window, key=lambda n: alive[n])
        made.append(Straight(start, end))
        start = end
    return [*made, Straight(start, stop)] if start < stop else made


@dataclass(frozen=True)
class Pieces:
    """A program in parts; `slot` says where a value that leaves its part is kept, of `slots` places."""

    parts: list[Any]
    slot: dict[int, int]
    slots: int
    arrived: dict[int, int]  # a long loop → the place that says which lanes have arrived

    @property
    def ends(self) -> tuple[int, ...]:
        """Where each straight part of a program without long loops stops."""
        return tuple(one.end for one in self.parts)


def cut(program: Program, whole_loops: bool = False) -> Pieces:
    """The parts of a program, and a place for each value that leaves its part; it is used again when its value is dead.

    A loop that is longer than a piece is cut too, unless loops are to stay whole.
    """
    code, loops = program.code, ends(program)
    last = list(range(len(code)))  # the last instruction that reads each value
    for n, (op, args) in enumerate(code):
        for a in args if op != "input" else ():
            if type(a) is int:
                last[a] = n
    made = _parts(program, 0, len(code), _alive(program, last), loops, math.inf if whole_loops else LONGEST)
    made = made or [Straight(0, 0)]  # a program may have nothing but constants
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
        if op not in NOWHERE and number[last[n]] > number[n]:
            if free:
                slot[n] = free.pop()
            else:
                slot[n], slots = slots, slots + 1
            given_back.setdefault(number[last[n]], []).append(slot[n])
    return Pieces(made, slot, slots, arrived)


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
