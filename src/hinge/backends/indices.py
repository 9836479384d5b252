"""Indices of loops: whole numbers made of counters, constants and tables, which a machine computes as integers.

They are known to be in their array, so nothing is rounded or looked at.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from hinge.graph import Program

# the operations that indices are made of; of a fused one the product is an integer too
INTEGERS = {
    "add": "{} + {}", "sub": "{} - {}", "mul": "{} * {}", "neg": "-{}",
    "fma": "{} * {} + {}", "fms": "{} * {} - {}", "fnma": "{2} - {0} * {1}",
}  # fmt: skip


def is_whole(program: Program, a: Any) -> bool:
    """Whether a value is made of counters, whole numbers and tables of them alone; it can be made anywhere."""
    if type(a) is not int:
        return float(a).is_integer()
    op, args = program.code[a]
    if op == "load":
        memory, at = args
        rows = memory.kind == "table" and memory.sure and all(x.is_integer() for x in memory.name.values)
        return rows and is_whole(program, at)
    return op == "counter" or (op in INTEGERS and all(is_whole(program, x) for x in args))


def indices(program: Program) -> tuple[Collection[int], Collection[int]]:
    """The values that are wanted as integers, and those that are wanted as numbers by nobody."""
    code = program.code
    integers, numbers = set[int](), {e for one in program.outputs for e in one.entries if type(e) is int}
    for n in reversed(range(len(code))):
        op, args = code[n]
        if op == "input":
            continue
        if n in integers:
            integers.update(a for a in args if type(a) is int and op != "counter")
        if op in ("load", "store") and args[0].sure and is_whole(program, args[1]):
            integers.update(a for a in args[1:2] if type(a) is int)
            numbers.update(a for a in args[2:] if type(a) is int)
        elif n in numbers or n not in integers:
            numbers.update(a for a in args if type(a) is int)
    return integers, integers - numbers
