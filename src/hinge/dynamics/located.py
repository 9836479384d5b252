"""Algorithms about frames that are known before they are traced.

A known frame is no input, and of known frames that carry forces each has a row. Such a program has in it what lies
between the base and those frames, and nothing of the other branches.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import wraps
from typing import Any

from hinge.dynamics.kinematics import from_body
from hinge.dynamics.place import At, Place
from hinge.dynamics.registry import EXTERNAL, PLACE, POSITION, Algorithm, Quantity
from hinge.model import Model
from hinge.spatial import Force


def located(algorithm: Algorithm, places: Mapping[str, At]) -> Algorithm:
    """The algorithm with known frames for those of its inputs that are about frames."""
    if not places:
        return algorithm
    known = {name: _LOCATED[algorithm.inputs[name]](at) for name, at in places.items()}
    loaded = {name: at for name, at in places.items() if algorithm.inputs[name] is EXTERNAL}
    (position, *_) = [name for name, quantity in algorithm.inputs.items() if quantity is POSITION]

    @wraps(algorithm.function)
    def function(model: Model, **given: Any) -> Any:
        for name, at in loaded.items():
            given[name] = on_bodies(model, given[position], at, given[name])
        return algorithm.function(model, **given)

    return replace(algorithm, inputs={**algorithm.inputs, **known}, function=function)


def _frame(at: At) -> Quantity:
    """A frame that is known."""
    (name,) = at.names
    return replace(PLACE, absent=lambda model: Place.named(model, name))


def _forces(at: At) -> Quantity:
    """A force at each of the frames."""
    return replace(EXTERNAL, what="forces at the frames", shape=lambda model: (len(at.names), 6))


_LOCATED = {PLACE: _frame, EXTERNAL: _forces}


def on_bodies(model: Model, q: Any, at: At, forces: list[Force]) -> list[Force]:
    """Forces at frames as a force on each body, in its own coordinates."""
    total = [Force()] * len(model.parent)
    for name, force in zip(at.names, forces, strict=True):
        body = model.frame(name).body
        total[body] = total[body] + from_body(model, q, Place.named(model, name), at.frame).T @ force
    return total
