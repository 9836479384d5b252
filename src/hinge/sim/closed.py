"""Loops and constraints in a simulation: what keeps them from drifting.

Accelerations keep them, but errors of integration add up. "project" brings velocities, and positions of loops, back
after each step, by the least change in the metric of kinetic energy.
Source: featherstone1987, section 9.4.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from hinge.constraining import Constrained
from hinge.errors import NotCovered, SizeError, UnknownName, did_you_mean

Array = np.ndarray[Any, np.dtype[Any]]
Keeper = Callable[[float, Array, Array], tuple[Array, Array]]
WAYS = ("project", "baumgarte", "independent")


def kept_closed(run: Any, constraint: Any, loops: str | None, time: float, method: str, keep: int) -> Keeper | None:
    """What is done to the states after each step; a constraint becomes part of the run's physics."""
    if loops is not None and loops not in WAYS:
        raise UnknownName(f"loops={loops!r} is not known. {did_you_mean(str(loops), WAYS)}")
    if constraint is None:
        return None
    if not isinstance(constraint, Constrained) or constraint.robot is not run.robot:
        raise SizeError("constraint has to be what hinge.constrain made of this very robot.")
    if method == "midpoint" or keep > 1:
        raise NotCovered("a constraint needs a method that asks for accelerations: not 'midpoint', and keep=1.")
    if loops in ("baumgarte", "independent"):
        raise NotCovered(f"loops={loops!r} is for kinematic loops. Constraints on velocities take loops='project'.")
    run.physics = replace(run.physics, constraint=constraint)
    if loops is None:
        return None
    return lambda t, q, qd: (q, constraint.project(q, qd, t))
