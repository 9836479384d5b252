"""Files that cannot be written, and what each format cannot say: every message whole."""

import os
import stat
import sys
from dataclasses import replace

import numpy as np
import pytest
from round_trip import again, codes, same_dynamics

import hinge
from hinge.model import Builder
from hinge.model.file_physics import Surface
from hinge.model.samples import _random_body
from hinge.model.shapes import Shape

ARM = hinge.samples.pendulum(1)
WITHIN = {"lower": -1, "upper": 1, "velocity": 2.0, "effort": 3.0}


def one(kind="revolute", base="fixed", **options):
    """A robot of one joint."""
    builder = Builder("one")
    builder.link("base")
    builder.link("body", **_random_body(np.random.default_rng(1)))
    builder.joint("joint", kind, "base", "body", **options)
    return hinge.Robot(builder.build(base=base))


def impossible():
    """An arm of bodies that cannot be: one without mass, and one with inertias of which two are too small."""
    rows = [{"inertia": np.diag([0, 0.35, 0])}, {"a": 0.4, "mass": 4.8, "inertia": np.diag([0.066, 0.086, 0.0125])}]
    return hinge.dh([row | {"limits": (-1.0, 1.0)} for row in rows])


def refused(robot, path):
    with pytest.raises(hinge.HingeError) as caught:
        hinge.write(robot, path)
    return caught.value


# ---- files


def test_an_unknown_suffix_offers_the_nearest(tmp_path):
    error = refused(ARM, "arm.urd")
    assert (type(error), error.code) == (hinge.ModelError, "suffix")
    assert str(error) == "arm.urd has the suffix '.urd'.\n  Did you mean '.urdf'?"
    assert str(refused(ARM, "arm")) == "arm has no suffix that names a format.\n  Known: '.toml', '.urdf', '.xml'."
    assert len(hinge.write(ARM, tmp_path / "ARM.URDF")) == 0


def test_a_folder_that_is_not_there_is_named(tmp_path):
    path = tmp_path / "none" / "arm.urdf"
    error = refused(ARM, path)
    assert error.code == "no-folder"
    assert str(error) == f"{path} cannot be written: there is no folder {path.parent}.\n  Make it first."


def test_a_folder_is_not_a_file(tmp_path):
    (tmp_path / "arm.urdf").mkdir()
    error = refused(ARM, tmp_path / "arm.urdf")
    assert str(error) == f"{tmp_path / 'arm.urdf'} cannot be written: it is a folder.\n  Give the name of a file."


def test_a_place_that_cannot_be_written_is_named(tmp_path, monkeypatch):
    path = tmp_path / "arm.urdf"
    path.write_text("old")

    def full(*args):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    error = refused(ARM, path)
    assert error.code == "not-writable"
    assert str(error) == (
        f"{path} cannot be written: No space left on device.\n  Make room there, or choose another place."
    )
    assert path.read_text() == "old"
    assert [p.name for p in tmp_path.iterdir()] == ["arm.urdf"]


def test_a_robot_that_cannot_be_written_leaves_the_old_file(tmp_path):
    path = tmp_path / "arm.urdf"
    path.write_text("old")
    refused(one("helical", pitch=0.1), path)
    assert path.read_text() == "old"
    assert [p.name for p in tmp_path.iterdir()] == ["arm.urdf"]


@pytest.mark.skipif(sys.platform == "win32", reason="modes and links are those of POSIX")
def test_what_could_not_be_read_again_is_not_written(tmp_path):
    path = tmp_path / "arm.xml"
    hinge.write(ARM, path)
    before = path.read_bytes()
    builder = Builder("light")
    builder.link("base")
    builder.link("body", mass=-1.0, inertia=np.eye(3))
    builder.joint("joint", "revolute", "base", "body")
    error = refused(hinge.Robot(builder.build()), path)
    assert type(error) is hinge.NotCovered
    assert str(error) == (
        f"{path} is not written, because it could not be read again: <inertial> has mass -1 kg.\n  Write zero or more."
    )
    assert path.read_bytes() == before


