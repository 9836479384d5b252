"""A call as a function of arrays that knows its own derivatives: what tensors with gradients are made of.

All that was said in words is fixed in a `Call`, and what is left are the arrays that its kernel takes. What pulls
weights of its results back to inputs is a call again, and so is what carries tangents along: derivatives of any order.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Any

from hinge.arguments import Array
from hinge.backends import default_backend
from hinge.backends.kernel import Kernel
from hinge.calls.inputs import places
from hinge.calls.target import USUAL, Target
from hinge.dynamics import choose
from hinge.dynamics.place import At
from hinge.dynamics.registry import DRIVEN, POSITION, default
from hinge.dynamics.slopes import Slope
from hinge.errors import NotCovered, UnknownName, did_you_mean
from hinge.model.driven import sizes


@dataclass(frozen=True, eq=False)
class Call:
    """What is asked of a target, apart from the numbers; made by `of`."""

    target: Target
    name: str
    method: str | None = None
    backend: str | None = None
    given: tuple[str, ...] = ()
    terms: tuple[str, ...] = USUAL
    status: bool = False  # whether a status, a byte a state, comes after the results
    regroup: bool = False
    places: tuple[tuple[str, At], ...] = ()
    options: tuple[tuple[str, str], ...] = ()
    slopes: tuple[Slope, ...] = ()
    flat: bool = False  # slopes are by the numbers of positions, and not along velocities
    packed: bool = False
    checked: set[Any] = field(default_factory=set, init=False, repr=False)  # shapes of arrays that were found to fit
    _derived: dict[Any, Call] = field(default_factory=dict, init=False, repr=False)
    _ways: dict[Any, Any] = field(default_factory=dict, init=False, repr=False)  # of arrays on GPUs, by their library

    def __repr__(self) -> str:
        return " of ".join([*(f"{one.kind} {one.by}" for one in reversed(self.slopes)), self.name, self.target.name])

    @classmethod
    def of(cls, target: Target, *words: Any) -> Call:
        """The call of these words, in the order of the fields, that a target has: what is made of it is made once."""
        return target.kernels(("call", *words), lambda: cls(target, *words))

    def but(self, **words: Any) -> Call:
        """The same with other words."""
        return Call.of(self.target, *[words.get(one, getattr(self, one)) for one in WORDS])

    @cached_property
    def on_gpu(self) -> Call:
        """The same by the back end for GPUs."""
        return self.but(backend="cuda")

    @cached_property
    def kernel(self) -> Kernel:
        return self.target.kernel(
            self.name, self.method, self.backend, self.given, self.terms, self.status, self.regroup, self.places,
            dict(self.options), self.slopes, self.flat, self.packed,
        )  # fmt: skip

    @cached_property
    def inputs(self) -> tuple[str, ...]:
        """The names of what it takes."""
        return tuple(one.name for one in self.kernel.plan.inputs)

    @cached_property
    def axes(self) -> tuple[int, ...]:
        """How many axes one state has of each input; those before are a batch."""
        return tuple(len(shape) for shape in self.kernel.plan.shapes)

    @cached_property
    def results(self) -> tuple[tuple[int, ...], ...]:
        """The shape of each result for one state, without the status."""
        outputs = self.kernel.plan.outputs
        return outputs[:-1] if self.status else outputs

    def run(self, arrays: Sequence[Array], out: Array | None = None) -> tuple[Array, ...]:
        """The results for arrays of NumPy."""
        made = self.kernel(*arrays, out=out)
        return made if isinstance(made, tuple) else (made,)

    def run_on(self, library: Any, arrays: Sequence[Any], out: Any = None) -> tuple[Any, ...]:
        """The results for inputs that live on a GPU, as arrays of their library; on its stream, and nobody waits."""
        return self.way(library)(arrays, out)

    def way(self, library: Any) -> Any:
        """The way of arrays of a library that live on a GPU: a function of them, and of `out`."""
        if library not in self._ways:
            from hinge.backends.cuda.resident import Way

            self._ways[library] = Way(self.on_gpu.kernel, library)
        return self._ways[library]

    # derivatives

    @cached_property
    def linear(self) -> int:
        """How many of its inputs, the last ones, are tangents or weights of its last slope, in which it is linear."""
        return len(self.inputs) - len(self.but(status=False, slopes=self.slopes[:-1]).inputs) if self.slopes else 0

    def along_velocities(self, name: str) -> bool:
        """Whether slopes by an input are along velocities: where it is a position, and they are not flat."""
        return bool(self.slopes) and not self.flat and default(self.name).inputs.get(name) is POSITION

    def sloped(self, slope: Slope) -> Call:
        """A slope of it, by the numbers of positions unless it has one along velocities."""
        made = self._derived.get(slope)
        if made is None:
            if DRIVEN in slope.by:
                raise NotCovered(
                    f"{self.name}: there are no derivatives by prescribed=. "
                    "Give it as an array that is not differentiated."
                )
            if self.packed:
                raise NotCovered(f"{self.name}: packed derivatives carry no gradients.\n  Leave packed out.")
            how = {"status": False, "flat": self.flat or not self.slopes, "slopes": (*self.slopes, slope)}
            made = self._derived[slope] = self.but(**how)
        return made

    def pulled(self, by: Sequence[int]) -> Call:
        """The call that takes a weight for each result besides, and gives the gradients of their sum by these inputs.

        Positions are for it the plain numbers they have; what a quaternion is multiplied by changes nothing.
        """
        return self._derived.get(("pulled", *by)) or self._numeric("pulled", by)

    def along(self, by: Sequence[int]) -> Call:
        """The call that takes a tangent for each of these inputs besides, and gives the rates of the results."""
        return self._derived.get(("along", *by)) or self._numeric("along", by)

    def _numeric(self, kind: str, by: Sequence[int]) -> Call:
        """A slope by the numbers of these inputs."""
        names, model = tuple(self.inputs[k] for k in by), self.target.model
        turned = [one for one in names if self.along_velocities(one)]
        if turned and model.nq != model.nv:
            raise NotCovered(
                f"{self.name}: gradients by {turned[0]} of its derivatives along velocities are not covered, because "
                f"robot {self.target.name!r} has quaternions.\n"
                f"  Take both with the tensor library, of the plain call; or give {turned[0]} without a gradient."
            )
        made = self._derived[kind, *by] = self.sloped(Slope(kind, names))
        return made


WORDS = [one.name for one in fields(Call)[1:] if one.init]


def casadi(target: Target, name: str, method: str | None = None, given: Sequence[str] = (),
           joint_terms: Sequence[str] = USUAL, at: str | Sequence[str] = (), **options: str) -> Any:  # fmt: skip
    """An algorithm as a function of CasADi, compiled, with exact derivatives of every order: for solvers of your own.

    It takes and gives what `kernel` with these words does, vectors as columns, and last the `parameters` of a robot
    that varies, one after another. Derivatives by q are by its nq numbers, those of quaternions among them.
    f.map(n) takes n states in one call; f.expand() is the same in expressions of CasADi (SX), of which CasADi writes C.
    CasADi does not keep alive what it calls, so a function lives as long as the process.

    >>> f = hinge.samples.planar_2r().casadi("forward_dynamics")  # doctest: +SKIP
    >>> f.jacobian()([0.1, 0.2], [0.0, 0.0], [1.0, 2.0], 0)[0].shape  # doctest: +SKIP
    (2, 2)
    """
    if choose(target.model, name, method).asks_for_a_frame and not at:
        raise UnknownName(f"{name} is about a frame: give at=. {did_you_mean('', target.model.frames)}")
    terms = (joint_terms,) if isinstance(joint_terms, str) else tuple(joint_terms)
    frames, words = places(target.model, name, at), tuple(sorted(options.items()))
    call = Call.of(target, name, method, default_backend(), tuple(given), terms, False, False, frames, words)
    if any(sizes(target.model)):
        raise NotCovered(
            f"casadi: robot {target.name!r} has driven joints, and there are no derivatives by their motion.\n"
            "  Take the robot without prescribe."
        )
    try:
        from hinge.calls.casadi_functions import Function
    except ModuleNotFoundError as why:
        if why.name != "casadi":
            raise
        raise NotCovered(
            'functions of CasADi need CasADi, which is not installed.\n  pip install "hinge[casadi]"'
        ) from None
    return Function.of(call)
