"""Friction and restitution that rollouts are given as parameters, by name.

    "friction", "spinning", "rolling", "restitution"    of contacts with what stands still: the ground, the world
    "foot.friction", "foot.spinning", …                 of contacts of a link

`friction` is that of sliding; `spinning` and `rolling` are in m. They take the place of what ground and file say. A
pair has the greater where both its sides are given.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from hinge.arguments import Array, real
from hinge.calls.target import Target
from hinge.errors import SizeError
from hinge.graph import Scalar
from hinge.model.symbols import unknown
from hinge.model.vary import Parameter

FIELDS = {
    "friction": (0, 1),
    "spinning": (2,),
    "rolling": (3, 4),
    "restitution": (),
}  # their places in a pair's friction
MOST = {"restitution": 1.0}  # friction has no bound
NONE = (0.0,) * 5


def surface_parameters(call: str, target: Target, given: Mapping[str, Any] | None) -> tuple[Parameter, ...]:
    """Those of the parameters of a call that are of surfaces: of links, or of none, and not varied by the robot.

    Refuses friction below 0 and restitution that is not from 0 to 1. What is no number loses its rollout.

    >>> arm = hinge.samples.planar_2r().vary("lower.mass")
    >>> [one.name for one in surface_parameters("rollout", arm.target, {"lower.mass": 1.0, "friction": 0.5})]
    ['friction']
    """
    frames, others, made = target.model.frames, {one.name for one in target.vary}, []
    for name, value in (given or {}).items():
        owner, _, field = str(name).rpartition(".")
        if field in FIELDS and name not in others and (not owner or owner in frames):
            made.append(Parameter(name, owner, field))
            _refuse(call, made[-1], real(f"{call}: parameter {name!r}", value))
    return tuple(made)


def _refuse(call: str, one: Parameter, value: Array) -> None:
    most = MOST.get(one.field, np.inf)
    for at in np.argwhere((value < 0.0) | (value > most))[:1]:
        where = f"[{', '.join(map(str, at))}]" if len(at) else ""
        wanted = "from 0 up" if np.isinf(most) else f"from 0 to {most:g}"
        raise SizeError(f"{call}: parameter {one.name!r}{where} is {value[tuple(at)]:g}; give {wanted}.")


def frictions(friction: Sequence[Scalar], given: Mapping[str, Scalar]) -> tuple[Scalar, ...]:
    """The five numbers of friction of a pair, with those that are given in their places."""
    made = [*friction, *NONE][: len(NONE)]
    for field, x in given.items():
        for k in FIELDS[field]:
            made[k] = x
    return tuple(made)


def rows_of(friction: Sequence[Scalar]) -> int:
    """How many rows contacts have: the normal, two for sliding, one for spinning, two for rolling."""
    there = [unknown((x,)) or x != 0.0 for x in friction]
    return next((n for n, k in ((6, 3), (4, 2), (3, 0)) if any(there[k:])), 1)
