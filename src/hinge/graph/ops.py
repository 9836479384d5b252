"""The table of scalar operations: what each one means, how it differentiates, what it counts as, how it prints.

A row is an operation, and nothing else in hinge needs a line for it. The *primitives* are here: each back end has a
word for them by their names. The *functions*, in functions.py and random.py, have a body, written once in those words.
What they mean is what they do on NumPy's numbers, and every back end gives the same bits.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from hinge.graph.expr import Expr, Scalar
from hinge.graph.machine import Machine
from hinge.graph.numbers import Numbers

Function = Callable[..., Scalar]
Partials = Callable[..., tuple[Scalar, ...]]


@dataclass(frozen=True)
class Op:
    """One row. `partials(node, *args)` gives the derivative with respect to each argument."""

    name: str
    arity: int
    partials: Partials
    counts_as: str
    text: str
    sympy: str | Callable[..., Any]  # SymPy's name for it, or how it is made there
    numpy: tuple[str, ...] = ()  # the universal functions of NumPy that it serves
    scalar: Function | None = None  # how it is written over scalars, where nodes simplify
    body: Callable[..., Any] | None = None  # of a function, on any machine
    part: int | None = None  # which of several results of the body it is
    truth: bool = False  # whether it holds or does not
    kink: Callable[..., Scalar] | None = None  # of the arguments: zero where it has no derivative
    early: bool = False  # whether it comes first in a program, because many of it can be done side by side

    def on(self, m: Machine, *args: Any) -> Any:
        """The operation on a machine."""
        if self.body is None:
            return getattr(m, self.name)(*args)
        made = m.once(self.body, *args)
        return made if self.part is None else made[self.part]

    def meaning(self, *args: Any) -> Any:
        """The operation on numbers and arrays of them: in single precision where all arrays are."""
        m = Numbers.of(*args)
        with np.errstate(all="ignore"):
            made = self.on(m, *(np.asarray(x, m.dtype)[()] for x in args))
            return m.number(made)[()] if self.truth else made

    def __call__(self, *args: Scalar) -> Scalar:
        """The operation on scalars of any kind; nodes and symbols simplify."""
        if self.scalar and any(type(x) is Expr or hasattr(type(x), "free_symbols") for x in args):
            return self.scalar(*args)
        return call(self.name, *args)


OPS: dict[str, Op] = {}


def call(name: str, *args: Scalar) -> Scalar:
    """An operation as it is: a float gives a float, an array an array, a node a node, a symbol a symbol."""
    for x in args:
        if hasattr(type(x), "applied"):  # a kind of number that brings its own arithmetic
            return x.applied(name, *args)
    for x in args:
        if type(x) is Expr:
            return x.graph.node(name, *(a if type(a) is Expr else float(a) for a in args))
    row = OPS[name]
    if any(hasattr(type(x), "free_symbols") for x in args):
        return _on_symbols(row, *args)
    value = row.meaning(*args)
    return value if np.ndim(value) or not hasattr(value, "item") else value.item()


def _on_symbols(row: Op, *args: Any) -> Any:
    import sympy

    if not isinstance(row.sympy, str):
        return row.sympy(*args)
    return (getattr(sympy, row.sympy, None) or sympy.Function(row.sympy))(*args)


def _choice(condition: Any, a: Any, b: Any) -> Any:
    """Symbols that depend on a condition, as they are: SymPy's own way of making one tries to solve the condition."""
    import sympy
    from sympy.functions.elementary.piecewise import ExprCondPair

    condition = sympy.sympify(condition)
    truth = condition if condition.is_Relational or condition.is_Boolean else sympy.Ne(condition, 0)
    pairs = ((sympy.sympify(a), truth), (sympy.sympify(b), sympy.true))
    return sympy.Basic.__new__(sympy.Piecewise, *(sympy.Tuple.__new__(ExprCondPair, *pair) for pair in pairs))


def select(condition: Scalar, a: Scalar, b: Scalar) -> Scalar:
    """`a` where the condition holds, else `b`. Both are computed."""
    if type(condition) in (bool, float):
        return a if condition else b
    if type(a) is Expr and a is b:
        return a
    for x in (a, b):
        if hasattr(type(x), "applied"):
            return x.applied("select", condition, a, b)
    return call("select", condition, a, b)


