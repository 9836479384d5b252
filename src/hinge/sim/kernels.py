"""The compiled step of a simulation: dynamics, controller, limits and integrator in one kernel."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from hinge.backends.kernel import Kernel
from hinge.dynamics.registry import FORCE, POSITION, VELOCITY, Algorithm, Quantity
from hinge.graph import Scalar, less, maximum, minimum, select
from hinge.integrators.steps import TIME, Made, accelerated, advanced
from hinge.integrators.tableaus import Tableau
from hinge.model import Model
from hinge.programs import Question, plan
from hinge.robot import Robot, default_backend
from hinge.sim.forces import saturated
from hinge.spatial import Force

RATES = Quantity("rates of the coordinates", lambda model: (model.nq,))
STUCK = 1e-3  # rad/s or m/s: below this speed dry friction grows with it, so that it does not chatter


@dataclass(frozen=True)
class Physics:
    """What acts in a simulation besides the controller."""

    terms: frozenset[str] = frozenset({"armature"})
    effort: bool = False  # forces are kept within the effort limits
    springs: tuple[float, float] | None = None  # stiffness and damping of the position limits, where they are springs


def step_kernel(robot: Robot, tableau: Tableau, physics: Physics, control: Callable[..., list[Scalar]] | None,
                backend: str | None, stages: bool = False) -> Kernel:  # fmt: skip
    """A kernel (q, qd, tau, t, h) -> (q, qd, tau, …, pivot); without a traced controller it takes tau and holds it.

    With `stages` it also gives what error control and dense output need: differences between the orders, the rates at
    both ends, and the last term of the polynomial through the step, each for q and for qd.
    """
    # springs and dry friction are made here, the rest of what resists is the dynamics' own
    inner = physics.terms - {"friction"}

    def step(model: Model, q: Any, qd: Any, t: Any, h: Any, tau: Any = None) -> Any:
        v = [x for i in model.leaders for x in qd[i]]
        held = None if tau is None else model.generalised_forces(tau)
        first: list[list[Scalar]] = []

        def force(c: float, at: list[list[Scalar]], speed: list[Scalar]) -> list[list[Scalar]]:
            flat = [x for i in model.leaders for x in at[i]]
            asked = list(held) if control is None else control(t[0] + c * h[0], flat, speed)  # type: ignore[arg-type]
            asked = saturated(model, asked) if physics.effort else asked
            first.append(asked)
            return FORCE.take(model, resisted(model, physics, asked, at, speed))

        nothing = [Force()] * len(model.parent)
        made = advanced(model, tableau, q, v, h[0], accelerated(model, force, nothing))
        results = [made.q, made.v, first[0]]
        return tuple(results + (_extras(tableau, made) if stages else [])), made.pivots

    step.__module__ = "simulation"  # not one of hinge's own: the cache knows it by its graph
    takes: dict[str, Quantity] = {"q": POSITION, "qd": VELOCITY, "t": TIME, "h": TIME}
    if control is None:
        takes["tau"] = FORCE
    gives: dict[str, Quantity] = {"q": POSITION, "qd": VELOCITY, "tau": VELOCITY}
    if stages:
        for name in ("error", "start", "end", "bend"):
            gives |= {f"{name}_q": RATES, f"{name}_v": VELOCITY}
    algorithm = Algorithm("simulate", tableau.name, step, takes, gives, pivots=True)
    question = Question("simulate", tableau.name, terms=inner, status=True, algorithm=algorithm)
    return Kernel(plan(question, robot._subject, robot.name), backend or default_backend())


def _extras(tableau: Tableau, made: Made) -> list[list[Scalar]]:
    """Σ (b - low) k, the first and the last k, and Σ dense k, for rates of q and for accelerations."""

    def mix(weights: Sequence[float], part: int) -> list[Scalar]:
        rows = [k[part] for k in made.stages]
        return [_sum(w * x for w, x in zip(weights, column, strict=True) if w) for column in zip(*rows, strict=True)]

    difference = [b - low for b, low in zip(tableau.b, tableau.low, strict=True)]
    ends = [[1.0 if k == at else 0.0 for k in range(tableau.stages)] for at in (0, tableau.stages - 1)]
    return [mix(weights, part) for weights in (difference, *ends, tableau.dense) for part in (0, 1)]


def _sum(terms: Any) -> Scalar:
    total: Scalar = 0.0
    for term in terms:
        total = total + term
    return total


def resisted(model: Model, physics: Physics, tau: list[Scalar], q: list[list[Scalar]], v: list[Scalar]
              ) -> list[Scalar]:  # fmt: skip
    """Joint forces less dry friction, plus what limits that are springs push back with."""
    made = list(tau)
    for i in model.leaders:
        data, at = model.data[i], model.slices[i][1]
        if "friction" in physics.terms:
            for k, f in enumerate(data.friction):
                if f:
                    made[at.start + k] = made[at.start + k] - f * maximum(minimum(v[at.start + k] / STUCK, 1.0), -1.0)
        if physics.springs is None or not model.joint[i].is_single:
            continue
        k, d = physics.springs
        x, speed = q[i][0], v[at.start]
        for limit, sign in ((data.lower[0], 1.0), (data.upper[0], -1.0)):
            if np.isfinite(limit):
                beyond = sign * (limit - x)  # positive where the limit is passed
                push = maximum(k * beyond - sign * d * speed, 0.0)
                made[at.start] = made[at.start] + select(less(0.0, beyond), sign * push, 0.0)
    return made
