"""Calls as functions of CasADi, with derivatives of every order from our programs.

CasADi asks a function for one that carries tangents along, and for one that pulls weights back, several at once. Each
is a call again, and so a function like the first. What there are several of, states, tangents or weights, stands side
by side in the columns of CasADi's matrices and along a leading axis of our arrays: one call of one kernel for all.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from itertools import accumulate
from math import prod
from operator import or_
from typing import Any

import casadi as ca
import numpy as np

from hinge.arguments import Array
from hinge.backends.casadi_expressions import expressions
from hinge.calls.call import Call
from hinge.dynamics.registry import default
from hinge.graph.order import STRUCTURE

Names = tuple[Sequence[str], Sequence[str]]
ALIVE: list[Function] = []  # CasADi's expressions do not keep alive what they call


@dataclass(frozen=True)
class Matrix:
    """What CasADi gives or takes: an array for each of the leading axes that it has, side by side.

    Of an array of several axes the first counts rows, the others columns. One that is `empty` is only in CasADi's list.
    """

    shape: tuple[int, ...]
    axes: tuple[bool, ...] = ()
    empty: bool = False

    def again(self, has: bool) -> Matrix:
        """The same with one more axis in front, or without it."""
        return replace(self, axes=(has, *self.axes))

    def lengths(self, sizes: Sequence[int]) -> list[int]:
        return [n if has else 1 for n, has in zip(sizes, self.axes, strict=True)]

    @property
    def rows(self) -> int:
        return self.shape[0] if self.shape else 1

    def sparsity(self, sizes: Sequence[int]) -> Any:
        size = self.rows, prod(self.shape[1:]) * prod(self.lengths(sizes))
        return ca.Sparsity(*size) if self.empty else ca.Sparsity.dense(*size)

    def columns(self, buffer: Any, sizes: Sequence[int]) -> Array:
        """The numbers of a matrix, which CasADi has column by column: an array for each of the leading axes."""
        return np.frombuffer(buffer).reshape(*self.lengths(sizes), prod(self.shape[1:]), self.rows).swapaxes(-1, -2)

    def read(self, buffer: Any, sizes: Sequence[int]) -> Array:
        return self.columns(buffer, sizes).reshape((*self.lengths(sizes), *self.shape))

    def write(self, made: Array, buffer: Any, sizes: Sequence[int]) -> None:
        """Results, summed over the axes that the matrix does not have."""
        lacking = tuple(k for k, has in enumerate(self.axes) if not has)
        there = self.columns(buffer, sizes)
        there[...] = made.sum(axis=lacking).reshape(there.shape)

    @property
    def order(self) -> list[int]:
        """Where the entries of CasADi's matrix stand in the array."""
        return np.arange(prod(self.shape)).reshape(self.rows, -1).T.reshape(-1).tolist()


