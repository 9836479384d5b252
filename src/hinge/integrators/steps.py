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
from hinge.graph.scalars import inner
from hinge.integrators.floating import Floating, carried
from hinge.integrators.probes import Probe, projected, stage_weights
from hinge.integrators.tableaus import Tableau
from hinge.model import Model
from hinge.model.driven import stopped
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
    probe: Probe | None = None  # of an explicit method

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


def advanced(model: Model, tableau: Tableau, q: PerJoint, v: Flat, h: Scalar, system: System) -> Made:
    """A step of h seconds from q and v."""
    rolls = tableau.stages > 1 and is_chain(tableau) and model.nv >= ROLLED
    if rolls and type(h) is Expr and not h.graph.straight:
        return rolled(model, tableau, q, v, h, system.acceleration)
    chart = _Group(model, q) if tableau.group else _Coordinates(model, q)
    velocities = Carried(system, q) if tableau.carries else AsTheyAre()
    moves: list[Flat] = []
    gains: list[Flat] = []
    pivots: list[Scalar] = []
    for c, row in zip(tableau.c, tableau.a, strict=True):
        shift = _weighted(row, moves, h)
        at = chart.at(shift)
        speed = velocities.at(c, at, _plus(v, _weighted(row, gains, h)))
        gain, pivot = system.acceleration(c, at, speed)
        moves.append(chart.rate(shift, at, speed))
        gains.append(velocities.rate(c, at, speed, gain))
        pivots.append(lowest(pivot))
    end = _plus(v, _weighted(tableau.b, gains, h))
    if tableau.late:
        moves = [chart.rate([], chart.at([]), end)]
    sums = [projected(gain) for gain in gains]
    probe = Probe(inner(tableau.b, sums), sums[0], inner(stage_weights(tableau.stages), sums))
    stages, placed = list(zip(moves, gains, strict=True)), chart.end(_weighted(tableau.b, moves, h))
    return Made(placed, velocities.at(1.0, placed, end), stages, pivots, probe=probe)


def rolled(model: Model, tableau: Tableau, q: PerJoint, v: Flat, h: Expr, acceleration: Callable[..., Any]) -> Made:
    """A step of which each stage needs only the one before it: a stage is traced once, and the stages are a loop.

    What a stage adds up is added in the order of `advanced`; only constants are not multiplied together beforehand.
    """
    chart = _Coordinates(model, q)
    before = Table([row[-1] if row else 0.0 for row in tableau.a])
    weights, places = Table(tableau.b), Table(tableau.c)
    firsts, changes = Table([1.0] + [0.0] * (tableau.stages - 1)), Table(stage_weights(tableau.stages))
    nq, nv = len(chart.q), len(v)

    def stage(k: Scalar, *now: Scalar) -> Flat:
        move, gain, moved, gained, (first, change, least) = _split(now, nq, nv, nq, nv, 3)
        shift = [h * (before[k] * x) for x in move]
        at, speed = chart.at(shift), _plus(v, [h * (before[k] * x) for x in gain])
        gain, pivot = acceleration(places[k], at, speed)
        move = chart.rate(shift, at, speed)
        moved = [a + weights[k] * x for a, x in zip(moved, move, strict=True)]
        gained = [a + weights[k] * x for a, x in zip(gained, gain, strict=True)]
        worst = select(less(0.0, least), minimum(least, lowest(pivot)), least)
        summed = projected(gain)
        return [*move, *gain, *moved, *gained, first + firsts[k] * summed, change + changes[k] * summed, worst]

    begun = (*[0.0] * (2 * (nq + nv) + 2), math.inf)
    made = traced(h.graph, tableau.stages, 0, begun, stage, None)
    _, _, moved, gained, (first, change, least) = _split(made, nq, nv, nq, nv, 3)
    probe = Probe(projected(gained), first, change)
    return Made(chart.end([h * x for x in moved]), _plus(v, [h * x for x in gained]), [], [least], probe=probe)


def _split(flat: Sequence[Scalar], *sizes: int) -> list[Flat]:
    made, at = [], 0
    for n in sizes:
        made.append(list(flat[at : at + n]))
        at += n
    return made


def is_chain(tableau: Tableau) -> bool:
    """Whether each stage of a method needs only the one before it."""
    return not tableau.group and not tableau.late and all(not any(row[:-1]) for row in tableau.a)


class AsTheyAre:
    """Velocities in the axes of their bodies, which methods of higher order add to as they are."""

    def at(self, c: Scalar, q: PerJoint, v: Flat) -> Flat:
        return v

    def rate(self, c: Scalar, q: PerJoint, v: Flat, a: Flat) -> Flat:
        return a


class Carried:
    """Velocities at the configuration q where a step starts; others are carried there with their momentum."""

    def __init__(self, system: System, q: PerJoint) -> None:
        self.body, self.q = system.body, q

    def at(self, c: Scalar, q: PerJoint, v: Flat) -> Flat:
        """Return velocities v as they are at another configuration, at a share c of the step."""
        return carried(Floating(self.body(0.0), self.q), v, Floating(self.body(c), q))

    def rate(self, c: Scalar, q: PerJoint, v: Flat, a: Flat) -> Flat:
        """Return how fast velocities change that are v there and have accelerations a."""
        here, start = stopped(self.body(c)), stopped(self.body(0.0))
        return carried(Floating(here, q), Floating(self.body(c), q).counted(v, a), Floating(start, self.q))


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
