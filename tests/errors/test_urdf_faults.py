"""What the URDF reader refuses, each message whole; what it only remarks on; and what must not disturb it."""

import os
import sysconfig
from pathlib import Path

import pytest

from hinge.errors import ModelError
from hinge.formats import urdf

LINKS = '<robot name="arm">\n<link name="base"/>\n<link name="rod"/>\n<link name="tip"/>\n'
PLACE = '<parent link="base"/><child link="rod"/>'
LIMIT = '<limit lower="-1" upper="1" effort="2" velocity="3"/>'


def refused(text, **options):
    with pytest.raises(ModelError) as caught:
        urdf.read(text, file=os.path.join("robots", "arm.urdf"), **options).build()
    return caught.value


def built(text, **options):
    return urdf.read(text, file="arm.urdf", **options).build()


def link(inside, name="base"):
    return f'<robot name="arm">\n<link name="{name}">\n{inside}\n</link>\n</robot>'


def two(joint_inside, kind="revolute", attributes='name="elbow"'):
    """A base and a rod joined by one joint, which begins on line 4."""
    return (
        '<robot name="arm">\n<link name="base"/>\n<link name="rod"/>\n'
        f'<joint {attributes} type="{kind}">\n{joint_inside}\n</joint>\n</robot>'
    )


def mesh(name):
    return link(f'<visual>\n<geometry><mesh filename="{name}"/></geometry></visual>')


def findings(model):
    return [(f.severity, f.code, f.where.line) for f in model.report if f.code not in ("massless", "snapped")]


# ---- what cannot be read: each message whole

NUMBER = "Write a plain number such as 0.5 or -1e-3, without a unit."
THREE = "Write 3 numbers separated by blanks."
MASS = '<mass value="1"/>'

REFUSED = [
    # code, text, message, hint
    ("number", link('<inertial><mass value="1kg"/></inertial>'), '3: mass value="1kg" is not a number.', NUMBER),
    ("number", link('<inertial><mass value=""/></inertial>'), '3: mass value="" is not a number.', NUMBER),
    ("number", link(f'<inertial>{MASS}\n<inertia ixx="nan" iyy="1" izz="1"/></inertial>'),
     '4: inertia ixx="nan" is not a finite number.', NUMBER),
    ("number", two(PLACE + '<origin xyz="0 0"/>'), '5: origin xyz="0 0" has 2 values, not 3.', THREE),
    ("number", two(PLACE + '\n<axis xyz="0 0 one"/>'), '6: axis xyz="0 0 one": "one" is not a number.', NUMBER),
    ("number", two(PLACE + '<limit lower="-90°" upper="1"/>'), '5: limit lower="-90°" is not a number.', NUMBER),
    ("number", two(PLACE + '<dynamics damping="inf"/>'), '5: dynamics damping="inf" is not a finite number.', NUMBER),
    ("number", link('<visual><geometry>\n<box size="1 1"/></geometry></visual>'),
     '4: box size="1 1" has 2 values, not 3.', THREE),
    ("missing", link(f'<inertial>{MASS}\n<inertia ixx="1" iyy="1"/></inertial>'),
     "4: <inertia> has no attribute 'izz'.", 'Write <inertia izz="…">.'),
    ("missing", link("<inertial>\n<mass/></inertial>"),
     "4: <mass> has no attribute 'value'.", 'Write <mass value="…">.'),
    ("missing", link('<inertial>\n<origin xyz="0 0 0"/></inertial>'),
     "3: <inertial> has no <mass>.", 'Write <mass value="…"/> inside it.'),
    ("missing", link(f"<inertial>\n{MASS}</inertial>"), "3: <inertial> has no <inertia>.",
     'Write <inertia ixx="…" iyy="…" izz="…" ixy="0" ixz="0" iyz="0"/> inside it.'),
    ("missing", "<robot>\n<link/></robot>", "2: <link> has no attribute 'name'.", 'Write <link name="…">.'),
    ("missing", two(PLACE, attributes=""), "4: <joint> has no attribute 'name'.", 'Write <joint name="…">.'),
    ("missing", two('<child link="rod"/>'), "4: joint 'elbow' has no <parent>.", 'Write <parent link="…"/> inside it.'),
    ("missing", two('<parent link="base"/>'), "4: joint 'elbow' has no <child>.", 'Write <child link="…"/> inside it.'),
    ("missing", two('<parent/><child link="rod"/>'),
     "5: <parent> has no attribute 'link'.", 'Write <parent link="…">.'),
    ("missing", two(PLACE + "<mimic/>"), "5: <mimic> has no attribute 'joint'.", 'Write <mimic joint="…">.'),
    ("missing", link("<visual><geometry><mesh/></geometry></visual>"),
     "3: <mesh> has no attribute 'filename'.", 'Write <mesh filename="…">.'),
    ("orientation", two(PLACE + '<origin rpy="0 0 0" quat_xyzw="0 0 0 1"/>'),
     "5: <origin> has both rpy and quat_xyzw.", "They say the same thing twice: keep one of them."),
    ("orientation", two(PLACE + '<origin quat_xyzw="0 0 0 0"/>'), "5: <origin> has quat_xyzw = (0, 0, 0, 0).",
     'A quaternion needs a direction. For no rotation write quat_xyzw="0 0 0 1".'),
    ("joint-type", two(PLACE, kind="revolut"), "4: joint 'elbow' has type=\"revolut\".", "Did you mean 'revolute'?"),
    ("joint-type", two(PLACE, kind="Fixed"), "4: joint 'elbow' has type=\"Fixed\".", "Did you mean 'fixed'?"),
    ("not-urdf", "<mujoco>\n</mujoco>", "1: the outermost element is <mujoco>, not <robot>.",
     'A URDF file is one <robot name="…"> element with links and joints inside.'),
    ("empty", '\n<robot name="arm"/>', "2: the robot has no link.",
     'A robot has at least one <link name="…"/>. A xacro file must be expanded with xacro first.'),
    ("xml", '<robot name="arm">\n<link name="base">\n  <inertial>\n',
     "4: the file ends before <inertial> of line 3 is closed.", "It looks cut off: fetch or export it again."),
    ("doctype", '<!DOCTYPE robot [<!ENTITY a "aa">]>\n<robot name="&a;"/>',
     "1: the file declares a document type, <!DOCTYPE robot>.",
     "Document types and entities are not read: remove the declaration, write out what its entities stand for."),
    ("encoding", '<robot name="arm">\n<link name="größe"/></robot>'.encode("latin-1"), "2: byte 0xF6 is not UTF-8.",
     'Save the file as UTF-8, or name its encoding: <?xml version="1.0" encoding="ISO-8859-1"?>.'),
]  # fmt: skip


