"""Motions of the hand: straight lines and circles in space, with turns about one axis.

    R(s) = turn(u, θ s) R0        p(s) = p0 + s d + (turn(n, φ s) - 1) arm

The share s of the way that is done is a law of time. Pose, velocity and acceleration are constant matrices times s, its
rates, and sines and cosines of θ s and φ s; that is how they are computed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, NamedTuple, get_args

import numpy as np

from hinge.arguments import number, positive, shaped
from hinge.errors import SizeError, one_of
from hinge.geometry.arrays import pose
from hinge.graph.arrays import cross
from hinge.motion.durations import lasting
from hinge.motion.piecewise import Array, Piecewise, quintic_law, trapezoidal_law
from hinge.spatial import Mat3
from hinge.spatial.rotation import quaternion_from_rotation, quaternion_log
from hinge.typing import Frame, Numbers

PathLaw = Literal["quintic", "trapezoidal"]
LAWS: dict[PathLaw, Callable[[], Piecewise]] = {"quintic": quintic_law, "trapezoidal": lambda: trapezoidal_law(1 / 3)}
ZERO = np.zeros(3)


class HandState(NamedTuple):
    """The pose (…, 4, 4), the twist [ω; v] and its rate (…, 6)."""

    pose: Array
    twist: Array
    rate: Array


class HandMotion:
    """A motion of a frame: call it with times (…,). At rest before 0 and after `duration`.

    From `start` (4, 4) the frame turns by the vector `turn`, shifts by `shift`, and is swept by the vector `sweep`
    about an axis through start - `arm`; all in base axes.
    """

    def __init__(
        self, law: Piecewise, start: Array, turn: Array, shift: Array = ZERO, sweep: Array = ZERO, arm: Array = ZERO
    ) -> None:
        self.law, self.start = law, start
        (u, self.turn), (n, self.sweep) = _direction(turn), _direction(sweep)
        once, turned = np.cross(n, arm), np.cross(u, start[:3, :3], axisb=0, axisc=0)
        twice, turned_twice = np.cross(n, once), np.cross(u, turned, axisb=0, axisc=0)
        self._shift, self._turned, self._swept = np.zeros((4, 4)), np.zeros((2, 4, 4)), np.zeros((2, 4, 4))
        self._shift[:3, 3] = shift
        self._turned[:, :3, :3] = turned, turned_twice
        self._swept[:, :3, 3] = once, twice
        self._straight = np.concatenate([turn, shift])
        self._round = self.sweep * np.array([[*ZERO, *once], [*ZERO, *twice]])

    def __repr__(self) -> str:
        return f"<HandMotion: {self.duration:g} s>"

    @property
    def duration(self) -> float:
        """How long it takes, in s."""
        return self.law.duration

    def __call__(self, t: Numbers, frame: Frame = "aligned") -> HandState:
        """Pose, twist and its rate at times (…,); `frame` is "aligned", "body" or "base", as in `robot.velocity`."""
        one_of("frame", frame, get_args(Frame))
        s, sd, sdd = self.law(t)
        (sin1, cos1), (sin2, cos2) = ((np.sin(w * s), np.cos(w * s)) for w in (self.turn, self.sweep))
        pose = self.start + s[..., None] * self._shift
        for sin, cos, (once, twice) in ((sin1, cos1, self._turned), (sin2, cos2, self._swept)):
            pose = pose + sin[..., None] * once + (1.0 - cos)[..., None] * twice
        along = self._straight + cos2 * self._round[0] + sin2 * self._round[1]
        bend = self.sweep * (cos2 * self._round[1] - sin2 * self._round[0])
        return HandState(pose, *_seen(frame, pose, sd * along, sdd * along + sd * sd * bend))


def line(start: Numbers, end: Numbers, duration: float | None = None, speed: float | None = None,
         turning: float | None = None, law: PathLaw = "quintic") -> HandMotion:  # fmt: skip
    """From one pose (4, 4) to another: the origin on a straight line, the axes turning about one direction.

    Without a duration it is the shortest within `speed` (m/s) and `turning` (rad/s). `law` is "quintic" or
    "trapezoidal".

    >>> motion = hinge.motion.line(np.eye(4), np.diag([-1.0, -1.0, 1.0, 1.0]), duration=2.0)
    >>> motion(1.0).pose[:2, :2].round(12)
    array([[ 0., -1.],
           [ 1.,  0.]])
    """
    a, b = pose("start", start), pose("end", end)
    turn = np.array(quaternion_log(quaternion_from_rotation(Mat3((b[:3, :3] @ a[:3, :3].T).ravel().tolist()))))
    shift = b[:3, 3] - a[:3, 3]
    timed = _timed(law, duration, (np.linalg.norm(shift), speed, "speed"), (np.linalg.norm(turn), turning, "turning"))
    return HandMotion(timed, a, turn, shift)


def circle(start: Numbers, center: Numbers, axis: Numbers, angle: float = 2 * np.pi, duration: float | None = None,
           speed: float | None = None, turn: bool = True, law: PathLaw = "quintic") -> HandMotion:  # fmt: skip
    """From a pose (4, 4) by an angle about an axis (3,) through a point (3,), all in base axes.

    With `turn` the frame turns along, as if it were fixed to a wheel; else its axes keep their directions. Without a
    duration it is the shortest within `speed` (m/s).

    >>> motion = hinge.motion.circle(np.eye(4), center=[0.0, 1.0, 0.0], axis=[0.0, 0.0, 1.0], angle=np.pi, duration=2.0)
    >>> motion(2.0).pose[:3, 3].round(12)
    array([0., 2., 0.])
    """
    first, middle, toward = (pose("start", start), shaped("center", center, (3,)),
                             shaped("axis", axis, (3,)))  # fmt: skip
    if not toward.any():
        raise SizeError("axis is (0, 0, 0); a circle needs a direction to go around.")
    sweep = toward / np.linalg.norm(toward) * number("angle", angle)
    arm = first[:3, 3] - middle
    timed = _timed(law, duration, (np.linalg.norm(np.cross(sweep, arm)), speed, "speed"))
    return HandMotion(timed, first, sweep if turn else ZERO, sweep=sweep, arm=arm)


def _direction(vector: Array) -> tuple[Array, float]:
    size = float(np.linalg.norm(vector))
    return (vector / size if size else vector), size


def _timed(law: PathLaw, duration: float | None, *lengths: tuple[Any, float | None, str]) -> Piecewise:
    """A law that takes the duration, or the shortest for lengths whose rates have limits."""
    one_of("law", law, LAWS)
    made = LAWS[law]()
    least = max(length * made.peak(1)[0] / positive(name, limit) for length, limit, name in lengths
                if limit is not None) if any(limit is not None for _, limit, _ in lengths) else 0.0  # fmt: skip
    return made.slower(lasting(duration, least, "the hand within its limits"))


def _seen(frame: str, pose: Any, twist: Any, rate: Any) -> tuple[Any, Any]:
    """A twist at the frame's origin in base axes, and its rate, in the coordinates asked for."""
    if frame == "aligned":
        return twist, rate
    w, v, alpha, a = (x[..., part] for x in (twist, rate) for part in (slice(3), slice(3, 6)))
    if frame == "base":
        p = pose[..., :3, 3]
        return _joined(w, v + cross(p, w)), _joined(alpha, a + cross(v, w) + cross(p, alpha))
    R = pose[..., :3, :3]
    turned = lambda x: (x[..., None, :] @ R)[..., 0, :]
    return _joined(turned(w), turned(v)), _joined(turned(alpha), turned(a - cross(w, v)))


def _joined(ang: Any, lin: Any) -> Any:
    return np.concatenate([ang, lin], axis=-1)
