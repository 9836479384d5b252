"""Whether a robot can make a motion: its coordinates, velocities and joint forces against their limits.

The forces are those of inverse dynamics.
Source: featherstone1987, section 4.1.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from hinge.arguments import count
from hinge.errors import SizeError
from hinge.model.coasting import floating
from hinge.model.states import labels
from hinge.motion.piecewise import Array
from hinge.robot import Robot
from hinge.typing import Motion, Term

UNMOVED = 1e-6  # of the largest force: less than this on a floating base is rounding


class Violation(NamedTuple):
    """A limit that is broken: of what and which joint, first and last when, worst when, the value then, the limit."""

    what: str  # "position", "velocity" or "effort"
    joint: str
    begin: float
    end: float
    worst: float
    value: float
    limit: float

    def __str__(self) -> str:
        return (
            f"{self.what} of {self.joint!r} is {self.value:.4g} at {self.worst:.4g} s, the limit is "
            f"{self.limit:.4g}; beyond it from {self.begin:.4g} to {self.end:.4g} s"
        )


@dataclass(frozen=True)
class MotionCheck:
    """What came out: the limits that are broken, and the motion with its joint forces at the times looked at."""

    robot: str
    violations: tuple[Violation, ...]
    t: Array
    q: Array
    qd: Array
    qdd: Array
    tau: Array

    @property
    def ok(self) -> bool:
        """Whether no limit is broken."""
        return not self.violations

    def __str__(self) -> str:
        count = len(self.violations)
        said = "keeps all limits" if self.ok else f"breaks {count} limit{'s' * (count > 1)}:"
        return "\n  ".join([f"motion of {self.robot!r}, {self.t[-1]:.4g} s: {said}", *map(str, self.violations)])


def check_motion(
    robot: Robot, motion: Motion, samples: int = 1000, joint_terms: Sequence[Term] = ("armature",)
) -> MotionCheck:
    """A motion against the limits of coordinates, velocities and joint forces, at `samples` steps over its duration.

    `motion(t)` gives q (T, nq), qd and qdd (T, nv) for times (T,), and has a `duration`. Forces are those of inverse
    dynamics; `joint_terms` is as in calls. The effort limit of a floating base is 0: nothing but gravity moves it.

    >>> arm = hinge.samples.puma560()
    >>> hinge.check_motion(arm, hinge.motion.quintic(arm, np.zeros(6), np.ones(6), duration=5.0)).ok
    True
    """
    duration = getattr(motion, "duration", None)
    if not callable(motion) or not isinstance(duration, float | int) or not 0.0 < duration < np.inf:
        raise SizeError(
            "check_motion takes a motion: a function of time with a duration in s, such as hinge.motion makes."
        )
    samples = count("samples", samples)
    t = np.linspace(0.0, duration, samples + 1)
    made = tuple(motion(t))
    if len(made) != 3:
        raise SizeError(f"the motion gives {len(made)} things at a time, not q, qd and qdd.")
    q, qd, qdd = (
        _checked(robot, name, x, (len(t), size), t)
        for name, x, size in zip(("q", "qd", "qdd"), made, (robot.nq, robot.nv, robot.nv), strict=True)
    )
    tau = robot.inverse_dynamics(q, qd, qdd, joint_terms=joint_terms)
    if not np.isfinite(tau).all():  # a quaternion of zeros, say: nothing is beyond a limit then
        first = t[~np.isfinite(tau).all(axis=1)][0]
        raise SizeError(f"the motion needs joint forces that are not finite, at {first:g} s.")
    limits, (coordinates, velocities) = robot.limits, labels(robot.model)
    effort, floats = np.array(limits.effort), floating(robot.model)
    effort[floats] = 0.0
    none = np.where(floats, UNMOVED * np.abs(tau).max(axis=1, initial=0.0, keepdims=True), 0.0)
    found = (
        *_beyond("position", coordinates, t, q, limits.lower, limits.upper),
        *_beyond("velocity", velocities, t, qd, -limits.velocity, limits.velocity),
        *_beyond("effort", velocities, t, np.where(np.abs(tau) < none, 0.0, tau), -effort, effort),
    )
    return MotionCheck(robot.name, found, t, q, qd, qdd, tau)


def _checked(robot: Robot, name: str, given: Any, shape: tuple[int, int], t: Array) -> Array:
    made = np.asarray(given, float)
    if made.shape != shape:
        raise SizeError(
            f"the motion gives {name} of shape {made.shape} for {shape[0]} times; robot {robot.name!r} wants {shape}."
        )
    bad = ~np.isfinite(made).all(axis=1)
    if bad.any():
        raise SizeError(f"the motion gives a {name} that is not finite, at {t[np.argmax(bad)]:g} s.")
    return made


def _beyond(what: str, names: Sequence[str], t: Array, x: Array, lower: Array, upper: Array) -> Iterator[Violation]:
    """One violation for each column that leaves its limits, by more than rounding."""
    over = np.maximum(x - upper, lower - x)
    slack = 1e-9 * (1.0 + np.where(np.isfinite(over), np.abs(x), 0.0))
    for j in np.flatnonzero((over > slack).any(axis=0)).tolist():
        out = np.flatnonzero(over[:, j] > slack[:, j])
        worst = int(np.argmax(over[:, j]))
        limit = upper[j] if x[worst, j] > upper[j] else lower[j]
        yield Violation(what, names[j], *(float(v) for v in (t[out[0]], t[out[-1]], t[worst], x[worst, j], limit)))
