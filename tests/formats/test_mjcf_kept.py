"""What an MJCF file says besides its bodies: kept with a finding and out of the dynamics, or refused by name."""

import numpy as np
import pytest
from mujoco_pair import compared

import hinge

BOX = '<geom name="g" type="box" size=".1 .2 .3"/>'
BODIES = f"""<body name="a"><joint name="j" axis="1 0 0"/>{BOX}<site name="s"/>
  <body name="b" pos="0 0 1"><joint name="k" axis="0 1 0"/><geom name="h" size=".1"/></body></body>"""


def world(after="", bodies=BODIES, before=""):
    return f"<mujoco>\n{before}<worldbody>{bodies}</worldbody>\n{after}</mujoco>"


# kept

KEPT = {
    "equality": '<equality><joint joint1="j" joint2="k"/><connect body1="a" anchor="0 0 0"/></equality>',
    "contact": '<contact><pair geom1="g" geom2="h"/><exclude body1="a" body2="b"/></contact>',
    "tendon": '<tendon><fixed name="rope" stiffness="3"><joint joint="j" coef="1"/></fixed></tendon>',
    "actuator-bias": '<actuator><motor joint="j"/><position name="servo" joint="k" kp="3"/></actuator>',
    "left-out": '<option density="1.2" viscosity="0.1"/>',
}


@pytest.mark.parametrize("code", KEPT)
def test_what_is_kept_is_a_finding_and_no_part_of_the_dynamics(code):
    robot = compared(world(KEPT[code])).robot
    (finding,) = robot.report
    assert (finding.severity, finding.code, finding.where.line) == ("note", code, 4)
    plain = hinge.load(world())
    q = [0.3, 0.4]
    np.testing.assert_array_equal(robot.mass_matrix(q), plain.mass_matrix(q))
    np.testing.assert_array_equal(robot.inverse_dynamics(q, q, q), plain.inverse_dynamics(q, q, q))


def test_sections_are_kept_as_plain_data():
    everything = (
        "".join(KEPT.values()) + '<sensor><jointpos joint="j"/></sensor><custom><text name="n" data="d"/></custom>'
    )
    extras = hinge.load(world(everything)).model.extras
    assert {"equality", "contact", "tendon", "actuator", "sensor", "custom"} <= set(extras)
    assert extras["tendon"] == ({"tag": "fixed", "attributes": {"name": "rope", "stiffness": "3"}, "children": (
        {"tag": "joint", "attributes": {"joint": "j", "coef": "1"}, "children": ()},)},)  # fmt: skip
    assert [a["attributes"].get("kp") for a in extras["actuator"]] == [None, "3"]


def test_a_spring_is_kept_in_the_joint():
    robot = compared(
        world(bodies=BODIES.replace('name="j"', 'name="j" stiffness="5" springref="30" damping="2"'))
    ).robot
    (finding,) = robot.report
    assert (finding.severity, finding.code) == ("note", "stiffness")
    data = robot.model.data[1]
    assert (data.stiffness, data.damping) == ((5.0,), (2.0,))
    assert data.rest == pytest.approx([np.pi / 6])


@pytest.mark.parametrize("word", ["stiffness", "damping"])
def test_springs_and_dampers_of_higher_order_are_left_out(word):
    report = hinge.load(world(bodies=BODIES.replace('name="j"', f'name="j" {word}="1 2 3"'))).report
    assert "left-out" in [f.code for f in report]


def test_a_spring_that_mujoco_works_out_is_left_out():
    robot = hinge.load(world(bodies=BODIES.replace('name="j"', 'name="j" springdamper=".1 1"')))
    assert [f.code for f in robot.report] == ["left-out"]
    assert [one.feature for one in robot.model.physics.left_out] == ["springdamper"]


def test_gravity_compensation_is_kept():
    robot = compared(world(bodies=BODIES.replace('name="b"', 'name="b" gravcomp=".5"'))).robot
    assert [f.code for f in robot.report] == ["gravcomp"]
    assert robot.model.extras["gravcomp"] == {"b": 0.5}


def test_a_body_moved_by_motion_capture_is_fixed():
    robot = compared(world(bodies=BODIES + '<body name="hand" mocap="true"/>')).robot
    assert [f.code for f in robot.report] == ["mocap"]


def test_armature_of_a_free_joint_is_a_warning():
    free = f'<body name="a"><joint type="free" armature=".1"/>{BOX}</body>'
    (finding,) = hinge.load(world(bodies=free)).report
    assert (finding.severity, finding.code) == ("warning", "free-armature")


def test_a_keyframe_of_another_size_is_left_out():
    robot = hinge.load(world('<keyframe><key name="home" qpos="1 2 3"/><key name="zero" qpos="0 0"/></keyframe>'))
    assert list(robot.keyframes) == ["zero"]
    (finding,) = robot.report
    assert (finding.severity, finding.code, finding.where.line) == ("warning", "keyframe", 4)


