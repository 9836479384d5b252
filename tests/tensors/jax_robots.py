"""What the tests with JAX's arrays share: JAX in double precision, robots and states, and a comparison."""

from functools import cache

import numpy as np
import pytest

import hinge
from hinge.dynamics.registry import ALGORITHMS, KNOWN, PLACE, POSITION, required_inputs
from hinge.model import Builder

jax = pytest.importorskip("jax", reason="JAX is not installed")
jnp = jax.numpy


@pytest.fixture(autouse=True)
def double():
    with jax.enable_x64(True):
        yield


def in_jax(given):
    return [x if isinstance(x, str) else jnp.asarray(x) for x in given]


def assert_same(made, wanted, tol=1e-12):
    """Whether what JAX's arrays gave is what NumPy's did."""
    for x, y in zip(jax.tree.leaves(made), jax.tree.leaves(wanted), strict=True):
        assert isinstance(x, jax.Array)
        assert x.shape == y.shape
        np.testing.assert_allclose(x, y, rtol=tol, atol=tol * (1 + np.abs(y).max(initial=0.0)))


def _on_trunk(name):
    """The beginning of a robot: a trunk that moves freely, with an arm of one joint."""
    builder = Builder(name)
    builder.link("base")
    for k, link in enumerate(("trunk", "upper", "lower", "head"), start=1):
        builder.link(link, 1.0 + k, (0.1 * k, 0.05, -0.1), np.diag([0.2, 0.3, 0.25]) + 0.01 * k)
    builder.joint("flight", "free", "base", "trunk")
    builder.joint("shoulder", "revolute", "trunk", "upper", (0.1, 0.0, 0.2), axis=(0, 1, 0), armature=0.1)
    builder.joint("neck", "spherical", "trunk", "head", (0.0, 0.1, 0.3))
    return builder


@cache
def flying():
    """A robot in the air, with a ball joint; its elbow follows its shoulder."""
    builder = _on_trunk("flying")
    builder.joint("elbow", "revolute", "upper", "lower", (0.4, 0, 0), axis=(0, 0.6, 0.8), mimic=("shoulder", -0.7, 0.1))
    return hinge.Robot(builder.build())


@cache
def free():
    """The same with an elbow that moves by itself."""
    builder = _on_trunk("free")
    builder.joint("elbow", "revolute", "upper", "lower", (0.4, 0, 0), axis=(0, 0.6, 0.8))
    return hinge.Robot(builder.build())


@cache
def arm():
    return hinge.samples.planar_2r()


@cache
def linkage():
    return hinge.samples.four_bar()


@cache
def servo():
    """A joint that a file drives and springs hold."""
    return hinge.load(
        '<mujoco><worldbody><body><joint name="j" stiffness="2"/><geom size=".1"/></body></worldbody><actuator>'
        '<position joint="j" kp="10" kv="1"/></actuator></mujoco>'
    )


ROBOTS = {"flying": flying, "free": free, "linkage": linkage, "servo": servo}


QUICK = ("inverse_dynamics", "forward_dynamics", "step", "pose", "integrate", "hybrid_dynamics", "loop_dynamics")


def state(robot, name, seed=0, batch=()):
    """Random values for what a method takes; frames by name."""
    rng, made = np.random.default_rng(seed), []
    for key, quantity in required_inputs(name).items():
        if quantity is PLACE:
            made.append(robot.body_names[-1])
        elif quantity is POSITION:
            made.append(robot.random_state(rng, int(np.prod(batch)))[0].reshape(*batch, robot.nq))
        elif quantity is KNOWN:
            made.append(np.broadcast_to(np.arange(robot.nv) % 2.0, (*batch, robot.nv)))
        elif key == "h":
            made.append(np.full(batch, 0.01))
        else:
            made.append(rng.normal(size=(*batch, *quantity.shape(robot.model))))
    return made


def cases():
    """A robot and an algorithm, for each algorithm: the first of the robots that it covers."""
    made = {name: robot().model for name, robot in ROBOTS.items()}
    return [
        (
            next(
                robot
                for robot, model in made.items()
                if any(not one.reason(model) for one in ALGORITHMS[name].values())
            ),
            name,
        )
        for name in ALGORITHMS
    ]
