"""MJCF files that cannot be robots: each has an error with its place, a stable code and what to do about it."""

import json
import os
import struct
import subprocess
import sys

import pytest

import hinge
from hinge.errors import ModelError
from hinge.formats import mjcf, urdf

BOX = '<geom size=".1"/>'


def world(inside, before=""):
    """The world begins on line 3, what is in it on line 4."""
    return f"<mujoco>\n{before}\n<worldbody>\n{inside}\n</worldbody></mujoco>"


def jointed(inside):
    return world(f"<body>{BOX}\n{inside}</body>")


def mesh(said, geom='type="mesh" mesh="m"'):
    return world(f"<body><joint/><geom {geom}/></body>", f'<asset><mesh name="m" {said}/></asset>')


def refused(source, **options):
    with pytest.raises(ModelError) as caught:
        hinge.load(source, **options)
    assert caught.value.hint, "says what to do"
    return caught.value


def text_refused(text):
    with pytest.raises(ModelError) as caught:
        mjcf.read(text, file="bad.xml").build()
    return caught.value


# ---- messages, whole

NUMBER = "Write a plain number such as 0.5 or -1e-3, without a unit."
TREES = "Did you mean 'joint' or 'freejoint'?"
WHOLE = [
    ("number", jointed('<inertial pos="0 0 0" mass="1kg"/>'), '5: inertial mass="1kg" is not a number.', NUMBER),
    ("number", jointed('<joint pos="0 nan 0"/>'), '5: joint pos="0 nan 0": "nan" is not a finite number.', NUMBER),
    ("number", jointed('<joint damping="inf"/>'), '5: joint damping="inf" is not a finite number.', NUMBER),
    ("number", jointed('<joint axis="1 0"/>'), '5: joint axis="1 0" has 2 values, not 3.',
     "Write 3 numbers separated by blanks."),
    ("number", jointed('<joint axis="1,0,0"/>'), '5: joint axis="1,0,0" is not a number.',
     "Separate the numbers by blanks, without commas."),
    ("number", jointed('<geom size=".1" group="1.5"/>'), '5: <geom> has group="1.5".', "Write a whole number."),
    ("class", jointed('<joint class="lgs"/>'), "5: <joint> has default class 'lgs', which does not exist.",
     "Known: 'main'."),
    ("class", world("<body childclass='mian'/>"), "4: <body> has default class 'mian', which does not exist.",
     "Did you mean 'main'?"),
    ("class", world("", "<default class='arm'/>"), "2: the outermost <default> has class 'arm'.",
     'It is always "main": put a <default> with another class inside it.'),
    ("missing", world("", "<default><default/></default>"), "2: <default> has no attribute 'class'.",
     'Write <default class="…">.'),
    ("duplicate-class", world("", "<default><default class='a'/><default class='a'/></default>"),
     "2: there are two default classes 'a'.", "Rename one."),
    ("quaternion", world('<body quat="0 0 0 0"/>'), "4: <body> has a quaternion of length 0.",
     "The quaternion of no rotation is 1 0 0 0."),
    ("zero-axis", jointed('<joint axis="0 0 0"/>'), "5: <joint> has axis without a direction.",
     "Give a vector that is not zero."),
    ("zero-axis", world('<body xyaxes="1 0 0 2 0 0"/>'), "4: <body> has xyaxes without a direction.",
     "Give a vector that is not zero."),
    ("orientation", world('<body quat="1 0 0 0" euler="0 0 0"/>'), "4: <body> has both quat and euler.",
     "They say the same thing twice: keep one of them."),
    ("orientation", jointed('<inertial pos="0 0 0" mass="1" fullinertia="1 1 1 0 0 0" quat="1 0 0 0"/>'),
     "5: <inertial> has both fullinertia and quat.", "Keep one."),
    ("eulerseq", world("", '<compiler eulerseq="xyw"/>'), '2: eulerseq="xyw" is no sequence of axes.',
     "Write three of xyz (turning axes) or XYZ (fixed ones)."),
    ("coordinate", world("", '<compiler coordinate="global"/>'), '2: coordinate="global" is no longer MJCF.',
     "MuJoCo dropped it in version 2.3.4: save the model with an older one, which writes local coordinates."),
    ("word", jointed('<joint type="hing"/>'), '5: <joint> has type="hing".', "Did you mean 'hinge'?"),
    ("word", jointed('<geom type="torus" size="1"/>'), '5: <geom> has type="torus".',
     "Known: 'box', 'capsule', 'cylinder', 'ellipsoid', 'hfield', 'mesh', 'plane', 'sdf', …."),
    ("word", world("", '<compiler angle="deg"/>'), '2: <compiler> has angle="deg".', "Did you mean 'degree'?"),
    ("geom-size", jointed('<geom type="box"/>'), '5: <geom>, a box, has size="".', "Write 3 positive numbers."),
    ("geom-size", jointed('<geom type="capsule" size=".1"/>'), '5: <geom>, a capsule, has size=".1".',
     "Write 2 positive numbers."),
    ("geom-size", jointed('<geom size="1e99"/>'), '5: <geom>, a sphere, has size="1e99".', "Write 1 positive number."),
    ("geom-size", jointed('<geom size="1e-20"/>'), '5: <geom>, a sphere, has size="1e-20".',
     "Write 1 positive number."),
    ("range", world('<body quat="1e308 1e308 1e308 1e308"/>'),
     '4: body quat="1e308 1e308 1e308 1e308": "1e308" is out of range.', "Numbers of a robot are at most 1e+100."),
    ("geom-size", jointed('<geom size="-1"/>'), '5: <geom>, a sphere, has size="-1".', "Write 1 positive number."),
    ("fromto", jointed('<geom type="capsule" size=".1" fromto="1 1 1 1 1 1"/>'),
     "5: <geom> has fromto with two ends in one place.", "Write two points that differ."),
    ("fromto", jointed('<geom size=".1" fromto="1 1 1 1 1 2"/>'),
     "5: <geom>, a sphere, has fromto, which gives no sphere and no radius.",
     "Write another type, and size with the radius."),
    ("negative-mass", jointed('<geom size=".1" mass="-1"/>'), "5: <geom> has a negative mass or density.",
     "Write zero or more."),
    ("negative-mass", jointed('<inertial pos="0 0 0" mass="-1"/>'), "5: <inertial> has mass -1 kg.",
     "Write zero or more."),
    ("range", world('<body name="a"><geom size="1e10" density="1e90"/></body>', '<compiler boundinertia="1"/>'),
     "4: link 'a' has mass 4.18879e+120, which is out of range.", "Numbers of a robot are at most 1e+100."),
    ("missing", jointed('<inertial pos="0 0 0"/>'), "5: <inertial> has no attribute 'mass'.",
     'Write <inertial mass="…">.'),
    ("missing", jointed('<inertial mass="1"/>'), "5: <inertial> has no attribute 'pos'.", 'Write <inertial pos="…">.'),
    ("repeated", jointed('<inertial pos="0 0 0" mass="1"/>' * 2), "5: <body> has two <inertial>.", "Keep one."),
    ("limits", jointed('<joint limited="true"/>'), '5: <joint> has limited="true" and no range.',
     'Write range="lower upper".'),
    ("limits", jointed('<joint name="j" range="2 1"/>'),
     "5: joint 'j' has lower limit 0.0349066 above upper limit 0.0174533.",
     "Swap them, or leave both out for a joint without limits."),
    ("free-joint", world(f"<body>{BOX}<body name='b'>\n<freejoint/></body></body>"),
     "5: body 'b' is free and is not directly in the world.", "A free joint stands alone, in a body of the world."),
    ("free-joint", world("<body name='b'><freejoint/>\n<freejoint/></body>"),
     "4: body 'b' is free and has other joints.", "A free joint stands alone, in a body of the world."),
    ("world", world("<joint/>"), "4: the world has a <joint>.", "Only bodies move and weigh: put it in a <body>."),
    ("unknown-element", jointed("<jiont/>"), "5: <body> has a <jiont>, which MJCF does not know.",
     "Did you mean 'joint'?"),
    ("unknown-element", jointed("<joint><body/></joint>"), "5: <joint> has a <body>, which MJCF does not know.",
     "There are none."),
    ("unknown-attribute", "<mujoco>\n<worldbody pos='1 0 0'/></mujoco>",
     "2: <worldbody> has an attribute 'pos', which MJCF does not know.", "There are none."),
    ("unknown-attribute", world("", "<option gravty='0 0 0'/>"),
     "2: <option> has an attribute 'gravty', which MJCF does not know.", "Did you mean 'gravity'?"),
    ("unknown-element", "<mujoco>\n<worldbdy/></mujoco>", "2: <mujoco> has a <worldbdy>, which MJCF does not know.",
     "Did you mean 'worldbody'?"),
    ("unknown-element", world("<frame><bdy/></frame>"), "4: <frame> has a <bdy>, which MJCF does not know.",
     "Did you mean 'body'?"),
    ("unknown-attribute", jointed('<joint armatur="1"/>'),
     "5: <joint> has an attribute 'armatur', which MJCF does not know.", "Did you mean 'armature'?"),
    ("unknown-attribute", world("", '<default><geom densty="1"/></default>'),
     "2: <geom> has an attribute 'densty', which MJCF does not know.", "Did you mean 'density'?"),
    ("unknown-attribute", world("", '<compiler angel="radian"/>'),
     "2: <compiler> has an attribute 'angel', which MJCF does not know.", "Did you mean 'angle'?"),
    ("duplicate-link", world('<body name="a"/>\n<body name="a"/>'), "5: there are two links named 'a'.",
     "The first one is at line 4. Rename one."),
    ("duplicate-joint", jointed('<joint name="j"/>\n<joint name="j"/>'), "6: there are two joints named 'j'.",
     "The first one is at line 5. Rename one."),
    ("duplicate-frame", world('<site name="s"/>\n<site name="s"/>'),
     "5: frame 's' has the name of a link or another frame.",
     "Links, frames and sites share one name space: rename it."),
    ("duplicate-mesh", world("", '<asset><mesh name="m" file="a"/><mesh name="m" file="b"/></asset>'),
     "2: there are two meshes named 'm'.", "Rename one."),
    ("unknown-mesh", world('<body><geom type="mesh" mesh="n"/></body>', '<asset><mesh name="m" file="a"/></asset>'),
     "4: mesh 'n' is not among the assets.", "Known: 'm'."),
    ("missing", world('<body><geom type="mesh"/></body>'), "4: <geom> has no attribute 'mesh'.",
     'Write <geom mesh="…">.'),
    ("unknown-model", world('<attach model="m" prefix="p"/>'), "4: model 'm' is not among the assets.",
     "There are none."),
    ("unknown-body", world('<body name="arm"/><attach body="amr" prefix="p"/>'), "4: there is no body 'amr' to attach.",
     "Did you mean 'arm'?"),
    ("missing", world('<attach prefix="p"/>'), "4: <attach> names neither a model nor a body.", 'Write body="…".'),
    ("attach-cycle", world('<body name="a"><frame>\n<attach body="a" prefix="p"/></frame></body>'),
     "4: a body is attached inside itself.", "Attach a body that does not hold the <attach>."),
    ("count", world('<replicate count="0"><body/></replicate>'), "4: <replicate> has count 0.", "Write 1 or more."),
    ("no-folder", world('<include file="a.xml"/>'), "4: file 'a.xml' cannot be found: the model was given as text.",
     "Load it from its file, or pass packages=[…] with the folder."),
    ("not-mjcf", "<robot/>", "1: the outermost element is <robot>, not <mujoco>.",
     "An MJCF file is one <mujoco> element with a <worldbody> inside."),
    ("mesh", mesh('vertex="0 0 0 1 0 0"'), "2: mesh 'm' has 2 vertices.", "A mesh has at least three."),
    ("mesh", mesh('vertex="0 0 0 1 0 0 0 1 0 0 0 1" face="0 1 4"'),
     "2: mesh 'm' has faces with vertices it does not have.", "Numbers are 0 … 3."),
    ("mesh-open", mesh('vertex="0 0 0 1 0 0 0 1 0 0 0 1" face="0 2 1 0 1 3" inertia="exact"'),
     "2: mesh 'm' has inertia=\"exact\" and is not closed.", 'Repair it, or use inertia="convex".'),
    ("shellinertia", mesh('vertex="0 0 0 1 0 0 0 1 0 0 0 1"', 'type="mesh" mesh="m" shellinertia="true"'),
     "4: <geom> is a mesh and has shellinertia.", 'Write inertia="shell" in the mesh asset.'),
    ("xml", "<mujoco>\n<worldbody>\n", "3: the file ends before <worldbody> of line 2 is closed.",
     "It looks cut off: fetch or export it again."),
    ("doctype", '<!DOCTYPE mujoco [<!ENTITY a "aa">]>\n<mujoco/>',
     "1: the file declares a document type, <!DOCTYPE mujoco>.",
     "Document types and entities are not read: remove the declaration, write out what its entities stand for."),
    ("encoding", '<mujoco>\n<worldbody><body name="größe"/></worldbody></mujoco>'.encode("latin-1"),
     "2: byte 0xF6 is not UTF-8.",
     'Save the file as UTF-8, or name its encoding: <?xml version="1.0" encoding="ISO-8859-1"?>.'),
]  # fmt: skip