@pytest.mark.parametrize(("code", "text", "message", "hint"), REFUSED)
def test_refused(code, text, message, hint):
    error = refused(text)
    assert str(error) == f"arm.urdf:{message}\n  {hint}"
    assert (error.code, error.file) == (code, "arm.urdf")


@pytest.mark.timeout(2)
def test_two_hundred_thousand_nested_tags():
    error = refused('<robot name="arm">' + "<link>" * 200_000)
    assert str(error) == "arm.urdf:1: <link> is nested more than 500 deep.\n  The file is damaged, or not a robot."
    assert error.code == "depth"


# ---- what the tree of links and joints cannot be: code and line


def joints(*rows):
    """Three links on lines 2 to 4, then one joint a line."""
    made = (
        f'<joint name="{n}" type="{t}"><parent link="{p}"/><child link="{c}"/>{x}</joint>' for n, t, p, c, x in rows
    )
    return LINKS + "\n".join(made) + "\n</robot>"


A, B = ("a", "fixed", "base", "rod", ""), ("b", "fixed", "rod", "tip", "")  # a good robot


@pytest.mark.parametrize(
    ("code", "line", "text"),
    [
        ("duplicate-link", 5, LINKS + '<link name="rod"/></robot>'),
        ("duplicate-joint", 6, joints(A, ("a", *B[1:]))),
        ("unknown-link", 5, joints(("a", "fixed", "bass", "rod", ""), B)),
        ("unknown-link", 6, joints(A, ("b", "fixed", "rod", "top", ""))),
        ("two-parents", 6, joints(A, ("b", "fixed", "tip", "rod", ""))),
        ("two-roots", 4, joints(A)),
        ("cycle", 5, joints(B, ("c", "fixed", "tip", "rod", ""))),
        ("zero-axis", 6, joints(A, ("b", "continuous", "rod", "tip", '<axis xyz="0 0 0"/>'))),
        ("limits", 6, joints(A, ("b", "revolute", "rod", "tip", '<limit lower="2" upper="1"/>'))),
        (
            "mimic-cycle",
            6,
            joints(
                ("a", "continuous", "base", "rod", '<mimic joint="b"/>'),
                ("b", "continuous", "rod", "tip", '<mimic joint="a"/>'),
            ),
        ),
    ],
)
def test_not_a_tree(code, line, text):
    error = refused(text)
    assert (error.code, error.line) == (code, line)


# ---- meshes


