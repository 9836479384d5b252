"""What the actuators can make of the hand: the accelerations available at a state, with the hand's load.

    a = L M⁻¹ (tau - tau_load - C - G) + N,    |tau| ≤ effort                                              (10.3)

The joint forces fill a box, so the accelerations fill its image: a polytope whose edges are the columns of L M⁻¹, each
times the effort of its joint. A facet is spanned by some of the columns, and its normal is at right angles to them;
with all facets known, how far the set goes along a ray is a linear program of one unknown, whatever the number of
joints.
Source: turney1981, section 10.2.
Differs from the source: L and N are the Jacobian and the acceleration at no joint acceleration; any number of joints,
any state of a batch; linear and angular accelerations may be asked for alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations, product
from math import comb
from typing import Any

import numpy as np

from hinge.backends.kernel import Array
from hinge.errors import NotCovered, SizeError, UnknownName, did_you_mean
from hinge.inputs import real
from hinge.robot import Robot

PARTS = {"linear": slice(3, 6), "angular": slice(0, 3), "both": slice(0, 6)}
FLAT = 1e-10  # relative: thinner than this is flat
MOST = 20_000  # sets of columns that are tried as sides


def hand_accelerations(robot: Robot, q: Any, qd: Any, frame: str, part: str = "linear", effort: Any = None,
                       external: Mapping[str, Any] | None = None, external_frame: str = "body",
                       parameters: Mapping[str, Any] | None = None) -> Accelerations:  # fmt: skip
    """The accelerations that a link or frame can have at a state, or at each of a batch, within the effort limits.

    Takes q (…, nq), qd (…, nv) and a name; axes are parallel to the base. A load that shifts is `external`, or a number
    that the robot varies: with `robot.vary("hand.mass")`, `parameters={"hand.mass": …}` compiles nothing anew.

    >>> arm = hinge.samples.planar_2r()
    >>> can = hinge.hand_accelerations(arm, [0.3, 0.5], [0.0, 0.0], "hand", effort=[40.0, 20.0])
    >>> can.most([1.0, 0.0, 0.0]) > 0.0
    np.True_
    """
    if part not in PARTS:
        raise UnknownName(f"hand_accelerations: part={part!r} is not known. {did_you_mean(str(part), PARTS)}")
    given: dict[str, Any] = {"parameters": parameters}
    L = robot.jacobian(q, frame, frame="aligned", **given)[..., PARTS[part], :]
    N = robot.acceleration(q, qd, np.zeros(robot.nv), frame, frame="aligned", kind="classical", **given)
    bias = robot.bias_force(q, qd, external=external, external_frame=external_frame, **given)
    per_force = L @ robot.inverse_mass_matrix(q, **given)
    offset = N[..., PARTS[part]] - (per_force @ bias[..., None])[..., 0]  # (10.3) at tau = 0
    return Accelerations(*_together(per_force, offset), efforts(robot, "hand_accelerations", effort))


@dataclass(frozen=True, eq=False)
class Accelerations:
    """The set of accelerations map @ tau + offset with |tau| ≤ effort, for one state or each of a batch."""

    map: Array  # (…, k, nv)
    offset: Array  # (…, k)
    effort: Array  # (nv)

    def __getitem__(self, which: Any) -> Accelerations:
        """The set of one state of a batch, or those of some."""
        return Accelerations(self.map[which], self.offset[which], self.effort)

    def support(self, direction: Any) -> Array:
        """How far the set goes in a direction: the greatest component along it, whatever else comes with it."""
        d = self._direction(direction)
        along = np.einsum("...k,...kn->...n", d, self.map)
        return np.abs(along) @ self.effort + (d * self.offset).sum(axis=-1)  # type: ignore[no-any-return]

    def most(self, direction: Any) -> Array:
        """The greatest acceleration along a direction and along nothing else; NaN where there is none."""
        d = np.broadcast_to(self._direction(direction), self.offset.shape)
        made = np.empty(self.offset.shape[:-1])
        for at in np.ndindex(made.shape):
            made[at] = _along(*self[at].facets(), d[at], self[at]._size)
        return made[()]

    def facets(self) -> tuple[Array, Array]:
        """Normals (m, k) and distances (m): the set is where normals @ a ≤ distances. Of one state."""
        edges = self._edges()
        N, flat = sides(edges)
        N = np.concatenate([N, -N, flat, -flat])
        return N, np.abs(N @ edges).sum(axis=1) * (np.arange(len(N)) < len(N) - 2 * len(flat)) + N @ self.offset

    def vertices(self) -> Array:
        """The corners (n, k) of the set. Of one state."""
        points = corners(self._edges())
        _, first = np.unique(np.round(points / max(self._size * FLAT, 1e-300)), axis=0, return_index=True)
        return points[np.sort(first)] + self.offset

    @property
    def _size(self) -> float:
        """How large numbers of this set are."""
        return float(np.abs(self._edges()).sum() + np.abs(self.offset).sum())

    def _edges(self) -> Array:
        if self.map.ndim != 2:
            raise SizeError(f"this is a batch {self.map.shape[:-2]} of sets. Take one of them: accelerations[0].")
        return self.map * self.effort

    def _direction(self, given: Any) -> Array:
        d = real("direction", given, self.offset.shape[-1:]).astype(float)
        length = np.linalg.norm(d, axis=-1, keepdims=True)
        if not (np.isfinite(length) & (length > 0.0)).all():
            raise SizeError("direction has no length, or is not finite.")
        return d / length


def sides(edges: Array) -> tuple[Array, Array]:
    """Normals of the facets of a sum of segments (columns), one of each pair; and directions it does not extend in."""
    U, s, _ = np.linalg.svd(edges)
    rank = int((s > FLAT * s[:1].sum()).sum())
    if comb(edges.shape[1], max(rank - 1, 0)) > MOST:
        raise NotCovered(
            f"the accelerations of {edges.shape[1]} joints in {rank} dimensions have too many facets.\n"
            "  Ask for part='linear' or 'angular', or for support(direction), which needs none."
        )
    within = U[:, :rank].T @ edges
    within = within / np.maximum(np.linalg.norm(within, axis=0), 1e-300)
    chosen = np.array(list(combinations(range(edges.shape[1]), rank - 1)), int) if rank else np.empty((0, 0), int)
    _, t, normals = np.linalg.svd(within.T[chosen]) if rank > 1 else (None, np.ones((rank, 1)), np.ones((rank, 1, 1)))
    good = t[:, -1] > FLAT  # columns that are parallel span no side; others do in their stead
    N = _distinct(normals[good, -1])
    return N @ U[:, :rank].T, U[:, rank:].T


def corners(edges: Array) -> Array:
    """The corners of a sum of segments, centred: those of each facet, which is such a sum itself."""
    used = edges[:, np.linalg.norm(edges, axis=0) > FLAT * np.abs(edges).sum()]
    rank = int(np.linalg.matrix_rank(used, tol=FLAT * np.linalg.norm(used))) if used.size else 0
    if used.shape[1] == rank:
        return np.array(list(product((-1.0, 1.0), repeat=rank))).reshape(-1, rank) @ used.T
    N, _ = sides(used)
    made = []
    for normal in np.concatenate([N, -N]):
        height = normal @ used
        inside = np.abs(height) <= 1e-8 * np.linalg.norm(used, axis=0)
        made.append(used @ np.where(inside, 0.0, np.sign(height)) + (corners(used[:, inside]) if rank > 1 else 0.0))
    return np.concatenate([np.atleast_2d(points) for points in made])


def _along(N: Array, h: Array, d: Array, size: float) -> float:
    """The greatest r with r d in the set N a ≤ h, or NaN."""
    slope = N @ d
    level = np.abs(slope) <= FLAT
    slack = size * FLAT
    with np.errstate(divide="ignore"):
        ratio = np.where(level, np.inf, h / np.where(level, 1.0, slope))
    most = ratio[slope > 0.0].min(initial=np.inf, where=~level[slope > 0.0])
    least = ratio[slope < 0.0].max(initial=-np.inf, where=~level[slope < 0.0])
    return float(most) if least <= most + slack and (h[level] >= -slack).all() else float("nan")


def _distinct(N: Array) -> Array:
    """Unit vectors without those that differ in sign only."""
    first = (
        np.take_along_axis(N, np.argmax(np.abs(N) > 1e-6, axis=1)[:, None], axis=1) if N.size else np.ones((len(N), 1))
    )
    N = N * np.sign(first)
    _, at = np.unique(np.round(N, 9), axis=0, return_index=True)
    return N[np.sort(at)]


def _together(per_force: Array, offset: Array) -> tuple[Array, Array]:
    batch = np.broadcast_shapes(per_force.shape[:-2], offset.shape[:-1])
    return np.broadcast_to(per_force, (*batch, *per_force.shape[-2:])), np.broadcast_to(
        offset, (*batch, offset.shape[-1])
    )


def efforts(robot: Robot, call: str, given: Any) -> Array:
    """Effort limits (nv), all finite and none negative."""
    effort = robot.limits.effort if given is None else real(f"{call}: effort", given)
    if effort.shape not in ((), (robot.nv,)):
        raise SizeError(f"{call}: effort has shape {effort.shape}, robot {robot.name!r} has nv = {robot.nv}.")
    effort = np.broadcast_to(effort, (robot.nv,))
    wrong = np.flatnonzero(~(np.isfinite(effort) & (effort >= 0.0)))
    if len(wrong):
        joint = robot.model.blame()(int(wrong[0]))
        raise SizeError(
            f"{call}: {joint} has the effort limit {effort[wrong[0]]}.\n"
            "  Give effort= with a finite number for each velocity, 0 where there is no actuator."
        )
    return np.array(effort, float)
