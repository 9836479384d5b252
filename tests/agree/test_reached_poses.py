"""Inverse kinematics on real arms: a thousand poses that can be reached, of which all but a few have to be."""

import sysconfig
from pathlib import Path

import numpy as np
import pytest

import hinge

ROBOTS = Path(sysconfig.get_path("purelib"), "cmeel.prefix", "share", "example-robot-data", "robots")
ARMS = [("panda_description/urdf/panda.urdf", "panda_hand"), ("ur_description/urdf/ur5_robot.urdf", "ee_link")]


@pytest.mark.skipif(not ROBOTS.exists(), reason="example-robot-data is not here")
@pytest.mark.parametrize(("file", "frame"), ARMS, ids=["panda", "ur5"])
def test_nearly_every_pose_is_reached(file, frame):
    robot = hinge.load(ROBOTS / file)
    goals = robot.pose(robot.random_state(np.random.default_rng(10), 1000)[0], frame)
    q, status, error = hinge.inverse_kinematics(robot, goals, frame)
    made = robot.pose(q, frame)
    shift = np.linalg.norm((made - goals)[:, :3, 3], axis=1)
    turn = np.linalg.norm((made - goals)[:, :3, :3], axis=(1, 2)) / np.sqrt(2.0)
    good = (shift < 1e-9) & (turn < 1e-9)
    assert good.mean() >= 0.99
    assert (good == (status == hinge.Status.OK)).all()
    np.testing.assert_allclose(error, np.stack([turn, shift], axis=1), atol=1e-14)
    assert ((robot.limits.lower <= q) & (q <= robot.limits.upper)).all()
