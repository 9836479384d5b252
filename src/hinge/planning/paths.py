"""A path, and what the limits say of the pace along it.

    qd = q' ṡ,    qdd = q' s̈ + q'' ṡ²
    tau = α s̈ + β ṡ² + γ

Along a path the joint forces are linear in s̈ and ṡ², because M qdd is linear in qdd and C is quadratic in qd. Inverse
dynamics at three paces of each point, all of them in one batch, tell the three coefficients. Accelerations are linear
in the same way, and velocities are kept by ṡ² alone. So every limit is a row |α s̈ + β ṡ² + γ| ≤ 1, in shares of it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from hinge.arguments import Array, real
from hinge.errors import NotCovered, SizeError
from hinge.graph.arrays import Symbols, symbols
from hinge.robot import Robot

Path = Callable[[Array], tuple[Array, Array, Array]]


class Limit(NamedTuple):
    """A limit: whose it is, of what ("effort", "velocity" or "acceleration"), and the share of it that is used."""

    joint: str
    kind: str
    share: float


class Rows(NamedTuple):
    """The coefficients of every limit at points of a path, each (points, rows)."""

    slope: Array  # α
    square: Array  # β
    rest: Array  # γ

    def shares(self, speed2: Array, pull: Array) -> Array:
        """The share of each limit that is used at ṡ² and s̈, (points,) each."""
        return self.slope * pull[:, None] + self.square * speed2[:, None] + self.rest

    def at(self, which: Any) -> Rows:
        """Those of some points."""
        return Rows(*(x[which] for x in self))


@dataclass(frozen=True, eq=False)
class Limits:
    """What a robot may do along a path: finite limits of velocities, forces and accelerations, and the load."""

    robot: Robot
    velocity: Array  # (nv) each, infinite where there is none
    effort: Array
    acceleration: Array
    calls: Mapping[str, Any]  # what goes to inverse dynamics besides

    @property
    def labels(self) -> list[tuple[str, str]]:
        """(joint, kind) of each row."""
        joints = [self.robot.model.joint_name[i] for i in self.robot.model.leaders
                  for _ in range(self.robot.model.joint[i].nv)]  # fmt: skip
        kinds = ("effort", self.effort), ("acceleration", self.acceleration), ("velocity", self.velocity)
        return [(joints[k], kind) for kind, bound in kinds for k in np.flatnonzero(np.isfinite(bound))]

    def rows(self, q: Array, dq: Array, ddq: Array) -> Rows:
        """The rows of points of a path."""
        zero = np.zeros_like(dq)
        force: tuple[Array, ...] = ()
        if np.isfinite(self.effort).any():
            speed, pull = np.array([[1.0, 2.0, 1.0], [0.0, 0.0, 1.0]])[..., None, None]  # three paces: ṡ and s̈
            qd, qdd = dq * speed, dq * pull + ddq * speed**2
            slow, fast, pulled = self.robot.inverse_dynamics(q, qd, qdd, **self.calls)
            square = _less(fast, slow) / 3.0
            force = _less(pulled, slow), square, slow - square
        parts = (self.effort, force), (self.acceleration, (dq, ddq, zero)), (self.velocity**2, (zero, dq * dq, zero))
        kept = [(bound[ok], [x[:, ok] for x in part]) for bound, part in parts if (ok := np.isfinite(bound)).any()]
        columns = zip(*([x / bound for x in part] for bound, part in kept), strict=True)
        return Rows(*(np.concatenate(column, axis=1) for column in columns))


def used(labels: Sequence[tuple[str, str]], shares: Array) -> Array:
    """The shares of limits as one thinks of them: those of velocities are squares in the rows."""
    squares = np.array([kind == "velocity" for _, kind in labels])
    return np.where(squares, np.sqrt(np.abs(shares)), np.abs(shares))


def _less(a: Array, b: Array) -> Array:
    """a - b, and zero where only rounding tells them apart: ṡ² may be large."""
    return np.where(np.abs(a - b) <= 1e-13 * (np.abs(a) + np.abs(b)), 0.0, a - b)


def checked_limits(
    call: str, robot: Robot, velocity: Any, effort: Any, acceleration: Any, calls: Mapping[str, Any]
) -> Limits:
    """The limits of a call: the robot's own where none are given, and at least one that is finite."""
    if "damping" in calls["joint_terms"]:
        raise NotCovered(
            f"{call}: joint_terms has 'damping', whose force grows with ṡ; only what goes with ṡ² or does not change "
            "can be planned with.\n  Leave it out, and lower the effort limits instead."
        )
    given = {"velocity": velocity, "effort": effort, "acceleration": acceleration}
    own = {"velocity": robot.limits.velocity, "effort": robot.limits.effort, "acceleration": np.full(robot.nv, np.inf)}
    made = {}
    for name, value in given.items():
        bound = own[name] if value is None else real(f"{call}: {name}", value).astype(float)
        if bound.shape not in ((), (robot.nv,)):
            raise SizeError(f"{call}: {name} has shape {bound.shape}, robot {robot.name!r} has nv = {robot.nv}.")
        made[name] = bound = np.broadcast_to(bound, (robot.nv,))
        if not (bound > 0.0).all():
            k = int(np.flatnonzero(~(bound > 0.0))[0])
            raise SizeError(
                f"{call}: {robot.model.joint_label()(k)} has the {name} limit {bound[k]}. Give a positive number, or "
                "infinity for none."
            )
    if not any(np.isfinite(bound).any() for bound in made.values()):
        raise SizeError(f"{call}: nothing limits robot {robot.name!r}. Give velocity=, effort= or acceleration=.")
    return Limits(robot, calls=calls, **made)


def as_path(call: str, robot: Robot, given: Any) -> Path:
    """A path or a motion as a path, checked each time it is asked."""
    if not callable(given):
        raise SizeError(f"{call}: the path is a {type(given).__name__}; it has to be a function of s, or a motion.")
    duration = float(getattr(given, "duration", 0.0))
    scales = (1.0, duration, duration**2) if duration else (1.0, 1.0, 1.0)  # of derivatives by t made by s

    def path(s: Array) -> tuple[Array, Array, Array]:
        made = given(s * duration if duration else s)
        if not isinstance(made, Sequence) or len(made) != 3:
            raise SizeError(f"{call}: the path gave a {type(made).__name__}; it has to give q, q' and q''.")
        arrays = []
        for name, x, n, scale in zip(("q", "q'", "q''"), made, (robot.nq, robot.nv, robot.nv), scales, strict=True):
            traced = np.asarray(x).dtype == object and isinstance(s, Symbols)
            x = symbols(x) if traced else real(f"{call}: {name} of the path", x).astype(float)
            if x.shape != (len(s), n):
                raise SizeError(
                    f"{call}: for {len(s)} points the path gave {name} of shape {x.shape}; it has to be {(len(s), n)}."
                )
            if not traced and not np.isfinite(x).all():
                raise SizeError(
                    f"{call}: {name} of the path is not finite at s = {s[~np.isfinite(x).all(axis=1)][0]:.4g}."
                )
            arrays.append(x * scale)
        return arrays[0], arrays[1], arrays[2]

    return path