def test_a_replaced_file_keeps_its_mode_and_a_link_its_target(tmp_path):
    real = tmp_path / "real.urdf"
    real.write_text("old")
    real.chmod(0o640)
    (tmp_path / "link.urdf").symlink_to(real)
    hinge.write(ARM, tmp_path / "link.urdf")
    assert (tmp_path / "link.urdf").is_symlink()
    assert stat.S_IMODE(real.stat().st_mode) == 0o640
    assert hinge.load(real).nv == 1


# ---- what no file can say


def test_joints_without_a_word_are_refused_by_name(tmp_path):
    for kind, options in (("helical", {"pitch": 0.1}), ("rolling", {}), ("sphere_in_cylinder", {})):
        can = " A .toml file can, where the robot is an arm." if kind == "helical" else ""
        for suffix in (".urdf", ".xml"):
            error = refused(one(kind, **options), tmp_path / f"x{suffix}")
            assert type(error) is hinge.NotCovered
            assert str(error) == f"joint 'joint' is {kind}, which a {suffix} file has no word for.{can}"
    driven = hinge.samples.planar_2r().prescribe("shoulder")
    assert "joint 'shoulder' is driven revolute" in str(refused(driven, tmp_path / "x.urdf"))


def test_armature_that_differs_along_a_joint_is_refused(tmp_path):
    robot = one("spherical", armature=(0.1, 0.2, 0.3))
    assert str(refused(robot, tmp_path / "x.xml")) == (
        "joint 'joint': it has armature 0.1 0.2 0.3; MJCF has one number for all of them, and its dynamics "
        "would be others."
    )
    assert str(refused(robot, tmp_path / "x.urdf")) == (
        "joint 'joint': it has armature 0.1 0.2 0.3; URDF has one number for all of them, and its dynamics "
        "would be others."
    )
    split, _ = again(one("universal", armature=(0.1, 0.2)), tmp_path, ".xml")
    assert [data.armature for data in split.model.data[1:]] == [(0.1,), (0.2,)]


def test_a_free_joint_away_from_the_world_is_refused_in_mjcf(tmp_path):
    robot = one("free", xyz=(0, 0, 1))
    assert str(refused(robot, tmp_path / "x.xml")) == (
        "joint 'joint' is free, and does not begin at the world's origin: MJCF has no other. A .urdf file can say it."
    )
    made, _ = again(robot, tmp_path, ".urdf")
    same_dynamics(robot, made)


def test_names_that_xml_cannot_hold_are_refused(tmp_path):
    builder = Builder("r")
    builder.link("bad\x01name")
    robot = hinge.Robot(builder.build())
    assert str(refused(robot, tmp_path / "x.urdf")) == (
        "'bad\\x01name' has the character U+0001, which no XML file holds. Rename it, or write .toml."
    )


# ---- what is a finding


def said(robot, folder, suffix):
    _, report = again(robot, folder, suffix)
    return [str(finding) for finding in report]


