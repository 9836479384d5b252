"""Robot files are read as MuJoCo reads them, written without loss, and not run where a part would be left out."""

import mujoco
import numpy as np
import pytest

import hinge
from hinge.model.file_physics import FEATURES

ARM = """<body name="arm" pos="0 0 1"><joint name="j" axis="0 1 0" {joint}/>
  <geom name="g" {geom} size=".1" pos=".5 0 0" mass="1"/>{more}</body>"""


def arm(joint="", geom="", more="", after="", before=""):
    return f"<mujoco>{before}<worldbody>{ARM.format(joint=joint, geom=geom, more=more)}</worldbody>{after}</mujoco>"


# ---- meshes

BOX = [(x * 0.1, y * 0.2, z * 0.3) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]
FACES = [(0, 1, 3), (0, 3, 2), (4, 6, 7), (4, 7, 5), (0, 4, 5), (0, 5, 1),
         (2, 3, 7), (2, 7, 6), (0, 2, 6), (0, 6, 4), (1, 5, 7), (1, 7, 3)]  # fmt: skip
QUARTER = 'refquat="0.7071067811865476 0.7071067811865476 0 0"'
REFERENCES = {
    "position": 'refpos="0 0 0.5"',
    "rotation": QUARTER,
    "any rotation": 'refpos=".1 .2 .3" refquat="0.8 0.1 0.5 -0.2"',
    "scaled": 'refpos="0 0 0.5" scale=".5 2 1.5"',
    "scaled and rotated": f'refpos=".1 .2 .3" {QUARTER} scale=".5 2 1.5"',
}


@pytest.mark.parametrize("reference", REFERENCES)
def test_the_reference_of_a_mesh_moves_its_shape(reference, tmp_path):
    corners = "".join("v {} {} {}\n".format(*p) for p in BOX)
    (tmp_path / "m.obj").write_text(corners + "".join("f {} {} {}\n".format(*(k + 1 for k in f)) for f in FACES))
    path = tmp_path / "a.xml"
    path.write_text(f"""<mujoco><asset><mesh name="m" file="m.obj" {REFERENCES[reference]}/></asset><worldbody>
      <geom type="plane" size="5 5 1"/><body name="b" pos="0 0 3" quat="0.9 0.1 0.3 0.2"><freejoint/>
      <geom type="mesh" mesh="m" mass="1" pos=".1 0 .2" quat=".5 .5 .1 0"/></body></worldbody></mujoco>""")
    robot = hinge.load(path)
    assert not hinge.write(robot, tmp_path / "written.xml")
    for file in (path, tmp_path / "written.xml"):
        m = mujoco.MjModel.from_xml_path(str(file))
        d = mujoco.MjData(m)
        mujoco.mj_forward(m, d)
        theirs = mujoco.mj_geomDistance(m, d, 0, 1, 100.0, np.zeros(6))
        again = hinge.load(file)
        ours = again.distances(again.neutral(), pairs=[("b", "world")]).distance[0]
        np.testing.assert_allclose(ours, theirs, atol=1e-6)
        np.testing.assert_allclose(again.mass_matrix(again.neutral()), robot.mass_matrix(robot.neutral()), atol=1e-12)


def test_unequal_scales_that_a_reference_turns_are_a_finding(tmp_path):
    (tmp_path / "m.obj").write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 1 4 3\n")
    asset = '<asset><mesh name="m" file="m.obj" refquat="0.8 0.1 0.5 -0.2" scale="1 2 3"/></asset>'
    (tmp_path / "a.xml").write_text(arm(more='<geom type="mesh" mesh="m" mass="1"/>', before=asset))
    (finding,) = hinge.load(tmp_path / "a.xml").report
    assert (finding.severity, finding.code) == ("warning", "mesh-scale")


# ---- masses

GEOM = '<geom size=".1" mass="1"/>'
STATIC = {
    "plain": (f'<body name="post">{GEOM}<body name="top">{GEOM}</body></body>', ""),
    "mocap": (f'<body name="post" mocap="true">{GEOM}</body>', ""),
    "fuse": (f'<body name="post" fuse="false">{GEOM}</body>', ""),
    "camera": (f'<body name="post">{GEOM}</body><camera mode="targetbody" target="post"/>', ""),
    "weld": (f'<body name="post">{GEOM}</body>', '<equality><weld body1="post" body2="arm"/></equality>'),
    "exclude": (f'<body name="post">{GEOM}</body>', '<contact><exclude body1="post" body2="arm"/></contact>'),
    "sensor": (f'<body name="post">{GEOM}</body>', '<sensor><framepos objtype="body" objname="post"/></sensor>'),
    "site": (f'<body name="post">{GEOM}<site name="s"/></body>',
             '<sensor><framepos objtype="site" objname="s"/></sensor>'),
}  # fmt: skip


@pytest.mark.parametrize("fusestatic", ["true", "false"])
@pytest.mark.parametrize("case", STATIC)
def test_the_total_mass_counts_the_bodies_that_mujoco_counts(case, fusestatic):
    static, after = STATIC[case]
    body = f'<body name="arm" pos="0 0 1"><joint name="j" axis="0 1 0"/>{GEOM}<body name="tool">{GEOM}</body></body>'
    text = f"""<mujoco><compiler settotalmass="10" fusestatic="{fusestatic}"/><worldbody>{static}{body}</worldbody>
      {after}</mujoco>"""
    m = mujoco.MjModel.from_xml_string(text)
    np.testing.assert_allclose(hinge.load(text).mass, m.body_subtreemass[m.body("arm").id], rtol=1e-12)


# ---- writing

