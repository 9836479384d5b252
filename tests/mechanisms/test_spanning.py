"""Mechanisms given as graphs: which joints are cut, and that the motion is the same whichever are."""

from itertools import combinations

import numpy as np
import pytest

import hinge

# many robots of a few calls each, which are not worth compiling
pytestmark = pytest.mark.usefixtures("plain_interpreter")

UP = (0.0, -1.0, 0.0)


def ring(**given):
    """The four-bar of the samples, as a ring of four hinges in an order of no meaning."""
    builder = hinge.Builder("four_bar")
    builder.link("base")
    for name, length in (("crank", 1.0), ("coupler", 2.5), ("rocker", 2.0)):
        inertia = length**2 / 12
        builder.link(name, 1.0, (length / 2, 0, 0), np.diag([1e-3 * inertia, inertia, inertia]))
    builder.joint("pin", "revolute", "rocker", "coupler", (2.0, 0, 0), axis=UP, child_xyz=(-2.5, 0, 0))
    builder.joint("rocker", "continuous", "base", "rocker", (2.2, 0, 0), axis=UP)
    builder.joint("coupler", "continuous", "crank", "coupler", (1.0, 0, 0), axis=UP)
    builder.joint("crank", "continuous", "base", "crank", axis=UP)
    return hinge.Robot(builder.build(loops=True, **given))


def state():
    robot = hinge.samples.four_bar()
    q = robot.assemble([0.5, 0.5, 1.5], hold=["crank"], strict=True).q
    q, qd = robot.loop_project(q, [1.0, 0.0, 0.0])
    return robot, q, qd, np.array([0.4, -0.3, 0.7])


def placed(robot, values):
    made = np.zeros(robot.nv)
    for name, value in values.items():
        if name in robot.joint_names:
            made[robot.coordinates(name)[1]] = value
    return made


def test_powered_joints_stay_in_the_tree_and_the_ring_is_the_sample():
    sample, q, qd, tau = state()
    robot = ring(powered=["crank", "coupler", "rocker"])
    assert [loop.name for loop in robot.loops] == ["pin"]
    assert set(robot.joint_names) == {"crank", "coupler", "rocker"}
    q2, qd2, tau2 = (placed(robot, dict(zip(sample.joint_names, x, strict=True))) for x in (q, qd, tau))
    assert np.abs(robot.loop_gap(q2)).max() < 1e-12
    wanted, forces = sample.loop_dynamics(q, qd, tau)
    qdd, found = robot.loop_dynamics(q2, qd2, tau2)
    np.testing.assert_allclose(qdd, placed(robot, dict(zip(sample.joint_names, wanted, strict=True))), atol=1e-10)
    assert np.linalg.norm(found) == pytest.approx(np.linalg.norm(forces), rel=1e-9)


@pytest.mark.parametrize("cut", ["crank", "coupler", "rocker"])
def test_whichever_joint_is_cut_the_bodies_move_alike(cut):
    """A joint that the tree passes backwards keeps its coordinate."""
    sample, q, qd, _ = state()
    others = [name for name in ("pin", "rocker", "coupler", "crank") if name != cut]
    robot = ring(powered=others)
    assert [loop.name for loop in robot.loops] == [cut]
    angles = dict(zip(sample.joint_names, q, strict=True)) | {"pin": q[0] + q[1] - q[2]}
    rates = dict(zip(sample.joint_names, qd, strict=True)) | {"pin": qd[0] + qd[1] - qd[2]}
    q2, qd2 = placed(robot, angles), placed(robot, rates)
    assert np.abs(robot.loop_gap(q2)).max() < 1e-12
    for link in ("crank", "coupler", "rocker"):
        np.testing.assert_allclose(robot.pose(q2, link), sample.pose(q, link), atol=1e-12)
    wanted = sample.loop_dynamics(q, qd, np.zeros(3))[0]
    accelerations = dict(zip(sample.joint_names, wanted, strict=True)) | {"pin": wanted[0] + wanted[1] - wanted[2]}
    np.testing.assert_allclose(robot.loop_dynamics(q2, qd2, np.zeros(3))[0], placed(robot, accelerations), atol=1e-10)


