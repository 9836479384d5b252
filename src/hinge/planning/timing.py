"""Motions from paths: the fastest within the limits, and the fastest that keeps its form in time."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn, overload

import numpy as np

from hinge.arguments import Array, real
from hinge.errors import PathError, SizeError
from hinge.graph.arrays import Symbols
from hinge.motion.pieces import Pieces
from hinge.planning.pace import PART, ROUNDS, SPARE, Range, Track, fastest
from hinge.planning.paths import Limit, Limits, Path, as_path, checked_limits, resolved, used
from hinge.planning.polygons import REACH, SLACK, interval
from hinge.robot import Robot
from hinge.typing import Frame, Numbers, Term


@dataclass(frozen=True, eq=False)
class Timed:
    """A motion along a path: call it with t (…) for q, qd and qdd. Before and after it, it stands still."""

    path: Path
    limits: Limits
    grid: Array  # s at points between which s̈ is linear in s
    speed2: Array  # ṡ² there
    bend: Array  # of ṡ² between them

    @functools.cached_property
    def times(self) -> Array:
        """t at the points of the grid."""
        speed = np.sqrt(self.speed2)
        half = np.diff(self.grid) / (speed[:-1] + speed[1:])
        return np.concatenate([[0.0], np.cumsum(2.0 * half * _shrink(self._growth * half * half))])

    @property
    def knots(self) -> Array:
        """Where accelerations may jump, in s."""
        return self.times

    @functools.cached_property
    def _growth(self) -> Array:
        """ds̈/ds in each piece."""
        return -self.bend / np.diff(self.grid) ** 2

    @functools.cached_property
    def _pieces(self) -> Pieces:
        """When each piece begins, s at its ends, and ṡ, ds̈/ds and s̈ where it begins."""
        first, last = self.grid[:-1], self.grid[1:]
        pull = (self.speed2[1:] - self.speed2[:-1] + self.bend) / (2.0 * (last - first))
        begin, speed = self.times[:-1], np.sqrt(self.speed2[:-1])
        return Pieces(begin, begin, first, last, speed, self._growth, pull)

    @property
    def duration(self) -> float:
        """How long it takes, in s."""
        return float(self.times[-1])

    def __call__(self, t: Numbers) -> tuple[Array, Array, Array]:
        shape, s, speed, pull = self._at(t)
        q, dq, ddq = self.path(s)
        qd, qdd = dq * speed[:, None], dq * pull[:, None] + ddq * (speed * speed)[:, None]
        return q.reshape(*shape, -1), qd.reshape(*shape, -1), qdd.reshape(*shape, -1)

    def s(self, t: Numbers) -> Array:
        """How far along the path it is at t."""
        shape, s, _, _ = self._at(t)
        return s.reshape(shape)

    @overload
    def limiting(self, t: float) -> Limit: ...

    @overload
    def limiting(self, t: Array | Sequence[float]) -> list[Limit]: ...

    def limiting(self, t: Numbers) -> Limit | list[Limit]:
        """The limit that is used most at t; a list of them for several t (n,)."""
        shape, s, speed, pull = self._at(t)
        labels = self.limits.labels
        share = used(labels, self.limits.rows(*self.path(s)).shares(speed * speed, pull))
        which = share.argmax(axis=1)
        made = [Limit(labels[k][0], labels[k][1], float(share[i, k])) for i, k in enumerate(which)]
        return made if shape else made[0]

    def _at(self, t: Any) -> tuple[tuple[int, ...], Array, Array, Array]:
        """The shape of t, and s, ṡ and s̈, all of them in one row."""
        given = t if isinstance(t, Symbols) else real("t", t).astype(float)
        if not isinstance(t, Symbols) and not np.isfinite(given).all():
            raise SizeError("t has a value that is not finite. Give finite times.")
        shape, given = given.shape, given.ravel()
        time = np.clip(given, 0.0, self.duration)
        begin, first, last, speed, growth, pull = self._pieces.at(time)
        gone = time - begin
        sine, rest = gone * _swell(growth, gone), 0.5 * (gone * _swell(growth, 0.5 * gone)) ** 2
        way = speed * sine + pull * rest  # of d²way/dt² = pull + growth way
        on = time == given  # elsewhere it stands still
        s = np.clip(first + way, first, last)
        faster = np.maximum(speed * (1.0 + growth * rest) + pull * sine, 0.0)
        return shape, s, np.where(on, faster, 0.0), np.where(on, pull + growth * way, 0.0)


def _swell(k: Array, t: Array) -> Array:
    """sinh(√k t) / (√k t), which is a sine where k is negative."""
    z = np.sqrt(np.abs(k)) * t
    safe = np.where(z > 1e-4, z, 1.0)
    return np.where(z > 1e-4, np.where(k < 0.0, np.sin(safe), np.sinh(safe)) / safe, 1.0 + k * t * t / 6.0)


def _shrink(y: Array) -> Array:
    """artanh(√y) / √y, which is an arc tangent where y is negative."""
    z = np.sqrt(np.abs(y))
    safe = np.where(z > 1e-4, z, 0.5)
    arc = np.where(y < 0.0, np.arctan(safe), np.arctanh(np.minimum(safe, 1.0 - 1e-15)))
    return np.where(z > 1e-4, arc / safe, 1.0 + y / 3.0)


def time_optimal(
    robot: Robot,
    path: Any,
    velocity: Numbers | None = None,
    effort: Numbers | None = None,
    acceleration: Numbers | None = None,
    over: tuple[float, float] = (0.0, 1.0),
    start: float | None = None,
    end: float | None = None,
    points: Numbers = 256,
    external: Mapping[str, Numbers] | None = None,
    external_frame: Frame = "body",
    parameters: Mapping[str, Numbers] | None = None,
    joint_terms: Sequence[Term] = ("armature",),
) -> Timed:
    """The fastest motion along a path within limits of velocity, effort and acceleration, at every moment of it.

    `path(s)` with s (n,) from 0 to 1 gives q (n, nq), q' and q'' (n, nv); a motion, which has a duration, is a path
    too. `over` is the part of it to follow, from the speed `start` to the speed `end` (ṡ, 1/s), or from rest to rest:
    when a load shifts on the way, what is left is planned again from here with other `parameters` or `external`. s̈ is
    smooth in each of `points` pieces, or between given s; where q'' jumps or changes within a small part of a piece,
    it is divided further. A path is looked at in 4096 places at least: an excursion in less than that, which ends where
    it began, is seen if its s is among `points`. Limits are the robot's own where none are given. A path that cannot be
    followed raises PathError, which says where and which joint; so does one with a corner, and one whose q' and q'' are
    not the derivatives of q.

    >>> arm = hinge.samples.planar_2r()
    >>> path = lambda s: (np.outer(s, [1.0, 0.5]), np.ones((len(s), 1)) * [1.0, 0.5], np.zeros((len(s), 2)))
    >>> timed = hinge.time_optimal(arm, path, effort=[60.0, 20.0])
    >>> q, qd, qdd = timed(timed.duration)
    >>> timed.limiting(0.5 * timed.duration).kind
    'effort'
    """
    calls = _calls(external, external_frame, parameters, joint_terms)
    limits = checked_limits("time_optimal", robot, velocity, effort, acceleration, calls)
    if not all(speed is None or speed >= 0.0 for speed in (start, end)):
        raise SizeError(f"time_optimal: start={start}, end={end}. Give speeds ṡ that are not negative.")
    followed = as_path("time_optimal", robot, path)
    track = Track(followed, limits, resolved(followed, limits, _grid("time_optimal", points, over)))
    track, x, bend = fastest(track, *_ends(followed, over, (start, end)))
    return Timed(followed, limits, track.s, x, bend)


def time_uniform(
    robot: Robot,
    path: Any,
    duration: float | None = None,
    velocity: Numbers | None = None,
    effort: Numbers | None = None,
    acceleration: Numbers | None = None,
    points: Numbers = 256,
    external: Mapping[str, Numbers] | None = None,
    external_frame: Frame = "body",
    parameters: Mapping[str, Numbers] | None = None,
    joint_terms: Sequence[Term] = ("armature",),
) -> Timed:
    """A motion stretched or shortened by one factor: the fastest within the limits, or one of a given duration.

    A path is a motion of one second. Given a duration at which a limit is passed, PathError says where and which.

    >>> arm = hinge.samples.planar_2r()
    >>> path = lambda s: (np.outer(s, [1.0, 0.5]), np.ones((len(s), 1)) * [1.0, 0.5], np.zeros((len(s), 2)))
    >>> round(hinge.time_uniform(arm, path, velocity=[2.0, 0.5], effort=np.inf).duration, 6)
    1.0
    """
    calls = _calls(external, external_frame, parameters, joint_terms)
    limits = checked_limits("time_uniform", robot, velocity, effort, acceleration, calls)
    if duration is not None and not duration > 0.0:
        raise SizeError(
            f"time_uniform: duration={duration}. Give a positive number of seconds, or none for the fastest."
        )
    followed = as_path("time_uniform", robot, path)
    track = Track(followed, limits, resolved(followed, limits, _grid("time_uniform", points, (0.0, 1.0))))
    x = _even(track) if duration is None else float(duration) ** -2.0
    over = np.abs(track.shares(np.full(len(track.s), x), np.zeros(len(track.step)))).max(axis=1) - 1.0
    if (over > 1e-9).any():
        _refuse(track, over)
    return Timed(followed, limits, np.array([0.0, 1.0]), np.array([x, x]), np.zeros(1))


def _even(track: Track) -> float:
    """The greatest ṡ² that can be had throughout."""
    margin, still = np.full((len(track.step), len(track.labels)), SLACK), np.zeros(len(track.s))
    slope = np.concatenate([track.rows.square.ravel(), -track.rows.square.ravel()])
    for _ in range(ROUNDS):
        room, rest = 1.0 - np.repeat(margin, len(PART), axis=0).ravel(), track.rows.rest.ravel()
        low, top = interval(slope, np.concatenate([room - rest, room + rest]), np.abs(slope))
        x = min(max(float(top), 0.0), REACH)
        over = track.excess(still + x, still[1:])
        if not max(float(low), 0.0) <= top or x == 0.0:
            _refuse(track, over)
        if (over <= 0.0).all():
            return x
        margin += np.where(over > 0.0, 1.5 * over + SPARE, 0.0)
    return _refuse(track, over)


def _refuse(track: Track, over: Array) -> NoReturn:
    piece, k = np.unravel_index(int(over.argmax()), over.shape)
    (joint, kind), s = track.labels[k], float(track.s[piece])
    times = used(track.labels, 1.0 + over[piece])[k]
    raise PathError(f"the path cannot be followed at that pace near s = {s:.4g}: joint {joint!r} would need "
                    f"{times:.4g} times its {kind} limit.", s, joint)  # fmt: skip


def _ends(path: Path, over: Range, given: Sequence[float | None]) -> list[Range]:
    """ṡ² that the ends may have: as given, none at rest, and any where q' vanishes, so that it is at rest anyway."""
    size = np.abs(path(np.linspace(*over, 33))[1]).max(axis=1)
    still = size[[0, -1]] <= 1e-9 * size.max()
    return [
        (0.0, REACH) if speed is None and rest else ((speed or 0.0) ** 2,) * 2
        for speed, rest in zip(given, still, strict=True)
    ]


def _grid(call: str, points: Any, over: tuple[float, float]) -> Array:
    """The s of the ends of the pieces: evenly spaced, or as they are given, so far as they are within `over`."""
    given = real(f"{call}: points", points).astype(float)
    some = np.isfinite(given).all() and given.size and (given.ndim == 1 or (given.ndim == 0 and given >= 1))
    if np.shape(over) != (2,) or not (0.0 <= over[0] < over[1] <= 1.0) or not some:
        raise SizeError(
            f"{call}: over={over}, points={points}. Give a part of 0 to 1, and how many pieces it is to "
            "have, or the s of their ends."
        )
    grid = np.linspace(*over, int(given) + 1) if given.ndim == 0 else given
    return np.unique(np.concatenate([over, grid[(grid > over[0]) & (grid < over[1])]]))


def _calls(external: Any, external_frame: str, parameters: Any, joint_terms: Sequence[str]) -> dict[str, Any]:
    """What goes to inverse dynamics besides the motion."""
    return {"external": external, "external_frame": external_frame, "parameters": parameters,
            "joint_terms": tuple(joint_terms)}  # fmt: skip
