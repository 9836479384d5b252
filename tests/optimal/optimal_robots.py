"""Robots to hold still: carts, pendula that are driven in part, arms with balls, bodies that fly."""

import numpy as np

import hinge


def cart(mass=1.0):
    """A cart on a level rail: a double integrator."""
    builder = hinge.Builder("cart")
    builder.link("rail")
    builder.link("cart", mass, (0, 0, 0), np.eye(3))
    builder.joint("slide", "prismatic", "rail", "cart", axis=(1, 0, 0))
    return hinge.Robot(builder.build())


def cart_pole(more=1.0):
    """A pole on a cart, upright at zero; `more` times as heavy."""
    builder = hinge.Builder("cart_pole")
    builder.link("rail")
    builder.link("cart", 1.0 * more, (0, 0, 0), np.eye(3))
    builder.link("pole", 0.2 * more, (0, 0, 0.5), np.diag([0.02, 0.02, 0.0]) * more)
    builder.joint("slide", "prismatic", "rail", "cart", axis=(1, 0, 0))
    builder.joint("pivot", "continuous", "cart", "pole", axis=(0, 1, 0))
    return hinge.Robot(builder.build())


def two_pendula(damping=0.0):
    """Two pendula that know nothing of each other."""
    builder = hinge.Builder("two")
    builder.link("base")
    for name, y in (("left", 1.0), ("right", -1.0)):
        builder.link(name, 1.0, (0, 0, -0.5), np.eye(3) * 0.1)
        builder.joint(f"joint_{name}", "continuous", "base", name, (0, y, 0), axis=(0, 1, 0), damping=damping)
    return hinge.Robot(builder.build())


def ball_arm():
    """A link on a ball joint, and another on a hinge at its end."""
    builder = hinge.Builder("ball_arm")
    builder.link("base")
    builder.link("upper", 1.0, (0, 0, 0.25), np.diag([0.02, 0.02, 0.005]))
    builder.link("lower", 0.5, (0, 0, 0.2), np.diag([0.01, 0.01, 0.002]))
    builder.joint("ball", "spherical", "base", "upper")
    builder.joint("elbow", "revolute", "upper", "lower", (0, 0, 0.5), axis=(0, 1, 0))
    return hinge.Robot(builder.build())


def flyer():
    """A body with an arm that floats."""
    builder = hinge.Builder("flyer")
    builder.link("hull", 2.0, (0.1, 0, 0), np.diag([0.1, 0.2, 0.3]))
    builder.link("arm", 0.5, (0, 0, -0.2), np.diag([0.01, 0.01, 0.002]))
    builder.joint("shoulder", "revolute", "hull", "arm", (0.2, 0, 0), axis=(0, 1, 0))
    return hinge.Robot(builder.build(base="floating"))


def followed():
    """A pendulum of which the second joint is led by the first."""
    builder = hinge.Builder("followed")
    builder.link("base")
    for k, parent in ((1, "base"), (2, "rod1"), (3, "rod2")):
        builder.link(f"rod{k}", 1.0, (0, 0, -0.5), np.eye(3) * 0.1)
        mimic = ("joint1", -0.5, 0.1) if k == 2 else None
        builder.joint(f"joint{k}", "revolute", parent, f"rod{k}", (0, 0, -1.0 * (k > 1)), axis=(0, 1, 0), mimic=mimic)
    return hinge.Robot(builder.build())


def displaced(robot, q0, q, qd):
    """x of states: the displacement from q0 along velocities, and the velocities."""
    return np.concatenate([robot.difference(q0, q), qd], axis=-1)
