"""What controllers are given, checked: gains, and targets that move or do not."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from hinge import inputs
from hinge.errors import SizeError
from hinge.motion import given
from hinge.motion.hand import HandState
from hinge.motion.joints import JointState
from hinge.robot import Robot

Array = np.ndarray[Any, np.dtype[Any]]
Law = Callable[[Any, Any, Any], Any]  # of t, q and qd


def gains(kp: Any, kd: Any, size: int) -> tuple[Array, Array]:
    """Stiffness and damping of an error; a damping that is not given is the one without overshoot."""
    stiff = gain("kp", kp, size)
    return stiff, 2.0 * np.sqrt(stiff) if kd is None else gain("kd", kd, size)


def gain(what: str, value: Any, size: int) -> Array:
    """A gain: a number for all directions, or one for each."""
    made = inputs.real(what, value).astype(float)
    if made.shape not in ((), (size,)):
        raise SizeError(f"{what} has shape {made.shape}; it has to be a number or {(size,)}.")
    if not (np.all(np.isfinite(made)) and np.all(made >= 0.0)):
        raise SizeError(f"{what} has to be finite and not negative everywhere.")
    return made


def joint_target(robot: Robot, target: Any) -> Callable[[Any], JointState]:
    """A motion of the joints, or the motion of standing still."""
    if not callable(target):
        at, still = given.finite("target", target, (robot.nq,)), np.zeros(robot.nv)
        return lambda t: JointState(at, still, still)
    sizes = {"q": (robot.nq,), "qd": (robot.nv,), "qdd": (robot.nv,)}
    _tried(target, sizes, f"robot {robot.name!r}")
    return lambda t: JointState(*target(t))


def hand_target(target: Any) -> Callable[[Any], HandState]:
    """A motion of the hand, or the motion of standing still."""
    if not callable(target):
        at, still = given.pose("target", target), np.zeros(6)
        return lambda t: HandState(at, still, still)
    _tried(target, {"pose": (4, 4), "twist": (6,), "rate": (6,)}, "the hand")
    return lambda t: HandState(*target(t))


def frame(robot: Robot, at: str) -> str:
    """A name the robot has."""
    robot.model.frame(at)
    return at


def law(what: str, function: Any) -> Law:
    """A function of t, q and qd."""
    if not callable(function):
        raise SizeError(f"{what} is a {type(function).__name__}; it has to be a function of t, q and qd.")
    return function


def _tried(target: Any, sizes: Mapping[str, tuple[int, ...]], whose: str) -> None:
    """Raise where a motion does not give what is wanted at time zero."""
    try:
        shapes = [np.shape(part) for part in target(0.0)]
    except TypeError as problem:
        raise SizeError(f"target cannot be called with a time: {problem}.") from None
    if shapes != list(sizes.values()):
        told = ", ".join(f"{name} {shape}" for name, shape in sizes.items())
        raise SizeError(f"target gives shapes {', '.join(map(str, shapes))} at a time; {whose} wants {told}.")
