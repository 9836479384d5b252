"""Calls with SymPy's expressions in the place of numbers: symbols become nodes, and results are written out again.

What is a symbol to SymPy is an input of the graph NAMED, which the symbols of a robot are too. So an algorithm runs on
both as it does on numbers, and simplifies as ever. A function of time, q(t), is taken for a symbol; so are its rate,
and π, which stays what it is.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

from hinge.backends import symbolic
from hinge.errors import NotCovered, SizeError
from hinge.graph import Scalar
from hinge.model.symbols import scalar, symbol

Shape = tuple[int, ...]


def is_sympy(given: Any) -> bool:
    """Whether a scalar, or anything in an array, a list or a tuple, is SymPy's."""
    if "sympy" not in sys.modules or isinstance(given, int | float | str):
        return False
    if isinstance(given, np.ndarray):
        return given.dtype == object and any(map(is_sympy, np.asarray(given).ravel().tolist()))
    return hasattr(given, "free_symbols") or (isinstance(given, list | tuple) and any(map(is_sympy, given)))


def refuse_sympy(what: str, *given: Any) -> None:
    """Refuse symbols where an answer takes numbers."""
    if any(map(is_sympy, given)):
        raise NotCovered(
            f"{what} takes numbers, and was given symbols.\n"
            "  Put numbers in their place first, with subs or lambdify of SymPy."
        )


class Reading:
    """What one call was given: the symbols in it, and which array each was in."""

    def __init__(self) -> None:
        self.arrays: dict[str, str] = {}

    def array(self, what: str, given: Any, shape: Shape, name: str = "", angles: bool = False) -> list[Scalar]:
        """The entries of an array of that shape, row by row, as floats and nodes; a column is a vector too.

        Where they may be `angles`, an exact number stays one: its cosine is no fraction.
        """
        entries = np.array(given, dtype=object)
        if entries.shape != shape and not (hasattr(given, "free_symbols") and entries.shape == (*shape, 1)):
            raise SizeError(f"{what} of symbols has shape {entries.shape}; it has to be {shape}, one state.")
        return [self._scalar(what, x, name, angles) for x in entries.reshape(-1)]

    def _scalar(self, what: str, x: Any, array: str, angle: bool) -> Scalar:
        import sympy

        try:
            x = sympy.sympify(x, strict=True)
        except sympy.SympifyError:
            raise SizeError(f"{what}: {x!r} is neither a number nor SymPy's.") from None
        atoms = x.atoms(sympy.Symbol, sympy.core.function.AppliedUndef, sympy.Derivative, sympy.NumberSymbol)
        atoms |= {x} if angle and x.is_Rational and x != 0 else set()
        known = {atom: symbol(atom) for atom in atoms}
        self.arrays |= {node.args[0]: array for node in known.values()}
        symbolic.different(self.arrays, f"{what}: ")
        try:
            return scalar(x, known)
        except (TypeError, ValueError) as problem:
            raise SizeError(f"{what}: {x} cannot be read: {problem}.") from None

    def written(self, entries: Sequence[Scalar], shape: Shape) -> Any:
        """Nodes as SymPy's expression, column, matrix or array, in the symbols that were given."""
        import sympy

        made = symbolic.entries(list(entries), self.arrays)
        if not shape:
            return made[0]
        if len(shape) > 2:
            return sympy.ImmutableDenseNDimArray(made, shape)
        return sympy.Matrix(shape[0], prod(shape[1:]), made)
