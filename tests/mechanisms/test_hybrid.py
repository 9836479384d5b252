"""Hybrid dynamics: at each joint the force or the acceleration is given. Source: featherstone1987, section 7.5.2."""

import numpy as np
import pytest
from machines import grown, machine, machines, near, refused, state, stiffness

import hinge

# many robots of a few calls each, which are not worth compiling
pytestmark = pytest.mark.usefixtures("plain_interpreter")

METHODS = ("articulated", "composite")
methods = pytest.mark.parametrize("method", METHODS)


@machines
@methods
def test_where_every_acceleration_is_known_it_is_inverse_dynamics(which, method):
    robot = machine(which)
    q, qd, qdd, junk = state(robot, 10, 4)
    tau, same = robot.hybrid_dynamics(q, qd, junk, qdd, np.ones(robot.nv, bool), method=method)
    near(tau, robot.inverse_dynamics(q, qd, qdd), 1e-12, 10.0)
    assert np.array_equal(same, qdd)


@machines
@methods
def test_where_every_force_is_known_it_is_forward_dynamics(which, method):
    robot = machine(which)
    q, qd, junk, tau = state(robot, 11, 4)
    same, qdd = robot.hybrid_dynamics(q, qd, tau, junk, np.zeros(robot.nv, bool), method=method)
    near(qdd, robot.forward_dynamics(q, qd, tau, method=method), 1e-14, stiffness(robot, q))
    assert np.array_equal(same, tau)


@machines
def test_random_masks_that_differ_by_row_and_split_joints_agree_between_methods(which):
    robot = machine(which)
    n = 24
    q, qd, qdd, tau = state(robot, 12, n)
    known = np.random.default_rng(13).integers(0, 2, (n, robot.nv)).astype(bool)
    several = [robot.coordinates(name)[1] for name in robot.joint_names]
    assert any(0 < row[at].sum() < at.stop - at.start for row in known for at in several)  # a joint is split
    made = [robot.hybrid_dynamics(q, qd, tau, qdd, known, method=method) for method in METHODS]
    for forces, accelerations in made:
        assert np.array_equal(accelerations[known], qdd[known])
        assert np.array_equal(forces[~known], tau[~known])
        near(robot.inverse_dynamics(q, qd, accelerations), forces, 1e-11, 100.0 + np.abs(accelerations).max())
    near(made[0][0], made[1][0], 1e-10, 10.0)
    near(made[0][1], made[1][1], 1e-10, 10.0)


@machines
def test_one_kernel_serves_every_mask(which):
    robot = hinge.Robot(machine(which).model)
    q, qd, qdd, tau = state(robot, 14)
    answers = set()
    for seed in range(5):
        known = np.random.default_rng(seed).integers(0, 2, robot.nv)
        answers.add(robot.hybrid_dynamics(q, qd, tau, qdd, known)[1].tobytes())
        assert len(robot.target.memo) == 1
    assert len(answers) > 1


# footnote 16: hybrid dynamics is the forward dynamics of a robot with rheonomic constraints

DRIVEN = [
    ("tree", ("joint1",), {}),
    ("tree", ("joint3", "joint5"), {}),
    ("tree", ("joint3",), {"joint2": [1], "joint4": [0], "joint5": [0, 2]}),
    ("odd", ("joint1", "joint3"), {"joint4": [1]}),
    ("odd", ("joint2",), {"joint4": [0, 2]}),
    ("slides", ("joint5",), {"joint1": [0, 2], "joint2": [1], "joint3": [0]}),
    ("floating", ("base",), {"joint2": [0]}),
    ("floating", ("joint1", "joint3"), {}),
]


