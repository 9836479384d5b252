"""How far a solid reaches in a direction, over scalars: a sum of a box, an ellipsoid and a hull of points.

A capsule is a line and a ball, a cylinder a line and a disc. The farthest point of a sum is the sum of the farthest
points, so what searches over directions is one program for all shapes, on NumPy's arrays and on nodes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from hinge.graph import Scalar, less, select, sqrt
from hinge.spatial import Vec3, dot3
from hinge.typing import Array

NONE = np.zeros((0, 3))


class Parts(NamedTuple):
    """What a solid is the sum of: half edges of a box and semi-axes of an ellipsoid, along x, y, z, and a hull (m)."""

    half: tuple[float, ...] = (0.0, 0.0, 0.0)
    radii: tuple[float, ...] = (0.0, 0.0, 0.0)
    points: Array = NONE

    def core(self, d: Array) -> Array:
        """The farthest points in directions d (…, 3)."""
        made = np.stack(np.broadcast_arrays(*farthest(self.half, self.radii, Vec3(np.moveaxis(d, -1, 0)))), axis=-1)
        return made + self.points[np.argmax(d @ self.points.T, axis=-1)] if len(self.points) else made


def farthest(half: Sequence[Scalar], radii: Sequence[Scalar], d: Vec3) -> Vec3:
    """The farthest point of a box and an ellipsoid; the middle of a face or an edge that lies across."""
    box = Vec3(select(less(0.0, x), h, select(less(x, 0.0), -h, 0.0)) for h, x in zip(half, d, strict=True))
    scaled = Vec3(r * x for r, x in zip(radii, d, strict=True))
    length = sqrt(dot3(scaled, scaled))
    length = select(less(0.0, length), length, 1.0)
    return box + Vec3(r * s / length for r, s in zip(radii, scaled, strict=True))
