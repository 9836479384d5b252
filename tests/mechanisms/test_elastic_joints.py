"""Joints with a spring between motor and link: two masses, energy, and the rigid robot where springs are stiff."""

import numpy as np
import pytest

import hinge

TERMS = ("armature", "stiffness", "damping")
ARM = hinge.samples.planar_2r()
K, D, J = (800.0, 300.0), (0.0, 0.0), (0.4, 0.2)


def elastic(robot=ARM, k=K, d=D, J=J):
    for name, *numbers in zip(robot.joint_names, k, d, J, strict=True):
        robot = robot.with_elastic(name, *numbers)
    return robot


def test_two_masses_swing_at_their_frequency():
    """ω² = k (1/J + 1/M), for a link of inertia M about its joint, without gravity."""
    one = hinge.samples.pendulum(1).with_gravity([0.0, 0.0, 0.0])
    M = one.mass_matrix([0.0])[0, 0]
    robot = one.with_elastic("joint1", stiffness=50.0, motor_inertia=0.3)
    w = np.sqrt(50.0 * (1.0 / 0.3 + 1.0 / M))
    run = hinge.simulate(robot, 1.0, [0.0, 0.1], joint_terms=TERMS)
    np.testing.assert_allclose(run.q[:, 1], 0.1 * np.cos(w * run.t), rtol=0, atol=1e-6)
    np.testing.assert_allclose(run.q[:, 0] * 0.3 + run.q.sum(axis=1) * M, 0.1 * M, rtol=0, atol=1e-9)  # none turns it


def by_hand(q, qd, tau, d):
    """Accelerations of motors and links: J θ̈ = τ + k δ + d δ̇ and H(φ) φ̈ + c(φ, φ̇) = -k δ - d δ̇, where φ = θ + δ."""
    motor, ahead, rate = q[0::2], q[1::2], qd[1::2]
    force = np.multiply(K, ahead) + np.multiply(d, rate)
    link = ARM.forward_dynamics(motor + ahead, qd[0::2] + rate, -force, joint_terms=())
    turned = (tau[0::2] + force) / np.array(J)
    return np.stack([turned, link - turned], axis=1).reshape(-1)


@pytest.mark.parametrize("method", ["articulated", "composite"])
def test_motion_is_that_of_motors_and_links_written_out(method):
    d = (3.0, 1.0)
    robot, rng = elastic(d=d), np.random.default_rng(0)
    for _ in range(5):
        q, qd, tau = rng.normal(size=(3, 4))
        tau[1::2] = 0.0
        made = robot.forward_dynamics(q, qd, tau, joint_terms=TERMS, method=method)
        np.testing.assert_allclose(made, by_hand(q, qd, tau, d), rtol=0, atol=1e-8)


def test_energy_is_kept_without_damping_and_lost_with_it():
    q0 = np.array([0.5, 0.02, -0.3, 0.05])

    def energy(robot, run):
        spring = 0.5 * np.sum(K * run.q[:, 1::2] ** 2, axis=1)
        return robot.kinetic_energy(run.q, run.qd) + robot.potential_energy(run.q) + spring

    robot, damped = elastic(), elastic(d=(3.0, 1.0))
    free = energy(robot, hinge.simulate(robot, 2.0, q0, joint_terms=TERMS, step=5e-4))
    np.testing.assert_allclose(free, free[0], rtol=0, atol=1e-6)
    lost = energy(damped, hinge.simulate(damped, 2.0, q0, joint_terms=TERMS, step=5e-4))
    assert lost[-1] < lost[0] - 0.1


def test_a_stiff_one_is_the_rigid_robot_with_armature():
    rng = np.random.default_rng(1)
    q, qd, qdd = rng.normal(size=(3, 10, 2))
    rigid = ARM.inverse_dynamics(q, qd, qdd) + qdd * J
    still = [np.stack([x, 0.0 * x], axis=-1).reshape(10, 4) for x in (q, qd, qdd)]
    np.testing.assert_allclose(elastic().inverse_dynamics(*still, joint_terms=TERMS)[:, 0::2], rigid, atol=1e-12)

    def off(k):
        run = hinge.simulate(elastic(k=(k, k), d=(20.0, 20.0)), 0.5, joint_terms=TERMS, step=1e-4)
        link = run.q[:, 0::2] + run.q[:, 1::2]
        return np.abs(link - wanted.q).max()

    b = ARM.vary("shoulder.armature", "elbow.armature")
    wanted = hinge.simulate(b, 0.5, step=1e-4, parameters={"shoulder.armature": J[0], "elbow.armature": J[1]})
    near, nearer = off(2e4), off(8e4)
    assert nearer < 0.3 * near < 1e-3


def test_frames_and_names_are_where_they_were():
    arm = hinge.samples.puma560()
    soft = arm.with_elastic("joint3", 2e3, 1.0, 0.5)
    q = np.linspace(-0.5, 0.6, 6)
    at = np.insert(q, 3, 0.1)
    at[2] -= 0.1
    for name in ("tool", arm.body_names[1], arm.body_names[-1]):
        np.testing.assert_allclose(soft.pose(at, name), arm.pose(q, name), rtol=0, atol=1e-12)
    assert soft.joint_names == (*arm.joint_names[:3], "joint3_spring", *arm.joint_names[3:])
    assert soft.mass == pytest.approx(arm.mass)


def test_a_spring_has_no_limits():
    soft = ARM.with_elastic("elbow", *(x[0] for x in (K, D, J)))
    assert [len(x) for x in soft.limits] == [3, 3, 3, 3]
    assert all(np.all(np.abs(x) == np.inf) for x in soft.limits)
    q, qd = soft.random_state(0, 5)
    assert q.shape == qd.shape == (5, 3)


def test_what_cannot_be_elastic_is_refused():
    with pytest.raises(hinge.ModelError, match="joint 'elbow' has motor_inertia=0"):
        ARM.with_elastic("elbow", 1e3)
    with pytest.raises(hinge.ModelError, match="'elbow_motor' already"):
        ARM.with_elastic("elbow", 1e3, 0.0, 0.1).with_elastic("elbow", 1e3, 0.0, 0.1)
    ball = hinge.samples.chain(np.random.default_rng(0), 2, "spherical")
    with pytest.raises(hinge.ModelError, match="is spherical"):
        ball.with_elastic(ball.joint_names[0], 1e3, 0.0, 0.1)
