"""Reverse differentiation: what each input contributes to a weighted sum of outputs, in one walk from the end.

    pulled([tau_0, tau_1], [w_0, w_1], [q_0, q_1])      # Σ w dτ/dq, an entry an input

A straight line is walked back over as it stands. Where there are loops or memory, all of it runs once more and keeps
what the walk needs: the state at the beginning of every trip, and what a trip reads out of memory that others write
(recording.py). Beside a memory lies another of the same size, with the derivative by each number in it: who read a
number adds to its place there, and who wrote it takes what is there and clears it.
"""

from __future__ import annotations

from collections.abc import Container, Sequence
from typing import Any

from hinge.graph.expr import Expr, Scalar
from hinge.graph.loops import Scratch, traced
from hinge.graph.moving import array
from hinge.graph.ops import OPS, less, select
from hinge.graph.order import STRUCTURE
from hinge.graph.recording import Recording, remembers
from hinge.graph.rules import once
from hinge.graph.streams import Record, Rows
from hinge.graph.turns import turns


def pulled(outputs: Sequence[Any], weights: Sequence[Any], inputs: Sequence[Any], rows: int = 0) -> list[Any]:
    """The derivatives of Σ weight × output by each of these nodes.

    An output that is a `Record` has weights that are `Rows`, and every row of it counts as written once. An input that
    is `Rows` has a derivative that is a `Record`, called "by_" and its name, of as many `rows` as are said. So many
    trips, at the most, a loop has whose count is an input; a state that takes more has NaN.
    """
    return Reverse(outputs, inputs, rows).pulled(weights)


