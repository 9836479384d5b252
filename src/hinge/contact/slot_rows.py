"""Jacobian rows of contacts: how fast each velocity of a robot moves one shape of a pair against the other.

A row is the power of a unit force along the normal or a tangent, or of a unit couple about one, on the second body,
and of its opposite on the first. Rows of a contact that is not there are zero.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from hinge.contact.slots import Touch
from hinge.dynamics.kinematics import axes_in_base, poses
from hinge.graph import Scalar, less, select
from hinge.integrators.steps import PerJoint
from hinge.model import Model
from hinge.spatial import ZERO, Force, Motion, Vec3, cross3, dot


class Column(NamedTuple):
    """What one velocity of a joint moves: bodies from `first` to `last`, which numbers put one after another, along
    `axis` in base coordinates."""

    v: int
    first: int
    last: int
    axis: Motion


def columns(model: Model, q: PerJoint) -> list[Column]:
    """A column for each velocity of each joint; joints that follow others belong to the velocity of their leader."""
    S = axes_in_base(model, q, *poses(model, q))
    return [
        Column(model.slices[i][1].start + k, i, max(model.subtree[i]), s * model.ratio(i))
        for i, _ in model.outward()
        for k, s in enumerate(S[i])
    ]


def moves(column: Column, body: Scalar) -> Scalar:
    """1 where a column moves a body, whose number may be a node; 0 where it does not."""
    return select(less(column.first - 0.5, body), select(less(body, column.last + 0.5), 1.0, 0.0), 0.0)


def directions(touch: Touch, size: int) -> list[Force]:
    """Unit forces at a contact in base coordinates, as many as asked: along the normal and two tangents, then couples
    about them."""
    normal, tangent, at = Vec3(touch.normal), Vec3(touch.tangent), Vec3(touch.point)
    frame = (normal, tangent, cross3(normal, tangent))
    return [*(Force(cross3(at, d), d) for d in frame), *(Force(d, ZERO) for d in frame)][:size]


def shares(axes: Sequence[Column], first: Scalar, second: Scalar) -> list[Scalar]:
    """How each column moves the second body against the first: 1, 0 where it moves both or neither, or -1."""
    return [moves(column, second) - moves(column, first) for column in axes]


def slot_rows(axes: Sequence[Column], share: Sequence[Scalar], forces: Sequence[Force]) -> list[dict[int, Scalar]]:
    """A row for each of these forces on the second body and against the first: the entries of velocities of columns."""
    made: list[dict[int, Scalar]] = [{} for _ in forces]
    for column, part in zip(axes, share, strict=True):
        moved = column.axis * part
        for row, force in zip(made, forces, strict=True):
            row[column.v] = row.get(column.v, 0.0) + dot(moved, force)
    return made


def limbs(model: Model) -> list[list[int]]:
    """The velocities in groups, one for each run of bodies that carry one another and nothing else."""
    made: list[list[int]] = []
    limb = [-1] * len(model.parent)
    for i, p in model.outward():
        if limb[p] >= 0 and len(model.children[p]) == 1:
            limb[i] = limb[p]
        else:
            limb[i] = len(made)
            made.append([])
        if i not in model.follows:
            made[limb[i]] += range(model.slices[i][1].start, model.slices[i][1].stop)
    return [own for own in made if own]


def together(model: Model, pairs: Sequence[tuple[int, int]]) -> set[tuple[int, int]]:
    """Which two velocities, the later first, some pair of bodies has both in its rows."""
    made = set()
    for first, second in dict.fromkeys(pairs):
        felt = [i for i, _ in model.outward() if (first in model.subtree[i]) != (second in model.subtree[i])]
        own = {v for i in felt for v in range(model.slices[i][1].start, model.slices[i][1].stop)}
        made |= {(i, j) for i in own for j in own if j <= i}
    return made
