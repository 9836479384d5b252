"""Derivatives that are known better than from how a value was computed: those of the answers to equations.

    x = solve(A, b)
    ruled(x, [*A, *b], push, pull)      # dx from dA and db by the factors that solve has made

Values have their rule from then on: rates come by `push`, which takes rates of the numbers they depend on, a row for
each direction, and gives rows of theirs; weights go by `pull`, the other way. Where nobody differentiates a rule costs
nothing.

What is held while it moves has the right derivative where its value does not matter, as that of an answer from which
one step more is taken. Its own derivative would matter to a second one: that is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from hinge.errors import NotCovered
from hinge.graph.expr import Expr, Graph, Scalar
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


@contextmanager
def once(nodes: Sequence[Expr], moved: Container[Expr]) -> Iterator[None]:
    """A block that makes derivatives of nodes: they have none themselves where something that moves was held."""
    held = next((x for x in nodes if x.op == "held" and x.args[0] in moved), None)
    first = held.graph.serial if held is not None else 0
    yield
    if held is not None:
        held.graph.once.append(range(first + 1, held.graph.serial + 1))


def straight(outputs: Sequence[Scalar], leaves: Container[Expr]) -> tuple[list[Expr], dict[Expr, Rule]]:
    """The nodes that outputs depend on, down to the leaves, by rules where nodes have them; and these rules.

    Where there are loops or memory among them, nodes are what they were computed from, and nothing has a rule.
    """
    graph = next((x.graph for x in outputs if type(x) is Expr), None)
    if graph is not None and graph.once:
        _refuse_twice(graph, live(outputs, leaves=leaves), leaves)
    rules = {x: rule for x, rule in graph.rules.items() if x not in leaves} if graph is not None else {}
    nodes = live(outputs, forms(rules), leaves)
    if rules and any(node.op in STRUCTURE for node in nodes if node not in leaves):
        return live(outputs, leaves=leaves), {}
    return nodes, rules


def _refuse_twice(graph: Graph, nodes: Iterable[Expr], leaves: Container[Expr]) -> None:
    spent = [x for x in nodes if x not in leaves and x.op != "input" and any(x.serial in one for one in graph.once)]
    if spent:
        raise NotCovered(
            "second derivatives go through an answer that was held, such as one of contacts, and would be wrong.\n"
            "  Take first derivatives, and differences of them."
        )


def forms(rules: Mapping[Expr, Rule]) -> dict[int, tuple[str, tuple[Scalar, ...]]]:
    """Nodes as what their rules depend on, for those who ask what a node is made of."""
    return {x.serial: ("ruled", rule.by) for x, rule in rules.items()}
