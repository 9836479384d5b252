"""Rows of the soft law that one number each says: limits, dry friction, couplings, and frames held together.

A row wants J a to be `reference`, and pushes with f = -D (J a - reference) within bounds: none for what has to stay
together, 0 from below for a limit, the size of dry friction either way.
Source: MuJoCo's documentation, "Computation"; see docs/contact.md.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

from hinge.contact.laws.soft_parameters import Length, SoftHold, SoftLimit, SoftParameters, SoftTurn, has_limit
from hinge.contact.slot_rows import Column, columns
from hinge.dynamics.kinematics import (
    axes_in_base,
    bias_accelerations_in_base,
    joint_velocities_in_base,
    poses,
    velocities_in_base,
)
from hinge.graph import Scalar, absolute, inner, less, maximum, minimum, power, select, sqrt
from hinge.integrators.steps import Flat, PerJoint
from hinge.model import Model
from hinge.model.file_physics import TINY, Softness
from hinge.model.numbers import FAR
from hinge.model.symbols import unknown
from hinge.spatial import Mat3, Motion, MotionSpace, Vec3, cross3, dot3
from hinge.spatial.rotation import quaternion_from_rotation, quaternion_log, unit


class Row(NamedTuple):
    """One row: its entries by velocity, what J a is wanted to be, stiffness, and the bounds of its force."""

    J: dict[int, Scalar]
    reference: Scalar
    D: Scalar
    low: float = -math.inf
    high: float = math.inf

    def of(self, a: Sequence[Scalar]) -> Scalar:
        """J a."""
        return inner(list(self.J.values()), [a[v] for v in self.J])

    def force(self, x: Scalar) -> tuple[Scalar, Scalar]:
        """The force at x = J a - reference, and its slope against x."""
        push = -self.D * x
        within = select(less(self.low, push), select(less(push, self.high), self.D, 0.0), 0.0)
        return minimum(maximum(push, self.low), self.high), within


def impedance(imp: Sequence[Scalar], off: Scalar) -> Scalar:
    """How much of a constraint's force is its own, at a distance from where it begins: a smooth step from d0 to d1."""
    d0, d1, width, middle, p = imp
    x = minimum(absolute(off) / width, 1.0)
    below = middle * power(x / middle, p)
    above = 1.0 - (1.0 - middle) * power((1.0 - x) / (1.0 - middle), p)
    return d0 + (d1 - d0) * select(less(middle, x), above, below)


def stiffness(part: Scalar, weight: Scalar) -> Scalar:
    """D, from the impedance and how much gives way."""
    return 1.0 / maximum((1.0 - part) / part * weight, TINY)


def pull(numbers: Sequence[Scalar], h: Scalar) -> tuple[Scalar, Scalar]:
    """Stiffness and damping towards the reference with steps of h: see Softness.pull."""
    k, b, t, s = numbers
    rate = 1.0 / maximum(t, s * h)
    return k * rate * rate, b * rate


def soft_rows(model: Model, law: SoftParameters, q: PerJoint, qd: PerJoint, qdd: PerJoint, h: Scalar) -> list[Row]:
    """The rows of a state; qdd are the joint accelerations that count as none."""
    at, v = model.flat(q), model.flat(qd)
    made = [row for limit in law.limits for row in _limit(limit, at, v, h)]
    made += [_turn(turn, at, v, h) for turn in law.turns]
    for one in law.frictions:
        D = stiffness(one.softness.impedance[0], one.weight)
        J = _entries(one.length)
        made.append(Row(J, -pull(one.softness.pull, h)[1] * _along(J, v), D, -one.size, one.size))
    for two in law.couplings:
        J, off = _entries(two.length), _length(two.length, at) - two.coefficients[0]
        if two.other is not None:
            x, c = _length(two.other, at), two.coefficients
            off = off - x * (c[1] + x * (c[2] + x * (c[3] + x * c[4])))
            slope = c[1] + x * (2.0 * c[2] + x * (3.0 * c[3] + x * (4.0 * c[4])))
            for k, entry in _entries(two.other).items():
                J[k] = J.get(k, 0.0) - slope * entry
        part = impedance(two.softness.impedance, off)
        made.append(_wanted(J, v, off, part, two.weight, two.softness, h))
    return [*made, *_holds(model, law.holds, q, qd, qdd, v, h)]


def _limit(limit: SoftLimit, q: Flat, v: Flat, h: Scalar) -> list[Row]:
    """A row for each end, or one for the nearer where the margins of both cannot be passed at once."""
    x, given = _length(limit.length, q), unknown((limit.lower, limit.upper))
    ends = [(x - limit.lower, 1.0)] * has_limit(limit.lower) + [(limit.upper - x, -1.0)] * has_limit(limit.upper)
    if given:  # infinite ones are far
        ends = [(minimum(gap, FAR), sign) for gap, sign in ends]
    if len(ends) == 2 and (limit.margin == 0.0 if given else 2.0 * limit.margin <= limit.upper - limit.lower):
        (below, _), (above, _) = ends
        ends = [(minimum(below, above), select(less(above, below), -1.0, 1.0))]
    made = []
    for gap, sign in ends:
        J = {k: sign * c for k, c in _entries(limit.length).items()}
        made.append(_pushing(J, v, gap, limit, h))
    return made


def _turn(turn: SoftTurn, q: Flat, v: Flat, h: Scalar) -> Row:
    """The angle of a ball joint, which velocities change along the axis it is turned about."""
    log = quaternion_log(unit(q[turn.q : turn.q + 4]))
    angle = sqrt(maximum(dot3(log, log), TINY * TINY))
    J = {turn.v + k: -x / angle for k, x in enumerate(log)}
    return _pushing(J, v, turn.most - angle, turn, h)


