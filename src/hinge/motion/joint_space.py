"""Motions of the joints: from one configuration to another, and through several.

    q(t) = q0 moved by p(t)       qd = dp/dt       qdd = d²p/dt²

p is a polynomial of time in pieces. From one configuration to another it stays on a line, so that joints with
quaternions can have such a motion too: their velocity keeps its direction. Continuous joints go the short way.
"""

from __future__ import annotations

from typing import Any, Literal, NamedTuple, get_args

import numpy as np

from hinge.arguments import shaped
from hinge.errors import NotCovered, SizeError, one_of
from hinge.motion.durations import lasting, limits
from hinge.motion.piecewise import Array, Piecewise, quintic_law, spline, trapezoidal_law
from hinge.robot import Robot
from hinge.typing import Numbers

Ends = Literal["rest", "natural"]
RAMP = 1 / 3  # of the duration, where no acceleration says how long speeding up takes


class JointState(NamedTuple):
    """Coordinates (…, nq), velocities and accelerations (…, nv)."""

    q: Array
    qd: Array
    qdd: Array


class JointMotion:
    """A motion of all joints: call it with times (…,). At rest before 0 and after `duration`."""

    def __init__(self, robot: Robot, start: Array, path: Piecewise) -> None:
        self.robot, self.start, self.path = robot, start, path

    def __repr__(self) -> str:
        pieces = len(self.path.knots) - 1
        return f"<JointMotion of {self.robot.name!r}: {self.duration:g} s, {pieces} piece{'s' * (pieces > 1)}>"

    @property
    def duration(self) -> float:
        """How long it takes, in s."""
        return self.path.duration

    @property
    def knots(self) -> Array:
        """Where accelerations jump, in s."""
        return self.path.jumps

    def __call__(self, t: Numbers) -> JointState:
        moved, qd, qdd = self.path(t)
        return JointState(self.robot.integrate(self.start, moved), qd, qdd)


def quintic(
    robot: Robot,
    q0: Numbers,
    q1: Numbers,
    duration: float | None = None,
    velocity: Numbers | None = None,
    acceleration: Numbers | None = None,
) -> JointMotion:
    """From q0 to q1 (nq), at rest at both ends, with accelerations that begin and end at zero.

    All joints start and arrive together. Without a duration it is the shortest within `velocity` (nv or a number; by
    default the robot's limits) and `acceleration`.

    >>> motion = hinge.motion.quintic(hinge.samples.planar_2r(), [0.0, 0.0], [1.0, 0.5], duration=2.0)
    >>> motion(1.0).q
    array([0.5 , 0.25])
    """
    start, shift = _between(robot, q0, q1)
    speed, push = _bounds(robot, shift, velocity, acceleration)
    law = quintic_law()
    least = max(law.peak(1)[0] / speed, np.sqrt(law.peak(2)[0] / push))
    return JointMotion(robot, start, law.slower(_lasting(robot, shift, duration, least)).times(shift))


def trapezoidal(
    robot: Robot,
    q0: Numbers,
    q1: Numbers,
    duration: float | None = None,
    velocity: Numbers | None = None,
    acceleration: Numbers | None = None,
) -> JointMotion:
    """From q0 to q1 (nq), at rest at both ends: constant acceleration, constant velocity, constant deceleration.

    All joints start and arrive together. Without a duration it is the shortest within `velocity` (nv or a number; by
    default the robot's limits) and `acceleration`. Without an acceleration, a third of the time is for speeding up.

    >>> arm = hinge.samples.planar_2r()
    >>> hinge.motion.trapezoidal(arm, [0.0, 0.0], [1.0, 0.5], velocity=0.5, acceleration=1.0).duration
    2.5
    """
    start, shift = _between(robot, q0, q1)
    speed, push = _bounds(robot, shift, velocity, acceleration)
    if np.isinf(push):
        whole = _lasting(robot, shift, duration, 1.0 / (1.0 - RAMP) / speed)
        ramp = RAMP
    else:
        top = min(speed, np.sqrt(push))  # what is reached, all ramps at the most
        whole = _lasting(robot, shift, duration, 1.0 / top + top / push)
        # push ramp (whole - ramp) = 1: the shorter of the two ramps; rounding must not make them overlap
        ramp = 0.5 * (1.0 - np.sqrt(max(0.0, 1.0 - 4.0 / (push * whole**2))))
    return JointMotion(robot, start, trapezoidal_law(min(ramp, 0.5)).slower(whole).times(shift))


def cubic_spline(
    robot: Robot, points: Numbers, times: Numbers | None = None, velocity: Numbers | None = None, ends: Ends = "rest"
) -> JointMotion:
    """Through points (k, nq) at times (k,), with accelerations that have no jump.

    At the ends velocities are zero, or with ends="natural" accelerations. Without times the motion is in proportion to
    how far apart the points are, and as fast as `velocity` allows, by default the robot's limits.

    >>> motion = hinge.motion.cubic_spline(hinge.samples.planar_2r(), [[0, 0], [1, 0], [1, 1]], times=[0.0, 1.0, 3.0])
    >>> motion(1.0).q.round(12)
    array([1., 0.])
    """
    one_of("ends", ends, get_args(Ends))
    return _through(robot, points, times, velocity, 2, ends == "natural")


