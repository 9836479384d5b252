"""Where MJCF puts bodies and how they move, feature by feature against MuJoCo.

`compared` loads a text with both and compares names, masses, joints, poses, sites, keyframes and dynamics.
"""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mjcf_made import Made
from mujoco_pair import compared, mujoco

import hinge

BOX = '<geom type="box" size=".1 .2 .3"/>'
ARM = f'<body name="arm" pos=".1 .2 .3"><joint name="elbow" axis="1 2 3"/>{BOX}<site name="tip" pos="1 1 1"/></body>'
CLASSES = """<default><joint armature=".1"/><geom density="500"/>
  <default class="leg"><joint damping="1" axis="1 0 0"/>
    <default class="foot"><joint armature=".3" axis="0 1 0"/><geom density="10"/></default></default></default>"""


def world(inside, before=""):
    return f"<mujoco>\n{before}\n<worldbody>{inside}</worldbody></mujoco>"


def body(joints, inside=BOX, **places):
    return f'<body name="a" {" ".join(places.values())}>{joints}{inside}{ARM}</body>'


# everything at once


@settings(derandomize=True, deadline=None, max_examples=30, database=None)
@given(st.integers(0, 2**32 - 1))
def test_a_made_up_file_means_the_same_robot(seed):
    compared(Made(seed, bodies=4).text(), 1e-10)


# orientations

TURNS = ['quat="1 2 3 4"', 'quat="-1 0 0 1e-3"', 'axisangle="1 2 3 4"', 'euler="1 -2 3"', 'xyaxes="1 2 3 -1 3 .5"',
         'zaxis="1 2 3"', 'zaxis="0 0 -2"', 'zaxis="1e-6 0 -1"', 'zaxis="1e-8 0 -1"', 'zaxis="0 0 1"', ""]  # fmt: skip


@pytest.mark.parametrize("unit", ["degree", "radian"])
@pytest.mark.parametrize("turn", TURNS)
def test_orientations_of_bodies_geoms_sites_inertials_and_frames(turn, unit):
    inside = f'<geom type="box" size=".1 .2 .3" pos="1 0 0" {turn}/><site name="s" pos="1 2 3" {turn}/>'
    weight = f'<body pos="0 0 1"><joint/><inertial pos="1 2 3" mass="2" diaginertia="1 1.5 2" {turn}/></body>'
    text = world(f"<frame {turn}>{body('<joint/>', inside + weight, turn=turn)}</frame>", f'<compiler angle="{unit}"/>')
    compared(text)


@pytest.mark.parametrize("sequence", ["".join(s) for s in itertools.product("xyz", repeat=3)] + ["XYZ", "ZYX", "xYz"])
def test_every_sequence_of_euler_angles(sequence):
    both = "".join(c.upper() if k % 2 else c for k, c in enumerate(sequence))
    for named in (sequence, sequence.upper(), both):
        model = hinge.load(world('<site name="s" euler="10 20 30"/>', f'<compiler eulerseq="{named}"/>'))
        theirs = mujoco.MjModel.from_xml_string(
            world('<site name="s" euler="10 20 30"/>', f'<compiler eulerseq="{named}"/>')
        )
        R = np.zeros(9)
        mujoco.mju_quat2Mat(R, theirs.site_quat[0])
        np.testing.assert_allclose(model.pose([], "s")[:3, :3], R.reshape(3, 3), atol=1e-15)


# joints

JOINTS = {
    "hinge": '<joint pos=".1 .2 .3" axis="1 2 3"/>',
    "hinge with ref": '<joint pos=".1 .2 .3" axis="1 2 3" ref="30" springref="10" stiffness="2"/>',
    "slide": '<joint type="slide" pos=".1 .2 .3" axis="1 2 3" ref=".3" springref=".1" stiffness="2"/>',
    "ball": '<joint type="ball" pos=".1 .2 .3"/>',
    "three": '<joint pos=".1 0 0" ref="10"/><joint type="slide" axis="1 1 0" ref="2"/>'
    '<joint axis="0 1 0" pos="0 1 0"/>',
    "slides and a ball": '<joint type="slide" axis="1 1 0"/><joint type="slide"/><joint type="ball" pos="1 0 0"/>',
    "free": "<freejoint/>",
    "free, long": '<joint type="free" pos="1 2 3" axis="1 0 0" ref="3"/>',
    "in a frame": '<frame pos="1 2 3" euler="10 20 30"><joint pos=".1 .2 .3" axis="1 0 0" ref="20"/></frame>',
    "ball in a frame": '<frame pos="1 2 3" euler="10 20 30"><joint type="ball" pos=".1 .2 .3"/></frame>',
    "friction and armature": '<joint frictionloss=".2" armature=".1" damping="3"/>',
    "none": "",
}


