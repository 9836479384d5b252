"""Dry friction and position limits at the end of a step: impulses at the joints that stay within bounds.

    v' = v + H⁻¹ λ        low ≤ λ ≤ high        λ_i = low where v'_i > 0, high where v'_i < 0, any where v'_i = 0

Friction f of a joint bounds its impulse by f h either way; a limit that is reached may push without bound, away from
it. Both are one law a joint, so a joint sticks, slides, stands at its stop, or does both. Loops and constraints take
part: λ acts on what they leave free.
Source: the bounds are those of Coulomb's law and of a plastic impact (featherstone1987, 9.8); solved by principal
pivots, many at once (Júdice and Pires 1994), one at a time where that goes round in circles (Murty 1974).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from hinge.constraints.multipliers import Held, Keeping, Semidefinite, factored
from hinge.dynamics.composite import composite
from hinge.graph import Expr, Scalar, absolute, inner, less, maximum, minimum, select, total, when
from hinge.graph.loops import traced
from hinge.graph.scalars import largest
from hinge.integrators.floating import Floating, carried
from hinge.integrators.steps import Flat, PerJoint
from hinge.model import Model
from hinge.model.states import joint_limits
from hinge.model.symbols import unknown

TRIES = 4  # turns that exchange many pivots without getting better, before they are exchanged one by one
ROUND = 1e-13  # of the largest velocity: what is left of one that vanishes
NONE = 1e-200  # rad/s, m/s: a velocity that is zero


class JointBound(NamedTuple):
    """A velocity whose joint has friction or limits: its place among velocities and coordinates, and what bounds it."""

    v: int
    q: int
    friction: Scalar
    lower: Scalar
    upper: Scalar

    @property
    def sticks(self) -> bool:
        """Whether there is friction."""
        return unknown((self.friction,)) or self.friction > 0.0

    @property
    def stops(self) -> bool:
        """Whether there are limits."""
        return unknown((self.lower, self.upper)) or math.isfinite(self.lower) or math.isfinite(self.upper)


def joint_bounds(model: Model, friction: bool, stops: bool) -> list[JointBound]:
    """The velocities that have friction, or limits where these are stops."""
    made = []
    for i in model.leaders:
        (lower, upper, _), (at_q, at_v), single = joint_limits(model, i), model.slices[i], model.joint[i].is_single
        for k in range(model.joint[i].nv):
            rub = _rubs(model, i, k) if friction else 0.0
            ends = (lower[0], upper[0]) if stops and single else (-math.inf, math.inf)
            one = JointBound(at_v.start + k, at_q.start if single else -1, rub, *ends)
            if one.sticks or one.stops:
                made.append(one)
    return made


def _rubs(model: Model, i: int, k: int) -> Scalar:
    """The friction of a joint's velocity, with that of the joints that follow it."""
    own = model.data[i].friction
    rub: Scalar = own[k] if own else 0.0
    for j, follow in model.follows.items():
        if follow.leader == i and model.data[j].friction:
            rub = rub + absolute(follow.ratio) * model.data[j].friction[k]
    return rub


def sliding_friction(rows: Sequence[JointBound], v: Flat) -> dict[int, Scalar]:
    """The friction of joints that slide at the start of a step, by the direction they slide in."""
    return {one.v: select(less(0.0, v[one.v]), one.friction, select(less(v[one.v], 0.0), -one.friction, 0.0))
            for one in rows if one.sticks}  # fmt: skip


class ImpulseResult(NamedTuple):
    """The state after impulses, and 0 where none were found that keep the bounds."""

    q: PerJoint
    v: Flat
    settled: Scalar


def joint_impulses(model: Model, rows: Sequence[JointBound], start: tuple[Flat, Flat], q: PerJoint, v: Flat, h: Scalar,
           late: float, held: Held | None) -> ImpulseResult:  # fmt: skip
    """The state at the end of a step with impulses of friction and stops.

    `start` is the state at its beginning, `held` what loops and constraints forbid at its end. Positions
    follow the impulses of friction over a share `late` of the step.
    """
    if not rows:
        return ImpulseResult(q, v, 1.0)
    flat, rub = model.flat(q), sliding_friction(rows, start[1])
    low, high, needs = [], [], []
    for one in rows:
        speed, force = v[one.v], rub.get(one.v, 0.0)
        below = less(flat[one.q], one.lower) if one.stops else 0.0
        above = less(one.upper, flat[one.q]) if one.stops else 0.0
        low.append(select(above, -math.inf, h * (force - one.friction)))
        high.append(select(below, math.inf, h * (force + one.friction)))
        rising, falling = less(0.0, speed), less(speed, 0.0)
        needs.append(select(falling, select(less(0.0, high[-1]), 1.0, 0.0),
                            select(rising, select(less(low[-1], 0.0), 1.0, 0.0), 0.0)))  # fmt: skip

    inside = _stopped(model, rows, flat)
    v = carried(Floating(model, q), v, Floating(model, inside))

    def impulses(*now: Scalar) -> list[Scalar]:
        H = factored(model, composite(model, inside), held.A if held else [])
        answers = [H.solve([1.0 if k == one.v else 0.0 for k in range(model.nv)]) for one in rows]
        if held is not None:
            keeping = Keeping(H, held.A, held.state)
            answers = [keeping.kept(answer)[0] for answer in answers]
        W = [[answer[one.v] for answer in answers] for one in rows]
        force, rests, good = solve_box_constrained(W, [v[one.v] for one in rows], low, high, needs)
        after = [x + inner(column, force) for x, column in zip(v, zip(*answers, strict=True), strict=True)]
        for one, rest in zip(rows, rests, strict=True):
            after[one.v] = select(rest, 0.0, after[one.v])
        own = _friction(rows, force, low, high)
        moved = [late * h * inner(column, own) for column in zip(*answers, strict=True)] if rub else []
        return [*after, good, *moved]

    n = model.nv
    made = list(when(less(0.5, total(needs)), [*v, 1.0, *[0.0] * (n if rub else 0)], impulses))
    after, good, moved = made[:n], made[n], made[n + 1 :]
    if rub:
        moves = model.joint_velocities(moved)
        q = [joint.integrate(q[i], moves[i]) for i, joint in enumerate(model.joint)]
        flat = model.flat(q)
    end = _stopped(model, rows, _keep_stuck(rows, start, flat, after))
    return ImpulseResult(end, carried(Floating(model, inside), after, Floating(model, end)), good)


