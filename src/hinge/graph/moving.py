"""What moves: the nodes, carried states and memory through which outputs depend on what is differentiated by.

A loop carries a motion from trip to trip, and memory from where it is written to where it is read. What does not move,
or moves and does not matter, has no derivative, and takes no room in one.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from functools import cache
from typing import Any

from hinge.graph.expr import Expr, Scalar
from hinge.graph.ops import OPS
from hinge.graph.order import STRUCTURE
from hinge.graph.rules import Rule

Rules = Mapping[Expr, Rule]
NONE: Rules = {}


@cache
def still(op: str) -> bool:
    """Whether an operation jumps or stands still: its derivatives are zero whatever it is given."""
    nan = float("nan")
    return op in OPS and all(x == 0.0 for x in OPS[op].partials(nan, *[nan] * OPS[op].arity))


def array(node: Expr) -> Any:
    """The array that a node reads or writes, by kind and name; None of all other nodes."""
    if node.op in ("load", "store", "write", "fresh"):
        return (node.args[0].kind, node.args[0].name)
    return None


def following(nodes: Iterable[Expr]) -> dict[Expr, Scalar]:
    """What each carried number becomes in a trip."""
    made: dict[Expr, Scalar] = {}
    for node in nodes:
        if node.op == "end":
            n = node.args[0].carried
            made.update(zip(node.args[3 : 3 + n], node.args[3 + n : 3 + 2 * n], strict=True))
    return made


def moving(
    nodes: Sequence[Expr], first: Container[Expr], arrays: Iterable[Any] = (), rules: Rules = NONE
) -> tuple[set[Expr], set[Any]]:
    """The nodes and arrays that move when the first of them do; nodes are in the order they were made."""
    found, arrays = {node for node in nodes if node in first}, set(arrays)
    ahead, straight = following(nodes), not any(node.op in STRUCTURE for node in nodes)
    before = -1
    while len(found) + len(arrays) > before:
        before = len(found) + len(arrays)
        for node in nodes:
            op, args = node.op, node.args
            if node in found or op == "input" or still(op):
                continue
            if op not in STRUCTURE:
                moves = not found.isdisjoint(rules[node].by if node in rules else args)
            elif op == "carry":
                moves = args[2] in found or ahead.get(node) in found
            elif op in ("store", "write"):
                moves = not found.isdisjoint(args[2:])
                arrays.update([array(node)] if moves else [])
            else:
                moves = (op == "last" and args[1] in found) or (op == "load" and array(node) in arrays)
            if moves:
                found.add(node)
        if straight:
            break
    return found, arrays


def mattering(
    nodes: Sequence[Expr], last: Iterable[Scalar], arrays: Iterable[Any] = (), rules: Rules = NONE
) -> tuple[set[Expr], set[Any]]:
    """The nodes and arrays that the last of them depend on smoothly."""
    found, arrays = {x for x in last if type(x) is Expr}, set(arrays)
    ahead, straight = following(nodes), not any(node.op in STRUCTURE for node in nodes)
    before = -1
    while len(found) + len(arrays) > before:
        before = len(found) + len(arrays)
        for node in reversed(nodes):
            op, args = node.op, node.args
            if op in ("store", "write") and array(node) in arrays:
                found.add(node)
            if node not in found or op == "input" or still(op):
                continue
            if op == "load":
                arrays.add(array(node))
            elif op == "carry":
                found.update(x for x in (args[2], ahead.get(node)) if type(x) is Expr)
            elif op == "last":
                found.add(args[1])
            else:
                felt = rules[node].by if node in rules else args[2:] if op in ("store", "write") else args
                found.update(x for x in felt if type(x) is Expr)
        if straight:
            break
    return found, arrays