def quintic_spline(
    robot: Robot, points: Numbers, times: Numbers | None = None, velocity: Numbers | None = None
) -> JointMotion:
    """Through points (k, nq) at times (k,), from rest to rest, with jerks and their rates that have no jump.

    Velocities and accelerations are zero at the ends. Without times it is as `cubic_spline`.

    >>> motion = hinge.motion.quintic_spline(hinge.samples.planar_2r(), [[0, 0], [1, 0], [1, 1]], velocity=2.0)
    >>> motion.path.peak(1).max().round(9)
    np.float64(2.0)
    """
    return _through(robot, points, times, velocity, 3, False)


def _between(robot: Robot, q0: Any, q1: Any) -> tuple[Array, Array]:
    """Where a motion starts, and the velocity times time that leads to its end."""
    start, end = shaped("q0", q0, (robot.nq,)), shaped("q1", q1, (robot.nq,))
    return start, np.asarray(robot.difference(start, end))


def _bounds(robot: Robot, shift: Array, velocity: Any, acceleration: Any) -> tuple[float, float]:
    """How fast the share of the way that is done may grow, and how fast its rate, for no joint to break a limit."""
    size = np.abs(shift)
    fast = robot.limits.velocity if velocity is None else limits("velocity", velocity, robot.nv)
    _refuse_stuck(robot, (fast <= 0.0) & (size > 0.0))
    push = limits("acceleration", np.inf if acceleration is None else acceleration, robot.nv)
    moving = size > 0.0
    return (float(np.min(fast[moving] / size[moving], initial=np.inf)),
            float(np.min(push[moving] / size[moving], initial=np.inf)))  # fmt: skip


def _refuse_stuck(robot: Robot, stuck: Any) -> None:
    """Raise where a joint has to move, and its velocity limit is zero."""
    if stuck.any():
        joint = robot.model.joint_label()(int(np.argmax(stuck)))
        raise SizeError(f"{joint} has to move, and its velocity limit is zero. Give velocity=.")


def _lasting(robot: Robot, shift: Array, duration: float | None, least: float) -> float:
    if not shift.any() and duration is None:
        raise SizeError("q0 and q1 are the same place, which takes no time. Give duration=.")
    return lasting(duration, least, f"robot {robot.name!r} within its velocities and accelerations")


def _through(robot: Robot, points: Any, times: Any, velocity: Any, m: int, natural: bool) -> JointMotion:
    if robot.nq != robot.nv:
        ball = next(i for i in robot.model.leaders if robot.model.joint[i].nq != robot.model.joint[i].nv)
        raise NotCovered(
            f"joint {robot.model.joint_name[ball]!r} has a quaternion, through which no spline goes.\n"
            "  Go from point to point with hinge.motion.quintic."
        )
    at = shaped("points", points, (-1, robot.nq))
    if len(at) < 2:
        raise SizeError(f"points has {len(at)} of them; a motion goes through two at least.")
    steps = np.asarray(robot.difference(at[:-1], at[1:]))
    way = np.concatenate([np.zeros((1, robot.nv)), np.cumsum(steps, axis=0)])
    fast = robot.limits.velocity if velocity is None else limits("velocity", velocity, robot.nv)
    _refuse_stuck(robot, (fast <= 0.0) & steps.any(axis=0))
    knots = _knots(steps, fast) if times is None else _times(times, len(at))
    path = spline(knots, way, m, natural)
    peak = path.peak(1)
    share = np.divide(peak, fast, out=np.zeros_like(peak), where=peak > 0.0)  # a joint that stays may have the limit 0
    over = float(np.max(share))
    if times is None:
        path = path.slower(over)
    elif over > 1.0 + 1e-12:
        joint = robot.model.joint_label()(int(np.argmax(share)))
        raise SizeError(
            f"times are too short: {joint} would go {over:.5g} times as fast as it may. Give longer ones, or velocity=."
        )
    return JointMotion(robot, at[0], path)


def _knots(steps: Array, fast: Array) -> Array:
    """Times in proportion to how long each step takes the slowest joint."""
    moving = steps.any(axis=0)
    if not np.all((np.isfinite(fast) & (fast > 0.0))[moving]):
        raise SizeError(
            "how long the motion takes is not known: not every joint that moves has a velocity limit above zero. Give "
            "times=, or velocity=."
        )
    lengths = np.max(np.abs(steps[:, moving]) / fast[moving], axis=1, initial=0.0)
    if not np.all(lengths > 0.0):
        k = int(np.argmin(lengths))
        raise SizeError(
            f"points {k} and {k + 1} are the same place, which takes no time. Give times=, or leave one out."
        )
    return np.concatenate([[0.0], np.cumsum(lengths)])


def _times(times: Any, count: int) -> Array:
    made = shaped("times", times, (-1,))
    if made.shape != (count,):
        raise SizeError(f"times has {len(made)} entries for {count} points.")
    if made[0] != 0.0 or not np.all(np.diff(made) > 0.0):
        raise SizeError("times have to begin at 0 and to grow.")
    return made
