"""The other forms of Newton's and Euler's equations give what the first ones of each kind give."""

import numpy as np
import pytest
from hypothesis import given
from robots import drawn, families, law, seeds
from yardsticks import assert_close

import hinge
from hinge.dynamics import ALGORITHMS

INVERSE = ["turney"]
BIAS = ["turney"]
TERMS = ("armature", "damping", "friction", "stiffness")


def wrenches(rng, robot):
    return {name: rng.normal(size=6) for name in (*robot.body_names, "tip")}


def covers(name, method, robot):
    return not ALGORITHMS[name][method].refuses(robot.model)


@pytest.mark.parametrize("method", INVERSE)
@families
@given(seed=seeds)
@law(4)
def test_joint_forces_are_those_of_newton_euler(method, family, seed):
    robot, rng, q, qd, qdd = drawn(family, seed)
    if not covers("inverse_dynamics", method, robot):
        return
    base = tuple(rng.normal(size=(2, 6)))
    for options in ({}, {"external": wrenches(rng, robot)}, {"base_motion": base}, {"joint_terms": TERMS}):
        want = robot.inverse_dynamics(q, qd, qdd, method="newton_euler", **options)
        assert_close(robot.inverse_dynamics(q, qd, qdd, method=method, **options), want, 1e-12)


@pytest.mark.parametrize("method", BIAS)
@families
@given(seed=seeds)
@law(2)
def test_bias_forces_are_those_of_newton_euler(method, family, seed):
    robot, rng, q, qd, _ = drawn(family, seed)
    options = {"external": wrenches(rng, robot), "base_motion": tuple(rng.normal(size=(2, 6)))}
    want = robot.bias_force(q, qd, method="bias_force", **options)
    assert_close(robot.bias_force(q, qd, method=method, **options), want, 1e-12)


@pytest.mark.parametrize("method", INVERSE)
def test_joint_forces_are_those_of_newton_euler_where_numbers_vary_and_joints_are_driven(method):
    rng = np.random.default_rng(3)
    tree = hinge.samples.random_tree(rng, 5, ("revolute", "prismatic", "helical", "cylindrical"))
    robots = {
        "varied": (
            tree.vary("link2.mass", "link3.com", "joint4.placement", "gravity"),
            {
                "parameters": {"link2.mass": 1.7, "link3.com": [0.1, -0.2, 0.3], "gravity": [1.0, 2.0, -9.0]},
            },
        ),
        "driven": (
            tree.prescribe("joint2"),
            {"prescribed": tuple(rng.normal(size=(3, tree.coordinates("joint2")[1].stop - 1)))},
        ),
    }
    for robot, options in robots.values():
        if covers("inverse_dynamics", method, robot):
            (q,), (qd,) = robot.random_state(rng, 1)
            qdd = rng.normal(size=robot.nv)
            want = robot.inverse_dynamics(q, qd, qdd, method="newton_euler", **options)
            assert_close(robot.inverse_dynamics(q, qd, qdd, method=method, **options), want, 1e-12)