def _friction(rows: Sequence[JointBound], force: Flat, low: Flat, high: Flat) -> Flat:
    """The part of impulses that is friction's: all of it, unless a stop pushes too."""
    made = []
    for one, f, a, b in zip(rows, force, low, high, strict=True):
        free = select(less(-math.inf, a), select(less(b, math.inf), 1.0, 0.0), 0.0)
        made.append(select(free, f, 0.0) if one.stops else f)
    return made


def _keep_stuck(rows: Sequence[JointBound], start: tuple[Flat, Flat], flat: Flat, v: Flat) -> Flat:
    """Positions in which a joint that stood and stands has not moved."""
    flat = list(flat)
    for one in rows:
        if one.sticks and one.q >= 0:
            stood = select(less(absolute(start[1][one.v]), NONE), less(absolute(v[one.v]), NONE), 0.0)
            flat[one.q] = select(stood, start[0][one.q], flat[one.q])
    return flat


def _stopped(model: Model, rows: Sequence[JointBound], flat: Flat) -> PerJoint:
    """Positions of which none is beyond its stops."""
    flat = list(flat)
    for one in rows:
        if one.stops:
            flat[one.q] = maximum(minimum(flat[one.q], one.upper), one.lower)
    return model.joint_positions(flat)


def solve_box_constrained(W: Sequence[Flat], v: Flat, low: Flat, high: Flat, begin: Flat) -> tuple[Flat, Flat, Scalar]:
    """Impulses within bounds: their sizes, 1 where they bring a velocity to rest, and 1 where all was settled.

    `begin` is 1 for those that are tried at rest first; the others are at the bound that is zero.
    """
    n = len(v)
    between = [select(less(a, 0.0), less(0.0, b), 0.0) for a, b in zip(low, high, strict=True)]
    where = [
        select(maximum(b, c), 0.0, select(less(a, 0.0), 1.0, -1.0)) for a, b, c in zip(low, begin, between, strict=True)
    ]
    graph = next(x.graph for x in (*where, *v, *low, *high) if type(x) is Expr)
    slack = ROUND * largest(v)

    def turn(k: Scalar, *now: Scalar) -> list[Scalar]:
        sets, (best, tries, _) = list(now[:n]), now[n : n + 3]
        inside = [select(less(absolute(s), 0.5), 1.0, 0.0) for s in sets]
        fixed = [select(i, 0.0, select(less(s, 0.0), a, b)) for i, s, a, b in zip(inside, sets, low, high, strict=True)]
        right = [select(inside[i], -(v[i] + inner(W[i], fixed)), fixed[i]) for i in range(n)]
        matrix = [[select(inside[i], select(inside[j], W[i][j], 0.0), 0.0) if j < i else select(inside[i], W[i][i], 1.0)
                   for j in range(i + 1)] for i in range(n)]  # fmt: skip
        force = Semidefinite(matrix, [[1.0]] * n).quick(right)
        after = [v[i] + inner(W[i], force) for i in range(n)]
        better, wrong = [], []
        for i in range(n):
            into = select(less(force[i], low[i]), -1.0, select(less(high[i], force[i]), 1.0, 0.0))
            leaves = select(less(sets[i], 0.0), less(after[i], -slack), less(slack, after[i]))
            leaves = select(less(low[i], high[i]), leaves, 0.0)
            better.append(select(inside[i], into, select(leaves, 0.0, sets[i])))
            wrong.append(select(inside[i], select(less(absolute(into), 0.5), 0.0, 1.0), select(leaves, 1.0, 0.0)))
        count = total(wrong)
        gain = less(count, best)
        many = select(gain, 1.0, less(0.5, tries))
        seen: Scalar = 0.0
        for i in reversed(range(n)):  # one by one: the last that is wrong
            alone = select(less(seen, 0.5), wrong[i], 0.0)
            seen = seen + wrong[i]
            sets[i] = select(many, better[i], select(alone, better[i], sets[i]))
        left = select(gain, float(TRIES), maximum(tries - 1.0, 0.0))
        return [*sets, minimum(count, best), left, count, *force, *inside]

    begun = (*where, n + 1.0, float(TRIES), 1.0, *[0.0] * (2 * n))
    made = traced(graph, 10 + 4 * n, 0, begun, turn, lambda *now: less(now[n + 2], 0.5))
    return list(made[n + 3 : 2 * n + 3]), list(made[2 * n + 3 :]), less(made[n + 2], 0.5)
