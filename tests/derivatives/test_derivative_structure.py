"""What derivatives cost, and which of their entries are zeros that are never computed."""

import numpy as np
import pytest
from hypothesis import given
from real_robots import FILES
from robots import drawn, families, law, seeds
from sweeps import swept

import hinge

NAMES = ("inverse_dynamics_derivatives", "forward_dynamics_derivatives")
ROBOTS = {
    "ur5": "ur_description/urdf/ur5_robot.urdf",
    "panda": "panda_description/urdf/panda.urdf",
    "g1": "g1_description/urdf/g1_29dof_rev_1_0.urdf",
    "talos": "talos_data/robots/talos_reduced.urdf",
}
# multiplications and additions with inertia regrouped: of inverse and of forward dynamics
MOST = {"ur5": (1219, 2276), "panda": (2753, 4701), "g1": (16852, 31368), "talos": (15785, 30713)}
CASES = [(which, "fixed") for which in ROBOTS]
CASES += [(which, "floating") for which in ("panda", "g1", "talos")]  # the other's base has no inertia
real = pytest.mark.skipif(not FILES, reason="example-robot-data is not installed")


def loaded(which, base="fixed"):
    robot = hinge.load(FILES[ROBOTS[which]], base=base, mimic="free")
    fingers = ("panda_finger_joint1", "panda_finger_joint2")
    return robot.lock(dict.fromkeys(fingers, 0.0)) if which == "panda" else robot


def zeros(robot, name):
    """Which entries are the number 0.0 and no value of the program."""
    (out,) = hinge.dynamics.choose(robot.model, name).trace(robot.target.traced, guard=False).outputs
    return np.array([type(e) is float and e == 0.0 for e in out.entries]).reshape(out.shape)


@pytest.mark.sampled(2)
@real
@pytest.mark.parametrize("which", MOST)
def test_slopes_cost_no_more_than_they_did(which):
    for name, most in zip(NAMES, MOST[which], strict=True):
        cost = loaded(which).cost(name, regroup=True)
        assert cost.mul + cost.add <= most


@families
@given(seed=seeds)
@law(2)
def test_joints_of_different_branches_have_nothing_to_do_with_each_other(family, seed):
    robot, *_ = drawn(family, seed)
    model, made = robot.model, zeros(robot, NAMES[0])
    apart = np.ones((robot.nv, robot.nv), bool)
    for i, _ in model.outward():
        for j, _ in model.outward():
            if j in model.subtree[i] or i in model.subtree[j]:
                apart[model.slices[i][1], model.slices[j][1]] = False
    assert made[np.hstack([apart] * 3)].all()
    steady = {j.kind for j in model.joint[1:]} <= {"revolute", "continuous"}
    assert not steady or not made[:, 2 * robot.nv :][~apart].all()


@pytest.mark.sampled(1)
@real
@pytest.mark.parametrize("case", swept(CASES, {CASES[0], CASES[2], CASES[4]}.__contains__), ids="-".join)
def test_what_is_zero_in_every_state_is_not_computed(case):
    robot = loaded(*case)
    rng = np.random.default_rng(1)
    q, qd = robot.random_state(rng, 6)
    x = rng.normal(size=qd.shape)
    for name in NAMES:
        made, _ = robot.target.evaluate(name, (q, qd, x), (), backend="interpret")
        small = np.abs(made) <= 1e-13 * np.abs(made).max(axis=(1, 2), keepdims=True)
        assert np.array_equal(small.all(axis=0), zeros(robot, name))
