"""Poses of several frames of a robot, found by one kernel: a frame alone has one of its own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from hinge.arguments import Array
from hinge.calls.call import Call
from hinge.calls.target import Target
from hinge.dynamics import kinematics
from hinge.dynamics.place import Place
from hinge.dynamics.registry import POSITION, Algorithm, Quantity, unregistered


def poses(target: Target, q: Array, names: Sequence[str], parameters: Mapping[str, Any] | None = None,
          prescribed: Any = None) -> Array:  # fmt: skip
    """Return the poses of links or frames, (…, names, 4, 4), frame to base; `parameters` are a varied robot's."""
    call = Call.outside_registry(target, (_algorithm, tuple(names)))
    return call.kernel(q, *target.parameter_rows("poses", parameters, prescribed))


def _algorithm(names: tuple[str, ...]) -> Algorithm:
    def function(model, q):
        R, r = kinematics.poses(model, q)
        entries = []
        for name in names:
            turned, at = kinematics.frame_pose(Place.named(model, name), R, r)
            entries += [x for i in range(3) for x in (*turned.row(i), at[i])] + [0.0, 0.0, 0.0, 1.0]
        return entries

    matrices = Quantity("4×4 matrices", lambda model: (len(names), 4, 4))
    return unregistered("poses", function, {"q": POSITION}, {"poses": matrices})
