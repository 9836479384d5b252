"""Reverse differentiation: what each input contributes to a weighted sum of outputs, in one walk from the end.

pulled([tau_0, tau_1], [w_0, w_1], [q_0, q_1])      # Σ w dτ/dq, an entry an input

A loop is run forward once more with its state kept at the beginning of every trip, and then backward over what was
kept; lanes that arrived early have nothing to do in the trips they did not take.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from hinge.errors import NotCovered
from hinge.graph.expr import Expr, Scalar
from hinge.graph.loops import Scratch, repeat
from hinge.graph.ops import OPS, less, select
from hinge.graph.order import STRUCTURE, live, regions
from hinge.graph.scalars import evaluated, refuse_records


def pulled(outputs: Sequence[Scalar], weights: Sequence[Scalar], inputs: Sequence[Expr]) -> list[Scalar]:
    """The derivatives of Σ weight × output by each of these nodes."""
    wanted = set(inputs)
    nodes = live(outputs, leaves=wanted)
    refuse_records(nodes)
    names = {x.args[0] for x in wanted if x.op == "input"}
    for node in nodes:
        if node.op == "load" and node.args[0].kind == "input" and node.args[0].name in names:
            raise NotCovered(
                f"the derivative by an input that is read by an index, {node.args[0].name!r}, is not known."
            )
    if any(node.op in ("store", "fresh") and node not in wanted for node in nodes):
        raise NotCovered(
            "reverse derivatives do not pass through a Scratch.\n  Carry the numbers in the state of the loop."
        )
    parts = regions(nodes, {}, wanted)
    gradient: dict[Expr, Scalar] = {}

    def add(x: Scalar, amount: Scalar) -> None:
        if type(x) is Expr and (type(amount) is Expr or amount != 0.0):
            gradient[x] = gradient[x] + amount if x in gradient else amount

    for x, w in zip(outputs, weights, strict=True):
        add(x, w)
    ends: dict[Expr, list[Scalar]] = {}
    for node in reversed(parts[None]):
        if node.op == "end":
            if node in ends:
                _loop(node, ends[node], parts, add)
        elif node in gradient and node not in wanted:
            if node.op == "last":
                end, carried = node.args
                ends.setdefault(end, [0.0] * end.args[0].carried)[carried.args[1]] += gradient[node]
            elif node.op not in STRUCTURE and node.op != "input":
                for x, slope in zip(node.args, OPS[node.op].partials(node, *node.args), strict=True):
                    if type(x) is Expr:
                        add(x, slope * gradient[node])
    return [gradient.get(x, 0.0) for x in inputs]


def _loop(
    end: Expr, weights: list[Scalar], parts: dict[Any, list[Expr]], add: Callable[[Scalar, Scalar], None]
) -> None:
    """Pull weights back through a loop: to where it began, and to what it takes in."""
    loop, trips, until, *rest = end.args
    n = loop.carried
    if trips != loop.trips:
        raise NotCovered("reverse derivatives need a number of trips that is known.\n  Give repeat a number for count.")
    carried, following = rest[:n], rest[n : 2 * n]
    counters = [node for node in parts[loop] if node.op == "counter"]
    taken = _taken(loop, parts, following)
    begun = [x.args[2] for x in carried]
    size = max(1, int(trips))

    def put(k: Scalar, state: Sequence[Scalar]) -> dict[Expr, Scalar]:
        return dict(zip(carried, state, strict=True)) | dict.fromkeys(counters, k)

    # forward, keeping the state of every trip, and counting them
    kept = [Scratch(size, like=end) for _ in carried]

    def forward(k: Scalar, *now: Scalar) -> list[Scalar]:
        for row, x in zip(kept, now[:n], strict=True):
            row[k] = x
        return [*evaluated(following, put(k, now[:n])), now[n] + 1.0]

    stop = (lambda *now: evaluated([until.args[1]], put(0.0, now[:n]))[0]) if type(until) is Expr else None
    *_, made = repeat(trips, [*begun, 0.0], forward, stop)

    # backward over what was kept
    def back(k: Scalar, *now: Scalar) -> list[Scalar]:
        at = (trips - 1.0) - k
        state = [row[at] for row in kept]
        ahead = evaluated(following, put(at, state))
        slopes = pulled(ahead, now[:n], [*state, *taken])
        went = less(at, made)
        moved = [select(went, a, b) for a, b in zip(slopes[:n], now[:n], strict=True)]
        return moved + [old + select(went, more, 0.0) for old, more in zip(now[n:], slopes[n:], strict=True)]

    final = repeat(trips, [*weights, *([0.0] * len(taken))], back)
    for x, w in zip((*begun, *taken), final, strict=True):
        add(x, w)


def _taken(loop: Any, parts: dict[Any, list[Expr]], following: Sequence[Scalar]) -> list[Expr]:
    """The nodes from outside that a loop's body uses, or carries on with."""
    inside: set[Expr] = set()
    stack = [loop]
    while stack:
        for node in parts[stack.pop()]:
            inside.add(node)
            if node.op == "end":
                stack.append(node.args[0])
    found: dict[Expr, None] = {x: None for x in following if type(x) is Expr and x not in inside}
    for node in inside:
        begins = node.op == "carry" and node.args[0] == loop  # with a value of its own, which is no part of the body
        for x in () if begins or node.op == "input" else node.args:
            if type(x) is Expr and x not in inside:
                found[x] = None
    return sorted(found, key=lambda x: x.serial)
