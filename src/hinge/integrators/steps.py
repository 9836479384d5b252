"""One step of an integration method, over scalars: it becomes part of a kernel like any other algorithm.

A state is q, which need not be a vector, and the velocities. In coordinates, q moves by its rates and quaternions are
brought back to length one at the end of a step. In the group, q moves by exponentials of velocities (Munthe-Kaas), and
their length stays.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from hinge.constraints.multipliers import Held
from hinge.dynamics.coordinates import rate
from hinge.dynamics.faring import lowest
from hinge.dynamics.registry import Quantity, choose
from hinge.graph import Expr, Scalar, Table, less, minimum, select
from hinge.graph.loops import traced
from hinge.integrators.tableaus import Tableau
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
    settled: Scalar = 1.0  # 0 where equations had to be solved by turns, and were not

    @property
    def pivot(self) -> Scalar:
        """The least pivot, up to the first stage that cannot be solved: what comes after it says nothing."""
        least = self.pivots[0]
        for pivot in self.pivots[1:]:
            least = select(less(0.0, least), minimum(least, pivot), least)
        return least


class System(NamedTuple):
    """What moves during a step, at a share c of it.

    `forces` are those that joints are driven with, over the user's velocities; `acceleration` what follows from all
    that acts, with the pivots of the equations solved; `held` is A and c with A qdd + c = 0 where something is held,
    and `body` the model with what is prescribed in it.
    """

    acceleration: Callable[[Scalar, PerJoint, Flat], tuple[Flat, list[Scalar]]]
    forces: Callable[[Scalar, PerJoint, Flat], Flat]
    held: Callable[[Scalar, PerJoint, Flat], Held] | None
    body: Callable[[Scalar], Model]
    external: Callable[[PerJoint], Sequence[Force]]
    base: Callable[[Scalar], tuple[Motion, Motion]]


def still(c: Scalar) -> tuple[Motion, Motion]:
    """A base that does not move."""
    return Motion(), Motion()


def pushed(model: Model, tau: PerJoint, external: Sequence[Force]) -> System:
    """The system on which joint forces act that stay as they are."""
    forward = choose(model, "forward_dynamics")

    def at(c: Scalar, q: PerJoint, v: Flat) -> tuple[Flat, list[Scalar]]:
        qdd, pivots, *margins = forward.function(model, q, model.joint_velocities(v), tau, external, still(c))
        return qdd, [*pivots, *margins]

    flat = model.generalised_forces(tau)
    return System(at, lambda c, q, v: flat, None, lambda c: model, lambda q: external, still)


def advanced(model: Model, tableau: Tableau, q: PerJoint, v: Flat, h: Scalar, acceleration: Callable[..., Any]) -> Made:
    """A step of h seconds from q and v."""
    rolls = tableau.stages > 1 and is_chain(tableau) and model.nv >= ROLLED
    if rolls and type(h) is Expr and not h.graph.straight:
        return rolled(model, tableau, q, v, h, acceleration)
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
    """A step of which each stage needs only the one before it: a stage is traced once, and the stages are a loop.

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
        if not shift:
            return self.q
        joints, slices = self.model.joint, self.model.slices
        moved = [joints[i].moved(self.q[i], shift[slices[i][1]]) for i in self.model.leaders]
        return self.model.joint_positions([x for one in moved for x in one])

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
