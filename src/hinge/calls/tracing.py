"""Operations on the programs and algorithms that serve a call."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import prod
from typing import Any

from hinge.dynamics.registry import POSITION, Algorithm
from hinge.dynamics.slopes import Variable
from hinge.graph import Output, Program, Scalar
from hinge.model import Model


def without_structural_zeros(program: Program) -> Program:
    """Return a program without the entries of its results that are zero in every state; a status stays as it is."""
    outputs = [
        one if one.whole else replace(one, shape=(len(kept),), entries=kept)
        for one in program.outputs
        for kept in [tuple(one.entries[k] for k in nonzero_entries(one))]
    ]
    return replace(program, outputs=tuple(outputs))


def nonzero_entries(output: Output) -> list[int]:
    """Return the indices of the entries that are not zero in every state."""
    return [k for k, e in enumerate(output.entries) if type(e) is not float or e != 0.0]


def select_columns(recursion: Algorithm, by: Sequence[str], algorithm: Algorithm) -> Algorithm:
    """Return a recursion for the derivatives of an algorithm that gives the columns of some of its inputs."""
    inputs = {name: q for name, q in recursion.inputs.items() if q.absent is None}
    (result,) = algorithm.returns
    (whole,) = recursion.returns.values()

    def columns(model: Model) -> list[int]:
        starts, start = {}, 0
        for name, q in inputs.items():
            width = prod(Variable(name, q.shape(model), q is POSITION).tangent(model))
            starts[name] = range(start, start + width)
            start += width
        return [k for name in by for k in starts[name]]

    def give(model: Model, made: Any) -> list[Scalar]:
        rows, width = list(whole.give(model, made)), whole.shape(model)[-1]
        return [rows[k + j] for k in range(0, len(rows), width) for j in columns(model)]

    selected = replace(whole, shape=lambda model: (*whole.shape(model)[:-1], len(columns(model))), give=give)
    return replace(recursion, returns={result: selected}, by=tuple(by))
