"""The Go2 that comes with hinge: the numbers of the menagerie's, legs that are each other's images, and it stands."""

import os
from pathlib import Path

import numpy as np
import pytest

import hinge

MENAGERIE = Path(os.environ.get("HINGE_ROBOTS", Path(__file__).parents[3] / "shared" / "robots"))
FEET = ["FL_foot", "FR_foot", "RL_foot", "RR_foot"]
LEG = {name: slice(7 + 3 * k, 10 + 3 * k) for k, name in enumerate(FEET)}


@pytest.fixture(scope="module")
def robot():
    return hinge.samples.go2()


def test_it_weighs_what_it_weighs_and_there_is_nothing_to_report(robot):
    assert robot.mass == pytest.approx(15.21, abs=0.01)
    assert (robot.nq, robot.nv) == (19, 18)
    assert not [*robot.report]


@pytest.mark.skipif(not MENAGERIE.exists(), reason="the robots of the menagerie are not here")
def test_it_is_the_menagerie_s_but_for_rounding(robot):
    theirs = hinge.load(MENAGERIE / "unitree_go2" / "go2.xml")
    assert robot.joint_names == theirs.joint_names
    for ours, file in zip(robot.limits[:2], theirs.limits[:2], strict=True):
        np.testing.assert_allclose(ours, file, atol=1e-3)
    driven = {a.target: a.control[1] for a in theirs.model.physics.actuators}
    np.testing.assert_allclose(robot.limits.effort[6:], [driven[name] for name in robot.joint_names[1:]])
    q, qd = theirs.random_state(0, 50)
    H, file = robot.mass_matrix(q), theirs.mass_matrix(q)
    scale = np.sqrt(np.diagonal(file, axis1=1, axis2=2))
    assert (np.abs(H - file) / (scale[:, :, None] * scale[:, None, :])).max() < 2e-3
    np.testing.assert_allclose(robot.bias_force(q, qd), theirs.bias_force(q, qd), atol=0.05)


@pytest.mark.parametrize("foot", FEET)
def test_legs_are_images_of_each_other(robot, foot):
    """A leg at mirrored angles has the mirrored foot, and the mirrored weight at its joints."""
    angles, q = np.array([0.3, 0.7, -1.6]), robot.neutral()
    end, side = (1 if foot[0] == "F" else -1), (1 if foot[1] == "L" else -1)
    q[LEG["FL_foot"]], q[LEG[foot]] = angles, angles * [side, 1, 1]
    reach = [robot.pose(q, name)[:3, 3] - robot.pose(q, f"{name[:2]}_hip")[:3, 3] for name in ("FL_foot", foot)]
    np.testing.assert_allclose(reach[1], reach[0] * [1, side, 1], atol=1e-15)
    weight = robot.gravity_force(q)[6:].reshape(4, 3)
    np.testing.assert_allclose(weight[FEET.index(foot)][1:], weight[0][1:], atol=1e-12)
    np.testing.assert_allclose(weight[FEET.index(foot)][0], side * weight[0][0], atol=1e-12)
    np.testing.assert_allclose(robot.pose(q, f"{foot[:2]}_hip")[:3, 3], [0.1934 * end, 0.0465 * side, 0], atol=1e-15)


@pytest.mark.sampled(1)
@pytest.mark.parametrize("law", ["rigid", "soft"])
def test_it_stands_under_joint_springs(robot, law):
    home = robot.keyframes["home"]
    lowest = [robot.pose(home, foot)[2, 3] for foot in FEET]
    np.testing.assert_allclose(lowest, 0.022, atol=1e-12)

    def springs(t, q, qd):
        return np.concatenate([np.zeros(6), 40.0 * (home[7:] - q[7:]) - 2.0 * qd[6:]])

    run = hinge.simulate(
        robot, 2.0, home, control=springs, step=2e-3, ground=hinge.Ground(friction=0.8), law=law, backend="llvm"
    )
    assert run.status == hinge.Status.OK
    q, qd = run.final
    assert robot.pose(q, "base")[2, 2] > np.cos(0.1)  # upright
    assert home[6] - 0.05 < q[6] < home[6]
    assert np.abs(qd).max() < 0.02
    np.testing.assert_allclose([robot.pose(q, foot)[2, 3] for foot in FEET], 0.022, atol=2e-3)
