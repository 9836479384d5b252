"""What nothing pushes keeps its momentum: linear to second order in the step, angular to the order of the method.

The laws hold for every fixed-step method of the registry. Where a method refuses a robot, it says why.
"""

from itertools import pairwise

import numpy as np
import pytest
from robots import built, floating_families, random_body, random_joint, random_place, robot_of, weightless

import hinge
from hinge.integrators import METHODS
from hinge.integrators.steps import pushed
from hinge.spatial import Force

FIXED = [name for name, method in METHODS.items() if not method.adaptive]
ROUNDING = 1e-11  # of the momentum
EXACT = ("euler", "semi_implicit", "implicit")  # methods that carry velocities along with their linear momentum
TIME, STEPS = 0.1, (8, 16)


def free_body(rng):
    builder = hinge.Builder("body", gravity=(0.0, 0.0, 0.0))
    builder.link("world")
    builder.link("body", **random_body(rng))
    R, p = random_place(rng)
    builder.joint("base", "free", "world", "body", p, R)
    return hinge.Robot(builder.build())


def ball_joints(rng):
    """A floating tree whose inner joints are balls."""
    tree = hinge.samples.random_tree(rng, 3, ("spherical",)).model
    return built(tree, root=random_body(rng))


def riding(rng):
    """Bodies that float on bodies that float, all on bases that are placed anywhere."""
    kinds = ("free", "revolute", "free", "spherical")
    tree = hinge.samples.random_tree(rng, len(kinds), ("revolute",)).model
    robot = built(tree, joints={i: random_joint(rng, kind) for i, kind in enumerate(kinds, start=1)})
    parents = {"link1": "base", "link2": "link1", "link3": "link2", "link4": "link3"}
    builder = hinge.Builder("riding", gravity=(0.0, 0.0, 0.0))
    builder.link("base")
    for i, (link, parent) in enumerate(parents.items(), start=1):
        R, p = random_place(rng)
        builder.link(link, **random_body(rng))
        builder.joint(f"joint{i}", robot.model.joint[i], parent, link, p, R)
    return hinge.Robot(builder.build())


FREE = {"free body": free_body, "ball joints": ball_joints, "riding": riding}


def flown(robot, method, q, qd, steps):
    """The state after steps of a method without forces, evaluated on numbers."""
    model, h = robot.model, TIME / steps
    at, v = model.joint_positions(q.tolist()), qd.tolist()
    system = pushed(model, model.joint_velocities([0.0] * model.nv), [Force()] * len(model.parent))
    for _ in range(steps):
        made = METHODS[method].advance(model, system, at, v, h)
        at, v = made.q, made.v
    return np.array(model.flat(at)), np.array(v)


def drifts(robot, method, rng):
    """How much linear and angular momentum change in a flight, as a share of them, for shorter and shorter steps."""
    robot = weightless(robot)
    (q,), (qd,) = robot.random_state(rng, 1)
    qd = 3.0 * qd / np.abs(qd).max()
    before, made = robot.momentum(q, qd, about="com"), []
    for steps in STEPS:
        end = flown(robot, method, q, qd, steps)
        apart = np.abs(robot.momentum(*end, about="com") - before) / np.abs(before).max()
        made.append([apart[3:].max(), apart[:3].max()])
    assert np.abs(robot.difference(q, end[0])).max() > 0.1
    return np.transpose(made)


def falls(errors, order):
    """Whether errors fall with the square of the step, or what power its order is, down to rounding."""
    return all(b < max(1.35 * 2.0**-order * a, ROUNDING) for a, b in pairwise(errors))


def check(robot, method, rng):
    if METHODS[method].refuses(robot.model):
        with pytest.raises(hinge.NotCovered, match=f"method '{method}' does not cover"):
            hinge.rollout(robot, *robot.random_state(rng, 1), 1, 1e-3, method=method)
        return
    linear, angular = drifts(robot, method, rng)
    assert falls(linear, max(2, METHODS[method].order)), linear
    assert falls(angular, METHODS[method].order), angular
    assert method not in EXACT or max(linear) < ROUNDING, linear


@pytest.mark.sampled(4)
@pytest.mark.parametrize("method", FIXED)
@pytest.mark.parametrize("family", FREE)
def test_free_flight_keeps_momentum(family, method):
    rng = np.random.default_rng(7)
    check(FREE[family](rng), method, rng)


@pytest.mark.sampled(5)
@pytest.mark.parametrize("method", FIXED)
@pytest.mark.parametrize("seed", [1])
@floating_families
def test_floating_trees_keep_momentum(family, seed, method):
    check(robot_of(family, seed), method, np.random.default_rng(seed))
