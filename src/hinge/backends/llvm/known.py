"""What is known of a program before it is written: values that all lanes share, short loops, results."""

from __future__ import annotations

from hinge.graph import Program
from hinge.graph.order import STRUCTURE, ends

WRITTEN_OUT = 100  # instructions that the trips of a short loop may come to


def is_written_out(program: Program, start: int, end: int) -> bool:
    """Whether a loop has few trips of few instructions, as many as are known: they stand one after another."""
    trips, inside = program.code[start][1][0], program.code[start + 1 : end]
    known = type(trips) is float and trips * (end - start) <= WRITTEN_OUT
    return known and not any(op in ("loop", "until") for op, _ in inside)


def shortest(program: Program) -> tuple[int, int]:
    """The instructions in a trip of the shortest loop that goes round, and how many values it carries."""
    loops, found = ends(program), [(1 << 30, 0)]
    out = {n: end for n, end in loops.items() if is_written_out(program, n, end)}
    for start, end in loops.items():
        if start not in out:
            inner = [(n, e) for n, e in out.items() if start < n < end]
            more = sum(int(program.code[n][1][0] - 1.0) * (e - n) for n, e in inner)
            found.append((end - start + more, len(program.code[end][1]) - 1))
    return min(found)


def alike(program: Program) -> list[bool]:
    """For each value whether it is the same in all lanes: made of counters, constants and rows that serve all."""
    made: list[bool] = []
    for op, args in program.code:
        if op == "input":
            made.append(program.inputs[args[0]].uniform)
        elif op == "counter":
            made.append(True)
        elif op in STRUCTURE:
            row = op == "load" and (
                args[0].kind == "table" or (args[0].kind in ("input", "rows") and program.inputs[args[0].name].uniform)
            )
            made.append(bool(row) and (type(args[1]) is not int or made[args[1]]))
        else:
            made.append(all(type(a) is not int or made[a] for a in args))
    return made


def places(program: Program) -> dict[int, list[tuple[int, int]]]:
    """For each value that is an output: which output arrays it goes to, and where."""
    made: dict[int, list[tuple[int, int]]] = {}
    for k, output in enumerate(program.outputs):
        for j, entry in enumerate(output.entries):
            if type(entry) is int:
                made.setdefault(entry, []).append((k, j))
    return made