def test_a_range_that_is_not_switched_on_is_a_warning():
    ranged = BODIES.replace('name="j"', 'name="j" range="-1 1"')
    (finding,) = hinge.load(world(bodies=ranged, before='<compiler autolimits="false"/>')).report
    assert (finding.severity, finding.code) == ("warning", "autolimits")


@pytest.mark.parametrize("word", ["friction", "rgba", "contype", "solref", "user"])
def test_what_only_looks_or_touches_is_no_finding(word):
    values = {"friction": "1 .1 .1", "rgba": "1 0 0 1", "contype": "2", "solref": ".1 1", "user": "1"}
    assert len(hinge.load(world(bodies=BODIES.replace('name="g"', f'name="g" {word}="{values[word]}"'))).report) == 0


# refused


def tendon(said):
    return f'<tendon><fixed {said}><joint joint="j" coef="1"/></fixed></tendon>'


REFUSED = {
    "tendon armature": (4, world(tendon('name="rope" armature="3"'))),
    "tendon armature of a class": (4, world(tendon('class="x"'), before=(
        '<default><default class="x"><tendon armature="3"/></default></default>'))),
    "armature of an actuator of a tendon": (4, world('<actuator><motor tendon="rope" armature="1"/></actuator>')),
    "flex": (4, world('<deformable><flex name="f"/></deformable>')),
    "flexcomp": (3, world(bodies='<body>\n<flexcomp name="f"/></body>')),
    "composite": (3, world(bodies='<body>\n<composite type="cable"/></body>')),
    "plugin": (3, world(bodies='<body>\n<plugin plugin="mujoco.elasticity.cable"/></body>')),
    "scaled frame": (3, world(bodies=f'<frame pos="1 0 0"/>\n<frame scale="2">{BODIES}</frame>')),
    "stretched frame": (2, world(bodies=f'<frame scale="1 2 1" scaling="geometry">{BODIES}</frame>')),
    "heavier frame": (2, world(bodies=f'<frame massscale="2">{BODIES}</frame>')),
    "sdf": (3, world(bodies='<body><joint/>\n<geom type="sdf" mesh="m"/></body>')),
    "maxhullvert": (2, world(bodies='<body><geom type="mesh" mesh="m"/></body>', before=(
        '<asset><mesh name="m" maxhullvert="5" vertex="0 0 0 1 0 0 0 1 0 0 0 1 1 1 1"/></asset>'))),
}  # fmt: skip


@pytest.mark.parametrize("what", REFUSED)
def test_what_changes_the_mass_matrix_or_the_tree_and_is_not_modelled(what):
    line, text = REFUSED[what]
    with pytest.raises(hinge.ModelError) as caught:
        hinge.load(text)
    assert (caught.value.code, caught.value.line) == ("unmodelled", line)
    assert caught.value.hint


@pytest.mark.parametrize(
    "asset", ['builtin="sphere" params="1"', 'file="m.stl"><plugin plugin="mujoco.sdf.torus"/></mesh><mesh']
)
def test_a_mesh_that_a_program_makes_cannot_weigh(asset):
    text = world(bodies='<body><geom type="mesh" mesh="m"/></body>', before=f'<asset><mesh name="m" {asset}/></asset>')
    with pytest.raises(hinge.ModelError) as caught:
        hinge.load(text)
    assert caught.value.code in ("builtin", "plugin")


def test_scale_one_a_mass_stated_and_a_field_that_need_not_weigh_are_no_matter():
    stated = '<inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/>'
    robot = hinge.load(
        world(bodies=f'<frame scale="1" massscale="1">{BODIES}</frame><body>{stated}<geom type="sdf"/></body>')
    )
    assert robot.nv == 2


def test_refusals_reach_into_attached_models(folder):
    main = world(bodies='<attach model="m" prefix="x_"/>', before='<asset><model name="m" file="child.xml"/></asset>')
    for what in ("tendon armature", "flex"):
        with pytest.raises(hinge.ModelError) as caught:
            hinge.load(folder({"main.xml": main, "child.xml": REFUSED[what][1]}))
        assert (caught.value.code, caught.value.file, caught.value.line) == ("unmodelled", "child.xml", 4)


def test_gravity_that_would_be_merged_from_an_attached_model_is_refused(folder):
    before = '<compiler conflict="merge"/><asset><model name="m" file="child.xml"/></asset>'
    main = world(bodies='<attach model="m" prefix="x_"/>', before=before)
    with pytest.raises(hinge.ModelError) as caught:
        hinge.load(folder({"main.xml": main, "child.xml": world('<option gravity="0 0 1"/>')}))
    assert (caught.value.code, caught.value.file) == ("unmodelled", "child.xml")
