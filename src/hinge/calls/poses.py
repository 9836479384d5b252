"""Where several frames of a robot are, found by one kernel: a frame alone has one of its own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from hinge.arguments import Array
from hinge.backends.kernel import Kernel
from hinge.calls.target import Target
from hinge.dynamics import kinematics
from hinge.dynamics.place import Place
from hinge.dynamics.registry import POSITION, Quantity, unregistered


def poses(target: Target, q: Array, names: Sequence[str], parameters: Mapping[str, Any] | None = None,
          prescribed: Any = None) -> Array:  # fmt: skip
    """The poses of links or frames, (…, names, 4, 4), frame to base; `parameters` are a varied robot's."""
    names = tuple(names)

    def function(model, q):
        R, r = kinematics.poses(model, q)
        entries = []
        for name in names:
            turned, at = kinematics.frame_pose(Place.named(model, name), R, r)
            entries += [x for i in range(3) for x in (*turned.row(i), at[i])] + [0.0, 0.0, 0.0, 1.0]
        return entries

    def make(backend: str) -> Kernel:
        many = Quantity("4×4 matrices", lambda model: (len(names), 4, 4))
        return target.compiled(unregistered("poses", function, {"q": POSITION}, {"poses": many}), backend)

    kernel = target.kernels.kernel(("poses", names), None, make)
    return kernel(q, *target.further("poses", parameters, prescribed))