class Function(ca.Callback):
    """A call as a function of CasADi."""

    def __init__(self, name: str, call: Call, sizes: tuple[int, ...], takes: Sequence[Matrix], gives: Sequence[Matrix],
                 names: Names):  # fmt: skip
        super().__init__()
        self.call_of, self.sizes, self.takes, self.gives, self.names = call, sizes, takes, gives, names
        self.used = [k for k, one in enumerate(takes) if not one.empty]
        self.made = [k for k, one in enumerate(gives) if not one.empty]
        self.slopes: dict[str, Function] = {}
        self.construct(name, {})

    @classmethod
    def of(cls, call: Call, sizes: tuple[int, ...] = ()) -> Function:
        """A call for one state, or for as many as these axes have; made once."""
        return call.target.memo(cls._made, call, sizes)

    @classmethod
    def _made(cls, call: Call, sizes: tuple[int, ...]) -> Function:
        takes, gives = (
            [Matrix(shape, (True,) * len(sizes)) for shape in shapes] for shapes in (call.plan.shapes, call.results)
        )
        name = "_".join([*(f"map{n}" for n in sizes), call.name])
        ALIVE.append(cls(name, call, sizes, takes, gives, _names(call)))
        return ALIVE[-1]

    def map(self, n: Any, *how: Any) -> Any:
        """The function of n states, side by side: one call of a kernel, which has threads of its own."""
        if isinstance(n, int) and n > 0 and all(isinstance(one, str | int) for one in how):
            return Function.of(self.call_of, (n, *self.sizes))
        return super().map(n, *how)

    def expand(self, *how: Any) -> Any:
        """The function as expressions of CasADi, SX, of which CasADi makes C code; by a name and options, if given."""
        call, program = self.call_of, self.call_of.kernel.program
        shapes = [Matrix(shape) for shape in call.plan.shapes]
        given = [ca.SX.sym(one.name, m.sparsity(())) for one, m in zip(program.inputs, shapes, strict=True)]
        rows = [[x[k] for k in np.argsort(m.order)] for x, m in zip(given, shapes, strict=True)]
        results = zip(map(Matrix, call.results), expressions(call.name, program, rows), strict=True)
        made = [ca.reshape(ca.vertcat(*(x[k] for k in m.order)), *m.sparsity(()).size()) for m, x in results]
        name, *options = how or (call.name,)
        whole = ca.Function(name, given, made, *self.names, *options)
        return whole.map(prod(self.sizes)) if self.sizes else whole

    def get_n_in(self) -> int:
        return len(self.takes)

    def get_n_out(self) -> int:
        return len(self.gives)

    def get_name_in(self, k: int) -> str:
        return self.names[0][k]

    def get_name_out(self, k: int) -> str:
        return self.names[1][k]

    def get_sparsity_in(self, k: int) -> Any:
        return self.takes[k].sparsity(self.sizes)

    def get_sparsity_out(self, k: int) -> Any:
        return self.gives[k].sparsity(self.sizes)

    def has_eval_buffer(self) -> bool:
        return True

    def eval_buffer(self, given: Sequence[Any], results: Sequence[Any]) -> int:
        made = self.call_of.run([self.takes[k].read(given[k], self.sizes) for k in self.used])
        for k, one in zip(self.made, made, strict=True):
            if results[k] is not None:
                self.gives[k].write(one, results[k], self.sizes)
        return 0

    # derivatives

    def has_forward(self, n: int) -> bool:
        return True

    def get_forward(self, n: int, name: str, takes: Sequence[str], gives: Sequence[str], how: Any) -> Function:
        along = self.call_of.jvp(range(len(self.used)))
        return self._sloped(n, name, (takes, gives), along, self.takes, self.gives)

    def has_reverse(self, n: int) -> bool:
        return True

    def get_reverse(self, n: int, name: str, takes: Sequence[str], gives: Sequence[str], how: Any) -> Function:
        pulled = self.call_of.vjp(range(len(self.used)))
        return self._sloped(n, name, (takes, gives), pulled, self.gives, self.takes)

    def _sloped(self, n: int, name: str, names: Names, call: Call, seeds: Sequence[Matrix],
                results: Sequence[Matrix]) -> Function:  # fmt: skip
        """A derivative for n seeds at once; CasADi hands it the function's results too, which it does not read."""
        if name not in self.slopes:
            takes = [one.again(False) for one in self.takes]
            takes += [replace(one.again(False), empty=True) for one in self.gives]
            takes += [one.again(True) for one in seeds]
            gives = [one.again(True) for one in results]
            self.slopes[name] = Function(name, call, (n, *self.sizes), takes, gives, names)
        return self.slopes[name]

    def has_jac_sparsity(self, result: int, by: int) -> bool:
        return True

    def get_jac_sparsity(self, result: int, by: int, symmetric: bool) -> Any:
        """Where derivatives may not be zero: what does not depend on a number, or is of another state, is left out."""
        give, take = self.gives[result], self.takes[by]
        if give.empty or take.empty:
            return ca.Sparsity(give.sparsity(self.sizes).numel(), take.sparsity(self.sizes).numel())
        masks, start = self.depends[self.made.index(result)], self.starts[self.used.index(by)]
        there = [
            (i, j)
            for i, row in enumerate(give.order)
            for j, column in enumerate(take.order)
            if masks[row] >> start + column & 1
        ]
        made = ca.Sparsity.triplet(len(give.order), len(take.order), [i for i, _ in there], [j for _, j in there])
        for n, gives, takes in reversed(list(zip(self.sizes, give.axes, take.axes, strict=True))):
            both = ca.Sparsity.diag(n) if gives and takes else ca.Sparsity.dense(n if gives else 1, n if takes else 1)
            made = ca.kron(both, made)
        return made

    @cached_property
    def starts(self) -> list[int]:
        """Where the numbers of each input of the kernel begin, counted through all of them; and how many there are."""
        return [0, *accumulate(prod(shape) for shape in self.call_of.plan.shapes)]

    @cached_property
    def depends(self) -> list[list[int]]:
        """For each entry of each result the numbers it depends on, a bit each; all where a program has loops."""
        program, starts = self.call_of.kernel.program, self.starts
        if any(op in STRUCTURE for op, _ in program.code):
            return [[(1 << starts[-1]) - 1] * prod(output.shape) for output in program.outputs]
        values: list[int] = []
        for op, args in program.code:
            if op == "input":
                values.append(1 << starts[args[0]] + args[1])
            else:
                values.append(reduce(or_, (values[a] for a in args if type(a) is int), 0))
        return [[values[e] if type(e) is int else 0 for e in output.entries] for output in program.outputs]


def _names(call: Call) -> Names:
    """The names of what a call takes and gives, each of them once."""
    made = [one.name for one in default(call.name).results(call.target.model)]
    return call.inputs, [f"{name}_out" if name in call.inputs else name for name in made]
