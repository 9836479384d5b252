"""Kinds of random scenes: what is in them, how it touches, and how states of them are drawn that do not overlap."""

import tempfile
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

import hinge
from hinge.model.shapes import SHAPES, Shape

CORNERS = [(0.12, 0, -0.05), (-0.1, 0.06, -0.04), (0, -0.11, 0.03), (0.02, 0.04, 0.12), (0.05, 0.09, -0.07)]
FACES = [(1, 2, 3), (1, 3, 4), (1, 4, 5), (2, 3, 5), (3, 4, 5), (1, 2, 5), (2, 4, 5), (2, 3, 4)]
SIZES = {
    "sphere": (0.1,),
    "capsule": (0.05, 0.25),
    "box": (0.3, 0.2, 0.1),
    "cylinder": (0.1, 0.2),
    "ellipsoid": (0.15, 0.1, 0.06),
}


class Kind(NamedTuple):
    """What is in a scene and how it touches; `tilt` is the angle of the ground."""

    name: str
    bodies: str  # loose bodies, by their kinds, or a machine
    friction: float = 0.5
    restitution: float = 0.0
    tilt: float = 0.0

    @property
    def ground(self):
        normal = (np.sin(self.tilt), 0.0, np.cos(self.tilt))
        return hinge.Ground(normal=normal, friction=self.friction, restitution=self.restitution)

    @property
    def options(self):
        machine = self.bodies in MACHINES
        return {"ground": self.ground} | ({"limits": "stop"} if machine else {"contacts": "self"})

    @cache  # noqa: B019
    def robot(self):
        return MACHINES[self.bodies]() if self.bodies in MACHINES else loose(self.bodies)


def loose(bodies):
    """Loose bodies of some kinds."""
    builder = hinge.Builder("scene")
    builder.link("world")
    for k, kind in enumerate(bodies.split()):
        size, mass = SIZES.get(kind, ()), 0.5 + 0.5 * k
        file = str(stone()) if kind == "mesh" else ""
        inertia = 0.005 * mass * np.eye(3) if kind == "mesh" else inertia_of(kind, size, mass)
        builder.link(f"{kind}{k}", mass, inertia=inertia, shapes=[Shape("collision", kind, size, file)])
        builder.joint(f"{kind}{k}", "free", "world", f"{kind}{k}")
    return hinge.Robot(builder.build())


def inertia_of(kind, size, mass):
    solid = SHAPES[kind](*size).solid()
    return solid.scaled(mass / solid.content).inertia


@cache
def stone():
    """A file of a mesh with eight faces."""
    path = Path(tempfile.mkdtemp(prefix="hinge-stone")) / "stone.obj"
    lines = [f"v {x} {y} {z}" for x, y, z in CORNERS] + [f"f {a} {b} {c}" for a, b, c in FACES]
    path.write_text("\n".join(lines))
    return path


def rod(name, length):
    """A rod down from its joint, as a capsule, in URDF."""
    i = 0.5 * length**2 / 12
    return (
        f'<link name="{name}"><inertial><origin xyz="0 0 {-length / 2}"/><mass value=".5"/>'
        f'<inertia ixx="{i}" iyy="{i}" izz=".001" ixy="0" ixz="0" iyz="0"/></inertial><collision>'
        f'<origin xyz="0 0 {-length / 2}"/><geometry><capsule radius=".03" length="{length}"/></geometry>'
        "</collision></link>"
    )


def hinged(name, parent, child, at, axis="0 1 0", more=""):
    return (
        f'<joint name="{name}" type="revolute"><parent link="{parent}"/><child link="{child}"/><origin xyz="{at}"/>'
        f'<axis xyz="{axis}"/><limit lower="-1.5" upper="1.5" effort="9" velocity="9"/>{more}</joint>'
    )


def arm(mimic=False):
    """Two rods that hang, or with `mimic` two of which the second follows the first."""
    more = '<mimic joint="a" multiplier="-1.5"/>' if mimic else ""
    text = f'<robot name="arm"><link name="base"/>{rod("one", 0.4)}{rod("two", 0.4)}'
    text += hinged("a", "base", "one", "0 0 0.6") + hinged("b", "one", "two", "0 0 -0.4", "0.6 0.8 0", more)
    return hinge.load(f"{text}</robot>")


