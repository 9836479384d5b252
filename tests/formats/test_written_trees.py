"""Robots of every kind written and read back: the coordinates, the names and the dynamics are the same."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from round_trip import MJCF, ONE, SPLIT, again, codes, difference, plainly, same_dynamics, same_names, seated

import hinge
from hinge.model import JOINTS, Builder
from hinge.model.samples import _random_body
from hinge.spatial import Mat3
from hinge.spatial.rotation import (
    quaternion_from_rotation,
    rotation_from_quaternion,
    rotation_from_rpy,
    rpy_from_rotation,
)

URDF = (*ONE, *SPLIT, "spherical", "planar", "free")
KINDS = {".urdf": URDF, ".xml": MJCF}
formats = pytest.mark.parametrize("suffix", KINDS)
ODD = ("a b", "<&>", "\"quoted\" 'twice'", "größe ∑ 机器人", "tab\there", "new\nline", "x/y:z", "()", "a(b)", "0", "-")


def law(examples):
    return settings(derandomize=True, deadline=None, max_examples=examples, database=None)


@formats
@law(12)
@given(seed=st.integers(0, 2**32 - 1))
def test_a_random_tree_comes_back(suffix, tmp_path_factory, seed):
    rng = np.random.default_rng(seed)
    robot = hinge.samples.random_tree(rng, int(rng.integers(1, 7)), KINDS[suffix])
    made, _ = again(robot, tmp_path_factory.mktemp("tree"), suffix)
    same_dynamics(robot, made, seed)
    assert not set(robot.model.frames) - set(made.model.frames)


@pytest.mark.sampled(1)
@formats
@law(12)
@given(seed=st.integers(0, 2**32 - 1))
def test_a_link_may_have_its_frame_anywhere(suffix, tmp_path_factory, seed):
    rng = np.random.default_rng(seed)
    kinds = [str(kind) for kind in rng.choice(KINDS[suffix], int(rng.integers(1, 6)))]
    robot = seated(rng, kinds)
    made, _ = again(robot, tmp_path_factory.mktemp("tree"), suffix)
    same_dynamics(robot, made, seed)
    q, _ = robot.random_state(rng, 1)
    for name in ("tip", *robot.body_names):
        np.testing.assert_allclose(made.pose(q[0], name), robot.pose(q[0], name), rtol=0, atol=1e-13)


@formats
def test_what_is_written_twice_is_the_same(suffix, tmp_path):
    robot = seated(np.random.default_rng(3), KINDS[suffix][:10])
    made, _ = again(robot, tmp_path, suffix)
    first = (tmp_path / f"robot{suffix}").read_text()
    again(made, tmp_path, suffix)
    second = (tmp_path / f"robot{suffix}").read_text()
    assert [line.split("=")[0] for line in first.splitlines()] == [line.split("=")[0] for line in second.splitlines()]


def test_a_joint_of_a_body_needs_no_link_in_mjcf(tmp_path):
    """Where an axis misses a link's origin URDF needs a link more; MJCF has a place for a joint, and for several."""
    robot = seated(np.random.default_rng(4), ["revolute", "universal", "prismatic"])
    bodies, report = again(robot, tmp_path, ".xml")
    assert "helper-link" not in codes(report)
    assert set(bodies.model.links) == {"world", *robot.model.links, "link2(joint2_1)"}
    links, report = again(robot, tmp_path, ".urdf")
    assert "helper-link" in codes(report)
    assert set(links.model.links) - set(robot.model.links) == {
        "link1(joint1)",
        "link2(joint2_1)",
        "link2(joint2_2)",
        "tip",
    }
    back, report = again(links, tmp_path, ".xml")
    assert "helper-link" not in codes(report)
    assert set(back.model.links) == {*bodies.model.links, "tip"}
    same_dynamics(robot, back)


@pytest.mark.parametrize("suffix", [".urdf", ".xml"])
def test_a_ball_with_a_link_turned_on_it_keeps_its_quaternion(suffix, tmp_path):
    robot = seated(np.random.default_rng(5), ["spherical", "revolute", "spherical"])
    made, report = again(robot, tmp_path, suffix)
    assert "helper-link" in codes(report)
    same_dynamics(robot, made)


@formats
def test_joint_data_comes_back(suffix, tmp_path):
    options = {
        "damping": lambda j: 0.1, "friction": lambda j: 0.2, "stiffness": lambda j: 0.3, "armature": lambda j: 0.4,
        "lower": lambda j: -1.0 if j.nq == 1 else None, "upper": lambda j: 2.0 if j.nq == 1 else None,
        "effort": lambda j: 50.0 if j.nq == 1 else None,
    }  # fmt: skip
    robot = seated(np.random.default_rng(6), ["revolute", "prismatic", "spherical"], **options)
    made, _ = again(robot, tmp_path, suffix)
    for ours, theirs in zip(made.model.data[1:], robot.model.data[1:], strict=True):
        for key in ("lower", "upper", "effort", "damping", "friction", "stiffness", "armature"):
            assert getattr(ours, key) == getattr(theirs, key)
    terms = {"joint_terms": ("armature", "damping", "stiffness")}
    q, qd = robot.random_state(np.random.default_rng(7), 1)
    given = q[0], qd[0], qd[0]
    ours, theirs = made.inverse_dynamics(*given, **terms), robot.inverse_dynamics(*given, **terms)
    np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-12 * np.abs(theirs).max())