@pytest.fixture
def models(tmp_path):
    """shelf/secret.stl, shelf/arm/meshes/a.stl, and shelf/other, which is a package by its package.xml."""
    (tmp_path / "shelf/arm/meshes").mkdir(parents=True)
    (tmp_path / "shelf/arm/urdf").mkdir()
    (tmp_path / "shelf/other").mkdir()
    for name in ("secret.stl", "arm/meshes/a.stl", "arm/urdf/b.stl", "other/c.stl", "other/package.xml"):
        (tmp_path / "shelf" / name).touch()
    return tmp_path.resolve() / "shelf"


def shape_file(text, **options):
    model = built(text, **options)
    (shape,) = model.shapes["base"]
    return shape.file, findings(model)


@pytest.mark.parametrize(
    "name",
    [
        "../meshes/a.stl",
        "../../secret.stl",
        "../../nowhere.stl",
        "file://../../secret.stl",
        "package://arm/../secret.stl",
        "package://arm/urdf/../../secret.stl",
        "package://../secret.stl",
        "package://nowhere/../../secret.stl",
        "link.stl",
        "link/secret.stl",
    ],
)
def test_a_mesh_out_of_the_folder(models, name):
    (models / "arm/urdf/link.stl").symlink_to(models / "secret.stl")
    (models / "arm/urdf/link").symlink_to(models)
    error = refused(mesh(name), folder=str(models / "arm/urdf"))
    assert str(error) == (
        f'arm.urdf:4: mesh filename="{name}" leads out of the model\'s folder.\n'
        "  Meshes lie below the folder of the robot file or one given as packages=[…]: move it, or pass its folder."
    )
    assert error.code == "path"


@pytest.mark.parametrize("name", ["../a.stl", "package://arm/../../a.stl", "file://../a.stl"])
def test_a_mesh_out_of_the_folder_of_a_text_without_one(name):
    assert refused(mesh(name)).code == "path"


def test_an_absolute_name_out_of_the_folder_is_refused_where_it_leads_somewhere(models):
    for name in (f"{models}/secret.stl", f"file://{models}/secret.stl"):
        assert refused(mesh(name), folder=str(models / "arm")).code == "path"
        assert refused(mesh(name)).code == "path"
    nowhere = f"file://{models}/nowhere.stl"
    assert shape_file(mesh(nowhere), folder=str(models / "arm")) == (nowhere, [("note", "mesh", 4)])


@pytest.mark.parametrize(
    ("name", "path"),
    [
        ("b.stl", "arm/urdf/b.stl"),
        ("./x/../b.stl", "arm/urdf/b.stl"),
        ("file://b.stl", "arm/urdf/b.stl"),
        ("package://arm/meshes/a.stl", "arm/meshes/a.stl"),
        ("package:///arm/meshes/a.stl", "arm/meshes/a.stl"),
        ("package://shelf/secret.stl", "secret.stl"),
        ("package://other/c.stl", "other/c.stl"),
    ],
)
def test_a_mesh_that_is_found(models, name, path):
    assert shape_file(mesh(name), folder=str(models / "arm/urdf")) == (str(models / path), [])


@pytest.mark.parametrize("package", ["", "arm"])
def test_a_mesh_that_is_found_in_the_packages(models, package):
    found = shape_file(mesh("package://arm/meshes/a.stl"), packages=[str(models / package)])
    assert found == (str(models / "arm/meshes/a.stl"), [])


def test_a_mesh_outside_the_folder_is_found_in_the_packages(models):
    found = shape_file(mesh("../meshes/a.stl"), folder=str(models / "arm/urdf"), packages=[str(models / "arm")])
    assert found == (str(models / "arm/meshes/a.stl"), [])


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("gone.stl", "mesh"),
        ("package://arm/gone.stl", "mesh"),
        ("package://gone/a.stl", "package"),
        ("http://a/b", "mesh"),
    ],
)
def test_a_mesh_that_is_not_found_is_noted(models, name, code):
    assert shape_file(mesh(name), folder=str(models / "arm/urdf")) == (name, [("note", code, 4)])


@pytest.mark.parametrize("name", ["a.stl", "package://arm/a.stl"])
def test_a_mesh_of_a_text_without_a_folder_is_remembered(name):
    assert shape_file(mesh(name)) == (name, [])


def test_a_missing_package_is_noted_once(models):
    shapes = "".join(f'<visual><geometry><mesh filename="package://gone/{k}.stl"/></geometry></visual>' for k in "aab")
    model = built(link(shapes), folder=str(models / "arm"))
    (note,) = model.report
    assert str(note) == (
        "arm.urdf:3: note: package 'gone' was not found; its meshes are remembered only.\n"
        "  Pass packages=[…] with the folder that holds it."
    )


# ---- what is only remarked on, and what does not disturb


