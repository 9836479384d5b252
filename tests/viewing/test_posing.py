"""What a person moves: handles and configurations are each other's inverses, limbs hold every joint once."""

import numpy as np
import pytest

import hinge
from hinge.model.joints import JOINTS
from hinge.viewing.limbs import limbs, tips
from hinge.viewing.posing import configuration, handles, held, values


def dog(base="floating"):
    builder = hinge.Builder("dog")
    builder.link("trunk", 5.0, inertia=np.eye(3))
    for side in ("FL", "FR", "RL"):
        last = "trunk"
        for part in ("hip", "thigh", "calf"):
            builder.link(f"{side}_{part}", 1.0, (0.0, 0.0, -0.1), inertia=0.1 * np.eye(3))
            builder.joint(
                f"{side}_{part}_joint",
                "revolute",
                last,
                f"{side}_{part}",
                axis=(0.0, 1.0, 0.0),
                lower=-1.0,
                upper=2.0,
                effort=20.0,
            )
            last = f"{side}_{part}"
    builder.link("tail", 0.1, inertia=np.eye(3))
    builder.joint("tail", "prismatic", "trunk", "tail", axis=(0.0, 0.0, 1.0), lower=0.0, upper=0.1)
    return hinge.Robot(builder.build(base))


def of_kinds(*kinds):
    builder = hinge.Builder("kinds")
    builder.link("base")
    for k, kind in enumerate(kinds):
        extra = {"axis": (0.0, 0.0, 1.0)} if kind in ("revolute", "continuous", "prismatic", "planar") else {}
        builder.link(f"l{k}", 1.0, inertia=np.eye(3))
        builder.joint(f"j{k}", kind, f"l{k - 1}" if k else "base", f"l{k}", **extra)
    return hinge.Robot(builder.build())


def test_handles_and_configurations_are_inverse():
    for robot in (dog(), of_kinds("spherical", "free", "planar", "revolute"), hinge.samples.puma560()):
        q, _ = robot.random_state(np.random.default_rng(3), 20)
        for one in q:
            again = configuration(robot.model, values(robot.model, one))
            for body in robot.body_names:  # a quaternion and its negative are one orientation
                np.testing.assert_allclose(robot.pose(again, body), robot.pose(one, body), atol=1e-12)
        assert len(handles(robot.model)) == len(values(robot.model, q[0])) == robot.nv


def test_a_base_is_moved_by_way_and_roll_pitch_yaw():
    robot = dog()
    first = handles(robot.model)[:6]
    assert [one.name(robot.model) for one in first] == [f"base {x}" for x in ("x", "y", "z", "roll", "pitch", "yaw")]
    assert [one.unit for one in first] == ["m"] * 3 + ["rad"] * 3
    at = values(robot.model, robot.neutral())
    at[:6] = [1.0, 2.0, 3.0, 0.3, -0.4, 2.5]
    T = robot.pose(configuration(robot.model, at), "trunk")
    turn = lambda k, a: hinge.geometry.se3.exp([*(a * np.eye(3)[k]), 0, 0, 0])[:3, :3]
    np.testing.assert_allclose(T[:3, :3], turn(2, 2.5) @ turn(1, -0.4) @ turn(0, 0.3), atol=1e-12)
    np.testing.assert_allclose(T[:3, 3], [1.0, 2.0, 3.0])


def test_handles_are_within_the_limits_of_the_file():
    robot = dog()
    hip, tail = handles(robot.model)[6], handles(robot.model)[-1]
    assert hip == (robot.model.leaders[1], "", "rad", -1.0, 2.0)
    assert (tail.unit, tail.low, tail.high) == ("m", 0.0, 0.1)
    assert hip.within(9.0, 0.0) == 2.0
    assert hip.within(float("nan"), 0.5) == 0.5


def test_limbs_hold_every_joint_once_and_are_called_by_their_words():
    robot = dog()
    made = limbs(robot.model)
    assert [one.name for one in made] == ["base", "FL: hip … calf", "FR: hip … calf", "RL: hip … calf", "tail"]
    assert made[1].labels == ("hip", "thigh", "calf")
    assert sorted(i for one in made for i in one.joints) == list(robot.model.leaders)
    assert tips(robot.model) == ["FL_calf", "FR_calf", "RL_calf", "tail"]


def test_limbs_of_two_robots_of_one_make_keep_their_names_apart():
    builder = hinge.Builder("hand")
    builder.link("palm")
    for side in ("a", "b"):
        for k in (1, 2):
            builder.link(f"{side}{k}", 1.0, inertia=np.eye(3))
            builder.joint(
                f"{side}_j{k}" if k == 1 else f"x_{side}{k}",
                "revolute",
                "palm" if k == 1 else f"{side}1",
                f"{side}{k}",
                axis=(0.0, 0.0, 1.0),
                lower=-1.0,
                upper=1.0,
            )
    names = [one.name for one in limbs(builder.build())]
    assert len(set(names)) == len(names) == 2


def test_joints_that_follow_others_have_no_handle():
    builder = hinge.Builder("gripper")
    builder.link("palm")
    for k, follow in enumerate(({}, {"mimic": ("f0", 1.0, 0.0)})):
        builder.link(f"finger{k}", 1.0, inertia=np.eye(3))
        builder.joint(f"f{k}", "prismatic", "palm", f"finger{k}", axis=(1.0, 0.0, 0.0), lower=0.0, upper=0.1, **follow)
    model = builder.build()
    assert [one.name for one in limbs(model)] == ["f0"]
    assert len(handles(model)) == 1


def test_what_is_held_is_the_force_that_keeps_it_still_and_its_share_of_the_limit():
    robot = dog()
    q, _ = robot.random_state(5, 1)
    rows = held(robot, q[0])
    tau = robot.inverse_dynamics(q[0], np.zeros(robot.nv), np.zeros(robot.nv))
    np.testing.assert_allclose([one.force for one in rows], tau, atol=1e-12)
    assert rows[6].share == pytest.approx(abs(tau[6]) / 20.0)
    assert rows[6].unit == "N m"
    assert (rows[-1].unit, rows[-1].share) == ("N", None)


@pytest.mark.parametrize(
    "kind", [kind for kind, one in JOINTS.items() if one.nq and one.__module__.startswith("hinge.")]
)
def test_every_joint_type_has_handles(kind):
    robot = of_kinds(kind)
    q, _ = robot.random_state(1, 1)
    again = configuration(robot.model, values(robot.model, q[0]))
    np.testing.assert_allclose(robot.pose(again, "l0"), robot.pose(q[0], "l0"), atol=1e-12)
    assert len(handles(robot.model)) == len(values(robot.model, q[0]))