def walker():
    """A loose box with two legs of two rods."""
    text = (
        '<robot name="walker"><link name="body"><inertial><mass value="2"/>'
        '<inertia ixx=".02" iyy=".03" izz=".04" ixy="0" ixz="0" iyz="0"/></inertial>'
        '<collision><geometry><box size=".4 .3 .1"/></geometry></collision></link>'
    )
    for k, y in enumerate((-0.2, 0.2)):
        text += rod(f"thigh{k}", 0.25) + rod(f"shin{k}", 0.25)
        text += hinged(f"hip{k}", "body", f"thigh{k}", f"0 {y} -.05")
        text += hinged(f"knee{k}", f"thigh{k}", f"shin{k}", "0 0 -.25")
    return hinge.load(f"{text}</robot>", base="floating")


def four_bar():
    """Two rods that hang side by side, with a bar across that closes a loop."""
    text = f'<robot name="bars"><link name="base"/>{rod("left", 0.4)}{rod("right", 0.4)}{rod("bar", 0.3)}'
    text += hinged("l", "base", "left", "0 0 .5") + hinged("r", "base", "right", ".3 0 .5")
    text += hinged("c", "left", "bar", "0 0 -.4")
    robot = hinge.load(f"{text}</robot>".replace("-1.5", "-3").replace('"1.5"', '"3"'))
    ends = [np.eye(4) for _ in range(2)]
    ends[0][2, 3], ends[1][2, 3] = -0.3, -0.4
    return robot.close("revolute", "bar", "right", *ends, axis=(0, 1, 0))


MACHINES = {"arm": arm, "mimic": lambda: arm(True), "walker": walker, "loop": four_bar}
KINDS = [
    Kind("a ball", "sphere", 0.3, 0.9),
    Kind("a capsule", "capsule", 0.0, 0.5, 0.3),
    Kind("a box", "box", 0.6, 0.0),
    Kind("a cylinder", "cylinder", 1.5, 0.2, 0.5),
    Kind("an ellipsoid", "ellipsoid", 0.4, 1.0),
    Kind("a stone", "mesh", 0.8, 0.3, 0.2),
    Kind("a box that bounces", "box", 0.2, 1.0, 0.3),
    Kind("box and ball", "box sphere", 0.5, 0.5),
    Kind("capsule and cylinder", "capsule cylinder", 1.0, 0.0, 0.2),
    Kind("stone and box", "mesh box", 0.3, 0.6),
    Kind("three bodies", "ellipsoid box sphere", 0.0, 0.8),
    Kind("four bodies", "sphere box capsule cylinder", 0.7, 0.1, 0.1),
    Kind("an arm", "arm", 0.6, 0.4),
    Kind("an arm whose second joint follows", "mimic", 0.3, 0.0),
    Kind("a walker", "walker", 0.9, 0.2),
    Kind("a loop", "loop", 0.5, 0.0),
]


def starts(kind, n, seed):
    """States (n, nq) and velocities (n, nv) of a scene in which nothing overlaps."""
    robot, rng, found = kind.robot(), np.random.default_rng(seed), []
    ground = (kind.ground.normal, 0.0)
    while sum(map(len, found)) < n:
        q = drawn(kind, robot, rng, 4 * n)
        pairs = None if "contacts" in kind.options else [("ground", link) for link in robot.model.shapes]
        inside = ((q >= robot.limits.lower) & (q <= robot.limits.upper)).all(axis=1)  # also of joints that follow
        found.append(q[inside & ~robot.collides(q, ground=ground, pairs=pairs, backend="llvm")])
    q = np.concatenate(found)[:n]
    qd = rng.normal(size=(n, robot.nv)) * rng.choice([0.1, 0.5, 2.0], (n, 1))
    if kind.bodies == "loop":
        qd = np.array([v - np.linalg.pinv(A) @ (A @ v) for v, A in zip(qd, map(robot.loop_jacobian, q), strict=True)])
    return q, qd


def drawn(kind, robot, rng, n):
    """States, some of which overlap."""
    if kind.bodies == "loop":
        a = rng.uniform(-1.2, 1.2, n)
        angle = {"l": a, "r": a, "c": -a - np.pi / 2}
        return np.stack([angle[robot.model.joint_name[i]] for i in robot.model.leaders], axis=1)
    q = np.tile(robot.neutral(), (n, 1))
    for i in robot.model.leaders:
        at, joint = robot.model.slices[i][0], robot.model.joint[i]
        if joint.nv == 6:
            u = rng.normal(size=(n, 4))
            u /= np.linalg.norm(u, axis=1, keepdims=True)
            wide = 0.25 * max(1, robot.nq // 14)
            low = 0.5 if kind.bodies in MACHINES else 0.15
            q[:, at] = np.c_[u, rng.uniform(-wide, wide, (n, 2)), rng.uniform(low, low + 0.5, n)]
        else:
            limit = robot.model.data[i]
            q[:, at] = rng.uniform(limit.lower, limit.upper, (n, len(limit.lower)))
    return q
