"""A path, and what the limits say of the pace along it.

    qd = q' ṡ,    qdd = q' s̈ + q'' ṡ²
    tau = α s̈ + β ṡ² + γ

Along a path the joint forces are linear in s̈ and ṡ², because M qdd is linear in qdd and C is quadratic in qd. Inverse
dynamics at three paces of each point, all of them in one batch, tell the three coefficients. Accelerations are linear
in the same way, and velocities are kept by ṡ² alone. So every limit is a row |α s̈ + β ṡ² + γ| ≤ 1, in shares of it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, NoReturn

import numpy as np

from hinge.arguments import Array, real
from hinge.calls.numbers import limits_with
from hinge.errors import NotCovered, PathError, SizeError
from hinge.graph.arrays import Symbols, symbols
from hinge.model.coasting import floating
from hinge.robot import Robot

Path = Callable[[Array], tuple[Array, Array, Array]]
PLACES = np.linspace(0.0, 1.0, 9)  # of a piece, where a path is looked at
SIMPSON = np.array([1.0, 4.0, 2.0, 4.0, 2.0, 4.0, 2.0, 4.0, 1.0]) / 24.0
BESIDE = 1e-7  # of a piece: how far from its ends the first and last place are
LOOKS = 512  # pieces of a path, at least, in which it is looked at
WRONG = 1e-3  # of the largest q': a q' that is farther from the derivative of q is none
SEEN = 1e-5  # of the largest q': where q' is that far from it, and nearer elsewhere, q moves between the places
MISSED = 1e-4  # of the largest q': a change of q' that q'' may miss in a piece
MANY = 0.25  # share of the pieces in which q'' may miss it, before q'' is wrong rather than q' bent at some places
TURN = 2.0  # rad or m: a piece in which a coordinate changes by more is divided
JUMP = 8.0  # times the next greatest change between places: that is a jump
ROUGH = 1e-6  # of the largest q'': smaller changes are no jumps
HALVINGS, ROUNDS = 50, 8
CLOSEST = 1e-9  # of the path: a point of a grid that is nearer to a jump is replaced by it
NARROWEST = 1e-8  # of the path: pieces are divided down to here


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
            speed, pulls = np.array([[1.0, 2.0, 1.0], [0.0, 0.0, 1.0]])[..., None, None]  # three paces: ṡ and s̈
            size, bent = (np.abs(x).max(axis=1, initial=0.0)[:, None] for x in (dq, ddq))
            pull = np.maximum(1.0, bent / np.where(size > 0.0, size, np.inf))  # as much of qdd as q'' makes
            qd, qdd = dq * speed, dq * pull * pulls + ddq * speed**2
            slow, fast, pulled = self.robot.inverse_dynamics(q, qd, qdd, **self.calls)
            square = _less(fast, slow) / 3.0
            force = _less(pulled, slow) / pull, square, slow - square
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
    if floating(robot.model).any() and np.ndim(effort) == 0:
        raise NotCovered(
            f"{call}: robot {robot.name!r} floats, and no actuator moves its base.\n"
            "  Load it with a fixed base, or give effort= with a number for each velocity, infinite where it is held."
        )
    given = {"velocity": velocity, "effort": effort, "acceleration": acceleration}
    limits = limits_with(call, robot.target, calls["parameters"])
    own = {"velocity": limits.velocity, "effort": limits.effort, "acceleration": np.full(robot.nv, np.inf)}
    made = {}
    for name, value in given.items():
        bound = own[name] if value is None else real(f"{call}: {name}", value).astype(float)
        if value is None and bound.ndim > 1:
            raise SizeError(f"{call}: parameters have batch axes. Give one number for each: a path has one plan.")
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


def resolved(path: Path, limits: Limits, grid: Array) -> Array:
    """Return a grid so fine that it shows how a path bends; refuse corners, and derivatives that are none.

    Pieces of the grid are looked at, and then shorter ones: what happens between the places of the latter, without
    changing q or q' beyond it, is not seen.
    """
    grid = np.union1d(grid, _bent(path, limits, grid))
    looks = np.union1d(grid, np.linspace(grid[0], grid[-1], LOOKS + 1))
    looks = looks[np.diff(looks, prepend=-1.0) > NARROWEST * (grid[-1] - grid[0])]
    grid = np.union1d(grid, _bent(path, limits, looks))
    for _ in range(ROUNDS):
        more = _with_jumps(path, grid)
        if np.array_equal(more, grid):
            break
        grid = more
    return grid


def _with_jumps(path: Path, grid: Array) -> Array:
    """Return a grid with the places in its pieces where q'' jumps, found by halving."""
    s = grid[:-1, None] + np.diff(grid)[:, None] * np.clip(PLACES, BESIDE, 1.0 - BESIDE)
    bend = path(s.ravel())[2].reshape(*s.shape, -1)
    change = np.abs(np.diff(bend, axis=1)).max(axis=2, initial=0.0)
    usual = np.sort(change, axis=1)[:, -2] + ROUGH * np.abs(bend).max(initial=0.0)
    which = np.flatnonzero(change.max(axis=1) > JUMP * usual)
    if not len(which):
        return grid
    most = change[which].argmax(axis=1)
    begin, end = s[which, most], s[which, most + 1]
    before, after = bend[which, most], bend[which, most + 1]
    for _ in range(HALVINGS):
        middle = 0.5 * (begin + end)
        there = path(middle)[2]
        late = np.abs(there - before).max(axis=1, initial=0.0) > np.abs(there - after).max(axis=1, initial=0.0)
        begin, end = np.where(late, begin, middle), np.where(late, middle, end)
    close = CLOSEST * (grid[-1] - grid[0])
    end = end[np.minimum(end - grid[0], grid[-1] - end) > close]
    replaced = np.abs(grid[:, None] - end).min(axis=1, initial=np.inf) <= close
    return np.union1d(grid[~replaced], end)


def _bent(path: Path, limits: Limits, grid: Array) -> Array:
    """Return points that divide the pieces of a grid until they show how a path bends.

    Within a piece q must change by the integral of q', and q' by that of q''. A piece in which they do not is halved:
    that shows a short blend, and a corner is left over.
    """
    whole, narrow = len(grid) - 1, NARROWEST * (grid[-1] - grid[0])
    size, precision, points = 0.0, SEEN, []
    decide = max(1, math.ceil(math.log2(LOOKS / whole)))
    left = np.stack([grid[:-1], grid[1:]], axis=1)
    for k in range(40):
        shift, bend, slopes, rounding = _unseen(path, limits, left)
        width = np.diff(left)[:, 0]
        if k == 0:
            size = float(np.abs(slopes).max(initial=0.0))
            jump = np.abs(slopes[1:, 0] - slopes[:-1, 1]).max(axis=1, initial=0.0)
            if (jump > MISSED * size).any():
                _refuse_corner(float(grid[1 + int(jump.argmax())]))
            usual = float(np.median(shift / width)) / size if size else 0.0  # of differences, say, and in float32
            precision = min(max(SEEN, 4.0 * usual), WRONG)
        moved, bad = shift > WRONG * size * width + rounding, bend > MISSED * size
        if k == decide and (moved | bad).sum() > max(8, MANY * whole * 2**k):  # halving has not helped
            _refuse_derivatives(float(left[moved | bad][0, 0]), bool(moved.any()))
        short = width < narrow
        for wrong, refuse in ((bad, _refuse_corner), (moved, lambda s: _refuse_derivatives(s, True))):
            if (wrong & short).any():
                refuse(float(left[wrong & short][0, 0]))
        if len(left) <= 4 * whole:
            bad = bad | (shift > precision * size * width + rounding) | (np.abs(slopes).max(axis=(1, 2)) * width > TURN)
        left = left[(bad | moved) & ~short]
        if not len(left):
            break
        middle = left.mean(axis=1)
        points += [left.ravel(), middle]
        left = np.concatenate([np.stack([left[:, 0], middle], axis=1), np.stack([middle, left[:, 1]], axis=1)])
    return np.concatenate([[], *points])


def _unseen(path: Path, limits: Limits, pieces: Array) -> tuple[Array, Array, Array, float]:
    """How far q and q' are, at the ends of pieces (n, 2), from what the integrals of q' and q'' say; q' there; and how
    far q may be from it by rounding, which in a path of float32 is much."""
    n, width = len(pieces), np.diff(pieces)
    s = pieces[:, :1] + width * np.clip(PLACES, BESIDE, 1.0 - BESIDE)
    q, dq, ddq = (x.reshape(n, len(PLACES), -1) for x in path(s.ravel()))
    moved = limits.robot.difference(q[:, 0], q[:, -1], parameters=limits.calls["parameters"])
    shift = moved - width * np.einsum("p,npk->nk", SIMPSON, dq)
    bend = dq[:, -1] - dq[:, 0] - width * np.einsum("p,npk->nk", SIMPSON, ddq)
    single = np.array_equal(q, q.astype(np.float32))
    rounding = 4.0 * float(np.finfo(np.float32 if single else float).eps * np.abs(q).max(initial=0.0))
    slopes = dq[:, [0, -1]] + BESIDE * width[:, None] * ddq[:, [0, -1]] * [[-1.0], [1.0]]  # at the very ends
    return np.abs(shift).max(axis=1, initial=0.0), np.abs(bend).max(axis=1, initial=0.0), slopes, rounding


def _refuse_corner(s: float) -> NoReturn:
    raise PathError(f"the path has a corner at s = {s:.6g}: q' jumps there, which needs infinite forces.\n"
                    "  Round it with a blend, or plan each part from rest to rest with over=.", s, "")  # fmt: skip


def _refuse_derivatives(s: float, first: bool) -> NoReturn:
    name, of = ("q'", "q") if first else ("q''", "q'")
    raise PathError(f"{name} of the path is not the derivative of its {of}, near s = {s:.4g}.\n"
                    "  Give derivatives by s; hinge.jacobian computes them.", s, "")  # fmt: skip


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
