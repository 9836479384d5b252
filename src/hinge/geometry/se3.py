"""The group of rigid displacements: exponential and logarithm, adjoint maps, velocities and how they compose.

A pose takes a frame's coordinates to the base's. A twist is [ω; v], a wrench [couple; force], so that the adjoint of a
pose takes a body velocity to the spatial one, and its coadjoint does so with forces; power is the same in both.
The logarithm is the one with a turn of at most π radians; at π both directions of the axis will do, and the one whose
largest entry is positive is taken. Both are exact to rounding near no turn and near half a turn.
Source: zefran2004, section 1.1; featherstone1987, section 2.5 for coordinate transforms.
Differs from the source: twists and wrenches have their angular part first.
"""

from __future__ import annotations

from collections.abc import Sequence

from hinge.geometry.arrays import Array, nearest_pose, numbers, over_arrays
from hinge.graph import Scalar, atan2, cos, on_paper, sin
from hinge.graph.dual import Dual
from hinge.spatial import IDENTITY, Force, Mat3, Motion, Vec3, cross, cross3, dot3, mat3, skew, vec3
from hinge.spatial.rotation import (
    displacement_exp,
    inverse_jacobian_part,
    left_jacobian_parts,
    quaternion_from_rotation,
    quaternion_log,
    root,
    rotation_from_quaternion,
    shift_log,
)

Rows = Sequence[Sequence[Scalar]]
Six = Sequence[Scalar]


def parts(pose: Rows) -> tuple[Mat3, Vec3]:
    """Rotation and shift of a pose."""
    return mat3(row[:3] for row in pose[:3]), vec3(row[3] for row in pose[:3])


def pose_of(R: Mat3, p: Vec3) -> list[list[Scalar]]:
    """The 4×4 matrix of a rotation and a shift."""
    return [*([*R.row(i), p[i]] for i in range(3)), [0.0, 0.0, 0.0, 1.0]]


def motion(twist: Six) -> Motion:
    """Six numbers as a motion."""
    return Motion(vec3(twist[:3]), vec3(twist[3:]))


def force(wrench: Six) -> Force:
    """Six numbers as a force."""
    return Force(vec3(wrench[:3]), vec3(wrench[3:]))


def blocks(a: Mat3, b: Mat3, c: Mat3, d: Mat3) -> Rows:
    """A 6×6 matrix from its quarters."""
    return [[*a.row(i), *b.row(i)] for i in range(3)] + [[*c.row(i), *d.row(i)] for i in range(3)]


@over_arrays(twist=(6,), gives=(4, 4))
def hat(twist: Six) -> Rows:
    """The 4×4 matrix of a twist, an element of se(3): zefran2004 (2).

    >>> hinge.geometry.se3.hat([0, 0, 1, 2, 0, 0])[0]
    array([ 0., -1.,  0.,  2.])
    """
    W, v = skew(vec3(twist[:3])), twist[3:]
    return [*([*W.row(i), v[i]] for i in range(3)), [0.0] * 4]  # zefran2004 (2)


@over_arrays(matrix=(4, 4), gives=(6,))
def vee(matrix: Rows) -> Six:
    """The twist of an element of se(3).

    >>> hinge.geometry.se3.vee(hinge.geometry.se3.hat([1, 2, 3, 4, 5, 6]))
    array([1., 2., 3., 4., 5., 6.])
    """
    return [matrix[2][1], matrix[0][2], matrix[1][0], *(row[3] for row in matrix[:3])]


@over_arrays(twist=(6,), gives=(4, 4))
def exp(twist: Six) -> Rows:
    """Where a body gets that has this velocity for a unit of time: zefran2004 (3).

    >>> hinge.geometry.se3.exp([0, 0, np.pi, 0, 1, 0]).round(3)[:2, 3]
    array([-0.637,  0.   ])
    """
    if any(map(on_paper, twist)):
        return exp_along(twist, 1.0)
    quaternion, p = displacement_exp(vec3(twist[:3]), vec3(twist[3:]))  # zefran2004 (3)
    return pose_of(rotation_from_quaternion(quaternion), p)


