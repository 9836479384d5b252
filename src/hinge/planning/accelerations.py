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
from typing import Any, Literal

import numpy as np

from hinge.arguments import Array, real
from hinge.calls.numbers import limits_with
from hinge.errors import NotCovered, SizeError, one_of
from hinge.robot import Robot
from hinge.typing import Frame, Numbers

Part = Literal["linear", "angular", "both"]
PARTS: dict[Part, slice] = {"linear": slice(3, 6), "angular": slice(0, 3), "both": slice(0, 6)}
FLAT = 1e-10  # relative: thinner than this is flat
MOST = 20_000  # sets of columns that are tried as sides


def hand_accelerations(
    robot: Robot,
    q: Numbers,
    qd: Numbers,
    frame: str,
    part: Part = "linear",
    effort: Numbers | None = None,
    external: Mapping[str, Numbers] | None = None,
    external_frame: Frame = "body",
    parameters: Mapping[str, Numbers] | None = None,
) -> Accelerations:
    """The accelerations that a link or frame can have at a state, or at each of a batch, within the effort limits.

    Takes q (…, nq), qd (…, nv) and a name; axes are parallel to the base. A load that shifts is `external`, or a number
    that the robot varies: with `robot.vary("hand.mass")`, `parameters={"hand.mass": …}` compiles nothing anew.

    >>> arm = hinge.samples.planar_2r()
    >>> can = hinge.hand_accelerations(arm, [0.3, 0.5], [0.0, 0.0], "hand", effort=[40.0, 20.0])
    >>> can.most([1.0, 0.0, 0.0]) > 0.0
    np.True_
    """
    one_of("hand_accelerations: part", part, PARTS)
    given: dict[str, Any] = {"parameters": parameters}
    L = robot.jacobian(q, frame, frame="aligned", **given)[..., PARTS[part], :]
    N = robot.acceleration(q, qd, np.zeros(robot.nv), frame, frame="aligned", kind="classical", **given)
    bias = robot.bias_force(q, qd, external=external, external_frame=external_frame, **given)
    per_force = L @ robot.inverse_mass_matrix(q, **given)
    offset = N[..., PARTS[part]] - (per_force @ bias[..., None])[..., 0]  # (10.3) at tau = 0
    per_force = np.broadcast_to(per_force, (*offset.shape[:-1], *per_force.shape[-2:]))
    return Accelerations(per_force, offset, efforts(robot, effort, parameters, offset.shape[:-1]))


@dataclass(frozen=True, eq=False)
class Accelerations:
    """The set of accelerations map @ tau + offset with |tau| ≤ effort, for one state or each of a batch."""

    map: Array  # (…, k, nv)
    offset: Array  # (…, k)
    effort: Array  # (nv), or (…, nv) where each state has its own

    def __getitem__(self, which: Any) -> Accelerations:
        """The set of one state of a batch, or those of some."""
        effort = self.effort if self.effort.ndim == 1 else self.effort[which]
        return Accelerations(self.map[which], self.offset[which], effort)

    def support(self, direction: Numbers) -> Array:
        """How far the set goes in a direction: the greatest component along it, whatever else comes with it."""
        d = self._direction(direction)
        along = np.einsum("...k,...kn->...n", d, self.map)
        return (np.abs(along) * self.effort).sum(axis=-1) + (d * self.offset).sum(axis=-1)

    def most(self, direction: Numbers) -> Array:
        """The greatest acceleration along a direction and along nothing else; NaN where there is none."""
        d = np.broadcast_to(self._direction(direction), self.offset.shape)
        made = np.empty(self.offset.shape[:-1])
        for at in np.ndindex(made.shape):
            one = self[at]
            solvable = np.isfinite(one.map).all() and np.isfinite(one.offset).all()
            made[at] = _along(*one.facets(), d[at], one._size) if solvable else np.nan
        return made[()]

    def facets(self) -> tuple[Array, Array]:
        """Normals (m, k) and distances (m): the set is where normals @ a ≤ distances. Of one state."""
        edges = self._edges()
        N = np.concatenate(sides(edges))  # what is flat has two facets on top of each other
        N = np.concatenate([N, -N])
        return N, np.abs(N @ edges).sum(axis=1) + N @ self.offset

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
        if not np.isfinite(self.map).all():
            raise NotCovered("this state has no accelerations: it is not finite, or its equations are singular.")
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
    if not rank:
        return np.empty((0, len(U))), U.T
    within = U[:, :rank].T @ edges
    within = within / np.maximum(np.linalg.norm(within, axis=0), 1e-300)
    chosen = np.array(list(combinations(range(edges.shape[1]), rank - 1)), int)
    _, t, normals = np.linalg.svd(within.T[chosen])
    good = t.min(axis=1, initial=1.0) > FLAT  # columns that are parallel span no side; others do in their stead
    return _distinct(normals[good, -1]) @ U[:, :rank].T, U[:, rank:].T


