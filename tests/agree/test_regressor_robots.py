"""The regressor on every real robot: times parameters it is inverse dynamics, and Pinocchio has the same columns."""

import numpy as np
import pytest
from real_robots import FILES, REFUSED, WELDED, Pair, close

import hinge
from hinge.identify import parameters

if not FILES:
    pytest.skip("example-robot-data is not installed", allow_module_level=True)

TERMS = ("armature", "damping", "friction", "stiffness")
MOVING = [file for file in FILES if file not in REFUSED and file not in WELDED]
SOME = ["ur_description/urdf/ur5_robot.urdf", "panda_description/urdf/panda.urdf",
        "talos_data/robots/talos_reduced.urdf",
        "tiago_description/robots/tiago.urdf", "kinova_description/robots/kinova.urdf"]  # fmt: skip
THEIRS = [0, 1, 2, 3, 4, 6, 9, 8, 7, 5]  # Pinocchio's xx, xy, yy, xz, yz, zz in our order xx, yy, zz, yz, xz, xy


@pytest.mark.parametrize("file", MOVING)
def test_regressor_times_parameters_is_inverse_dynamics(file):
    robot = hinge.load(FILES[file])
    rng = np.random.default_rng(5)
    q, qd = robot.random_state(rng, 2)
    qdd = rng.normal(size=qd.shape)
    tau = robot.inverse_dynamics(q, qd, qdd, joint_terms=TERMS, backend="interpret", method="newton_euler")
    Y = robot.regressor(q, qd, qdd, joint_terms=TERMS, backend="interpret")
    close(Y @ parameters(robot, TERMS), tau, 1e-12)


@pytest.mark.parametrize("floating", [False, True], ids=["fixed", "floating"])
@pytest.mark.parametrize("file", [file for file in SOME if file in FILES])
def test_pinocchio_has_the_same_columns_in_its_own_order(file, floating):
    pin = pytest.importorskip("pinocchio", reason="Pinocchio is not installed")
    p = Pair(FILES[file], floating)
    theirs = p.theirs(pin.computeJointTorqueRegressor)
    ours = p.call("regressor", p.hq, p.hv, p.ha, joint_terms=())[:, p.index]
    for j in range(1, p.model.njoints):
        body = 1 if floating and j == 1 else p.robot.model.joint_number(p.model.names[j])
        mine, columns = ours[..., 10 * (body - 1) : 10 * body], theirs[..., 10 * (j - 1) : 10 * j][..., THEIRS]
        close(mine, columns, 10 * p.tol)


def test_pinocchio_is_asked_about_robots_that_are_there():
    assert len([file for file in SOME if file in FILES]) >= 4