@over_arrays(pose=(4, 4), gives=(6,))
def log(pose: Rows) -> Six:
    """The twist whose exponential is the pose, its turn at most π radians.

    >>> hinge.geometry.se3.log(hinge.geometry.se3.exp([0.1, 0.2, 0.3, 1, 2, 3])).round(12)
    array([0.1, 0.2, 0.3, 1. , 2. , 3. ])
    """
    R, p = parts(pose)
    ang = _turn(R) if any(map(on_paper, R)) else quaternion_log(quaternion_from_rotation(R))
    return [*ang, *shift_log(ang, p)]


def _turn(R: Mat3) -> Vec3:
    """The logarithm of a rotation on paper, where it is neither none nor half a turn."""
    axis = _axial(R)
    s, c = root(dot3(axis, axis)), 0.5 * (R[0] + R[4] + R[8] - 1.0)
    return axis * (atan2(s, c) / s)


@over_arrays(twist=(6,), gives=(6, 6))
def Jexp6(twist: Six) -> Rows:
    """The right Jacobian of `exp`: exp(ξ + δ) is exp(ξ) exp(Jexp6(ξ) δ) for small δ; Pinocchio's, angular part first.

    It is that of rotations on dual numbers, by the principle of transference: featherstone1987 2.8.2.

    >>> hinge.geometry.se3.Jexp6([0, 0, 0, 0, 0, 2])[3:, :2].sum(axis=1)
    array([ 1., -1.,  0.])
    """
    w = _line(twist)
    b, c = left_jacobian_parts(dot3(w, w))
    return _quarters(IDENTITY - skew(w) * b + skew(w).times(skew(w)) * c)


@over_arrays(pose=(4, 4), gives=(6, 6))
def Jlog6(pose: Rows) -> Rows:
    """The right Jacobian of `log`: log(g exp(δ)) is log(g) + Jlog6(g) δ for small δ; Pinocchio's, angular part first.

    Near half a turn it is that of the logarithm on its own side; the inverse of `Jexp6` there.

    >>> hinge.geometry.se3.Jlog6(np.eye(4))[0]
    array([1., 0., 0., 0., 0., 0.])
    """
    w = _line(log.scalar(pose))
    return _quarters(IDENTITY + skew(w) * 0.5 + skew(w).times(skew(w)) * inverse_jacobian_part(dot3(w, w)))


def _line(twist: Six) -> Vec3:
    """A twist as a vector of dual numbers: the angular part, and ε the linear part."""
    return vec3(map(Dual, twist[:3], twist[3:]))


def _quarters(matrix: Mat3) -> Rows:
    """A matrix of dual numbers as one that acts on twists."""
    real, dual = (Mat3(getattr(x, part) for x in matrix) for part in ("real", "dual"))
    return blocks(real, Mat3([0.0] * 9), dual, real)


def exp_along(twist: Six, x: Scalar) -> list[list[Scalar]]:
    """exp(x twist) of a twist that turns, or else only slides: no quotient that could lose its meaning."""
    w, v = vec3(twist[:3]), vec3(twist[3:])
    square = dot3(w, w)
    if type(square) is float and square == 0.0:
        return pose_of(IDENTITY, v * x)
    rate = root(square)
    axis = w / rate
    K = skew(axis)
    c, s = cos(x * rate), sin(x * rate)
    R = IDENTITY + K * s + K.times(K) * (1.0 - c)
    point, along = cross3(axis, v) / rate, axis * (dot3(axis, v) * x)
    return pose_of(R, point - R @ point + along)  # zefran2004 (3): about a line through the point


@over_arrays(pose=(4, 4), gives=(6, 6))
def adjoint(pose: Rows) -> Rows:
    """The matrix that takes motions in the frame's coordinates to the base's.

    >>> hinge.geometry.se3.adjoint(np.eye(4)).shape
    (6, 6)
    """
    R, p = parts(pose)
    return blocks(R, mat3([[0.0] * 3] * 3), skew(p).times(R), R)


