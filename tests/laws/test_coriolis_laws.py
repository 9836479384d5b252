"""Laws of the Coriolis matrix."""

import numpy as np
import pytest
from hypothesis import given
from robots import drawn, families, law, plain_families, seeds
from yardsticks import assert_close, derivative, derivative_by, rate_along_motion

# many robots of a few calls each, which are not worth compiling
pytestmark = pytest.mark.usefixtures("plain_interpreter")


@families
@given(seed=seeds)
@law(4)
def test_the_coriolis_matrix_times_velocity_plus_gravity_is_the_bias_force(family, seed):
    robot, _, q, qd, _ = drawn(family, seed)
    made = robot.coriolis_matrix(q, qd) @ qd + robot.gravity_force(q)
    # summed in base coordinates, where distances to the base enter and cancel: two digits more than rounding
    assert_close(made, robot.bias_force(q, qd), 1e-12, 10.0)


@families
@given(seed=seeds)
@law(4)
def test_the_rate_of_the_mass_matrix_less_twice_the_coriolis_matrix_is_skew(family, seed):
    robot, _, q, qd, _ = drawn(family, seed)
    rate, C = rate_along_motion(robot, "mass_matrix", q, qd), robot.coriolis_matrix(q, qd)
    assert_close(C + C.T, rate, 1e-12, 10.0)  # Hdot - 2 C skew and Hdot symmetric say exactly this


@families
@given(seed=seeds)
@law(2)
def test_the_rate_of_the_mass_matrix_is_that_found_by_differences(family, seed):
    robot, _, q, qd, _ = drawn(family, seed)
    rate = derivative(lambda t: robot.mass_matrix(robot.integrate(q, t * qd)))
    assert_close(rate_along_motion(robot, "mass_matrix", q, qd), rate, 1e-9, 10.0)


@families
@given(seed=seeds)
@law(3)
def test_the_coriolis_matrix_is_linear_in_the_velocity(family, seed):
    robot, rng, q, qd, _ = drawn(family, seed)
    other = rng.normal(size=robot.nv)
    made = 2.0 * robot.coriolis_matrix(q, qd) - robot.coriolis_matrix(q, other)
    assert_close(robot.coriolis_matrix(q, 2.0 * qd - other), made, 1e-13, 10.0)


@plain_families
@given(seed=seeds)
@law(6)
def test_the_coriolis_matrix_is_half_the_derivative_of_the_bias_force_by_velocity(family, seed):
    robot, _, q, qd, _ = drawn(family, seed)
    made = derivative_by(robot, "bias_force", "qd", q, qd, np.zeros(robot.nv))
    assert_close(robot.coriolis_matrix(q, qd), 0.5 * made, 1e-12, 10.0)


@plain_families
@given(seed=seeds)
@law(6)
def test_the_coriolis_matrix_is_that_of_the_christoffel_symbols(family, seed):
    robot, _, q, qd, _ = drawn(family, seed)
    by_coordinate = np.array([derivative(lambda t, e=e: robot.mass_matrix(q + t * e)) for e in np.eye(robot.nv)])
    dH = np.moveaxis(by_coordinate, 0, 2)  # dH[i, j, k] = dH_ij / dq_k
    symbols = 0.5 * (dH + np.swapaxes(dH, 1, 2) - np.moveaxis(dH, 2, 0))  # the last: dH_jk / dq_i
    assert_close(robot.coriolis_matrix(q, qd), symbols @ qd, 1e-9, 10.0)