def corners(edges: Array) -> Array:
    """The corners of a sum of segments, centred: those of each facet, which is such a sum itself."""
    used = edges[:, np.linalg.norm(edges, axis=0) > FLAT * np.abs(edges).sum()]
    rank = int(np.linalg.matrix_rank(used, tol=FLAT * np.linalg.norm(used))) if used.size else 0
    if used.shape[1] == rank:
        return np.array(list(product((-1.0, 1.0), repeat=rank))).reshape(2**rank, rank) @ used.T
    N, _ = sides(used)
    made = []
    for normal in np.concatenate([N, -N]):
        height = normal @ used
        inside = np.abs(height) <= 1e-8 * np.linalg.norm(used, axis=0)
        made.append(used @ np.where(inside, 0.0, np.sign(height)) + corners(used[:, inside]))
    return np.concatenate(made)


def _along(N: Array, h: Array, d: Array, size: float) -> float:
    """The greatest r with r d in the set N a ≤ h, or NaN."""
    slope = N @ d
    level, slack = np.abs(slope) <= FLAT, size * FLAT
    ratio = h / np.where(level, 1.0, slope)
    most = ratio.min(initial=np.inf, where=~level & (slope > 0.0))
    least = ratio.max(initial=-np.inf, where=~level & (slope < 0.0))
    return float(most) if least <= most + slack and (h[level] >= -slack).all() else float("nan")


def _distinct(N: Array) -> Array:
    """Unit vectors without those that differ in sign only."""
    N = N * np.sign(np.take_along_axis(N, np.abs(N).argmax(axis=1)[:, None], axis=1))
    _, first = np.unique(np.round(N, 9), axis=0, return_index=True)
    return N[np.sort(first)]


def efforts(robot: Robot, given: Any, parameters: Mapping[str, Numbers] | None, batch: tuple[int, ...]) -> Array:
    """Effort limits (nv), or (…, nv) where parameters decide them, all finite and none negative."""
    if given is None:
        effort = limits_with("hand_accelerations", robot.target, parameters).effort
        effort = np.broadcast_to(effort, (*batch, robot.nv)) if effort.ndim > 1 else effort
    else:
        effort = real("hand_accelerations: effort", given)
        if effort.shape not in ((), (robot.nv,)):
            raise SizeError(
                f"hand_accelerations: effort has shape {effort.shape}, robot {robot.name!r} has nv = {robot.nv}."
            )
        effort = np.broadcast_to(effort, (robot.nv,))
    wrong = np.argwhere(~(np.isfinite(effort) & (effort >= 0.0)))
    if len(wrong):
        joint = robot.model.joint_label()(int(wrong[0][-1]))
        raise SizeError(
            f"hand_accelerations: {joint} has the effort limit {effort[tuple(wrong[0])]}.\n"
            "  Give effort= with a finite number for each velocity, 0 where there is no actuator."
        )
    return np.array(effort, float)
