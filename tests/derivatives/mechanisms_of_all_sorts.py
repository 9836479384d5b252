"""Robots that derivatives are tried on: trees of all joints, floating, coupled, driven, varied and closed ones."""

from functools import cache

import numpy as np
from robots import MOVING, built, random_body, random_joint, random_place

import hinge


def tree_of(kinds, seed=0, follows=None, **more):
    """A tree with a joint of each of these kinds; `follows` has kinds of which one follows the other."""
    rng = np.random.default_rng(seed)
    model = hinge.samples.random_tree(rng, len(kinds)).model
    number = {kind: i for i, kind in enumerate(kinds, start=1)}
    joints = {i: random_joint(rng, kind) for kind, i in number.items()}
    mimic = {number[one]: (model.joint_name[number[other]], -0.7, 0.2) for one, other in (follows or {}).items()}
    return built(model, joints=joints, tip=random_place(rng), mimic=mimic, **more)


def driven():
    """A tree in which a whole joint and a part of another are given, and keywords that give them."""
    robot = tree_of(["revolute", "planar", "spherical", "helical"], 3)
    whole, part = robot.joint_names[:2]
    return robot.prescribe(whole, **{part: [1]}), {"prescribed": ([0.3, -0.2], [0.7, 0.4], [-0.5, 0.9])}


def coupled():
    """A floating base, and a joint that follows another."""
    root = random_body(np.random.default_rng(2))
    return tree_of(["revolute", "helical", "prismatic"], 2, {"prismatic": "revolute"}, root=root), {}


def mixed():
    """A small tree with a quaternion, axes that turn, a screw, and a joint that follows it."""
    return tree_of(["spherical", "helical", "revolute", "universal"], 4, {"revolute": "helical"}), {}


GROUPS = {f"kinds {k}": list(MOVING)[k::5] for k in range(5)}  # every kind is in one
MAKERS = {name: lambda kinds=kinds: (tree_of(kinds), {}) for name, kinds in GROUPS.items()} | {
    "mixed": mixed,
    "driven": driven,
    "coupled": coupled,
    "four_bar": lambda: (hinge.samples.four_bar(), {}),
    "slider_crank": lambda: (hinge.samples.slider_crank(), {}),
    "five_bar": lambda: (hinge.samples.five_bar(), {}),
    "stewart_platform": lambda: (hinge.samples.stewart_platform(), {}),
}


@cache
def mechanism(name):
    """A robot and what its calls take besides."""
    return MAKERS[name]()