def square(kinds):
    builder = hinge.Builder("square")
    for k in range(4):
        builder.link(f"l{k}", 1.0, inertia=np.eye(3))
    for k, kind in enumerate(kinds):
        builder.joint(f"j{k}", kind, f"l{k}", f"l{(k + 1) % 4}", (1.0, 0, 0))
    return builder


def test_the_joint_with_the_fewest_constraints_is_cut():
    robot = hinge.Robot(square(["revolute", "prismatic", "cylindrical", "revolute"]).build(loops=True))
    assert [(loop.name, loop.size) for loop in robot.loops] == [("j2", 4)]
    assert robot.joint_names == ("j0", "j1", "j3")  # the ring is opened at j2 and j3 is passed backwards
    assert robot.model.body_name[0] == "world"


def test_fewer_constraints_count_for_more_than_power_and_power_for_more_than_order():
    kinds = ["revolute", "cylindrical", "revolute", "revolute"]
    assert square(kinds).build(loops=True, powered=["j1"]).loops[0].name == "j1"
    assert square(kinds).build(loops=True, powered=["j1"]).loops[0].powered
    assert square(["revolute"] * 4).build(loops=True).loops[0].name == "j3"
    assert square(["revolute"] * 4).build(loops=True, powered=["j3", "j2"]).loops[0].name == "j1"


def test_no_other_choice_has_fewer_constraints():
    """All spanning trees of a random graph, one by one."""
    rng = np.random.default_rng(3)
    sizes = {"revolute": 5, "prismatic": 5, "cylindrical": 4}
    for _ in range(10):
        builder, edges = hinge.Builder("graph"), []
        for k in range(5):
            builder.link(f"l{k}", 1.0, inertia=np.eye(3))
        for k in range(8):
            a, b = (int(x) for x in rng.choice(5, 2, replace=False)) if k > 3 else (k, k + 1)
            kind = str(rng.choice(["revolute", "prismatic", "cylindrical"]))
            builder.joint(f"j{k}", kind, f"l{a}", f"l{b}")
            edges.append((a, b, sizes[kind]))
        made = builder.build(loops=True)

        def spans(chosen, edges=edges):
            reached = {0}
            for _ in range(5):
                reached |= {x for k in chosen for x in edges[k][:2] if reached & set(edges[k][:2])}
            return len(reached) == 5

        every = sum(edge[2] for edge in edges)
        best = min(every - sum(edges[k][2] for k in tree) for tree in combinations(range(8), 4) if spans(tree))
        assert made.loop_rows == best


def test_what_cannot_be_cut_or_turned_around_is_refused_by_name():
    with pytest.raises(hinge.ModelError, match=r"powered joint 'j7' does not exist"):
        square(["revolute"] * 4).build(loops=True, powered=["j7"])
    with pytest.raises(hinge.ModelError, match=r"was given without loops=True"):
        square(["revolute"] * 3).build(powered=["j1"])
    with pytest.raises(hinge.ModelError, match=r"powered='j1' is one name"):
        square(["revolute"] * 4).build(loops=True, powered="j1")
    with pytest.raises(hinge.ModelError, match=r"joint 'j2' leads from .* a universal joint cannot be turned around"):
        square(["revolute", "spherical", "universal", "revolute"]).build(loops=True)
    with pytest.raises(hinge.ModelError, match=r"loop 'j3' joins 'l3' and 'l0', which are one rigid body"):
        square(["fixed", "fixed", "fixed", "revolute"]).build(loops=True)
    lone = square(["revolute"] * 4)
    lone.link("lone", 1.0, inertia=np.eye(3))
    with pytest.raises(hinge.ModelError, match="are carried by no joint"):
        lone.build(loops=True)


def test_what_a_cut_joint_says_besides_is_a_finding():
    builder = square(["revolute"] * 3)
    builder.joint("last", "revolute", "l3", "l0", damping=0.2)
    assert [f.code for f in builder.build(loops=True).report] == ["cut-joint"]
    with pytest.raises(hinge.ModelError, match="joint 'last' closes a loop: its limits, damping"):
        builder.build(loops=True, strict=True)
