"""How expressions and programs print themselves."""

from __future__ import annotations

from typing import Any

from hinge.graph.expr import NAMED, Expr, Scalar
from hinge.graph.ops import OPS
from hinge.graph.order import STRUCTURE, Program


def text(scalar: Scalar, depth: int = 4) -> str:
    """A scalar in the usual notation; what lies deeper than `depth` levels is shown as '…'."""
    if type(scalar) is not Expr:
        return f"{scalar:g}" if isinstance(scalar, float) else str(scalar)
    if scalar.op == "input":
        if scalar.graph is NAMED:
            return str(scalar.args[0])
        return f"{scalar.args[0]}[{scalar.args[1]}]"
    if depth == 0:
        return "…"
    inner = [text(a, depth - 1) for a in scalar.args]
    if scalar.op not in OPS:  # a part of a loop, or memory
        return f"{scalar.op}({', '.join(inner)})"
    if OPS[scalar.op].counts_as in ("add", "mul", "div", "neg"):
        inner = [f"({s})" if " " in s else s for s in inner]
    return OPS[scalar.op].text.format(*inner)


def listing(program: Program) -> str:
    """A program, one instruction a line."""
    lines, margin = list[str](), ""
    for k, (op, args) in enumerate(program.code):
        if op == "end":
            margin = margin[2:]
        if op == "input":
            lines.append(f"{margin}v{k} = {program.inputs[args[0]].name}[{args[1]}]")
        elif op in STRUCTURE:
            lines.append(margin + _structure(program, k, op, args))
        else:
            lines.append(f"{margin}v{k} = " + OPS[op].text.format(*(_argument(a) for a in args)))
        if op == "loop":
            margin += "  "
    for out in program.outputs:
        lines.extend(f"{out.name}[{j}] = {_argument(e)}" for j, e in enumerate(out.entries))
    return "\n".join(lines) + "\n"


def _structure(program: Program, k: int, op: str, args: tuple[Any, ...]) -> str:
    """A part of a loop, or what is done to memory."""
    if op == "loop":
        return f"v{k} = repeat {_argument(args[0])} times"
    if op in ("counter", "last"):
        return f"v{k} = {op} of v{args[-1]}"
    if op == "carry":
        return f"v{k} = carried, at first {_argument(args[1])}"
    if op == "until":
        return f"until {_argument(args[1])}"
    if op == "end":
        return f"carry on with {', '.join(map(_argument, args[1:]))}".rstrip()
    memory = args[0]
    name = f"scratch{memory.name}" if memory.kind == "scratch" else memory.kind
    if memory.kind in ("input", "rows"):
        name = program.inputs[memory.name].name
    if op == "write":
        return f"{program.outputs[memory.name].name}[{_argument(args[1])}] = {', '.join(map(_argument, args[2:]))}"
    if op == "fresh":
        return f"{name} of {memory.size} numbers"
    if op == "store":
        return f"{name}[{_argument(args[1])}] = {_argument(args[2])}"
    return f"v{k} = {name}[{_argument(args[1])}]" + (f"[{memory.column}]" if memory.kind == "rows" else "")


def _argument(a: int | float) -> str:
    return f"v{a}" if isinstance(a, int) else repr(a)
