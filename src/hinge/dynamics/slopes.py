"""Derivatives of an algorithm that was run on symbols, as the outputs of another program.

    Slope("columns", ("q", "qd"))     every output by every velocity of q and every number of qd, side by side
    Slope("along", ("q",))            how the outputs change along tangents, which are further inputs
    Slope("pulled", ("q",))           what weights of the outputs, further inputs, become as weights of the inputs

Positions change along `integrate`: they have a column for each velocity, and an output that is a position has a row for
each. A slope takes what another has made, so that a second derivative is a slope of a slope.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod

from hinge.errors import NotCovered
from hinge.graph import Expr, Graph, Scalar, columns, inner, pulled, units
from hinge.model import Model


@dataclass(frozen=True)
class Variable:
    """Inputs or outputs of a program; where it is a `position` its rates are those of velocities."""

    name: str
    shape: tuple[int, ...]
    position: bool = False
    entries: Sequence[Scalar] = ()

    def tangent(self, model: Model) -> tuple[int, ...]:
        """The shape of its rates."""
        return (model.nv,) if self.position else self.shape


@dataclass(frozen=True)
class Slope:
    """A derivative that is asked for: its kind, and the names of what it is taken by."""

    kind: str
    by: tuple[str, ...]

    def widths(self, model: Model, taken: Mapping[str, Variable]) -> list[int]:
        """How many columns each has that it is taken by."""
        return [prod(taken[name].tangent(model)) for name in self.by]

    def takes(self, model: Model, taken: Mapping[str, Variable], made: Sequence[Variable]) -> list[Variable]:
        """The inputs that come to those there are, still without entries: tangents, or weights."""
        if self.kind == "along":
            return [Variable(_new(f"along {name}", taken), taken[name].tangent(model)) for name in self.by]
        if self.kind == "pulled":
            return [Variable(_new(f"weight of {one.name}", taken), one.tangent(model)) for one in made]
        return []

    def makes(self, model: Model, taken: Mapping[str, Variable], made: Sequence[Variable]) -> list[Variable]:
        """What it makes of outputs, still without entries."""
        if self.kind == "pulled":
            return [Variable(name, taken[name].tangent(model)) for name in self.by]
        more = (sum(self.widths(model, taken)),) if self.kind == "columns" else ()
        return [Variable(one.name, (*one.tangent(model), *more)) for one in made]

    def of(
        self, graph: Graph, model: Model, taken: Mapping[str, Variable], made: Sequence[Variable]
    ) -> tuple[list[Variable], list[Variable]]:
        """The inputs that come to those there are, and the derivatives of outputs by inputs."""
        more = [
            replace(one, entries=[graph.input(one.name, k) for k in range(prod(one.shape))])
            for one in self.takes(model, taken, made)
        ]
        by = [taken[name] for name in self.by]
        if self.kind == "pulled":
            found = pulled_back(model, by, made, [one.entries for one in more])
        elif self.kind == "along":
            rates = [_rates(model, one, tangent.entries) for one, tangent in zip(by, more, strict=True)]
            (found,) = _changes(model, made, [{x: r for part in rates for x, r in part.items()}])
        else:
            directions = [_rates(model, one, unit) for one in by for unit in units(prod(one.tangent(model)))]
            changes = _changes(model, made, directions)
            found = [[x for row in zip(*parts, strict=True) for x in row] for parts in zip(*changes, strict=True)]
        shells = self.makes(model, taken, made)
        return more, [replace(shell, entries=entries) for shell, entries in zip(shells, found, strict=True)]


def _new(name: str, taken: Mapping[str, Variable]) -> str:
    """The name, with primes where there is such a one already."""
    return _new(f"{name}'", taken) if name in taken else name


def _rates(model: Model, one: Variable, tangent: Sequence[Scalar]) -> dict[Expr, Scalar]:
    """The rates of the entries of an input along a tangent."""
    if one.position:
        tangent = [
            x for i, (at, moving) in _joints(model) for x in model.joint[i].rate(one.entries[at], tangent[moving])
        ]
    return {
        x: r for x, r in zip(one.entries, tangent, strict=True) if type(x) is Expr and (type(r) is Expr or r != 0.0)
    }


def _changes(
    model: Model, made: Sequence[Variable], directions: Sequence[dict[Expr, Scalar]]
) -> list[list[list[Scalar]]]:
    """The rates of outputs along each direction, as velocities where one is a position."""
    found = []
    for rates in columns([x for one in made for x in one.entries], directions):
        left, changes = iter(rates), []
        for one in made:
            own = [next(left) for _ in one.entries]
            if one.position:
                own = [x for i, (at, _) in _joints(model) for x in _velocities(model, i, one.entries[at], own[at])]
            changes.append(own)
        found.append(changes)
    return found


def pulled_back(
    model: Model, by: Sequence[Variable], made: Sequence[Variable], weights: Sequence[Sequence[Scalar]]
) -> list[list[Scalar]]:
    """What weights of the outputs become as weights of the inputs."""
    flat: list[Scalar] = []
    for one, weight in zip(made, weights, strict=True):
        flat += weights_of_coordinates(model, one.entries, weight) if one.position else weight
    nodes: list[Expr] = [x for one in by for x in one.entries]
    left, found = iter(pulled([x for one in made for x in one.entries], flat, nodes)), []
    for one in by:
        own = [next(left) for _ in one.entries]
        found.append(weights_of_velocities(model, one.entries, own) if one.position else own)
    return found


def weights_of_coordinates(model: Model, q: Sequence[Scalar], weights: Sequence[Scalar]) -> list[Scalar]:
    """Weights of the velocities that a position q changes by, as weights of its coordinates."""
    return [
        inner(weights[moving], _velocities(model, i, q[at], unit))
        for i, (at, moving) in _joints(model)
        for unit in units(model.joint[i].nq)
    ]


def weights_of_velocities(model: Model, q: Sequence[Scalar], weights: Sequence[Scalar]) -> list[Scalar]:
    """Weights of the coordinates of a position q, as weights of the velocities that it changes by."""
    return [
        inner(weights[at], model.joint[i].rate(q[at], unit))
        for i, (at, _) in _joints(model)
        for unit in units(model.joint[i].nv)
    ]


def _joints(model: Model) -> list[tuple[int, tuple[slice, slice]]]:
    """The joints with coordinates of their own, and where these and their velocities stand."""
    return [(i, model.slices[i]) for i in model.leaders]


def _velocities(model: Model, i: int, q: Sequence[Scalar], rates: Sequence[Scalar]) -> list[Scalar]:
    joint = model.joint[i]
    if not joint.holonomic:
        raise NotCovered(
            f"positions of joint {model.joint_name[i]!r} do not change by its velocities alone, so an output that is a "
            "position has no derivative along them.\n  Take derivatives of other outputs."
        )
    return joint.velocities(q, rates)