@over_arrays(pose=(4, 4), gives=(6, 6))
def coadjoint(pose: Rows) -> Rows:
    """The matrix that takes forces in the frame's coordinates to the base's: the adjoint's inverse, transposed.

    >>> hinge.geometry.se3.coadjoint(np.eye(4)).shape
    (6, 6)
    """
    R, p = parts(pose)
    return blocks(R, skew(p).times(R), mat3([[0.0] * 3] * 3), R)


@over_arrays(a=(6,), b=(6,), gives=(6,))
def bracket(a: Six, b: Six) -> Six:
    """a × b of two motions: the rate of b when it is carried along with a.

    >>> hinge.geometry.se3.bracket([0, 0, 1, 0, 0, 0], [1, 0, 0, 0, 0, 0])
    array([0., 1., 0., 0., 0., 0.])
    """
    return list(cross(motion(a), motion(b)))


@over_arrays(a=(6,), f=(6,), gives=(6,))
def cobracket(a: Six, f: Six) -> Six:
    """a × f of a motion and a force: the rate of f when it is carried along with a.

    >>> hinge.geometry.se3.cobracket([0, 0, 1, 0, 0, 0], [0, 0, 0, 1, 0, 0])
    array([0., 0., 0., 0., 1., 0.])
    """
    return list(cross(motion(a), force(f)))


@over_arrays(pose=(4, 4), gives=(4, 4))
def inverse(pose: Rows) -> Rows:
    """The displacement undone.

    >>> hinge.geometry.se3.inverse(hinge.geometry.se3.exp([0, 0, 0, 1, 2, 3]))[:3, 3]
    array([-1., -2., -3.])
    """
    R, p = parts(pose)
    return pose_of(R.T, -(R.T @ p))


@over_arrays(pose=(4, 4), other=(4, 4), gives=(4, 4))
def product(pose: Rows, other: Rows) -> Rows:
    """The pose of a frame that stands at `other` in the frame of `pose`.

    >>> hinge.geometry.se3.product(np.eye(4), np.eye(4)).shape
    (4, 4)
    """
    (R, p), (S, s) = parts(pose), parts(other)
    return pose_of(R.times(S), p + R @ s)


@over_arrays(pose=(4, 4), twist=(6,), gives=(6,))
def displace(pose: Rows, twist: Six) -> Six:
    """The motion carried along with the displacement, in the same coordinates: featherstone1987 2.5.

    >>> hinge.geometry.se3.displace(hinge.geometry.se3.exp([0, 0, 0, 1, 0, 0]), [0, 0, 1, 0, 0, 0])
    array([ 0.,  0.,  1.,  0., -1.,  0.])
    """
    R, p = parts(pose)
    w = R @ vec3(twist[:3])
    return [*w, *(R @ vec3(twist[3:]) + cross3(p, w))]


@over_arrays(pose=(4, 4), wrench=(6,), gives=(6,))
def displace_force(pose: Rows, wrench: Six) -> Six:
    """The force carried along with the displacement, in the same coordinates.

    >>> hinge.geometry.se3.displace_force(hinge.geometry.se3.exp([0, 0, 0, 1, 0, 0]), [0, 0, 0, 0, 1, 0])
    array([0., 0., 1., 0., 1., 0.])
    """
    R, p = parts(pose)
    f = R @ vec3(wrench[3:])
    return [*(R @ vec3(wrench[:3]) + cross3(p, f)), *f]


@over_arrays(pose=(4, 4), twist=(6,), gives=(6,))
def transform(pose: Rows, twist: Six) -> Six:
    """The same motion in the coordinates of the frame at that pose: what `displace` undoes.

    >>> hinge.geometry.se3.transform(hinge.geometry.se3.exp([0, 0, 0, 1, 0, 0]), [0, 0, 1, 0, 0, 0])
    array([0., 0., 1., 0., 1., 0.])
    """
    R, p = parts(pose)
    w = vec3(twist[:3])
    return [*(R.T @ w), *(R.T @ (vec3(twist[3:]) - cross3(p, w)))]


