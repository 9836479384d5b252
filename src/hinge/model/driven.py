"""Rheonomic joints: part of the motion, or all of it, is a given function of time.

    v = S q̇ + ξ

featherstone1987 7.4.4. What is driven is not among the robot's coordinates; its value, rate and acceleration are
inputs of every program. A driven joint is its joint with numbers put in for some of its coordinates.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from hinge.errors import NotCovered, SizeError
from hinge.graph.expr import Scalar
from hinge.model.joints import Joint
from hinge.model.model import JointData, Model
from hinge.spatial.linear3 import Vec3
from hinge.spatial.transform import Transform
from hinge.spatial.vectors import ForceSpace, Motion, MotionSpace


@dataclass(frozen=True)
class Driven(Joint):
    """A joint some of whose velocities are given; `value`, `rate` and `acceleration` have an entry for each of them."""

    inner: Joint
    parts: tuple[int, ...]
    value: tuple[Scalar, ...] = ()
    rate_: tuple[Scalar, ...] = ()
    acceleration: tuple[Scalar, ...] = ()

    @property
    def whole(self) -> bool:
        return len(self.parts) == self.inner.nv

    @property
    def nq(self) -> int:  # type: ignore[override]
        return 0 if self.whole else self.inner.nq - len(self.parts)

    @property
    def nv(self) -> int:  # type: ignore[override]
        return self.inner.nv - len(self.parts)

    @property
    def driven_nq(self) -> int:
        """How many coordinates are given."""
        return self.inner.nq - self.nq

    @property
    def kind(self) -> str:  # type: ignore[override]
        return f"driven {self.inner.kind}"

    @property
    def rates_are_velocities(self) -> bool:  # type: ignore[override]
        return self.inner.rates_are_velocities

    def _all(self, free: Sequence[Scalar], given: Sequence[Scalar]) -> list[Scalar]:
        """Free and given entries in their places."""
        if self.whole:
            return list(given)
        left, held = iter(free), dict(zip(self.parts, given, strict=True))
        return [held[k] if k in held else next(left) for k in range(self.inner.nv)]

    def _free(self, entries: Sequence[Scalar]) -> list[Scalar]:
        return [] if self.whole else [x for k, x in enumerate(entries) if k not in self.parts]

    def full(self, q: Sequence[Scalar]) -> list[Scalar]:
        """All coordinates, those that are given among them."""
        return self._all(q, self.value)

    def full_rate(self, q: Sequence[Scalar], qd: Sequence[Scalar]) -> list[Scalar]:
        """The rates of all coordinates where those that are given stand still."""
        return self._all(qd, [0.0] * self.driven_nq)

    def transform(self, q: Sequence[Scalar]) -> Transform:
        return self.inner.transform(self._all(q, self.value))

    def axes(self, q: Sequence[Scalar]) -> MotionSpace:
        return MotionSpace(self._free(self.inner.axes(self._all(q, self.value))))

    def positive(self, q: Sequence[Scalar]) -> list[Scalar]:
        return self.inner.positive(self._all(q, self.value))

    def drift(self, q: Sequence[Scalar]) -> Motion:
        return self.inner.axes(self._all(q, self.value)) @ self._all([0.0] * self.nv, self.rate_)

    def axes_rate(self, q: Sequence[Scalar], qd: Sequence[Scalar]) -> MotionSpace:
        return MotionSpace(self._free(self.inner.axes_rate(self._all(q, self.value), self._all(qd, self.rate_))))

    def bias(self, q: Sequence[Scalar], qd: Sequence[Scalar]) -> Motion:
        position = self._all(q, self.value)
        given = self.inner.axes(position) @ self._all([0.0] * self.nv, self.acceleration)
        return self.inner.bias(position, self._all(qd, self.rate_)) + given

    def actuation(self, q: Sequence[Scalar]) -> ForceSpace:
        return ForceSpace(self._free(self.inner.actuation(self._all(q, self.value))))

    def neutral(self) -> list[float]:
        return self._free(self.inner.neutral())

    def random(self, rng: np.random.Generator, n: int, lower: Sequence[float], upper: Sequence[float]) -> np.ndarray:
        free = [k for k in range(self.inner.nv) if k not in self.parts] if not self.whole else []
        low, high = [-np.inf] * self.inner.nq, [np.inf] * self.inner.nq
        for k, a, b in zip(free, lower, upper, strict=True):
            low[k], high[k] = a, b
        return self.inner.random(rng, n, low, high)[:, free]

    @property
    def is_ours(self) -> bool:
        return self.inner.is_ours

    @property
    def line(self) -> Vec3 | None:
        return self.inner.line

    def on_z(self) -> Driven | None:
        upright = self.inner.on_z()
        return None if upright is None else replace(self, inner=upright)


def prescribe(model: Model, which: Mapping[str, Sequence[int] | None]) -> Model:
    """The model with joints driven: for each name the numbers of the velocities that are given, or None for all."""
    joints, data = list(model.joint), list(model.data)
    for name, given in which.items():
        i = model.joint_number(name)
        joint = model.joint[i]
        if given is not None and (isinstance(given, str) or not isinstance(given, Sequence | np.ndarray)):
            raise SizeError(f"prescribe: {name}={given!r} is no list. Give the numbers of its velocities, as [0].")
        parts = tuple(range(joint.nv)) if given is None else tuple(sorted(set(given)))
        coupled = i in model.follows or any(f.leader == i for f in model.follows.values())
        why = (
            "it is coupled to another joint" if coupled
            else "it is driven already" if isinstance(joint, Driven)
            else f"it has no velocity {parts}" if not parts or not set(parts) <= set(range(joint.nv))
            else "its velocities are not rates of its coordinates, so only all of it can be driven"
            if len(parts) < joint.nv and not joint.rates_are_velocities
            else ""
        )  # fmt: skip
        if why:
            raise NotCovered(f"joint {name!r} cannot be driven: {why}.")
        joints[i] = driven = Driven(joint, parts)
        data[i] = _kept(model.data[i], driven)
    return replace(model, joint=tuple(joints), data=tuple(data))


def _kept(data: JointData, joint: Driven) -> JointData:
    names = (
        "lower",
        "upper",
        "velocity",
        "effort",
        "damping",
        "friction",
        "stiffness",
        "armature",
        "reference",
        "rest",
    )
    kept: dict[str, Any] = {n: tuple(joint._free(getattr(data, n))) if getattr(data, n) else () for n in names}
    return replace(data, **kept)


def sizes(model: Model) -> tuple[int, int]:
    """How many coordinates and how many velocities are given."""
    driven = [joint for joint in model.joint if isinstance(joint, Driven)]
    return sum(j.driven_nq for j in driven), sum(len(j.parts) for j in driven)


def put(model: Model, flat: Sequence[Scalar]) -> Model:
    """The model with scalars for what is driven: all values, then all rates, then all accelerations."""
    nq, nv = sizes(model)
    value, rate, acceleration = flat[:nq], flat[nq : nq + nv], flat[nq + nv :]
    joints, q, v = list(model.joint), 0, 0
    for i, joint in enumerate(model.joint):
        if isinstance(joint, Driven):
            n, m = joint.driven_nq, len(joint.parts)
            joints[i] = replace(joint, value=tuple(value[q : q + n]), rate_=tuple(rate[v : v + m]),
                                acceleration=tuple(acceleration[v : v + m]))  # fmt: skip
            q, v = q + n, v + m
    return replace(model, joint=tuple(joints))


def stopped(model: Model) -> Model:
    """The model with what is driven standing where it is."""
    nq, nv = sizes(model)
    return put(model, [*motion(model)[:nq], *[0.0] * (2 * nv)]) if nv else model


def motion(model: Model) -> list[Scalar]:
    """The scalars that were put in for what is driven: all values, then all rates, then all accelerations."""
    joints = [joint for joint in model.joint if isinstance(joint, Driven)]
    return [x for part in ("value", "rate_", "acceleration") for joint in joints for x in getattr(joint, part)]


def motion_rates(model: Model) -> list[Scalar]:
    """How fast those values and rates change."""
    joints = [joint for joint in model.joint if isinstance(joint, Driven)]
    values = [x for j in joints for x in (j.inner.rate(j.value, j.rate_) if j.whole else j.rate_)]
    return [*values, *(x for joint in joints for x in joint.acceleration)]


def driven(model: Model) -> str:
    """Which joint moves by itself, if any: why an algorithm refuses the model."""
    names = [model.joint_name[i] for i, joint in enumerate(model.joint) if isinstance(joint, Driven)]
    return f"joint {names[0]!r} is driven" if names else ""
