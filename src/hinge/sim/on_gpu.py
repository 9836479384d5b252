"""Rollouts of arrays that live on a GPU: what is given there, in the form that a run takes, without looking at it.

What of a run does not depend on numbers is set up with one rollout's worth of others in their place.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from typing import Any

import numpy as np

from hinge.arguments import Array
from hinge.backends.kernel import DOUBLE, SINGLE, Plan
from hinge.backends.places import (
    ALIGNMENT,
    HOST,
    ArrayKind,
    ArrayLibrary,
    DeviceArrays,
    require_one_device,
    wrong_backend,
)
from hinge.contact.surfaces import surface_parameters
from hinge.errors import NotCovered, SizeError
from hinge.graph import Graph, Input, Scalar, less, order, select
from hinge.graph.scalars import largest
from hinge.model.vary import Parameter
from hinge.robot import Robot
from hinge.sim import setup
from hinge.sim.parameters import varied
from hinge.steps.inputs import Outside
from hinge.steps.step import Physics

Shape = tuple[int, ...]
EACH = {"tau": 1, "taus": 2, "ctrls": 2}  # of which every rollout has a row, or one a step
SEVERAL = ("base_motion", "prescribed")


def begun(
    library: ArrayLibrary, robot: Robot, batch: Shape, given: Mapping[str, Any], steps: int, said: Mapping[str, Any]
) -> tuple[DeviceArrays, Any, Any, Physics, Outside]:
    """A run from arrays on a GPU, by their names: where it is, its states, a row each, and what moves them."""
    if said["backend"] not in (None, library.backend):
        raise wrong_backend("rollout", said["backend"])
    if said["loops"] == "independent":
        raise NotCovered(
            "rollout: loops='independent' looks at the states.\n  Give arrays of NumPy, or loops='project'."
        )
    take = _Taken(library, robot, batch, given, steps)
    none = {"q": np.empty((0, robot.nq)), "qd": np.empty((0, robot.nv)), "batch": (), "own": batch}
    with np.errstate(all="ignore"):
        physics, acts = setup.acting(**dict(said) | take.in_their_place() | none)
    for name, like in acts.arrays.items():
        own = like.shape[1:] if name in EACH else like.shape
        parts = take.parts(name, like, getattr(said["policy"], "inputs", ()), physics.numbers(robot.target))
        if any(np.ndim(x) > len(shape) for x, shape in parts):
            acts.shared.discard(name)
        acts.arrays[name] = take.rows(name, parts, () if name in acts.shared else (prod(batch),), own)
    q, qd = (
        take.place.rows(take.row(name, given[name], (*batch, n)), (*batch, n)).reshape(-1, n)
        for name, n in (("q0", robot.nq), ("qd0", robot.nv))
    )
    return take.place, _unit(take.place, robot, q), qd, physics, acts


class _Taken:
    """Arrays that a rollout is given, by their names: one each, or several by names or numbers."""

    def __init__(self, library: ArrayLibrary, robot: Robot, batch: Shape, given: Mapping[str, Any], steps: int) -> None:
        self.library, self.robot, self.batch, self.given, self.steps = library, robot, batch, given, steps
        kinds = {}
        for name, one in given.items():
            for key, x in one.items() if isinstance(one, Mapping) else [(None, one)]:
                if hasattr(x, "shape") and not (name == "ctrl" and isinstance(x, np.ndarray)):  # that one is put there
                    kind = ArrayKind(x.shape, x.dtype, HOST) if isinstance(x, np.ndarray) else library.kind(x)
                    kinds[name if key is None else f"{name}[{key!r}]"] = kind
        require_one_device("rollout", {name: kind.device for name, kind in kinds.items()})
        there = list(kinds.values())
        single = all(kind.dtype == SINGLE for kind in there)
        self.place = DeviceArrays(library, there[0].device, SINGLE if single else DOUBLE)

    def in_their_place(self) -> dict[str, Any]:
        """One rollout's numbers for all that is given, of the same shapes."""
        given, known = self.given, {one.name: one for one in self.robot.target.vary}
        made: dict[str, Any] = {"steps": self.steps}
        made |= {name: np.ones(np.shape(given[name])[-own:]) for name, own in EACH.items() if name in given}
        made |= {name: [np.ones(np.shape(x)[-1:]) for x in given[name].values()] for name in SEVERAL if name in given}
        if "ctrl" in given:
            made["ctrl"] = np.ones(np.shape(given["ctrl"])[-2:])
        if "external" in given:
            made["external"] = {key: np.ones(np.shape(x)[-1:]) for key, x in given["external"].items()}
        if "inputs" in given:
            made["inputs"] = [np.ones(self.own(k, x)) for k, x in given["inputs"].items()]
        model = self.robot.model
        values = {name: known[name].nominal(model) if name in known and known[name].field != "symbol" else 1.0
                  for name in given.get("parameters", ())}  # fmt: skip
        surfaces = surface_parameters("rollout", self.robot.target, values)
        return made | {"parameters": varied(self.robot, values), "surfaces": surfaces}

    def own(self, k: int, x: Any) -> Shape:
        """The shape that one rollout has of what a policy is given."""
        shape = tuple(np.shape(x))
        setup.unambiguous(self.robot, k, shape, self.batch)
        return shape[len(self.batch) :] if self.batch and shape[: len(self.batch)] == self.batch else shape

    def parts(
        self, name: str, like: Array, fed: Sequence[Any], numbers: Sequence[Parameter]
    ) -> list[tuple[Any, Shape]]:
        """What stands side by side in an array of a run, and the shape of each for one rollout.

        A policy is `fed` what it has of its own, besides what is given; `numbers` are the parameters.
        """
        given = self.given.get(name, {})
        if name == "parameters":
            model = self.robot.model
            return [(given[one.name] if one.name in given else one.nominal(model), one.shape) for one in numbers]
        if name == "external":
            return [(given[key], (6,)) for key in sorted(given)]
        if name == "base_motion":
            return [(x, (6,)) for x in given.values()]
        if name == "prescribed":
            parts = [(x, tuple(np.shape(x)[-1:])) for x in given.values()]
            left = like.size - sum(prod(shape) for _, shape in parts)
            return [*parts, (0.0, (left,))] if left else parts
        if name in ("ctrl", "ctrls"):
            ctrl = self.given.get("ctrl", like)
            held = name == "ctrl" and np.ndim(ctrl) > 1  # a row for all steps
            return [(ctrl[..., 0, :] if held else ctrl, like.shape[name in EACH :])]
        if name in EACH:
            return [(given, like.shape[1:])]
        inputs = [*self.given.get("inputs", {}).values(), *fed]
        return [(inputs[int(name.removeprefix("input"))], like.shape)]

    def rows(self, name: str, parts: list[tuple[Any, Shape]], rollouts: Shape, own: Shape) -> Any:
        """Arrays side by side, a row a rollout, or one for all."""
        axes = self.batch if rollouts else ()
        if len(parts) == 1:
            return self.row(name, parts[0][0], (*axes, *parts[0][1])).reshape((*rollouts, *own))
        made, at = self.place.empty((*rollouts, prod(own))), 0
        for x, shape in parts:
            size = prod(shape)
            made[..., at : at + size] = self.row(name, x, (*axes, *shape)).reshape(*rollouts, size)
            at += size
        return made.reshape((*rollouts, *own))

    def row(self, name: str, x: Any, shape: Shape) -> Any:
        """What is given as an array of that shape on the GPU: itself, where it lies so."""
        try:
            fits = np.broadcast_shapes(np.shape(x), shape) == shape
        except ValueError:
            fits = False
        if not fits:
            raise SizeError(f"rollout: {name} has shape {tuple(np.shape(x))}; it has to fit {shape}.")
        there = self.place.asarray(f"rollout: {name}", x)
        as_wanted = self.library.kind(there) == (shape, self.place.dtype, self.place.device)
        place = self.library.place(there) if as_wanted else 0
        return there if place and not place % ALIGNMENT else self.place.rows(there, shape)


def _unit(place: DeviceArrays, robot: Robot, q: Any) -> Any:
    """Coordinates with quaternions of length one."""
    model = robot.model
    if robot.nq == robot.nv:
        return q
    graph, inputs, shape = Graph(), (Input("q", robot.nq),), (robot.nq,)
    at = [graph.input("q", k) for k in range(robot.nq)]
    made: list[Scalar] = []
    for i in model.leaders:
        own = at[model.slices[i][0]]
        normal = model.joint[i].normal(own)
        close = less(largest([x - y for x, y in zip(normal, own, strict=True)]), setup.ROUNDED)
        made += [select(close, y, x) for x, y in zip(normal, own, strict=True)]
    program = order(inputs, [("q", shape, made)], False)
    plan = Plan(robot.name, "unit quaternions", inputs, (shape,), lambda backend: program,
                ("unit quaternions", robot.target), robot.target.memo)  # fmt: skip
    return place.call(plan, q)
