"""One step of an integration method, over scalars: it becomes part of a kernel like any other algorithm.

A state is q, which need not be a vector, and the velocities. In coordinates, q moves by its rates and quaternions are
brought back to length one at the end of a step. In the group, q moves by exponentials of velocities (Munthe-Kaas), and
their length stays.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from hinge.dynamics.coordinates import rate
from hinge.dynamics.registry import EXTERNAL, FORCE, POSITION, VELOCITY, Algorithm, Quantity, algorithm, choose, lowest
from hinge.graph import Expr, Scalar, Table, less, minimum, select
from hinge.graph.loops import traced
from hinge.integrators.tableaus import TABLEAUS, Tableau
from hinge.model import Model
from hinge.spatial import Force, Motion

PerJoint = list[list[Scalar]]
Flat = list[Scalar]
TIME = Quantity("a time (s)", lambda model: ())
ROLLED = 12  # velocities from which on the stages of a step are a loop


class Made(NamedTuple):
    """What a step gives: the state at its end, the stages it took (rates of q, accelerations), and a pivot for each."""

    q: PerJoint
    v: Flat
    stages: list[tuple[Flat, Flat]]
    pivots: list[Scalar]

    @property
    def pivot(self) -> Scalar:
        """The least pivot, up to the first stage that cannot be solved: what comes after it says nothing."""
        least = self.pivots[0]
        for pivot in self.pivots[1:]:
            least = select(less(0.0, least), minimum(least, pivot), least)
        return least


def accelerated(model: Model, tau: Callable[[float, PerJoint, Flat], PerJoint],
                external: Sequence[Force], forward: Algorithm | None = None
                ) -> Callable[[float, PerJoint, Flat], tuple[Flat, list[Scalar]]]:  # fmt: skip
    """Accelerations at a place in the step, with the joint forces there; and the pivots of the equations solved."""
    forward = forward or choose(model, "forward_dynamics")

    def at(c: float, q: PerJoint, v: Flat) -> tuple[Flat, list[Scalar]]:
        return forward.function(model, q, model.joint_velocities(v), tau(c, q, v), external, (Motion(), Motion()))

    return at


def advanced(model: Model, tableau: Tableau, q: PerJoint, v: Flat, h: Scalar, acceleration: Callable[..., Any]) -> Made:
    """A step of h seconds from q and v."""
    chart = _Group(model, q) if tableau.group else _Coordinates(model, q)
    moves: list[Flat] = []
    gains: list[Flat] = []
    pivots: list[Scalar] = []
    for c, row in zip(tableau.c, tableau.a, strict=True):
        shift = _weighted(row, moves, h)
        at, speed = chart.at(shift), _plus(v, _weighted(row, gains, h))
        gain, pivot = acceleration(c, at, speed)
        moves.append(chart.rate(shift, at, speed))
        gains.append(gain)
        pivots.append(lowest(pivot))
    end = _plus(v, _weighted(tableau.b, gains, h))
    if tableau.late:
        moves = [chart.rate([], chart.at([]), end)]
    return Made(chart.end(_weighted(tableau.b, moves, h)), end, list(zip(moves, gains, strict=True)), pivots)


def rolled(model: Model, tableau: Tableau, q: PerJoint, v: Flat, h: Expr, acceleration: Callable[..., Any]) -> Made:
    """The same where each stage needs only the one before it: a stage is traced once, and the stages are a loop.

    What a stage adds up is added in the order of `advanced`; only constants are not multiplied together beforehand.
    """
    chart = _Coordinates(model, q)
    before = Table([row[-1] if row else 0.0 for row in tableau.a])
    weights, places = Table(tableau.b), Table(tableau.c)
    nq, nv = len(chart.q), len(v)

    def stage(k: Scalar, *now: Scalar) -> Flat:
        move, gain, moved, gained, least = _split(now, nq, nv, nq, nv, 1)
        shift = [h * (before[k] * x) for x in move]
        at, speed = chart.at(shift), _plus(v, [h * (before[k] * x) for x in gain])
        gain, pivot = acceleration(places[k], at, speed)
        move = chart.rate(shift, at, speed)
        moved = [a + weights[k] * x for a, x in zip(moved, move, strict=True)]
        gained = [a + weights[k] * x for a, x in zip(gained, gain, strict=True)]
        worst = select(less(0.0, least[0]), minimum(least[0], lowest(pivot)), least[0])
        return [*move, *gain, *moved, *gained, worst]

    begun = (*[0.0] * (2 * (nq + nv)), math.inf)
    made = traced(h.graph, tableau.stages, 0, begun, stage, None)
    _, _, moved, gained, least = _split(made, nq, nv, nq, nv, 1)
    return Made(chart.end([h * x for x in moved]), _plus(v, [h * x for x in gained]), [], least)


def _split(flat: Sequence[Scalar], *sizes: int) -> list[Flat]:
    made, at = [], 0
    for n in sizes:
        made.append(list(flat[at : at + n]))
        at += n
    return made


def is_chain(tableau: Tableau) -> bool:
    """Whether each stage of a method needs only the one before it."""
    return not tableau.group and not tableau.late and all(not any(row[:-1]) for row in tableau.a)


class _Coordinates:
    """Positions by their rates."""

    def __init__(self, model: Model, q: PerJoint) -> None:
        self.model, self.q = model, model.flat(q)

    def at(self, shift: Flat) -> PerJoint:
        return self.model.joint_positions(_plus(self.q, shift))

    def rate(self, shift: Flat, at: PerJoint, v: Flat) -> Flat:
        return rate(self.model, at, self.model.joint_velocities(v))

    def end(self, shift: Flat) -> PerJoint:
        at = self.at(shift)
        return [joint.normal(at[i]) for i, joint in enumerate(self.model.joint)]


class _Group:
    """Positions by exponentials: the rate of Θ in q exp(Θ) is v + ½ [Θ, v] + ⅟₁₂ [Θ, [Θ, v]], to fourth order."""

    def __init__(self, model: Model, q: PerJoint) -> None:
        self.model, self.q = model, q

    def at(self, shift: Flat) -> PerJoint:
        joints = self.model.joint
        if not shift:
            return self.q
        moves = self.model.joint_velocities(shift)
        return [joint.moved(self.q[i], moves[i]) for i, joint in enumerate(joints)]

    def rate(self, shift: Flat, at: PerJoint, v: Flat) -> Flat:
        if not shift:
            return v
        made: Flat = []
        for i in self.model.leaders:
            joint, place = self.model.joint[i], self.model.slices[i][1]
            once = joint.bracket(shift[place], v[place])
            twice = joint.bracket(shift[place], once)
            made += [x + 0.5 * a + b / 12.0 for x, a, b in zip(v[place], once, twice, strict=True)]
        return made

    def end(self, shift: Flat) -> PerJoint:
        return self.at(shift)


def _weighted(weights: Sequence[float], parts: Sequence[Flat], h: Scalar) -> Flat:
    """h Σ w k; nothing at all where no weight is other than zero."""
    used = [(w, k) for w, k in zip(weights, parts, strict=False) if w]
    if not used:
        return []
    total = [used[0][0] * x for x in used[0][1]]
    for w, k in used[1:]:
        total = [t + w * x for t, x in zip(total, k, strict=True)]
    return [h * t for t in total]


def _plus(a: Flat, b: Flat) -> Flat:
    return [x + y for x, y in zip(a, b, strict=True)] if b else list(a)


def not_a_group(model: Model) -> str:
    """Which joint does not move by the exponential of its velocity, if any."""
    for i, _ in model.outward():
        if not model.joint[i].holonomic:
            return f"joint {model.joint_name[i]!r} is {model.joint[i].kind}, whose motions make no group"
    return ""


GIVEN: dict[str, Any] = {"q": POSITION, "qd": VELOCITY, "tau": FORCE, "h": TIME, "external": EXTERNAL}
GIVES = {"q": POSITION, "qd": VELOCITY}


def _step(name: str, model: Model, q: PerJoint, qd: PerJoint, tau: PerJoint, h: list[Scalar], external: Any) -> Any:
    tableau, v, length = TABLEAUS[name], model.flat(qd), h[0]
    moving = accelerated(model, lambda c, at, speed: tau, external)
    loop = tableau.stages > 1 and is_chain(tableau) and model.nv >= ROLLED and type(length) is Expr
    made = (rolled if loop else advanced)(model, tableau, q, v, length, moving)
    return (made.q, made.v), [made.pivot]


@algorithm("step", **GIVEN, returns=GIVES, pivots=True)
def rk4(model, q, qd, tau, h, external):
    """A step of simulation: the state after h seconds, with the joint forces held.

    Takes q (nq), qd and tau (nv), and h (s); gives (q, qd). Methods are "rk4", "euler", "semi_implicit" and "lie_rk4",
    which keeps quaternions of length one by itself. `external` are forces held in their bodies' coordinates.

    >>> q, qd = hinge.samples.pendulum(1).step([0.1], [0.0], [0.0], 0.01)
    >>> q.shape, qd.shape
    ((1,), (1,))
    """
    return _step("rk4", model, q, qd, tau, h, external)


@algorithm("step", **GIVEN, returns=GIVES, pivots=True)
def euler(model, q, qd, tau, h, external):
    """Position and velocity by their rates at the start."""
    return _step("euler", model, q, qd, tau, h, external)


@algorithm("step", **GIVEN, returns=GIVES, pivots=True)
def semi_implicit(model, q, qd, tau, h, external):
    """Velocity by the acceleration at the start, position by the velocity at the end."""
    return _step("semi_implicit", model, q, qd, tau, h, external)


@algorithm("step", **GIVEN, returns=GIVES, pivots=True, refuses=not_a_group)
def lie_rk4(model, q, qd, tau, h, external):
    """The classic method in the group: positions move by exponentials."""
    return _step("lie_rk4", model, q, qd, tau, h, external)