class Reverse(Recording):
    """Outputs that can be walked back from, as often as one likes.

    `made` are the outputs once more. Whoever wants outputs and derivatives takes these: loops then run once for both.
    """

    @property
    def made(self) -> list[Any]:
        """The outputs as they were made for the walk; a Record is itself."""
        return [x if isinstance(x, Record) else self.value(x) for x in self.outputs]

    def pulled(self, weights: Sequence[Any]) -> list[Any]:
        """The derivatives of Σ weight × output by the inputs."""
        self.weights = {x.name: w for x, w in zip(self.outputs, weights, strict=True) if isinstance(x, Record)}
        gradient = Sums(self.moving)
        for x, w in zip(self.outputs, weights, strict=True):
            if not isinstance(x, Record):
                gradient.add(x, w)
        self.beside: dict[Any, Any] = {
            name: Scratch(size, like=self.nodes[0]) for name, size in self.read.items() if name in self.arrays
        }
        with once(self.nodes, self.moved):
            self.walk(None, gradient)
        return [self.by_rows(x) if isinstance(x, Rows) else self.by_node(x, gradient) for x in self.inputs]

    def by_node(self, x: Expr, gradient: Sums) -> Scalar:
        """The derivative by a node, which may be a number of an input that is read by an index too."""
        made, beside = gradient.get(x, 0.0), self.beside.get(("input", x.args[0])) if x.op == "input" else None
        return made if beside is None or x.args[1] >= len(beside) else made + beside[x.args[1]]

    def by_rows(self, rows: Rows) -> Record:
        """The derivatives by rows, as rows."""
        record, width = Record(rows.graph, f"by_{rows.name}", rows.width), float(rows.width)
        beside = self.beside.get(("rows", rows.name))

        def row(k: Scalar) -> tuple[Scalar, ...]:
            record[k] = [0.0 if beside is None else beside[k * width + float(j)] for j in range(rows.width)]
            return ()

        traced(rows.graph, self.rows, 0, (), row, None)
        return record

    def walk(self, region: Any, gradient: Sums) -> None:
        """Back over the nodes of a loop's body, or of no loop, from those whose derivatives are known."""
        left: dict[Expr, list[Scalar]] = {}
        turning = turns(self.parts[region])
        first = {self.rules[x]: x for x in reversed(self.parts[region]) if x in self.rules}  # of its values
        for node in self.parts[region]:
            if node.op == "fresh" and array(node) in self.arrays and node not in self.leaves:
                self.beside[array(node)] = Scratch(node.args[0].size, like=node)
        for node in reversed(self.parts[region]):
            op, args = node.op, node.args
            if node in self.leaves:
                continue
            if node in self.rules:
                rule = self.rules[node]
                if first[rule] is node:  # nobody asks for the others any more
                    own = [gradient.get(x, 0.0) if self.rules.get(x) is rule else 0.0 for x in rule.values]
                    for x, amount in zip(rule.by, rule.pull(own), strict=True):
                        gradient.add(x, amount)
            elif op == "end":
                if node in self.backs:
                    self.loop_back(node, left.get(node, [0.0] * args[0].carried), gradient)
            elif op == "store" and array(node) in self.arrays:
                gradient.add(args[2], self.taken_out(node))
            elif op == "write" and args[0].name in self.weights:
                for x, w in zip(args[2:-1], self.weights[args[0].name][self.value(args[1])], strict=True):
                    gradient.add(x, w)
            elif node not in gradient:
                continue
            elif op == "last":
                left.setdefault(args[0], [0.0] * args[0].args[0].carried)[args[1].args[1]] += gradient[node]
            elif op == "load":
                self.put_in(node, gradient[node])
            elif node in turning:
                for x, slope, sign in turning[node]:
                    gradient.add(x, self.value(slope) * gradient[node] * sign)
            elif op not in STRUCTURE and op != "input":
                values = [self.value(x) for x in args]
                for x, slope in zip(args, OPS[op].partials(self.value(node), *values), strict=True):
                    gradient.add(x, times(slope, gradient[node]) if x in self.moving else 0.0)

    def put_in(self, load: Expr, amount: Scalar) -> None:
        """Add to the derivative by what is read."""
        memory, k = load.args[0], self.value(load.args[1])
        beside = self.beside[array(load)]
        k = k * float(memory.size) + float(memory.column) if memory.kind == "rows" else k
        beside[k] = beside[k] + amount

    def taken_out(self, store: Expr) -> Scalar:
        """The derivative by what is written, which nobody before has."""
        memory, k = store.args[0], self.value(store.args[1])
        beside = self.beside[array(store)]
        made, beside[k] = beside[k], 0.0
        return made if memory.sure else select(less(k, 0.0), 0.0, select(less(k, float(memory.size)), made, 0.0))

    def loop_back(self, end: Expr, weights: Sequence[Scalar], gradient: Sums) -> None:
        """Pull weights back through a loop: to where it began, and to what it takes in."""
        carried, taken = self.through(end)
        begun = [weights[x.args[1]] for x in carried] + [0.0] * len(taken)
        if all(type(x) is float and x == 0.0 for x in begun) and not any(remembers(x) for x in self.inside[end]):
            return
        for x, amount in zip([*(x.args[2] for x in carried), *taken], self.backs[end](begun), strict=True):
            gradient.add(x, amount)

    def pulled_trip(self, end: Expr, now: Sequence[Scalar]) -> list[Scalar]:
        carried, taken = self.through(end)
        n, gradient = end.args[0].carried, Sums(self.moving)
        for x, amount in zip(carried, now, strict=False):
            gradient.add(end.args[3 + n + x.args[1]], amount)
        self.walk(end.args[0], gradient)
        return [gradient.get(x, 0.0) for x in carried] + [
            old + gradient.get(x, 0.0) for x, old in zip(taken, now[len(carried) :], strict=True)
        ]

    def through(self, end: Expr) -> tuple[list[Expr], list[Expr]]:
        """What a loop carries, and what its body takes in from outside, of all that has a derivative."""
        n, own = end.args[0].carried, set(self.inside[end])
        carried = [x for x in end.args[3 : 3 + n] if x in self.moving]
        found: dict[Any, None] = dict.fromkeys(end.args[3 + n : 3 + 2 * n])
        for node in own:
            begins = node.op == "carry" and node.args[0] == end.args[0]  # with a value that is no part of the body
            found.update(dict.fromkeys(() if begins or node.op == "input" else node.args))
        taken = [x for x in found if type(x) is Expr and x in self.moving and x not in own]
        return carried, sorted(taken, key=lambda x: x.serial)


class Sums(dict[Expr, Scalar]):
    """Derivatives by nodes that move, while they are added up."""

    def __init__(self, moving: Container[Expr]) -> None:
        super().__init__()
        self.moving = moving

    def add(self, x: Scalar, amount: Scalar) -> None:
        """Add to the derivative by a node."""
        if type(x) is Expr and x in self.moving and (type(amount) is Expr or amount != 0.0):
            self[x] = self[x] + amount if x in self else amount


def times(slope: Scalar, amount: Scalar) -> Scalar:
    """A slope times an amount; a slope that is one of two numbers chooses."""
    if type(slope) is Expr and slope.op == "select" and all(type(x) is float for x in slope.args[1:]):
        condition, a, b = slope.args
        return select(condition, a * amount, b * amount)
    return slope * amount