def test_references_and_rests_come_back_from_mjcf(tmp_path):
    options = {
        "reference": lambda j: 0.7 if j.nq == 1 else None,
        "rest": lambda j: -0.2 if j.nq == 1 else None,
        "stiffness": lambda j: 5.0,
    }
    robot = seated(np.random.default_rng(8), ["revolute", "prismatic", "universal", "revolute"], **options)
    made, report = again(robot, tmp_path, ".xml")
    same_dynamics(robot, made)
    np.testing.assert_array_equal(made.neutral(), robot.neutral())
    rests = dict(zip(made.joint_names, (tuple(made.model.slack(i)) for i, _ in made.model.outward()), strict=True))
    assert rests == dict.fromkeys(("joint1", "joint2", "joint4"), (-0.2,)) | {"joint3_1": (0.0,), "joint3_2": (0.0,)}
    assert codes(report) == ["split"]
    flat, report = again(robot, tmp_path, ".urdf")
    same_dynamics(robot, flat)
    assert {"reference", "rest"} <= set(codes(report))


@formats
def test_gravity(suffix, tmp_path):
    robot = seated(np.random.default_rng(9), ["revolute", "revolute"], gravity=(0.5, 0.0, -1.62))
    made, report = again(robot, tmp_path, suffix)
    if suffix == ".urdf":
        (finding,) = (f for f in report if f.code == "gravity")
        assert str(finding) == (
            "warning: robot 'seated': URDF has no word for its gravity (0.5, 0, -1.62).\n  Read it with "
            "gravity=(0.5, 0, -1.62)."
        )
        made = hinge.load(tmp_path / "robot.urdf", gravity=robot.model.gravity)
    same_dynamics(robot, made)


@formats
def test_edited_robots_come_back(suffix, tmp_path):
    robot = seated(np.random.default_rng(10), ["revolute"] * 5)
    loaded = robot.with_payload("tip", 2.0, (0.1, 0.0, 0.0), np.diag([0.1, 0.2, 0.2]))
    made, report = again(loaded, tmp_path, suffix)
    assert "inertia" in codes(report)
    same_dynamics(loaded, made)
    locked = robot.lock({"joint2": 0.3})
    made, report = again(locked, tmp_path, suffix)
    assert "inertia" not in codes(report)
    same_dynamics(locked, made)
    both = robot.attach(robot, "tip", prefix="second_")
    made, _ = again(both, tmp_path, suffix)
    same_names(both, made)
    same_dynamics(both, made)


@formats
def test_coordinates_that_cannot_keep_their_order_are_named(suffix, tmp_path):
    fork = Builder("fork")
    for name in ("base", "trunk", "left", "right"):
        fork.link(name, **_random_body(np.random.default_rng(1)))
    for joint, parent, child in (("j1", "base", "trunk"), ("j2", "trunk", "left"), ("j3", "trunk", "right")):
        fork.joint(joint, "revolute", parent, child, (0, 0, 1), axis=(0, 1, 0))
    robot = hinge.Robot(fork.build())
    both = robot.attach(hinge.samples.pendulum(1), "left", prefix="p_")
    made, report = again(both, tmp_path, suffix)
    assert made.joint_names == ("j1", "j2", "p_joint1", "j3")
    (finding,) = (f for f in report if f.code == "order")
    assert finding.what.startswith("joint 'j3': a file has coordinates depth first")
    order = [0, 1, 3, 2]
    q = np.array([0.1, 0.2, 0.3, 0.4])
    ours, theirs = plainly(made, "mass_matrix", q[order]), plainly(both, "mass_matrix", q)
    np.testing.assert_allclose(ours.reshape(4, 4), theirs.reshape(4, 4)[np.ix_(order, order)], rtol=0, atol=1e-13)


def test_a_planar_joint_of_mjcf_has_its_coordinates_in_another_order(tmp_path):
    robot = hinge.samples.random_tree(np.random.default_rng(11), 1, ("planar",))
    made, report = again(robot, tmp_path, ".xml")
    assert codes(report) == ["split", "order"]
    q, qd = (x[0] for x in robot.random_state(np.random.default_rng(12), 1))
    order = [1, 2, 0]
    ours, theirs = plainly(made, "bias_force", q[order], qd[order]), plainly(robot, "bias_force", q, qd)
    np.testing.assert_allclose(ours, theirs[order], rtol=0, atol=1e-12 * np.abs(theirs).max())


