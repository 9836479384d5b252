"""A program as LLVM text.

    void kernel(ptr arrays, i64 states, ptr work)

Arrays are row after row, a state each; a uniform input has one row. The rows of a block of W states are turned into
columns of a work buffer, a vector each; the program runs on them in straight line, cut into functions where it is
long; and the columns of results are turned back. What is left over runs through the same code on a padded block, so
one state equals its row in any batch, bit for bit. No fast-math flag is set anywhere and nothing is contracted here:
the program already says which sums and products are fused.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from hinge.backends.llvm import levels, past_cache, streams
from hinge.backends.llvm.batch_loop import constants, driver
from hinge.backends.llvm.block import DOUBLE, Block, Precision
from hinge.backends.llvm.control import Control
from hinge.backends.llvm.piece import About, Piece
from hinge.backends.partition import Pieces, cut
from hinge.graph import Program


class Layout:
    """Where things are in the work buffer, in vectors: a column for each input entry, output entry and value kept.

    Behind them are the columns of each scratch array, what is known of each stream, and rows on their way past the
    cache.
    """

    def __init__(self, program: Program, pieces: Pieces, b: Block):
        self.inputs, self.outputs, at = list[int](), list[int](), 0
        for one in program.inputs:
            self.inputs.append(at)
            at += 0 if one.uniform or one.stream else one.size
        for output in program.outputs:
            self.outputs.append(at)
            at += len(output.entries)
        self.kept = at
        at += pieces.slots
        self.scratch: dict[Any, int] = {}
        for op, args in program.code:
            if op == "fresh":
                self.scratch[args[0].name] = at
                at += args[0].size
        self.streams: dict[int, int] = {}
        for k in program.streams:
            self.streams[k] = at
            at += streams.COLUMNS
        longest = max((width for _, width in program.streams.values()), default=0)
        self.nowhere, self.aside = at, at + longest  # what is read where there is no row, and written
        self.stage = at + 2 * longest
        rows = [len(one.entries) for one in program.outputs if not one.stream and not one.whole]
        self.size = self.stage + past_cache.stage(rows, b)


def emit(program: Program, lanes: int, precision: Precision = DOUBLE) -> str:
    """The program as LLVM text, on vectors of `lanes` numbers."""
    pieces = cut(program)
    layout = Layout(program, pieces, Block(lanes, precision))
    about = About(program, layout, pieces)
    shared = "".join(f", ptr %in{k}" for k, one in enumerate(program.inputs) if one.uniform and not one.stream)
    control = Control(pieces, lambda: Block(lanes, precision), lambda b, loops: Piece(b, about, loops), shared)
    code, declared = control.written()
    parts = [
        [levels.Part(0, len(one.entries), None)] if one.whole else levels.parts(one.entries, Block(lanes, precision))
        for one in program.outputs
    ]
    code += constants(*_constants(program, layout, parts), Block(lanes, precision))
    if layout.streams:
        code += streams.placing(program, layout.streams, Block(lanes, precision))
    code += driver(program, layout.inputs, layout.outputs, parts, layout.stage, Block(lanes, precision))
    b = Block(lanes, precision)
    kept = [f"{name} = internal constant {_table(b, table.values)}" for table, name in about.tables.items()]
    return "\n".join([*sorted(declared.values()), *kept, *code, ""])


def _table(b: Block, values: tuple[float, ...]) -> str:
    entries = ", ".join(f"{b.scalar} {b.lone(x)}" for x in values)
    return f"[{len(values)} x {b.scalar}] [{entries}]"


def work_size(program: Program, lanes: int, precision: Precision = DOUBLE) -> int:
    """How many numbers the kernel's columns take."""
    return lanes * Layout(program, cut(program), Block(lanes, precision)).size


Runs = list[tuple[int, int, float]]  # first column, how many, and their value


def _constants(program: Program, layout: Layout, parts: Sequence[Sequence[levels.Part]]) -> tuple[Runs, Runs]:
    """What is the same for every state, as runs of equal ones; those that are levels apart."""
    nowhere = layout.aside - layout.nowhere
    made: Runs = [(layout.nowhere, nowhere, math.nan)] if nowhere else []
    level: Runs = []
    for output, column, found in zip(program.outputs, layout.outputs, parts, strict=True):
        made += levels.runs(found, output.entries, column)
        level += [(column + part.first, part.width, part.value) for part in found if part.value is not None]
    return made, level
