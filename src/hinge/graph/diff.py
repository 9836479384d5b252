"""Forward differentiation: the derivative of a graph is a graph.

jacobian([tau_0, tau_1], [q_0, q_1])      # rows: outputs, columns: inputs
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from hinge.errors import NotCovered
from hinge.graph.dual import Dual
from hinge.graph.expr import Expr, Scalar
from hinge.graph.ops import OPS
from hinge.graph.order import STRUCTURE, live, regions
from hinge.graph.scalars import evaluated


def along(outputs: Sequence[Scalar], rates: dict[Expr, Scalar]) -> list[Scalar]:
    """The rates of change of `outputs` when each node in `rates` changes at the given rate and no other does.

    A loop's rates are carried with its state, and memory has rates beside it: all of it runs once on dual numbers.
    """
    nodes = _moving(outputs, rates)
    if not any(node.op in STRUCTURE for node in nodes):
        return _rates(nodes, outputs, rates)
    made = evaluated(outputs, {x: Dual(x, rate) for x, rate in rates.items()})
    return [x.dual if type(x) is Dual else 0.0 for x in made]


def jacobian(outputs: Sequence[Scalar], inputs: Sequence[Expr]) -> list[list[Scalar]]:
    """Partial derivatives, a row an output and a column an input."""
    nodes = _moving(outputs, dict.fromkeys(inputs))
    if any(node.op in STRUCTURE for node in nodes):
        columns = [along(outputs, {x: 1.0}) for x in inputs]
    else:
        columns = [_rates(nodes, outputs, {x: 1.0}) for x in inputs]
    return [list(row) for row in zip(*columns, strict=True)] if columns else [[] for _ in outputs]


def _moving(outputs: Sequence[Scalar], inputs: Mapping[Expr, Any]) -> list[Expr]:
    """What lies between some nodes and the outputs that depend on them."""
    found: dict[Expr, None] = dict.fromkeys(inputs)
    names = {x.args[0] for x in inputs if x.op == "input"}
    for node in live(outputs, leaves=inputs):
        if node.op == "load" and node.args[0].kind == "input" and node.args[0].name in names:
            raise NotCovered(f"the rate of an input that is read by an index, {node.args[0].name!r}, is not known.")
        if node not in found and not found.keys().isdisjoint(node.args):
            found[node] = None
    return [node for node in found if node not in inputs]


def _rates(nodes: Sequence[Expr], outputs: Sequence[Scalar], rates: dict[Expr, Scalar]) -> list[Scalar]:
    rate: dict[Expr, Scalar] = dict(rates)
    for node in nodes:
        if rate.keys().isdisjoint(node.args):
            continue
        moving = [k for k, a in enumerate(node.args) if type(a) is Expr and a in rate]
        partials = OPS[node.op].partials(node, *node.args)
        total: Scalar = 0.0
        for k in moving:
            total = total + partials[k] * rate[node.args[k]]
        if type(total) is Expr or total != 0.0:
            rate[node] = total
    return [rate.get(e, 0.0) if type(e) is Expr else 0.0 for e in outputs]


def kinks(outputs: Sequence[Scalar], inputs: Sequence[Expr]) -> list[Scalar]:
    """What is zero where outputs have no derivative by these inputs: at corners, jumps and infinite slopes.

    Only what rates pass through counts: a condition has none, though it may change.
    """
    moving = set(_moving(outputs, dict.fromkeys(inputs))) if inputs else set()
    nodes = live(outputs, leaves=inputs) if moving else []
    felt = set(outputs)
    for node in reversed(nodes):
        if node in felt and node in moving:
            slopes = OPS[node.op].partials(node, *node.args) if node.op in OPS else (1.0,) * len(node.args)
            felt.update(a for a, slope in zip(node.args, slopes, strict=True) if type(slope) is Expr or slope != 0.0)
    bare = regions(nodes, {}, inputs)[None]  # in a loop each trip has its own
    rows = [(OPS[node.op].kink, node.args) for node in bare if node in felt and node in moving and node.op in OPS]
    made = [kink(*args) for kink, args in rows if kink]
    return [x for x in made if type(x) is Expr]


def units(n: int) -> list[list[Scalar]]:
    """The rows of the identity: a rate of one for each of n in turn."""
    return [[1.0 if i == k else 0.0 for i in range(n)] for k in range(n)]
