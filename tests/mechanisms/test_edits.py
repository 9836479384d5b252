"""Robots made from a robot: frames, payloads, locked joints, attached robots, other gravity."""

import pickle

import numpy as np
import pytest
from machines import MACHINES, grown, machine, near, pose, random_body, random_rotation, refused, state

import hinge

# many robots of a few calls each, which are not worth compiling
pytestmark = pytest.mark.usefixtures("plain_interpreter")

every = pytest.mark.parametrize("which", [*MACHINES, "coupled"])


# frames


@every
def test_a_new_frame_stands_where_it_was_put(which):
    robot = machine(which)
    rng = np.random.default_rng(150)
    T, shift = pose(random_rotation(rng), rng.normal(size=3)), rng.normal(size=3)
    link = robot.body_names[-1]
    more = robot.with_frame("eye", link, T).with_frame("lens", "eye", shift)
    q, qd, _, _ = state(robot, 151)
    near(more.pose(q, "eye"), robot.pose(q, link) @ T, 1e-13, 3.0)
    near(more.pose(q, "lens"), robot.pose(q, link) @ T @ pose(p=shift), 1e-13, 3.0)
    near(more.velocity(q, qd, "lens", frame="base"), robot.velocity(q, qd, link, frame="base"), 1e-13, 10.0)
    assert "eye" not in robot.model.frames


def test_a_frame_that_cannot_be_is_refused():
    arm = hinge.samples.planar_2r()
    assert refused(hinge.ModelError, arm.with_frame, "hand", "lower", [0, 0, 0]) == (
        "robot 'planar_2r' has a link or frame 'hand' already.\n  Rename it."
    )
    assert refused(hinge.UnknownName, arm.with_frame, "eye", "lwer", [0, 0, 0]) == (
        "robot 'planar_2r' has no body or frame 'lwer'. Did you mean 'lower'?"
    )
    assert refused(hinge.ModelError, arm.with_frame, "eye", "lower", np.eye(3)) == (
        "placement has shape (3, 3).\n  Give a 4×4 pose, or (3,) for a shift."
    )
    assert refused(hinge.ModelError, arm.with_frame, "eye", "lower", np.diag([1.0, 1, -1, 1])) == (
        "placement is not a pose.\n  Its rotation has to be orthogonal and right-handed."
    )
    assert refused(hinge.ModelError, arm.with_frame, "eye", "lower", [0, np.nan, 0]) == (
        "placement is not a pose.\n  Its rotation has to be orthogonal and right-handed."
    )


# payloads


@every
def test_a_payload_is_a_link_welded_there(which):
    robot = machine(which)
    rng = np.random.default_rng(152)
    load, T = random_body(rng), pose(random_rotation(rng), rng.normal(size=3))
    link = robot.body_names[-1]
    laden = robot.with_frame("hook", link, T).with_payload("hook", **load)
    builder = hinge.Builder("load")
    builder.link("load", **load)
    welded = robot.attach(hinge.Robot(builder.build()), link, T)
    q, qd, qdd, _ = state(robot, 153, 2)
    near(laden.inverse_dynamics(q, qd, qdd), welded.inverse_dynamics(q, qd, qdd), 1e-12, 50.0)
    near(laden.mass - robot.mass, load["mass"], 1e-14)
    assert np.abs(laden.inverse_dynamics(q, qd, qdd) - robot.inverse_dynamics(q, qd, qdd)).max() > 0.1


def test_a_payload_pulls_as_its_weight_does():
    arm = hinge.samples.planar_2r()
    laden = arm.with_payload("hand", 2.0, com=(0.1, 0, 0.2))
    q = np.array([0.3, -0.8])
    weight = arm.pose(q, "hand")[:3, :3].T @ (0, 0, -19.62)
    pulled = {"hand": np.r_[np.cross((0.1, 0, 0.2), weight), weight]}
    near(laden.gravity_force(q), arm.bias_force(q, np.zeros(2), external=pulled), 1e-13)


