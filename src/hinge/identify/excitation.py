"""Motions that show the base parameters: finite Fourier series within the limits, best conditioned.

    qd_j(t) = Σ_k a_jk cos kωt + b_jk sin kωt,   ω = 2π / duration

with Σ a = 0 and Σ k b = 0, so that the motion starts and ends at rest, without acceleration, where it began. Every
joint swings as far as its limits let it: a series of n harmonics that is within a bound at N even times stays within
1 / cos(πn/N) of it between them, and the bound is taken in by as much. The shapes are chosen so that the condition
number of the base regressor, columns in the units they have at random states, is small. Frames that have to stay in a
box, and links that have to stay apart, let joints swing less far than their limits do: how far is found with shapes,
leaving is made dear, and what still leaves is swung less until it does not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from hinge import arguments
from hinge.errors import ExcitationError, NotCovered, SizeError
from hinge.graph.arrays import Symbols
from hinge.identify.base import FAINT, Base, base_parameters
from hinge.identify.parameters import USUAL, Array
from hinge.robot import Robot
from hinge.typing import Numbers, Term

FINE = 32  # times a period of the highest harmonic, where limits are looked at
COARSE = 6  # the same, where the condition number is
FARTHEST = np.pi  # rad or m, how far a joint without limits swings
NUDGE = 1e-6
HALVINGS = 30
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
    joint_terms: Sequence[Term] = USUAL,
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
            "excite: shapes are improved with SciPy, which is not installed.\n  pip install hinge[solve]"
        ) from None

    for i in robot.model.leaders:
        if not robot.model.joint[i].rates_are_velocities:
            raise NotCovered(
                f"excite: joint {robot.model.joint_name[i]!r} turns freely, with no coordinate to swing.\n"
                "  Fix it with robot.lock, or make a motion of your own."
            )
    if not isinstance(harmonics, int | np.integer) or harmonics < 2 or not 0.0 < duration < np.inf or tries < 1:
        raise SizeError("excite: two harmonics at least, a duration above zero and one try at least are needed.")
    centre, bounds = _bounds(robot, middle, speed, acceleration)
    base = base_parameters(robot, joint_terms, tol=FAINT)
    if base.rank == 0:
        raise ExcitationError(f"excite: robot {robot.name!r} has no parameter that a joint feels.")
    rooms = [*_boxes(robot, workspace, centre), *_clear(robot, clearance, ground, centre)]
    series = _Series(robot.nv, harmonics, float(duration), bounds, bool(rooms))
    rng, terms = arguments.generator("excite", seed), tuple(joint_terms)

    def value_and_slope(x: Array) -> tuple[float, Array]:
        return _cost(robot, base, terms, centre, series, rooms, np.vstack([x, x + NUDGE * np.eye(len(x))]))

    starts = np.array([_inside(centre, series, rooms, x) for x in rng.normal(size=(8 * tries, series.size))])
    values = [_cost(robot, base, terms, centre, series, rooms, x[None])[0] for x in starts]
    starts = starts[np.argsort(values)[:tries]]
    done = [minimize(value_and_slope, x, jac=True, method="L-BFGS-B", options={"maxiter": 25}) for x in starts]
    made = Excitation(centre, *series.coefficients(min(done, key=lambda one: one.fun).x), float(duration), 0.0)
    made = _smaller(made, lambda one: _outside(rooms, one) <= 0.0)
    made = _within_effort(robot, made, terms) if effort else made
    Y = base.columns(robot.regressor(*made(series.coarse), joint_terms=terms)).reshape(1, -1, base.rank) / base.scale
    return replace(made, condition=float(np.exp(_log_condition(Y)[0])))


class _Series:
    """Shapes of motions: any numbers become coefficients that start and end at rest and fill the limits, or a share."""

    def __init__(self, nv: int, harmonics: int, duration: float, bounds: Sequence[Array], swings: bool):
        self.nv, self.n, self.duration, self.bounds = nv, harmonics, duration, bounds
        self.shapes = 2 * nv * (harmonics - 1)
        self.size = self.shapes + nv * swings  # with how far each joint swings
        self.at_rest = [_complement(np.ones(harmonics)), _complement(np.arange(1.0, harmonics + 1.0))]
        self.fine, self.coarse = (np.arange(k * harmonics) * duration / (k * harmonics) for k in (FINE, COARSE))

    def coefficients(self, x: Array) -> tuple[Array, Array]:
        """a and b, (…, nv, harmonics) each."""
        free = x[..., : self.shapes].reshape(*x.shape[:-1], 2, self.nv, self.n - 1)
        a, b = (free[..., k, :, :] @ self.at_rest[k].T for k in (0, 1))
        extent = [np.abs(f).max(axis=-2) for f in _motion(self.fine, a, b, self.duration)]
        inner = np.cos(np.pi / FINE)
        most = [inner * bound / np.maximum(e, 1e-12) for bound, e in zip(self.bounds, extent, strict=True)]
        scale = np.min(most, axis=0)[..., None]
        if self.size > self.shapes:
            scale = scale / (1.0 + np.exp(-x[..., self.shapes :, None]))
        return a * scale, b * scale


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
    """What coordinates have to stay in: how far beyond they are (…, k), below zero inside, and sizes (k) of that."""

    beyond: Callable[[Array], Array]
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

        def beyond(q: Array, name: str = name, corners: Array = corners) -> Array:
            at = robot.pose(q, name)[..., :3, 3]
            return np.maximum(corners[0] - at, at - corners[1])

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
    yield _Room(lambda q: least - robot.distances(q, ground=ground).distance, NEAR)


def _outside(rooms: Sequence[_Room], made: Excitation) -> float:
    """How far anything gets out of its room at any time, samples and what is between them."""
    t = np.linspace(0.0, made.duration, FINE * made.cosines.shape[1] + 1)
    away = [room.beyond(made(t)[0]) for room in rooms]
    most = [x + SAG * np.abs(np.diff(x, 2, axis=0)).max(axis=0) for x in away]
    return float(np.max([x.max() for x in most], initial=-np.inf))


def _inside(centre: Array, series: _Series, rooms: Sequence[_Room], x: Array) -> Array:
    """A shape as it is, with swings small enough for the rooms."""
    for swing in (2.0, 0.0, -1.0, -2.0, -3.0, -4.0) if rooms else ():
        x[series.shapes :] = swing
        q = centre + _motion(series.coarse, *series.coefficients(x), series.duration)[0]
        if max(room.beyond(q).max() for room in rooms) <= 0.0:
            break
    return x


def _cost(
    robot: Robot, base: Base, terms: tuple[Term, ...], centre: Array, series: _Series, rooms: Sequence[_Room], x: Array
) -> tuple[float, Array]:
    """The logarithm of the condition number of x[0], with the price of leaving rooms, and its slope to the others."""
    q, qd, qdd = _motion(series.coarse, *series.coefficients(x), series.duration)
    Y = base.columns(robot.regressor(centre + q, qd, qdd, joint_terms=terms))
    value, slope = _log_condition(Y.reshape(len(x), -1, base.rank) / base.scale)
    price = [np.mean((np.maximum(one.beyond(centre + q), 0.0) / one.size) ** 2, axis=(-1, -2)) for one in rooms]
    dear = DEAR * np.sum([np.zeros(len(x)), *price], axis=0)
    return value + float(dear[0]), slope + (dear[1:] - dear[0]) / NUDGE


def _log_condition(Y: Array) -> tuple[float, Array]:
    """The logarithm of the condition number of Y[0], and its slope towards each of the others, which are nudged.

    An eigenvalue of YᵀY changes by 2 (Y v)·(dY v), where v is its vector.
    """
    size, V = np.linalg.eigh(Y[0].T @ Y[0])
    ends = [0, -1]
    least = np.maximum(size[ends], 1e-15 * size[-1])
    seen = Y @ V[:, ends]
    slopes = 2.0 * np.sum(seen[0] * (seen[1:] - seen[0]), axis=1) / NUDGE
    return 0.5 * float(np.log(least[1] / least[0])), 0.5 * (slopes[:, 1] / least[1] - slopes[:, 0] / least[0])


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
