"""Robots and states that the laws are tried on.

Each family draws a robot from a seed: random trees of every joint type, chains, robots with six kinds of joint,
robots whose velocities are rates, robots with right angles everywhere, with joints that follow others, and with a
floating base. Every robot has a frame "tip" on its last link.
"""

from dataclasses import fields, replace
from functools import cache

import numpy as np
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from sweeps import swept

import hinge
from hinge.model import JOINTS, Builder
from hinge.spatial import Vec3

seeds = st.integers(0, 2**32 - 1)


def law(examples):
    """The same few examples on every run; the seed inside an example draws everything else."""
    return settings(derandomize=True, deadline=None, max_examples=examples, database=None)


# joints


MOVING = {kind: cls for kind, cls in JOINTS.items() if cls.nv and cls.__module__.startswith("hinge.")}
KINDS = MOVING
SINGLE = tuple(kind for kind, cls in MOVING.items() if cls.nq == cls.nv == 1)
PLAIN = tuple(kind for kind, cls in MOVING.items() if cls.rates_are_velocities)


def random_joint(rng, kind):
    """A joint of that kind with every parameter drawn: a unit vector for an axis, a number for anything else."""
    made = {}
    for one in fields(KINDS[kind]):
        if one.type == "str":
            continue
        v = rng.normal(size=3)
        made[one.name] = Vec3((v / np.linalg.norm(v)).tolist()) if one.name == "axis" else float(rng.uniform(-0.2, 0.2))
    return KINDS[kind](**made)


def random_position(rng, joint):
    return joint.random(rng, 1, [-np.inf] * joint.nq, [np.inf] * joint.nq)[0].tolist()


# parts of robots


def random_body(rng):
    """The mass properties of a cloud of points."""
    points, weights = rng.normal(size=(6, 3)) * 0.3, rng.uniform(0.2, 1.0, 6)
    com = weights @ points / weights.sum()
    spread = points - com
    inertia = sum(w * (p @ p * np.eye(3) - np.outer(p, p)) for w, p in zip(weights, spread, strict=True))
    return {"mass": weights.sum(), "com": com, "inertia": inertia}


def random_rotation(rng):
    Q, _ = np.linalg.qr(rng.normal(size=(3, 3)))
    return Q * np.sign(np.linalg.det(Q))


def random_place(rng):
    return random_rotation(rng), rng.normal(size=3) * 0.3


def square_place(rng):
    """One of the twenty-four turns that take coordinate axes to coordinate axes, and a shift with many zeros."""
    R = np.eye(3)[rng.permutation(3)] * rng.choice([-1.0, 1.0], 3)
    return R * round(np.linalg.det(R)), rng.choice([0.0, 0.0, 0.4, -0.3], 3)


HOME = (np.eye(3), np.zeros(3))


def built(model, numbers=None, joints=None, mimic=None, seats=None, root=None, tip=None):
    """The robot of a model, built again with its links and joints given in the order of `numbers`.

    `joints` has other joints for some, `mimic` what follows what, `seats` other frames for the links, each (R, p) in
    the old one, `root` the body of a floating base, and `tip` the place of a frame on the last link.
    """
    joints, seats = joints or {}, seats or {}
    leaders = {i: (model.joint_name[f.leader], f.ratio, f.offset) for i, f in model.follows.items()} | (mimic or {})
    ground = "ground" if "base" in model.body_name else "base"
    builder = Builder(model.name, model.gravity)
    builder.link(ground, **(root or {}))
    for i in range(1, len(model.parent)) if numbers is None else numbers:
        name, I, p = model.body_name[i], model.inertia[i], model.parent[i]
        builder.link(name, **_body_seen_from(seats.get(i, HOME), I))
        R, r = _seen_from(seats.get(p, HOME), *model.placement[i].pose())
        turned, shifted = seats.get(i, HOME)
        builder.joint(model.joint_name[i], joints.get(i, model.joint[i]), model.body_name[p] if p else ground, name,
                      r, R, armature=model.armature(i)[0], child_xyz=shifted, child_rotation=turned,
                      mimic=leaders.get(i))  # fmt: skip
    frames = {name: (f.body, f.R, f.p) for name, f in model.frames.items() if name not in (*model.body_name, "base")}
    if tip is not None:
        frames["tip"] = (len(model.parent) - 1, *tip)
    for name, (body, R, p) in frames.items():
        R, p = _seen_from(seats.get(body, HOME), R, p)
        builder.frame(name, model.body_name[body], p, R)
    return hinge.Robot(builder.build(base="floating" if root else "fixed"))


