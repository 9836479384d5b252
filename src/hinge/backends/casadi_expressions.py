"""Programs as expressions of CasADi: scalars of its SX, which CasADi differentiates and writes as C."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

import casadi as ca

from hinge.backends.symbolic import without_loops
from hinge.errors import NotCovered
from hinge.graph import Program

SAY: dict[str, Callable[..., Any]] = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "div": operator.truediv,
    "neg": operator.neg,
    "fma": lambda a, b, c: a * b + c,
    "fms": lambda a, b, c: a * b - c,
    "fnma": lambda a, b, c: c - a * b,
    "sqrt": ca.sqrt,
    "min": ca.fmin,
    "max": ca.fmax,
    "less": operator.lt,
    "abs": ca.fabs,
    "floor": ca.floor,
    "select": ca.if_else,
    "sin": ca.sin,
    "cos": ca.cos,
    "atan2": ca.atan2,
    "exp": ca.exp,
    "log": ca.log,
    "pow": ca.power,
    "tanh": ca.tanh,
    "arcsin": ca.asin,
    "arccos": ca.acos,
}


def expressions(name: str, program: Program, rows: Sequence[Sequence[Any]]) -> list[list[Any]]:
    """The entries of each output of a program, of CasADi's scalars for the entries of its inputs."""
    program = without_loops(program, "expressions of CasADi", f"Leave expand() out: the compiled {name} has them.")
    missing = sorted({op for op, _ in program.code} - SAY.keys() - {"input"})
    if missing:
        hint = f"Leave expand() out: the compiled {name} has it."
        raise NotCovered(f"there is no expression of CasADi for {missing[0]!r}.\n  {hint}")
    values: list[Any] = []
    for op, args in program.code:
        if op == "input":
            values.append(rows[args[0]][args[1]])
        else:
            values.append(SAY[op](*(values[a] if type(a) is int else a for a in args)))
    return [[values[e] if type(e) is int else ca.SX(e) for e in output.entries] for output in program.outputs]
