"""Laws of constraints on random trees of every joint: projections, the constraint connection, three ways to move."""

from functools import cache

import numpy as np
import pytest
from robots import families
from test_connection_laws import a_field, covered
from yardsticks import assert_close

import hinge

# many robots of a few calls each, which are not worth compiling
pytestmark = pytest.mark.usefixtures("plain_interpreter")


@cache
def held(family):
    """A robot under one to three constraints with every coordinate in them, at a state that keeps them."""
    robot, rng, q, qd, _ = covered(family, 3)
    m = int(rng.integers(1, min(4, robot.nv)))
    U, W, B = rng.normal(size=(m, robot.nv)), rng.normal(size=(m, robot.nv)), rng.normal(size=robot.nq)
    made = hinge.constrain(robot, lambda q, t: U + np.sin(B @ q) * W)
    q = robot.integrate(q, np.zeros(robot.nv))
    return robot, made, q, made.project(q, qd)


@families
def test_the_projection_is_one_and_orthogonal_by_the_mass_matrix(family):
    robot, constrained, q, qd = held(family)
    P, H = constrained.projection(q), robot.mass_matrix(q)
    assert_close(P @ P, P, 1e-10, 1.0)
    assert_close(constrained.complement(q) @ P, np.zeros_like(P), 1e-10, 1.0)
    assert_close((H @ P).T, H @ P, 1e-10, np.abs(H).max())  # its own adjoint
    assert_close(P @ qd, qd, 1e-10, 1.0)


@families
def test_motion_by_multipliers_by_pseudo_velocities_and_by_the_constraint_connection(family):
    robot, constrained, q, qd = held(family)
    tau, own = np.random.default_rng(1).normal(size=robot.nv), constrained.independent
    wanted, _ = constrained.forward(q, qd, tau)  # zefran2004 (20)
    assert_close(constrained.reduced(q, qd[own], tau), wanted[own], 1e-10, 1.0)  # zefran2004 (22)
    assert_close(constrained.geometric(q, qd, tau), wanted, 1e-10, 1.0)  # zefran2004 (25)


@pytest.mark.sampled(2)
@families
def test_on_the_distribution_the_short_form_is_the_constraint_connection(family):
    robot, constrained, q, _ = held(family)
    rng = np.random.default_rng(2)
    X, Y = a_field(rng, robot), constrained.projected(a_field(rng, robot))
    made = constrained.covariant_derivative(X, Y)(q)
    assert_close(made, constrained.projected(robot.covariant_derivative(X, Y))(q), 1e-9, 1.0)  # zefran2004 (27)
    assert_close(constrained.projection(q) @ made, made, 1e-9, 1.0)
