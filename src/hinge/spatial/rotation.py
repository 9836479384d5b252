"""Rotations: quaternions, roll-pitch-yaw, and the exponential and logarithm of rigid motions.

Quaternions are scalar first. All functions run over any scalar, exact near zero: where a quotient loses its meaning
a series takes its place, and the quotient is fed a harmless argument meanwhile. On paper the quotient stands alone.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from hinge.graph.expr import Scalar, on_paper
from hinge.graph.functions import atan2, cos, sin
from hinge.graph.ops import less, select, sqrt
from hinge.spatial.linear3 import IDENTITY, Mat3, Vec3, cross3, dot3

Quaternion = tuple[Scalar, Scalar, Scalar, Scalar]
SMALL = 1e-3  # the square of the angle below which series are used; their next term is under one unit in the last place


SNAP = 1e-11  # a rotation entry in a robot file closer than this to 0, 1 or -1 is that
DUST = 1e-14  # what rounding leaves where zero is meant


def snapped_circle(c: float, s: float) -> tuple[float, float]:
    """Cosine and sine, or those of the quarter turn they stand for."""
    if abs(s) < DUST:
        return math.copysign(1.0, c), 0.0
    if abs(c) < DUST:
        return 0.0, math.copysign(1.0, s)
    return c, s


def snapped_direction(v: Vec3) -> Vec3:
    """The unit vector along v, with what is next to nothing set to zero."""
    length = math.sqrt(dot3(v, v))
    kept = Vec3(tuple(0.0 if abs(x) < SNAP * length else x for x in v))
    return kept / math.sqrt(dot3(kept, kept))


def snapped_rotation(R: Mat3, near: float = DUST) -> Mat3:
    """The rotation R with what is next to 0, 1 or -1 set to it, and still a rotation to the last bit or so."""
    kept = Mat3(0.0 if abs(x) < near else x for x in R)
    for _ in range(2):  # Newton's step towards the nearest orthogonal matrix
        gram = kept.T.times(kept)
        if max(abs(g - e) for g, e in zip(gram, IDENTITY, strict=True)) > 4e-16:
            kept = kept.times(IDENTITY * 1.5 - gram * 0.5)
    return Mat3(float(round(x)) if abs(x - round(x)) < 1e-15 else x for x in kept)


def rotation_from_quaternion(quaternion: Sequence[Scalar]) -> Mat3:
    """The matrix that takes body coordinates to the frame the quaternion is given in; any length will do.

    featherstone1987 (8.2), transposed, and divided by the square of the length.
    """
    w, x, y, z = quaternion
    s = 2.0 / square(quaternion)
    sx, sy, sz = s * x, s * y, s * z
    wx, wy, wz, xy, xz, yz = w * sx, w * sy, w * sz, x * sy, x * sz, y * sz
    qxx, qyy, qzz = x * sx, y * sy, z * sz
    return Mat3((
        1.0 - (qyy + qzz), xy - wz, xz + wy,
        xy + wz, 1.0 - (qxx + qzz), yz - wx,
        xz - wy, yz + wx, 1.0 - (qxx + qyy),
    ))  # fmt: skip


def square(quaternion: Sequence[Scalar]) -> Scalar:
    """The square of a quaternion's length."""
    w, x, y, z = quaternion
    return w * w + x * x + y * y + z * z


def unit(quaternion: Sequence[Scalar]) -> Quaternion:
    """The quaternion of length one in the same direction."""
    w, x, y, z = quaternion
    s = 1.0 / sqrt(square(quaternion))
    return w * s, x * s, y * s, z * s


def quaternion_product(a: Sequence[Scalar], b: Sequence[Scalar]) -> Quaternion:
    """The rotation b followed by a."""
    aw, bw = a[0], b[0]
    av, bv = Vec3(tuple(a[1:])), Vec3(tuple(b[1:]))
    v = bv * aw + av * bw + cross3(av, bv)
    return aw * bw - dot3(av, bv), v[0], v[1], v[2]


def conjugate(q: Sequence[Scalar]) -> Quaternion:
    """The inverse of a quaternion of length one."""
    return q[0], -q[1], -q[2], -q[3]


def _small(square: Scalar) -> Scalar:
    """Whether a series takes the place of a quotient, by the square of what would be divided by."""
    return False if on_paper(getattr(square, "real", square)) else less(square, SMALL)


def root(square: Scalar) -> Scalar:
    """A square root, of either sign where a formula is even in it: on paper that of x² is x."""
    known = on_paper(square) and square.op == "mul" and square.args[0] is square.args[1]
    return square.args[0] if known else sqrt(square)


def quaternion_exp(turn: Vec3) -> Quaternion:
    """The quaternion of a turn by |turn| radians about its direction."""
    aa = dot3(turn, turn)
    near = _small(aa)
    a = root(select(near, 1.0, aa))
    half = sin(0.5 * a) / a
    s = select(near, 0.5 - aa * (1 / 48 - aa * (1 / 3840 - aa * (1 / 645120))), half)
    c = select(near, 1.0 - aa * (1 / 8 - aa * (1 / 384 - aa * (1 / 46080 - aa * (1 / 10321920)))), cos(0.5 * a))
    return c, turn[0] * s, turn[1] * s, turn[2] * s