def test_a_payload_that_no_body_is_is_refused():
    arm = hinge.samples.planar_2r()
    assert refused(hinge.UnknownName, arm.with_payload, "hnd", 1.0) == (
        "robot 'planar_2r' has no body or frame 'hnd'. Did you mean 'hand'?"
    )
    assert refused(hinge.ModelError, arm.with_payload, "hand", -1.0) == (
        "'payload on hand' has mass -1 kg.\n  Masses are positive."
    )
    assert refused(hinge.ModelError, arm.with_payload, "hand", 1.0, inertia=np.diag([0.1, 0.1, 0.5])) == (
        "'payload on hand' has principal inertias (0.1, 0.1, 0.5) kg m²: no body has two that sum to less than the "
        "third.\n  Raise the two smaller ones until they sum to 0.5."
    )
    assert refused(hinge.ModelError, arm.with_payload, "hand", 1.0, inertia=np.diag([0.1, 0.1, -0.1])) == (
        "'payload on hand' has principal inertias (-0.1, 0.1, 0.1) kg m².\n  All three must be positive."
    )
    assert refused(hinge.ModelError, arm.with_payload, "hand", 1.0, inertia=[[1, 0.1, 0], [0, 1, 0], [0, 0, 1]]) == (
        "'payload on hand' has an inertia that is not symmetric.\n  Write each product of inertia once."
    )
    assert refused(hinge.ModelError, arm.with_payload, "hand", np.inf) == (
        "payload on 'hand' has a value that is not a finite number.\n  Give numbers."
    )
    assert refused(hinge.SizeError, arm.with_payload, "hand", 1.0, (0, 0)) == (
        "payload on 'hand': com has shape (2,) and inertia (3, 3), not (3,) and (3, 3)."
    )


# locked joints


@every
def test_a_locked_robot_has_the_rows_and_columns_that_are_left(which):
    robot = machine(which)
    leaders = [robot.model.joint_name[i] for i in robot.model.leaders]
    names = leaders[::2] if which != "coupled" else ["joint1"]
    q, qd, qdd, _ = state(robot, 154)
    at = np.concatenate([np.r_[robot.coordinates(n)[0]] for n in names])
    gone = np.concatenate([np.r_[robot.coordinates(n)[1]] for n in names])
    held = robot.lock({n: q[robot.coordinates(n)[0]] for n in names})
    assert (held.nq, held.nv) == (robot.nq - len(at), robot.nv - len(gone))
    left = np.setdiff1d(np.arange(robot.nv), gone)
    x = np.delete(q, at)
    qd[gone] = qdd[gone] = 0.0
    near(held.mass_matrix(x), robot.mass_matrix(q)[np.ix_(left, left)], 1e-12, 10.0)
    near(held.inverse_dynamics(x, qd[left], qdd[left]), robot.inverse_dynamics(q, qd, qdd)[left], 1e-12, 50.0)
    for frame in robot.model.frames:
        near(held.pose(x, frame), robot.pose(q, frame), 1e-12, 3.0)
    same = robot.lock(names, q)
    near(same.mass_matrix(x), held.mass_matrix(x), 0.0)


def test_joints_that_follow_a_locked_one_are_locked_with_it():
    robot = machine("coupled")
    held = robot.lock({"joint1": 0.6})
    assert held.joint_names == ("joint2", "joint4", "joint5")
    assert held.nv == robot.nv - 1
    q, _, _, _ = state(held, 155)
    whole = np.r_[0.6, q]
    near(held.pose(q, "link3"), robot.pose(whole, "link3"), 1e-13)


def test_locking_everything_leaves_a_statue():
    robot = machine("tree")
    q, _, _, _ = state(robot, 156)
    statue = robot.lock(robot.joint_names, q)
    assert (statue.nq, statue.nv) == (0, 0)
    near(statue.pose([], robot.body_names[-1]), robot.pose(q, robot.body_names[-1]), 1e-13, 3.0)
    assert statue.inverse_dynamics([], [], []).shape == (0,)


def test_what_cannot_be_locked_is_refused():
    robot = machine("coupled")
    assert refused(hinge.ModelError, robot.lock, {"joint3": 0.0}) == (
        "joint 'joint3' follows joint 'joint1'.\n  Lock 'joint1' instead."
    )
    assert refused(hinge.SizeError, robot.lock, {"joint4": 0.5}) == (
        "lock: joint 'joint4' has 2 coordinates; 0.5 was given."
    )
    assert refused(hinge.SizeError, robot.lock, {"joint1": np.nan}) == (
        "lock: joint 'joint1' is given nan. Give finite numbers."
    )
    assert refused(hinge.SizeError, robot.lock, {"joint1": "up"}) == (
        "lock: joint 'joint1' is given 'up'. Give finite numbers."
    )
    message = refused(hinge.UnknownName, robot.lock, ["joint7"])
    assert message.startswith("robot 'machine' has no moving joint 'joint7'. Did you mean ")


@pytest.mark.parametrize("q", [0.1, [0.1], np.zeros((1, 6)), np.zeros(7)])
def test_names_are_locked_at_a_whole_configuration(q):
    assert refused(hinge.SizeError, hinge.samples.puma560().lock, ["joint1"], q) == (
        f"lock: q has shape {np.shape(q)}; robot 'puma560' has nq = 6.\n"
        "  Give a whole q with a list of names, or {joint: coordinates}."
    )


@pytest.mark.parametrize("given", [("joint1",), ("joint1", np.zeros(6)), ({"joint1": 0.1}, np.zeros(6))])
def test_a_name_alone_or_coordinates_twice_do_not_lock(given):
    assert refused(hinge.SizeError, hinge.samples.puma560().lock, *given) == (
        "lock takes {joint: coordinates}, or a list of names and a whole q to take them from."
    )


