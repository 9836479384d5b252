"""MJCF in several files: includes, and models attached to others, against MuJoCo."""

import pytest
from mujoco_pair import compared

import hinge

BOX = '<geom type="box" size=".1 .2 .3"/>'
ARM = f'<body name="arm" pos=".1 .2 .3"><joint name="elbow" axis="1 2 3"/>{BOX}<site name="tip" pos="1 1 1"/></body>'
FREE = f'<body name="loose" pos="1 1 1" euler=".1 .2 .3"><freejoint name="fly"/>{BOX}</body>'
HAND = '<asset><model name="hand" file="hand.xml"/></asset>'


def world(inside, before=""):
    return f"<mujoco>\n{before}\n<worldbody>{inside}</worldbody></mujoco>"


def root(inside):
    return f'<body name="root"><joint axis="1 0 0"/>{BOX}{inside}</body>'


CHILD = world(ARM + FREE, """<compiler angle="radian" eulerseq="zyx"/>
  <default><joint armature=".3" axis="0 1 0"/><geom density="300"/></default>
  <actuator><motor joint="elbow" gear="2" armature=".1"/></actuator>""")  # fmt: skip


# includes

INCLUDES = {
    "in the world and before it": {
        "main.xml": world(f'<include file="arm.xml"/><body name="z"><joint/>{BOX}</body>', '<include file="d.xml"/>'),
        "arm.xml": f"<mujocoinclude>{ARM}</mujocoinclude>",
        "d.xml": '<mujoco><default><joint armature=".4"/></default><compiler angle="radian"/></mujoco>',
    },
    "nested, beside the file that names it": {
        "main.xml": world(root('<include file="s/i.xml"/>')),
        "s/i.xml": '<mujoco><include file="j.xml"/></mujoco>',
        "s/j.xml": f"<mujoco>{ARM}</mujoco>",
    },
    "nested, beside the main file": {
        "main.xml": world(root('<include file="s/i.xml"/>')),
        "s/i.xml": '<mujoco><include file="j.xml"/></mujoco>',
        "j.xml": f"<mujoco>{ARM}</mujoco>",
    },
    "nested, both are there": {
        "main.xml": world(root('<include file="s/i.xml"/>')),
        "s/i.xml": '<mujoco><include file="j.xml"/></mujoco>',
        "s/j.xml": f"<mujoco>{ARM}</mujoco>",
        "j.xml": "<mujoco>" + ARM.replace(".1", ".5") + "</mujoco>",
    },
    "any outermost element": {"main.xml": world(root('<include file="i.xml"/>')), "i.xml": f"<foo>{ARM}</foo>"},
    "in a repetition": {
        "main.xml": world('<replicate count="2" offset="1 0 0"><include file="i.xml"/></replicate>'),
        "i.xml": f"<foo>{ARM}</foo>",
    },
    "in a class": {
        "main.xml": world(ARM, '<default><include file="i.xml"/></default>'),
        "i.xml": '<foo><joint armature=".3"/></foo>',
    },
}


@pytest.mark.parametrize("files", INCLUDES)
def test_includes(files, folder):
    compared(folder(INCLUDES[files]))


# a body of the same model

SELF = {
    "a body": f'{ARM}<frame pos="1 0 0" euler="10 20 30"><attach body="arm" prefix="p_"/></frame>',
    "a frame": f'<frame name="f" pos="3 3 3">{ARM}</frame><frame euler="10 20 30">'
    '<attach frame="f" prefix="p_"/></frame>',
    "in a body": f'{ARM}<body name="c" pos="1 0 0"><joint/>{BOX}<attach body="arm" prefix="p_"/></body>',
    "from a body with a class": f'<body name="z" childclass="leg"><joint/>{BOX}{ARM}</body>'
    f'<body name="c"><joint/>{BOX}<attach body="arm" prefix="p_"/></body>',
    "into a body with a class": f'{ARM}<body name="c" childclass="leg"><joint/>{BOX}'
    '<attach body="arm" prefix="p_"/></body>',
    "repeated": f'{ARM}<replicate count="2" offset="1 0 0"><frame pos="0 1 0"><attach body="arm" prefix="p_"/>'
    '</frame></replicate>',
    "twice": f'{ARM}<body name="c"><joint/>{BOX}<attach body="arm" prefix="p_"/>'
    '<attach body="arm" prefix="q_"/></body>',
}  # fmt: skip


@pytest.mark.parametrize("inside", SELF)
def test_a_model_attaches_its_own_bodies(inside):
    before = """<default><joint damping="1"/><default class="leg"><joint armature="3" axis="0 1 0"/></default></default>
      <actuator><motor joint="elbow" gear="3" armature="1"/></actuator>"""
    compared(world(SELF[inside], before))


# another model

ATTACHED = {
    "a body": '<frame pos="1 2 3" euler="10 20 30"><attach model="hand" body="arm" prefix="x_"/></frame>',
    "a free body": '<frame pos="1 2 3" euler="10 20 30"><attach model="hand" body="loose" prefix="x_"/></frame>',
    "the whole model": '<frame pos="1 2 3" euler="10 20 30"><attach model="hand" prefix="x_"/></frame>',
    "in a body": root('<attach model="hand" body="arm" prefix="x_"/>'),
    "twice": root('<attach model="hand" body="arm" prefix="x_"/><attach model="hand" body="arm" prefix="y_"/>'),
}


