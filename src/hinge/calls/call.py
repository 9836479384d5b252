"""A call: one algorithm of one target with all its words. Only the arrays remain to be given.

A call chooses the algorithm that serves it and makes the plan of its kernel. A method that is named is taken. Otherwise
the algorithms that compete to be the default are traced, and the one that costs the back end least serves: on a CPU
the one with the fewest operations. That depends on the model and never on the batch.

Derivatives of a call are calls again, so that torch, JAX and CasADi can take derivatives of any order.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from math import prod
from operator import attrgetter
from typing import Any

from hinge import dynamics
from hinge.arguments import Array
from hinge.backends import Backend, backend_name
from hinge.backends.kernel import Kernel, Plan, kernel_of
from hinge.calls import inputs
from hinge.calls.target import Target
from hinge.calls.tracing import select_columns, without_structural_zeros
from hinge.dynamics.located import located
from hinge.dynamics.place import At
from hinge.dynamics.registry import ALGORITHMS, DRIVEN, POSITION, VARIED, Algorithm, default, required_inputs
from hinge.dynamics.slopes import Slope, Variable
from hinge.errors import NotCovered
from hinge.graph import Graph, Input, Program, TooLong
from hinge.keys import Opaque
from hinge.model import Model
from hinge.model.driven import sizes
from hinge.model.regroup import regrouped
from hinge.typing import Term

DEFAULT_TERMS: tuple[Term, ...] = ("armature",)  # the joint terms of a call that names none
NO_OPTIONS: Mapping[str, str] = {}
OPERATIONS = attrgetter("operations")
# A competing algorithm is given up when its graph outgrows the best one's. Graphs are compared with graphs, because
# most of one may be dead code: for two links four fifths. Small graphs are always traced to the end.
HOPELESS, SMALL = 2, 20_000


@dataclass(frozen=True, eq=False)
class Call:
    """One algorithm of one target with all its words. Equal words give the same object: use `parse` or `of`."""

    target: Target
    name: str
    method: str | None = None
    backend: str | None = None
    optional: tuple[str, ...] = ()  # the optional inputs that are given
    terms: tuple[str, ...] = DEFAULT_TERMS
    status: bool = False  # whether a status, one byte per state, comes after the results
    regroup: bool = False
    frames: tuple[tuple[str, At], ...] = ()  # the frames of inputs that are about one
    options: tuple[tuple[str, str], ...] = ()
    derivatives: tuple[Slope, ...] = ()  # each is taken of the one before
    by_numbers: bool = False  # derivatives are by the numbers of positions, and not along velocities
    packed: bool = False  # without the entries that are zero in every state
    # of an algorithm outside the registry: the function that returns it, and its arguments
    recipe: tuple[Any, ...] = ()
    checked: set[Any] = field(default_factory=set, init=False, repr=False)  # shapes of arrays that were found to fit
    _entries: dict[Any, Any] = field(default_factory=dict, init=False, repr=False)  # for device arrays, by library

    key_fields = ("target", "name", "method", "optional", "terms", "status", "regroup", "frames", "options",
                  "derivatives", "by_numbers", "packed")  # fmt: skip

    def __repr__(self) -> str:
        taken = (f"{one.kind} {one.by}" for one in reversed(self.derivatives))
        return " of ".join([*taken, self.name, self.target.name])

    @classmethod
    def of(cls, target: Target, *words: Any) -> Call:
        """Return the call of these words, in the order of the fields. They are not checked."""
        return target.memo(cls, target, *words)

    @classmethod
    def parse(
        cls,
        target: Target,
        name: str,
        frames: tuple[tuple[str, At], ...] = (),
        *,
        method: str | None = None,
        backend: str | None = None,
        optional: Sequence[str] = (),
        joint_terms: Sequence[str] = DEFAULT_TERMS,
        status: bool = False,
        regroup: bool = False,
        options: Mapping[str, str] = NO_OPTIONS,
        derivatives: tuple[Slope, ...] = (),
        packed: bool = False,
    ) -> Call:
        """Return the call of these words; raise for unknown ones. Nothing else checks words."""
        terms = joint_terms if type(joint_terms) is tuple else inputs.joint_terms(joint_terms)
        pairs = tuple(sorted(options.items())) if options else ()
        words = (name, method, backend_name(backend), tuple(optional), terms, status, bool(regroup), frames, pairs,
                 derivatives, False, packed)  # fmt: skip
        return target.memo(_checked, target, *words)

    @classmethod
    def outside_registry(
        cls, target: Target, recipe: tuple[Any, ...], backend: str | None = None, **words: Any
    ) -> Call:
        """Return the call of an algorithm that is in no registry.

        `recipe` is the function that returns the algorithm, and its arguments. They find its kernel in memory, so
        everything that the program depends on is among them.
        """
        words |= {"name": "", "backend": backend_name(backend), "recipe": recipe}
        return Call.of(target, *[words.get(one, default) for one, default in WORDS.items()])

    def but(self, **words: Any) -> Call:
        """Return the same call with other words."""
        return Call.of(self.target, *[words.get(one, getattr(self, one)) for one in WORDS])

    # the algorithm

    @cached_property
    def candidates(self) -> tuple[Algorithm, ...]:
        """The algorithms that may serve: that of the method, or those that compete, the first one first."""
        return tuple(located(one, dict(self.frames)) for one in self._rows)

    @cached_property
    def _rows(self) -> tuple[Algorithm, ...]:
        if self.recipe:
            make, *arguments = self.recipe
            return (make(*arguments),)
        # a method that needs each body's own mass refuses a model in which they are moved
        model = regrouped(self.target.traced) if self.regroup else self.target.model
        first = dynamics.choose(model, self.name, self.method)
        if self.regroup and not first.in_joint_space:
            raise NotCovered(
                f"{self.name} cannot be computed with regroup=True: inertia moved across joints is no "
                "longer its body's own.\n  Leave regroup out; it serves forces, accelerations and "
                "matrices of the joints."
            )
        if self.method not in (None, "auto"):
            return (first,)
        return tuple(a for a in dynamics.rivals(model, first) if set(self.optional) <= a.inputs.keys()) or (first,)

    def recursion(self) -> tuple[Algorithm, tuple[Slope, ...]] | None:
        """Return the recursion for the first derivative, where there is one, and the derivatives still to be taken."""
        name = f"{self.name}_derivatives"
        if self.method not in (None, "auto") or self.by_numbers or not self.derivatives or name not in ALGORITHMS:
            return None
        first, *rest = self.derivatives
        found = default(name)
        covered = not found.reason(self.target.model) and set(self.optional) <= found.inputs.keys()
        if first.kind != "columns" or not covered or not set(first.by) <= set(required_inputs(name)):
            return None
        return located(select_columns(found, first.by, default(self.name)), dict(self.frames)), tuple(rest)

    def key_rows(self) -> tuple[Any, ...]:
        """Return the rows of the registry that the program depends on."""
        if self.recipe:
            raise Opaque("an algorithm outside the registry")
        return self._rows, ALGORITHMS.get(f"{self.name}_derivatives") if self.derivatives else None

    # the program and its kernel

    def trace(self, contract: bool = True, cost: Callable[[Program], float] = OPERATIONS) -> tuple[Algorithm, Program]:
        """Return the cheapest of the algorithms that may serve, and its program."""
        target, optional, options = self.target, frozenset(self.optional), dict(self.options)
        best: tuple[Algorithm, Program] | None = None
        least, most = math.inf, 0
        recursion = self.recursion()
        rivals = [recursion] if recursion else [(one, self.derivatives) for one in self.candidates]
        for algorithm, derivatives in rivals:
            graph = Graph(most)
            try:
                program = algorithm.trace(self._model, optional, options, self.status, contract, target.vary,
                                          self.regroup, graph, True, derivatives, self.by_numbers)  # fmt: skip
            except TooLong:
                continue
            found = cost(program) if len(rivals) > 1 else 0.0
            if found < least:
                best, least, most = (algorithm, program), found, max(HOPELESS * len(graph), SMALL)
        assert best is not None
        return best[0], without_structural_zeros(best[1]) if self.packed else best[1]

    @cached_property
    def fewest(self) -> tuple[Algorithm, Program]:
        """The algorithm with the fewest operations, and its program."""
        return self.trace()

    @cached_property
    def _model(self) -> Model:
        return replace(self.target.traced, terms=frozenset(self.terms))

    @cached_property
    def plan(self) -> Plan:
        """The plan of its kernel. Nothing is traced, except for packed results, whose shapes follow from the program.

        Packed results have the places of `derivative_pattern`, so that no back end has a say in their method.
        """
        model, first = replace(self.target.model, terms=frozenset(self.terms)), self.candidates[0]
        taken = first.taken(frozenset(self.optional)).items()
        given = [Input(name, q.size(model), q.uniform, q.shape(model), label=q.counted) for name, q in taken]
        nq, nv = sizes(model)
        for name, size in ((VARIED, sum(one.size for one in self.target.vary)), (DRIVEN, nq + 2 * nv)):
            if size:
                given.append(Input(name, size, label=name))
        results, seeds = self._derived(first, model)
        given += [Input(one.name, prod(one.shape), False, one.shape, label=one.name) for one in seeds]
        shapes = [one.shape for one in results] + [()] * self.status
        if self.packed:
            packed = self.fewest[1]
            shapes = [one.shape for one in packed.outputs]

        def trace(backend: Backend) -> Program:
            return packed if self.packed else self.trace(cost=backend.cost)[1]

        return Plan(self.target.name, self.name or first.name, tuple(given), tuple(shapes), trace, self,
                    self.target.memo, self.status, compile_late=bool(self.frames))  # fmt: skip

    def _derived(self, algorithm: Algorithm, model: Model) -> tuple[list[Variable], list[Variable]]:
        """Return the results, derivatives where they are asked for, and the inputs that derivatives bring."""
        target, seeds = self.target, list[Variable]()
        results = algorithm.results(model, self.by_numbers)
        variables = algorithm.variables(model, frozenset(self.optional), target.vary, self.by_numbers)
        known = {name: one for name, (one, _) in variables.items()}
        for derivative in self.derivatives:
            taken = derivative.takes(model, known, results)
            results, seeds = derivative.makes(model, known, results), [*seeds, *taken]
            known |= {one.name: one for one in taken}
        return results, seeds

    @cached_property
    def kernel(self) -> Kernel:
        return kernel_of(self.plan, self.backend)

    @cached_property
    def inputs(self) -> tuple[str, ...]:
        """The names of the inputs."""
        return tuple(one.name for one in self.plan.inputs)

    @cached_property
    def axes(self) -> tuple[int, ...]:
        """The number of axes of each input for one state; those before are a batch."""
        return tuple(len(shape) for shape in self.plan.shapes)

    @cached_property
    def results(self) -> tuple[tuple[int, ...], ...]:
        """The shape of each result for one state, without the status."""
        outputs = self.plan.outputs
        return outputs[:-1] if self.status else outputs

    @cached_property
    def plain(self) -> bool:
        """Whether it has no words besides frames, options and a status, so that an entry serves the next such call."""
        return self.method is None and self.terms == DEFAULT_TERMS and not (
            self.regroup or self.optional or self.derivatives or self.by_numbers or self.packed
            or self.target.vary or any(sizes(self.target.model))
        )  # fmt: skip

    def run(self, arrays: Sequence[Array], out: Array | None = None) -> tuple[Array, ...]:
        """Return the results for NumPy arrays, as a tuple."""
        made = self.kernel(*arrays, out=out)
        return made if isinstance(made, tuple) else (made,)

    def run_on(self, library: Any, arrays: Sequence[Any], out: Any = None) -> tuple[Any, ...]:
        """Return the results for device arrays of a library, in its stream; nobody waits."""
        return self.device_entry(library)(arrays, out)

    def device_entry(self, library: Any) -> Any:
        """Return a function of device arrays of a library, and of `out`."""
        entry = self._entries.get(library)
        if entry is None:
            on_device = self.but(backend=library.backend)
            entry = self.kernel.device_entry(library) if on_device is self else on_device.device_entry(library)
            self._entries[library] = entry
        return entry

    # derivatives

    @cached_property
    def linear(self) -> int:
        """The number of last inputs in which it is linear: the tangents or weights of the last derivative."""
        if not self.derivatives:
            return 0
        return len(self.inputs) - len(self.but(status=False, derivatives=self.derivatives[:-1]).inputs)

    def along_velocities(self, name: str) -> bool:
        """Return whether derivatives by an input are along velocities: by a position, unless `by_numbers`."""
        is_position = bool(self.derivatives) and default(self.name).inputs.get(name) is POSITION
        return is_position and not self.by_numbers

    def derivative(self, by: Slope) -> Call:
        """Return a derivative: by the numbers of positions unless it has one along velocities already."""
        if DRIVEN in by.by:
            raise NotCovered(
                f"{self.name}: there are no derivatives by prescribed=. Give it as an array that is not differentiated."
            )
        if self.packed:
            raise NotCovered(f"{self.name}: packed derivatives carry no gradients.\n  Leave packed out.")
        by_numbers = self.by_numbers or not self.derivatives
        return self.but(status=False, by_numbers=by_numbers, derivatives=(*self.derivatives, by))

    def vjp(self, by: Sequence[int]) -> Call:
        """Return the call that takes a weight for each result and gives the gradients of their sum by these inputs.

        Positions are for it the plain numbers they have. Gradients by a quaternion do not depend on its length.
        """
        return self.target.memo(Call._numeric, self, "pulled", tuple(by))

    def jvp(self, by: Sequence[int]) -> Call:
        """Return the call that takes a tangent for each of these inputs and gives the rates of the results."""
        return self.target.memo(Call._numeric, self, "along", tuple(by))

    def _numeric(self, kind: str, by: tuple[int, ...]) -> Call:
        """Return a derivative by the numbers of these inputs."""
        names, model = tuple(self.inputs[k] for k in by), self.target.model
        turned = [one for one in names if self.along_velocities(one)]
        if turned and model.nq != model.nv:
            raise NotCovered(
                f"{self.name}: gradients by {turned[0]} of its derivatives along velocities are not covered, because "
                f"robot {self.target.name!r} has quaternions.\n"
                f"  Take both with the tensor library, of the plain call; or give {turned[0]} without a gradient."
            )
        return self.derivative(Slope(kind, names))


WORDS: dict[str, Any] = {one.name: one.default for one in fields(Call)[1:] if one.init}


def _checked(target: Target, *words: Any) -> Call:
    """Return the call of these words, which are checked."""
    call = Call(target, *words)
    algorithm = dynamics.choose(target.model, call.name, call.method)
    inputs.check_options(algorithm, dict(call.options))
    inputs.check_optional(algorithm, call.optional)
    inputs.joint_terms(call.terms)
    return Call.of(target, *words)