@pytest.mark.timeout(5)
@pytest.mark.parametrize(("code", "text", "message", "hint"), WHOLE)
def test_refused(code, text, message, hint):
    error = text_refused(text)
    assert str(error) == f"bad.xml:{message}\n  {hint}"
    assert (error.code, error.file) == (code, "bad.xml")


def test_nothing_in_a_file_is_a_robot_without_joints():
    """A file with no world is an empty world; only text that is no XML is refused."""
    assert hinge.load('<mujoco model="nothing"/>').nv == 0


@pytest.mark.parametrize("content", ["", "  \n", "not a robot"])
def test_an_empty_file_and_one_without_tags(folder, content):
    error = refused(folder({"bad.xml": content}))
    assert (error.code, error.file) == ("xml", "bad.xml")


# ---- several files


def attach(model):
    return world(f'<attach model="{model}" prefix="p_"/>', f'<asset><model name="{model}" file="{model}.xml"/></asset>')


SEVERAL = {
    # code, file and line of the fault, files
    "include cycle": ("include-cycle", "b.xml", 1, {
        "a.xml": world('<include file="b.xml"/>'), "b.xml": '<x><include file="a.xml"/></x>'}),
    "a file that includes itself": ("include-cycle", "a.xml", 4, {"a.xml": world('<include file="a.xml"/>')}),
    "a file included twice": ("include-cycle", "a.xml", 5, {
        "a.xml": world('<include file="b.xml"/>\n<include file="b.xml"/>'), "b.xml": "<x><site/></x>"}),
    "a missing include": ("no-file", "a.xml", 4, {"a.xml": world('<include file="b.xml"/>')}),
    "an include without a file": ("missing", "a.xml", 4, {"a.xml": world("<include/>")}),
    "a fault in an included file": ("number", "b.xml", 2, {
        "a.xml": world('<include file="b.xml"/>'), "b.xml": '<x>\n<body pos="a b c"/></x>'}),
    "a broken included file": ("xml", "b.xml", 2, {"a.xml": world('<include file="b.xml"/>'), "b.xml": "<x>\n"}),
    "a model that attaches itself": ("attach-cycle", "a.xml", 4, {"a.xml": attach("a")}),
    "models that attach each other": ("attach-cycle", "b.xml", 4, {"a.xml": attach("b"), "b.xml": attach("a")}),
    "a missing model": ("no-file", "a.xml", 2, {"a.xml": attach("b")}),
    "a missing model without a name": ("no-file", "a.xml", 2, {"a.xml": world("", '<asset><model file="b"/></asset>')}),
    "a URDF where a model is wanted": ("not-mjcf", "b.xml", 1, {"a.xml": attach("b"), "b.xml": "<robot/>"}),
    "a fault in an attached model": ("class", "b.xml", 4, {
        "a.xml": attach("b"), "b.xml": world('<body childclass="none"/>')}),
    "names twice by attaching": ("duplicate-link", "b.xml", 4, {
        "a.xml": attach("b").replace("\n</world", '<attach model="b" prefix="p_"/>\n</world'),
        "b.xml": world('<body name="x"/>')}),
    "a missing mesh": ("no-file", "a.xml", 2, {"a.xml": mesh('file="m.stl"')}),
    "a missing folder of meshes": ("no-file", "a.xml", 2, {
        "a.xml": mesh('file="m.stl"').replace("<asset>", '<compiler meshdir="no"/><asset>')}),
    "a mesh of another kind": ("mesh-format", "a.xml", 2, {"a.xml": mesh('file="m.dae"'), "m.dae": "x"}),
    "an empty STL": ("mesh", "a.xml", 2, {"a.xml": mesh('file="m.stl"'), "m.stl": b""}),
    "a cut STL": ("mesh", "a.xml", 2, {
        "a.xml": mesh('file="m.stl"'), "m.stl": b"\0" * 80 + b"\xff\xff\xff\x7f" + b"\1" * 60}),
    "an OBJ of words": ("mesh", "a.xml", 2, {"a.xml": mesh('file="m.obj"'), "m.obj": "v a b c\nf 1 2 3\n"}),
    "an OBJ with faces of nothing": ("mesh", "a.xml", 2, {
        "a.xml": mesh('file="m.obj"'), "m.obj": "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 9\n"}),
    "an OBJ with NaN": ("mesh", "a.xml", 2, {
        "a.xml": mesh('file="m.obj"'), "m.obj": "v nan 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n"}),
    "an empty MSH": ("mesh", "a.xml", 2, {"a.xml": mesh('file="m.msh"'), "m.msh": b""}),
    "an MSH with huge counts": ("mesh", "a.xml", 2, {"a.xml": mesh('file="m.msh"'), "m.msh": b"\xff\xff\xff\x7f" * 4}),
    "an MSH with negative counts": ("mesh", "a.xml", 2, {
        "a.xml": mesh('file="m.msh"'), "m.msh": b"\xff" * 16 + b"\0" * 48}),
    "an MSH of NaN": ("mesh", "a.xml", 2, {
        "a.xml": mesh('file="m.msh"'), "m.msh": b"\4\0\0\0" + b"\0" * 12 + b"\xff" * 48}),
    "an MSH that goes on": ("mesh", "a.xml", 2, {
        "a.xml": mesh('file="m.msh"'),
        "m.msh": struct.pack("<4i12f", 4, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1) + b"more"}),
    "points in a plane": ("mesh", "a.xml", 2, {"a.xml": mesh('vertex="0 0 0 1 0 0 0 1 0 1 1 0"')}),
    "a mesh inside out": ("mesh-volume", "a.xml", 2, {
        "a.xml": mesh('inertia="exact" vertex="0 0 0 1 0 0 0 1 0 0 0 1" face="0 1 2 0 3 1 0 2 3 1 3 2"')}),
}  # fmt: skip


