"""Inverse dynamics: the joint forces that produce a given motion.

    tau = H(q) qdd + C(q, qd)

Recursive Newton-Euler method, each body in its own coordinates.
Source: featherstone1987, section 4.5. A bare number in the margin is an equation there.
Differs from the source: forces are ordered [couple; force], so that a plain transpose gives power. Velocities and
accelerations are those seen by an observer who moves with each body's origin (see motion.py), which changes no force.
"""

from __future__ import annotations

from hinge.dynamics.motion import carried
from hinge.dynamics.registry import (
    ACCELERATION,
    BASE,
    EXTERNAL,
    FORCE,
    POSITION,
    VELOCITY,
    algorithm,
)
from hinge.spatial import Force, Motion, comoving, cross


def motions(model, q, qd, qdd, base):
    """Transform to each body from its parent, axes of its joint, its velocity and acceleration; gravity is in these."""
    X, S, v, a = model.per_body(4)
    v[0], a[0] = comoving(base[0], base[1] - model.gravity_motion)  # gravity as an upward acceleration of the base
    for i, p in model.outward():
        joint = model.joint[i]
        X[i] = joint.transform(q[i]) @ model.placement[i]
        S[i] = joint.axes(q[i])
        v[i], c = carried(X[i], v[p], joint.velocity(q[i], qd[i]), joint.bias(q[i], qd[i]))  # (4.11)
        a[i] = X[i] @ a[p] + c + S[i] @ qdd[i]  # (4.12), (7.16)
    return X, S, v, a


def joint_forces(model, q, qd, qdd, external, base):
    """Axes of each joint, and the whole spatial force through it, in its body's coordinates; entry 0 is the base's."""
    X, S, v, a = motions(model, q, qd, qdd, base)

    # the force that the motion of each body needs
    (f,) = model.per_body(1)
    f[0] = Force()
    for i, _ in model.outward():
        I = model.inertia[i]
        f[i] = I @ a[i] + cross(v[i], I @ v[i]) - external[i]  # (4.13)

    # inward: a joint carries the forces of all that is beyond it
    for i, p in model.inward():
        f[p] = f[p] + X[i].T @ f[i]  # (4.14), (7.4)
    return S, f


@algorithm("inverse_dynamics", q=POSITION, qd=VELOCITY, qdd=ACCELERATION, external=EXTERNAL, base_motion=BASE,
           returns=FORCE, competes=True, rolls=True, priority=1)  # fmt: skip
def newton_euler(model, q, qd, qdd, external, base_motion):
    """Joint forces for a given motion: tau = H(q) qdd + C(q, qd).

    Takes q (nq), qd and qdd (nv), in rad and m and their rates; gives tau (nv) in N m and N. Gravity and armature are
    in, and what else `joint_terms` names. `external` adds known forces on bodies; `base_motion` is the base's spatial
    velocity and acceleration in its own coordinates, gravity not included.

    >>> arm = hinge.samples.puma560()
    >>> arm.inverse_dynamics(arm.neutral(), np.zeros(6), np.zeros(6)).shape
    (6,)
    """
    S, f = joint_forces(model, q, qd, qdd, external, base_motion)
    tau = model.per_body(1)[0]
    for i, _ in model.outward():
        tau[i] = at_joint(model, i, S[i].T @ f[i], q, qd, qdd)  # (4.15)
    return tau


def at_joint(model, i, along, q, qd, qdd):
    """The forces of joint i: those along its axes, and what its rotor, damping, friction and spring take."""
    rotor = [J * x for J, x in zip(model.armature(i), qdd[i], strict=True)]
    return [t + r + d for t, r, d in zip(along, rotor, model.resistance(i, q, qd), strict=True)]


@algorithm("bias_force", priority=1, q=POSITION, qd=VELOCITY, external=EXTERNAL, base_motion=BASE, returns=FORCE,
           method="newton_euler", competes=True, rolls=True)  # fmt: skip
def bias_force(model, q, qd, external, base_motion):
    """What the joint forces must be for zero acceleration: C(q, qd), gravity in.

    Takes q (nq) and qd (nv); gives joint forces (nv) in N m and N.

    >>> arm = hinge.samples.puma560()
    >>> arm.bias_force(arm.neutral(), np.ones(6)).shape
    (6,)
    """
    return newton_euler(model, q, qd, still(model), external, base_motion)  # (5.3)


@algorithm("gravity_force", q=POSITION, returns=FORCE, rolls=True)
def gravity_force(model, q):
    """What the joint forces must be to hold the robot still against gravity, and against what `with_potential` added.

    Takes q (nq); gives joint forces (nv) in N m and N.

    >>> hinge.samples.pendulum(1).gravity_force([0.0])
    array([0.])
    """
    nothing = model.by_body([Force()] * len(model.parent))
    return newton_euler(model, q, still(model), still(model), nothing, (Motion(), Motion()))


def still(model):
    """No velocity, or no acceleration, of any joint."""
    return model.by_body([[0.0] * joint.nv for joint in model.joint])