# attached robots


def test_an_attached_robot_moves_as_if_built_there():
    arm, tool = machine("tree"), grown(157, ("revolute", "prismatic"), (0, 0), name="tool")
    rng = np.random.default_rng(158)
    T = pose(random_rotation(rng), rng.normal(size=3))
    both = arm.attach(tool, "link4", T, prefix="tool_")
    assert both.nv == arm.nv + 2
    assert both.joint_names == (*arm.joint_names, "tool_joint1", "tool_joint2")
    q, qd, qdd, _ = state(both, 159)
    near(both.pose(q, "tool_link2"), arm.pose(q[: arm.nq], "link4") @ T @ tool.pose(q[arm.nq :], "link2"), 1e-13, 3.0)
    near(both.pose(q, "tool_base"), arm.pose(q[: arm.nq], "link4") @ T, 1e-13, 3.0)
    # the arm feels the tool as a force: that of a tool whose base is moved as the arm moves it
    mine = q[: arm.nq], qd[: arm.nv], qdd[: arm.nv]
    there = arm.with_frame("flange", "link4", T)
    R = there.pose(mine[0], "flange")[:3, :3]
    motion = there.velocity(*mine[:2], "flange"), there.acceleration(*mine, "flange")
    falling = tool.with_gravity(R.T @ (0, 0, -9.81))
    more = {"base_motion": motion}
    near(both.inverse_dynamics(q, qd, qdd)[arm.nv :],
         falling.inverse_dynamics(q[arm.nq :], qd[arm.nv :], qdd[arm.nv :], **more), 1e-12, 50.0)  # fmt: skip
    *_, base = falling.joint_reactions(q[arm.nq :], qd[arm.nv :], qdd[arm.nv :], **more)
    root = there.with_payload("flange", **_root(tool))
    near(both.inverse_dynamics(q, qd, qdd)[: arm.nv], root.inverse_dynamics(*mine, external={"flange": -base}),
         1e-12, 50.0)  # fmt: skip


def _root(robot):
    return dict(zip(("mass", "com", "inertia"), robot.model.links["base"], strict=True))


def test_an_attached_gripper_keeps_its_coupling():
    arm, hand = machine("tree"), machine("coupled")
    both = arm.attach(hand, "link5", prefix="hand_")
    assert both.nv == arm.nv + hand.nv
    q, qd, qdd, _ = state(both, 160)
    tau = both.inverse_dynamics(q, qd, qdd)
    for method in ("articulated", "composite"):
        near(both.forward_dynamics(q, qd, tau, method=method), qdd, 1e-9)
    near(both.mass_matrix(q)[arm.nv :, arm.nv :], hand.mass_matrix(q[arm.nq :]), 1e-12, 10.0)


def test_names_that_clash_are_refused():
    arm = hinge.samples.planar_2r()
    assert refused(hinge.ModelError, arm.attach, arm, "hand") == (
        "both robots have a frame 'base'.\n  Give prefix=\"…\" for the second."
    )
    builder = hinge.Builder("other")
    builder.link("root")
    builder.link("finger", mass=1.0)
    builder.joint("elbow", "revolute", "root", "finger")
    other = hinge.Robot(builder.build())
    assert refused(hinge.ModelError, arm.attach, other, "hand") == (
        "both robots have a joint 'elbow'.\n  Give prefix=\"…\" for the second."
    )
    assert arm.attach(other, "hand", prefix="o_").joint_names == ("shoulder", "elbow", "o_elbow")


# gravity


@every
def test_gravity_can_be_changed_and_forces_are_linear_in_it(which):
    robot = machine(which)
    q, _, _, _ = state(robot, 161)
    parts = [robot.with_gravity(9.81 * -e).gravity_force(q) for e in np.eye(3)]
    want = (-parts[0] - 2 * parts[1] + 3 * parts[2]) / 9.81
    near(robot.with_gravity([1.0, 2.0, -3.0]).gravity_force(q), want, 1e-12, 50.0)
    near(robot.with_gravity((0, 0, 0)).gravity_force(q), np.zeros(robot.nv), 1e-13)
    assert refused(hinge.ModelError, robot.with_gravity, [0, 0]).endswith("Give 3 numbers.")


def test_an_edited_robot_pickles():
    robot = machine("tree").with_frame("eye", "link2", [0, 0, 1]).with_payload("eye", 1.0).lock({"joint1": 0.2})
    again = pickle.loads(pickle.dumps(robot))
    q, qd, qdd, _ = state(robot, 162)
    near(again.inverse_dynamics(q, qd, qdd), robot.inverse_dynamics(q, qd, qdd), 0.0)
