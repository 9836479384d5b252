"""From a request to a program: which algorithm serves it, and what a kernel for it needs to know.

A method that is asked for by name is taken. Else those that compete to be the default are traced, and the one with the
fewest operations is; that depends on the model alone, never on the batch or the back end.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from hinge import dynamics
from hinge.backends.kernel import Plan
from hinge.backends.sympy_input import Reading
from hinge.calls import inputs
from hinge.dynamics.located import located
from hinge.dynamics.registry import PLACE, POSITION, Algorithm, At, Place, asked
from hinge.errors import NotCovered
from hinge.graph import Expr, Graph, Input, Program, Scalar, TooLong
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


def trace(request: Request, target: Target, contract: bool = True) -> tuple[Algorithm, Program]:
    """The algorithm with the fewest operations among those that may serve, and its program."""
    best: tuple[Algorithm, Program] | None = None
    most = 0
    for algorithm in request.candidates(target):
        graph = Graph(most)
        try:
            program = algorithm.trace(
                replace(target.traced, terms=request.terms), request.given, dict(request.options), request.status,
                contract, target.vary, request.regroup, graph,
            )  # fmt: skip
        except TooLong:
            continue
        if best is None or program.operations < best[1].operations:
            best, most = (algorithm, program), max(HOPELESS * len(graph), SMALL)
    assert best is not None
    return best


def plan(request: Request, target: Target) -> Plan:
    """What a kernel needs to know, short of tracing."""
    model = replace(target.model, terms=request.terms)
    candidates = request.candidates(target)
    taken = candidates[0].taken(request.given)
    outputs = [q.shape(model) for q in candidates[0].returns.values()] + [()] * request.status
    takes = [Input(n, q.size(model), q.uniform, q.shape(model)) for n, q in taken.items()]
    shapes = [q.shape(model) for q in taken.values()]
    counted = [q.counted for q in taken.values()]
    nq, nv = sizes(model)
    for name, size in (("parameters", sum(one.size for one in target.vary)), ("prescribed", nq + 2 * nv)):
        if size:
            takes.append(Input(name, size))
            shapes.append((size,))
            counted.append(name)

    def key() -> tuple[str, ...]:
        ours = request.algorithm is None and all(a.is_ours for a in candidates)
        if ours and all(joint.is_ours for joint in model.joint) and not model.symbols:
            places = [(name, [model.frame(one) for one in at.names], at.frame) for name, at in request.places]
            words = (sorted(request.given), request.options, sorted(request.terms), request.status,
                     request.regroup, target.vary, places)  # fmt: skip
            return model.digest, repr((request.name, [(a.method, a.function.__name__) for a in candidates], words))
        return "program", repr(made.program)  # symbols, or what is the user's own: only its graph says what it is

    made = Plan(target.name, request.name, tuple(takes), tuple(shapes), tuple(counted), tuple(outputs),
                lambda: trace(request, target)[1], key, request.status, bool(request.places))  # fmt: skip
    return made


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