@pytest.mark.timeout(10)
@pytest.mark.parametrize("what", SEVERAL)
def test_several_files(what, folder):
    code, file, line, files = SEVERAL[what]
    error = refused(folder(files))
    assert (error.code, error.file, error.line) == (code, file, line)


# ---- files lie below the folder of the model

OUTSIDE = ["../secret.xml", "sub/../../secret.xml", "link.xml", "linked/secret.xml"]


@pytest.mark.parametrize("name", [*OUTSIDE, "absolute"])
@pytest.mark.parametrize("kind", ["include", "model", "mesh", "meshdir"])
def test_a_path_out_of_the_folder(name, kind, folder, tmp_path):
    secret = tmp_path / "secret.xml"
    name = str(secret) if name == "absolute" else name
    text = {
        "include": world(f'<include file="{name}"/>'),
        "model": world('<attach model="m" prefix="p"/>', f'<asset><model name="m" file="{name}"/></asset>'),
        "mesh": mesh(f'file="{name}"'),
        "meshdir": mesh(f'file="{os.path.basename(name)}"').replace(
            "<asset>", f'<compiler meshdir="{os.path.dirname(name)}"/><asset>'
        ),
    }[kind]
    path = folder({"robot/main.xml": text, "robot/sub/x": "", "secret.xml": "<mujoco/>"})
    (path.parent / "link.xml").symlink_to(secret)
    (path.parent / "linked").symlink_to(tmp_path)
    error = refused(path)
    assert (error.code, error.file) == ("path", "main.xml")
    if kind == "include":
        assert hinge.load(path, packages=[tmp_path]).nv == 0  # where the folder is given, it may


