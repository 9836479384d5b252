"""Costs that come ready: a hand in its place, joints near a posture, little speed, force and acceleration, limits kept.

Each is a function of the state that gives residuals: half the sum of their squares counts.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from hinge.arguments import Array, finite
from hinge.control.task_space import turn_between
from hinge.errors import SizeError, one_of
from hinge.optimal.driven import driven_velocities
from hinge.robot import Robot
from hinge.typing import Numbers

TASKS = {"pose": (4, 4), "position": (3,), "orientation": (3, 3)}
Residuals = Callable[..., Any]


def reach(robot: Robot, at: str, target: Numbers | str, weight: Numbers = 1.0, task: str = "pose") -> Residuals:
    """How far a link or frame is from where it is wanted: √weight × [turn (rad); shift (m)], along the base's axes.

    `target` is a pose (4, 4), for task "position" (3,), for "orientation" (3, 3), frame to base; or the name of such an
    array among what the problem is `given`. `weight` is a number, or one for each residual.

    >>> arm = hinge.samples.planar_2r()
    >>> hinge.optimal.reach(arm, "hand", [2.0, 0.0, 0.5], task="position")(arm.neutral())
    array([0. , 0. , 0.5])
    """
    one_of("task", task, TASKS)
    root = _roots(weight, 6 if task == "pose" else 3)
    robot.pose(robot.neutral(), at)  # a name that is not known is refused here

    def error(q: Any, wanted: Any) -> Any:
        pose, parts = robot.pose(q, at), []
        if task != "position":
            parts.append(turn_between(pose[..., :3, :3], wanted[..., :3, :3]))
        if task != "orientation":
            parts.append((wanted[..., :3, 3] if task == "pose" else wanted) - pose[..., :3, 3])
        return root * np.concatenate(parts, axis=-1)

    if isinstance(target, str):
        return _named("reach", error, "q", target)
    goal = _shaped("target", target, TASKS[task], "or a name of given=")
    return _named("reach", lambda q: error(q, goal), "q")


def posture(robot: Robot, target: Numbers | str, weight: Numbers = 1.0) -> Residuals:
    """How far joints are from a posture (nq), along `integrate`: √weight × difference, nv of them.

    >>> arm = hinge.samples.planar_2r()
    >>> hinge.optimal.posture(arm, [0.0, 1.0], weight=4.0)(np.array([0.5, 1.0]))
    array([1., 0.])
    """
    root = _roots(weight, robot.nv)
    if isinstance(target, str):
        return _named("posture", lambda q, wanted: root * robot.difference(wanted, q), "q", target)
    goal = _shaped("target", target, (robot.nq,), "or a name of given=")
    return _named("posture", lambda q: root * robot.difference(goal, q), "q")


def speed(weight: Numbers = 1.0) -> Residuals:
    """The velocities: √weight × qd.

    >>> hinge.optimal.speed(0.25)(np.array([1.0, 2.0]))
    array([0.5, 1. ])
    """
    root = _roots(weight)
    return _named("speed", lambda qd: root * qd, "qd")


def effort(weight: Numbers = 1.0) -> Residuals:
    """The forces: √weight × u.

    >>> hinge.optimal.effort(0.25)(np.array([1.0, 2.0]))
    array([0.5, 1. ])
    """
    root = _roots(weight)
    return _named("effort", lambda u: root * u, "u")


def smoothness(robot: Robot, weight: Numbers = 1.0, driven: Any = None) -> Residuals:
    """The accelerations that forces make: √weight × qdd, where nothing touches; `driven` is as in the problem.

    >>> arm = hinge.samples.planar_2r()
    >>> smooth = hinge.optimal.smoothness(arm)
    >>> smooth(np.zeros(2), np.zeros(2), arm.gravity_force(np.zeros(2))).round(12) + 0.0
    array([0., 0.])
    """
    root, at = _roots(weight, robot.nv), list(driven_velocities(robot, driven))
    spread = np.zeros((robot.nv, len(at)))
    spread[at, range(len(at))] = 1.0
    return _named("smoothness", lambda q, qd, u: root * robot.forward_dynamics(q, qd, spread @ u), "q", "qd", "u")


def barrier(robot: Robot, weight: Numbers = 1.0, share: float = 1.0) -> Residuals:
    """How far joints are beyond this share of their limits of position and velocity: √weight × what is too much.

    It is soft: a problem's `limits` keep to them. Of a joint with one limit of position it is that limit, whole.

    >>> arm = hinge.samples.puma560()
    >>> float(hinge.optimal.barrier(arm)(arm.neutral(), np.zeros(6)).max())
    0.0
    """
    limits, root = robot.limits, _roots(weight)
    lower, upper, fastest = (np.asarray(x, float) for x in (limits.lower, limits.upper, limits.velocity))
    wide = np.isfinite(lower) & np.isfinite(upper)
    margin = np.zeros(robot.nq)
    margin[wide] = 0.5 * (1.0 - share) * (upper - lower)[wide]
    high, low, fast = upper - margin, lower + margin, share * fastest
    above, below, moving = (np.flatnonzero(np.isfinite(x)) for x in (high, low, fast))
    if not len(above) and not len(below) and not len(moving):
        raise SizeError(f"barrier: robot {robot.name!r} has no limits of position or velocity to keep to.")

    def beyond(q: Any, qd: Any) -> Any:
        off = [q[above] - high[above], low[below] - q[below], np.abs(qd[moving]) - fast[moving]]
        return root * np.maximum(np.concatenate(off), 0.0)

    return _named("barrier", beyond, "q", "qd")


def _named(name: str, function: Residuals, *takes: str) -> Residuals:
    """A function of what these names stand for in a problem."""
    function.__name__, function.takes = name, takes  # type: ignore[attr-defined]
    return function


def _shaped(what: str, given: Any, shape: tuple[int, ...], otherwise: str) -> Array:
    made = finite(what, given).astype(float)
    if made.shape != shape:
        raise SizeError(f"{what} has shape {made.shape}; give {shape}, {otherwise}.")
    return made


def _roots(weight: Any, size: int | None = None) -> Any:
    """The roots of weights, which are not negative."""
    made = finite("weight", weight).astype(float)
    if (made < 0.0).any() or made.ndim > 1 or (made.ndim and size is not None and made.shape != (size,)):
        wanted = "a number that is not negative" + ("" if size is None else f", or {size} of them")
        raise SizeError(f"weight={weight!r} is not known. Give {wanted}.")
    return np.sqrt(made)
