"""Inverse kinematics: it undoes `pose`, within the limits, and says how far it stayed from what cannot be reached."""

import numpy as np
import pytest

import hinge
from hinge.spatial.rotation import quaternion_from_rotation

OK, UNREACHED = hinge.Status.OK, hinge.Status.UNREACHED


def reached(robot, frame, goals, result, tolerance=1e-10):
    """Whether the result is at the goals, by a second look."""
    made = robot.pose(result.q, frame)
    shift = np.linalg.norm(made[..., :3, 3] - goals[..., :3, 3], axis=-1)
    chord = np.linalg.norm(made[..., :3, :3] - goals[..., :3, :3], axis=(-1, -2)) / np.sqrt(2.0)
    return (shift <= 2 * tolerance) & (chord <= 2 * tolerance)


@pytest.mark.parametrize("name", ["puma560", "chain", "tree"])
def test_it_undoes_pose_within_the_limits(name):
    rng = np.random.default_rng(0)
    kinds = ("revolute", "prismatic", "spherical", "universal", "free")
    robot = {
        "puma560": hinge.samples.puma560,
        "chain": lambda: hinge.samples.chain(rng, 8),
        "tree": lambda: hinge.samples.random_tree(rng, 6, kinds),
    }[name]()
    frame = robot.body_names[-1]
    q, _ = robot.random_state(rng, 12)
    goals = robot.pose(q, frame).reshape(3, 4, 4, 4)
    result = hinge.inverse_kinematics(robot, goals, frame)
    assert (result.q.shape, result.status.shape, result.error.shape) == ((3, 4, robot.nq), (3, 4), (3, 4, 2))
    assert (result.status == OK).all()
    assert reached(robot, frame, goals, result).all()
    assert (result.error <= 1e-10).all()
    assert (result.q >= robot.limits.lower).all()
    assert (result.q <= robot.limits.upper).all()


def test_what_is_found_does_not_depend_on_the_other_poses():
    robot = hinge.samples.puma560()
    goals = robot.pose(robot.random_state(np.random.default_rng(1), 6)[0], "tool")
    whole = hinge.inverse_kinematics(robot, goals, "tool")
    for k in (0, 5):
        alone = hinge.inverse_kinematics(robot, goals[k], "tool")
        assert (alone.q == whole.q[k]).all()
        assert (alone.error == whole.error[k]).all()


def test_a_start_is_tried_first_so_that_a_near_pose_gives_a_near_answer():
    robot = hinge.samples.puma560()
    q, _ = robot.random_state(np.random.default_rng(2), 10)
    q = np.clip(q, robot.limits.lower + 0.1, robot.limits.upper - 0.1)
    near = q + 0.01
    result = hinge.inverse_kinematics(robot, robot.pose(near, "tool"), "tool", start=q)
    assert (result.status == OK).all()
    assert np.median(abs(result.q - near).max(axis=1)) < 1e-6


@pytest.mark.parametrize("match", ["position", "orientation"])
def test_a_part_of_a_pose_can_be_matched_alone(match):
    robot = hinge.samples.puma560()
    goals = robot.pose(robot.random_state(np.random.default_rng(3), 6)[0], "tool")
    goals[:, :3, 3] *= 1.0 if match == "position" else 100.0
    result = hinge.inverse_kinematics(robot, goals, "tool", match=match)
    made = robot.pose(result.q, "tool")
    part = (slice(None), slice(0, 3), 3) if match == "position" else (slice(None), slice(0, 3), slice(0, 3))
    assert (result.status == OK).all()
    np.testing.assert_allclose(made[part], goals[part], atol=1e-9)
    assert (result.error[:, 0 if match == "position" else 1] == 0.0).all()


def test_a_pose_out_of_reach_says_how_far_it_is():
    arm = hinge.samples.planar_2r()  # two metres long, in the xz plane
    goal = np.eye(4)
    goal[:3, 3] = 3.0, 0.0, 0.0
    result = hinge.inverse_kinematics(arm, goal, "hand", match="position")
    assert result.status == UNREACHED
    np.testing.assert_allclose(result.error, [0.0, 1.0], atol=1e-9)
    goal[:3, 3] = 1.2, 0.5, 0.9
    result = hinge.inverse_kinematics(arm, goal, "hand", match="position")
    np.testing.assert_allclose(result.error, [0.0, 0.5], atol=1e-9)  # straight out of the plane
    turned = arm.pose([0.3, 0.4], "hand")
    turned[:3, :3] = turned[:3, :3] @ np.diag([-1.0, 1.0, -1.0])  # half a turn about the joints' own axis can be had
    assert hinge.inverse_kinematics(arm, turned, "hand", match="orientation").status == OK
    turned[:3, :3] = np.diag([-1.0, -1.0, 1.0])  # half a turn about another cannot
    result = hinge.inverse_kinematics(arm, turned, "hand", match="orientation")
    assert result.status == UNREACHED
    assert result.error[0] == pytest.approx(np.pi, abs=1e-6)