@pytest.mark.parametrize(
    ("suffix", "robot", "messages"),
    [
        (".urdf", lambda: one(), ["note: joint 'joint': a revolute joint without limits is what URDF calls continuous; "
                                  "differences are read the short way."]),
        (".urdf", lambda: one("continuous"), []),
        (".urdf", lambda: one("prismatic"), ["note: joint 'joint': a slide without limits is written without; "
                                             "readers other than hinge may refuse that."]),
        (".urdf", lambda: one("prismatic", lower=0.0, velocity=2.0, effort=3.0), [
            "warning: joint 'joint': URDF has no joint with one limit or none but continuous ones; ±1e+09 "
            "stands for the other."]),
        (".urdf", lambda: one(lower=-1, upper=1), [
            "note: joint 'joint': URDF wants effort where it has other limits; 1e+09 stands for none.",
            "note: joint 'joint': URDF wants velocity where it has other limits; 1e+09 stands for none."]),
        (".urdf", lambda: one("spherical"), [
            "warning: joint 'joint': URDF has no balls; type=\"spherical\" is read by hinge, and refused by others."]),
        (".urdf", lambda: one(**WITHIN, armature=0.1, stiffness=2.0), [
            "note: joint 'joint': URDF has no stiffness; <dynamics stiffness=…> is read by hinge and left out "
            "by others.",
            "note: joint 'joint': URDF has no armature; <dynamics armature=…> is read by hinge and left out by "
            "others."]),
        (".urdf", lambda: one(**WITHIN, reference=0.5, rest=0.2), [
            "warning: joint 'joint': URDF has no word for a joint's reference; it was left out.",
            "warning: joint 'joint': URDF has no word for a joint's rest; it was left out."]),
        (".urdf", lambda: one(**WITHIN, child_xyz=(1, 0, 0)), [
            "note: joint 'joint': the file has a link 'body(joint)' without mass for it, which the robot has not."]),
        (".urdf", lambda: one("universal", damping=(0.1, 0.2)), [
            "note: joint 'joint': it is universal, and is written as the joints 'joint_1', 'joint_2'.",
            "note: joint 'joint_1': the file has a link 'body(joint_1)' without mass for it, which the robot has not.",
            "note: joints 'joint_1', 'joint_2': a revolute joint without limits is what URDF calls continuous; "
            "differences are read the short way."]),
        (".urdf", lambda: one("planar", damping=(0.1, 0.2, 0.3)), [
            "warning: joint 'joint': it has damping 0.1 0.2 0.3; URDF has one number for all of them, and it "
            "was left out."]),
        (".urdf", lambda: one(base="floating", **WITHIN), [
            "note: joint 'base': a floating base is written as a joint of type floating on a link 'world'."]),
        (".xml", lambda: one(), []),
        (".xml", lambda: one("continuous"), ["note: joint 'joint': MJCF has no word for a joint that goes "
        "round; differences "
                                             "are read the long way."]),
        (".xml", lambda: one(lower=0.0, upper=0.0), [
            "warning: joint 'joint': MJCF has no range of one point, 0; it was left out, and the joint moves freely.\n"
            "  Lock it first: robot.lock(…)."]),
        (".xml", lambda: one(upper=1.0), ["warning: joint 'joint': MJCF has no joint with one limit; ±1e+09 "
        "stands for the other."]),
        (".xml", lambda: one(velocity=2.0, effort=0.0), [
            "note: joint 'joint': MJCF has no force range of 0; it was left out.",
            "note: joint 'joint': MJCF has no limits of velocity; they were left out."]),
        (".xml", lambda: one("spherical", reference=(0, 1, 0, 0)), [
            "warning: joint 'joint': MJCF has no other reference or rest for a joint of several freedoms than "
            "where it is "
            "neutral."]),
        (".xml", lambda: hinge.samples.puma560(), []),
        (".xml", lambda: impossible(), [
            "warning: link 'link1': MuJoCo refuses a body that moves and has no mass.\n  Give it a mass, or "
            "weld it to another.",
            "warning: links 'link1', 'link2': MuJoCo refuses an inertia that no body has.\n"
            "  See what hinge.repair makes of it."]),
        (".xml", lambda: hinge.samples.planar_2r().vary("lower.mass").with_payload("hand", 1.0), [
            "note: parameter 'lower.mass': a file has its nominal value only.",
            "note: link 'lower': the inertia of all on the body is written here, because it is not the sum of what "
            "was said of its links."]),
    ],
)  # fmt: skip
def test_what_is_not_said_is_a_finding(suffix, robot, messages, tmp_path):
    assert said(robot(), tmp_path, suffix) == messages


