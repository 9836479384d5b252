"""From a request to a program: which algorithm serves it, and what a kernel for it needs to know.

A method that is asked for by name is taken. Else those that compete to be the default are traced, and the one that
costs the back end least is: on a CPU the one with the fewest operations. That depends on the model, never on the batch.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from hinge import dynamics
from hinge.backends import backend_name, find
from hinge.backends.kernel import Plan
from hinge.backends.sympy_input import Reading
from hinge.calls import inputs
from hinge.dynamics.located import located
from hinge.dynamics.place import At, Place
from hinge.dynamics.registry import DRIVEN, PLACE, POSITION, VARIED, Algorithm, asked, default
from hinge.dynamics.slopes import Slope, Variable
from hinge.errors import NotCovered
from hinge.graph import Expr, Graph, Input, Output, Program, Scalar, TooLong
from hinge.graph.expr import NAMED
from hinge.graph.scalars import evaluated
from hinge.model import Model, unmoved
from hinge.model.driven import sizes
from hinge.model.regroup import regrouped

if TYPE_CHECKING:
    from hinge.calls.target import Target

# A rival is given up when its graph outgrows the best one's: graph is compared with graph, because most of one may be
# dead code, of two links four fifths. What is small is always traced to its end.
HOPELESS, SMALL = 2, 20_000
OPERATIONS = attrgetter("operations")


@dataclass(frozen=True)
class Request:
    """What is asked: an algorithm by name, a method or None, the optional inputs given, options, and how to trace."""

    name: str
    method: str | None = None
    given: frozenset[str] = frozenset()
    options: tuple[tuple[str, str], ...] = ()
    terms: frozenset[str] = frozenset({"armature"})
    status: bool = False
    regroup: bool = False
    algorithm: Algorithm | None = None  # one that is in no registry: a user's controller is part of it
    places: tuple[tuple[str, At], ...] = ()  # the frames that inputs are about, where they are known
    slopes: tuple[Slope, ...] = ()  # derivatives that are taken, one of the other
    flat: bool = False  # by the numbers of positions, and not along velocities
    packed: bool = False  # without what is zero whatever the state

    def candidates(self, target: Target) -> list[Algorithm]:
        """The algorithms that may serve: the one of the method asked for, or those that compete."""
        return [located(one, dict(self.places)) for one in self._candidates(target)]

    def _candidates(self, target: Target) -> list[Algorithm]:
        if self.algorithm is not None:
            return [self.algorithm]
        # a method that needs each body's own mass refuses a model in which they are moved
        model = regrouped(target.traced) if self.regroup else target.model
        first = dynamics.choose(model, self.name, self.method)
        if self.regroup and not first.in_joint_space:
            raise NotCovered(
                f"{self.name} cannot be computed with regroup=True: inertia moved across joints is no "
                "longer its body's own.\n  Leave regroup out; it serves forces, accelerations and "
                "matrices of the joints."
            )
        if self.method not in (None, "auto"):
            return [first]
        return [a for a in dynamics.rivals(model, first) if self.given <= a.inputs.keys()] or [first]

    def source(self, target: Target) -> object:
        """Return the values that the program is traced from; None where an algorithm is in no registry."""
        if self.algorithm is not None:
            return None
        recursion = f"{self.name}_derivatives" if self.slopes else ""
        rows = *self._candidates(target), dynamics.ALGORITHMS.get(recursion)
        return "call", target, self, rows

    def own(self, target: Target) -> tuple[Algorithm, tuple[Slope, ...]] | None:
        """The recursion an algorithm has for its derivatives, where it serves, and the slopes still to be taken."""
        name = f"{self.name}_derivatives"
        if self.method not in (None, "auto") or self.flat or not self.slopes or name not in dynamics.ALGORITHMS:
            return None
        first, *rest = self.slopes
        found = default(name)
        covered = not found.reason(target.model) and self.given <= found.inputs.keys()
        if first.kind != "columns" or not covered or not set(first.by) <= set(asked(name)):
            return None
        return located(chosen(found, first.by, default(self.name)), dict(self.places)), tuple(rest)


def trace(
    request: Request, target: Target, contract: bool = True, cost: Callable[[Program], float] = OPERATIONS
) -> tuple[Algorithm, Program]:
    """The cheapest algorithm among those that may serve, and its program."""
    best: tuple[Algorithm, Program] | None = None
    least, most = math.inf, 0
    own = request.own(target)
    rivals = [own] if own else [(one, request.slopes) for one in request.candidates(target)]
    for algorithm, slopes in rivals:
        graph = Graph(most)
        try:
            program = algorithm.trace(
                replace(target.traced, terms=request.terms), request.given, dict(request.options), request.status,
                contract, target.vary, request.regroup, graph, True, slopes, request.flat,
            )  # fmt: skip
        except TooLong:
            continue
        taken = cost(program) if len(rivals) > 1 else 0.0
        if taken < least:
            best, least, most = (algorithm, program), taken, max(HOPELESS * len(graph), SMALL)
    assert best is not None
    return best


def plan(request: Request, target: Target, backend: str | None = None) -> Plan:
    """What a kernel needs to know, short of tracing.

    Results that are packed have the places of `derivative_pattern`, so no back end has a say in their method.
    """
    model = replace(target.model, terms=request.terms)
    candidates = request.candidates(target)
    taken = candidates[0].taken(request.given)
    takes = [Input(n, q.size(model), q.uniform, q.shape(model)) for n, q in taken.items()]
    shapes = [q.shape(model) for q in taken.values()]
    counted = [q.counted for q in taken.values()]
    nq, nv = sizes(model)
    for name, size in ((VARIED, sum(one.size for one in target.vary)), (DRIVEN, nq + 2 * nv)):
        if size:
            takes.append(Input(name, size))
            shapes.append((size,))
            counted.append(name)
    results, more = _derived(request, candidates[0], model, target)
    takes += [Input(one.name, prod(one.shape), False, one.shape) for one in more]
    shapes += [one.shape for one in more]
    counted += [one.name for one in more]
    outputs = [one.shape for one in results] + [()] * request.status
    if request.packed:
        outputs = [one.shape for one in packed(trace(request, target)[1]).outputs]

    def program() -> Program:
        if request.packed:
            return packed(trace(request, target)[1])
        return trace(request, target, cost=find(backend_name(backend)).cost)[1]

    return Plan(target.name, request.name, tuple(takes), tuple(shapes), tuple(counted), tuple(outputs),
                program, request.source(target), request.status, bool(request.places))  # fmt: skip


def _derived(
    request: Request, algorithm: Algorithm, model: Model, target: Target
) -> tuple[list[Variable], list[Variable]]:
    """What a request gives, derivatives where they are asked for, and the inputs that these bring."""
    more: list[Variable] = []
    made = algorithm.results(model, request.flat)
    known = {
        name: one for name, (one, _) in algorithm.variables(model, request.given, target.vary, request.flat).items()
    }
    for slope in request.slopes:
        taken = slope.takes(model, known, made)
        made, more = slope.makes(model, known, made), [*more, *taken]
        known |= {one.name: one for one in taken}
    return made, more


def packed(program: Program) -> Program:
    """A program without the entries of its results that are zero whatever the state; a status stays as it is."""
    outputs = [
        one if one.whole else replace(one, shape=(len(kept),), entries=kept)
        for one in program.outputs
        for kept in [tuple(one.entries[k] for k in entries(one))]
    ]
    return replace(program, outputs=tuple(outputs))


def entries(output: Output) -> list[int]:
    """The numbers of those entries that are not zero whatever the state."""
    return [k for k, e in enumerate(output.entries) if type(e) is not float or e != 0.0]


def chosen(recursion: Algorithm, by: Sequence[str], algorithm: Algorithm) -> Algorithm:
    """A recursion for the derivatives of an algorithm, by some of its inputs: their columns, side by side."""
    asked_for = {name: q for name, q in recursion.inputs.items() if q.absent is None}
    (result,) = algorithm.returns
    (whole,) = recursion.returns.values()

    def at(model: Model) -> list[int]:
        """The columns of what it gives that are asked for."""
        starts, start = {}, 0
        for name, q in asked_for.items():
            width = prod(Variable(name, q.shape(model), q is POSITION).tangent(model))
            starts[name] = range(start, start + width)
            start += width
        return [k for name in by for k in starts[name]]

    def give(model: Model, made: Any) -> list[Scalar]:
        rows, width = list(whole.give(model, made)), whole.shape(model)[-1]
        return [rows[k + j] for k in range(0, len(rows), width) for j in at(model)]

    shown = replace(whole, shape=lambda model: (*whole.shape(model)[:-1], len(at(model))), give=give)
    return replace(recursion, returns={result: shown}, by=tuple(by))


def called(model: Model, name: str, given: Sequence[Any], frames: Sequence[str], method: str | None,
           joint_terms: Sequence[str], options: Mapping[str, str], besides: Mapping[str, Any]) -> Any:  # fmt: skip
    """An algorithm called with SymPy's expressions: one state, in the frames the robot was given in."""
    for one, value in besides.items():
        if value is not None:
            raise NotCovered(f"{name}: {one}= is for numbers, and the state is given in symbols. Leave it out.")
    if any(sizes(model)):
        raise NotCovered(
            f"{name}: robot {model.name!r} has driven joints, whose motion is given in numbers.\n"
            "  Ask for robot.equations(…), which has symbols for it."
        )
    algorithm = dynamics.choose(model, name, method, paper=True)
    shown = replace(unmoved(model), terms=inputs.terms(joint_terms))
    arrays, names = iter(given), iter(frames)
    said = {one: next(names if quantity is PLACE else arrays) for one, quantity in asked(name).items()}
    return on_paper(algorithm, shown, said, inputs.options(algorithm, options))


