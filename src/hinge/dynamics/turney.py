"""Inverse dynamics: the joint forces that produce a given motion.

    tau = H(q) qdd + C(q, qd)

Modified Newton-Euler method: one matrix A stands for all that angular velocity and acceleration do to a body, each
body in its own coordinates.
Source: turney1981, section 7. A bare number in the margin is an equation there.
Differs from the source: a body's origin is on the joint before it, and moments are about it. Along a joint's line the
child's A serves as well as the parent's, because the line is fixed in both, and the shift of the origin is cheaper
with it. The text has revolute joints; the terms of other joints, of trees and of a moving base are ours.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from hinge.dynamics.composite import forward_composite
from hinge.dynamics.newton_euler import at_joint, still
from hinge.dynamics.registry import ACCELERATION, BASE, EXTERNAL, FORCE, POSITION, VELOCITY, algorithm
from hinge.spatial import Force, Mat3, Motion, MotionSpace, RigidInertia, Sym3, Transform, Vec3, comoving, cross3


def pseudo(I: Sym3) -> Sym3:
    """½ tr(I) 1 - I: from the inertia that goes with ω to the one that goes with rates of rotation matrices."""
    half = 0.5 * (I[0] + I[1] + I[2])
    return Sym3((half - I[0], half - I[1], half - I[2], -I[3], -I[4], -I[5]))  # silver1981 (2.11)


class Moving(NamedTuple):
    """A body in motion, in its own coordinates: transform, axes and velocity of its joint, and its motion and that of
    its parent, where the body's origin is passing.
    """

    X: Transform
    S: MotionSpace
    across: Motion  # the velocity across the joint
    w: Vec3  # the parent's angular velocity
    wd: Vec3  # its angular acceleration
    there: Vec3  # the acceleration of its point
    omega: Vec3
    A: Mat3
    a: Vec3


def outward(model, q, qd, qdd, base_motion) -> Iterator[tuple[int, Moving]]:
    """Each body with its motion, parents before children; gravity is in the accelerations."""
    X, omega, alpha, A, there, a = model.per_body(6)
    v, g = comoving(base_motion[0], base_motion[1] - model.gravity_motion)  # gravity as an upward acceleration
    omega[0], alpha[0], a[0] = v.ang, g.ang, g.lin
    A[0] = acceleration_matrix(omega[0], alpha[0])
    for i, p in model.outward():
        joint = model.joint[i]
        X[i] = joint.transform(q[i]) @ model.placement[i]
        S = joint.axes(q[i])
        vJ, aJ = joint.velocity(q[i], qd[i]), joint.bias(q[i], qd[i]) + S @ qdd[i]
        w = X[i].turned(omega[p])
        omega[i] = w + vJ.ang  # (7.1)
        wd = X[i].turned(alpha[p])
        alpha[i] = wd + cross3(w, vJ.ang) + aJ.ang  # (7.2)
        A[i] = acceleration_matrix(omega[i], alpha[i])  # (4.18)
        to_line, along = X[i].legs(joint.line)
        slid = cross3(w, vJ.lin + vJ.lin) + cross3(vJ.ang, vJ.lin) + aJ.lin
        there[i] = X[i].turned(a[p] + A[p] @ to_line) + A[i] @ along
        a[i] = there[i] + slid  # (7.3)
        yield i, Moving(X[i], S, vJ, w, wd, there[i], omega[i], A[i], a[i])


def needed(I: RigidInertia, A: Mat3, a: Vec3) -> Force:
    """The force that the motion of a body needs."""
    n = moment(A, pseudo(I.I)) + cross3(I.h, a)  # (7.6)
    return Force(n, A @ I.h + a * I.m)  # (7.4)


@algorithm("inverse_dynamics", q=POSITION, qd=VELOCITY, qdd=ACCELERATION, external=EXTERNAL, base_motion=BASE,
           returns=FORCE, competes=True)  # fmt: skip
def turney(model, q, qd, qdd, external, base_motion):
    """Joint forces for a given motion, by the matrix A that takes places on a body to their accelerations."""
    X, S, f, tau = model.per_body(4)
    f[0] = Force()
    for i, body in outward(model, q, qd, qdd, base_motion):
        X[i], S[i] = body.X, body.S
        f[i] = needed(model.inertia[i], body.A, body.a) - external[i]  # (7.5)

    # inward: a joint carries the forces of all that is beyond it
    for i, p in model.inward():
        f[p] = f[p] + X[i].T @ f[i]  # (7.5), (7.6)
        tau[i] = at_joint(model, i, S[i].T @ f[i], q, qd, qdd)  # (3.13)
    return tau


def acceleration_matrix(omega: Vec3, alpha: Vec3) -> Mat3:
    """A = α × + ω × ω ×: a point at r on a body whose origin has acceleration a has A r + a."""
    x, y, z = omega
    xx, yy, zz, yz, xz, xy = x * x, y * y, z * z, y * z, x * z, x * y
    return Mat3((
        -(yy + zz), xy - alpha[2], xz + alpha[1],
        xy + alpha[2], -(xx + zz), yz - alpha[0],
        xz - alpha[1], yz + alpha[0], -(xx + yy),
    ))  # fmt: skip


def moment(A: Mat3, J: Sym3) -> Vec3:
    """The moment about the origin of the forces A r dm: twice the antisymmetric part of A J, (7.6)."""
    xx, yy, zz, yz, xz, xy = J
    Axx, Axy, Axz, Ayx, Ayy, Ayz, Azx, Azy, Azz = A
    return Vec3(
        (
            Azy * yy - Ayz * zz + Azx * xy - Ayx * xz + (Azz - Ayy) * yz,
            Axz * zz - Azx * xx + Axy * yz - Azy * xy + (Axx - Azz) * xz,
            Ayx * xx - Axy * yy + Ayz * xz - Axz * yz + (Ayy - Axx) * xy,
        )
    )


@algorithm("bias_force", method="turney", q=POSITION, qd=VELOCITY, external=EXTERNAL, base_motion=BASE, returns=FORCE,
           competes=True)  # fmt: skip
def bias_force(model, q, qd, external, base_motion):
    """What the joint forces must be for zero acceleration, by the same."""
    return turney(model, q, qd, still(model), external, base_motion)


@algorithm("forward_dynamics", q=POSITION, qd=VELOCITY, tau=FORCE, external=EXTERNAL, base_motion=BASE,
           returns=ACCELERATION, pivots=True, competes=True)  # fmt: skip
def composite_turney(model, q, qd, tau, external, base_motion):
    """Accelerations that follow from joint forces, by way of the mass matrix, with the bias force of this text."""
    return forward_composite(model, q, qd, tau, external, base_motion, bias=bias_force)