@pytest.mark.parametrize("joints", JOINTS)
def test_joints(joints):
    compared(world(body(JOINTS[joints], pos='pos="1 2 3"', turn='euler="10 20 30"')))


LIMITS = ['range="-10 20"', 'range="-10 20" limited="false"', 'range="-10 20" limited="true"', 'range="0 0"', "",
          'type="slide" range="-1 2"', 'type="ball" range="0 30"', 'range="-10 20" ref="5"']  # fmt: skip


@pytest.mark.parametrize("limits", LIMITS)
@pytest.mark.parametrize("automatic", ["true", "false"])
def test_limits(limits, automatic):
    if automatic == "false" and "range" in limits and "limited" not in limits:
        limits += ' limited="false"'
    compared(world(body(f"<joint {limits}/>"), f'<compiler autolimits="{automatic}"/>'))


def test_the_range_of_a_ball_joint_and_the_force_of_a_joint_are_kept():
    robot = hinge.load(world(body('<joint type="ball" range="0 90"/>')))
    assert robot.model.data[1].other["range"] == pytest.approx(np.pi / 2)
    robot = hinge.load(world(body('<joint actuatorfrcrange="-3 4"/>')))
    assert robot.limits.effort[0] == 4.0


# names


def test_what_has_no_name_is_called_by_its_number():
    text = world(f"<body>{BOX}<joint/><body><joint/><joint type='slide'/>{BOX}</body></body><body>"
        f"<freejoint/>{BOX}</body>"
                 f"<body><freejoint/>{BOX}</body>")  # fmt: skip
    robot = compared(text).robot
    assert robot.joint_names == ("joint_0", "joint_1", "joint_2", "base", "base_2")
    assert robot.body_names == ("body_1", "body_2(joint_1)", "body_2", "body_3", "body_4")


def test_a_made_up_name_takes_no_given_one():
    text = world(f'<body><joint/>{BOX}<body name="body_1"><joint name="joint_0"/>{BOX}</body></body>')
    robot = hinge.load(text)
    assert robot.joint_names == ("joint_0_2", "joint_0")
    assert robot.body_names == ("body_1_2", "body_1")


def test_a_site_with_the_name_of_a_body():
    robot = hinge.load(world(f'<body name="a"><joint/>{BOX}<site name="a" pos="0 0 1"/></body>'))
    assert [f.code for f in robot.report] == ["site-name"]
    np.testing.assert_array_equal(robot.pose([0.0], "a_site")[:3, 3], [0, 0, 1])


def test_the_name_of_the_robot(folder):
    assert hinge.load('<mujoco model="spot"/>').name == "spot"
    assert hinge.load(folder({"rover.xml": "<mujoco/>"})).name == "rover"


# frames, repetitions

NESTED = {
    "a frame": f'<frame pos="1 2 3" euler="10 20 30">{ARM}</frame>',
    "frames": f'<frame pos="1 2 3" euler="10 20 30"><frame zaxis="1 1 0"><frame pos="1 0 0">{ARM}</frame>'
    '</frame></frame>',
    "a free body in a frame": '<frame pos="1 2 3" euler="9 8 7"><body pos="1 1 1" euler="1 2 3">'
    f'<freejoint/>{BOX}</body></frame>',
    "frames in a body": f'<body><joint/><frame pos="1 2 3" euler="10 20 30">{BOX}<site name="s"/>{ARM}</frame></body>',
    "order": f'<frame>{ARM}</frame><body name="b"><joint/>{BOX}</body><frame><body name="c"><joint/>{BOX}'
    '</body></frame>',
    "replicate": f'<replicate count="3" offset=".1 .2 .3" euler="10 20 30">{ARM}</replicate>',
    "replicate sep": f'<replicate count="2" sep="-" offset=".1 .2 .3">{ARM}</replicate>',
    "replicate once": f'<replicate count="1" euler="10 20 30">{ARM}</replicate>',
    "replicate ten times": f'<replicate count="10" sep="_" offset=".1 0 0">{ARM}</replicate>',
    "replicate eleven times": f'<replicate count="11" sep="_" offset=".1 0 0">{ARM}</replicate>',
    "replicate in replicate": '<replicate count="2" sep="_" offset=".1 .2 .3" euler="10 20 30">'
    '<replicate count="3" sep="-" '
    f'euler="5 0 20" offset="0 1 0">{ARM}</replicate></replicate>',
    "replicate in a frame": '<frame pos="1 2 3" euler="4 5 6">'
    '<replicate count="2" sep="_" offset=".1 .2 .3" euler="10 20 30">'
    f'<frame pos="0 0 1">{ARM}</frame></replicate></frame>',
    "replicated geoms": '<body name="a"><joint/><replicate count="3" euler="0 30 0" offset="0 .1 0">'
    '<geom size=".1" pos="1 0 0"/></replicate></body>',
    "order of replicas": f'<body name="a">{BOX}<joint/><body name="b"><joint/>{BOX}</body>'
    f'<replicate count="2">{ARM}</replicate>'
    f'<body name="c"><joint/>{BOX}</body></body>',
}  # fmt: skip


