"""Robots and states that the tests of tensors share: an arm, a robot that floats, and one whose joint follows."""

import numpy as np

import hinge
from hinge.model import Builder

CASES = ("arm", "floating", "mimic", "varied")


def robot(case):
    if case == "arm":
        return hinge.samples.chain(np.random.default_rng(3), 3, "revolute")
    if case == "varied":
        return hinge.samples.planar_2r().vary("upper.mass", "lower.mass", "lower.com")
    builder = Builder(case)
    builder.link("base", 3.0, (0.1, 0.0, 0.2), np.diag([0.2, 0.3, 0.25]))
    for k in (1, 2, 3):
        builder.link(f"link{k}", 1.0 + k, (0.1 * k, 0.05, -0.1), np.diag([0.02, 0.03, 0.025]) * k)
    if case == "floating":
        builder.joint("ball", "spherical", "base", "link1", (0.1, 0, 0))
        builder.joint("slide", "prismatic", "link1", "link2", (0.3, 0, 0), axis=(0, 1, 0))
        builder.joint("weld", "fixed", "link2", "link3", (0.2, 0, 0))
        return hinge.Robot(builder.build(base="floating"))
    builder.joint("first", "revolute", "base", "link1", (0.1, 0, 0), axis=(0, 0, 1))
    builder.joint("second", "prismatic", "link1", "link2", (0.3, 0, 0), axis=(0, 1, 0))
    builder.joint("third", "revolute", "link2", "link3", (0.2, 0, 0), axis=(1, 0, 0), mimic=("first", -1.5, 0.2))
    return hinge.Robot(builder.build())


def state(robot, n=2, seed=0):
    """q and qd of n states, and qdd or tau of one, which broadcasts."""
    rng = np.random.default_rng(seed)
    q, qd = robot.random_state(rng, n)
    return q, qd, rng.normal(size=robot.nv)


def besides(robot, place, n=5, check="values"):
    """A call with all that it may be given besides the arrays of the method."""
    link = robot.body_names[-1]
    robot = robot.prescribe(robot.joint_names[0]).vary(f"{link}.mass", f"{link}.com", "gravity")
    rng = np.random.default_rng(2)
    q, qd, tau, angle, v, force = (rng.normal(size=(n, k)) for k in (*[robot.nv] * 3, 1, 6, 6))
    return robot.forward_dynamics(
        *map(place, (q, qd, tau)),
        parameters={f"{link}.mass": place(1.0 + rng.random(n)), f"{link}.com": [1, 0, 2]},
        prescribed=(place(angle), [0.5]),
        external={link: place(force[:1])},
        base_motion=(place(v), [0.0] * 6),
        check=check,
        return_status=True,
    )
