"""Laws of energy, momentum and weight."""

import numpy as np
import pytest
from hypothesis import given
from robots import drawn, families, floating_families, law, seeds, weightless
from yardsticks import assert_close, derivative, rate_along_motion

# many robots of a few calls each, which are not worth compiling
pytestmark = pytest.mark.usefixtures("plain_interpreter")

FRAMES = ("body", "base", "aligned")


def moment_and_force(at, force):
    """A force through a point, as a spatial force in base coordinates."""
    return np.concatenate([np.cross(at, force), force])


def weights(robot, q):
    """The weight of each body through its centre of mass, in base coordinates."""
    model, made = robot.model, {}
    for i, name in enumerate(model.body_name):
        if i:
            pose = robot.pose(q, name)
            com = pose[:3, :3] @ np.array(model.inertia[i].com) + pose[:3, 3]
            made[name] = moment_and_force(com, model.inertia[i].m * np.array(model.gravity))
    return made


@families
@given(seed=seeds)
@law(4)
def test_kinetic_energy_is_half_of_velocity_times_mass_matrix_times_velocity(family, seed):
    robot, _, q, qd, _ = drawn(family, seed)
    energy = robot.kinetic_energy(q, qd)
    assert energy > 0.0
    assert_close(energy, 0.5 * qd @ robot.mass_matrix(q) @ qd, 1e-13)


@families
@given(seed=seeds)
@law(3)
def test_the_power_of_all_forces_is_the_rate_of_energy(family, seed):
    robot, rng, q, qd, qdd = drawn(family, seed)
    names = list(dict.fromkeys((robot.body_names[0], robot.body_names[-1], "tip")))
    for frame in FRAMES:
        external = {name: rng.normal(size=6) * 5 for name in names}
        tau = robot.inverse_dynamics(q, qd, qdd, external=external, external_frame=frame)
        given_power = sum(external[name] @ robot.velocity(q, qd, name, frame=frame) for name in names)
        kinetic = rate_along_motion(robot, "kinetic_energy", q, qd, qdd)
        potential = rate_along_motion(robot, "potential_energy", q, qd)
        # the terms are powers of tens of watts and may cancel
        assert_close(tau @ qd + given_power, kinetic + potential, 1e-12, 100.0)


@families
@given(seed=seeds)
@law(4)
def test_the_gravity_force_is_the_gradient_of_potential_energy(family, seed):
    robot, _, q, _, _ = drawn(family, seed)
    gradient = [rate_along_motion(robot, "potential_energy", q, e) for e in np.eye(robot.nv)]
    assert_close(robot.gravity_force(q), np.array(gradient), 1e-12, 10.0)


@pytest.mark.sampled(2)
@families
@given(seed=seeds)
@law(3)
def test_gravity_is_a_force_on_each_body(family, seed):
    robot, _, q, qd, qdd = drawn(family, seed)
    floated, pulled = weightless(robot), weights(robot, q)
    tau = robot.inverse_dynamics(q, qd, qdd)
    in_base = floated.inverse_dynamics(q, qd, qdd, external=pulled, external_frame="base")
    assert_close(in_base, tau, 1e-12, 100.0)  # moments about the base, of up to a hundred newton metres, cancel
    # and the same where the accelerations are asked for
    fall = floated.forward_dynamics(q, qd, tau, external=pulled, external_frame="base")
    scale = 100.0 * np.linalg.norm(robot.inverse_mass_matrix(q), 2)
    assert_close(fall, robot.forward_dynamics(q, qd, tau), 1e-12, scale)


@families
@given(seed=seeds)
@law(3)
def test_potential_energy_is_weight_times_height_and_zero_at_the_base_origin(family, seed):
    robot, _, q, _, _ = drawn(family, seed)
    height = robot.center_of_mass(q) @ np.array([0.0, 0.0, 1.0])
    assert_close(robot.potential_energy(q), robot.mass * 9.81 * height, 1e-13, 10.0)
    assert weightless(robot).potential_energy(q) == 0.0