def _pushing(J: dict[int, Scalar], v: Flat, gap: Scalar, limit: SoftLimit | SoftTurn, h: Scalar) -> Row:
    """A row that pushes where a gap is less than its margin, and never pulls."""
    off = gap - limit.margin
    row = _wanted(J, v, off, impedance(limit.softness.impedance, off), limit.weight, limit.softness, h)
    return row._replace(D=select(less(off, 0.0), row.D, 0.0), low=0.0)


def _entries(length: Length) -> dict[int, Scalar]:
    made: dict[int, Scalar] = {}
    for _, v, c in length.parts:
        made[v] = made.get(v, 0.0) + c
    return made


def _length(length: Length, q: Flat) -> Scalar:
    return inner([c for *_, c in length.parts], [q[k] for k, *_ in length.parts]) - length.reference


def _along(J: dict[int, Scalar], v: Flat) -> Scalar:
    return inner(list(J.values()), [v[k] for k in J])


def _wanted(
    J: dict[int, Scalar],
    v: Flat,
    off: Scalar,
    part: Scalar,
    weight: float,
    softness: Softness,
    h: Scalar,
    bias: Scalar = 0.0,
) -> Row:
    """A row that pulls what is off back to zero; `bias` is its acceleration where velocities do not change."""
    k, b = pull(softness.pull, h)
    return Row(J, -b * _along(J, v) - k * part * off - bias, stiffness(part, weight))


class Side(NamedTuple):
    """One of two places that are held together: its body, and where it is."""

    body: int
    p: Vec3
    R: Mat3


def _holds(
    model: Model, holds: Sequence[SoftHold], q: PerJoint, qd: PerJoint, qdd: PerJoint, speeds: Flat, h: Scalar
) -> list[Row]:
    """Three rows for the places of a hold, and three for their axes where these are held too."""
    if not holds:
        return []
    R, r = poses(model, q)
    S = axes_in_base(model, q, R, r)
    vJ = joint_velocities_in_base(model, q, qd, S, R, r)
    v = velocities_in_base(model, vJ)
    a = _accelerated(model, S, bias_accelerations_in_base(model, q, qd, vJ, v, R, r), qdd)
    axes, made = columns(model, q), []
    for hold in holds:
        places = [model.frame(seat.frame).then(seat.R, seat.p) for seat in (hold.one, hold.two)]
        one, two = (Side(f.body, R[f.body] @ f.p + r[f.body], R[f.body].times(f.R)) for f in places)
        offs = list(one.p - two.p)
        biases = list(_point_acceleration(v, a, one) - _point_acceleration(v, a, two))
        rows = _relative(axes, one, two, lambda m, p: m.lin + cross3(m.ang, p))
        if hold.turning:
            error, rate, drift = _turned(one, two, v, a)
            offs += [hold.turning * x for x in error]
            biases += [hold.turning * x for x in drift]
            rows += [{v: hold.turning * x for v, x in row.items()} for row in _relative(axes, one, two, rate)]
        part = impedance(hold.softness.impedance, sqrt(maximum(inner(offs, offs), TINY * TINY)))
        for k, (J, off, bias) in enumerate(zip(rows, offs, biases, strict=True)):
            made.append(_wanted(J, speeds, off, part, hold.weight[k // 3], hold.softness, h, bias))
    return made


def _accelerated(model: Model, S: Sequence[MotionSpace], still: Sequence[Motion], qdd: PerJoint) -> list[Motion]:
    """The spatial accelerations of bodies, with those of the joints added to what velocities make."""
    made, more = list(still), [Motion()] * len(still)
    for i, p in model.outward():
        more[i] = more[p] + S[i] @ qdd[i]
        made[i] = made[i] + more[i]
    return made


def _point_acceleration(v: Sequence[Motion], a: Sequence[Motion], side: Side) -> Vec3:
    """The acceleration of a point of a body."""
    speed, rate = v[side.body], a[side.body]
    return rate.lin + cross3(rate.ang, side.p) + cross3(speed.ang, speed.lin + cross3(speed.ang, side.p))


def _relative(
    axes: Sequence[Column], one: Side, two: Side, seen: Callable[[Motion, Vec3], Vec3]
) -> list[dict[int, Scalar]]:
    """Three rows: what is seen of the motion of the first side's body, less that of the second's."""
    made: list[dict[int, Scalar]] = [{}, {}, {}]
    for column in axes:
        for sign, side in ((1.0, one), (-1.0, two)):
            if column.first <= side.body <= column.last:
                for row, x in zip(made, seen(column.axis, side.p), strict=True):
                    row[column.v] = row.get(column.v, 0.0) + sign * x
    return made


def _turned(
    one: Side, two: Side, v: Sequence[Motion], a: Sequence[Motion]
) -> tuple[Vec3, Callable[[Motion, Vec3], Vec3], Vec3]:
    """The vector part of the quaternion that turns the second side's axes into the first's; what a motion of the first
    makes of it a second; and its acceleration where velocities do not change."""
    scalar, *rest = quaternion_from_rotation(two.R.T.times(one.R))
    error = Vec3(tuple(rest))

    def rate(u: Vec3, s: Scalar = scalar, e: Vec3 = error) -> Vec3:
        return (u * s + cross3(u, e)) * 0.5

    between = v[one.body].ang - v[two.body].ang
    w = two.R.T @ between
    turning = two.R.T @ (a[one.body].ang - a[two.body].ang - cross3(v[two.body].ang, between))
    drift = rate(turning) + rate(w, -0.5 * dot3(w, error), rate(w))
    return error, lambda m, _: rate(two.R.T @ m.ang), drift