@formats
def test_joints_that_follow_others(suffix, tmp_path):
    builder = Builder("geared")
    builder.link("base")
    for k, mimic in enumerate([None, ("joint1", -2.0, 0.3), ("joint2", 0.5, 0.1)], start=1):
        builder.link(f"link{k}", **_random_body(np.random.default_rng(k)))
        parent = f"link{k - 1}" if k > 1 else "base"
        builder.joint(f"joint{k}", "revolute", parent, f"link{k}", (0, 0, 0.5), axis=(0, 1, 0),
                      reference=0.1 * k, lower=-3, upper=3, mimic=mimic)  # fmt: skip
    robot = hinge.Robot(builder.build())
    made, report = again(robot, tmp_path, suffix)
    if suffix == ".xml":
        assert made.nv == 3
        assert codes(report) == ["mimic"]
        made, report = again(made, tmp_path, ".urdf")
        assert "mimic" in codes(report)
    assert made.nv == 1
    same_dynamics(robot, made)


@pytest.mark.parametrize("suffix", [".urdf", ".xml", ".toml"])
@pytest.mark.parametrize("name", ODD)
def test_names_may_have_any_character(name, suffix, tmp_path):
    builder = Builder(name)
    builder.link("base")
    at = "base"
    for k in (1, 2):
        builder.link(f"{name}{k}", **_random_body(np.random.default_rng(k)))
        builder.joint(f"{name}{k}", "revolute", at, f"{name}{k}", (0, 0, 1), axis=(k, 1, 0), lower=-1.0, upper=1.0)
        at = f"{name}{k}"
    builder.frame(f"{name} frame", at, (0, 0, 1))
    robot = hinge.Robot(builder.build())
    made, _ = again(robot, tmp_path, suffix)
    assert made.name == name
    assert made.joint_names == robot.joint_names
    assert made.body_names == robot.body_names
    assert suffix == ".toml" or f"{name} frame" in made.model.frames
    same_dynamics(robot, made)


@pytest.mark.parametrize("suffix", [".urdf", ".xml", ".toml"])
@pytest.mark.parametrize("sample", ["pendulum", "planar_2r", "puma560"])
def test_samples_come_back(sample, suffix, tmp_path):
    robot = getattr(hinge.samples, sample)()
    made, _ = again(robot, tmp_path, suffix)
    assert made.joint_names == robot.joint_names
    same_dynamics(robot, made)
    for key in ("armature", "damping", "friction"):
        for ours, theirs in zip(made.model.data[1:], robot.model.data[1:], strict=True):
            assert getattr(ours, key) == getattr(theirs, key)


def test_a_long_chain_is_written_and_read(tmp_path):
    chain = hinge.samples.pendulum(700)
    made, _ = again(chain, tmp_path, ".urdf")
    assert made.joint_names == chain.joint_names
    with pytest.raises(hinge.NotCovered, match=r"link 'rod488' would be more than 490 elements deep.*\.urdf file can"):
        hinge.write(chain, tmp_path / "chain.xml")


# ---- what it is made of


@pytest.mark.parametrize("kind", [kind for kind, joint in JOINTS.items() if joint.nv > 1 and joint().chain()])
def test_a_chain_of_simple_joints_moves_as_the_joint_does(kind):
    joint = JOINTS[kind]()
    q = np.random.default_rng(1).normal(size=joint.nq).tolist()
    chain = [one.transform([q[k] for k in at]) for one, at in joint.chain()]
    made = chain[0]
    for X in chain[1:]:
        made = X @ made
    (R, p), (R_made, p_made) = joint.transform(q).pose(), made.pose()
    np.testing.assert_allclose(R_made, R, rtol=0, atol=1e-15)
    np.testing.assert_allclose(p_made, p, rtol=0, atol=1e-15)
    assert sorted(k for _, at in joint.chain() for k in at) == list(range(joint.nq))


angles = st.floats(-np.pi, np.pi) | st.sampled_from([0.0, np.pi / 2, -np.pi / 2, np.pi])
pitches = angles | st.sampled_from([np.pi / 2, -np.pi / 2]).flatmap(
    lambda x: st.floats(-1e-6, 1e-6).map(lambda e: x + e)
)


@law(300)
@given(roll=angles, pitch=pitches, yaw=angles)
def test_angles_and_quaternions_stand_for_the_rotation_at_any_pitch(roll, pitch, yaw):
    R = rotation_from_rpy(roll, pitch, yaw)
    np.testing.assert_allclose(rotation_from_rpy(*rpy_from_rotation(Mat3(R))), R, rtol=0, atol=2e-15)
    quaternion = quaternion_from_rotation(Mat3(R))
    np.testing.assert_allclose(rotation_from_quaternion(quaternion), R, rtol=0, atol=2e-15)
    assert quaternion[0] >= 0.0


def test_a_difference_is_seen():
    """The yardstick of this file can fail."""
    one, two = hinge.samples.pendulum(2), hinge.samples.pendulum(2, length=1.0 + 1e-9)
    assert difference(one, two, np.full((1, 2), 0.5), np.ones((1, 2))) > 1e-12
