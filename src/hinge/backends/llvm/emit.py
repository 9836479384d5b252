"""A program as LLVM text.

    void kernel(ptr arrays, i64 states, ptr work)

Arrays are row after row, a state each; a uniform input has one row. The rows of a block of W states are turned into
columns of a work buffer, a vector each; the program runs on them in straight line, cut into functions where it is
long; and the columns of results are turned back. What is left over runs through the same code on a padded block, so
one state equals its row in any batch, bit for bit. No fast-math flag is set anywhere and nothing is contracted here:
the program already says which sums and products are fused.
"""

from __future__ import annotations

from typing import Any

from hinge.backends.cut import Pieces, cut
from hinge.backends.llvm.block import DOUBLE, Block, Precision
from hinge.backends.llvm.drive import constants, driver
from hinge.graph import OPS, Program

TRUTHS = {name for name, row in OPS.items() if row.truth}


class Layout:
    """Where things are in the work buffer, in vectors: a column for each input entry, output entry and value kept."""

    def __init__(self, program: Program, pieces: Pieces):
        self.inputs, self.outputs, at = list[int](), list[int](), 0
        for one in program.inputs:
            self.inputs.append(at)
            at += 0 if one.uniform else one.size
        for output in program.outputs:
            self.outputs.append(at)
            at += len(output.entries)
        self.kept = at
        self.size = at + pieces.slots


def emit(program: Program, lanes: int, precision: Precision = DOUBLE) -> str:
    """The program as LLVM text, on vectors of `lanes` numbers."""
    pieces = cut(program)
    layout = Layout(program, pieces)
    uniform = [k for k, one in enumerate(program.inputs) if one.uniform]
    parameters = ", ".join(["ptr noalias %work", *(f"ptr noalias %in{k}" for k in uniform)])
    code, declared, start = list[str](), dict[str, str](), 0
    for k, end in enumerate(pieces.ends):
        b = Block(lanes, precision)
        _emit_piece(b, program, layout, pieces, start, end)
        code += [f"define internal void @piece{k}({parameters}) noinline {{", *b.lines, "  ret void", "}"]
        declared.update(b.declared)
        start = end
    code += constants(_constants(program, layout), Block(lanes, precision))
    code += driver(program, layout.inputs, layout.outputs, len(pieces.ends), Block(lanes, precision))
    return "\n".join([*sorted(declared.values()), *code, ""])


def work_size(program: Program, lanes: int) -> int:
    """How many numbers the kernel's columns take."""
    return lanes * Layout(program, cut(program)).size


def _emit_piece(b: Block, program: Program, layout: Layout, pieces: Pieces, start: int, end: int) -> None:
    """Instructions start to end; what earlier pieces kept is fetched, what later ones need is kept."""
    values: dict[int, str] = {}
    places = _places(program)

    def named(a: Any) -> str:
        if type(a) is not int:
            return b.constant(a)
        if a not in values:
            op, args = program.code[a]
            values[a] = _input(b, program, layout, *args) if op == "input" else b.fetch(layout.kept + pieces.slot[a])
            if is_truth(a):  # which is kept as a number
                values[a] = b.binary("fcmp one", values[a], b.constant(0.0))
        return values[a]

    def is_truth(a: Any) -> bool:
        return type(a) is int and program.code[a][0] in TRUTHS

    def number(a: Any) -> str:
        return b.number(named(a)) if is_truth(a) else named(a)

    def truth(a: Any) -> str:
        return named(a) if is_truth(a) else b.binary("fcmp une", named(a), b.constant(0.0))

    for n in range(start, end):
        op, args = program.code[n]
        if op != "input":
            given = [truth(args[0]), *map(number, args[1:])] if op == "select" else map(number, args)
            values[n] = OPS[op].on(b, *given)
            if n in pieces.slot:
                b.keep(layout.kept + pieces.slot[n], number(n))
        for k, j in places.get(n, ()):
            b.keep(layout.outputs[k] + j, number(n))


def _input(b: Block, program: Program, layout: Layout, k: int, j: int) -> str:
    """Entry j of input k, a lane a state."""
    if program.inputs[k].uniform:
        return b.everywhere(b.put(f"getelementptr {b.scalar}, ptr %in{k}, i64 {j}"))
    return b.fetch(layout.inputs[k] + j)


def _constants(program: Program, layout: Layout) -> list[tuple[int, int, float]]:
    """Outputs that are the same for every state, as runs of equal ones: first column, how many, and their value."""
    runs: list[tuple[int, int, float]] = []
    for k, output in enumerate(program.outputs):
        for j, entry in enumerate(output.entries):
            at = layout.outputs[k] + j
            if type(entry) is float:
                last = runs[-1] if runs else None
                if last and last[0] + last[1] == at and repr(last[2]) == repr(entry):
                    runs[-1] = (last[0], last[1] + 1, entry)
                else:
                    runs.append((at, 1, entry))
    return runs


def _places(program: Program) -> dict[int, list[tuple[int, int]]]:
    """For each value that is an output: which output arrays it goes to, and where."""
    places: dict[int, list[tuple[int, int]]] = {}
    for k, output in enumerate(program.outputs):
        for j, entry in enumerate(output.entries):
            if type(entry) is int:
                places.setdefault(entry, []).append((k, j))
    return places
