"""Derivatives of inverse dynamics: how joint forces change with coordinates, velocities and accelerations.

    dtau = ∂tau/∂q dq + ∂tau/∂qd dqd + H dqdd

When a joint moves along one of its axes s, everything beyond it moves along. As seen from there velocities and
accelerations change, everywhere beyond, by the motions

    Pd = v × s      Pdd = a × s + v × Pd        v, a of the parent, gravity in

and with a unit of velocity along s by s and 2 v × s + vJ × s. Such a pair of changes asks for the forces
2 B Pd + I Pdd, with I the inertia of the composite body beyond and B as in turning.py. Joints further out feel them as
(2 Bᵀ S) · Pd + (I S) · Pdd. Joints further in feel them too, and that the force through the joint, f, is carried along:
s × f. Where axes depend on q, what that adds is found by differentiation. Columns of q are along `integrate`.
Source: turney1981, section 7, differentiated; the derivatives by motions are those of singh2022, after carpentier2018.
Differs from them: bodies are in their own coordinates, and at each joint the observer moves with that point of the
parent which the body's origin is passing, so v has no linear part. The matrix A of turney.py has Pdd in it, and along a
joint's line the child's serves as well as the parent's. Any joint, driven ones too; the base may move.
"""

from __future__ import annotations

from typing import NamedTuple

from hinge.dynamics.registry import ACCELERATION, BASE, EXTERNAL, POSITION, SLOPES, VELOCITY, algorithm
from hinge.dynamics.solve import plus_diagonal
from hinge.dynamics.tangents import joint_slopes, load_slopes, resistance_slopes
from hinge.dynamics.turney import acceleration_matrix, needed, outward
from hinge.dynamics.turning import Turning, Way
from hinge.spatial import Force, ForceSpace, Motion, MotionSpace, Transform, Vec3, cross, cross3, dot


@algorithm("inverse_dynamics_derivatives", q=POSITION, qd=VELOCITY, qdd=ACCELERATION, external=EXTERNAL,
           base_motion=BASE, returns=SLOPES, competes=True, regroups=True)  # fmt: skip
def inverse_derivatives(model, q, qd, qdd, external, base_motion):
    """How the joint forces of `inverse_dynamics` change: ∂tau/∂q, ∂tau/∂qd and ∂tau/∂qdd, side by side.

    Takes q (nq), qd and qdd (nv); gives (nv, 3 nv), in N m and N for each rad, m, rad/s, … Columns of q are along
    `integrate`; the last nv columns are the mass matrix. Forces given as `external` stay as they are in the coordinates
    they are given in.

    >>> arm = hinge.samples.puma560()
    >>> arm.kernel("inverse_dynamics_derivatives")(arm.neutral(), np.zeros(6), np.zeros(6)).shape
    (6, 18)
    """
    return side_by_side(*slopes(model, q, qd, qdd, external, base_motion))


def slopes(model, q, qd, qdd, external, base_motion):
    """∂tau/∂q, ∂tau/∂qd and ∂tau/∂qdd, each over the user's velocities."""
    return forces(model, changes(model, q, qd, qdd, external, base_motion), q, qd, external)


def side_by_side(*matrices):
    """Matrices as one, each to the right of the one before."""
    return [[x for row in rows for x in row] for rows in zip(*matrices, strict=True)]


class Change(NamedTuple):
    """A change of velocity and one of acceleration that go together, everywhere beyond a joint."""

    v: Motion
    a: Motion


class Moving(NamedTuple):
    """What slopes are made of, a column each: of each joint its transform, axes, how they change along each other, how
    all beyond changes along each axis and with each velocity, twice the speed of the body's origin across it, and the
    way inward; of each body 2 B, and the force that its motion needs.
    """

    X: list[Transform]
    S: list[MotionSpace]
    axis_slopes: list[list[MotionSpace]]
    by_q: list[list[Change]]
    by_qd: list[list[Change]]
    slip: list[Vec3]
    way: list[Way]
    B: list[Turning]
    f: list[Force]