def test_findings_are_whole():
    text = two(PLACE) + "\n"
    (warning,) = (f for f in built(text).report if f.code == "no-limit")
    assert str(warning) == (
        "arm.urdf:4: warning: joint 'elbow' has no <limit>; it was read as unlimited.\n"
        '  Write <limit lower="…" upper="…" effort="…" velocity="…"/>.'
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (two(PLACE + LIMIT), []),
        (two(PLACE, kind="continuous"), []),
        (two(PLACE + '<limit effort="1" velocity="1"/>'), [("warning", "empty-limit", 5)]),
        (two(PLACE + '<axis xyz="0 0 0"/><limit lower="1" upper="0"/>', kind="fixed"), []),
        (two(PLACE + '<mimic joint="knee"/>', kind="fixed"), [("note", "fixed-mimic", 5)]),
        (joints(A, ("b", "continuous", "rod", "tip", '<mimic joint="elbo"/>')), [("error", "mimic", 6)]),
        (two(PLACE + LIMIT + "\n" + LIMIT), [("warning", "repeated", 6)]),
        (
            link("<visual><geometry><torus/></geometry></visual>"),
            [("warning", "unknown-element", 3), ("note", "geometry", 3)],
        ),
        (link("<visual/>"), [("note", "geometry", 3)]),
        ('<robot version="1.2"><link name="base"/></robot>', []),
        ('<robot version="3">\n<link name="base"/></robot>', [("warning", "version", 1)]),
        ('<robot>\n<xacro:leg side="left"/><link name="base"/></robot>', [("warning", "xacro", 2)]),
        ('<robot><gazebo><link name="base"/></gazebo><link name="base"/><sensor/><transmission/></robot>', []),
    ],
)
def test_findings(text, expected):
    assert findings(built(text)) == expected


def test_limits_are_kept_where_the_model_has_a_place_and_else_as_data():
    limit = '<limit lower="-1" upper="1" effort="2" velocity="3" acceleration="4" deceleration="5" jerk="6"/>'
    safety = '<safety_controller soft_lower_limit="-0.9" k_velocity="7"/>'
    data = built(two(PLACE + limit + safety)).data[1]
    assert (data.lower, data.upper, data.effort, data.velocity) == ((-1,), (1,), (2,), (3,))
    assert data.other == {
        "limit": {"acceleration": 4.0, "deceleration": 5.0, "jerk": 6.0},
        "safety_controller": {"soft_lower_limit": -0.9, "k_velocity": 7.0},
    }
    data = built(two(PLACE + LIMIT, kind="continuous")).data[1]
    assert (data.lower, data.upper, data.effort, data.velocity) == ((-float("inf"),), (float("inf"),), (2,), (3,))


def test_a_quaternion_and_angles_say_the_same():
    turns = '<origin rpy="0 0 1.5707963267948966"/>', '<origin quat_xyzw="0 0 2 2"/>'
    first, second = (list(built(two(PLACE + turn, kind="fixed")).frames["rod"].R) for turn in turns)
    assert first == pytest.approx(second, abs=1e-15)
    assert first == pytest.approx([0, -1, 0, 1, 0, 0, 0, 0, 1], abs=1e-15)


def test_an_inertia_is_turned_to_link_axes():
    turned = (
        '<inertial><origin rpy="1.5707963267948966 0 0"/><mass value="1"/><inertia ixx="1" iyy="2" izz="3"/></inertial>'
    )
    xx, yy, zz = list(built(link(turned)).inertia[0].I)[:3]
    assert [xx, yy, zz] == pytest.approx([1, 3, 2])


def test_shapes_are_remembered_as_written():
    text = link(
        '<collision name="c"><origin xyz="1 2 3"/><geometry><capsule radius="0.1" length="0.5"/></geometry></collision>'
        '<visual><geometry><box size="1 2 3"/></geometry><material name="red"/></visual>'
    ).replace("<link", '<material name="red"><color rgba="1 0 0 1"/></material><link', 1)
    capsule, box = built(text).shapes["base"]
    assert (capsule.role, capsule.kind, capsule.size, capsule.xyz, capsule.name) == (
        "collision", "capsule", (0.1, 0.5), (1, 2, 3), "c",
    )  # fmt: skip
    assert (box.role, box.kind, box.size, box.rgba) == ("visual", "box", (1, 2, 3), (1, 0, 0, 1))


def test_every_real_robot_is_read():
    robots = Path(sysconfig.get_path("purelib"), "cmeel.prefix/share/example-robot-data/robots")
    if not robots.exists():
        pytest.skip("example-robot-data is not installed")
    refused_files = {}
    files = sorted(robots.rglob("*.urdf"))
    for file in files:
        try:
            urdf.read(file.read_bytes(), file=str(file), folder=str(file.parent))
        except ModelError as error:
            refused_files[file.name] = error.code
    assert len(files) == 77
    assert refused_files == {"ur3.urdf": "empty"}  # an empty xacro expansion