UNSIMULATED = {
    "fluid": arm(before='<option density="1000" viscosity="1"/>'),
    "wind": arm(before='<option density="100" wind="5 0 0" magnetic="0 1 0" o_margin="0.1"/>'),
    "flags": arm(before='<option noslip_iterations="3"><flag diagexact="enable" energy="enable"/></option>'),
    "springdamper": arm('springdamper=".1 1"'),
    "springyield": arm('stiffness="3" springyield="1"'),
    "nonlinear": arm('stiffness="3 2 1" damping="1 0 2"'),
    "surface": arm(geom='adhesion="1" surfacevel="1 0 0 0 0 0" fluidshape="ellipsoid"'),
    "group": arm(before='<option actuatorgroupdisable="2"/>',
                 after='<actuator><motor joint="j" group="2"/></actuator>'),
}  # fmt: skip


@pytest.mark.parametrize("what", UNSIMULATED)
def test_what_hinge_does_not_simulate_is_written_all_the_same(what, tmp_path):
    robot = hinge.load(UNSIMULATED[what])
    assert not hinge.write(robot, tmp_path / "w.xml")
    assert hinge.load(tmp_path / "w.xml").model.physics == robot.model.physics
    ends = []
    for m in (mujoco.MjModel.from_xml_string(UNSIMULATED[what]), mujoco.MjModel.from_xml_path(str(tmp_path / "w.xml"))):
        d = mujoco.MjData(m)
        d.ctrl[:] = 1.0
        for _ in range(100):
            mujoco.mj_step(m, d)
        ends.append(d.qpos.copy())
    np.testing.assert_allclose(*ends, atol=1e-12)


def test_a_table_keeps_limits_of_zero(tmp_path):
    robot = hinge.dh([{"a": 1.0, "mass": 1.0, "velocity": 0.0, "effort": 0.0, "damping": 0.0}])
    assert [finding.code for finding in hinge.write(robot, tmp_path / "w.toml")] == ["links"]
    again = hinge.load(tmp_path / "w.toml")
    assert (again.limits.velocity, again.limits.effort) == ([0.0], [0.0])


@pytest.mark.parametrize("name", ["base", "j"])
def test_a_joint_with_the_name_of_a_fixed_body_is_written(name, tmp_path):
    text = f"""<mujoco><worldbody><body name="mount"><geom size=".1" mass="1"/><body name="{name}" pos="0 0 .1">
      <geom size=".05" mass="1"/><body name="f" pos="0 0 .1"><joint name="j" axis="0 1 0"/><geom size=".03" mass=".1"/>
      </body></body></body></worldbody></mujoco>"""
    robot = hinge.load(text, base="floating")
    hinge.write(robot, tmp_path / "w.xml")
    again = hinge.load(tmp_path / "w.xml")
    assert (again.joint_names, set(again.frame_names)) == (robot.joint_names, set(robot.frame_names))


# ---- running

LEFT_OUT = {
    "muscle": arm(after='<actuator><muscle joint="j"/></actuator>'),
    "dyntype": arm(after='<actuator><general joint="j" dyntype="filter" dynprm=".1"/></actuator>'),
    "delay": arm(after='<actuator><motor joint="j" delay=".1" nsample="3"/></actuator>'),
    "gaintype": arm(after='<actuator><general joint="j" gaintype="user"/></actuator>'),
    "spatial": arm(more='<site name="s"/><site name="t" pos="1 0 0"/>', after='<tendon><spatial stiffness="1">'
                   '<site site="s"/><site site="t"/></spatial></tendon>'),
    "fluid": UNSIMULATED["fluid"],
    "springdamper": UNSIMULATED["springdamper"],
    "springyield": UNSIMULATED["springyield"],
    "nonlinear": UNSIMULATED["nonlinear"],
    "adhesion": arm(geom='adhesion="1"'),
    "surfacevel": arm(geom='surfacevel="1 0 0 0 0 0"'),
    "noslip": arm(before='<option noslip_iterations="3"/>'),
    "diagexact": arm(before='<option><flag diagexact="enable"/></option>'),
    "free-armature": '<mujoco><worldbody><body><joint type="free" armature="1"/><geom size=".1"/></body></worldbody>'
                     '</mujoco>',
}  # fmt: skip


@pytest.mark.sampled(7)
@pytest.mark.parametrize("feature", LEFT_OUT)
def test_a_file_with_what_hinge_does_not_simulate_runs_only_where_the_user_ignores_it(feature):
    robot = hinge.load(LEFT_OUT[feature])
    calls = (
        lambda **more: hinge.simulate(robot, 0.01, physics="file", **more).status,
        lambda **more: (
            hinge.rollout(robot, robot.neutral(), np.zeros(robot.nv), 5, 1e-3, physics="file", **more).status
        ),
    )
    for call in calls:
        with pytest.raises(hinge.NotCovered, match=f'\n  {feature}: (.|\n)*ignore=\\("{feature}",\\)'):
            call()
        assert not np.any(call(ignore=(feature,)))


def test_a_tendon_without_forces_does_not_keep_a_file_from_running():
    text = LEFT_OUT["spatial"].replace(' stiffness="1"', "")
    assert not hinge.simulate(hinge.load(text), 0.01, physics="file").status


def test_features_to_ignore_are_known_by_name():
    robot = hinge.load(LEFT_OUT["muscle"])
    with pytest.raises(hinge.HingeError, match="muscle"):
        hinge.simulate(robot, 0.01, physics="file", ignore=("muscel",))
    with pytest.raises(hinge.HingeError, match="sequence"):
        hinge.simulate(robot, 0.01, physics="file", ignore="muscle")
    with pytest.raises(hinge.HingeError, match="physics"):
        hinge.simulate(robot, 0.01, ignore=("muscle",))
    assert {one.feature for text in LEFT_OUT.values() for one in hinge.load(text).model.physics.left_out} <= {*FEATURES}