def test_shapes(tmp_path):
    turned = ((0.0, -1.0, 0.0), (1.0, 0.0, 0.0), (0.0, 0.0, 1.0))
    (tmp_path / "meshes").mkdir()
    mesh = tmp_path / "meshes" / "part.obj"
    mesh.write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n")
    shapes = (
        Shape("visual", "box", (1.0, 2.0, 3.0), xyz=(0.1, 0.2, 0.3), rotation=turned, rgba=(1.0, 0.5, 0.0, 1.0)),
        Shape("collision", "sphere", (0.5,), name="ball"),
        Shape("visual", "cylinder", (0.5, 2.0), rgba=(1.0, 0.5, 0.0, 1.0)),
        Shape("collision", "capsule", (0.5, 2.0)),
        Shape("visual", "mesh", file=str(mesh), scale=(1.0, 2.0, 1.0)),
    )
    robot = one(**WITHIN)
    robot = hinge.Robot(replace(robot.model, shapes={"body": shapes}))
    for suffix in (".urdf", ".xml"):
        made, report = again(robot, tmp_path, suffix)
        assert codes(report) == ["velocity"] * (suffix == ".xml")
        for ours, theirs in zip(made.model.shapes["body"], shapes, strict=True):
            touches = Surface() if suffix == ".xml" and ours.role == "collision" else None
            assert replace(ours, rotation=(), file="") == replace(theirs, rotation=(), file="", surface=touches)
            np.testing.assert_allclose(ours.rotation, theirs.rotation, rtol=0, atol=1e-15)
            assert os.path.basename(ours.file) == os.path.basename(theirs.file)
    mujoco = pytest.importorskip("mujoco")
    model = mujoco.MjModel.from_xml_path(str(tmp_path / "robot.xml"))
    assert (model.ngeom, model.nmesh, model.body_mass[-1]) == (5, 1, robot.mass)


def test_meshes_elsewhere_are_named_by_package(tmp_path):
    (tmp_path / "my_robot" / "meshes").mkdir(parents=True)
    (tmp_path / "my_robot" / "package.xml").write_text("<package/>")
    mesh = tmp_path / "my_robot" / "meshes" / "part.dae"
    mesh.write_text("")
    (tmp_path / "out").mkdir()
    robot = one(**WITHIN)
    robot = hinge.Robot(replace(robot.model, shapes={"body": (Shape("visual", "mesh", file=str(mesh)),)}))
    report = hinge.write(robot, tmp_path / "out" / "r.urdf")
    assert str(report) == (
        f"note: link 'body': meshes that lie in {tmp_path / 'my_robot'} are named by package.\n"
        f"  Read it with packages=[{str(tmp_path)!r}]."
    )
    assert hinge.load(tmp_path / "out" / "r.urdf").nv == 1
    found = hinge.load(tmp_path / "out" / "r.urdf", packages=[tmp_path])
    assert found.model.shapes["body"][0].file == str(mesh)
    assert said(robot, tmp_path, ".xml") == [
        "note: joint 'joint': MJCF has no limits of velocity; they were left out.",
        "note: link 'body': a .dae mesh is none that MuJoCo opens; it was left out.\n"
        "  It opens binary .stl files of up to 200000 faces, .obj and .msh.",
    ]


EXTRAS = """
<mujoco model="kept"><compiler angle="radian"/>
<worldbody>
  <body name="box" pos="0 0 1"><freejoint name="root"/><site name="box"/>
    <inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/>
    <body name="arm"><joint name="a" axis="0 1 0" ref="0.2"/><site name="s"/>
      <inertial pos="1 0 0" mass="1" diaginertia="1 1 1"/>
      <body name="hand"><joint name="b" axis="0 1 0" ref="0.1"/>
        <inertial pos="1 0 0" mass="1" diaginertia="1 1 1"/>
      </body></body></body>
</worldbody>
<equality><joint joint1="b" joint2="a" polycoef="0.5 2 0 0 0"/></equality>
<actuator><motor name="m" joint="a" gear="3" armature="0.1"/></actuator>
<sensor><jointpos joint="a"/><gyro site="s"/><velocimeter site="box"/></sensor>
<keyframe><key name="k" qpos="1 2 3 0 1 0 0 0.4 0.5" ctrl="0.7"/></keyframe>
</mujoco>"""