def _seen_from(seat, R, p):
    return seat[0].T @ np.array(R, float).reshape(3, 3), seat[0].T @ (np.array(p, float) - seat[1])


def _body_seen_from(seat, I):
    R, com = _seen_from(seat, I.about_com.full(), I.com)
    return {"mass": I.m, "com": com, "inertia": R @ seat[0]}


@cache
def weightless(robot):
    """The same robot where nothing falls."""
    return hinge.Robot(replace(robot.model, gravity=(0.0, 0.0, 0.0)))


# families


def _tree(rng, least, most, kinds=None):
    return hinge.samples.random_tree(rng, int(rng.integers(least, most + 1)), kinds).model


def _random_tree(rng):
    return built(_tree(rng, 1, 6), tip=random_place(rng))


def _chain(rng):
    kind = str(rng.choice(list(MOVING)))
    return built(hinge.samples.chain(rng, int(rng.integers(2, 5)), kind).model, tip=random_place(rng))


def _every_kind(rng):
    kinds = [str(kind) for kind in rng.permutation(list(KINDS))[:6]]
    joints = {i: random_joint(rng, kind) for i, kind in enumerate(kinds, start=1)}
    return built(_tree(rng, len(kinds), len(kinds)), joints=joints, tip=random_place(rng))


def _plain(rng):
    return built(_tree(rng, 3, 5, PLAIN), joints={int(rng.integers(1, 4)): KINDS["universal"]()}, tip=random_place(rng))


def _mimic(rng, root=None):
    """Two joints follow the first, one of them by way of the other, and one follows a joint that comes after it."""
    leaders = {"joint4": "joint1", "joint5": "joint4", "joint2": "joint3"}
    model = _tree(rng, 5, 5, SINGLE)
    mimic = {
        model.joint_number(name): (leader, float(rng.uniform(-2, 2)), float(rng.normal()))
        for name, leader in leaders.items()
    }
    return built(model, mimic=mimic, root=root, tip=random_place(rng))


def _square(rng):
    """Right angles, axes along coordinate axes, many zeros: where frames can be chosen well, or wrongly."""
    builder, names = Builder("square"), ["base"]
    builder.link("base")
    for k in range(1, int(rng.integers(3, 7))):
        R, p = square_place(rng)
        builder.link(f"link{k}", float(rng.uniform(0.5, 2)), square_place(rng)[1], np.diag(rng.uniform(0.02, 0.03, 3)))
        axis = np.eye(3)[rng.integers(3)] * rng.choice([-1.0, 1.0])
        kind = str(rng.choice(PLAIN))
        builder.joint(f"joint{k}", kind, names[int(rng.integers(max(0, k - 3), k))], f"link{k}", p, R,
                      None if KINDS[kind].about_z else axis)  # fmt: skip
        names.append(f"link{k}")
    R, p = square_place(rng)
    builder.frame("tip", names[-1], p, R)
    return hinge.Robot(builder.build())


FAMILIES = {
    "tree": _random_tree,
    "chain": _chain,
    "every kind": _every_kind,
    "plain": _plain,
    "square": _square,
    "mimic": _mimic,
    "floating": lambda rng: built(_tree(rng, 1, 4), root=random_body(rng), tip=random_place(rng)),
    "floating mimic": lambda rng: _mimic(rng, random_body(rng)),
}
QUICK = {"every kind", "square", "mimic", "floating mimic"}  # every sort: many joints, right angles, followers
families = pytest.mark.parametrize("family", swept(FAMILIES, QUICK.__contains__))
plain_families = pytest.mark.parametrize("family", ["plain", "square", "mimic"])  # their velocities are rates
floating_families = pytest.mark.parametrize("family", ["floating", "floating mimic"])


EACH = 3  # robots of a family; the laws share them, because tracing is what takes the time


@cache
def robot_of(family, k):
    return FAMILIES[family](np.random.default_rng(k))


def drawn(family, seed):
    """A robot, a generator for more, and a state: q, qd, qdd."""
    robot, rng = robot_of(family, seed % EACH), np.random.default_rng(seed)
    q, qd = robot.random_state(rng, 1)
    return robot, rng, q[0], qd[0], rng.normal(size=robot.nv)
