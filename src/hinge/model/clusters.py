"""Clusters: the bodies that coupled joints make move together."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hinge.graph.expr import Scalar
from hinge.spatial.vectors import Motion, MotionSpace

if TYPE_CHECKING:
    from hinge.model.model import Model


@dataclass(frozen=True)
class Cluster:
    """Bodies between a base body and the last that is coupled, parents first, and the velocities they have."""

    base: int
    bodies: tuple[int, ...]
    velocities: tuple[int, ...]  # numbers in qd

    @property
    def nv(self) -> int:
        return len(self.velocities)

    def columns(self, model: Model, i: int, axes: MotionSpace) -> list[Motion]:
        """The motion across joint i for each velocity of the cluster."""
        made = [Motion()] * self.nv
        start = self.velocities.index(model.slices[i][1].start) if model.joint[i].nv else 0
        for k, axis in enumerate(axes):
            made[start + k] = axis * model.ratio(i)
        return made

    def armature(self, model: Model) -> list[Scalar]:
        """Armature felt along each velocity: Gᵀ J G."""
        total: list[Scalar] = [0.0] * self.nv
        for i in self.bodies:
            for k, J in enumerate(model.armature(i)):
                at = self.velocities.index(model.slices[i][1].start) + k
                total[at] = total[at] + model.ratio(i) * model.ratio(i) * J
        return total

    def forces(self, model: Model, q: Sequence[Sequence[Scalar]], qd: Sequence[Sequence[Scalar]],
               tau: Sequence[Sequence[Scalar]]) -> list[Scalar]:  # fmt: skip
        """Joint forces less what the joints resist, gathered onto the velocities of the cluster."""
        total: list[Scalar] = [0.0] * self.nv
        for i in self.bodies:
            for k, (t, r) in enumerate(zip(tau[i], model.resistance(i, q, qd), strict=True)):
                at = self.velocities.index(model.slices[i][1].start) + k
                total[at] = total[at] + model.ratio(i) * (t - r)
        return total

    def joint_label(self, model: Model) -> Callable[[int], str]:
        """A function that names the joint a velocity of the cluster belongs to."""
        whole = model.joint_label()
        return lambda k: whole(self.velocities[k])


def clusters(model: Model) -> tuple[Cluster, ...]:
    """The clusters of a model, each after the one that has its base body."""
    if not model.follows:
        spans = ((i, p, model.slices[i][1]) for i, p in model.outward())
        return tuple(Cluster(p, (i,), tuple(range(at.start, at.stop))) for i, p, at in spans)
    above = [[i] for i in range(len(model.parent))]  # each body with its ancestors, nearest first
    for i, p in model.outward():
        above[i] += above[p]
    owner = list(range(len(model.parent)))  # bodies of one cluster have one owner

    def root(i: int) -> int:
        while owner[i] != i:
            i = owner[i]
        return i

    def join(members: Sequence[int]) -> None:
        """One cluster of these bodies and of all between them and the nearest body that carries them all."""
        shared = set.intersection(*(set(above[m]) - {m} for m in members))
        meeting = max(shared)
        for m in members:
            for i in above[m][: above[m].index(meeting)]:
                owner[root(i)] = root(members[0])

    for i, follow in model.follows.items():
        join([i, follow.leader])
    made: dict[int, list[int]] = {}
    for i, _ in model.outward():
        made.setdefault(root(i), []).append(i)
    found = []
    for bodies in made.values():
        base = next(model.parent[i] for i in bodies if model.parent[i] not in bodies)
        starts = sorted({(model.slices[i][1].start, model.slices[i][1].stop) for i in bodies})
        velocities = tuple(k for start, stop in starts for k in range(start, stop))
        found.append(Cluster(base, tuple(bodies), velocities))
    return tuple(_after_bases(found))


def _after_bases(found: list[Cluster]) -> list[Cluster]:
    """The clusters in an order in which each comes after the one that has its base body."""
    home = {i: group for group in found for i in group.bodies}
    done: list[Cluster] = []
    seen: set[Cluster] = set()
    for group in found:
        chain = []
        at: Cluster | None = group
        while at is not None and at not in seen:
            chain.append(at)
            seen.add(at)
            at = home.get(at.base)
        done += reversed(chain)
    return done