@pytest.mark.parametrize("text", NESTED)
@pytest.mark.parametrize("compiler", ["", '<compiler angle="radian" eulerseq="zYx"/>'])
def test_frames_and_repetitions(text, compiler):
    compared(world(NESTED[text], compiler))


# default classes

CLASSED = {
    "main": body("<joint/>"),
    "own class": body('<joint class="leg"/>', '<geom class="foot" size=".1"/>'),
    "childclass": f'<body childclass="leg"><joint/>{BOX}<body><joint class="foot"/>'
    '<geom class="main" size=".1"/></body></body>',
    "childclass below": f'<body childclass="leg"><joint/>{BOX}<body childclass="foot"><joint/>{BOX}</body></body>',
    "frame": f'<body><frame childclass="leg"><joint/>{BOX}{ARM}<frame childclass="foot"><geom size=".3"/>'
    "</frame></frame></body>",
    "replicate": f'<body childclass="leg">{BOX}<joint/><replicate count="2" offset=".1 .2 .3">{ARM}</replicate></body>',
    "freejoint": body("<freejoint/>"),
    "class of a repetition": f'<replicate count="2" childclass="leg">{ARM}</replicate>',
    "class of a frame, by its other name": f'<frame class="leg">{ARM}</frame>',
    "both names": f'<frame class="leg" childclass="foot">{ARM}</frame>',
}


@pytest.mark.parametrize("text", CLASSED)
def test_classes(text):
    compared(world(CLASSED[text], CLASSES))


SPREAD = {
    "two sections": "<default><joint armature='.1'/></default><default><joint frictionloss='2' armature='.2'/>"
    "</default>",
    "a class after": "<default><default class='leg'><joint frictionloss='2'/></default><joint armature='.1'/>"
    "</default>",
    "a class in a later section": "<default><joint armature='.1'/></default>"
    "<default><default class='leg'><joint damping='2'/></default></default>",
    "main by name": "<default class='main'><joint armature='.1'/><default class='leg'><joint axis='1 0 0'/>"
    "</default></default>",
}


@pytest.mark.parametrize("classes", SPREAD)
def test_classes_in_several_sections(classes):
    leg = 'childclass="leg"' if "leg" in SPREAD[classes] else ""
    compared(world(f"<body {leg}><joint/>{BOX}</body>", SPREAD[classes]))


def test_one_orientation_replaces_another_of_the_class():
    turned = '<default><geom euler="10 20 30"/></default>'
    compared(world(body("<joint axis='1 1 1'/>", '<geom type="box" size=".1 .2 .3" zaxis="1 0 0"/>'), turned))


def test_sections_may_stand_anywhere():
    after = '<compiler angle="radian"/><default><joint armature=".1"/></default></mujoco>'
    compared(world(body('<joint ref="1" range="-1 1"/>')).replace("</mujoco>", after))
    compared(
        world(body("<joint/>")).replace("</mujoco>", f"<worldbody><body><joint/>{BOX}</body></worldbody></mujoco>")
    )


# actuators add armature to the joint they drive

