"""Forward differentiation: the derivative of a graph is a graph.

jacobian([tau_0, tau_1], [q_0, q_1])      # rows: outputs, columns: inputs
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from hinge.graph.dual import Dual
from hinge.graph.expr import Expr, Scalar
from hinge.graph.moving import mattering, moving
from hinge.graph.ops import OPS
from hinge.graph.order import STRUCTURE, regions
from hinge.graph.rules import Rule, once, straight
from hinge.graph.scalars import evaluated
from hinge.graph.streams import Record, Rows


def along(outputs: Sequence[Any], rates: Mapping[Any, Any]) -> list[Any]:
    """The rates of change of `outputs` when each node in `rates` changes at the given rate and no other does.

    A loop's rates are carried with its state, and memory has rates beside it: all of it runs once on dual numbers. The
    rates of `Rows` are `Rows`; those of a `Record` are a `Record`, called by its name and "_rate".
    """
    return columns(outputs, [rates])[0]


def columns(outputs: Sequence[Any], directions: Sequence[Mapping[Any, Any]]) -> list[list[Any]]:
    """The rates of change of `outputs` along each of several directions."""
    roots = [x.written if isinstance(x, Record) else x for x in outputs]
    inputs = {x: None for rates in directions for x in rates}
    every, rules = straight(roots, inputs)
    moved = _moving(every, rules, inputs)
    nodes = [node for node in every if node in moved and node not in inputs]
    with once(every, moved):
        if not any(node.op in STRUCTURE for node in nodes):
            return _rates(nodes, rules, roots, directions)
        return [_on_duals(outputs, roots, rates) for rates in directions]


def _on_duals(outputs: Sequence[Any], roots: Sequence[Scalar], rates: Mapping[Any, Any]) -> list[Any]:
    known: dict[Any, Any] = {}
    for x, rate in rates.items():
        known[x] = Dual(x, rate) if type(x) is Expr else _dual_rows(x, rate)
    written = {x: Record(x.graph, f"{x.name}_rate", x.width) for x in outputs if isinstance(x, Record)}
    made = evaluated(roots, known | {x: _rate_rows(record) for x, record in written.items()})
    return [written.get(x) or (y.dual if type(y) is Dual else 0.0) for x, y in zip(outputs, made, strict=True)]


def _dual_rows(rows: Rows, rate: Rows) -> Callable[[Scalar], list[Dual]]:
    return lambda k: [Dual(a, b) for a, b in zip(rows[k], rate[k], strict=True)]


def _rate_rows(record: Record) -> Callable[[Scalar, Sequence[Scalar]], None]:
    return lambda k, row: record.__setitem__(k, [x.dual if type(x) is Dual else 0.0 for x in row])


def jacobian(outputs: Sequence[Scalar], inputs: Sequence[Expr]) -> list[list[Scalar]]:
    """Partial derivatives, a row an output and a column an input."""
    made = columns(outputs, [{x: 1.0} for x in inputs])
    return [list(row) for row in zip(*made, strict=True)] if made else [[] for _ in outputs]


def _moving(nodes: Sequence[Expr], rules: Mapping[Expr, Rule], inputs: Mapping[Any, Any]) -> set[Expr]:
    """Which nodes move when inputs do."""
    arrays = [
        ("rows", x.name) if isinstance(x, Rows) else ("input", x.args[0])
        for x in inputs
        if isinstance(x, Rows) or x.op == "input"
    ]
    return moving(nodes, inputs, arrays, rules)[0]


def _rates(
    nodes: Sequence[Expr], rules: Mapping[Expr, Rule], outputs: Sequence[Scalar],
    directions: Sequence[Mapping[Any, Any]],
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
    """What is zero where outputs have no derivative by these inputs: at corners, jumps and infinite slopes.

    A condition may turn: what is chosen by it counts, and what only the condition is made of does not.
    """
    nodes, rules = straight(outputs, inputs)
    felt, _ = mattering(nodes, outputs, rules=rules)
    changing = set(inputs)
    for node in nodes:
        if not changing.isdisjoint(rules[node].by if node in rules else node.args):
            changing.add(node)
    felt &= changing - rules.keys()
    bare = [node for node in regions(nodes, {}, inputs)[None] if node in felt]
    found = [(OPS[node.op].kink, node.args) for node in bare if node.op in OPS]  # in a loop each trip has its own
    made = [kink(*args) for kink, args in found if kink]
    return [x for x in made if type(x) is Expr]


def units(n: int) -> list[list[Scalar]]:
    """The rows of the identity: a rate of one for each of n in turn."""
    return [[1.0 if i == k else 0.0 for i in range(n)] for k in range(n)]
