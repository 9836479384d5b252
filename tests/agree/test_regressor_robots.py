"""The regressor on every real robot: times parameters it is inverse dynamics, and Pinocchio has the same columns."""

import numpy as np
import pytest
from real_robots import FILES, REFUSED, WELDED, Pair, close, few
from sweeps import swept

import hinge
from hinge.identify import Log, excite, fit, parameters, pseudo_inertia, with_parameters

if not FILES:
    pytest.skip("example-robot-data is not installed", allow_module_level=True)

TERMS = ("armature", "damping", "friction", "stiffness")
MOVING = [file for file in FILES if file not in REFUSED and file not in WELDED]
SOME = ["ur_description/urdf/ur5_robot.urdf", "panda_description/urdf/panda.urdf",
        "talos_data/robots/talos_reduced.urdf",
        "tiago_description/robots/tiago.urdf", "kinova_description/robots/kinova.urdf"]  # fmt: skip
THEIRS = [0, 1, 2, 3, 4, 6, 9, 8, 7, 5]  # Pinocchio's xx, xy, yy, xz, yz, zz in our order xx, yy, zz, yz, xz, xy


@pytest.mark.parametrize("file", swept(MOVING, few))
def test_regressor_times_parameters_is_inverse_dynamics(file):
    robot = hinge.load(FILES[file])
    rng = np.random.default_rng(5)
    q, qd = robot.random_state(rng, 2)
    qdd = rng.normal(size=qd.shape)
    tau = robot.inverse_dynamics(q, qd, qdd, joint_terms=TERMS, backend="interpret", method="newton_euler")
    Y = robot.regressor(q, qd, qdd, joint_terms=TERMS, backend="interpret")
    close(Y @ parameters(robot, TERMS), tau, 1e-12)


@pytest.mark.sampled(4)
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


def logged(robot, motion, noise, rng):
    tau = robot.inverse_dynamics(*motion[1:], joint_terms=TERMS[:3])
    rough = noise * np.sqrt(np.mean(tau**2, axis=0)) * rng.normal(size=tau.shape)
    return Log(motion[0], motion[1], motion[2], tau + rough, motion[3])


def swinging(robot):
    """A motion within the limits that has nothing to do with the one that is fitted."""
    t, w = np.arange(400.0)[:, None] / 40.0, np.linspace(0.4, 3.0, robot.nv)
    middle = (robot.limits.lower + robot.limits.upper) / 2
    reach = 0.9 * (robot.limits.upper - middle)
    return t[:, 0], middle + reach * np.sin(w * t), reach * w * np.cos(w * t), -reach * w * w * np.sin(w * t)


@pytest.mark.sweep
def test_a_real_arm_is_fitted():
    """Panda: bodies of grams beside bodies of kilograms, fingers that follow each other, noise no bodies would make.

    Judged on another motion without noise: on joint 2 noise of 5 % is nearly as large as what the file gets wrong.
    """
    arm, rng, terms = hinge.load(FILES["panda_description/urdf/panda.urdf"]), np.random.default_rng(2), TERMS[:3]
    values, n = parameters(arm, terms), arm.model.count
    values[: 10 * n] *= np.repeat(rng.uniform(0.6, 1.5, n), 10)
    values[10 * n :] = rng.uniform(0.1, 1.0, len(values) - 10 * n)
    truth = with_parameters(arm, values, terms)
    motion, other = excite(arm, speed=2.0, joint_terms=terms, tries=1).sample(100.0), swinging(arm)
    made = fit(arm, logged(truth, motion, 0.0, rng), terms)
    want = made.base.values(values)
    assert np.all(made.base.scale * np.abs(made.base_values - want) <= 1e-6 * (made.base.scale * np.abs(want)).max())
    noisy = fit(arm, logged(truth, motion, 0.05, rng), terms, held_out=logged(truth, other, 0.0, rng))
    assert np.all(noisy.after <= 0.5 * noisy.before)
    assert np.all(np.linalg.eigvalsh(pseudo_inertia(noisy.parameters[: 10 * n].reshape(n, 10))) > 0.0)
