"""Energies, momentum and the centre of mass.

Source: featherstone1987, sections 3.2, 3.4 and 3.9. A bare number in the margin is an equation there.
"""

from __future__ import annotations

from hinge.dynamics.kinematics import poses
from hinge.dynamics.registry import POSITION, SCALAR, SPATIAL, VECTOR, VELOCITY, algorithm
from hinge.spatial import ZERO, Force, Motion, Vec3, cross3, dot, dot3


def moving(model, q, qd):
    """Transforms and velocities of the bodies, each in its own coordinates."""
    X, v = model.per_body(2)
    v[0] = Motion()
    for i, p in model.outward():
        joint = model.joint[i]
        X[i] = joint.transform(q[i]) @ model.placement[i]
        v[i] = X[i] @ v[p] + joint.velocity(q[i], qd[i])  # (4.11)
    return X, v


@algorithm("kinetic_energy", q=POSITION, qd=VELOCITY, returns=SCALAR, rolls=True)
def kinetic_energy(model, q, qd):
    """Half of qdᵀ H(q) qd, armature in.

    Takes q (nq) and qd (nv); gives a number in J.

    >>> float(hinge.samples.planar_2r().kinetic_energy([0.0, 0.0], [0.0, 0.0]))
    0.0
    """
    _, v = moving(model, q, qd)
    (total,) = model.per_body(1)
    total[0] = 0.0
    for i, _ in model.outward():
        total[0] = total[0] + dot(v[i], model.inertia[i] @ v[i])  # section 3.9, example 2
        for J, rate in zip(model.armature(i), qd[i], strict=True):
            total[0] = total[0] + J * (rate * rate)
    return 0.5 * total[0]


def _first_moment(model, q):
    """Mass times centre of mass of all moving bodies, in base coordinates, and their mass."""
    R, r = poses(model, q)
    moment, mass = model.per_body(2)
    moment[0], mass[0] = ZERO, 0.0
    for i, _ in model.outward():
        I = model.inertia[i]
        moment[0], mass[0] = moment[0] + r[i] * I.m + R[i] @ I.h, mass[0] + I.m
    return moment[0], mass[0]


def _over(mass):
    """One over the mass; NaN where there is none."""
    return float("nan") if type(mass) is float and mass == 0.0 else 1.0 / mass


@algorithm("potential_energy", q=POSITION, returns=SCALAR, rolls=True)
def potential_energy(model, q):
    """The work gravity has yet to do, zero when all mass is at the base origin, and that of `with_potential`.

    Takes q (nq); gives a number in J. Springs count where `joint_terms` has "stiffness".

    >>> float(hinge.samples.pendulum(1).potential_energy([0.0])) < 0
    True
    """
    moment, _ = _first_moment(model, q)
    (total,) = model.per_body(1)
    total[0] = -dot3(Vec3(model.gravity), moment)
    for i, _ in model.outward():
        total[0] = total[0] + model.stored(i, q[i])
    for one in model.potentials:
        total[0] = total[0] + one.energy(model, q)
    return total[0]


@algorithm("center_of_mass", q=POSITION, returns=VECTOR, rolls=True)
def center_of_mass(model, q):
    """The centre of mass of all moving bodies, in base coordinates.

    Takes q (nq); gives (3,) in m.

    >>> hinge.samples.pendulum(1).center_of_mass([0.0]).shape
    (3,)
    """
    moment, mass = _first_moment(model, q)
    return list(moment * _over(mass))


@algorithm("momentum", q=POSITION, qd=VELOCITY, returns=SPATIAL, options={"about": ("base", "com")}, rolls=True)
def momentum(model, q, qd, about="base"):
    """The spatial momentum [angular; linear] of all moving bodies, in base axes.

    Takes q (nq) and qd (nv); gives (6,) in kg m²/s and kg m/s, about the base origin, or about the centre of mass
    with about="com".

    >>> hinge.samples.planar_2r().momentum([0.0, 0.0], [1.0, 0.0]).shape
    (6,)
    """
    X, v = moving(model, q, qd)
    (h,) = model.per_body(1)
    h[0] = Force()
    for i, _ in model.outward():
        h[i] = model.inertia[i] @ v[i]  # (3.2)
    for i, p in model.inward():
        h[p] = h[p] + X[i].T @ h[i]
    total = h[0]
    if about == "com":
        moment, mass = _first_moment(model, q)
        total = Force(total.ang - cross3(moment * _over(mass), total.lin), total.lin)
    return list(total)