@pytest.mark.parametrize("inside", ATTACHED)
def test_another_model_is_attached_with_its_own_angles_and_classes(inside, folder):
    before = HAND + '<default><joint damping="4" armature="9"/><geom density="3"/></default>'
    compared(folder({"main.xml": world(ATTACHED[inside], before), "hand.xml": CHILD}))


def test_a_motor_of_the_main_file_drives_a_joint_that_was_attached(folder):
    motor = '<actuator><motor joint="x_elbow" gear="3" armature="1"/></actuator>'
    main = world(root('<attach model="hand" body="arm" prefix="x_"/>'), HAND)
    compared(folder({"main.xml": main.replace("</mujoco>", motor + "</mujoco>"), "hand.xml": CHILD}))


def test_a_class_of_the_place_does_not_reach_into_an_attached_model(folder):
    classes = '<default><default class="q"><joint frictionloss="5"/></default></default>'
    inside = f'<body name="root" childclass="q"><joint/>{BOX}<attach model="hand" body="arm" prefix="x_"/></body>'
    compared(folder({"main.xml": world(inside, HAND + classes), "hand.xml": CHILD}))


def test_a_frame_with_a_class_is_attached_with_it(folder):
    classes = '<default><default class="cc"><joint armature="2"/></default></default>'
    child = world(f'<frame name="f" childclass="cc" pos="1 1 1">{ARM}</frame>', classes)
    for what in ('frame="f"', ""):
        main = world(f'<frame pos="1 2 3"><attach model="hand" {what} prefix="x_"/></frame>', HAND)
        compared(folder({"main.xml": main, "hand.xml": child}))


def test_geoms_and_sites_of_an_attached_world_belong_to_the_body(folder):
    main = world('<body name="q"><joint axis="1 0 0"/><attach model="hand" prefix="x_"/></body>', HAND)
    child = world(f'<geom size=".2" pos="1 1 1"/><site name="u" pos="0 1 0"/>{ARM}')
    compared(folder({"main.xml": main, "hand.xml": child}))


def test_models_that_attach_models_look_beside_themselves(folder):
    main = world(
        root('<attach model="m" body="k" prefix="x_"/>'), '<asset><model name="m" file="sub/child.xml"/></asset>'
    )
    frame = '<frame euler="1 2 3"><attach model="g" body="arm" prefix="y_"/></frame>'
    inner = f'<body name="k"><joint name="kj"/>{BOX}{frame}</body>'
    child = world(inner, '<asset><model name="g" file="g.xml"/></asset>')
    compared(folder({"main.xml": main, "sub/child.xml": child, "sub/g.xml": CHILD}))


def test_a_model_asset_without_a_name_has_the_name_of_its_model(folder):
    main = world('<attach model="kid" body="arm" prefix="x_"/>', '<asset><model file="hand.xml"/></asset>')
    compared(folder({"main.xml": main, "hand.xml": CHILD.replace("<mujoco>", '<mujoco model="kid">')}))


@pytest.mark.parametrize("who", ["main", "hand"])
@pytest.mark.parametrize("setting", [
    'boundmass="100" boundinertia="50"', 'inertiafromgeom="true"', 'settotalmass="3"', 'inertiagrouprange="1 2"',
    'alignfree="true"', 'balanceinertia="true"',
])  # fmt: skip
def test_whose_settings_count_for_an_attached_body(setting, who, folder):
    weight = "<inertial pos='1 0 0' mass='1' diaginertia='1 1 1.5'/>"
    inside = f'<body name="a"><joint/>{weight}{BOX}<geom group="1" size=".2"/></body>'
    loose = '<body name="l" pos="1 2 3"><freejoint/><geom type="box" size=".1 .2 .3" pos="1 0 0" group="1"/></body>'
    compiler = {who: f"<compiler {setting}/>"}
    main = world(inside + '<attach model="hand" prefix="x_"/>', compiler.get("main", "") + HAND)
    compared(folder({"main.xml": main, "hand.xml": world(inside + loose, compiler.get("hand", ""))}))


def test_keyframes_of_an_attached_model_are_left_out_and_named(folder):
    child = CHILD.replace("</mujoco>", '<keyframe><key name="home" qpos=".5 0 0 0 1 0 0 0"/></keyframe></mujoco>')
    robot = hinge.load(folder({"main.xml": world(ATTACHED["in a body"], HAND), "hand.xml": child}))
    assert robot.keyframes == {}
    (finding,) = (f for f in robot.report if f.code == "attached-keyframe")
    assert (finding.severity, finding.where.file, finding.where.line) == ("note", "hand.xml", 5)


def test_gravity_of_an_attached_model_does_not_count(folder):
    child = CHILD.replace("</mujoco>", '<option gravity="1 2 3"/></mujoco>')
    compared(folder({"main.xml": world(ATTACHED["in a body"], HAND), "hand.xml": child}))


def test_packages_are_searched_too(folder, tmp_path):
    path = folder({"a/main.xml": world('<include file="arm.xml"/>'), "b/arm.xml": f"<x>{ARM}</x>"})
    assert hinge.load(path, packages=[tmp_path / "b"]).joint_names == ("elbow",)


def test_a_text_finds_its_files_in_packages(folder, tmp_path):
    folder({"arm.xml": f"<x>{ARM}</x>"})
    assert hinge.load(world('<include file="arm.xml"/>'), packages=[tmp_path]).joint_names == ("elbow",)
