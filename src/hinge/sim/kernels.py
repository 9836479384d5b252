"""The compiled step of a simulation: dynamics, controller, limits and integrator in one kernel."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from hinge.backends import default_backend
from hinge.backends.kernel import Kernel
from hinge.constraints.loop_dynamics import forward_stabilised
from hinge.dynamics.coordinates import RATE
from hinge.dynamics.registry import FORCE, POSITION, SCALAR, VELOCITY, Algorithm, Quantity
from hinge.graph import Scalar, less, maximum, minimum, select, sqrt, total
from hinge.integrators.steps import TIME, Made, accelerated, advanced
from hinge.integrators.tableaus import Tableau
from hinge.model import Model
from hinge.programs import Question, answer, compiled
from hinge.robot import Robot
from hinge.sim.forces import saturated
from hinge.spatial import Force, Motion

STUCK = 1e-3  # rad/s or m/s: below this speed dry friction grows with it, so that it does not chatter


@dataclass(frozen=True)
class Physics:
    """What acts in a simulation besides the controller."""

    terms: frozenset[str] = frozenset({"armature"})
    effort: bool = False  # forces are kept within the effort limits
    springs: tuple[tuple[float, float], ...] | None = None  # stiffness and damping of limits, one a velocity
    constraint: Any = None  # a Constrained, whose constraints are kept
    loop_time: float = 0.0  # s: time constant with which loops that came open close again, where they do


def step_kernel(robot: Robot, tableau: Tableau, physics: Physics, control: Callable[..., list[Scalar]] | None,
                backend: str | None, adaptive: bool = False) -> Kernel:  # fmt: skip
    """A kernel from q, qd, t and h, and from tau where no controller is traced, to the same at the end of the step.

    It gives q, qd, t, h, the joint forces at the start, and a status. An adaptive step is taken only if its error is
    within `rtol` and `atol`, h becomes what the next one should be, no step goes beyond `until` (these are inputs
    after h), and what the polynomial through the step needs is given too: rates at both ends, and its last term, each
    for q and for qd.
    """

    forward = _forward(robot, physics)

    def step(model: Model, q: Any, qd: Any, t: Any, h: Any, until: Any = None, rtol: Any = None, atol: Any = None,
             tau: Any = None) -> Any:  # fmt: skip
        v = model.flat(qd)
        held = None if tau is None else model.generalised_forces(tau)
        length = h[0] if until is None else minimum(h[0], until[0] - t[0])
        first: list[list[Scalar]] = []

        def force(c: float, at: list[list[Scalar]], speed: list[Scalar]) -> list[list[Scalar]]:
            flat = model.flat(at)
            asked = list(held) if control is None else control(t[0] + c * length, flat, speed)  # type: ignore[arg-type]
            asked = saturated(model, asked) if physics.effort else asked
            first.append(asked)
            return FORCE.take(model, resisted(model, physics, asked, at, speed))

        nothing = [Force()] * len(model.parent)
        moving = accelerated(model, force, nothing, forward)
        if physics.loop_time:
            moving = _stabilised(model, force, nothing, physics.loop_time)
        if physics.constraint is not None:
            moving = _held(model, physics.constraint, force, t[0], length)
        made = advanced(model, tableau, q, v, length, moving)
        if not adaptive:
            return (made.q, made.v, t[0] + length, h[0], first[0]), [made.pivot]
        before, after = model.flat(q), model.flat(made.q)
        error, *bends = _mixed(tableau, made)
        size = _error((rtol[0], atol[0]), length, (before, v), (after, made.v), error)
        size = select(less(0.0, made.pivot), size, np.nan)  # equations that cannot be solved: the step is too long
        taken = less(size, 1.0)
        # the error of the fourth-order result goes with the fifth power; its fourth root is a little bolder
        factor = maximum(minimum(0.9 / sqrt(sqrt(maximum(size, 1e-8))), 5.0), 0.2)
        following = select(less(size, 1e300), factor, 0.1) * length
        # a step that was cut at the end says nothing against the length it would have had
        following = select(less(length, h[0]), select(taken, maximum(following, h[0]), following), following)
        kept = [select(taken, a, b) for a, b in zip(after, before, strict=True)]
        moved = model.joint_positions(kept), [select(taken, a, b) for a, b in zip(made.v, v, strict=True)]
        now = select(taken, select(less(h[0], until[0] - t[0]), t[0] + length, until[0]), t[0])
        return *moved, now, following, first[0], *(part for pair in bends for part in pair), made.pivots[0]

    takes: dict[str, Quantity] = {"q": POSITION, "qd": VELOCITY, "t": TIME, "h": TIME}
    gives: dict[str, Quantity] = {"q": POSITION, "qd": VELOCITY, "t": SCALAR, "h": SCALAR, "tau": VELOCITY}
    if adaptive:
        takes |= dict.fromkeys(("until", "rtol", "atol"), TIME)
        gives |= {
            f"{name}_{of}": kind for name in ("start", "end", "bend") for of, kind in (("q", RATE), ("v", VELOCITY))
        } | {"pivot": SCALAR}
    if control is None:
        takes["tau"] = FORCE
    return made_once(robot, f"simulate {tableau.name}", step, takes, gives, physics, control, backend, not adaptive)


def made_once(robot: Robot, name: str, step: Any, takes: dict[str, Quantity], gives: dict[str, Quantity],
              physics: Physics, control: Any, backend: str | None, pivots: bool = True) -> Kernel:  # fmt: skip
    """The kernel of a step; one without a controller is the same in the next simulation, and kept with the robot."""
    backend = backend or default_backend()
    key = name, tuple(gives), physics, backend

    def make() -> Kernel:
        return compiled(robot.subject, robot.name, name, step, takes, gives, backend, pivots, terms=_traced(physics),
                        status=pivots, regroup=True)  # fmt: skip

    return make() if control is not None else robot.subject.kernels(key, make)


def _forward(robot: Robot, physics: Physics) -> Algorithm:
    """The method of forward dynamics with the fewest operations."""
    terms = _traced(physics)
    question = Question("forward_dynamics", terms=terms, regroup=True)
    return robot.subject.kernels(("cheapest", terms), lambda: answer(question, robot.subject)[0])


def _traced(physics: Physics) -> frozenset[str]:
    """The joint terms that the dynamics have in them; friction is added by `resisted`."""
    return physics.terms - {"friction"}


def _stabilised(model: Model, force: Callable[..., Any], external: Any, time: float) -> Callable[..., Any]:
    """Accelerations of a mechanism whose loops close by themselves."""

    def at(c: float, q: list[list[Scalar]], v: list[Scalar]) -> Any:
        speeds, still = model.joint_velocities(v), (Motion(), Motion())
        return forward_stabilised(model, q, speeds, force(c, q, v), external, still, time)

    return at


def _held(model: Model, constraint: Any, force: Callable[..., Any], t: Scalar, h: Scalar) -> Callable[..., Any]:
    """Accelerations under constraints at a place in the step."""

    def at(c: float, q: list[list[Scalar]], v: list[Scalar]) -> tuple[list[Scalar], list[Scalar]]:
        qdd, _, pivots = constraint.accelerated(model, q, v, force(c, q, v), t + c * h)
        return qdd, pivots

    return at


def _mixed(tableau: Tableau, made: Made) -> list[tuple[list[Scalar], list[Scalar]]]:
    """Σ (b - low) k, the first and the last k, and Σ dense k, for rates of q and for accelerations."""

    def mix(weights: Sequence[float], part: int) -> list[Scalar]:
        rows = [k[part] for k in made.stages]
        return [total(w * x for w, x in zip(weights, column, strict=True) if w) for column in zip(*rows, strict=True)]

    difference = [b - low for b, low in zip(tableau.b, tableau.low, strict=True)]
    ends = [[1.0 if k == at else 0.0 for k in range(tableau.stages)] for at in (0, tableau.stages - 1)]
    return [(mix(weights, 0), mix(weights, 1)) for weights in (difference, *ends, tableau.dense)]


def _error(tolerance: tuple[Scalar, Scalar], h: Scalar, before: Any, after: Any, error: Any) -> Scalar:
    """The root of the mean square of the errors, each against absolute and relative tolerance."""
    relative, absolute = tolerance
    squares: list[Scalar] = []
    for start, end, wrong in zip(before, after, error, strict=True):
        for a, b, e in zip(start, end, wrong, strict=True):
            scale = absolute + relative * maximum(maximum(a, -a), maximum(b, -b))
            squares.append((h * e / scale) * (h * e / scale))
    return sqrt(total(squares) / len(squares))


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
        stiffness, damping = physics.springs[at.start]
        x, speed = q[i][0], v[at.start]
        for limit, sign in ((data.lower[0], 1.0), (data.upper[0], -1.0)):
            if np.isfinite(limit):
                beyond = sign * (limit - x)  # positive where the limit is passed
                push = maximum(stiffness * beyond - sign * damping * speed, 0.0)
                made[at.start] = made[at.start] + select(less(0.0, beyond), sign * push, 0.0)
    return made
