"""The inertia of a rigid body in its other forms, and its principal screws.

    [ I   H ]        Mises  [ M  Hᵀ ]      4×4  [ J   h ]      binor  (Hᵀ + ε I, M + ε H)
    [ Hᵀ  M ]               [ H  I  ]           [ hᵀ  m ]

with H = h ×, M = m 1, and J = ½ tr(I) 1 - I the second moments. A principal screw of a body is one about which a twist
makes a momentum on the same screw: its pitches are plus and minus the radii of gyration, its axes the principal axes.
One that is constrained has as many as it has freedoms.
Source: featherstone1987, sections 3.3 and 3.7.
Differs from the source: our blocks are those of [couple; force] and [ω; v].
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from hinge.errors import GeometryError, SizeError
from hinge.geometry.arrays import NEAR, Array, numbers, over_arrays, refuse_any
from hinge.geometry.se3 import blocks
from hinge.geometry.spaces import orthogonal_basis
from hinge.graph import Dual, Scalar
from hinge.spatial import RigidInertia, Sym3, Vec3, mat3, skew, vec3

Rows = Sequence[Sequence[Scalar]]


def _rigid(inertia: Rows) -> RigidInertia:
    I = Sym3((inertia[0][0], inertia[1][1], inertia[2][2], inertia[1][2], inertia[0][2], inertia[0][1]))
    return RigidInertia(inertia[3][3], Vec3((inertia[2][4], inertia[0][5], inertia[1][3])), I)


def _refuse_articulated(name: str, inertia: Array) -> None:
    """Raise for matrices that are no rigid body's: section 3.6.1.

    A rigid body has H = h × and M = m 1; an articulated body has neither, and so no mass and no center of mass.
    """
    I, H, M = inertia[..., :3, :3], inertia[..., :3, 3:], inertia[..., 3:, 3:]
    mass = np.trace(M, axis1=-2, axis2=-1)[..., None, None] / 3
    angular, linear = (np.sqrt(np.abs(block).max(axis=(-1, -2))) for block in (I, M))
    off = [  # each with the size that entries of its block may have
        (H + np.swapaxes(H, -1, -2), angular * linear),
        (H - np.swapaxes(inertia[..., 3:, :3], -1, -2), angular * linear),
        (I - np.swapaxes(I, -1, -2), angular**2),
        (M - mass * np.eye(3), linear**2),
    ]
    near = NEAR if inertia.dtype == np.float64 else 1e-5
    bad = np.any([np.abs(block).max(axis=(-1, -2)) > near * size for block, size in off], axis=0)
    refuse_any(
        name,
        "inertia",
        np.asarray(bad),
        "is not that of a rigid body, [I h×; -h× m 1].\n  An articulated body has no mass, no center of mass and no "
        "4×4 form. Its principal screws are those of a body that can move in `freedom` only.",
    )


def _matrix(I: RigidInertia) -> Rows:
    H, M = skew(I.h), mat3([[I.m if i == j else 0.0 for j in range(3)] for i in range(3)])
    return blocks(I.I.full(), H, H.T, M)


@over_arrays(mass=(), com=(3,), about_com=(3, 3), gives=(6, 6))
def spatial(mass: Scalar, com: Any, about_com: Rows) -> Rows:
    """The 6×6 matrix that takes motions to forces, from the mass, its centre, and the inertia about it.

    >>> hinge.geometry.inertias.spatial(2.0, np.zeros(3), np.eye(3)).diagonal()
    array([1., 1., 1., 2., 2., 2.])
    """
    return _matrix(RigidInertia.at_com(mass, vec3(com), about_com))


@over_arrays(inertia=(6, 6), gives=((), (3,), (3, 3)), check=_refuse_articulated)
def parts(inertia: Rows) -> Any:
    """Mass, center of mass, and inertia about it (3×3), of a rigid body.

    >>> hinge.geometry.inertias.parts(np.diag([1.0, 1, 1, 2, 2, 2]))[0]
    np.float64(2.0)
    """
    I = _rigid(inertia)
    full = I.about_com.full()
    return I.m, list(I.com), [list(full.row(i)) for i in range(3)]


@over_arrays(inertia=(6, 6), gives=(4, 4), check=_refuse_articulated)
def to_4x4(inertia: Rows) -> Rows:
    """The 4×4 symmetric form of a rigid body, for use with 4×4 poses: kinetic energy is half the trace of ġ J ġᵀ.

    >>> hinge.geometry.inertias.to_4x4(np.diag([1.0, 1, 1, 2, 2, 2])).diagonal()
    array([0.5, 0.5, 0.5, 2. ])
    """
    I = _rigid(inertia)
    half = 0.5 * (I.I.at(0, 0) + I.I.at(1, 1) + I.I.at(2, 2))
    J = [[(half if i == j else 0.0) - I.I.at(i, j) for j in range(3)] for i in range(3)]
    return [*([*J[i], I.h[i]] for i in range(3)), [*I.h, I.m]]


@over_arrays(J=(4, 4), gives=(6, 6))
def from_4x4(J: Rows) -> Rows:
    """The 6×6 form of a 4×4 inertia.

    >>> hinge.geometry.inertias.from_4x4(np.diag([0.5, 0.5, 0.5, 2])).diagonal()
    array([1., 1., 1., 2., 2., 2.])
    """
    trace = J[0][0] + J[1][1] + J[2][2]
    I = Sym3((trace - J[0][0], trace - J[1][1], trace - J[2][2], -J[1][2], -J[0][2], -J[0][1]))
    return _matrix(RigidInertia(J[3][3], vec3(row[3] for row in J[:3]), I))


@over_arrays(inertia=(6, 6), gives=(6, 6))
def to_mises(inertia: Rows) -> Rows:
    """The motor dyadic of Mises: section 3.7.

    >>> hinge.geometry.inertias.to_mises(np.diag([1.0, 1, 1, 2, 2, 2])).diagonal()
    array([2., 2., 2., 1., 1., 1.])
    """
    return [[inertia[(i + 3) % 6][(j + 3) % 6] for j in range(6)] for i in range(6)]


@over_arrays(D=(6, 6), gives=(6, 6))
def from_mises(D: Rows) -> Rows:
    """The 6×6 form of a motor dyadic.

    >>> hinge.geometry.inertias.from_mises(np.diag([2.0, 2, 2, 1, 1, 1])).diagonal()
    array([1., 1., 1., 2., 2., 2.])
    """
    return to_mises.scalar(D)


def to_binor(inertia: Any) -> tuple[Any, Any]:
    """The binor (Hᵀ + ε I, M + ε H): two 3×3 arrays of dual numbers, for one inertia: section 3.7.

    >>> hinge.geometry.inertias.to_binor(np.diag([1.0, 1, 1, 2, 2, 2]))[1][0, 0]
    Dual(2.0, 0.0)
    """
    a = np.asarray(inertia, dtype=object)
    if a.shape != (6, 6):
        raise SizeError(f"geometry.inertias.to_binor: inertia has shape {a.shape}; it has to be (6, 6).")
    make = np.frompyfunc(Dual, 2, 1)
    return make(a[3:, :3], a[:3, :3]), make(a[3:, 3:], a[:3, 3:])


def from_binor(A: Any, A_plus: Any) -> Any:
    """The 6×6 form of a binor.

    >>> hinge.geometry.inertias.from_binor(*hinge.geometry.inertias.to_binor(np.eye(6)))[0, 0]
    np.float64(1.0)
    """
    real, dual = np.frompyfunc(lambda x: x.real, 1, 1), np.frompyfunc(lambda x: x.dual, 1, 1)
    made = np.block([[dual(A), dual(A_plus)], [real(A), real(A_plus)]])
    return made.astype(float) if all(isinstance(x, int | float) for x in made.ravel()) else made


def apply_binor(A: Any, A_plus: Any, motor: Sequence[Dual]) -> list[Dual]:
    """The momentum motor of a velocity motor: A a + A⁺ a_O.

    >>> A, B = hinge.geometry.inertias.to_binor(np.eye(6))
    >>> hinge.geometry.inertias.apply_binor(A, B, [hinge.graph.Dual(1.0, 2.0)] * 3)[0]
    Dual(2.0, 1.0)
    """
    made = []
    for i in range(3):
        total = Dual(0.0)
        for j in range(3):
            total = total + A[i][j] * motor[j].real + A_plus[i][j] * motor[j].dual
        made.append(total)
    return made


def principal_screws(inertia: Any, freedom: Any = None) -> tuple[Any, Any]:
    """The principal screws of a body with mass: pitches (…, r), and unit twists (…, r, 6) in rows.

    A free body has six, in pairs about each principal axis through the centre of mass, with pitches ± the radius of
    gyration. One that can move in `freedom` (…, 6, r) only, motions in columns, has r: an impulse on one of them, of
    that axis and pitch, starts the body on it. The inertia may then be an articulated one. Where nothing turns the
    pitch is infinite, and the velocity has unit size.

    >>> hinge.geometry.inertias.principal_screws(np.diag([1.0, 2, 3, 4, 4, 4]))[0][:2]
    array([ 0.5, -0.5])
    >>> hinge.geometry.inertias.principal_screws(np.diag([1.0, 2, 3, 4, 4, 4]), np.eye(6)[:, 2:3])[1].round(12)
    array([[0., 0., 1., 0., 0., 0.]])
    """
    given = numbers("geometry.inertias.principal_screws", "inertia", inertia, (6, 6))
    if freedom is not None:
        return _constrained_screws(given, freedom)
    _refuse_articulated("geometry.inertias.principal_screws", given)
    mass, com, about = parts(given)
    if not np.all(mass > 0.0):
        raise GeometryError("geometry.inertias.principal_screws: the inertia has no mass, and so no centre of it.")
    moments, axes = np.linalg.eigh(about)
    radius = np.sqrt(np.maximum(moments, 0.0) / mass[..., None])
    w = np.repeat(np.swapaxes(axes, -1, -2), 2, axis=-2)
    pitch = np.repeat(radius, 2, axis=-1) * np.array([1.0, -1.0] * 3)
    return pitch, np.concatenate([w, np.cross(com[..., None, :], w) + pitch[..., None] * w], axis=-1)


def _constrained_screws(inertia: Any, freedom: Any) -> tuple[Any, Any]:
    """Those of a body that can move in a space of motions S: I s = λ Δ s but for forces that do no work on S.

    Δ takes a twist to the wrench of its axis and pitch. In a basis that is orthonormal by I these are the eigenvectors
    of Sᵀ Δ S, whose eigenvalues 1 / λ are real and may be zero.
    """
    S = orthogonal_basis(freedom, inertia)
    _, x = np.linalg.eigh(np.swapaxes(S, -1, -2) @ np.roll(S, 3, axis=-2))
    s = np.swapaxes(S @ x, -1, -2)
    w, v = s[..., :3], s[..., 3:]
    turning, moving = np.linalg.norm(w, axis=-1), np.linalg.norm(v, axis=-1)
    slides = turning <= 1e-12 * moving
    with np.errstate(divide="ignore", invalid="ignore"):
        pitch = np.where(slides, np.inf, np.sum(w * v, axis=-1) / turning**2)
    return pitch, np.where(slides[..., None], [0.0, 0, 0, 1, 1, 1], 1.0) * s / np.where(slides, moving, turning)[
        ..., None
    ]