def test_what_an_mjcf_file_says_besides_is_written_back(tmp_path):
    mujoco = pytest.importorskip("mujoco")
    robot = hinge.load(EXTRAS)
    made, report = again(robot, tmp_path, ".xml")
    assert codes(report) == []
    same_dynamics(robot, made)
    np.testing.assert_array_equal(made.keyframes["k"], [0, 1, 0, 0, 1, 2, 3, 0.4, 0.5])
    old = mujoco.MjModel.from_xml_string(EXTRAS)
    new = mujoco.MjModel.from_xml_path(str(tmp_path / "robot.xml"))
    for what in ("nu", "neq", "nsensor", "nkey", "nsite"):
        assert getattr(new, what) == getattr(old, what)
    for what in ("qpos0", "key_qpos", "key_ctrl", "eq_data", "actuator_gear"):
        np.testing.assert_array_equal(getattr(new, what), getattr(old, what))
    np.testing.assert_allclose(made.model.data[2].armature, [0.9], atol=1e-15)  # gear² × armature, once


def test_a_linear_equality_becomes_mimic(tmp_path):
    """MuJoCo has b - 0.1 = 0.5 + 2 (a - 0.2)."""
    robot = hinge.load(EXTRAS)
    made, report = again(robot, tmp_path, ".urdf")
    assert (robot.nv, made.nv) == (8, 7)
    (follow,) = made.model.follows.values()
    assert (follow.ratio, follow.offset) == (2.0, pytest.approx(0.2, abs=1e-15))
    assert [str(f) for f in report if f.code in ("mimic", "extras")] == [
        "note: joint 'b': it is kept in step with joint 'a' by an equality, and is written as <mimic>.\n"
        '  Read it with mimic="free" to have it move by itself.',
        "note: robot 'kept': URDF has no word for what is said of its sensor; it was left out.\n  An .xml file has it.",
        "note: robot 'kept': URDF has no word for what is said of its actuator; it was left out.\n  An .xml "
        "file has it.",
        "note: robot 'kept': URDF has no word for what is said of its keyframes; it was left out.\n  An .xml "
        "file has it.",
    ]
    free, _ = again(robot, tmp_path, ".urdf", mimic="free")
    same_dynamics(robot, free)


@pytest.mark.parametrize(
    "said", ['joint1="b"', 'joint1="b" joint2="a" polycoef="0 1 1 0 0"', 'joint1="b" joint2="a" active="false"']
)
def test_other_equalities_stay_out_of_urdf(said, tmp_path):
    text = EXTRAS.replace('joint1="b" joint2="a" polycoef="0.5 2 0 0 0"', said)
    made, report = again(hinge.load(text), tmp_path, ".urdf")
    assert made.nv == 8
    assert "URDF has no word for its equality <joint>; it was left out." in str(report)


def test_what_speaks_of_a_locked_joint_is_left_out(tmp_path):
    mujoco = pytest.importorskip("mujoco")
    robot = hinge.load(EXTRAS).lock({"a": 0.3})
    made, report = again(robot, tmp_path, ".xml")
    same_dynamics(robot, made)
    assert str(report) == (
        "warning: robot 'kept': <joint> of its equality speaks of joint 'a', which is not there; it was left out.\n"
        "warning: robot 'kept': <motor> of its actuator speaks of joint 'a', which is not there; it was left out.\n"
        "warning: robot 'kept': <jointpos> of its sensor speaks of joint 'a', which is not there; it was left out.\n"
        "warning: keyframe 'k': it has 9 coordinates, the robot 8; it was left out."
    )
    assert mujoco.MjModel.from_xml_path(str(tmp_path / "robot.xml")).nu == 0
