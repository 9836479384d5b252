"""What controllers are given, checked: gains, and targets that move or do not."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Concatenate, ParamSpec

import numpy as np

from hinge import arguments
from hinge.arguments import Array
from hinge.errors import SizeError
from hinge.geometry.arrays import pose
from hinge.motion.joint_space import JointState
from hinge.motion.task_space import HandState
from hinge.robot import Robot

# of t, q and qd, and of its `inputs`, where it has numbers for each rollout: joint forces or accelerations (nv)
Law = Callable[Concatenate[float, Array, Array, ...], Array]


def gains(kp: Any, kd: Any, size: int) -> tuple[Array, Array]:
    """Stiffness and damping of an error; a damping that is not given is the one without overshoot."""
    stiff = gain("kp", kp, size)
    return stiff, 2.0 * np.sqrt(stiff) if kd is None else gain("kd", kd, size)


def gain(what: str, value: Any, size: int) -> Array:
    """A gain: a number for all directions, or one for each; with rollouts' axes first, one for each of those."""
    made = arguments.real(what, value).astype(float)
    if made.ndim and made.shape[-1] not in ((size,) if made.ndim == 1 else (1, size)):
        raise SizeError(f"{what} has shape {made.shape}; it has to be a number or {(size,)}, or {('…', size)}.")
    if not (np.all(np.isfinite(made)) and np.all(made >= 0.0)):
        raise SizeError(f"{what} has to be finite and not negative everywhere.")
    return made


class Fed:
    """A law with numbers for each rollout: they are its inputs, which a simulation gives it."""

    def __init__(self, law: Callable[..., Any], numbers: Sequence[Any]) -> None:
        self.law, self.numbers = law, numbers
        self.own = [np.ndim(x) > 1 for x in numbers]
        self.inputs = tuple(x for x, own in zip(numbers, self.own, strict=True) if own)

    def __call__(self, t: Any, q: Any, qd: Any, *given: Any) -> Any:
        """Joint forces, or accelerations; without inputs, for all rollouts at once."""
        rows = iter(given or self.inputs)
        return self.law(t, q, qd, *(next(rows) if own else x for x, own in zip(self.numbers, self.own, strict=True)))


@dataclass(eq=False)
class Controller:
    """A law that knows how it was made, so that it can be pickled and copied: it is made again."""

    _law: Any
    _again: Callable[[], Any]

    def __call__(self, t: Any, q: Any, qd: Any, *inputs: Any) -> Any:
        """Joint forces, or accelerations."""
        return self._law(t, q, qd, *inputs)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self._law, name)  # inputs, knots and status, where it has them

    def __reduce__(self) -> tuple[Callable[[], Any], tuple[()]]:
        return self._again, ()


Made = ParamSpec("Made")


def made_again(factory: Callable[Made, Law]) -> Callable[Made, Law]:
    """Let the laws that a factory gives be pickled: as the factory and its arguments."""

    @functools.wraps(factory)
    def make(*given: Made.args, **keywords: Made.kwargs) -> Law:
        return Controller(factory(*given, **keywords), functools.partial(make, *given, **keywords))

    return make


def fed(law: Callable[..., Any], target: Any, *numbers: Any) -> Law:
    """A law of t, q, qd and numbers, as one of t, q and qd; numbers that differ among rollouts become its inputs.

    It jumps where the motion does that is its target: at the `knots`.
    """
    if any(np.ndim(x) > 1 for x in numbers):
        made: Any = Fed(law, numbers)
    else:

        def made(t: Any, q: Any, qd: Any) -> Any:
            return law(t, q, qd, *numbers)

    made.knots = getattr(target, "knots", ())
    return made


def around(law: Law, outer: Callable[..., Any]) -> Law:
    """A law outer(t, q, qd, made) around what another one made, with that one's inputs, knots and status."""

    def whole(t: Any, q: Any, qd: Any, *inputs: Any) -> Any:
        return outer(t, q, qd, law(t, q, qd, *inputs))

    for name in ("inputs", "knots", "status"):
        if hasattr(law, name):
            setattr(whole, name, getattr(law, name))
    return whole


def joint_target(robot: Robot, target: Any) -> Callable[..., JointState]:
    """A motion of the joints, or the motion of standing still."""
    if not callable(target):
        still = np.zeros(robot.nv)
        return lambda t, at=None: JointState(at, still, still)
    sizes = {"q": (robot.nq,), "qd": (robot.nv,), "qdd": (robot.nv,)}
    _tried(target, sizes, f"robot {robot.name!r}")
    return lambda t, at=None: JointState(*target(t))


def joint_place(robot: Robot, target: Any) -> Array:
    """Where a target stands, (…, nq), that is no motion; of a motion nothing."""
    return np.zeros(0) if callable(target) else arguments.finite("target", target, (robot.nq,))


def hand_target(target: Any) -> Callable[[Any], HandState]:
    """A motion of the hand, or the motion of standing still."""
    if not callable(target):
        at, still = pose("target", target), np.zeros(6)
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
