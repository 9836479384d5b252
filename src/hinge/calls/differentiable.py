"""A call as a function of plain arrays that knows its own derivatives: what tensors with gradients are made of.

All that was said in words is fixed in a `Call`, and what is left are its inputs, one array each: those of the method,
external forces, the motion of the base, varied numbers, weights. What pulls weights of its results back to inputs is a
call again, and so is what carries tangents along: derivatives of any order.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from hinge.arguments import Array
from hinge.backends import default_backend
from hinge.backends.kernel import Kernel
from hinge.calls import inputs
from hinge.calls.target import USUAL, Target
from hinge.dynamics.registry import PLACE, POSITION, asked, default
from hinge.dynamics.slopes import Slope
from hinge.errors import NotCovered

Stack = Callable[[str, Sequence[Any]], Any]  # what they are called; arrays of one library, as the rows of one
PRESCRIBED = "prescribed"


@dataclass(frozen=True, eq=False)
class Call:
    """An algorithm of a target with all that was said in words; `names` are those of its inputs, in order."""

    target: Target
    name: str
    how: Mapping[str, Any]  # what a kernel of the target is asked with
    names: tuple[str, ...]
    varied: int  # how many inputs are varied numbers, after those of the method,
    driven: int  # and how many say how driven joints move, after these
    seeds: int = 0  # and how many are tangents and weights, which come last
    finite: bool = False  # whether numbers that are not are refused
    _derived: dict[tuple[str, tuple[int, ...]], Call] = field(default_factory=dict)

    @cached_property
    def kernel(self) -> Kernel:
        return self.target.kernel(self.name, **self.how)

    @cached_property
    def axes(self) -> tuple[int, ...]:
        """How many axes one state has of each input; those before are a batch."""
        shapes = [len(shape) for shape in self.kernel.plan.shapes]
        first = len(self.names) - self.varied - self.driven - self.seeds
        known = {one.name: len(one.shape) for one in self.target.vary}
        varied = [known.get(name, 0) for name in self.names[first : first + self.varied]]
        return (*shapes[:first], *varied, *[1] * self.driven, *shapes[len(shapes) - self.seeds :])

    @property
    def results(self) -> tuple[tuple[int, ...], ...]:
        """The shape of each result for one state, without the status."""
        outputs = self.kernel.plan.outputs
        return outputs[:-1] if self.status else outputs

    @property
    def status(self) -> bool:
        """Whether a status comes last."""
        return self.kernel.plan.status

    def run(self, arrays: Sequence[Array]) -> tuple[Array, ...]:
        """The results for these inputs."""
        target, rows = self.target, list(arrays)
        if target.vary or self.driven or len(rows) < len(self.kernel.plan.inputs):
            end = len(rows) - self.seeds
            start, stop = end - self.driven - self.varied, end - self.driven
            varied = dict(zip(self.names[start:stop], rows[start:stop], strict=True))
            rows[start:end] = target.further(self.name, varied, rows[stop:end] or None)
        if self.finite:
            inputs.check_values(self.kernel, rows)
        made = self.kernel(*rows)
        return made if isinstance(made, tuple) else (made,)

    def run_on(self, library: Any, arrays: Sequence[Any], out: Any = None) -> tuple[Any, ...]:
        """The results for inputs that live on a GPU, as arrays of their library; on its stream, and nobody waits."""
        from hinge.backends.cuda import resident

        if self.target.vary or self.driven or self.finite:
            word = "check='values'" if self.finite else "prescribed" if self.driven else "parameters"
            raise NotCovered(
                f"{self.name}: {word} cannot be had with arrays on a GPU.\n"
                '  Give arrays of NumPy, with backend="cuda" to compute there.'
            )
        return resident.call(self.kernel, library, arrays, out)

    def pulled(self, by: Sequence[int]) -> Call:
        """The call that takes a weight for each result besides, and gives the gradients of their sum by these inputs.

        Positions are for it the plain numbers they have; what a quaternion is multiplied by changes nothing.
        """
        return self._slope("pulled", tuple(by))

    def along(self, by: Sequence[int]) -> Call:
        """The call that takes a tangent for each of these inputs besides, and gives the rates of the results."""
        return self._slope("along", tuple(by))

    def _slope(self, kind: str, by: tuple[int, ...]) -> Call:
        if (kind, by) not in self._derived:
            names = tuple(self.names[k] for k in by)
            self._differentiable(names)
            slopes = (*self.how["slopes"], Slope(kind, names))
            how = dict(self.how) | {"slopes": slopes, "status": False, "flat": self.how["flat"] or len(slopes) == 1}
            more = len(self.results) if kind == "pulled" else len(by)
            made = replace(self, how=how, seeds=self.seeds + more, _derived={})
            added = tuple(one.name for one in made.kernel.plan.inputs[-more:])
            self._derived[kind, by] = replace(made, names=self.names + added)
        return self._derived[kind, by]

    def _differentiable(self, by: Sequence[str]) -> None:
        """Refuse gradients that there are none of."""
        if self.how["packed"]:
            raise NotCovered(f"{self.name}: packed derivatives carry no gradients.\n  Leave packed out.")
        if PRESCRIBED in by:
            raise NotCovered(
                f"{self.name}: gradients by the motion of driven joints are not covered.\n"
                "  Give prescribed= tensors that require none."
            )
        model, quantities = self.target.model, default(self.name).inputs
        turned = [one for one in by if quantities.get(one) is POSITION]
        if self.how["slopes"] and not self.how["flat"] and turned and model.nq != model.nv:
            raise NotCovered(
                f"{self.name}: gradients by {turned[0]} of its derivatives along velocities are not covered, because "
                f"robot {self.target.name!r} has quaternions.\n"
                f"  Take both with the tensor library, of the plain call; or give {turned[0]} without a gradient."
            )


def requested(target: Target, name: str, given: Sequence[Any], frames: Sequence[str], stack: Stack, *,
              method: str | None = None, backend: str | None = None, check: str = "sizes",
              return_status: bool = False, joint_terms: Sequence[str] = USUAL, regroup: bool = False,
              parameters: Mapping[str, Any] | None = None, prescribed: Sequence[Any] | None = None,
              external: Mapping[str, Any] | None = None, external_frame: str = "body",
              base_motion: Sequence[Any] | None = None, slopes: tuple[Slope, ...] = (), seeds: Sequence[Any] = (),
              flat: bool = False, packed: bool = False, **options: Any) -> tuple[Call, list[Any]]:  # fmt: skip
    """What a target is asked, as a call and its inputs; they may be arrays of any library that can `stack` them."""
    arrays = [one for one, x in options.items() if not isinstance(x, str)]  # what only this algorithm takes
    optional = {"external": None, "base_motion": None} | {one: options.pop(one) for one in arrays}
    places = inputs.places(target.model, name, frames)
    if external:
        at = inputs.acting(target.model, external, external_frame)
        places += (("external", at),)
        optional["external"] = stack(f"{name}: external", [external[one] for one in at.names])
    if base_motion is not None:
        if not isinstance(base_motion, Sequence) or len(base_motion) != 2:
            inputs.base_motion(name, base_motion)
        optional["base_motion"] = stack(f"{name}: base_motion", list(base_motion))
    present = tuple(one for one, x in optional.items() if x is not None)
    varied = inputs.by_name(name, parameters or {})
    driven = list(prescribed) if prescribed is not None else []
    values = [*given, *(optional[one] for one in present), *varied.values(), *driven, *seeds]
    backend = backend or default_backend()
    words = (name, method, backend, return_status, tuple(joint_terms), bool(regroup), places, present, tuple(varied),
             len(driven), tuple(sorted(options.items())), slopes, flat, packed, check)  # fmt: skip

    def make() -> Call:
        names = tuple(one for one, quantity in asked(name).items() if quantity is not PLACE)
        how = {"method": method, "backend": backend, "given": present, "terms": joint_terms, "status": return_status,
               "regroup": regroup, "places": places, "options": options, "slopes": slopes, "flat": flat,
               "packed": packed}  # fmt: skip
        made = Call(target, name, how, (*names, *present, *varied, *[PRESCRIBED] * len(driven)), len(varied),
                    len(driven), len(seeds), check == "values")  # fmt: skip
        added = tuple(one.name for one in made.kernel.plan.inputs[len(made.kernel.plan.inputs) - len(seeds) :])
        return replace(made, names=made.names + added)

    return target.kernels(("call", words), make), values
