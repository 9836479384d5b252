"""Derivatives that are known better than from how a value was computed: those of the answers to equations.

    x = solve(A, b)
    ruled(x, [*A, *b], push, pull)      # dx from dA and db by the factors that solve has made

Values have their rule from then on: rates come by `push`, which takes rates of the numbers they depend on, a row for
each direction, and gives rows of theirs; weights go by `pull`, the other way. Where nobody differentiates a rule costs
nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass

from hinge.graph.expr import Expr, Scalar
from hinge.graph.order import STRUCTURE, live

Rates = list[Scalar]
Push = Callable[[list[Rates]], list[Rates]]
Pull = Callable[[Rates], Rates]


@dataclass(frozen=True, eq=False)
class Rule:
    """How values depend on numbers that were made before them."""

    values: tuple[Scalar, ...]
    by: tuple[Scalar, ...]
    push: Push
    pull: Pull


def ruled(values: Sequence[Scalar], by: Sequence[Scalar], push: Push, pull: Pull) -> None:
    """Give values that were just made a rule, in the place of any other; what is no new node is left as it is."""
    nodes = [x for x in by if type(x) is Expr]
    if not nodes:
        return
    graph, last = nodes[0].graph, max(x.serial for x in nodes)
    rule = Rule(tuple(values), tuple(by), push, pull)
    for x in values:
        if type(x) is Expr and x.serial > last:
            graph.rules[x] = rule


def straight(outputs: Sequence[Scalar], leaves: Container[Expr]) -> tuple[list[Expr], dict[Expr, Rule]]:
    """The nodes that outputs depend on, down to the leaves, by rules where nodes have them; and these rules.

    Where there are loops or memory among them, nodes are what they were computed from, and nothing has a rule.
    """
    graph = next((x.graph for x in outputs if type(x) is Expr), None)
    rules = {x: rule for x, rule in graph.rules.items() if x not in leaves} if graph is not None else {}
    nodes = live(outputs, forms(rules), leaves)
    if rules and any(node.op in STRUCTURE for node in nodes if node not in leaves):
        return live(outputs, leaves=leaves), {}
    return nodes, rules


def forms(rules: Mapping[Expr, Rule]) -> dict[int, tuple[str, tuple[Scalar, ...]]]:
    """Nodes as what their rules depend on, for those who ask what a node is made of."""
    return {x.serial: ("ruled", rule.by) for x, rule in rules.items()}
