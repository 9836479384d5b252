"""How libraries write the coordinates of a joint, beside how hinge does: one row of data a way.

Ours are first: quaternions scalar first, a free joint [quaternion, position] with [ω; v] in body coordinates, a plane
[angle, x, y]. A form says how our q becomes theirs and back, and the matrix T of v' = T v. Every T here is
orthogonal, so that v = Tᵀ v', forces go tau' = T tau, and accelerations a' = T a + Ṫ v.
All functions take arrays with the joint's coordinates last.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from hinge.arguments import Array
from hinge.spatial.rotation import rotation_from_quaternion


@dataclass(frozen=True)
class Form:
    """One way to write a joint that has nq coordinates and nv velocities in hinge."""

    nq: int
    nv: int
    q: Callable[[Array], Array] = lambda q: q
    back: Callable[[Array], Array] = lambda q: q
    lever: Callable[[Array], Array] | None = None  # T from our q; the identity where there is none
    bias: Callable[[Array, Array], Array] | None = None  # Ṫ v from our q and v; zero where there is none


def _unit(q: Array) -> Array:
    """Coordinates that begin with a quaternion, which is made of length one."""
    return np.concatenate([q[..., :4] / np.linalg.norm(q[..., :4], axis=-1, keepdims=True), q[..., 4:]], axis=-1)


def _ordered(*order: int) -> tuple[Callable[[Array], Array], Callable[[Array], Array]]:
    """There and back for coordinates that begin with a quaternion and stand in another order."""
    there, back = list(order), np.argsort(order)
    return (lambda q: _unit(q)[..., there]), (lambda q: _unit(q[..., back]))


def times(T: Array, x: Array) -> Array:
    """T x, term by term, so that a state comes out the same in any batch."""
    made = T[..., :, 0] * x[..., :1]
    for k in range(1, T.shape[-1]):
        made = made + T[..., :, k] * x[..., k : k + 1]
    return made


def _rotation(q: Array) -> Array:
    entries = rotation_from_quaternion([q[..., k] for k in range(4)])
    return np.stack(list(entries), axis=-1).reshape(*q.shape[:-1], 3, 3)


def _blocks(*places: tuple[int, int, Callable[[Array], Array] | None]) -> Callable[[Array], Array]:
    """T of a free joint: 3×3 blocks at (row, column), R or the identity."""

    def lever(q: Array) -> Array:
        T = np.zeros((*q.shape[:-1], 6, 6))
        for i, j, turn in places:
            T[..., 3 * i : 3 * i + 3, 3 * j : 3 * j + 3] = np.eye(3) if turn is None else turn(q)
        return T

    return lever


def _turning(at: slice) -> Callable[[Array, Array], Array]:
    """Ṫ v where the linear velocity is in world coordinates: d/dt (R v) = R (a + ω × v)."""

    def bias(q: Array, v: Array) -> Array:
        made = np.zeros(np.broadcast_shapes(q.shape[:-1], v.shape[:-1]) + (6,))
        made[..., at] = times(_rotation(q), np.cross(v[..., :3], v[..., 3:]))
        return made

    return bias


def roll_pitch_yaw(R: Array) -> Array:
    """Roll, pitch and yaw (…, 3) of rotations (…, 3, 3): Rz(yaw) Ry(pitch) Rx(roll)."""
    pitch = np.arctan2(-R[..., 2, 0], np.hypot(R[..., 2, 1], R[..., 2, 2]))
    return np.stack([np.arctan2(R[..., 2, 1], R[..., 2, 2]), pitch, np.arctan2(R[..., 1, 0], R[..., 0, 0])], axis=-1)


def _from_rpy(angles: Array) -> Array:
    (a, b, c), (x, y, z) = (np.moveaxis(f(angles / 2), -1, 0) for f in (np.cos, np.sin))
    return np.stack([a * b * c + x * y * z, x * b * c - a * y * z, a * y * c + x * b * z, a * b * z - x * y * c], -1)


def _disc(q: Array) -> Array:
    """T where a plane's linear velocity is in body coordinates, and before the angular one."""
    c, s, o = np.cos(q[..., 0]), np.sin(q[..., 0]), np.zeros(q.shape[:-1])
    return np.stack([np.stack(row, axis=-1) for row in ((o, c, s), (o, -s, c), (o + 1.0, o, o))], axis=-2)


def _disc_bias(q: Array, v: Array) -> Array:
    x, y, turning = np.moveaxis(times(_disc(q), v), -1, 0)
    return np.stack([turning * y, -turning * x, np.zeros_like(x)], axis=-1)


# a number a joint, or the same in both
SINGLE = Form(1, 1)
CIRCLE = Form(1, 1, lambda q: np.concatenate([np.cos(q), np.sin(q)], -1), lambda q: np.arctan2(q[..., 1:], q[..., :1]))
PAIR = Form(2, 2)
TRIPLE = Form(3, 3)
BALL = Form(4, 3, _unit, _unit)
BALL_SCALAR_LAST = Form(4, 3, *_ordered(1, 2, 3, 0))
# angular velocity in the parent's axes: ω × ω = 0, so no bias
BALL_ANGLES = Form(4, 3, lambda q: roll_pitch_yaw(_rotation(q)), _from_rpy, _rotation)
PLANE_ANGLE_LAST = Form(3, 3, lambda q: q[..., [1, 2, 0]], lambda q: q[..., [2, 0, 1]],
                        lambda q: np.broadcast_to(np.eye(3)[[1, 2, 0]], (*q.shape[:-1], 3, 3)))  # fmt: skip
PLANE_CIRCLE = Form(3, 3, lambda q: np.concatenate([q[..., 1:], CIRCLE.q(q[..., :1])], -1),
                    lambda q: np.concatenate([CIRCLE.back(q[..., 2:]), q[..., :2]], -1), _disc, _disc_bias)  # fmt: skip
# free joints: [quaternion, position] there unless it says otherwise
FREE_BODY = Form(7, 6, *_ordered(4, 5, 6, 1, 2, 3, 0), _blocks((0, 1, None), (1, 0, None)))  # position first, w last
FREE_MIXED = Form(
    7, 6, *_ordered(4, 5, 6, 0, 1, 2, 3), _blocks((0, 1, _rotation), (1, 0, None)), _turning(slice(0, 3))
)  # position first; v in the world, ω in the body
FREE_WORLD = Form(7, 6, _unit, _unit, _blocks((0, 0, _rotation), (1, 1, _rotation)), _turning(slice(3, 6)))