@families
@given(seed=seeds)
@law(4)
def test_linear_momentum_is_mass_times_the_velocity_of_the_centre_of_mass(family, seed):
    robot, _, q, qd, _ = drawn(family, seed)
    h = robot.momentum(q, qd)
    assert_close(h[3:], robot.mass * rate_along_motion(robot, "center_of_mass", q, qd), 1e-12)
    moved = derivative(lambda t: robot.center_of_mass(robot.integrate(q, t * qd)))
    assert_close(h[3:], robot.mass * moved, 1e-9)
    about_com = robot.momentum(q, qd, about="com")
    shift = np.cross(robot.center_of_mass(q), h[3:])
    assert_close(about_com, np.concatenate([h[:3] - shift, h[3:]]), 1e-13, np.max(np.abs(h)))


@families
@given(seed=seeds)
@law(3)
def test_momentum_is_the_sum_over_bodies_of_inertia_times_velocity(family, seed):
    robot, _, q, qd, _ = drawn(family, seed)
    total, model = np.zeros(6), robot.model
    for i, name in enumerate(model.body_name):
        if i:
            body = model.inertia[i].articulated().matrix() @ robot.velocity(q, qd, name)
            pose = robot.pose(q, name)
            couple, force = pose[:3, :3] @ body[:3], pose[:3, :3] @ body[3:]
            total += moment_and_force(pose[:3, 3], force) + np.concatenate([couple, np.zeros(3)])
    assert_close(robot.momentum(q, qd), total, 1e-13, 10.0)


@floating_families
@given(seed=seeds)
@law(6)
def test_joint_forces_do_not_change_the_momentum_of_a_floating_robot(family, seed):
    robot, rng, q, qd, _ = drawn(family, seed)
    robot = weightless(robot)
    tau = rng.normal(size=robot.nv) * 10
    tau[robot.coordinates("base")[1]] = 0.0
    qdd = robot.forward_dynamics(q, qd, tau)
    rate = rate_along_motion(robot, "momentum", q, qd, qdd)
    # accelerations of hundreds of rad/s² make forces that cancel between the bodies
    scale = np.linalg.norm(robot.mass_matrix(q)) * np.linalg.norm(qdd)
    assert scale > 1.0
    assert_close(rate, np.zeros(6), 1e-12, scale)


@floating_families
@given(seed=seeds)
@law(6)
def test_the_momentum_of_a_floating_robot_changes_by_its_weight_and_what_pushes_it(family, seed):
    robot, rng, q, qd, _ = drawn(family, seed)
    tau = rng.normal(size=robot.nv) * 10
    tau[robot.coordinates("base")[1]] = 0.0
    push = {"tip": rng.normal(size=6) * 20, robot.body_names[0]: rng.normal(size=6) * 20}
    qdd = robot.forward_dynamics(q, qd, tau, external=push, external_frame="base")
    weight = moment_and_force(robot.center_of_mass(q), robot.mass * np.array(robot.model.gravity))
    scale = np.linalg.norm(robot.mass_matrix(q)) * np.linalg.norm(qdd)
    assert_close(rate_along_motion(robot, "momentum", q, qd, qdd), weight + sum(push.values()), 1e-12, scale)


@floating_families
@given(seed=seeds)
@law(3)
def test_forces_on_the_floating_base_are_the_rate_of_momentum_seen_from_it(family, seed):
    robot, _, q, qd, qdd = drawn(family, seed)
    robot = weightless(robot)
    rate = rate_along_motion(robot, "momentum", q, qd, qdd)
    J = robot.jacobian(q, "base", frame="base")[:, robot.coordinates("base")[1]]
    tau = robot.inverse_dynamics(q, qd, qdd)[robot.coordinates("base")[1]]
    assert_close(tau, J.T @ rate, 1e-12, 10.0)
