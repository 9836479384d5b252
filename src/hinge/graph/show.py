"""How expressions and programs print themselves."""

from __future__ import annotations

from hinge.graph.expr import NAMED, Expr, Scalar
from hinge.graph.ops import OPS
from hinge.graph.order import Program


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
    if OPS[scalar.op].counts_as in ("add", "mul", "div", "neg"):
        inner = [f"({s})" if " " in s else s for s in inner]
    return OPS[scalar.op].text.format(*inner)


def listing(program: Program) -> str:
    """A program, one instruction a line."""
    lines = []
    for k, (op, args) in enumerate(program.code):
        if op == "input":
            lines.append(f"v{k} = {program.inputs[args[0]].name}[{args[1]}]")
        else:
            lines.append(f"v{k} = " + OPS[op].text.format(*(_argument(a) for a in args)))
    for out in program.outputs:
        lines.extend(f"{out.name}[{j}] = {_argument(e)}" for j, e in enumerate(out.entries))
    return "\n".join(lines) + "\n"


def _argument(a: int | float) -> str:
    return f"v{a}" if isinstance(a, int) else repr(a)
