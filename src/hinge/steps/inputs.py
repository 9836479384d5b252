"""Inputs of a run: arrays by name, and functions of time and state."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from hinge.calls.target import Target
from hinge.dynamics.file_forces import control_forces
from hinge.dynamics.located import on_bodies
from hinge.dynamics.place import At
from hinge.dynamics.registry import BASE
from hinge.graph import Graph, Input, Rows, Scalar, absolute, minimum
from hinge.integrators.steps import Flat, PerJoint
from hinge.model import Model
from hinge.model.driven import put
from hinge.spatial import Force, Motion, Vec3
from hinge.status import OK
from hinge.steps.clock import CLOCK

NOWHERE = At(())
JUST = 1e-13  # of a time: just before it
Law = Callable[..., list[Scalar]]  # over scalars: of t, q, qd and what else it is given


class Acts(NamedTuple):
    """Inputs as functions of time: joint forces, forces on bodies, motion of the base, motion of driven joints."""

    forces: Callable[[Scalar, Flat, Flat], Flat]
    external: Callable[[Model, PerJoint], Sequence[Force]]
    base: Callable[[Scalar], tuple[Motion, Motion]]
    body: Callable[[Scalar], Model]
    status: Callable[[Scalar, Flat, Flat], Scalar]  # of the controller: OK or UNREACHED

    @classmethod
    def of_forces(cls, model: Model, forces: Flat) -> Acts:
        """Return constant joint forces and no other input."""
        return cls(lambda t, q, v: forces, lambda body, q: on_bodies(body, q, NOWHERE, []),
                   lambda t: (Motion(), Motion()), lambda t: model, lambda t, q, v: float(OK))  # fmt: skip


@dataclass
class Outside:
    """The inputs of a run besides its initial states: arrays by name, and functions of time.

    An array has one row per rollout unless it is named in `shared`, and one row per step if it is named in `streams`.
    `key` identifies the traced functions.
    """

    arrays: dict[str, Any] = field(default_factory=dict)
    shared: set[str] = field(default_factory=set)
    streams: set[str] = field(default_factory=set)
    law: Law | None = None
    says: Law | None = None  # the status of the law
    fed: tuple[str, ...] = ()  # the arrays that the law is given
    base: Law | None = None  # of t: velocity and acceleration of the base
    driven: Law | None = None  # of t: value, rate and acceleration of what is prescribed
    loaded: At = NOWHERE  # the frames that carry external forces
    key: tuple[Any, ...] = ()

    def inputs(self) -> list[Input]:
        """Return the inputs of the program."""
        return [
            Input(name, int(np.prod(self.shape(name))), name in self.shared, stream=name in self.streams)
            for name in self.arrays
        ]

    def shape(self, name: str) -> tuple[int, ...]:
        """Return the shape of an array for one rollout and one step."""
        axes = int(name not in self.shared) + int(name in self.streams)
        return tuple(self.arrays[name].shape[axes:])

    def flat(self, graph: Graph, name: str) -> list[Scalar]:
        return [graph.input(name, k) for k in range(int(np.prod(self.shape(name))))]

    def acts(self, graph: Graph, model: Model, step: Scalar) -> Acts:
        """Return the inputs of step number `step`."""
        fed = [self.flat(graph, name) for name in self.fed]
        law, says, base, driven = self.law, self.says, self.base, self.driven
        none: list[Scalar] = [0.0] * model.nv
        held = self.flat(graph, "tau") if "tau" in self.arrays else none
        if "taus" in self.arrays:
            held = Rows(graph, "taus", model.nv)[minimum(step, graph.input("clock", CLOCK.index("last")))]
        drives = self.flat(graph, "ctrl") if "ctrl" in self.arrays else []
        if "ctrls" in self.arrays:
            (nu,) = self.shape("ctrls")
            drives = Rows(graph, "ctrls", nu)[minimum(step, graph.input("clock", CLOCK.index("last")))]
        wrenches = self.flat(graph, "external") if "external" in self.arrays else []
        pushes = [Force(Vec3(tuple(w[:3])), Vec3(tuple(w[3:]))) for w in zip(*[iter(wrenches)] * 6, strict=True)]
        still = BASE.take(model, self.flat(graph, "base_motion")) if "base_motion" in self.arrays else None
        at_rest = still or (Motion(), Motion())
        if "prescribed" in self.arrays:
            model = put(model, self.flat(graph, "prescribed"))

        def forces(t: Scalar, q: Flat, v: Flat) -> Flat:
            tau = list(held) if law is None else law(t, q, v, *fed)
            if not drives:
                return tau
            made, _ = control_forces(model, model.joint_positions(q), model.joint_velocities(v), drives)
            return [a + b for a, b in zip(tau, model.generalised_forces(made), strict=True)]

        return Acts(
            forces,
            lambda body, q: on_bodies(body, q, self.loaded, pushes),
            (lambda t: at_rest) if base is None else (lambda t: BASE.take(model, base(t))),
            (lambda t: model) if driven is None else (lambda t: put(model, driven(t))),
            (lambda t, q, v: float(OK)) if says is None else (lambda t, q, v: says(t, q, v, *fed)[0]),
        )

    def numbers(self, target: Target) -> list[Any]:
        """Return the array of varied robot parameters in a list, which is empty if nothing varies."""
        size = sum(one.size for one in target.vary)
        return [self.arrays["parameters"][..., :size]] if size else []

    def before(self, acts: Acts, end: Scalar) -> Acts:
        """Return inputs up to the time `end`: if forces jump there, those before the jump."""
        if "cuts" not in self.arrays:
            return acts
        last = end - JUST * (1.0 + absolute(end))
        return acts._replace(forces=lambda t, q, v: acts.forces(minimum(t, last), q, v))
