"""Forward differentiation: the derivative of a graph is a graph.

jacobian([tau_0, tau_1], [q_0, q_1])      # rows: outputs, columns: inputs
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from hinge.graph.dual import Dual
from hinge.graph.expr import Expr, Scalar
from hinge.graph.moving import moving
from hinge.graph.ops import OPS
from hinge.graph.order import STRUCTURE, live
from hinge.graph.scalars import evaluated
from hinge.graph.streams import Record, Rows


def along(outputs: Sequence[Any], rates: Mapping[Any, Any]) -> list[Any]:
    """The rates of change of `outputs` when each node in `rates` changes at the given rate and no other does.

    A loop's rates are carried with its state, and memory has rates beside it: all of it runs once on dual numbers. The
    rates of `Rows` are `Rows`; those of a `Record` are a `Record`, called by its name and "_rate".
    """
    roots = [x.written if isinstance(x, Record) else x for x in outputs]
    nodes = _moving(roots, rates)
    if not any(node.op in STRUCTURE for node in nodes):
        return _rates(nodes, roots, dict(rates))
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
    nodes = _moving(outputs, dict.fromkeys(inputs))
    if any(node.op in STRUCTURE for node in nodes):
        columns = [along(outputs, {x: 1.0}) for x in inputs]
    else:
        columns = [_rates(nodes, outputs, {x: 1.0}) for x in inputs]
    return [list(row) for row in zip(*columns, strict=True)] if columns else [[] for _ in outputs]


def _moving(outputs: Sequence[Scalar], inputs: Mapping[Any, Any]) -> list[Expr]:
    """What lies between some nodes and the outputs that depend on them."""
    nodes = live(outputs, leaves=inputs)
    arrays = {("rows", x.name) if isinstance(x, Rows) else ("input", x.args[0]) for x in inputs}
    found, _ = moving(nodes, inputs, arrays)
    return [node for node in nodes if node in found and node not in inputs]


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


def units(n: int) -> list[list[Scalar]]:
    """The rows of the identity: a rate of one for each of n in turn."""
    return [[1.0 if i == k else 0.0 for i in range(n)] for k in range(n)]