def on_paper(algorithm: Algorithm, model: Model, given: Mapping[str, Any], options: Mapping[str, str]) -> Any:
    """What an algorithm gives for SymPy's expressions: SymPy's again. A frame is given by its name.

    It runs on symbols of its own first, so that it may differentiate by its inputs.
    """
    reading = Reading()
    seen: dict[str, Any] = {}
    known: dict[Expr, Scalar] = {}
    for name, quantity in algorithm.inputs.items():
        if name not in given:
            seen[name] = quantity.absent(model) if quantity.absent else None
        elif quantity is PLACE:
            seen[name] = Place.named(model, given[name])
        else:
            shape = quantity.shape(model)
            read = reading.array(f"{algorithm.name}: {name}", given[name], shape, name, quantity is POSITION)
            own = [NAMED.input(name, k + 1) for k in range(len(read))]  # a symbol of SymPy has the index 0
            known |= dict(zip(own, read, strict=True))
            seen[name] = quantity.take(model, list(own))
    made = algorithm.function(model, **seen, **options)
    made = made[0] if algorithm.pivots else made
    results = []
    for quantity, one in zip(algorithm.returns.values(), made if len(algorithm.returns) > 1 else (made,), strict=True):
        shape = quantity.shape(model)
        flat = list(quantity.give(model, one)) if shape else [one]
        results.append(reading.written(evaluated(flat, known), shape))
    return tuple(results) if len(results) > 1 else results[0]