def test_a_limit_that_keeps_it_away_is_kept():
    builder = hinge.Builder("slide")
    builder.link("base")
    builder.link("hand", 1.0)
    builder.joint("slide", "prismatic", "base", "hand", axis=(1, 0, 0), lower=-0.5, upper=0.5)
    robot = hinge.Robot(builder.build())
    goal = np.eye(4)
    goal[0, 3] = 0.8
    result = hinge.inverse_kinematics(robot, goal, "hand")
    assert (result.q, result.status) == (0.5, UNREACHED)
    np.testing.assert_allclose(result.error, [0.0, 0.3], atol=1e-12)


def test_varied_and_driven_numbers_are_taken():
    arm = hinge.samples.puma560().vary("joint3.placement")
    shifted = np.tile(arm.model and np.array(arm.target.vary[0].nominal(arm.model)), (5, 1, 1))
    shifted[:, 0, 3] += np.linspace(0.0, 0.2, 5)
    q, _ = arm.random_state(np.random.default_rng(4), 5)
    given = {"joint3.placement": shifted}
    goals = arm.pose(q, "tool", parameters=given)
    result = hinge.inverse_kinematics(arm, goals, "tool", parameters=given)
    assert (result.status == OK).all()
    np.testing.assert_allclose(arm.pose(result.q, "tool", parameters=given), goals, atol=1e-9)
    driven = hinge.samples.puma560().prescribe("joint1")
    goal = driven.pose(np.zeros(5) + 0.3, "tool", prescribed=([0.7],))
    result = hinge.inverse_kinematics(driven, goal, "tool", prescribed=([0.7],))
    assert result.status == OK
    np.testing.assert_allclose(driven.pose(result.q, "tool", prescribed=([0.7],)), goal, atol=1e-9)


@pytest.mark.parametrize("axis", range(3))
def test_half_a_turn_has_a_quaternion_however_it_is_rounded(axis):
    R = -np.eye(3)
    R[axis, axis] = 1.0
    q = quaternion_from_rotation(R.ravel().tolist())
    assert np.argmax(q) == axis + 1
    np.testing.assert_allclose(np.linalg.norm(q), 1.0)


def test_joints_that_follow_others_follow_them_here_too():
    builder = hinge.Builder("finger")
    for name in ("base", "first", "second", "tip"):
        builder.link(name, 0.1)
    builder.joint("knuckle", "revolute", "base", "first", axis=(0, 1, 0), lower=0.0, upper=1.2)
    builder.joint("middle", "revolute", "first", "second", (0.05, 0, 0), axis=(0, 1, 0), mimic=("knuckle", 0.9, 0.2))
    builder.joint("side", "revolute", "second", "tip", (0.03, 0, 0), axis=(0, 0, 1), lower=-0.4, upper=0.4)
    robot = hinge.Robot(builder.build())
    q, _ = robot.random_state(np.random.default_rng(5), 20)
    result = hinge.inverse_kinematics(robot, robot.pose(q, "tip"), "tip")
    assert (result.status == OK).all()
    np.testing.assert_allclose(result.q, q, atol=1e-8)
    beyond = hinge.inverse_kinematics(robot, robot.pose([1.5, 0.0], "tip"), "tip")
    assert beyond.status == UNREACHED
    assert beyond.q[0] == 1.2


def test_no_poses_give_no_coordinates():
    robot = hinge.samples.planar_2r()
    result = hinge.inverse_kinematics(robot, np.empty((0, 4, 4)), "hand")
    assert (result.q.shape, result.status.shape, result.error.shape) == ((0, 2), (0,), (0, 2))


@pytest.mark.parametrize("given", [False, True])
def test_joints_that_do_not_move_the_frame_stay(given):
    """Also where the first start fails: the goals are taken from random states, far from the neutral one."""
    robot = hinge.samples.go2()
    frame = "RR_calf"
    states = robot.random_state(np.random.default_rng(5), 6)[0]
    start = robot.random_state(np.random.default_rng(6), 1)[0][0] if given else None
    made = hinge.inverse_kinematics(robot, robot.pose(states, frame), frame, start=start)
    assert (made.status == hinge.Status.OK).all()
    moves = np.abs(robot.jacobian(states, frame)).max(axis=(0, 1)) > 0
    assert moves.sum() == 9
    still = 7 + np.flatnonzero(~moves[6:])  # the base has seven coordinates
    stay = np.clip(robot.neutral() if start is None else start, robot.limits.lower, robot.limits.upper)
    np.testing.assert_array_equal(made.q[:, still], np.broadcast_to(stay[still], (6, 9)))