def test_a_folder_whose_name_only_begins_the_same_is_outside(folder):
    path = folder({"robot/main.xml": world('<include file="../robot2/x.xml"/>'), "robot2/x.xml": "<x/>"})
    assert refused(path).code == "path"


# ---- which format a file is in


def test_a_urdf_with_an_extension_for_mujoco_is_a_urdf():
    text = '<robot name="r"><mujoco><compiler meshdir="x"/></mujoco><link name="a"/></robot>'
    assert hinge.load(text).name == "r"
    assert hinge.load('<?xml version="1.0"?><!-- <robot> --><mujoco model="m"/>').name == "m"


def test_each_reader_refuses_the_other_format():
    for read, text in ((urdf.read, "<mujoco/>"), (mjcf.read, '<robot name="r"/>')):
        with pytest.raises(ModelError) as caught:
            read(text)
        assert caught.value.code in ("not-urdf", "not-mjcf")
    assert refused("<mujocoinclude/>").code == "not-mjcf"


# ---- files made to use up time or memory, in a process of their own

BOMBS = """
import json, os, resource, sys, time
import hinge
from hinge.errors import ModelError
folder = sys.argv[1]
def world(inside, before=""): return f"<mujoco>{before}<worldbody>{inside}</worldbody></mujoco>"
def peak(): return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // (1 if sys.platform != "darwin" else 1024)
def nested(n, start, inside, end): return start * n + inside + end * n
box, many = '<body><joint/><geom size="1"/></body>', 20000
files = {
    "include": world("".join(f'<include file="part{k}.xml"/>' for k in range(200))
                     + '<replicate count="1e6"><body/></replicate>'),
    "models": world('<attach model="m0" prefix="p"/>', '<asset><model name="m0" file="m0.xml"/></asset>'),
}
for k in range(200):
    files[f"part{k}"] = "<x>" + "<site/>" * 100 + "</x>"
for k in range(40):
    asset = f'<asset><model name="m{k + 1}" file="m{k + 1}.xml"/></asset>'
    files[f"m{k}"] = world("".join(f'<attach model="m{k + 1}" prefix="{x}"/>' for x in "ab"), asset)
files["m40"] = world(box)
for name, text in files.items():
    with open(os.path.join(folder, name + ".xml"), "w") as file: file.write(text)
def two(k): return "".join(f'<attach body="b{k + 1}" prefix="{x}"/>' for x in "pq")
twice = "".join(f'<body name="b{k}">{two(k)}</body>' for k in range(60))
def chain(n, prefix):
    links = (f'<body name="b{k}"><attach body="b{k + 1}" prefix="{prefix}"/></body>' for k in range(n))
    return world("".join(links) + f'<body name="b{n}">{box}</body>')
bombs = {
    "nested replicate": world(nested(12, '<replicate count="1000">', box, "</replicate>")),
    "one replicate": world(f'<replicate count="1000000000000">{box}</replicate>'),
    "replicate of nothing": world('<replicate count="1e300"/>'),
    "attach twice, and so on": world(twice + f'<body name="b60">{box}</body>'),
    "a chain of attached bodies": chain(many, "p"),
    "long prefixes": chain(300, "p" * 900),
    "long separators": world(nested(100, f'<replicate count="1" sep="{"s" * 5000}">', box, "</replicate>")),
    "models that attach twice": os.path.join(folder, "models.xml"),
    "includes": os.path.join(folder, "include.xml"),
    "entities": '<!DOCTYPE x [<!ENTITY a0 "ha">'
        + "".join(f'<!ENTITY a{k} "&a{k - 1};&a{k - 1};">' for k in range(1, 60)) + "]><mujoco>&a59;</mujoco>",
    "nested tags": "<mujoco>" + "<body>" * 200000,
    "nested bodies": world("<body>" * 200000),
    "nested classes": "<mujoco>" + '<default class="a">' * 200000,
    "many classes, one wrong": world('<body childclass="wrong"/>', "<default>"
        + "".join(f'<default class="c{k}"/>' for k in range(many)) + "</default>"),
    "many bodies, one wrong": world("".join(f'<body name="b{k}"/>' for k in range(many))
        + '<attach body="wrong" prefix="p"/>'),
    "a long name": world(f'<body name="{"n" * 1000000}"/><attach body="{"n" * 999999}" prefix="p"/>'),
    "a long number": world(f'<body pos="{"1" * 1000000}x 0 0"/>'),
    "many numbers": world(f'<body pos="{"1 " * 300000}"/>'),
    "words in defaults": world("", "<default>" + "".join(f"<t{k}/>" for k in range(many)) + "</default>"),
}
hinge.load(world(box))
for name, text in bombs.items():
    before, start = peak(), time.process_time()
    try:
        hinge.load(text)
        code = "none"
    except ModelError as error:
        code = error.code
    print(json.dumps([name, code, time.process_time() - start, (peak() - before) / 1024]), flush=True)
"""
EXPECTED = {
    "nested replicate": "size", "one replicate": "size", "replicate of nothing": "range",
    "attach twice, and so on": "size", "a chain of attached bodies": "size", "long prefixes": "size",
    "long separators": "size", "models that attach twice": "size", "includes": "size", "entities": "doctype",
    "nested tags": "depth", "nested bodies": "depth", "nested classes": "depth", "many classes, one wrong": "class",
    "many bodies, one wrong": "unknown-body", "a long name": "unknown-body", "a long number": "number",
    "many numbers": "number", "words in defaults": "unknown-element",
}  # fmt: skip
MOST_SECONDS, MOST_MIB = 1.0, 150.0


@pytest.mark.skipif(os.name == "nt", reason="measures memory as Unix does")
def test_bombs_are_refused_in_a_second_and_little_memory(tmp_path):
    command = [sys.executable, "-c", BOMBS, str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    found = {row[0]: row[1:] for row in map(json.loads, done.stdout.splitlines())}
    assert {name: code for name, (code, _, _) in found.items()} == EXPECTED, done.stderr
    assert {name: row for name, row in found.items() if row[2] > MOST_MIB} == {}
    assert {name: row for name, row in found.items() if row[1] > MOST_SECONDS} == {}


def test_terrain_without_heights_takes_no_memory():
    """A few bytes must not ask for gigabytes."""
    text = (
        '<mujoco><asset><hfield name="h" nrow="100000" ncol="100000" size="1 1 1 .1"/></asset>'
        '<worldbody><geom type="hfield" hfield="h"/></worldbody></mujoco>'
    )
    with pytest.raises(hinge.ModelError, match="has 100000 rows and 100000 columns, and no heights"):
        hinge.load(text)
