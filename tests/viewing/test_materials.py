"""Colours of mesh files: of each material its own triangles, and all of them together the mesh."""

import sysconfig
from pathlib import Path

import numpy as np
import pytest
import trimesh

import hinge
from hinge.model import meshes
from hinge.model.shapes import Shape
from hinge.viewing import shapes

ROBOTS = Path(sysconfig.get_path("purelib"), "cmeel.prefix", "share", "example-robot-data", "robots")
CORNERS = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\n"
TWO = f"mtllib two.mtl\n{CORNERS}usemtl red\nf 1 2 3\nusemtl glass\nf 1 2 4\nusemtl red\nf 2 3 4\n"
RED, GLASS = (1.0, 0.0, 0.0, 1.0), (0.0, 0.0, 1.0, 0.5)


def written(folder, obj, mtl=""):
    (folder / "two.obj").write_text(obj)
    if mtl:
        (folder / "two.mtl").write_text(mtl)
    return str(folder / "two.obj")


@pytest.fixture
def two(tmp_path):
    return written(tmp_path, TWO, "newmtl red\nKd 1 0 0\nnewmtl glass\nKd 0 0 1\nd 0.5\n")


def test_each_material_of_an_obj_has_its_triangles(two):
    made = {one.rgba: one for one in meshes.painted(two)}
    assert set(made) == {RED, GLASS}
    assert len(made[RED].faces) == 2
    np.testing.assert_allclose(made[GLASS].vertices[made[GLASS].faces[0]], [[0, 0, 0], [1, 0, 0], [0, 0, 1]])


@pytest.mark.parametrize("file", ["panda_description/meshes/visual/hand.dae", "laikago_description/meshes/trunk.obj"])
def test_all_materials_together_are_the_mesh(file):
    path = ROBOTS / file
    if not path.exists():
        pytest.skip("example-robot-data is not installed")
    whole, apart = trimesh.Trimesh(*meshes.read(str(path)), process=False), meshes.painted(str(path))
    assert all(one.rgba for one in apart)
    assert len({one.rgba for one in apart}) == len(apart)
    area = sum(trimesh.Trimesh(one.vertices, one.faces, process=False).area for one in apart)
    assert area == pytest.approx(whole.area, rel=1e-9)
    np.testing.assert_allclose(np.concatenate([one.vertices for one in apart]).min(axis=0), whole.bounds[0], atol=1e-9)


def test_a_material_comes_before_the_colour_of_the_robots_file(two, tmp_path):
    green = {"rgba": (0.0, 1.0, 0.0, 1.0), "scale": (2.0, 2.0, 2.0)}
    own = shapes.painted(Shape("visual", "mesh", file=two, **green))
    assert {one.rgba for one in own} == {RED, GLASS}
    assert max(one.vertices.max() for one in own) == 2.0
    (tmp_path / "two.mtl").unlink()
    assert {one.rgba for one in shapes.painted(Shape("visual", "mesh", file=two, **green))} == {green["rgba"]}


@pytest.mark.parametrize("mtl", ["../two.mtl", "/etc/hostname"])
def test_a_material_out_of_the_folder_is_none_and_the_mesh_is_drawn(tmp_path, mtl):
    (tmp_path / "in").mkdir()
    written(tmp_path, "", "newmtl red\nKd 1 0 0\nnewmtl glass\nKd 0 0 1\n")
    made = meshes.painted(written(tmp_path / "in", TWO.replace("two.mtl", mtl)))
    assert {one.rgba for one in made} == {None}
    assert sum(len(one.faces) for one in made) == 3


def test_an_image_has_its_mean_colour(tmp_path):
    from PIL import Image

    stripes = np.tile(np.array([[[200, 100, 0]], [[0, 100, 200]]], np.uint8), (8, 16, 1))
    Image.fromarray(stripes).save(tmp_path / "x.png")
    obj = TWO.replace(CORNERS, CORNERS + "vt 0 0\n").replace("f 1 2 3", "f 1/1 2/1 3/1")
    path = written(tmp_path, obj, "newmtl red\nKd 1 1 1\nmap_Kd x.png\nnewmtl glass\nKd 0 0 1\n")
    colors = [one.rgba for one in meshes.painted(path)]
    assert min(np.abs(np.array(one) - [100 / 255, 100 / 255, 100 / 255, 1]).max() for one in colors) < 0.02


def test_parts_of_a_link_have_the_colours_of_its_mesh(two):
    builder = hinge.Builder("two")
    builder.link("base")
    builder.link("arm", 1.0, inertia=np.eye(3), shapes=[Shape("visual", "mesh", file=two)])
    builder.joint("j", "revolute", "base", "arm", axis=(0.0, 0.0, 1.0), lower=-1.0, upper=1.0)
    made, left = shapes.parts(builder.build(), np.stack([np.eye(4)] * 2))
    assert not left
    assert {(part.color, part.opacity) for part in made if part.body == 1} == {((255, 0, 0), None), ((0, 0, 255), 0.5)}
