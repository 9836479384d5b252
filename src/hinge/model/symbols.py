"""Numbers of a model that are symbols: a robot built from SymPy's symbols has nodes in the places of its numbers.

    l, m = sympy.symbols("l m")
    hinge.dh([{"a": l, "mass": m, "com": (-l / 2, 0, 0)}])

A symbol is an input of the graph NAMED; what is made of symbols is a node there, simplified like any other. One with
assumptions has a `Name` there that knows it, and comes out again as it was. When an algorithm is traced the nodes are
made again in its graph, from inputs of its program: the symbols are parameters of the robot, and no algorithm knows of
them. SymPy is only read here, never imported.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import fields, is_dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from hinge.errors import ModelError
from hinge.graph.expr import NAMED, Expr, Scalar
from hinge.graph.functions import cos, sin
from hinge.graph.ops import OPS
from hinge.graph.order import live
from hinge.graph.scalars import evaluate, power

if TYPE_CHECKING:
    from hinge.model.model import Model

PLACES = ("gravity", "joint", "placement", "inertia", "data", "frames", "links")  # fields of a model with numbers
READ: dict[str, Callable[..., Scalar]] = {row.sympy: row for row in OPS.values() if isinstance(row.sympy, str)}
READ |= {"tan": lambda x: sin(x) / cos(x), "Pow": power}


def is_symbolic(given: Any) -> bool:
    """Whether a scalar or anything in an array is made of symbols."""
    if isinstance(given, Expr) or getattr(given, "free_symbols", None):
        return True
    if isinstance(given, np.ndarray) and given.dtype != object:
        return False
    return isinstance(given, list | tuple | np.ndarray) and any(is_symbolic(x) for x in given)


class Name(str):
    """The name of one of SymPy's objects that is more than a plain symbol, and the object: equal where that is."""

    __slots__ = ("symbol",)
    symbol: Any

    def __new__(cls, symbol: Any) -> Name:
        made = super().__new__(cls, symbol)
        made.symbol = symbol
        return made

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Name) and bool(self.symbol == other.symbol)

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash(self.symbol)

    def __reduce__(self) -> tuple[Any, ...]:
        return Name, (self.symbol,)


def named(name: str) -> Scalar:
    """The symbol of that name."""
    return NAMED.input(name, 0)


def symbol(given: Any) -> Scalar:
    """A symbol of SymPy, or what else stands for a number there, as a node."""
    plain = given.is_Symbol and type(given)(given.name) == given
    return named(given.name if plain else Name(given))


def scalar(given: Any, known: Mapping[Any, Scalar] | None = None) -> Scalar:
    """A number or an expression of SymPy as a float or a node; a TypeError where it is neither.

    What is `known` stands for a node, whatever it is to SymPy.
    """
    if type(given) is Expr:
        return given
    if known and given in known:
        return known[given]
    if not getattr(given, "free_symbols", None) and not (known and given.has(*known)):
        return float(given)
    if given.is_Symbol:
        return symbol(given)
    kind = given.func.__name__
    args = [scalar(a, known) for a in given.args]
    if kind in ("Add", "Mul"):
        total = args[0]
        for x in args[1:]:
            total = total + x if kind == "Add" else total * x
        return total
    if kind not in READ:
        raise TypeError(f"{kind} is not among the functions that can be read")
    return READ[kind](*args)


def scalars(given: Any, shape: tuple[int, ...]) -> tuple[Scalar, ...]:
    """The entries of an array of that shape, row by row, each a float or a node."""
    entries = np.empty(shape, object)
    entries[...] = np.asarray(given, object)  # a number, or a row, for all where less is given
    return tuple(scalar(x) for x in entries.reshape(-1))


def with_numbers(thing: Any, change: Callable[[Expr], Scalar]) -> Any:
    """The same thing with every node in it changed; the very same where there is none."""
    if type(thing) is Expr:
        return change(thing)
    if isinstance(thing, tuple):
        parts = [with_numbers(x, change) for x in thing]
        if all(a is b for a, b in zip(parts, thing, strict=True)):
            return thing
        return type(thing)(*parts) if hasattr(thing, "_fields") else type(thing)(parts)
    if isinstance(thing, Mapping):
        return {key: with_numbers(x, change) for key, x in thing.items()}
    if is_dataclass(thing) and not isinstance(thing, type):
        old = {f.name: getattr(thing, f.name) for f in fields(thing)}
        new = {
            name: with_numbers(x, change) for name, x in old.items() if isinstance(x, tuple | Expr) or is_dataclass(x)
        }
        changed = {name: x for name, x in new.items() if x is not old[name]}
        return replace(thing, **changed) if changed else thing
    slots = getattr(type(thing), "__slots__", ())
    parts = [with_numbers(getattr(thing, name), change) for name in slots]
    if all(getattr(thing, name) is part for name, part in zip(slots, parts, strict=True)):
        return thing
    made = copy(thing)
    for name, part in zip(slots, parts, strict=True):
        setattr(made, name, part)
    return made


def symbols(thing: Any, where: str = "") -> dict[str, Expr]:
    """The symbols in any part of a model: name → node, in alphabetical order."""
    found: dict[Expr, None] = {}
    if not len(NAMED):
        return {}

    def see(node: Expr) -> Expr:
        found.setdefault(node)
        return node

    with_numbers(thing, see)
    made: dict[str, Expr] = {}
    for node in sorted((node for node in live(found) if node.op == "input"), key=lambda node: str(node.args[0])):
        if made.setdefault(str(node.args[0]), node) is not node:
            raise ModelError("symbol", f"{where}two symbols are called {str(node.args[0])!r}, with unlike assumptions.",
                             "Give one of them another name, or both the same assumptions.")  # fmt: skip
    return made


def symbols_of(model: Model) -> dict[str, Expr]:
    """The symbols of a whole model: name → node, which knows which of SymPy's symbols it came from."""
    return symbols(tuple(getattr(model, name) for name in PLACES), f"robot {model.name!r}: ")


def with_values(model: Model, values: Mapping[str, Scalar]) -> Model:
    """The model with a number, or a node of another graph, for each of these symbols."""
    known = {node: values[name] for name, node in symbols_of(model).items() if name in values}
    return replace(model, **{name: with_numbers(getattr(model, name), lambda x: evaluate(x, known)) for name in PLACES})


def unknown(values: Sequence[Scalar]) -> bool:
    """Whether some of these are nodes, so that nothing can be said of their size."""
    return any(type(x) is Expr for x in values)
