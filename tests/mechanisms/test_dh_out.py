"""Denavit-Hartenberg tables out of a robot: the arm of the table is the arm. Source: featherstone1987, 8.2.1."""

import numpy as np
import pytest
from machines import grown, machine, near, refused, state

import hinge

# many robots of a few calls each, which are not worth compiling
pytestmark = pytest.mark.usefixtures("plain_interpreter")


def again(robot):
    return hinge.dh(**robot.to_dh()._asdict())


def same_arm(robot, seed):
    """The arm of the table has the same forces, and its tool is the last link."""
    made = again(robot)
    assert (made.nq, made.nv) == (robot.nq, robot.nv)
    q, qd, qdd, tau = state(robot, seed, 3)
    near(made.inverse_dynamics(q, qd, qdd), robot.inverse_dynamics(q, qd, qdd), 1e-11, 50.0)
    near(made.mass_matrix(q), robot.mass_matrix(q), 1e-12, 10.0)
    near(made.pose(q, "tool"), robot.pose(q, robot.body_names[-1]), 1e-12, 3.0)
    near(made.jacobian(q, "tool"), robot.jacobian(q, robot.body_names[-1]), 1e-12, 3.0)
    near(made.potential_energy(q), robot.potential_energy(q), 1e-11, 50.0)
    near(made.forward_dynamics(q, qd, tau), robot.forward_dynamics(q, qd, tau), 1e-7)
    return made


def test_the_puma_comes_back():
    puma = hinge.samples.puma560()
    table = puma.to_dh()
    assert table.convention == "modified"
    assert [row["type"] for row in table.rows] == ["revolute"] * 6
    made = same_arm(puma, 190)
    terms = {"joint_terms": ("armature", "damping")}
    q, qd, qdd, _ = state(puma, 191)
    near(made.inverse_dynamics(q, qd, qdd, **terms), puma.inverse_dynamics(q, qd, qdd, **terms), 1e-11, 50.0)
    near(made.limits.lower, puma.limits.lower, 0.0)
    near(made.limits.upper, puma.limits.upper, 0.0)
    assert made.joint_names == puma.joint_names


@pytest.mark.parametrize("kind", ["revolute", "continuous", "prismatic", "helical", "cylindrical"])
def test_a_general_chain_comes_back(kind):
    same_arm(grown(192, (kind,) * 4), 193)


@pytest.mark.parametrize("seed", range(3))
def test_a_mixed_chain_comes_back(seed):
    kinds = np.random.default_rng(seed).permutation(["revolute", "prismatic", "helical", "cylindrical", "revolute"])
    same_arm(grown(194 + seed, [str(k) for k in kinds], armature=0.1), 195)


def test_a_chain_of_parallel_and_crossing_axes_comes_back():
    builder = hinge.Builder("square")
    builder.link("base")
    at = "base"
    steps = [((0, 0, 0.3), (0, 0, 1)), ((0.4, 0, 0.1), (0, 0, 1)), ((0.3, 0.2, 0.5), (0, 0, -1)),
             ((0, 0, 0.2), (0, 1, 0)), ((0.1, 0, 0), (0, 1, 0)), ((0, 0, 0), (1, 0, 0))]  # fmt: skip
    for k, (xyz, axis) in enumerate(steps):
        builder.link(f"l{k}", 1.0 + k, (0.1, 0.2, 0.3), np.diag([0.1, 0.12, 0.13]))
        builder.joint(f"j{k}", "prismatic" if k == 3 else "revolute", at, f"l{k}", xyz, axis=axis)
        at = f"l{k}"
    made = same_arm(hinge.Robot(builder.build()), 196)
    rows = again(made).to_dh().rows
    assert sum(abs(row.get("alpha", 0.0)) < 1e-12 for row in rows) >= 2  # parallel neighbours


def test_a_table_of_a_table_is_the_table():
    first = grown(197, ("revolute", "helical", "prismatic")).to_dh()
    second = hinge.dh(**first._asdict()).to_dh()
    near(second.base, first.base, 1e-12)
    for a, b in zip(first.rows, second.rows, strict=True):
        assert a["type"] == b["type"]
        for key in ("a", "alpha", "d", "theta", "mass"):
            near(b.get(key, 0.0), a.get(key, 0.0), 1e-12)
    assert first.rows[1]["pitch"] == second.rows[1]["pitch"] == 0.13


def test_a_table_has_four_numbers_a_joint_and_twelve_more():
    """8.2.1: 4n + 6 numbers define the kinematics; here the first joint's four are in the base's pose."""
    table = grown(198, ("revolute",) * 5).to_dh()
    near(table.base[:3, :3] @ table.base[:3, :3].T, np.eye(3), 1e-13)
    assert not {"a", "alpha", "d", "theta"} & set(table.rows[0])
    for row in table.rows[1:]:
        assert {"a", "alpha", "d", "theta"} <= set(row)


# what has no table


def test_a_tree_has_no_table():
    assert refused(hinge.NotCovered, grown(199, ("revolute",) * 3, (0, 1, 1), name="fork").to_dh) == (
        "robot 'fork' has no Denavit-Hartenberg table: it branches at body 'link1'."
    )


def test_a_robot_on_a_free_joint_has_no_table():
    assert refused(hinge.NotCovered, grown(199, ("revolute",), base="floating", name="buoy").to_dh) == (
        "robot 'buoy' has no Denavit-Hartenberg table: joint 'base' is free."
    )


@pytest.mark.parametrize("kind", ["spherical", "planar", "universal", "rolling"])
def test_a_joint_without_a_line_has_no_row(kind):
    assert refused(hinge.NotCovered, grown(199, ("revolute", kind), name="odd").to_dh) == (
        f"robot 'odd' has no Denavit-Hartenberg table: joint 'joint2' is {kind}."
    )


def test_a_coupled_or_driven_or_empty_robot_has_no_table():
    two = grown(199, ("revolute", "revolute"), mimic={2: ("joint1", 2.0, 0.0)}, name="geared")
    assert refused(hinge.NotCovered, two.to_dh) == (
        "robot 'geared' has no Denavit-Hartenberg table: joint 'joint2' follows another."
    )
    driven = grown(199, ("revolute", "revolute"), name="led").prescribe("joint1")
    assert refused(hinge.NotCovered, driven.to_dh) == (
        "robot 'led' has no Denavit-Hartenberg table: joint 'joint1' is driven revolute."
    )
    statue = machine("slides").lock(machine("slides").joint_names)
    assert refused(hinge.NotCovered, statue.to_dh) == (
        "robot 'machine' has no Denavit-Hartenberg table: nothing moves."
    )
