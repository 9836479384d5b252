"""Everything that acts on a robot with contacts besides the joint forces, as arrays of a kernel."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from hinge.arguments import Array
from hinge.calls import inputs
from hinge.calls.call import Call
from hinge.calls.target import Target
from hinge.dynamics.place import At
from hinge.dynamics.registry import BASE, EXTERNAL, Quantity
from hinge.typing import Numbers

OPTIONAL: dict[str, Quantity] = {"external": EXTERNAL, "base_motion": BASE}


class Acting(NamedTuple):
    """The optional inputs that are given, the frames that forces act at, and the arrays in a kernel's order."""

    optional: tuple[str, ...]
    frames: tuple[tuple[str, At], ...]
    arrays: list[Array]

    @classmethod
    def of(cls, target: Target, call: str, external: Mapping[str, Numbers] | None = None, external_frame: str = "body",
           base_motion: tuple[Numbers, Numbers] | None = None, parameters: Mapping[str, Numbers] | None = None,
           prescribed: Sequence[Numbers] | None = None) -> Acting:  # fmt: skip
        """Read the keywords of a call, which mean what they mean for `forward_dynamics`."""
        given, arrays = list[str](), list[Array]()
        places: tuple[tuple[str, At], ...] = ()
        if external:
            at, forces = inputs.external_forces(target.model, external, external_frame)
            given, places, arrays = ["external"], (("external", at),), [forces]
        if base_motion is not None:
            given.append("base_motion")
            arrays.append(inputs.base_motion(call, base_motion))
        return cls(tuple(given), places, [*arrays, *target.parameter_rows(call, parameters, prescribed)])

    def call(self, target: Target, recipe: tuple[Any, ...], backend: str | None, **words: Any) -> Call:
        """Return the call of an algorithm whose inputs end with those of `OPTIONAL`."""
        return Call.outside_registry(target, recipe, backend, optional=self.optional, frames=self.frames, **words)