def function(name: str, arity: int, words: str, partials: Partials, counts_as: str = "trig", text: str = "",
             sympy: str = "", numpy: tuple[str, ...] | None = None, **more: Any) -> Function:  # fmt: skip
    """Put a row into the table, printed and called as its name says; gives the function of scalars it stands for."""
    text = text or f"{name}({', '.join(['{}'] * arity)})"
    _put(Op(name, arity, partials, counts_as, text, sympy or name, (name,) if numpy is None else numpy, **more))

    def of(*args: Scalar) -> Scalar:
        if len(args) != arity:
            raise TypeError(f"{name} takes {arity} arguments, not {len(args)}")
        return call(name, *args)

    of.__name__ = of.__qualname__ = name
    of.__doc__ = words
    return of


def _put(*rows: Op) -> None:
    OPS.update({row.name: row for row in rows})


def _turn(condition: Scalar, a: Scalar, b: Scalar) -> Scalar:
    """Zero where a condition is about to change."""
    return condition.args[0] - condition.args[1] if type(condition) is Expr and condition.op == "less" else 1.0


def _where(a: Scalar, b: Scalar, yes: float, no: float) -> Scalar:
    """One number where a < b, else another."""
    return select(less(a, b), yes, no)


_put(
    Op("add", 2, lambda n, a, b: (1.0, 1.0), "add", "{} + {}", "Add", ("add",), operator.add),
    Op("sub", 2, lambda n, a, b: (1.0, -1.0), "add", "{} - {}", operator.sub, ("subtract",), operator.sub),
    Op("mul", 2, lambda n, a, b: (b, a), "mul", "{} * {}", "Mul", ("multiply",), operator.mul),
    Op("div", 2, lambda n, a, b: (1.0 / b, -n / b), "div", "{} / {}", operator.truediv, ("divide",), operator.truediv),
    Op("neg", 1, lambda n, a: (-1.0,), "neg", "-{}", operator.neg, ("negative",), operator.neg),
)
sqrt = function("sqrt", 1, "Square root; NaN below zero.", lambda n, a: (0.5 / n,), "sqrt", kink=lambda a: a)
minimum = function(
    "min", 2, "The smaller of two; NaN if either is.",
    lambda n, a, b: (_where(a, b, 1.0, 0.0), _where(a, b, 0.0, 1.0)), "other", sympy="Min", numpy=("minimum", "fmin"),
    kink=lambda a, b: a - b,
)  # fmt: skip
maximum = function(
    "max", 2, "The larger of two; NaN if either is.",
    lambda n, a, b: (_where(b, a, 1.0, 0.0), _where(b, a, 0.0, 1.0)), "other", sympy="Max", numpy=("maximum", "fmax"),
    kink=lambda a, b: a - b,
)  # fmt: skip
less = function(
    "less", 2, "One where a < b, else zero, also where either is NaN.",
    lambda n, a, b: (0.0, 0.0), "other", "{} < {}", sympy="StrictLessThan", truth=True,
)  # fmt: skip
absolute = function(
    "abs", 1, "The size of a number, without its sign.",
    lambda n, a: (_where(a, 0.0, -1.0, 1.0),), "other", sympy="Abs", numpy=("absolute", "fabs"),
    kink=lambda a: a,
)  # fmt: skip
floor = function("floor", 1, "The largest whole number that is not larger.", lambda n, a: (0.0,), "other")
_put(
    Op("select", 3, lambda n, c, a, b: (0.0, select(c, 1.0, 0.0), select(c, 0.0, 1.0)), "other", "{} ? {} : {}",
       _choice, (), select, kink=_turn),
    # made only when a graph is put in order: a sum and its single-use product become one instruction
    Op("fma", 3, lambda n, a, b, c: (b, a, 1.0), "fma", "{} * {} + {}", lambda a, b, c: a * b + c, (),
       lambda a, b, c: a * b + c),
    Op("fms", 3, lambda n, a, b, c: (b, a, -1.0), "fma", "{} * {} - {}", lambda a, b, c: a * b - c, (),
       lambda a, b, c: a * b - c),
    Op("fnma", 3, lambda n, a, b, c: (-b, -a, 1.0), "fma", "{2} - {0} * {1}", lambda a, b, c: c - a * b, (),
       lambda a, b, c: c - a * b),
)  # fmt: skip
