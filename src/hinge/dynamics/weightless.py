"""Robots whose mass matrix is singular in every state: no method finds accelerations from forces there.

Two joints on one axis with nothing between them move against each other without inertia. Rounding hides that from most
methods: a pivot of 1e-17 is positive. So the mass matrix is looked at in numbers when an algorithm is traced, once for
all methods. A robot that is singular in some states only has pivots that tell.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache

import numpy as np

from hinge.dynamics.composite import composite
from hinge.dynamics.registry import DEMANDS
from hinge.dynamics.solve import LDL, ROUNDING, refuse_idle
from hinge.graph import Expr, Scalar, evaluate, live
from hinge.model import Model
from hinge.model.driven import put, sizes
from hinge.model.states import random_state
from hinge.model.symbols import PLACES, with_numbers

STATES = 2  # at random: a robot that is singular in all of them is singular
LARGEST = 100  # velocities: a larger robot is not looked at, its mass matrix takes too long without a compiler
SOLVED = (
    "forward_dynamics", "forward_dynamics_derivatives", "inverse_mass_matrix", "impulse_response", "connection",
    "articulated_inertia", "articulated_bias", "bias_acceleration", "inverse_inertia", "cross_inertia",
)  # fmt: skip


def idle(model: Model) -> int | None:
    """A velocity that moves nothing that has inertia once those after it are free, in every state; None if none is."""
    return None if model.loops or not 0 < model.nv <= LARGEST else _idle(model)


@lru_cache(maxsize=1)  # the stages of a step ask again for the same model
def _idle(model: Model) -> int | None:
    rng = np.random.default_rng(0)
    model, found = _in_numbers(model, rng), None
    free = replace(model, data=tuple(replace(x, lower=_far(x.lower, -1), upper=_far(x.upper, 1)) for x in model.data))
    for q in random_state(free, rng, STATES)[0].tolist():
        pivots = zero_pivots(np.array(composite(model, model.joint_positions(q)), float))
        if not pivots:
            return None
        found = pivots[0]
    return found


def _far(limits: Sequence[Scalar], sign: int) -> tuple[float, ...]:
    return (sign * np.inf,) * len(limits)


def _in_numbers(model: Model, rng: np.random.Generator) -> Model:
    """The model with a number at random for each node in it: for varied numbers and the motion of driven joints."""
    nq, nv = sizes(model)
    model = put(model, rng.uniform(0.5, 1.5, nq + 2 * nv).tolist()) if nv else model
    numbers: dict[Expr, float] = {}

    def number(node: Expr) -> Scalar:
        for x in live([node]):
            if x.op == "input" and x not in numbers:
                numbers[x] = rng.uniform(0.5, 1.5)
        return evaluate(node, numbers)

    places = {name: with_numbers(getattr(model, name), number) for name in (*PLACES, "follows")}
    return replace(model, **{name: x for name, x in places.items() if x is not getattr(model, name)})


def zero_pivots(H: np.ndarray) -> list[int]:
    """Where elimination from the last velocity to the first meets nothing but rounding."""
    found, diagonal = [], np.diag(H).copy()
    for k in range(len(H) - 1, -1, -1):
        if abs(H[k, k]) <= ROUNDING * abs(diagonal[k]):
            found.append(k)
            continue
        H[:k, :k] -= np.outer(H[:k, k], H[k, :k]) / H[k, k]
    return found


def refuse(model: Model) -> None:
    """Raise where a robot has no accelerations in any state, with the name of a joint."""
    k = idle(model)
    if k is not None:
        refuse_idle(model.joint_label()(k))


def margins(rows: Sequence[Sequence[Scalar]]) -> list[Scalar]:
    """What has to be positive for a symmetric matrix to be regular: its pivots less what rounding leaves of them."""
    pivots = LDL(rows, str).pivots
    return [pivot - ROUNDING * row[k] for k, (pivot, row) in enumerate(zip(pivots, rows, strict=True))]


DEMANDS.update(dict.fromkeys(SOLVED, refuse))
