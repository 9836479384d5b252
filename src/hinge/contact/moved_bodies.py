"""How the bodies of a robot move with its velocities, and what forces on them come to, all in base coordinates.

A contact is a few wrenches on two bodies. In place of its Jacobian rows, one pass outward says how all bodies move, one
inward what wrenches on them come to along velocities, and one more what contacts that are stiff add to the mass matrix:
a stiffness X at a body is to the bodies before it what an inertia is, so it is summed inward as in composite bodies.

    J a = Fᵀ (v₂ - v₁)      Jᵀ f = Sᵀ Σ F f      Jᵀ K J = Sᵢᵀ (Σ X) Sⱼ,  X = F K Fᵀ

Between two bodies that both move there is more: -Sᵢᵀ X Sⱼ for an axis i that moves the one and j that moves the other.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from hinge.contact.slots import Touch
from hinge.dynamics.kinematics import axes_in_base, poses
from hinge.graph import Scalar, Scratch, inner, less, select
from hinge.integrators.steps import Flat, PerJoint
from hinge.model import Model
from hinge.spatial import ZERO, Force, Motion, Vec3, cross3

Six = list[Scalar]  # a motion or a force, angular part first
SYMMETRIC = 21  # numbers of a symmetric matrix of six
PLACES = {(i, j): i * (i + 1) // 2 + j for i in range(6) for j in range(i + 1)}


class Column(NamedTuple):
    """What one velocity of a joint moves: bodies from `first` to `last`, along `axis` in base coordinates."""

    v: int
    first: int
    last: int
    axis: Motion


def columns(model: Model, q: PerJoint) -> list[Column]:
    """A column for each velocity of each joint; joints that follow others belong to the velocity of their leader."""
    S = axes_in_base(model, q, *poses(model, q))
    return [Column(model.slices[i][1].start + k, i, max(model.subtree[i]), s * model.ratio(i))
            for i, _ in model.outward() for k, s in enumerate(S[i])]  # fmt: skip


def moves(column: Column, body: Scalar) -> Scalar:
    """1 where a column moves a body, whose number may be a node; 0 where it does not."""
    return select(less(column.first - 0.5, body), select(less(body, column.last + 0.5), 1.0, 0.0), 0.0)


def directions(touch: Touch, size: int) -> list[Six]:
    """Unit wrenches at a contact, as many as asked: along the normal and two tangents, then couples about them."""
    normal, tangent, at = Vec3(touch.normal), Vec3(touch.tangent), Vec3(touch.point)
    frame = (normal, tangent, cross3(normal, tangent))
    forces = [*(Force(cross3(at, d), d) for d in frame), *(Force(d, ZERO) for d in frame)]
    return [[*f.ang, *f.lin] for f in forces[:size]]


class MovedBodies:
    """The bodies of a robot at a configuration, of which `touched` are those that contacts may push."""

    def __init__(self, model: Model, q: PerJoint, touched: Iterable[int]):
        self.model, self.nv, self.count = model, model.nv, len(model.parent)
        self.columns = columns(model, q)
        self.axes = [[*c.axis.ang, *c.axis.lin] for c in self.columns]
        self.touched = sorted({b for b in touched if b})
        self.on_the_way = {i for i, _ in model.outward() if any(b in model.subtree[i] for b in self.touched)}

    def motions(self, s: Flat) -> Scratch:
        """Where in memory the motions of bodies are that go with velocities: six numbers a body, those touched."""
        moved: dict[int, Six] = {0: [0.0] * 6}
        for i, p in self.model.outward():
            if i in self.on_the_way:
                own = list(moved[p])
                for c, axis in zip(self.columns, self.axes, strict=True):
                    if c.first == i:
                        own = [x + a * s[c.v] for x, a in zip(own, axis, strict=True)]
                moved[i] = own
        kept = Scratch(6 * self.count, s[0], zeros=False)
        for i in (0, *self.touched):
            for k, x in enumerate(moved[i]):
                kept[6 * i + k] = x
        return kept

    def along(self, wrenches: Scratch, start: Flat) -> Flat:
        """What wrenches on bodies come to along velocities, added to forces there are."""
        total: dict[int, Six] = {b: [wrenches[6 * b + k] for k in range(6)] for b in self.touched}
        force = list(start)
        for i, p in self.model.inward():
            if i in total:
                for c, axis in zip(self.columns, self.axes, strict=True):
                    if c.first == i:
                        force[c.v] = force[c.v] + inner(axis, total[i])
                if p:
                    total[p] = [x + y for x, y in zip(total[p], total[i], strict=True)] if p in total else total[i]
        return force

    def stiffened(self, stiffnesses: Scratch, H: dict[tuple[int, int], Scalar]) -> None:
        """Add what stiffnesses at bodies come to along velocities to a matrix: its entries up to the diagonal."""
        X: dict[int, list[Scalar]] = {
            b: [stiffnesses[SYMMETRIC * b + k] for k in range(SYMMETRIC)] for b in self.touched
        }
        mine = {i: [k for k, c in enumerate(self.columns) if c.first == i] for i in self.on_the_way}
        for i, p in self.model.inward():
            if i not in X:
                continue
            way, at = [], i
            while at:
                way += mine.get(at, [])
                at = self.model.parent[at]
            for k in mine[i]:
                force = times(X[i], self.axes[k])
                for other in way:
                    if other in mine[i] and other > k:
                        continue
                    place = tuple(sorted((self.columns[k].v, self.columns[other].v), reverse=True))
                    both = 2.0 if place[0] == place[1] and other != k else 1.0
                    H[place] = H[place] + both * inner(force, self.axes[other])
            if p:
                X[p] = [x + y for x, y in zip(X[p], X[i], strict=True)] if p in X else X[i]

    def crossed(
        self, first: Scalar, second: Scalar, X: list[Scalar], places: Sequence[tuple[int, int]]
    ) -> list[Scalar]:
        """What a stiffness between two bodies that both move adds besides, place by place."""
        one, two = ([moves(c, body) for c in self.columns] for body in (first, second))
        made = dict.fromkeys(places, 0.0)
        for k, c in enumerate(self.columns):
            force = times(X, self.axes[k])
            for j, d in enumerate(self.columns):
                if d.v < c.v or (d.v == c.v and j <= k):
                    both = one[k] * two[j] + two[k] * one[j]
                    twice = 2.0 if d.v == c.v and j != k else 1.0
                    made[c.v, d.v] = made[c.v, d.v] - twice * both * inner(force, self.axes[j])
        return [made[place] for place in places]


def times(X: Sequence[Scalar], m: Sequence[Scalar]) -> Six:
    """A symmetric matrix times a motion: a force."""
    return [inner([X[PLACES[max(i, j), min(i, j)]] for j in range(6)], m) for i in range(6)]


def together(model: Model, pairs: Sequence[tuple[int, int]]) -> set[tuple[int, int]]:
    """Which two velocities, the later first, some pair of bodies is moved by."""
    made = set()
    for first, second in dict.fromkeys(pairs):
        both = [sorted(model.slices[i][1].start + k for i, _ in model.outward() for k in range(model.joint[i].nv)
                       if (first in model.subtree[i]) != (second in model.subtree[i]))]  # fmt: skip
        made |= {(i, j) for own in both for i in own for j in own if j <= i}
    return made
