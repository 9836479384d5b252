"""The three methods of the textbook in absolute coordinates: every body's axes and inertia seen from the base.

    inverse dynamics   newton_euler_base, and newton_euler_orin, whose forces are in link coordinates
    mass matrix        composite_base
    forward dynamics   articulated_base

Source: featherstone1987, sections 4.4, 5.3 and 6.4, and 7.2 and 7.4 for trees and joints of several freedoms. A bare
number in the margin is an equation there.
Differs from the source: forces are ordered [couple; force], so that a plain transpose gives power; H is factored from
its last row to its first.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from hinge.dynamics.articulated import coupled
from hinge.dynamics.newton_euler import at_joint
from hinge.dynamics.registry import ACCELERATION, BASE, EXTERNAL, FORCE, MATRIX, POSITION, VELOCITY, algorithm
from hinge.dynamics.solve import LDL, plus_diagonal
from hinge.spatial import (
    IDENTITY,
    ZERO,
    ArticulatedInertia,
    Force,
    ForceSpace,
    Mat3,
    Motion,
    MotionSpace,
    Rigid,
    RigidInertia,
    Transform,
    Vec3,
    cross,
    cross3,
)


class Placed(NamedTuple):
    """Where a body stands in the base: its axes and its origin."""

    R: Mat3 = IDENTITY
    p: Vec3 = ZERO

    @property
    def X(self) -> Transform:
        """From base coordinates to the body's."""
        return Transform(Rigid(self.R.T, self.p))

    def motion(self, m: Motion) -> Motion:
        """A motion given in the body's coordinates."""
        ang = self.R @ m.ang
        return Motion(ang, self.R @ m.lin + cross3(self.p, ang))

    def axes(self, S: MotionSpace) -> MotionSpace:
        return MotionSpace(self.motion(m) for m in S)

    def inertia(self, I: RigidInertia) -> RigidInertia:
        return self.X.T @ I


def placed(model: Any, q: Any) -> list[Placed]:
    """Where each body stands: section 4.3."""
    made = [Placed()] * len(model.parent)
    for i, p in model.outward():
        made[i] = Placed(*(model.joint[i].transform(q[i]) @ model.placement[i]).pose(*made[p]))
    return made


def motions(model, q, qd, qdd, at, base):
    """Axes, velocities and accelerations of all bodies in base coordinates."""
    s, v, a = model.per_body(3)
    v[0], a[0] = base[0], base[1] - model.gravity_motion
    for i, p in model.outward():
        joint = model.joint[i]
        s[i] = at[i].axes(joint.axes(q[i]))
        vJ = at[i].motion(joint.velocity(q[i], qd[i]))
        v[i] = v[p] + vJ  # (4.6)
        a[i] = a[p] + cross(v[i], vJ) + s[i] @ qdd[i] + at[i].motion(joint.bias(q[i], qd[i]))  # (4.7), (7.16)
    return s, v, a


@algorithm("inverse_dynamics", q=POSITION, qd=VELOCITY, qdd=ACCELERATION, external=EXTERNAL, base_motion=BASE,
           returns=FORCE)  # fmt: skip
def newton_euler_base(model, q, qd, qdd, external, base_motion):
    """Joint forces for a given motion, all in base coordinates."""
    at = placed(model, q)
    s, v, a = motions(model, q, qd, qdd, at, base_motion)
    f, tau = [Force()] * len(model.parent), model.per_body(1)[0]
    for i, p in model.inward():
        I = at[i].inertia(model.inertia[i])
        f[i] = f[i] + I @ a[i] + cross(v[i], I @ v[i]) - at[i].X.T @ external[i]  # (4.8)
        f[p] = f[p] + f[i]  # (4.9)
        tau[i] = at_joint(model, i, s[i].T @ f[i], q, qd, qdd)  # (4.10)
    return tau


@algorithm("inverse_dynamics", q=POSITION, qd=VELOCITY, qdd=ACCELERATION, external=EXTERNAL, base_motion=BASE,
           returns=FORCE)  # fmt: skip
