"""What is known of a program before it is written: values that all lanes share, whole numbers, short loops, results."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

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


EXACT = 2.0**24  # whole numbers up to this are exact in single precision too


def spans(program: Program) -> dict[int, tuple[float, float]]:
    """The least and the greatest number of each value that is an exact whole-number expression of counters."""
    made: dict[int, tuple[float, float]] = {}

    def span(a: Any) -> tuple[float, float] | None:
        return made.get(a) if type(a) is int else (a, a) if a == math.floor(a) else None

    def product(x: tuple[float, float], y: tuple[float, float]) -> tuple[float, float]:
        corners = [a * b for a in x for b in y]
        return min(corners), max(corners)

    for n, (op, args) in enumerate(program.code):
        if op == "counter":
            trips = program.code[args[0]][1][0]
            if type(trips) is float:
                made[n] = (0.0, max(0.0, trips - 1.0))
        elif op in WHOLE:
            given = [span(a) for a in args]
            if None not in given:
                low, high = WHOLE[op](product, *given)
                if max(abs(low), abs(high)) <= EXACT:
                    made[n] = low, high
    return made


WHOLE: dict[str, Callable[..., tuple[float, float]]] = {
    "add": lambda product, a, b: (a[0] + b[0], a[1] + b[1]),
    "sub": lambda product, a, b: (a[0] - b[1], a[1] - b[0]),
    "neg": lambda product, a: (-a[1], -a[0]),
    "mul": lambda product, a, b: product(a, b),
    "fma": lambda product, a, b, c: (product(a, b)[0] + c[0], product(a, b)[1] + c[1]),
    "fms": lambda product, a, b, c: (product(a, b)[0] - c[1], product(a, b)[1] - c[0]),
    "fnma": lambda product, a, b, c: (c[0] - product(a, b)[1], c[1] - product(a, b)[0]),
}


def places(program: Program) -> dict[int, list[tuple[int, int]]]:
    """For each value that is an output: which output arrays it goes to, and where."""
    made: dict[int, list[tuple[int, int]]] = {}
    for k, output in enumerate(program.outputs):
        for j, entry in enumerate(output.entries):
            if type(entry) is int:
                made.setdefault(entry, []).append((k, j))
    return made
