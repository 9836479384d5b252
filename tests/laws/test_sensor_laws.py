"""Laws of sensors: rest, free fall, weight, and the sum of what a joint carries; on tree, batch and traced arrays."""

import numpy as np
import pytest

import hinge

G = np.array([0.0, 0.0, 9.81])


@pytest.fixture(scope="module")
def robot():
    return hinge.samples.go2()


def test_at_rest_it_reads_g_upward_and_in_free_fall_nothing(robot):
    q, qd = robot.random_state(0, 5)
    for name in ("imu", "FL_foot"):
        gyro, force = np.split(robot.imu(q, 0 * qd, 0 * qd, name), 2, axis=-1)
        up = np.swapaxes(robot.pose(q, name)[:, :3, :3], 1, 2) @ G
        np.testing.assert_allclose(gyro, 0.0, atol=1e-15)
        np.testing.assert_allclose(force, up, atol=1e-12)
    still = 0 * qd
    falling = robot.forward_dynamics(q, still, still)
    np.testing.assert_allclose(robot.imu(q, still, falling, "imu"), 0.0, atol=1e-10)


def test_it_reads_the_second_difference_of_where_it_is(robot):
    q, qd = robot.random_state(1, 1)
    qdd, h = np.random.default_rng(2).normal(size=robot.nv), 1e-4
    at = [robot.pose(robot.integrate(q[0], t * qd[0] + 0.5 * t * t * qdd), "FR_foot") for t in (-h, 0.0, h)]
    gyro, force = np.split(robot.imu(q[0], qd[0], qdd, "FR_foot"), 2)
    second = (at[2] - 2 * at[1] + at[0])[:3, 3] / h**2
    np.testing.assert_allclose(at[1][:3, :3] @ force, second + G, atol=1e-4)
    turn = at[1][:3, :3].T @ (at[2] - at[0])[:3, :3] / (2 * h)
    np.testing.assert_allclose(gyro, [turn[2, 1], turn[0, 2], turn[1, 0]], atol=1e-6)


def test_what_a_joint_carries_is_its_force_and_the_reaction(robot):
    q, qd = robot.random_state(3, 4)
    qdd, load = np.random.default_rng(4).normal(size=(2, 4, robot.nv))[0], {"FL_foot": np.ones(6)}
    total = robot.joint_reactions(q, qd, qdd, external=load)[0]
    made = robot.joint_wrench(q, qd, qdd, "FL_calf", external=load)
    np.testing.assert_allclose(made, total[:, robot.body_names.index("FL_calf")], atol=1e-12)
    tau = robot.inverse_dynamics(q, qd, qdd, external=load, joint_terms=())
    np.testing.assert_allclose(made[:, 1], tau[:, robot.coordinates("FL_calf_joint")[1]][:, 0], atol=1e-12)
    foot = robot.joint_wrench(q, qd, qdd, "FL_foot", external=load)
    lever = np.array([0.0, 0.0, -0.213])
    np.testing.assert_allclose(foot[:, :3] + np.cross(lever, foot[:, 3:]), made[:, :3], atol=1e-12)


def test_wrenches_of_contacts_are_what_moves_a_robot(robot):
    """With them as external forces, inverse dynamics gives the joint forces back, and none at the base."""
    rng = np.random.default_rng(5)
    q = np.tile(robot.keyframes["home"], (20, 1))
    q[:, 6:] += rng.uniform(-0.01, 0.005, (20, 13))
    h, still, tau = 1e-7, np.zeros((20, robot.nv)), np.pad(rng.normal(size=(20, 12)), ((0, 0), (6, 0)))
    step = robot.contact_step(q, still, tau, h, ground=hinge.Ground(friction=(0.8, 0.01, 0.001)), law="soft")
    assert set(step.touch) == set(step.wrenches) == {*robot.model.shapes}
    made = robot.inverse_dynamics(q, still, step.qd / h, external=step.wrenches, external_frame="base")
    np.testing.assert_allclose(made, tau, atol=1e-5)
    feet = sum(step.touch[f"{leg}_foot"] for leg in ("FL", "FR", "RL", "RR"))
    np.testing.assert_allclose(sum(w[:, 5] for w in step.wrenches.values()), feet, rtol=1e-12)
    assert (feet > 10.0).sum() > 10


def test_a_block_s_touch_is_its_weight_and_batches_do_not_mix():
    block = hinge.Scene().body("block", "box", (0.4, 0.2, 0.1), mass=3.0).robot
    q = np.tile([1.0, 0, 0, 0, 0, 0, 0.05], (3, 1))
    q[1, 6] = 0.5
    step = block.contact_step(q, np.zeros((3, 6)), np.zeros((3, 6)), 1e-3, ground=0.0)
    np.testing.assert_allclose(step.touch["block"], [3.0 * 9.81, 0.0, 3.0 * 9.81], rtol=1e-6)
    np.testing.assert_allclose(step.wrenches["block"][0], [0, 0, 0, 0, 0, 3.0 * 9.81], atol=1e-5)


def test_sensors_are_traced(robot):
    """A controller may see them: the one that pushes with what the accelerometer reads floats."""
    ball = hinge.Scene().body("ball", "sphere", 0.1, mass=2.0).robot

    def lifted(t, q, qd):
        return np.concatenate([np.zeros(3), 2.0 * ball.imu(q, qd, np.zeros(6), "ball")[3:]])

    run = hinge.rollout(ball, [1.0, 0, 0, 0, 0, 0, 1.0], np.zeros(6), 10, 1e-2, policy=lifted)
    np.testing.assert_allclose(run.q[-1, 6], 1.0, atol=1e-12)
