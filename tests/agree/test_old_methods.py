"""The older equation sets on real robots: the same joint forces as Newton and Euler's."""

import numpy as np
import pytest
from real_robots import FILES, ROOT, close
from sweeps import swept

import hinge
from hinge.robot import ALGORITHMS

OTHERS = ("hinge.formulations", "hinge.dynamics.turney", "hinge.dynamics.resolved_motion")  # other sets of equations

ROBOTS = {
    "ur5": "ur_description/urdf/ur5_robot.urdf",
    "panda": "panda_description/urdf/panda.urdf",  # two fingers, one of which follows the other
    "baxter": "baxter_description/urdf/baxter.urdf",  # a tree
}
INVERSE = ALGORITHMS["inverse_dynamics"]
METHODS = [m for m, a in INVERSE.items() if a.function.__module__.startswith(OTHERS)]


@pytest.fixture(scope="module", params=swept(ROBOTS, lambda name: name != "baxter"))
def robot(request):
    if not ROOT.is_dir():
        pytest.skip("example-robot-data is not installed")
    return hinge.load(FILES[ROBOTS[request.param]])


@pytest.mark.sampled(4)
@pytest.mark.parametrize("method", METHODS)
def test_the_joint_forces_are_those_of_newton_and_euler(robot, method):
    if why := INVERSE[method].refuses(robot.model):
        pytest.skip(why)
    rng = np.random.default_rng(2)
    q, qd = robot.random_state(rng, 2)
    qdd = rng.normal(size=qd.shape)
    old, new = (robot.inverse_dynamics(q, qd, qdd, method=m, backend="interpret") for m in (method, "newton_euler"))
    close(old, new, 1e-10)


def test_machine_code_agrees(robot):
    rng = np.random.default_rng(3)
    q, qd = robot.random_state(rng, 5)
    qdd = rng.normal(size=qd.shape)
    for method in ("hollerbach", "silver"):
        made = robot.inverse_dynamics(q, qd, qdd, method=method, backend="llvm")
        close(made, robot.inverse_dynamics(q, qd, qdd, backend="interpret"), 1e-10)
    parts = robot.force_parts(q, qd, qdd, backend="llvm")
    close(sum(parts), robot.inverse_dynamics(q, qd, qdd, backend="interpret"), 1e-10)
