"""Laws of constraints on random trees: projections, the constraint connection, three ways to one motion."""

import numpy as np
import pytest
from hypothesis import given
from robots import drawn, families, law, seeds
from test_connection_laws import a_field, covered
from yardsticks import assert_close

import hinge


def held(family, seed):
    """A robot under one to three constraints with every coordinate in them, at a state that keeps them."""
    robot, rng, q, qd, _ = covered(family, seed)
    m = int(rng.integers(1, min(4, robot.nv)))
    U, W, B = rng.normal(size=(m, robot.nv)), rng.normal(size=(m, robot.nv)), rng.normal(size=robot.nq)
    made = hinge.constrain(robot, lambda q, t: U + np.sin(B @ q) * W)
    q = robot.integrate(q, np.zeros(robot.nv))
    return robot, made, rng, q, made.project(q, qd)


@families
@given(seed=seeds)
@law(2)
def test_the_projection_is_one_and_orthogonal_by_the_mass_matrix(family, seed):
    robot, constrained, _, q, qd = held(family, seed)
    P, H = constrained.projection(q), robot.mass_matrix(q)
    zero = np.zeros((robot.nv, robot.nv))
    assert_close(P @ P, P, 1e-9, 1.0)
    assert_close(constrained.complement(q) @ P, zero, 1e-9, 1.0)
    assert_close((H @ P).T, H @ P, 1e-9, np.abs(H).max())  # its own adjoint
    assert_close(P @ qd, qd, 1e-9, 1.0)


@families
@given(seed=seeds)
@law(2)
def test_motion_by_multipliers_by_pseudo_velocities_and_by_the_constraint_connection(family, seed):
    robot, constrained, rng, q, qd = held(family, seed)
    tau = rng.normal(size=robot.nv)
    wanted, _ = constrained.forward(q, qd, tau)
    size = 1.0 + np.abs(wanted).max()
    assert_close(constrained.geometric(q, qd, tau), wanted, 1e-10, size)
    own = constrained.independent
    assert_close(constrained.reduced(q, qd[own], tau), wanted[own], 1e-10, size)


@families
@given(seed=seeds)
@law(1)
def test_on_the_distribution_the_short_form_is_the_constraint_connection(family, seed):
    robot, constrained, rng, q, _ = held(family, seed)
    X, Y = a_field(rng, robot), constrained.projected(a_field(rng, robot))
    made = constrained.covariant_derivative(X, Y)(q)
    assert_close(made, constrained.projected(robot.covariant_derivative(X, Y))(q), 1e-9, 1.0 + np.abs(made).max())
    assert_close(constrained.projection(q) @ made, made, 1e-9, 1.0 + np.abs(made).max())


def test_a_law_has_robots_of_every_kind():
    with pytest.raises(KeyError):
        drawn("no such family", 0)