@over_arrays(pose=(4, 4), wrench=(6,), gives=(6,))
def transform_force(pose: Rows, wrench: Six) -> Six:
    """The same force in the coordinates of the frame at that pose.

    >>> hinge.geometry.se3.transform_force(hinge.geometry.se3.exp([0, 0, 0, 1, 0, 0]), [0, 0, 0, 0, 1, 0])
    array([ 0.,  0., -1.,  0.,  1.,  0.])
    """
    R, p = parts(pose)
    f = vec3(wrench[3:])
    return [*(R.T @ (vec3(wrench[:3]) - cross3(p, f))), *(R.T @ f)]


@over_arrays(pose=(4, 4), rate=(4, 4), gives=(6,))
def spatial_velocity(pose: Rows, rate: Rows) -> Six:
    """The twist of ġ g⁻¹, for the rate ġ of a pose g.

    >>> hinge.geometry.se3.spatial_velocity(np.eye(4), hinge.geometry.se3.hat([1, 2, 3, 4, 5, 6]))
    array([1., 2., 3., 4., 5., 6.])
    """
    (R, p), (Rd, pd) = parts(pose), parts(rate)
    W = Rd.times(R.T)
    w = _axial(W)
    return [*w, *(pd - W @ p)]


@over_arrays(pose=(4, 4), rate=(4, 4), gives=(6,))
def body_velocity(pose: Rows, rate: Rows) -> Six:
    """The twist of g⁻¹ ġ, for the rate ġ of a pose g.

    >>> hinge.geometry.se3.body_velocity(np.eye(4), hinge.geometry.se3.hat([1, 2, 3, 4, 5, 6]))
    array([1., 2., 3., 4., 5., 6.])
    """
    (R, _), (Rd, pd) = parts(pose), parts(rate)
    return [*_axial(R.T.times(Rd)), *(R.T @ pd)]


def _axial(W: Mat3) -> Vec3:
    """The vector of a skew matrix, from both of its halves."""
    return Vec3((0.5 * (W[7] - W[5]), 0.5 * (W[2] - W[6]), 0.5 * (W[3] - W[1])))


@over_arrays(pose=(4, 4), outer=(6,), inner=(6,), gives=(6,))
def compose_spatial(pose: Rows, outer: Six, inner: Six) -> Six:
    """The spatial velocity of Z in X, from that of Y in X, that of Z in Y, and the pose of Y in X: zefran2004 (4).

    >>> hinge.geometry.se3.compose_spatial(np.eye(4), np.ones(6), np.ones(6))
    array([2., 2., 2., 2., 2., 2.])
    """
    return list(motion(outer) + motion(displace.scalar(pose, inner)))  # zefran2004 (4)


@over_arrays(pose=(4, 4), outer=(6,), inner=(6,), gives=(6,))
def compose_body(pose: Rows, outer: Six, inner: Six) -> Six:
    """The body velocity of Z in X, from that of Y in X, that of Z in Y, and the pose of Z in Y: zefran2004 (4).

    >>> hinge.geometry.se3.compose_body(np.eye(4), np.ones(6), np.ones(6))
    array([2., 2., 2., 2., 2., 2.])
    """
    return list(motion(transform.scalar(pose, outer)) + motion(inner))  # zefran2004 (4)


def nearest(matrix: Array) -> Array:
    """The pose nearest to a matrix of numbers (…, 4, 4).

    >>> hinge.geometry.se3.nearest(1.01 * np.eye(4))[0, 0].round(12)
    np.float64(1.0)
    """
    return nearest_pose("geometry.se3.nearest", numbers("geometry.se3.nearest", "matrix", matrix, (4, 4)))
