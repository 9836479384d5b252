"""A configuration as what a person moves: angles and ways, a base as x, y, z and roll, pitch, yaw.

Of a joint with a quaternion the handles are its ways first, then roll, pitch and yaw: turns about the fixed axes of
what carries it, R = Rz(yaw) Ry(pitch) Rx(roll).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hinge.arguments import Array
from hinge.calls.numbers import limits_of
from hinge.model.model import Model
from hinge.model.states import limits
from hinge.robot import Robot
from hinge.spatial.rotation import quaternion_from_rotation, rotation_from_quaternion

from hinge.spatial.rotation import rotation_from_rpy, rpy_from_rotation  # isort: skip
from hinge.sim.units import FORCE, coordinates, velocities

REACH = {"rad": np.pi, "m": 2.0, "1": 1.0}  # how far a handle goes where a joint has no limit
TURNS = (("roll", np.pi), ("pitch", np.pi / 2), ("yaw", np.pi))
WAYS = {1: ("way",), 2: ("x", "y"), 3: ("x", "y", "z")}


class Handle(NamedTuple):
    """A number of a configuration that is moved: of which body's joint, what it is called there, and how far it goes.

    `of` is empty where it is the joint's only one.
    """

    body: int
    of: str
    unit: str
    low: float
    high: float

    def name(self, model: Model) -> str:
        """What it is called among all: the joint's name, and what of it."""
        joint = model.joint_name[self.body]
        return f"{joint}{'' if self.of.startswith('[') or not self.of else ' '}{self.of}"

    def within(self, value: float, otherwise: float) -> float:
        """A number that may be any, within its limits; `otherwise` in the place of NaN."""
        return min(max(value, self.low), self.high) if value == value else otherwise


def handles(model: Model) -> list[Handle]:
    """The handles of all joints, in the order of the coordinates.

    >>> from hinge.viewing.posing import handles
    >>> [(one.of, one.unit) for one in handles(hinge.samples.planar_2r().model)]
    [('', 'rad'), ('', 'rad')]
    """
    bounds = limits(model)
    made = []
    for i in model.leaders:
        at, _ = model.slices[i]
        units = coordinates(model, i)
        ranges = [_range(*ends) for ends in zip(bounds.lower[at], bounds.upper[at], units, strict=True)]
        if _turns(model, i):
            ways = WAYS.get(len(units) - 4, ())
            made += [Handle(i, way, "m", *ends) for way, ends in zip(ways, ranges[4:], strict=True)]
            made += [Handle(i, turn, "rad", -most, most) for turn, most in TURNS]
        else:
            of = [f"[{k}]" for k in range(len(units))] if len(units) > 1 else [""]
            made += [Handle(i, one, u if u != "1" else "", *r) for one, u, r in zip(of, units, ranges, strict=False)]
    return made


def values(model: Model, q: Array) -> Array:
    """What the handles stand at in a configuration q (nq)."""
    made: list[float] = []
    for i in model.leaders:
        at, _ = model.slices[i]
        own = q[at].tolist()
        made += [*own[4:], *rpy_from_rotation(rotation_from_quaternion(own[:4]))] if _turns(model, i) else own
    return np.array(made, float)


def configuration(model: Model, values: Array) -> Array:
    """The configuration q (nq) in which the handles stand at these values."""
    made: list[float] = []
    rest = [float(x) for x in values]
    for i in model.leaders:
        turns, nq = _turns(model, i), model.joint[i].nq
        own, rest = rest[: nq - turns], rest[nq - turns :]
        made += [*quaternion_from_rotation(rotation_from_rpy(*own[-3:])), *own[:-3]] if turns else own
    return np.array(made, float)


def _turns(model: Model, i: int) -> bool:
    """Whether the first four coordinates of a joint are a quaternion."""
    return coordinates(model, i)[:4] == ["1"] * 4


def _range(low: float, high: float, unit: str) -> tuple[float, float]:
    low, high = low if np.isfinite(low) else -REACH[unit], high if np.isfinite(high) else REACH[unit]
    return float(low), float(max(high, low + 1e-6))


class Held(NamedTuple):
    """What a joint has to hold against gravity: joint force, its unit, and as a share of its limit where it has one."""

    body: int
    of: str
    force: float
    unit: str
    share: float | None


def held(robot: Robot, q: Array) -> list[Held]:
    """What the joints hold at rest in q (nq), with a floating base held too; nothing of a robot with loops.

    >>> from hinge.viewing.posing import held
    >>> arm = hinge.samples.planar_2r()
    >>> np.allclose([one.force for one in held(arm, np.zeros(2))], arm.gravity_force(np.zeros(2)))
    True
    """
    model = robot.model
    made: list[Held] = []
    if model.loops:  # which share the weight in a way that the tree does not know
        return made
    force, most = robot.gravity_force(q), limits_of(robot.target).effort
    for i in model.leaders:
        _, at = model.slices[i]
        units = [FORCE[unit] for unit in velocities(model, i)]
        of = [f"[{k}]" for k in range(len(units))] if len(units) > 1 else [""]
        for one, unit, tau, limit in zip(of, units, force[at], most[at], strict=True):
            share = abs(float(tau)) / float(limit) if np.isfinite(limit) and limit > 0.0 else None
            made.append(Held(i, one, float(tau), unit, share))
    return made