@pytest.mark.parametrize(("which", "whole", "parts"), DRIVEN)
@methods
def test_it_is_the_forward_dynamics_of_the_robot_with_those_joints_driven(which, whole, parts, method):
    robot = machine(which)
    driven = robot.prescribe(*whole, **parts)
    known, held = np.zeros(robot.nv, bool), np.zeros(robot.nq, bool)
    for name, numbers in [*((name, None) for name in whole), *parts.items()]:
        at_q, at_v = robot.coordinates(name)
        if numbers is None:
            known[at_v] = held[at_q] = True
        else:
            known[at_v.start + np.array(numbers)] = held[at_q.start + np.array(numbers)] = True
    assert (driven.nq, driven.nv) == (robot.nq - held.sum(), robot.nv - known.sum())
    q, qd, qdd, tau = state(robot, 15, 3)
    forces, accelerations = robot.hybrid_dynamics(q, qd, tau, qdd, known, method=method)
    given = q[:, held], qd[:, known], qdd[:, known]
    made = driven.forward_dynamics(q[:, ~held], qd[:, ~known], tau[:, ~known], prescribed=given, method=method)
    near(made, accelerations[:, ~known], 1e-10, 10.0)
    back = driven.inverse_dynamics(q[:, ~held], qd[:, ~known], made, prescribed=given)
    near(back, forces[:, ~known], 1e-11, 100.0)


# what else a call may have


@methods
def test_external_forces_base_motion_and_joint_terms_are_in(method):
    robot = grown(20, ("revolute", "universal", "prismatic"), damping=0.4, friction=0.3, stiffness=2.0, armature=0.1)
    rng = np.random.default_rng(21)
    q, qd, qdd, tau = state(robot, 22, 6)
    known = rng.integers(0, 2, qd.shape)
    more = {
        "external": {"link2": rng.normal(size=6)}, "base_motion": (rng.normal(size=6), rng.normal(size=6)),
        "joint_terms": ("armature", "damping", "friction", "stiffness"),
    }  # fmt: skip
    forces, accelerations = robot.hybrid_dynamics(q, qd, tau, qdd, known, method=method, **more)
    near(robot.inverse_dynamics(q, qd, accelerations, **more), forces, 1e-14, stiffness(robot, q))
    plain = robot.hybrid_dynamics(q, qd, tau, qdd, known, method=method)
    assert np.abs(plain[1] - accelerations).max() > 0.1


def test_coupled_joints_are_served_by_the_composite_method_with_leaders_alone_in_the_mask():
    robot = machine("coupled")
    q, qd, qdd, tau = state(robot, 23, 10)
    known = np.random.default_rng(24).integers(0, 2, qd.shape).astype(bool)
    forces, accelerations = robot.hybrid_dynamics(q, qd, tau, qdd, known)
    assert np.array_equal(accelerations[known], qdd[known])
    assert np.array_equal(forces[~known], tau[~known])
    near(robot.inverse_dynamics(q, qd, accelerations), forces, 1e-14, stiffness(robot, q))
    assert refused(hinge.NotCovered, robot.hybrid_dynamics, q, qd, tau, qdd, known, method="articulated") == (
        "hybrid_dynamics: method 'articulated' does not cover robot 'machine': joint 'joint3' follows another.\n"
        "  Use 'composite'."
    )


def test_the_kind_of_truth_in_the_mask_does_not_matter():
    robot = machine("tree")
    q, qd, qdd, tau = state(robot, 25)
    mask = np.arange(robot.nv) % 2
    made = [robot.hybrid_dynamics(q, qd, tau, qdd, known) for known in (mask, mask.astype(bool), mask * 1.0, [*mask])]
    for forces, accelerations in made[1:]:
        assert np.array_equal(forces, made[0][0])
        assert np.array_equal(accelerations, made[0][1])


def test_a_joint_of_known_acceleration_needs_no_inertia_beyond_it():
    """(7.36): bodies whose relative acceleration is known are rigidly connected, so nothing is divided by zero."""
    builder = hinge.Builder("light")
    builder.link("base")
    builder.link("arm", mass=2.0, com=(0.5, 0, 0), inertia=np.diag([0.0, 0.2, 0.2]))
    builder.link("needle")
    builder.joint("hinge", "revolute", "base", "arm")
    builder.joint("pointer", "revolute", "arm", "needle", (1, 0, 0))
    robot = hinge.Robot(builder.build())
    for method in METHODS:
        _, qdd = robot.hybrid_dynamics([0.3, 0.1], [1.0, 2.0], [0.7, 0.0], [0.0, 5.0], [0, 1], method=method)
        near(qdd, [0.7 / 0.7, 5.0], 1e-13)
