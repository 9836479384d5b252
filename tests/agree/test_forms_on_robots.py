"""The other forms of Newton's and Euler's equations on real robots, against the first ones of each kind."""

import functools

import numpy as np
import pytest
from real_robots import FILES, close
from sweeps import swept

import hinge

URDF = {
    "UR5": ("ur_description/urdf/ur5_robot.urdf", "fixed"),
    "Panda": ("panda_description/urdf/panda.urdf", "fixed"),  # a finger follows the other
    "Talos": ("talos_data/robots/talos_reduced.urdf", "fixed"),
    "iCub": ("icub_description/robots/icub_reduced.urdf", "floating"),
}
FORMS = {
    "inverse_dynamics": ("newton_euler", ("turney", "newton_euler_base", "newton_euler_orin", "luh")),
    "mass_matrix": ("composite", ("composite_base", "strobe", "strobe_symmetric", "jacobians")),
    "forward_dynamics": ("composite", ("articulated_base", "articulated_static", "strobe", "nasser")),
}
NOT_COVERED = {  # robot → method → the joint that is not
    "Panda": dict.fromkeys(("articulated_base", "articulated_static", "nasser"), "panda_finger_joint2"),
    "iCub": dict.fromkeys(("luh", "nasser"), "base"),
}
if not FILES:
    pytest.skip("example-robot-data is not installed", allow_module_level=True)


@functools.cache
def robot_named(name):
    return hinge.load(FILES[URDF[name][0]], base=URDF[name][1])


@pytest.mark.parametrize("robot", swept(URDF, {"UR5", "Panda"}.__contains__))
@pytest.mark.parametrize(("name", "method"), [(n, m) for n, (_, methods) in FORMS.items() for m in methods])
def test_a_form_agrees_with_the_first(name, method, robot):
    joint = NOT_COVERED.get(robot, {}).get(method)
    robot = robot_named(robot)
    rng = np.random.default_rng(4)
    q, qd = robot.random_state(rng, 3)
    given = (q,) if name == "mass_matrix" else (q, qd, rng.normal(size=qd.shape))
    call = functools.partial(getattr(robot, name), *given, backend="interpret")
    if joint:
        with pytest.raises(hinge.NotCovered, match=f"joint '{joint}'"):
            call(method=method)
        return
    close(call(method=method), call(method=FORMS[name][0]), 1e-10)


def test_conjugate_gradients_agree_on_an_arm():
    robot = robot_named("UR5")
    rng = np.random.default_rng(4)
    q, qd = robot.random_state(rng, 3)
    call = functools.partial(robot.forward_dynamics, q, qd, rng.normal(size=qd.shape), backend="interpret")
    close(call(method="conjugate_gradient"), call(method="composite"), 1e-10)