def quaternion_log(quaternion: Sequence[Scalar]) -> Vec3:
    """The turn, of at most pi radians, that a quaternion of length one stands for."""
    flip = less(quaternion[0], 0.0)
    w, x, y, z = (select(flip, -c, c) for c in quaternion)
    v = Vec3((x, y, z))
    vv = dot3(v, v)
    near = _small(vv)
    n = sqrt(select(near, 1.0, vv))
    series = 2.0 + vv * (1 / 3 + vv * (3 / 20 + vv * (5 / 56 + vv * (35 / 576 + vv * (63 / 1408)))))  # 2 asin(n) / n
    return v * select(near, series, 2.0 * atan2(n, w) / n)


def left_jacobian_parts(aa: Scalar) -> tuple[Scalar, Scalar]:
    """(1 - cos a)/a² and (a - sin a)/a³ as functions of a²."""
    near = _small(aa)
    safe = select(near, 1.0, aa)
    a = root(safe)
    half = sin(0.5 * a)
    b = select(near, 0.5 - aa * (1 / 24 - aa * (1 / 720 - aa * (1 / 40320))), 2.0 * half * half / safe)
    c = select(near, 1 / 6 - aa * (1 / 120 - aa * (1 / 5040 - aa * (1 / 362880))), (a - sin(a)) / (safe * a))
    return b, c


def displacement_exp(ang: Vec3, lin: Vec3) -> tuple[Quaternion, Vec3]:
    """Quaternion and shift of the screw motion that body velocity [ang; lin] makes in unit time: zefran2004 (3)."""
    b, c = left_jacobian_parts(dot3(ang, ang))
    once = cross3(ang, lin)
    return quaternion_exp(ang), lin + once * b + cross3(ang, once) * c


def displacement_log(quaternion: Sequence[Scalar], shift: Vec3) -> tuple[Vec3, Vec3]:
    """The constant body velocity [ang; lin] that makes a displacement in unit time."""
    ang = quaternion_log(quaternion)
    return ang, shift_log(ang, shift)


def shift_log(ang: Vec3, shift: Vec3) -> Vec3:
    """The linear part of the constant body velocity, of known angular part, that makes a shift in unit time."""
    d = inverse_jacobian_part(dot3(ang, ang))
    once = cross3(ang, shift)
    return shift - once * 0.5 + cross3(ang, once) * d


def inverse_jacobian_part(aa: Scalar) -> Scalar:
    """(1 - (a/2) cot (a/2))/a² as a function of a²."""
    near = _small(aa)
    safe = select(near, 1.0, aa)
    a = root(safe)
    closed = (1.0 - 0.5 * a * cos(0.5 * a) / sin(0.5 * a)) / safe
    return select(near, 1 / 12 + aa * (1 / 720 + aa * (1 / 30240 + aa * (1 / 1209600))), closed)


def shortest_turn(axis: Vec3) -> list[list[float]]:
    """The smallest rotation that takes z to a unit vector, row by row; about x where that is -z."""
    x, y, z = axis
    if z == -1.0:
        return [[1.0, 0.0, 0.0], [0.0, -1.0, 0.0], [0.0, 0.0, -1.0]]
    k = 1.0 / (1.0 + z) if z > 0.0 else (1.0 - z) / (x * x + y * y)  # the same, without loss near -z
    return [[1.0 - k * x * x, -k * x * y, x], [-k * x * y, 1.0 - k * y * y, y], [-x, -y, z]]


def rotation_from_rpy(roll: Scalar, pitch: Scalar, yaw: Scalar) -> Mat3:
    """Turns about the fixed x, y and z axes, in that order: Rz(yaw) Ry(pitch) Rx(roll)."""
    cr, sr, cp, sp, cy, sy = cos(roll), sin(roll), cos(pitch), sin(pitch), cos(yaw), sin(yaw)
    return Mat3((
        cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr,
        sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr,
        -sp, cp * sr, cp * cr,
    ))  # fmt: skip


def rpy_from_rotation(R: Mat3) -> tuple[float, float, float]:
    """Roll, pitch and yaw of a rotation given as numbers: rotation_from_rpy of them is R to rounding, at any pitch.

    Yaw is found first; pitch and roll are those of what is left when it is undone. So near a pitch of a quarter turn,
    where yaw and roll are one turn, whatever yaw comes out is made up for.
    """
    yaw = math.atan2(R[3], R[0]) if math.hypot(R[0], R[3]) > DUST else 0.0
    c, s = math.cos(yaw), math.sin(yaw)
    pitch = math.atan2(-R[6], c * R[0] + s * R[3])
    roll = math.atan2(s * R[2] - c * R[5], c * R[4] - s * R[1])
    return roll, pitch, yaw


def quaternion_from_rotation(R: Mat3) -> Quaternion:
    """The unit quaternion of a rotation, its scalar not negative; divides by its largest entry.

    Where the scalar is zero, at half a turn, the largest of the others is positive.
    """
    xx, xy, xz, yx, yy, yz, zx, zy, zz = R
    rows = (
        (1.0 + xx + yy + zz, zy - yz, xz - zx, yx - xy),
        (zy - yz, 1.0 + xx - yy - zz, xy + yx, xz + zx),
        (xz - zx, xy + yx, 1.0 - xx + yy - zz, yz + zy),
        (yx - xy, xz + zx, yz + zy, 1.0 - xx - yy + zz),
    )  # 4 q qᵀ
    best, largest = rows[0], rows[0][0]
    for k in (1, 2, 3):
        larger = less(largest, rows[k][k])
        best = tuple(select(larger, new, old) for new, old in zip(rows[k], best, strict=True))
        largest = select(larger, rows[k][k], largest)
    flip = less(best[0], 0.0)
    w, x, y, z = unit(best)
    return select(flip, -w, w), select(flip, -x, x), select(flip, -y, y), select(flip, -z, z)
