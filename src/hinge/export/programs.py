"""The program of an algorithm as it is exported: for one frame, with its options."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from hinge import dynamics
from hinge.calls import inputs
from hinge.calls.call import DEFAULT_TERMS, OPERATIONS, Call
from hinge.calls.derivatives import columns
from hinge.calls.target import Target
from hinge.dynamics.located import located
from hinge.errors import UnknownName, did_you_mean
from hinge.graph import Graph, Program
from hinge.model import Model

Frames = str | Sequence[str]  # the name of a frame, or those of several
Options = Mapping[str, Any]  # of the algorithm, joint_terms, and `by` for derivatives


def traced(target: Target, model: Model, name: str, method: str | None, at: Frames, options: Options,
            graph: Graph | None = None, needs_frame: bool = False,
            cost: Callable[[Program], float] = OPERATIONS) -> Program:  # fmt: skip
    """The program that runs, or where a graph is given the one that is written down, made there."""
    algorithm = dynamics.choose(target.model, name, method, paper=graph is not None)
    places = inputs.frames_of_inputs(model, name, at or ())
    if not places and needs_frame and algorithm.asks_for_a_frame:
        raise UnknownName(f"{name} is about a frame: give at=. {did_you_mean('', model.frames)}")
    chosen = {k: x for k, x in options.items() if k not in ("joint_terms", "by")}
    inputs.check_options(algorithm, chosen)
    terms = inputs.joint_terms(options.get("joint_terms", DEFAULT_TERMS))
    slopes = columns(target, name, options.get("by", ()))
    if graph is not None:
        model = replace(model, terms=frozenset(terms))
        first = located(algorithm, dict(places))
        return first.trace(
            model, options=chosen, contract=False, vary=target.vary, graph=graph, guard=False, slopes=slopes
        )
    call = Call.parse(target, name, places, method=method, joint_terms=terms, options=chosen, derivatives=slopes)
    return call.trace(cost=cost)[1]