def newton_euler_orin(model, q, qd, qdd, external, base_motion):
    """Joint forces for a given motion: motions in base coordinates, forces in those of the links."""
    at = placed(model, q)
    _, v, a = motions(model, q, qd, qdd, at, base_motion)
    f, tau = [Force()] * len(model.parent), model.per_body(1)[0]
    for i, p in model.inward():
        joint, I, X = model.joint[i], model.inertia[i], at[i].X
        f[i] = f[i] + I @ (X @ a[i]) + cross(X @ v[i], I @ (X @ v[i])) - external[i]  # (4.13)
        f[p] = f[p] + (joint.transform(q[i]) @ model.placement[i]).T @ f[i]  # (4.14)
        tau[i] = at_joint(model, i, joint.axes(q[i]).T @ f[i], q, qd, qdd)  # (4.15)
    return tau


@algorithm("mass_matrix", q=POSITION, returns=MATRIX)
def composite_base(model, q):
    """The joint-space inertia matrix H(q) from composite bodies in base coordinates."""
    at, H = placed(model, q), {}
    s = [at[i].axes(joint.axes(q[i])) for i, joint in enumerate(model.joint)]
    IC = [at[i].inertia(I) for i, I in enumerate(model.inertia)]
    for i, p in model.inward():
        f = IC[i] @ s[i]  # (5.8)
        H[i, i] = plus_diagonal(s[i].T @ f, model.armature(i))
        for _, k in model.toward_base(i):
            H[k, i] = s[k].T @ f  # (5.9), (7.9)
            H[i, k] = [list(column) for column in zip(*H[k, i], strict=True)]
        IC[p] = IC[p] + IC[i]  # (5.7)
    return model.generalised_matrix(H)


@algorithm("forward_dynamics", q=POSITION, qd=VELOCITY, tau=FORCE, external=EXTERNAL, base_motion=BASE,
           returns=ACCELERATION, pivots=True, refuses=coupled)  # fmt: skip
def articulated_base(model, q, qd, tau, external, base_motion):
    """Accelerations that follow from joint forces, by articulated bodies in base coordinates."""
    s, v, c, IA, pA, h, d, u, a = model.per_body(9)
    at = placed(model, q)
    v[0], a[0] = base_motion[0], base_motion[1] - model.gravity_motion  # (6.45)
    IA[0], pA[0] = ArticulatedInertia(), Force()

    # outward: velocities, and the force each body needs on their account
    for i, p in model.outward():
        joint, I = model.joint[i], at[i].inertia(model.inertia[i])
        s[i] = at[i].axes(joint.axes(q[i]))
        vJ = at[i].motion(joint.velocity(q[i], qd[i]))
        v[i] = v[p] + vJ  # (6.50)
        c[i] = cross(v[i], vJ) + at[i].motion(joint.bias(q[i], qd[i]))  # (6.46)
        IA[i], pA[i] = I.articulated(), cross(v[i], I @ v[i]) - at[i].X.T @ external[i]  # (6.51)

    # inward: the inertia a body seems to have, less what its joint gives way to, is added to the parent's
    pivots = []
    for i, p in model.inward():
        h[i] = IA[i] @ s[i]  # (6.47)
        d[i] = LDL(plus_diagonal(s[i].T @ h[i], model.armature(i)), model.joint_label(i))  # (6.48)
        taken = zip(tau[i], model.resistance(i, q, qd), h[i].T @ c[i], s[i].T @ pA[i], strict=True)
        u[i] = [t - r - x - y for t, r, x, y in taken]  # (6.49)
        over = ForceSpace(d[i].solve(h[i]))
        IA[p] = IA[p] + IA[i].without(h[i], over)  # (6.52)
        pA[p] = pA[p] + pA[i] + IA[i] @ c[i] + over @ u[i]  # (6.53)
        pivots += d[i].pivots

    # outward: each joint now answers for itself
    qdd = []
    for i, p in model.outward():
        answer = d[i].solve([x - y for x, y in zip(u[i], h[i].T @ a[p], strict=True)])  # (6.55)
        a[i] = a[p] + c[i] + s[i] @ answer  # (6.54)
        qdd += answer
    return qdd, pivots
