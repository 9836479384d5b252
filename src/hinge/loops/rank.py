"""The number of independent loop constraints at a state, by the rule of the dynamics."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from hinge.arguments import Array
from hinge.calls.call import Call
from hinge.calls.target import Target
from hinge.constraints.multipliers import independent_rows
from hinge.dynamics.registry import POSITION, SCALAR, VELOCITY, Algorithm, unregistered
from hinge.loops.kinematics import closing
from hinge.model import Model


def loop_rank(target: Target, q: Array, free: Array, further: Sequence[Array] | None = None) -> Array:
    """Return how many loop constraints count at q (…, nq), where the velocities in the mask `free` (nv) may change.

    `further` are the arrays of varied numbers and prescribed motion, by default the nominal numbers.
    """
    more = target.parameter_rows("loop_rank", None, None) if further is None else further
    kernel = Call.outside_registry(target, (_algorithm,)).kernel
    return np.asarray(kernel(q, free.astype(float), *more), float)


def _algorithm() -> Algorithm:
    def rank(model: Model, q: Any, free: Any) -> Any:
        loops = closing(model, q)
        return independent_rows(loops.A, loops.state, model.flat(free))

    return unregistered("loop_rank", rank, {"q": POSITION, "free": VELOCITY}, {"rank": SCALAR})
