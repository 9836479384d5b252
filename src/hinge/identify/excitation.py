"""Motions that excite the base parameters: finite Fourier series within the limits, with a small condition number.

    qd_j(t) = Σ_k a_jk cos kωt + b_jk sin kωt,   ω = 2π / duration

with Σ a = 0 and Σ k b = 0, so that the motion starts and ends at rest, without acceleration, where it began. Every
joint swings as far as its limits let it: a series of n harmonics that is within a bound at N even times stays within
1 / cos(πn/N) of it between them, and the bound is reduced by as much. The shapes minimize the condition number of the
base regressor, with columns in the units they have at random states.

The search needs a smooth objective, or it stops wherever rounding lets it. High even powers therefore replace the
largest values of a motion and the extreme singular values of the regressor, and the sign of a velocity in dry friction
becomes a hyperbolic tangent. Derivatives are exact, and the search ends at a local minimum. Frames that
must stay in a box, and links that must stay apart, add a penalty, and the joints get a share of their range as
variables; a motion that still leaves is scaled down until it does not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from hinge import arguments
from hinge.calls.call import DEFAULT_TERMS
from hinge.errors import ExcitationError, NotCovered, SizeError
from hinge.graph.arrays import Symbols
from hinge.identify.base import FAINT, Base, base_parameters
from hinge.identify.parameters import Array
from hinge.robot import Robot
from hinge.typing import Numbers, Term

FINE = 32  # times a period of the highest harmonic, where limits are looked at
COARSE = 6  # the same, where the condition number is
FARTHEST = np.pi  # rad or m, how far a joint without limits swings
LIMIT_POWER = 60  # of the samples of a motion, whose mean stands for the largest of them
SPECTRUM_POWER = 8  # of singular values, whose sum stands for the largest of them
SLOW = 0.1  # of a joint's speed: where dry friction has most of its force in the objective
NEARLY_FLAT, FLAT = 1e-2, 1e-7  # derivatives of the objective at which all searches end, and the best of them
ITERATIONS = 2000  # of a search, at most
HALVINGS = 30
TINY = 1e-12  # keeps the extent of a motion that does not move from being zero
DEAR = 1e3  # what being outside by the size of the box adds to the logarithm of the condition number
NEAR = 0.1  # m: what being too near by this adds as much
SAG = 0.25  # of a second difference: how far a frame may be from its samples between them, twice what a parabola is


@dataclass(frozen=True, eq=False)
class Excitation:
    """A periodic motion: called with times it gives coordinates, velocities and accelerations."""

    middle: Array  # (nv) about which it swings
    cosines: Array  # (nv, harmonics) a, of the velocities
    sines: Array  # b
    duration: float
    condition: float

    def __call__(self, t: Numbers) -> tuple[Array, Array, Array]:
        """(q, qd, qdd) at times (…), each (…, nv)."""
        q, qd, qdd = _motion(
            t if isinstance(t, Symbols) else np.asarray(t, float), self.cosines, self.sines, self.duration
        )
        return self.middle + q, qd, qdd

    def sample(self, rate: float) -> tuple[Array, Array, Array, Array]:
        """(t, q, qd, qdd) over the whole motion, so many rows a second."""
        if not 0.0 < rate < np.inf:
            raise SizeError(f"sample: rate is {rate}; give a number of rows a second above zero.")
        t = np.arange(round(self.duration * rate) + 1) / rate
        return t, *self(t)

    def __str__(self) -> str:
        n = self.cosines.shape[1]
        return f"excitation: {n} harmonics in {self.duration:g} s, condition number {self.condition:.3g}"


def excite(
    robot: Robot,
    duration: float = 10.0,
    harmonics: int = 5,
    joint_terms: Sequence[Term] = DEFAULT_TERMS,
    middle: Numbers | None = None,
    speed: Numbers | None = None,
    acceleration: Numbers | None = None,
    effort: bool = False,
    tries: int = 4,
    seed: int = 0,
    workspace: Any = None,
    clearance: float | None = None,
    ground: Any = None,
) -> Excitation:
    """A motion that starts and ends at rest, keeps the limits, and shows the base parameters well.

    Coordinates stay within the robot's limits, around `middle` (nq; by default half way between them), velocities
    within `speed` (nv, or one number; by default the robot's limits), accelerations within `acceleration` where it is
    given, and with `effort` the joint forces of this robot within its effort limits. `workspace` is a box (lower,
    upper), two corners in base coordinates (m), that the origins of all body frames stay in, or a dict of a box for
    each frame that has one. With a `clearance` (m) links stay that far from each other, and from a `ground`, as
    `robot.distances` has them. Of `tries` shapes, each improved, the best is given.

    >>> arm = hinge.samples.planar_2r()
    >>> motion = hinge.identify.excite(arm, duration=5.0, speed=2.0, tries=1)
    >>> t, q, qd, qdd = motion.sample(100.0)
    >>> bool(np.abs(qd).max() <= 2.0), bool(np.allclose(qd[[0, -1]], 0.0))
    (True, True)
    """
    try:
        from scipy.optimize import minimize
    except ImportError:
        raise NotCovered(
            'excite: shapes are improved with SciPy, which is not installed.\n  pip install "hinge[solve]"'
        ) from None

    for i in robot.model.leaders:
        if not robot.model.joint[i].rates_are_velocities:
            raise NotCovered(
                f"excite: joint {robot.model.joint_name[i]!r} turns freely, with no coordinate to swing.\n"
                "  Fix it with robot.lock, or make a motion of your own."
            )
    if not isinstance(harmonics, int | np.integer) or harmonics < 2 or not 0.0 < duration < np.inf or tries < 1:
        raise SizeError("excite: two harmonics at least, a duration above zero and one try at least are needed.")
    effort = arguments.truth("excite: effort", effort)
    centre, bounds = _bounds(robot, middle, speed, acceleration)
    base = base_parameters(robot, joint_terms, tol=FAINT)
    if base.rank == 0:
        raise ExcitationError(f"excite: robot {robot.name!r} has no parameter that a joint feels.")
    rooms = [*_boxes(robot, workspace, centre), *_clear(robot, clearance, ground, centre)]
    series = _Series(robot.nv, harmonics, float(duration), bounds, bool(rooms))
    rng, terms = arguments.generator("excite", seed), tuple(joint_terms)

    objective = _Objective(robot, base, terms, centre, series, rooms)
    starts = np.array([_inside(centre, series, rooms, x) for x in rng.normal(size=(8 * tries, series.size))])
    starts = starts[np.argsort([objective(x)[0] for x in starts])[:tries]]

    def search(x: Array, flat: float) -> Any:
        return minimize(objective, x, jac=True, method="BFGS", options={"gtol": flat, "maxiter": ITERATIONS})

    first = min([search(x, NEARLY_FLAT) for x in starts], key=lambda one: one.fun)
    found = search(first.x, FLAT)
    best = Excitation(centre, *series.coefficients(found.x), float(duration), 0.0)
    best = _smaller(best, lambda one: _outside(rooms, one) <= 0.0)
    best = _within_effort(robot, best, terms) if effort else best
    Y = base.columns(robot.regressor(*best(series.times(COARSE)), joint_terms=terms)) / base.scale
    return replace(best, condition=float(np.linalg.cond(Y.reshape(-1, base.rank))))


class _Series:
    """Shapes of motions: any numbers become coefficients that start and end at rest and fill the limits, or a share."""

    def __init__(self, nv: int, harmonics: int, duration: float, bounds: Sequence[Array], swings: bool):
        self.nv, self.n, self.duration, self.bounds = nv, harmonics, duration, bounds
        self.shapes = 2 * nv * (harmonics - 1)
        self.size = self.shapes + nv * swings  # with the share of its range that each joint uses
        rows = _complement(np.ones(harmonics)).T, _complement(np.arange(1.0, harmonics + 1.0)).T
        nothing = np.zeros_like(rows[0])
        self.at_rest = np.vstack([rows[0], nothing]), np.vstack([nothing, rows[1]])  # a and b of unit numbers
        self.fine, self.coarse = (np.stack(_motion(self.times(k), *self.at_rest, duration)) for k in (FINE, COARSE))
        self._inner = np.cos(np.pi / FINE) * np.array(bounds)[:, None]  # (3, 1, nv) bounds at the samples

    def times(self, density: int) -> Array:
        """Return even times, so many per period of the highest harmonic, none of them at rest."""
        return (np.arange(density * self.n) + 0.5) * self.duration / (density * self.n)

    def coefficients(self, x: Array) -> tuple[Array, Array]:
        """Return a and b, (nv, harmonics) each, of a motion that fills the limits exactly, or its share of them."""
        z, swing = self._split(x)
        extent = np.abs(self.fine @ z.T / self._inner).max(axis=(0, 1))
        z = z * (swing / np.maximum(extent, TINY))[:, None]
        return z @ self.at_rest[0], z @ self.at_rest[1]

    def motion(self, x: Array) -> tuple[Array, Callable[[Array], Array]]:
        """Return (q, qd, qdd) about the middle at coarse times, (3, times, nv), and its derivative in reverse.

        Here a power mean of all samples stands for the largest, so that the motion is smooth in x.
        """
        z, swing = self._split(x)
        used = self.fine @ z.T / self._inner  # of the bounds
        largest = np.maximum(np.abs(used).max(axis=(0, 1)), TINY)
        powers = (used / largest) ** (LIMIT_POWER - 1)
        mean = np.mean(powers * used / largest, axis=(0, 1))
        extent = np.maximum(largest * mean ** (1.0 / LIMIT_POWER), TINY)
        factor = swing / extent

        def pull(weights: Array) -> Array:
            """Return the derivative of Σ weights × motion by x."""
            by_scaled = np.einsum("ktj,kti->ji", weights, self.coarse)
            by_factor = np.sum(by_scaled * z, axis=1)
            by_used = mean ** (1.0 / LIMIT_POWER - 1.0) * powers / self._inner / (powers.shape[0] * powers.shape[1])
            by_extent = np.einsum("ktj,kti->ji", by_used, self.fine)
            by_z = factor[:, None] * by_scaled - (by_factor * factor / extent)[:, None] * by_extent
            by_swing = by_factor * factor * (1.0 - swing)
            return np.concatenate([by_z.ravel(), by_swing])[: self.size]

        return self.coarse @ (factor[:, None] * z).T, pull

    def _split(self, x: Array) -> tuple[Array, Array]:
        """Return the numbers of each joint's shape (nv, 2 harmonics - 2), and its share of the limits (nv)."""
        swing = 1.0 / (1.0 + np.exp(-x[self.shapes :])) if self.size > self.shapes else np.ones(self.nv)
        return x[: self.shapes].reshape(self.nv, -1), swing


def _motion(t: Array, a: Array, b: Array, duration: float) -> tuple[Array, Array, Array]:
    """Coordinates about their middle, velocities and accelerations, (…, times, nv), of coefficients (…, nv, n)."""
    rate = 2.0 * np.pi / duration * np.arange(1, a.shape[-1] + 1)
    c, s = np.cos(t[..., None] * rate), np.sin(t[..., None] * rate)
    at, bt = a.swapaxes(-1, -2), b.swapaxes(-1, -2)
    return (s / rate) @ at - (c / rate) @ bt, c @ at + s @ bt, (c * rate) @ bt - (s * rate) @ at


def _complement(row: Array) -> Array:
    """Columns (n, n - 1) at right angles to a row and to each other."""
    return np.linalg.svd(row[None])[2][1:].T


def _bounds(robot: Robot, middle: Any, speed: Any, acceleration: Any) -> tuple[Array, list[Array]]:
    """The coordinates it swings about, and how far, how fast and how hard each joint may."""
    limits = robot.limits
    low, high = limits.lower, limits.upper
    half = np.clip(0.0, low, high)
    both = np.isfinite(low) & np.isfinite(high)
    half[both] = (low[both] + high[both]) / 2
    centre = half if middle is None else arguments.real("excite: middle", middle, (robot.nq,)).astype(float)
    reach = np.minimum(np.minimum(high - centre, centre - low), FARTHEST)
    if not np.all(reach > 0.0):
        k = int(np.argmin(reach > 0.0))
        raise SizeError(f"excite: middle[{k}] = {centre[k]:g} leaves no room between {low[k]:g} and {high[k]:g}.")
    asked = [limits.velocity if speed is None else speed, np.inf if acceleration is None else acceleration]
    made = [reach]
    for name, value in zip(("speed", "acceleration"), asked, strict=True):
        given = arguments.real(f"excite: {name}", value).astype(float)
        if given.shape not in ((), (robot.nv,)) or not np.all(given > 0.0):
            raise SizeError(f"excite: {name} has to be above zero, one number or nv = {robot.nv} of them.")
        made.append(np.broadcast_to(given, (robot.nv,)))
    return centre, made


class _Room(NamedTuple):
    """A region that coordinates must stay in.

    `beyond` takes q (…, nq) and returns how far outside they are, (…, k), below zero inside, and its derivatives by q,
    (…, k, nv). `size` (k) is the unit of that in the objective.
    """

    beyond: Callable[[Array], tuple[Array, Array]]
    size: Any


def _boxes(robot: Robot, workspace: Any, centre: Array) -> Iterator[_Room]:
    """A box for each frame that has one; its place in the middle has to be inside."""
    if workspace is None:
        return
    given = workspace if isinstance(workspace, Mapping) else dict.fromkeys(robot.body_names, workspace)
    for name, box in given.items():
        corners = arguments.real(f"excite: workspace of {name!r}", box).astype(float)
        at = robot.pose(centre, name)[:3, 3]
        if corners.shape != (2, 3) or not np.all(corners[0] < corners[1]):
            raise SizeError(f"excite: workspace of {name!r} has to be two corners (x, y, z), the lower one first.")
        if not np.all((corners[0] < at) & (at < corners[1])):
            raise ExcitationError(
                f"excite: in the middle {name!r} is at ({', '.join(f'{x:.3g}' for x in at)}) m, "
                "outside its workspace.\n  Give another middle=, or a larger box."
            )

        def beyond(q: Array, name: str = name, corners: Array = corners) -> tuple[Array, Array]:
            at, J = robot.pose(q, name)[..., :3, 3], robot.jacobian(q, name, frame="aligned")[..., 3:, :]
            low, high = corners[0] - at, at - corners[1]
            return np.maximum(low, high), np.where((low > high)[..., None], -J, J)

        yield _Room(beyond, corners[1] - corners[0])


def _clear(robot: Robot, clearance: float | None, ground: Any, centre: Array) -> Iterator[_Room]:
    """Links far enough from each other and from the ground; in the middle they have to be."""
    if clearance is None and ground is None:
        return
    least = 0.0 if clearance is None else float(arguments.real("excite: clearance", clearance, ()))
    if not 0.0 <= least < np.inf:
        raise SizeError(f"excite: clearance is {least:g} m; give a distance from 0 up.")
    at = robot.distances(centre, ground=ground)
    nearest = int(np.argmin(at.distance))
    if at.distance[nearest] <= least:
        one, other = at.pairs[nearest]
        raise ExcitationError(
            f"excite: in the middle {one!r} and {other!r} are {at.distance[nearest]:.3g} m apart, which has to be more "
            f"than {least:g} m.\n  Give another middle=, or less clearance=."
        )

    def beyond(q: Array) -> tuple[Array, Array]:
        found = robot.distances(q, ground=ground)
        away = np.zeros((*found.distance.shape, robot.nv))
        for k, pair in enumerate(found.pairs):
            for side, name in enumerate(pair):
                if name in robot.frame_names:  # the ground stays where it is
                    J, n = robot.jacobian(q, name, frame="aligned"), found.normal[..., k, :]
                    arm = found.points[..., k, side, :] - robot.pose(q, name)[..., :3, 3]
                    row = np.concatenate([np.cross(arm, n), n], axis=-1)
                    away[..., k, :] += (-1.0, 1.0)[side] * np.einsum("...i,...ij->...j", row, J)
        return least - found.distance, -away

    yield _Room(beyond, NEAR)


def _outside(rooms: Sequence[_Room], made: Excitation) -> float:
    """How far anything gets out of its room at any time, samples and what is between them."""
    t = np.linspace(0.0, made.duration, FINE * made.cosines.shape[1] + 1)
    away = [room.beyond(made(t)[0])[0] for room in rooms]
    most = [x + SAG * np.abs(np.diff(x, 2, axis=0)).max(axis=0) for x in away]
    return float(np.max([x.max() for x in most], initial=-np.inf))


def _inside(centre: Array, series: _Series, rooms: Sequence[_Room], x: Array) -> Array:
    """A shape as it is, with swings small enough for the rooms."""
    for swing in (2.0, 0.0, -1.0, -2.0, -3.0, -4.0) if rooms else ():
        x[series.shapes :] = swing
        q = centre + series.motion(x)[0][0]
        if max(room.beyond(q)[0].max() for room in rooms) <= 0.0:
            break
    return x


class _Objective:
    """The logarithm of a smooth bound on the condition number, with the penalty of leaving rooms, and its gradient."""

    def __init__(
        self, robot: Robot, base: Base, terms: tuple[Term, ...], centre: Array, series: _Series, rooms: Sequence[_Room]
    ):
        self.robot, self.base, self.terms, self.centre = robot, base, terms, centre
        self.series, self.rooms = series, rooms
        self.friction = np.array([name.rpartition(".")[2].startswith("friction") for name in base.all_names])
        reach, speed, _ = series.bounds
        self.slow = SLOW * np.minimum(speed, reach * series.n * 2.0 * np.pi / series.duration)

    def __call__(self, x: Array) -> tuple[float, Array]:
        """Return the value and its derivative by x."""
        (q, qd, qdd), pull = self.series.motion(x)
        q = self.centre + q
        Y = self.robot.regressor(q, qd, qdd, joint_terms=self.terms)
        known = np.tanh(np.abs(qd) / self.slow)  # of dry friction, by row
        sign = np.where(self.friction, known[..., None], 1.0)
        columns = self.base.columns(sign * Y) / self.base.scale
        value, by_columns = _log_condition(columns)
        by_Y = np.zeros_like(Y)
        by_Y[..., self.base.independent] = by_columns / self.base.scale
        by_q, by_qd, by_qdd = self.robot.vjp("regressor", (q, qd, qdd), sign * by_Y, joint_terms=self.terms)
        by_known = np.sum((by_Y * Y)[..., self.friction], axis=-1) * np.sign(qd)
        by_qd = by_qd + by_known * (1.0 - known**2) / self.slow
        for room in self.rooms:
            beyond, slopes = room.beyond(q)
            out = np.maximum(beyond, 0.0) / room.size
            value += DEAR * float(np.mean(out**2))
            by_q = by_q + np.einsum("tk,tkj->tj", 2.0 * DEAR * out / room.size / out.size, slopes)
        return value, pull(np.stack([by_q, by_qd, by_qdd]))


def _log_condition(Y: Array) -> tuple[float, Array]:
    """Return the logarithm of an upper bound on the condition number of Y, smooth in Y, and its derivative by Y.

    Takes (…, rows, columns), where all rows are those of one matrix. Sums of powers stand for the largest singular
    value and for the largest of the inverse. Matrices are small enough for one thread of the BLAS, which is fastest.
    """
    R: Any = np.linalg.qr(Y.reshape(-1, Y.shape[-1]), mode="r")
    _, size, V = np.linalg.svd(R)
    seen = size > 1e-15 * size[0]
    size = np.maximum(size, 1e-15 * size[0])
    large, small = (size / size[0]) ** SPECTRUM_POWER, (size[-1] / size) ** SPECTRUM_POWER
    bound = size[0] / size[-1] * (large.sum() * small.sum()) ** (1.0 / SPECTRUM_POWER)
    by_size = seen * (large / large.sum() - small / small.sum()) / size
    return float(np.log(bound)), Y @ ((V.T * (by_size / size)) @ V)


def _within_effort(robot: Robot, made: Excitation, terms: tuple[Term, ...]) -> Excitation:
    """The same motion, smaller where this robot's joint forces would be beyond its effort limits."""
    t = np.linspace(0.0, made.duration, FINE * made.cosines.shape[1])

    def over(one: Excitation) -> Array:
        tau = robot.inverse_dynamics(*one(t), joint_terms=terms)
        return np.abs(tau).max(axis=0) / robot.limits.effort

    still = over(_scaled(made, 0.0))
    if np.any(still >= 1.0):
        k = int(np.argmax(still))
        raise ExcitationError(
            f"excite: at rest in the middle, velocity {k} of robot {robot.name!r} needs "
            f"{still[k]:.2f} of its effort limit.\n  Give another middle=."
        )
    return _smaller(made, lambda one: bool(np.all(over(one) <= 1.0)))


def _smaller(made: Excitation, allowed: Callable[[Excitation], bool]) -> Excitation:
    """The same motion, swung less where that is needed for it to be allowed."""
    if allowed(made):
        return made
    low, high = 0.0, 1.0
    for _ in range(HALVINGS):
        half = (low + high) / 2
        low, high = (half, high) if allowed(_scaled(made, half)) else (low, half)
    return _scaled(made, low)


def _scaled(made: Excitation, share: float) -> Excitation:
    return replace(made, cosines=share * made.cosines, sines=share * made.sines)
