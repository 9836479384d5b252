"""The plain back end: each instruction is its NumPy meaning. Slow, and right by definition."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from hinge.backends import Backend, Code
from hinge.graph import OPS, Program
from hinge.graph.numbers import Numbers


def run(program: Program, arrays: Sequence[np.ndarray], outs: Sequence[np.ndarray]) -> None:
    """Fill `outs`, each (states, size), from `arrays`: (states, size), or (size,) where a row serves all states."""
    m = Numbers.of(*arrays)
    values: list[Any] = []
    with np.errstate(all="ignore"):
        for op, args in program.code:
            if op == "input":
                values.append(np.asarray(arrays[args[0]][..., args[1]], m.dtype))
            else:
                row = OPS[op]
                made = row.on(m, *(values[a] if type(a) is int else m.constant(a) for a in args))
                values.append(m.number(made) if row.truth else made)
    for output, out in zip(program.outputs, outs, strict=True):
        for j, entry in enumerate(output.entries):
            out[:, j] = values[entry] if type(entry) is int else entry


class Interpreted(Code):
    """A program that is read as it runs."""

    def __init__(self, program: Program):
        self.program = program

    def run(self, arrays: Sequence[np.ndarray], outs: Sequence[np.ndarray]) -> None:
        run(self.program, arrays, outs)


class Interpreter(Backend):
    """NumPy's own operations, one after another."""

    name = "interpret"
    operations = OPS.keys()

    def compile(self, program: Program, dtype: np.dtype[Any]) -> Code:
        return Interpreted(program)


BACKEND = Interpreter()