def changes(model, q, qd, qdd, external, base_motion) -> Moving:
    """Outward: how the motion of everything beyond a joint changes, and the force each body needs."""
    X, S, dS, by_q, by_qd, slip, way, B, f = made = Moving(*model.per_body(9))
    (omega,) = model.per_body(1)
    omega[0], B[0], f[0] = base_motion[0].ang, Turning(), Force()
    for i, body in outward(model, q, qd, qdd, base_motion):
        joint, I, p = model.joint[i], model.inertia[i], model.parent[i]
        X[i], S[i], slip[i], omega[i] = body.X, body.S, body.across.lin * 2.0, body.omega
        way[i] = Way(X[i], omega[p])
        B[i], f[i] = Turning.twice(I, omega[i]), needed(I, body.A, body.a) - external[i]
        w, A = (body.omega, body.A) if joint.line else (body.w, acceleration_matrix(body.w, body.wd))
        v = Motion(body.w + body.w) + body.across
        dS[i], by_q[i], by_qd[i] = [], [], []
        for s, own in zip(S[i], joint_slopes(joint, q[i], qd[i], qdd[i]), strict=True):
            Pd = Motion(cross3(w, s.ang), cross3(w, s.lin))
            Pdd = Motion(A @ s.ang, A @ s.lin + cross3(body.there, s.ang))
            dS[i].append(own.axes)
            by_q[i].append(Change(Pd + own.v, Pdd + cross(v, own.v) + own.a))
            by_qd[i].append(Change(s, Pd + Pd + cross(body.across, s) + own.c))
    return made


def forces(model, moving, q, qd, external):
    """Inward: how joint forces change with such changes of motion, and with accelerations; each a matrix."""
    X, S, dS, by_q, by_qd, slip, way, B, f = moving
    BC, IC, f = list(B), list(model.inertia), list(f)
    dq, dqd, H = {}, {}, {}
    for i, p in model.inward():
        # what changes ask of the composite body, at its own joint
        I, T = IC[i], BC[i].observed(IC[i].m, IC[i].h, slip[i])
        U, C = ForceSpace(I @ s for s in S[i]), ForceSpace(T.transposed(s) for s in S[i])
        Fq, Fv = (ForceSpace(T @ d.v + I @ d.a for d in ds) for ds in (by_q[i], by_qd[i]))
        dq[i, i] = plus(S[i].T @ Fq, [[dot(s, f[i]) for s in axes] for axes in zip(*dS[i], strict=True)])
        dqd[i, i] = [[0.0]] if stiff(model, i) else S[i].T @ Fv
        H[i, i] = plus_diagonal(S[i].T @ U, model.armature(i))
        Fq = ForceSpace(g + cross(s, f[i]) for g, s in zip(Fq, S[i], strict=True))

        # at each joint further in: what it feels of these, and what they feel of its own
        for k, j in model.toward_base(i):
            pairs = [way[k].felt_inward(u, c) for u, c in zip(U, C, strict=True)]
            U, C = ForceSpace(u for u, _ in pairs), ForceSpace(c + Force(cross3(slip[j], u.lin)) for u, c in pairs)
            Fq, Fv = X[k].T @ Fq, X[k].T @ Fv
            H[j, i] = S[j].T @ U
            H[i, j] = [list(column) for column in zip(*H[j, i], strict=True)]
            dq[i, j], dq[j, i] = felt(U, C, by_q[j]), S[j].T @ Fq
            dqd[i, j], dqd[j, i] = felt(U, C, by_qd[j]), S[j].T @ Fv

        I, T = way[i].inward(I, T)
        IC[p], BC[p], f[p] = IC[p] + I, BC[p] + T, f[p] + X[i].T @ f[i]

    taken_q, taken_qd = resistance_slopes(model, q, qd)
    dq = plus(plus(model.generalised_matrix(dq), taken_q), load_slopes(model, q, external, X, S))
    return dq, plus(model.generalised_matrix(dqd), taken_qd), model.generalised_matrix(H)


def felt(U, C, changes):
    """What joint forces, a row each, change by with changes of motion nearer to the base."""
    return [[dot(d.v, c) + dot(d.a, u) for d in changes] for u, c in zip(U, C, strict=True)]


def stiff(model, i):
    """Whether joint i turns or slides one rigid body and no more: its own velocity makes no force along its line."""
    joint = model.joint[i]
    return joint.line is not None and joint.nv == 1 and not model.children[i]


def plus(A, B):
    """The sum of two matrices."""
    return [[x + y for x, y in zip(*rows, strict=True)] for rows in zip(A, B, strict=True)]
