"""The same robot with each body's frame at its centre of mass, along its principal axes.

The other choice of featherstone1987 8.2: inertias become diagonal, and in return transforms are general and joint axes
are anywhere. It is here to be counted; `frames.reframe` has the choice that pays.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from hinge.graph.expr import Scalar
from hinge.model.frames import Seat, moved, relative, seen_from
from hinge.model.joints import Joint
from hinge.model.model import Frame, Model
from hinge.spatial.inertia import RigidInertia
from hinge.spatial.linear3 import IDENTITY, ZERO, Sym3, mat3
from hinge.spatial.transform import Rigid, Transform
from hinge.spatial.vectors import Motion, MotionSpace


@dataclass(frozen=True)
class Seated(Joint):
    """A joint whose outer frame is not its body's: `before` leads to the joint, `after` from it to the body's frame."""

    inner: Joint
    before: Transform
    after: Transform

    @property
    def nq(self) -> int:  # type: ignore[override]
        return self.inner.nq

    @property
    def nv(self) -> int:  # type: ignore[override]
        return self.inner.nv

    @property
    def kind(self) -> str:  # type: ignore[override]
        return self.inner.kind

    def transform(self, q: Sequence[Scalar]) -> Transform:
        R, p = (self.after @ self.inner.transform(q) @ self.before).pose()
        return Transform(Rigid(R.T, p))

    def axes(self, q: Sequence[Scalar]) -> MotionSpace:
        return self.after @ self.inner.axes(q)

    def bias(self, q: Sequence[Scalar], qd: Sequence[Scalar]) -> Motion:
        return self.after @ self.inner.bias(q, qd)

    def positive(self, q: Sequence[Scalar]) -> list[Scalar]:
        return self.inner.positive(q)


def principal(model: Model) -> Model:
    """The model with frames at the centres of mass, along principal axes; a body without mass keeps its frame."""
    seat: list[Seat] = [(IDENTITY, ZERO)] * len(model.parent)
    for i, _ in model.outward():
        I = model.inertia[i]
        if I.m > 0.0:
            _, axes = np.linalg.eigh(np.array(I.about_com.full()).reshape(3, 3))
            seat[i] = mat3((axes * np.sign(np.linalg.det(axes))).tolist()), I.com
    joint, inertia = list(model.joint), list(model.inertia)
    for i, p in model.outward():
        R, r = relative(seat[p], model.placement[i].pose(), (IDENTITY, ZERO))
        joint[i] = Seated(model.joint[i], Transform(Rigid(R.T, r)), Transform(Rigid(seat[i][0].T, seat[i][1])))
        inertia[i] = _diagonal(moved(model.inertia[i], seat[i]))
    frames = {name: Frame(f.body, *seen_from(seat[f.body], f.R, f.p)) for name, f in model.frames.items()}
    alone = (Transform(),) * len(model.parent)
    return replace(model, joint=tuple(joint), placement=alone, inertia=tuple(inertia), frames=frames, seats=())


def _diagonal(I: RigidInertia) -> RigidInertia:
    """What rounding leaves of products and of the way to the centre of mass is nothing."""
    return RigidInertia(I.m, ZERO, Sym3((*I.I[:3], 0.0, 0.0, 0.0))) if I.m > 0.0 else I
