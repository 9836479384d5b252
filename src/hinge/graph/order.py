"""From a graph to a program: the live nodes in an order with short live ranges, sums and products contracted.

Emission is depth-first from the outputs, so that one limb of a robot is finished before the next begins. A sum with
a single-use product becomes one fused instruction here and nowhere else; no back end contracts on its own, which is
why they all agree to the last bit.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from hinge.graph.expr import Expr, Scalar


@dataclass(frozen=True)
class Input:
    """An input array: its name, how many numbers a state has, and whether all states share one row."""

    name: str
    size: int
    uniform: bool = False


@dataclass(frozen=True)
class Output:
    """An output array: its name, its shape for one state, and which value (or constant) each entry is."""

    name: str
    shape: tuple[int, ...]
    entries: tuple[int | float, ...]


@dataclass(frozen=True)
class Program:
    """Straight-line code: instruction k is `(op, args)` and makes value k; an argument is a value's number or a float.

    An `input` instruction has the number of the input array and the index in its row.
    """

    inputs: tuple[Input, ...]
    code: tuple[tuple[str, tuple[Any, ...]], ...]
    outputs: tuple[Output, ...]

    def __str__(self) -> str:
        from hinge.graph.show import listing

        return listing(self)


def live(roots: Iterable[Scalar]) -> list[Expr]:
    """The nodes the roots depend on, arguments before users, depth first."""
    done: list[Expr] = []
    seen: set[int] = set()
    stack: list[tuple[Expr, bool]] = [(r, False) for r in reversed(list(roots)) if type(r) is Expr]
    while stack:
        node, expanded = stack.pop()
        if expanded:
            done.append(node)
            continue
        if node.serial in seen:
            continue
        seen.add(node.serial)
        stack.append((node, True))
        if node.op != "input":
            stack.extend((a, False) for a in reversed(node.args) if type(a) is Expr and a.serial not in seen)
    return done


def order(inputs: Sequence[Input], outputs: Sequence[tuple[str, tuple[int, ...], Sequence[Scalar]]],
          contract: bool = True) -> Program:  # fmt: skip
    """The program that computes `outputs`, each a (name, shape, entries), from `inputs`."""
    roots = [entry for _, _, entries in outputs for entry in entries]
    nodes = live(roots)
    fused = _contracted(nodes, roots) if contract else {}
    number = {one.name: k for k, one in enumerate(inputs)}

    code: list[tuple[str, tuple[Any, ...]]] = []
    value: dict[int, int] = {}
    stack: list[tuple[Expr, bool]] = [(r, False) for r in reversed(roots) if type(r) is Expr]
    while stack:
        node, ready = stack.pop()
        if node.serial in value:
            continue
        op, args = fused.get(node.serial) or (node.op, node.args)
        if op == "input":
            value[node.serial] = len(code)
            code.append((op, (number[args[0]], args[1])))
        elif ready:
            value[node.serial] = len(code)
            code.append((op, tuple(value[a.serial] if type(a) is Expr else a for a in args)))
        else:
            stack.append((node, True))
            stack.extend((a, False) for a in reversed(args) if type(a) is Expr and a.serial not in value)

    made = tuple(
        Output(name, shape, tuple(value[e.serial] if type(e) is Expr else float(e) for e in entries))
        for name, shape, entries in outputs
    )
    return Program(tuple(inputs), tuple(code), made)


def _contracted(nodes: Sequence[Expr], roots: Iterable[Scalar]) -> dict[int, tuple[str, tuple[Scalar, ...]]]:
    """For each sum that takes in a product used nowhere else: the fused operation it becomes."""
    uses: dict[int, int] = {}
    for r in roots:
        if type(r) is Expr:
            uses[r.serial] = uses.get(r.serial, 0) + 1
    for node in nodes:
        if node.op != "input":
            for a in node.args:
                if type(a) is Expr:
                    uses[a.serial] = uses.get(a.serial, 0) + 1

    def free_product(a: Scalar) -> bool:
        return type(a) is Expr and a.op == "mul" and uses[a.serial] == 1

    fused: dict[int, tuple[str, tuple[Scalar, ...]]] = {}
    for node in nodes:
        if node.op == "add":
            a, b = node.args
            if free_product(b):
                fused[node.serial] = ("fma", (*b.args, a))
            elif free_product(a):
                fused[node.serial] = ("fma", (*a.args, b))
        elif node.op == "sub":
            a, b = node.args
            if free_product(b):
                fused[node.serial] = ("fnma", (*b.args, a))
            elif free_product(a):
                fused[node.serial] = ("fms", (*a.args, b))
    return fused
