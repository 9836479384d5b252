"""Cutting a long program into pieces that a code generator can digest.

Code generation takes more than linear time in the length of a straight run, and the longer the run the more values it
moves in and out of registers, so a long program becomes several functions that hand values on through a work buffer.
A piece ends where fewest values cross, which is where a body of the robot ends. Inputs are not handed on: they are
read again where they are needed.
"""

from __future__ import annotations

from dataclasses import dataclass

from hinge.graph import Program

SHORTEST, LONGEST = 200, 400  # instructions in a piece; a program up to the longest stays whole


@dataclass(frozen=True)
class Pieces:
    """`ends[k]` is where piece k stops; `slot` says where a value that crosses is kept, of `slots` places."""

    ends: tuple[int, ...]
    slot: dict[int, int]
    slots: int


def cut(program: Program) -> Pieces:
    """Where to cut, and a place for each value that crosses; a place is used again when its value is dead."""
    code = program.code
    last = list(range(len(code)))  # the last instruction that reads each value
    for n, (op, args) in enumerate(code):
        if op != "input":
            for a in args:
                if type(a) is int:
                    last[a] = n
    ends = _ends(program, last)
    piece = _piece_numbers(ends)

    slot: dict[int, int] = {}
    free: list[int] = []
    freed: list[list[int]] = [[] for _ in ends]  # places to give back after each piece
    slots = 0
    for k, end in enumerate(ends):
        for n in range(ends[k - 1] if k else 0, end):
            if code[n][0] != "input" and piece[last[n]] > k:
                if free:
                    slot[n] = free.pop()
                else:
                    slot[n], slots = slots, slots + 1
                freed[piece[last[n]]].append(slot[n])
        free += freed[k]
    return Pieces(tuple(ends), slot, slots)


def _ends(program: Program, last: list[int]) -> list[int]:
    total = len(program.code)
    if total <= LONGEST:
        return [total]
    change = [0] * (total + 1)  # of the number of values alive between instructions
    for n, (op, _) in enumerate(program.code):
        if op != "input" and last[n] > n:
            change[n + 1] += 1
            change[last[n] + 1] -= 1
    alive, running = [], 0
    for c in change:
        running += c
        alive.append(running)
    open_ = _inside(program)
    ends = [0]
    while total - ends[-1] > LONGEST:
        window = [n for n in range(ends[-1] + SHORTEST, ends[-1] + LONGEST) if not open_[n]]
        if not window:  # a loop that is longer: up to where it ends
            window = [next((n for n in range(ends[-1] + LONGEST, total) if not open_[n]), total)]
        ends.append(min(window, key=lambda n: alive[n]))
    return [*ends[1:], total] if ends[-1] < total else ends[1:]


def _inside(program: Program) -> list[bool]:
    """For each instruction whether cutting before it would cut a loop, or take it from what is left of it."""
    depth, made = 0, []
    for op, _ in program.code:
        depth -= op == "end"
        made.append(depth > 0 or op in ("end", "last"))
        depth += op == "loop"
    return made


def _piece_numbers(ends: list[int]) -> list[int]:
    numbers: list[int] = []
    for k, end in enumerate(ends):
        numbers += [k] * (end - len(numbers))
    return numbers
