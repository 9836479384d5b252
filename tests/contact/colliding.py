"""Loose shapes of every kind in random poses, in hinge and side by side in MuJoCo."""

from pathlib import Path

import numpy as np

import hinge
from hinge.calls.call import Call
from hinge.contact.collision import collide
from hinge.contact.collision_pairs import pairs_of
from hinge.contact.slots import Slots
from hinge.dynamics.kinematics import poses
from hinge.dynamics.registry import POSITION, SCALAR, Quantity, unregistered
from hinge.graph import less, select
from hinge.model.shapes import Shape

SIZES = {"sphere": (0.1,), "capsule": (0.08, 0.3), "ellipsoid": (0.1, 0.15, 0.2), "cylinder": (0.1, 0.3),
         "box": (0.2, 0.3, 0.25)}  # fmt: skip
GEOMS = {"sphere": ".1", "capsule": ".08 .15", "ellipsoid": ".1 .15 .2", "cylinder": ".1 .15", "box": ".1 .15 .125"}
CORNERS = np.array([(0.12, 0, 0), (-0.15, 0.02, 0), (0, 0.1, 0.03), (0.01, -0.14, 0), (0, 0, 0.2), (0.03, 0, -0.1)])
FACES = [(a, b, c) if (a + b + c) % 2 else (b, a, c) for a in (0, 1) for b in (2, 3) for c in (4, 5)]


def mesh(folder):
    """The path of a mesh file: an octahedron, not regular, as a binary STL."""
    triangle = np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("word", "<u2")])
    rows = np.zeros(len(FACES), triangle)
    rows["corners"] = CORNERS[np.array(FACES)]
    path = Path(folder, "octahedron.stl")
    path.write_bytes(bytes(80) + len(rows).to_bytes(4, "little") + rows.tobytes())
    return str(path)


def loose(kinds, folder="", **more):
    """A robot of loose bodies called by their kinds, twice the same with a 2 behind the second."""
    builder = hinge.Builder("loose")
    builder.link("world")
    for k, kind in enumerate(kinds):
        name = kind if kind not in kinds[:k] else f"{kind}2"
        shape = Shape("collision", kind, SIZES.get(kind, ()), file=mesh(folder) if kind == "mesh" else "")
        builder.link(name, 1.0, (0, 0, 0), np.eye(3), [shape])
        builder.joint(name, "free", "world", name)
    return hinge.Robot(builder.build())


def mjcf(kinds, margin=0.0, ground=True):
    """The same as MJCF, above a plane; what counts is what is nearer than the margins of both."""
    points = " ".join(str(x) for x in CORNERS.astype("f4").ravel())
    asset = f'<asset><mesh name="m" vertex="{points}"/></asset>'
    geom = {kind: f'type="{kind}" size="{size}"' for kind, size in GEOMS.items()} | {"mesh": 'type="mesh" mesh="m"'}
    bodies = "".join(f'<body><freejoint/><geom {geom[k]} margin="{margin}" mass="1"/></body>' for k in kinds)
    plane = '<geom type="plane" size="0 0 1"/>' if ground else ""
    option = '<option ccd_tolerance="1e-10" ccd_iterations="200"/>'
    return f"<mujoco>{option}{asset}<worldbody>{plane}{bodies}</worldbody></mujoco>"


def states(rng, n, bodies, spread=0.2):
    """Random states (n, 7 bodies), a quarter of the bodies turned by nothing; and MuJoCo's."""
    u = rng.normal(size=(n, bodies, 4))
    u[rng.random((n, bodies)) < 0.25, 1:] = 0.0
    u /= np.linalg.norm(u, axis=-1, keepdims=True)
    p = rng.normal(size=(n, bodies, 3)) * spread
    return np.concatenate([u, p], axis=-1).reshape(n, -1), np.concatenate([p, u], axis=-1).reshape(n, -1)


def contact_kernel(robot, room, backend="llvm", **rules):
    """A kernel from q to the number of contacts, and (pair, gap, point, normal, tangent) of each, zeros where there is
    none; and the pairs."""
    pairs = pairs_of(robot.model, **rules)

    def touch(model, q):
        like = q[1][0]
        slots = Slots(room, like)
        collide(pairs.seen_from(model), *poses(model, q), slots, like)
        rows = [(less(k + 0.5, slots.found), slots[float(k)]) for k in range(room)]
        kept = [select(there, y, 0.0) for there, c in rows for y in (c.pair, c.gap, *c.point, *c.normal, *c.tangent)]
        return slots.found, kept

    gives = {"found": SCALAR, "kept": Quantity("contacts", lambda m: (room * 11,))}
    return Call.outside_registry(
        robot.target, (lambda: unregistered("touch", touch, {"q": POSITION}, gives),), backend
    ).kernel, pairs
