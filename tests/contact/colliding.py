"""Two shapes in random poses, side by side in hinge's collision and in MuJoCo's."""

import numpy as np

from hinge.backends import find
from hinge.contact.collision import collide
from hinge.contact.collision_pairs import Pairs, ordered
from hinge.contact.collision_shapes import CollisionShape
from hinge.contact.slots import Slots
from hinge.graph import Graph, Input, order
from hinge.model.shapes import SHAPES
from hinge.spatial import IDENTITY, ZERO, Mat3, Vec3

SIZES = {"plane": (), "sphere": (0.1,), "capsule": (0.08, 0.3), "ellipsoid": (0.1, 0.15, 0.2), "cylinder": (0.1, 0.3),
         "box": (0.2, 0.3, 0.25)}  # fmt: skip
ROOM = 8


def shape(kind, body, geometry=None):
    """One on a body, at its origin."""
    geometry = geometry or SHAPES[kind](*SIZES[kind])
    points = geometry.corners if kind == "mesh" else np.zeros((1, 3))
    centre = (points.min(axis=0) + points.max(axis=0)) / 2
    reach = np.linalg.norm(points - centre, axis=1).max() if kind == "mesh" else geometry.reach
    return CollisionShape(kind, geometry, body, np.eye(3), np.zeros(3), centre, reach)


def program(one, two, within):
    """From poses (12) of two bodies to the number of contacts, and (pair, gap, point, normal, tangent) of each."""
    graph = Graph()
    x = [[graph.input(name, k) for k in range(12)] for name in ("first", "second")]
    R = [IDENTITY, *(Mat3(row[:9]) for row in x)]
    r = [ZERO, *(Vec3(row[9:]) for row in x)]
    shapes = one, two
    slots = Slots(ROOM, x[0][0])
    collide(Pairs(shapes, (ordered(shapes, 0, 1),), (within,)), R, r, slots, x[0][0])
    kept = [y for k in range(ROOM) for part in [slots[float(k)]] for y in
            (part.pair, part.gap, *part.point, *part.normal, *part.tangent)]  # fmt: skip
    return order([Input("first", 12), Input("second", 12)], [("found", (), [slots.found]), ("kept", (ROOM, 11), kept)])


def contacts(made, first, second, backend="llvm", dtype=float):
    """What a program gives for rows of poses: counts (n), and contacts (n, ROOM, 11)."""
    code = find(backend).compile(made, np.dtype(dtype))
    found, kept = np.zeros((len(first), 1), dtype), np.zeros((len(first), ROOM * 11), dtype)
    code.run([np.ascontiguousarray(first, dtype), np.ascontiguousarray(second, dtype)], [found, kept])
    return found[:, 0].astype(int), kept.reshape(-1, ROOM, 11)


def turns(rng, n):
    """Random quaternions (n, 4), and some that lie flat."""
    u = rng.normal(size=(n, 4))
    flat = rng.random(n) < 0.25
    u[flat, 1:] = 0.0
    return u / np.linalg.norm(u, axis=1, keepdims=True)


def matrices(u):
    """Rotations (n, 3, 3) of quaternions."""
    w, x, y, z = u.T
    rows = [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y), 2 * (x * y + w * z),
            1 - 2 * (x * x + z * z), 2 * (y * z - w * x), 2 * (x * z - w * y), 2 * (y * z + w * x),
            1 - 2 * (x * x + y * y)]  # fmt: skip
    return np.stack(rows, axis=1).reshape(-1, 3, 3)
