"""Nothing outside the model's folder is opened: not by a reader, nor by what draws and touches later."""

import contextlib
import json
import os
import sys
from pathlib import PureWindowsPath

import numpy as np
import pytest

import hinge
from hinge import files
from hinge.model import meshes

trimesh = pytest.importorskip("trimesh")
CORNERS = np.array([(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)], "<f4")
SIDES = np.array([(0, 2, 1), (0, 1, 3), (1, 2, 3), (2, 0, 3)], "<u4")
OPENED: list[str] | None = None


def _watch(event, arguments):
    if OPENED is not None and event == "open" and isinstance(arguments[0], str | bytes):
        OPENED.append(os.path.realpath(os.fsdecode(arguments[0])))


sys.addaudithook(_watch)


@pytest.fixture
def shelf(tmp_path, monkeypatch):
    """A folder beside secrets, and the names of what is opened on the shelf; a secret is a mesh that could be read."""
    global OPENED
    box, buffer = trimesh.creation.box(), CORNERS.tobytes() + SIDES.tobytes()
    for name in ("secret.bin", "arm/box.bin"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(buffer)
    box.export(tmp_path / "secret.stl")
    box.export(tmp_path / "arm" / "box.stl")
    (tmp_path / "secret.mtl").write_text("newmtl a\n")
    (tmp_path / "secret.png").write_bytes(b"\x89PNG")
    (tmp_path / "arm" / "link.bin").symlink_to(tmp_path / "secret.bin")
    monkeypatch.chdir(tmp_path)
    OPENED = []
    yield tmp_path
    OPENED = None


def outside(shelf):
    """What was opened on the shelf, but not in the folder."""
    inside = f"{shelf / 'arm'}{os.sep}"
    return [path for path in OPENED if path.startswith(f"{shelf}{os.sep}") and not path.startswith(inside)]


def gltf(uri):
    """A tetrahedron whose numbers are in another file."""
    views = [{"buffer": 0, "byteOffset": 0, "byteLength": 48}, {"buffer": 0, "byteOffset": 48, "byteLength": 48}]
    accessors = [{"bufferView": 0, "componentType": 5126, "count": 4, "type": "VEC3"},
                 {"bufferView": 1, "componentType": 5125, "count": 12, "type": "SCALAR"}]  # fmt: skip
    return json.dumps({
        "asset": {"version": "2.0"}, "scene": 0, "scenes": [{"nodes": [0]}], "nodes": [{"mesh": 0}],
        "meshes": [{"primitives": [{"attributes": {"POSITION": 0}, "indices": 1}]}],
        "buffers": [{"uri": uri, "byteLength": 96}], "bufferViews": views, "accessors": accessors,
    })  # fmt: skip


NAMES = ["../secret.bin", "{shelf}/secret.bin", "file://{shelf}/secret.bin", "link.bin", "../arm/../secret.bin"]
OBJ = "mtllib ../secret.mtl\nusemtl a\nv 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n"
PLY = """ply
format ascii 1.0
comment TextureFile ../secret.png
element vertex 3
property float x
property float y
property float z
element face 1
property list uchar int vertex_indices
end_header
0 0 0
1 0 0
0 1 0
3 0 1 2
"""


def test_a_gltf_finds_its_buffer_beside_it(shelf):
    (shelf / "arm" / "a.gltf").write_text(gltf("box.bin"))
    vertices, faces = meshes.read(str(shelf / "arm" / "a.gltf"))
    assert np.array_equal(vertices, CORNERS)
    assert np.array_equal(faces, SIDES)


@pytest.mark.parametrize("uri", NAMES)
def test_a_gltf_does_not_lead_out_of_its_folder(shelf, uri):
    (shelf / "arm" / "a.gltf").write_text(gltf(uri.format(shelf=shelf)))
    with pytest.raises(ValueError, match="leads out of the folder of its mesh"):
        meshes.read(str(shelf / "arm" / "a.gltf"))
    assert outside(shelf) == []


@pytest.mark.parametrize(("name", "text"), [("a.obj", OBJ), ("a.ply", PLY)])
def test_materials_and_pictures_are_not_looked_for(shelf, name, text):
    (shelf / "arm" / name).write_text(text)
    assert len(meshes.read(str(shelf / "arm" / name))[0]) == 3
    assert outside(shelf) == []


def test_a_collada_file_reaches_nothing_else(shelf):
    collada = pytest.importorskip("collada")
    text = trimesh.exchange.dae.export_collada(trimesh.creation.box()).decode()
    entity = f'<!DOCTYPE COLLADA [<!ENTITY x SYSTEM "file://{shelf}/secret.mtl">]>'
    picture = '<library_images><image id="i"><init_from>../secret.png</init_from></image></library_images>'
    text = text.replace("<COLLADA", f"{entity}<COLLADA", 1).replace("<asset>", "<asset><keywords>&x;</keywords>", 1)
    text = text.replace("</asset>", f"</asset>{picture}", 1)
    assert entity in text
    assert picture in text
    (shelf / "arm" / "a.dae").write_text(text)
    secret = shelf / "secret.mtl"
    os.utime(secret, (1e9, secret.stat().st_mtime))  # a system that keeps times of reading keeps the next one
    with contextlib.suppress(collada.common.DaeError):  # to refuse it is as good as to leave the entity out
        meshes.read(str(shelf / "arm" / "a.dae"))
    assert outside(shelf) == []
    assert secret.stat().st_atime == 1e9


# ---- names that were remembered only


URDF = """<robot name="r"><link name="a"/><link name="b">
<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>
<visual><geometry><mesh filename="{name}"/></geometry></visual>
<collision><geometry><mesh filename="{name}"/></geometry></collision></link>
<joint name="j" type="revolute"><parent link="a"/><child link="b"/><axis xyz="0 0 1"/>
<limit lower="-1" upper="1" effort="1" velocity="1"/></joint></robot>"""
MJCF = """<mujoco><asset><mesh name="m" file="{name}"/></asset><worldbody><body><joint axis="0 0 1"/>
<inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/><geom type="mesh" mesh="m"/></body></worldbody></mujoco>"""


@pytest.mark.parametrize(("file", "text"), [("a.urdf", URDF), ("a.xml", MJCF)])
@pytest.mark.parametrize("name", ["secret.stl", "http://localhost:1/secret.stl"])
def test_a_name_that_leads_nowhere_is_not_looked_for_where_python_runs(shelf, file, text, name):
    (shelf / "arm" / file).write_text(text.format(name=name))
    robot = hinge.load(str(shelf / "arm" / file))
    shapes = [one for some in robot.model.shapes.values() for one in some]
    assert shapes
    from hinge.viewing.shapes import painted

    for shape in shapes:
        with pytest.raises(ValueError, match="was not found"):
            painted(shape)
        with pytest.raises(FileNotFoundError):
            _ = shape.geometry.corners
    assert outside(shelf) == []


@pytest.mark.parametrize(("file", "text"), [("a.urdf", URDF), ("a.xml", MJCF)])
def test_a_name_inside_the_folder_is_opened(shelf, file, text):
    (shelf / "arm" / file).write_text(text.format(name="box.stl"))
    robot = hinge.load(os.path.join("arm", file))
    (shape, *_) = next(some for some in robot.model.shapes.values() if some)
    assert len(shape.geometry.corners) == 8
    assert any(path == str(shelf / "arm" / "box.stl") for path in OPENED)


@pytest.mark.parametrize(("file", "text"), [("a.urdf", URDF), ("a.xml", MJCF)])
@pytest.mark.parametrize("name", ["../secret.stl", "{shelf}/secret.stl", "link.stl"])
def test_a_name_that_leads_out_is_never_opened(shelf, file, text, name):
    (shelf / "arm" / "link.stl").symlink_to(shelf / "secret.stl")
    (shelf / "arm" / file).write_text(text.format(name=name.format(shelf=shelf)))
    with contextlib.suppress(hinge.ModelError):  # or it is read, as the dynamics do not need its mesh
        robot = hinge.load(str(shelf / "arm" / file))
        for shape in (one for some in robot.model.shapes.values() for one in some):
            with pytest.raises(FileNotFoundError):
                _ = shape.geometry.corners
    assert outside(shelf) == []


@pytest.mark.parametrize("named", ['file="../secret.png"', 'file="{shelf}/secret.png"', 'fileleft="../secret.png"'])
@pytest.mark.parametrize("attached", [False, True])
def test_what_mujoco_would_open_outside_is_not_given_to_it(shelf, monkeypatch, named, attached):
    mujoco = pytest.importorskip("mujoco")
    texture = f'<asset><texture name="t" type="cube" {named.format(shelf=shelf)}/></asset>'
    plain = MJCF.format(name="box.stl")
    (shelf / "arm" / "inner.xml").write_text(plain.replace("<mujoco>", f"<mujoco>{texture}"))
    whole = '<asset><model name="other" file="inner.xml"/></asset>' if attached else texture
    (shelf / "arm" / "a.xml").write_text(plain.replace("<mujoco>", f"<mujoco>{whole}"))
    given = []
    monkeypatch.setattr(mujoco.MjModel, "from_xml_path", given.append)
    report = str(hinge.check(str(shelf / "arm" / "a.xml"), certify=True))
    assert "which MuJoCo would open outside its folder" in report
    assert given == []


def test_a_text_given_to_mujoco_names_no_file(shelf, monkeypatch):
    mujoco = pytest.importorskip("mujoco")
    given = []
    monkeypatch.setattr(mujoco.MjModel, "from_xml_string", given.append)
    texture = '<asset><texture name="t" type="cube" file="secret.png"/></asset>'
    text = MJCF.replace('<asset><mesh name="m" file="{name}"/></asset>', texture).replace(
        'type="mesh" mesh="m"', 'size="1"'
    )
    assert "the model names 'secret.png', which MuJoCo would open" in str(hinge.check(text, certify=True))
    assert given == []


def test_the_watch_sees_what_is_opened(shelf):
    with open(shelf / "secret.mtl") as file:
        file.read()
    assert outside(shelf) == [str(shelf / "secret.mtl")]


def test_a_name_below_a_folder_leads_nowhere_else(monkeypatch):
    assert files.below("a/robots/meshes/../hand.stl", "a/robots") == "hand.stl"
    assert files.below("a/robots/../hand.stl", "a/robots") is None
    assert files.below("a/robots2/hand.stl", "a/robots") is None
    monkeypatch.setattr(files, "PurePath", PureWindowsPath)
    assert files.below("C:/robots/meshes/hand.stl", "C:/robots") == "meshes/hand.stl"
    assert files.below("D:/meshes/hand.stl", "C:/robots") is None
