"""Calls with SymPy expressions: one state in, expressions out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from hinge import dynamics
from hinge.backends.sympy_input import Reading
from hinge.calls import inputs
from hinge.dynamics.place import Place
from hinge.dynamics.registry import PLACE, POSITION, Algorithm, required_inputs
from hinge.errors import NotCovered
from hinge.graph import Expr, Scalar
from hinge.graph.expr import NAMED
from hinge.graph.scalars import evaluated
from hinge.model import Model, unmoved
from hinge.model.driven import sizes


def call_with_sympy(model: Model, name: str, given: Sequence[Any], frames: Sequence[str], words: Mapping[str, Any],
                    numbers: Mapping[str, Any]) -> Any:  # fmt: skip
    """Evaluate an algorithm on SymPy expressions, in the frames the robot was given in.

    `words` are the method, the joint terms and the options; `numbers` what such a call does not take.
    """
    for one, value in numbers.items():
        if value is not None:
            raise NotCovered(f"{name}: {one}= is for numbers, and the state is given in symbols. Leave it out.")
    if any(sizes(model)):
        raise NotCovered(
            f"{name}: robot {model.name!r} has driven joints, whose motion is given in numbers.\n"
            "  Ask for robot.equations(…), which has symbols for it."
        )
    algorithm = dynamics.choose(model, name, words["method"], paper=True)
    shown = replace(unmoved(model), terms=frozenset(inputs.joint_terms(words["joint_terms"])))
    arrays, names = iter(given), iter(frames)
    said = {one: next(names if quantity is PLACE else arrays) for one, quantity in required_inputs(name).items()}
    inputs.check_options(algorithm, words["options"])
    return evaluate_with_sympy(algorithm, shown, said, words["options"])


def evaluate_with_sympy(
    algorithm: Algorithm, model: Model, given: Mapping[str, Any], options: Mapping[str, str]
) -> Any:
    """Return the results of an algorithm as SymPy expressions. A frame is given by its name.

    The algorithm runs on symbols of its own first, so that it may differentiate by its inputs.
    """
    reading = Reading()
    seen: dict[str, Any] = {}
    known: dict[Expr, Scalar] = {}
    for name, quantity in algorithm.inputs.items():
        if name not in given:
            seen[name] = quantity.absent(model) if quantity.absent else None
        elif quantity is PLACE:
            seen[name] = Place.named(model, given[name])
        else:
            shape = quantity.shape(model)
            read = reading.array(f"{algorithm.name}: {name}", given[name], shape, name, quantity is POSITION)
            own = [NAMED.input(name, k + 1) for k in range(len(read))]  # a symbol of SymPy has the index 0
            known |= dict(zip(own, read, strict=True))
            seen[name] = quantity.take(model, list(own))
    made = algorithm.function(model, **seen, **options)
    made = made[0] if algorithm.pivots else made
    results = []
    for quantity, one in zip(algorithm.returns.values(), made if len(algorithm.returns) > 1 else (made,), strict=True):
        shape = quantity.shape(model)
        flat = list(quantity.give(model, one)) if shape else [one]
        results.append(reading.written(evaluated(flat, known), shape))
    return tuple(results) if len(results) > 1 else results[0]
