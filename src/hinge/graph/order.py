"""From a graph to a program: the live nodes in order, sums and products contracted.

The order is the one the algorithm was written in, body after body: neighbours are the components of one vector, which
can be computed at the same time. Only sines and cosines come first: each is a long chain of instructions, and side by
side they do not wait for each other. A sum with a single-use product becomes one fused instruction here and nowhere
else; no back end contracts on its own, which is why machine code gives the same bits for one state and for many, on
vectors of any width.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hinge.graph.expr import Expr, Scalar
from hinge.graph.ops import OPS


@dataclass(frozen=True)
class Input:
    """An input array: its name, how many numbers a state has, whether all states share one row, and its shape.

    The shape is that of one state as a caller gives it; a row of `size` numbers where nothing is said.
    """

    name: str
    size: int
    uniform: bool = False
    shape: tuple[int, ...] | None = None


@dataclass(frozen=True)
class Output:
    """An output array: its name, its shape for one state, which value (or constant) each entry is.

    Entries of a `whole` one are small whole numbers, a status for instance, and are given out as bytes.
    """

    name: str
    shape: tuple[int, ...]
    entries: tuple[int | float, ...]
    whole: bool = False


@dataclass(frozen=True)
class Program:
    """Straight-line code: instruction k is `(op, args)` and makes value k; an argument is a value's number or a float.

    An `input` instruction has the number of the input array and the index in its row.
    """

    inputs: tuple[Input, ...]
    code: tuple[tuple[str, tuple[Any, ...]], ...]
    outputs: tuple[Output, ...]

    @property
    def operations(self) -> int:
        """How many operations it has; a fused one counts as the two it was made of."""
        return sum((op != "input") + (op in FUSED) for op, _ in self.code)

    def __str__(self) -> str:
        from hinge.graph.show import listing

        return listing(self)


FUSED = ("fma", "fms", "fnma")
Form = tuple[str, tuple[Scalar, ...]]  # an operation and its arguments


def live(roots: Iterable[Scalar], forms: Mapping[int, Form] | None = None) -> list[Expr]:
    """The nodes the roots depend on, in the order they were made; `forms` has nodes that were given another form."""
    forms = forms or {}
    found: dict[int, Expr] = {}
    stack = [r for r in roots if type(r) is Expr]
    while stack:
        node = stack.pop()
        if node.serial in found:
            continue
        found[node.serial] = node
        if node.op != "input":
            for a in forms[node.serial][1] if node.serial in forms else node.args:
                if type(a) is Expr and a.serial not in found:
                    stack.append(a)
    return [found[serial] for serial in sorted(found)]


def order(inputs: Sequence[Input], outputs: Sequence[tuple[str, tuple[int, ...], Sequence[Scalar]]],
          contract: bool = True, whole: Container[str] = ()) -> Program:  # fmt: skip
    """The program that computes `outputs`, each a (name, shape, entries), from `inputs`; `whole` ones are bytes."""
    roots = [entry for _, _, entries in outputs for entry in entries]
    forms = _contracted(live(roots), roots) if contract else {}
    number = {one.name: k for k, one in enumerate(inputs)}
    code: list[tuple[str, tuple[Any, ...]]] = []
    value: dict[int, int] = {}
    for node in _turns_first(live(roots, forms), forms):
        op, args = forms.get(node.serial) or (node.op, node.args)
        value[node.serial] = len(code)
        if op == "input":
            code.append((op, (number[args[0]], args[1])))
        else:
            code.append((op, tuple([value[a.serial] if type(a) is Expr else a for a in args])))
    made = tuple(
        Output(name, shape, tuple(value[e.serial] if type(e) is Expr else float(e) for e in entries), name in whole)
        for name, shape, entries in outputs
    )
    return Program(tuple(inputs), tuple(code), made)


def _turns_first(nodes: Sequence[Expr], forms: Mapping[int, Form]) -> list[Expr]:
    """The same nodes with sines and cosines, and what they need, before all others."""
    early: set[int] = set()
    for node in reversed(nodes):
        if node.serial in early or (node.op in OPS and OPS[node.op].early):
            _, args = forms.get(node.serial) or (node.op, node.args)
            early.update((node.serial, *(a.serial for a in args if type(a) is Expr)))
    return [n for n in nodes if n.serial in early] + [n for n in nodes if n.serial not in early]


def _contracted(nodes: Sequence[Expr], roots: Iterable[Scalar]) -> dict[int, Form]:
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

    fused: dict[int, Form] = {}
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


def replay(program: Program, rows: Sequence[Sequence[Scalar]]) -> list[list[Scalar]]:
    """The outputs of a program whose inputs are scalars of any kind: run on nodes, it becomes part of their graph."""
    values: list[Scalar] = []
    for op, args in program.code:
        if op == "input":
            values.append(rows[args[0]][args[1]])
        else:
            values.append(OPS[op](*(values[a] if type(a) is int else a for a in args)))
    return [[values[e] if type(e) is int else e for e in output.entries] for output in program.outputs]
