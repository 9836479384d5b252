"""The plain back end: each instruction is its NumPy meaning. Slow, and right by definition."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import numpy as np

from hinge.backends import Backend, Code
from hinge.graph import OPS, Program
from hinge.graph.numbers import Numbers
from hinge.graph.order import STRUCTURE, ends


def run(program: Program, arrays: Sequence[np.ndarray], outs: Sequence[np.ndarray]) -> None:
    """Fill `outs`, each (states, size), from `arrays`: (states, size), or (size,) where a row serves all states.

    Streams are (states, rows, size), or (rows, size).
    """
    running = _Running(program, arrays, outs)
    with np.errstate(all="ignore"):
        running.region(0, len(program.code), True)
    for output, out in zip(program.outputs, outs, strict=True):
        for j, entry in enumerate(output.entries):
            out[:, j] = running.value(entry)


class _Running:
    """A program while it runs: the values made so far, an array with one number a state each."""

    def __init__(self, program: Program, arrays: Sequence[np.ndarray], outs: Sequence[np.ndarray]):
        self.program, self.arrays, self.outs, self.ends = program, arrays, outs, ends(program)
        self.states = len(outs[0]) if outs else 0
        self.m = Numbers.of(*arrays)
        self.values: list[Any] = [None] * len(program.code)
        self.scratch: dict[Any, np.ndarray] = {}

    def value(self, a: Any) -> Any:
        return self.values[a] if type(a) is int else self.m.constant(a)

    def made(self, op: str, args: tuple[Any, ...]) -> Any:
        """An operation on values; a truth is a number, as it is between instructions."""
        row, given = OPS[op], [self.value(a) for a in args]
        made = row.on(self.m, *given)
        return self.m.number(made) if row.truth else made

    def region(self, start: int, stop: int, going: Any) -> None:
        """The instructions from start to stop, for the states that are still going."""
        n, code, values = start, self.program.code, self.values
        while n < stop:
            op, args = code[n]
            if op == "loop":
                self.loop(n, self.ends[n], going)
                n = self.ends[n]
            elif op == "input":
                values[n] = self.input(*args)
            elif op in STRUCTURE:
                self.structure(n, op, args, going)
            else:
                values[n] = self.made(op, args)
            n += 1

    def input(self, number: int, k: int) -> Any:
        """The numbers of an input, of one state a scalar, on which NumPy is faster."""
        column = np.asarray(self.arrays[number][..., k], self.m.dtype)
        return column.reshape(-1)[0] if self.states == 1 and column.size == 1 else column

    def loop(self, start: int, end: int, going: Any) -> None:
        """Trips, until there are no more or all have arrived; who has arrived keeps what it carries."""
        code, values = self.program.code, self.values
        carried = [n for n in range(start, end) if code[n][0] == "carry" and code[n][1][0] == start]
        check = next((n for n in range(start, end) if code[n][0] == "until" and code[n][1][0] == start), start)
        for n in carried:
            values[n] = self.value(code[n][1][1])
        trips = np.max(np.nan_to_num(self.value(code[start][1][0]), nan=0.0))
        for k in range(int(max(trips, 0.0))):
            self.m = Numbers(self.m.dtype)  # which remembers what it has made, a trip long
            values[start], active = self.m.constant(float(k)), going
            self.region(start + 1, check, going)
            if check != start:
                active = going & ~np.asarray(self.value(code[check][1][1]), bool)
            if not np.any(active):
                break
            self.region(max(check, start) + 1, end, active)
            following = [self.value(a) for a in code[end][1][1:]]
            for n, x in zip(carried, following, strict=True):
                values[n] = x if active is True else np.where(active, x, values[n])

    def structure(self, n: int, op: str, args: tuple[Any, ...], going: Any) -> None:
        """The parts of a loop, and memory."""
        values = self.values
        if op == "counter":
            values[n] = values[args[0]]
        elif op == "last":
            values[n] = values[args[1]]
        elif op == "fresh":
            self.scratch[args[0].name] = np.zeros((self.states, args[0].size), self.m.dtype)
        elif op in ("load", "store", "write"):
            array, k = self.array(args[0]), np.broadcast_to(self.value(args[1]), (self.states,))
            inside = (k >= 0) & (k < array.shape[1])
            if op == "load":
                there, made = np.flatnonzero(inside), np.full(self.states, np.nan, self.m.dtype)
                made[there] = array[there if len(array) > 1 else 0, k[there].astype(int)]
                values[n] = made
            else:
                rows = np.flatnonzero(inside & going)
                for j, x in enumerate(args[2:]):
                    one = array if op == "store" else array[..., j]
                    one[rows, k[rows].astype(int)] = np.broadcast_to(self.value(x), (self.states,))[rows]

    def array(self, memory: Any) -> np.ndarray:
        """What memory there is, for each state or for all; of rows that are read, one number each."""
        if memory.kind == "record":
            return self.outs[memory.name]
        if memory.kind == "table":
            return np.array(memory.name.values, self.m.dtype)[None]
        if memory.kind == "scratch":
            return self.scratch[memory.name]
        array = self.arrays[memory.name]
        array = array[..., memory.column] if memory.kind == "rows" else array
        return array[None] if self.program.inputs[memory.name].uniform else array


class Interpreted(Code):
    """A program that is read as it runs."""

    def __init__(self, program: Program):
        self.program = program

    def run(self, arrays: Sequence[np.ndarray], outs: Sequence[np.ndarray]) -> None:
        run(self.program, arrays, outs)


class Interpreter(Backend):
    """NumPy's own operations, one after another."""

    name = "interpret"

    @property
    def operations(self) -> Collection[str]:  # type: ignore[override]
        return OPS.keys() | STRUCTURE

    def compile(self, program: Program, dtype: np.dtype[Any]) -> Code:
        return Interpreted(program)


BACKEND = Interpreter()