MOTORS = {
    "gear": '<actuator><motor joint="j" gear="3" armature=".2"/><position joint="j" gear="2 1" armature=".1"/>'
    "</actuator>",
    "default": '<default><motor armature=".2" gear="4"/></default><actuator><motor joint="j"/>'
    '<velocity joint="j"/></actuator>',
    "the last default counts": '<default><position armature=".7"/><general armature=".2" gear="4"/></default>'
    '<actuator><motor joint="j"/><position joint="j"/></actuator>',
    "class": '<default><default class="x"><general armature=".2" gear="4"/></default></default>'
    '<actuator><motor class="x" joint="j"/><motor joint="j"/></actuator>',
}


@pytest.mark.parametrize("motors", MOTORS)
@pytest.mark.parametrize("kind", ["hinge", "slide", "ball"])
def test_armature_of_actuators(motors, kind):
    compared(world(f'<body name="a"><joint name="j" type="{kind}" armature=".5"/>{BOX}</body>', MOTORS[motors]))


def test_an_actuator_of_no_joint_is_refused():
    with pytest.raises(hinge.ModelError, match="<motor> speaks of joint 'elbwo', which does not exist") as caught:
        hinge.load(world(ARM, '<actuator><motor joint="elbwo"/></actuator>'))
    assert (caught.value.code, caught.value.hint) == ("unknown-joint", "Did you mean 'elbow'?")


@pytest.mark.parametrize("named", ["elbow", "elbow1"])
def test_an_actuator_of_a_repeated_joint(named):
    motor = f'<actuator><motor joint="{named}" gear="3" armature="1"/></actuator>'
    compared(world(f'<replicate count="3" offset=".1 .2 .3">{ARM}</replicate>', motor))


def test_damping_of_actuators_is_added_too():
    text = world(
        f'<body><joint name="j" damping="1"/>{BOX}</body>',
        '<actuator><motor joint="j" gear="3" damping="2 1"/></actuator>',
    )
    robot, model = hinge.load(text), mujoco.MjModel.from_xml_string(text)
    data = mujoco.MjData(model)
    data.qvel[:] = 0.01  # so small that the force is linear
    mujoco.mj_forward(model, data)
    assert robot.model.data[1].damping[0] == 19.0
    assert data.qfrc_passive[0] + data.qfrc_actuator[0] == pytest.approx(-0.19, abs=1e-3)


# gravity, keyframes, a floating base


@pytest.mark.parametrize("option", ['gravity="1 2 3"', 'gravity="1 2 3"><flag gravity="disable"/></option><option', ""])
def test_gravity(option):
    compared(world(body('<joint axis="1 1 0"/>', '<geom pos="1 2 3" size=".1"/>'), f"<option {option}/>"))
    robot = hinge.load(world(body("<joint/>"), f"<option {option}/>"), gravity=(0, 1, 0))
    assert robot.model.gravity == (0, 1, 0)


def test_keyframes():
    keys = '<key name="home" qpos="1 2 3 1 0 0 0 .5 1"/>'
    keys += '<key qpos="1 2 3 0 1 0 0 0 2" time="3" qvel="1 2 3 4 5 6 7 8"/><key/>'
    bodies = f"<body><freejoint/>{BOX}<body><joint type='slide'/>{BOX}</body></body>{ARM}"
    p = compared(world(bodies, f"<keyframe>{keys}</keyframe>"))
    assert list(p.robot.keyframes) == ["home", "key_1"]
    np.testing.assert_array_equal(p.robot.keyframes["home"], [1, 0, 0, 0, 1, 2, 3, 0.5, 1])
    assert p.robot.model.extras["keyframes"]["key_1"]["time"] == 3.0


def test_a_floating_base_frees_the_one_fixed_body():
    fixed = f'<body name="a" pos="1 2 3" euler="10 20 30">{BOX}{ARM}</body>'
    robot = hinge.load(world(fixed), base="floating")
    free = hinge.load(world(fixed.replace(BOX, "<freejoint/>" + BOX, 1)))
    assert (robot.nq, robot.joint_names) == (8, ("base", "elbow"))
    np.testing.assert_allclose(robot.mass_matrix(robot.neutral()), free.mass_matrix(free.neutral()), atol=1e-15)
    assert free.neutral().tolist() == robot.neutral().tolist()


@pytest.mark.parametrize(("inside", "why"), [(body("<joint/>"), "body 'a' has a joint of its own"),
                                             (f"{ARM}<body/>", "the world holds 2 bodies")])  # fmt: skip
def test_a_floating_base_needs_one_fixed_body(inside, why):
    with pytest.raises(hinge.ModelError, match=why) as caught:
        hinge.load(world(inside), base="floating")
    assert caught.value.code == "base"
