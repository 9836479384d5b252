"""Laws of inverse dynamics, forward dynamics and the mass matrix."""

import numpy as np
import pytest
from hypothesis import given
from robots import drawn, families, law, seeds
from yardsticks import assert_close, derivative_by

import hinge
from hinge.dynamics import ALGORITHMS

# many robots of a few calls each, which are not worth compiling
pytestmark = pytest.mark.usefixtures("plain_interpreter")


def methods_for(robot):
    return [m for m, a in ALGORITHMS["forward_dynamics"].items() if not a.refuses(robot.model)]


@pytest.mark.sampled(2)
@families
@given(seed=seeds)
@law(4)
def test_forward_dynamics_undoes_inverse_dynamics(family, seed):
    robot, _, q, qd, qdd = drawn(family, seed)
    tau = robot.inverse_dynamics(q, qd, qdd)
    # rounding in tau, of the size of the forces it is summed from, reaches qdd through the inverse of the mass matrix
    forces = np.linalg.norm(robot.mass_matrix(q)) * np.linalg.norm(qdd) + np.linalg.norm(robot.bias_force(q, qd))
    scale = forces * np.linalg.norm(robot.inverse_mass_matrix(q), 2)
    for method in methods_for(robot):
        assert_close(robot.forward_dynamics(q, qd, tau, method=method), qdd, 1e-13, scale)


@pytest.mark.sampled(2)
@families
@given(seed=seeds)
@law(4)
def test_inverse_dynamics_undoes_forward_dynamics(family, seed):
    robot, rng, q, qd, _ = drawn(family, seed)
    tau = rng.normal(size=robot.nv) * 10
    for method in methods_for(robot):
        qdd = robot.forward_dynamics(q, qd, tau, method=method)
        # backward stable: what is left over is rounding of the largest forces that were added up
        scale = np.linalg.norm(robot.mass_matrix(q)) * np.linalg.norm(qdd) + np.linalg.norm(robot.bias_force(q, qd))
        assert_close(robot.inverse_dynamics(q, qd, qdd), tau, 1e-12, scale)


@families
@given(seed=seeds)
@law(2)
def test_every_method_of_forward_dynamics_is_tried_unless_joints_follow_others(family, seed):
    robot = drawn(family, seed)[0]
    coupled = {"composite", "composite_llt"}
    assert set(methods_for(robot)) >= coupled
    assert ("articulated" in methods_for(robot)) == (not robot.model.follows)


@families
@given(seed=seeds)
@law(4)
def test_the_mass_matrix_is_symmetric_and_positive_definite(family, seed):
    robot, _, q, _, _ = drawn(family, seed)
    H = robot.mass_matrix(q)
    assert_close(H, H.T, 1e-14)  # only the blocks of joints with several freedoms are computed twice
    assert np.linalg.eigvalsh(H)[0] > 0.0


@families
@given(seed=seeds)
@law(4)
def test_a_column_of_the_mass_matrix_is_the_inverse_dynamics_of_one_acceleration(family, seed):
    robot, _, q, _, _ = drawn(family, seed)
    still = np.zeros(robot.nv)
    columns = robot.inverse_dynamics(q, still, np.eye(robot.nv)) - robot.inverse_dynamics(q, still, still)
    assert_close(columns.T, robot.mass_matrix(q), 1e-12, 10.0)  # ten: the weight that was subtracted


@families
@given(seed=seeds)
@law(4)
def test_the_mass_matrix_is_the_derivative_of_joint_forces_by_accelerations(family, seed):
    robot, _, q, qd, qdd = drawn(family, seed)
    made = derivative_by(robot, "inverse_dynamics", "qdd", q, qd, qdd)
    assert_close(made, robot.mass_matrix(q), 1e-12)


@families
@given(seed=seeds)
@law(4)
def test_inverse_dynamics_is_mass_matrix_times_acceleration_plus_bias(family, seed):
    robot, _, q, qd, qdd = drawn(family, seed)
    want = robot.mass_matrix(q) @ qdd + robot.bias_force(q, qd)
    assert_close(robot.inverse_dynamics(q, qd, qdd), want, 1e-12, 10.0)  # terms of tens of newtons may cancel


@families
@given(seed=seeds)
@law(4)
def test_the_bias_force_is_the_inverse_dynamics_of_no_acceleration(family, seed):
    robot, rng, q, qd, _ = drawn(family, seed)
    pushed = {"tip": rng.normal(size=6)}
    for external in (None, pushed):
        want = robot.inverse_dynamics(q, qd, np.zeros(robot.nv), external=external)  # (5.3)
        assert_close(robot.bias_force(q, qd, external=external), want, 1e-13, 10.0)
    assert_close(robot.gravity_force(q), robot.bias_force(q, np.zeros(robot.nv)), 1e-13, 10.0)


@families
@given(seed=seeds)
@law(4)
def test_the_inverse_mass_matrix_is_the_inverse(family, seed):
    robot, _, q, _, _ = drawn(family, seed)
    H, inverse = robot.mass_matrix(q), robot.inverse_mass_matrix(q)
    scale = np.linalg.norm(H) * np.linalg.norm(inverse)  # the condition number: rounding in H is worth this much here
    assert_close(inverse @ H, np.eye(robot.nv), 1e-14, scale)
    assert_close(inverse, inverse.T, 1e-15)


@pytest.mark.sampled(2)
@families
@given(seed=seeds)
@law(3)
def test_forward_dynamics_is_affine_in_the_joint_forces(family, seed):
    robot, rng, q, qd, _ = drawn(family, seed)
    inverse = robot.inverse_mass_matrix(q)
    tau, more = rng.normal(size=(2, robot.nv))
    for method in methods_for(robot):
        change = robot.forward_dynamics(q, qd, tau + more, method=method) - robot.forward_dynamics(
            q, qd, tau, method=method
        )
        free = robot.forward_dynamics(q, qd, tau, method=method)
        scale = np.linalg.norm(free) + np.linalg.norm(inverse) * np.linalg.norm(robot.bias_force(q, qd))
        assert_close(change, inverse @ more, 1e-12, scale)  # two answers of that size were subtracted


@given(seed=seeds)
@law(4)
def test_armature_adds_to_the_diagonal_of_the_mass_matrix_and_nothing_else(seed):
    rng = np.random.default_rng(seed)
    masses = []
    for armature in (0.0, 0.3):
        builder = hinge.Builder("arm")
        builder.link("base")
        body = np.random.default_rng(seed)
        for k, parent in ((1, "base"), (2, "link1"), (3, "link1")):
            builder.link(f"link{k}", 1.0 + k, body.normal(size=3), np.eye(3) * 0.1)
            kind = ("revolute", "spherical", "prismatic")[k - 1]
            builder.joint(f"joint{k}", kind, parent, f"link{k}", body.normal(size=3), axis=(0, 1, 1), armature=armature)
        masses.append(hinge.Robot(builder.build()))
    q, qd = masses[0].random_state(rng, 1)
    assert_close(masses[1].mass_matrix(q[0]) - masses[0].mass_matrix(q[0]), 0.3 * np.eye(5), 1e-13, 10.0)
    assert_close(masses[1].bias_force(q[0], qd[0]), masses[0].bias_force(q[0], qd[0]), 1e-15)
    gained = masses[1].kinetic_energy(q[0], qd[0]) - masses[0].kinetic_energy(q[0], qd[0])
    assert_close(gained, 0.15 * (qd[0] @ qd[0]), 1e-13, 10.0)
