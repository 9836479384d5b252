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
from hinge.graph.order import STRUCTURE, regions
from hinge.graph.rules import Rule, straight
from hinge.graph.scalars import evaluated


def along(outputs: Sequence[Scalar], rates: dict[Expr, Scalar]) -> list[Scalar]:
    """The rates of change of `outputs` when each node in `rates` changes at the given rate and no other does.

    A loop's rates are carried with its state, and memory has rates beside it: all of it runs once on dual numbers.
    """
    return columns(outputs, [rates])[0]


def columns(outputs: Sequence[Scalar], directions: Sequence[dict[Expr, Scalar]]) -> list[list[Scalar]]:
    """The rates of change of `outputs` along each of several directions."""
    nodes, rules = _moving(outputs, {x: None for rates in directions for x in rates})
    if not any(node.op in STRUCTURE for node in nodes):
        return _rates(nodes, rules, outputs, directions)
    runs = [evaluated(outputs, {x: Dual(x, rate) for x, rate in rates.items()}) for rates in directions]
    return [[x.dual if type(x) is Dual else 0.0 for x in made] for made in runs]


def jacobian(outputs: Sequence[Scalar], inputs: Sequence[Expr]) -> list[list[Scalar]]:
    """Partial derivatives, a row an output and a column an input."""
    made = columns(outputs, [{x: 1.0} for x in inputs])
    return [list(row) for row in zip(*made, strict=True)] if made else [[] for _ in outputs]


def _moving(outputs: Sequence[Scalar], inputs: Mapping[Expr, Any]) -> tuple[list[Expr], dict[Expr, Rule]]:
    """What lies between some nodes and the outputs that depend on them, and the rules that hold there."""
    found: dict[Expr, None] = dict.fromkeys(inputs)
    names = {x.args[0] for x in inputs if x.op == "input"}
    nodes, rules = straight(outputs, inputs)
    for node in nodes:
        if node.op == "load" and node.args[0].kind == "input" and node.args[0].name in names:
            raise NotCovered(f"the rate of an input that is read by an index, {node.args[0].name!r}, is not known.")
        depends = rules[node].by if node in rules else node.args
        if node not in found and not found.keys().isdisjoint(depends):
            found[node] = None
    return [node for node in found if node not in inputs], rules


def _rates(
    nodes: Sequence[Expr], rules: Mapping[Expr, Rule], outputs: Sequence[Scalar],
    directions: Sequence[dict[Expr, Scalar]],
) -> list[list[Scalar]]:  # fmt: skip
    every: list[dict[Any, Scalar]] = [dict(rates) for rates in directions]
    pushed: dict[Rule, list[dict[Scalar, Scalar]]] = {}
    for node in nodes:
        if node in rules:
            rule = rules[node]
            if rule not in pushed:
                made = rule.push([[rates.get(x, 0.0) for x in rule.by] for rates in every])
                pushed[rule] = [dict(zip(rule.values, row, strict=True)) for row in made]
            totals = [row[node] for row in pushed[rule]]
        else:
            partials = OPS[node.op].partials(node, *node.args)
            totals = [_total(node, partials, rates) for rates in every]
        for rates, total in zip(every, totals, strict=True):
            if type(total) is Expr or total != 0.0:
                rates[node] = total
    return [[rates.get(x, 0.0) if type(x) is Expr else 0.0 for x in outputs] for rates in every]


def _total(node: Expr, partials: Sequence[Scalar], rates: Mapping[Any, Scalar]) -> Scalar:
    """The rate of a node whose arguments change at these rates."""
    total: Scalar = 0.0
    for a, slope in zip(node.args, partials, strict=True):
        if type(a) is Expr and a in rates:
            total = total + slope * rates[a]
    return total


def kinks(outputs: Sequence[Scalar], inputs: Sequence[Expr]) -> list[Scalar]:
    """What is zero where outputs have no derivative by these inputs: at corners, jumps and infinite slopes."""
    moving = _moving(outputs, dict.fromkeys(inputs))[0] if inputs else []
    nodes = regions(moving, {}, inputs)[None]  # in a loop each trip has its own
    found = [(OPS[node.op].kink, node.args) for node in nodes if node.op in OPS]
    made = [kink(*args) for kink, args in found if kink]
    return [x for x in made if type(x) is Expr]


def units(n: int) -> list[list[Scalar]]:
    """The rows of the identity: a rate of one for each of n in turn."""
    return [[1.0 if i == k else 0.0 for i in range(n)] for k in range(n)]
