"""What MJCF bodies weigh, against MuJoCo: geoms, stated inertias, the compiler's bounds, meshes."""

import struct

import numpy as np
import pytest
from mujoco_pair import Pair, compared, mujoco

import hinge
from hinge.formats.mjcf.mesh import Mesh
from hinge.model import meshes, moments

trimesh = pytest.importorskip("trimesh", reason="trimesh is not installed")

SIZES = {"sphere": ".1", "capsule": ".1 .2", "cylinder": ".1 .2", "ellipsoid": ".1 .2 .3", "box": ".1 .2 .3"}
LAYER = 1e-9  # MuJoCo's shell of an ellipsoid is the difference of two solids, in which digits cancel
MESH = 1e-6  # and what MuJoCo leaves undone when it turns a mesh to its axes


def world(inside, before=""):
    return f"<mujoco>{before}<worldbody>{inside}</worldbody></mujoco>"


def body(inside):
    return world(f'<body name="a"><joint axis="1 1 0"/>{inside}</body>')


def compiled(setting, inside):
    return world(inside, f"<compiler {setting}/>")


# geoms

SAID = ["", 'mass="3"', 'density="20"', 'mass="3" density="7"', 'shellinertia="true"', 'shellinertia="true" mass="2"',
        'pos="1 2 3" euler="10 20 30"']  # fmt: skip


@pytest.mark.parametrize("kind", SIZES)
@pytest.mark.parametrize("said", SAID)
def test_a_geom(kind, said):
    tol = LAYER if kind == "ellipsoid" and "shell" in said else 1e-13
    compared(body(f'<geom type="{kind}" size="{SIZES[kind]}" {said}/>'), tol)


@pytest.mark.parametrize("kind", [kind for kind in SIZES if kind != "sphere"])
@pytest.mark.parametrize("size", [".1", ".1 .2 .3"])
@pytest.mark.parametrize("shell", ["true", "false"])
def test_a_geom_between_two_points(kind, size, shell):
    tol = LAYER if kind == "ellipsoid" and shell == "true" else 1e-13
    compared(body(f'<geom type="{kind}" size="{size}" fromto="0 0 0 1 2 3" shellinertia="{shell}"/>'), tol)


def test_several_geoms_and_those_that_weigh_nothing():
    others = '<geom size=".1" mass="0"/><geom size=".1" density="0"/><geom size=".2" pos="1 0 0" euler="1 2 3"/>'
    compared(body('<geom type="capsule" size=".1" fromto="0 0 0 1 1 1" mass="2"/>' + others))


@pytest.mark.parametrize("mode", ["true", "false", "auto"])
def test_whether_mass_is_inferred(mode):
    stated = '<body><joint/><inertial pos="1 0 0" mass="2" diaginertia="1 1 1"/><geom size=".1"/></body>'
    compared(compiled(f'inertiafromgeom="{mode}"', stated + '<body pos="1 0 0"><geom size=".3"/></body>'))


@pytest.mark.parametrize("geom", ["", '<geom size=".1" group="4"/>', '<geom size=".1" mass="0"/>', '<geom size=".1"/>'])
def test_a_stated_mass_counts_where_no_geom_weighs(geom):
    stated = '<inertial pos="1 0 0" mass="2" diaginertia="1 1 1"/>'
    compared(compiled('inertiafromgeom="true" inertiagrouprange="0 3"', f"<body><joint/>{stated}{geom}</body>"))


@pytest.mark.parametrize("mode", ["true", "false", "auto"])
@pytest.mark.parametrize("geom", ["", '<geom size=".1" mass="0" pos="5 5 5"/>'])
def test_a_body_without_mass_has_the_bounds_at_its_own_place(mode, geom):
    setting = f'inertiafromgeom="{mode}" boundmass="1" boundinertia=".1"'
    dummy = f'<frame pos="0 0 7"><body pos="1 2 3" euler="10 20 30">{geom}<body pos="1 0 0"/></body></frame>'
    compared(compiled(setting, f'<body pos="3 2 1"><joint axis="1 1 1"/>{geom}{dummy}</body>'))


def test_groups_that_weigh():
    geoms = '<geom size=".1" group="1"/><geom size=".2" group="3"/><geom size=".3" pos="1 0 0"/>'
    compared(compiled('inertiagrouprange="1 2"', f"<body><joint/>{geoms}</body>"))


STATED = {
    "diagonal": '<inertial pos=".1 .2 .3" mass="2" diaginertia="1 1.5 2" euler="10 20 30"/>',
    "full": '<inertial pos=".1 .2 .3" mass="2" fullinertia="2 3 4 .1 .2 .3"/>',
    "tiny": '<inertial pos="1 0 0" mass=".1" diaginertia=".001 2 2"/>',
    "impossible": '<inertial pos="1 0 0" mass=".1" diaginertia="1 2 4"/>',
    "impossible, full": '<inertial pos="1 0 0" mass=".1" fullinertia="1 2 4 .1 .2 .3"/>',
    "in a frame": '<frame pos="1 2 3" euler="5 6 7">'
    '<inertial pos="1 0 0" mass="1" fullinertia="2 3 4 .1 .2 .3"/></frame>',
}
SETTINGS = ["", 'boundmass="1"', 'boundinertia=".01"', 'boundmass="1" boundinertia="1.5"', 'settotalmass="7"',
            'settotalmass="7" boundmass="20" boundinertia="1"', 'boundinertia="1.5" settotalmass="3"']  # fmt: skip


@pytest.mark.parametrize("stated", STATED)
@pytest.mark.parametrize("setting", SETTINGS)
def test_bounds_and_the_total(stated, setting):
    balanced = 'balanceinertia="true"' if "impossible" in stated else ""
    rest = '<body><geom size=".1"/><body name="z"><site name="s"/></body></body><geom size="1"/>'
    compared(compiled(f"{setting} {balanced}", f"<body><joint axis='1 1 0'/>{STATED[stated]}</body>{rest}"))


# a free body whose frame moves to its centre

LOOSE = '<body name="a" pos="1 2 3" euler="1 2 3">{}<site name="s" pos="1 0 0"/></body>'


@pytest.mark.parametrize("joint", ["<freejoint/>", '<freejoint align="true"/>', '<freejoint align="false"/>',
                                   '<joint type="free"/>'])  # fmt: skip
@pytest.mark.parametrize("setting", ["true", "false"])
@pytest.mark.parametrize("weight", [STATED["diagonal"], '<geom type="box" size=".1 .2 .3" pos="1 1 1"/>'])
def test_a_free_body_is_aligned_with_its_inertia(joint, setting, weight):
    framed = f'<frame pos="4 5 6" euler="10 0 0">{LOOSE.format(joint + weight)}</frame>'
    compared(compiled(f'alignfree="{setting}"', framed))


def test_a_free_body_that_carries_another_is_not_aligned():
    compared(compiled('alignfree="true"', LOOSE.format('<freejoint/><geom size=".1" pos="1 0 0"/><body/>')))


def test_axes_that_have_to_be_found_are_mujocos_up_to_half_turns_and_said_so():
    text = compiled('alignfree="true"', LOOSE.format("<freejoint/>" + STATED["full"]))
    p = Pair(mujoco.MjModel.from_xml_string(text), hinge.load(text))
    ours, theirs = p.robot.neutral(), p.ours(p.m.qpos0)
    np.testing.assert_allclose(ours[4:], theirs[4:], atol=1e-14)
    R, S = np.zeros((2, 9))
    mujoco.mju_quat2Mat(R, ours[:4])
    mujoco.mju_quat2Mat(S, theirs[:4])
    between = R.reshape(3, 3).T @ S.reshape(3, 3)
    np.testing.assert_allclose(np.abs(between), np.eye(3), atol=1e-12)
    assert "aligned" in [f.code for f in p.robot.report]


# meshes


def convex(rng):
    return trimesh.convex.convex_hull(rng.normal(size=(20, 3)) * [0.1, 0.2, 0.3] + [0.1, 0.2, 0.3])


def dented(rng):
    ball = trimesh.creation.icosphere(2)
    dents = 1 + 0.4 * np.sin(5 * ball.vertices[:, :1]) * np.cos(4 * ball.vertices[:, 1:2])
    return trimesh.Trimesh(ball.vertices * dents * [0.1, 0.2, 0.3] + [0.3, 0.1, 0.0], ball.faces, process=False)


def msh(mesh, faces=True, drawn=False):
    """An MSH file; `drawn` with a normal and texture coordinates of each vertex."""
    vertices, triangles = np.asarray(mesh.vertices, "<f4"), np.asarray(mesh.faces, "<i4")[: None if faces else 0]
    extra = np.zeros((len(vertices), 5 if drawn else 0), "<f4")
    counts = struct.pack("<4i", len(vertices), *[len(vertices) if drawn else 0] * 2, len(triangles))
    return counts + vertices.tobytes() + extra.tobytes() + triangles.tobytes()


def as_file(mesh, ending):
    if ending == "msh":
        return msh(mesh)
    made = mesh.export(file_type=ending)
    return made.encode() if isinstance(made, str) else made


def meshed(asset, geom='type="mesh"', setting=""):
    inside = f'<body name="a"><joint axis="1 1 0"/><geom mesh="m" pos=".1 .2 .3" euler="10 20 30" {geom}/></body>'
    return world(inside, f'<compiler {setting}/><asset><mesh name="m" {asset}/></asset>')


SHAPES = {"convex": convex, "dented": dented}
MODES = ["legacy", "convex", "exact", "shell"]
MOVED = ["", 'scale="2 3 .5"', 'scale="-1 1 2"', 'refpos=".1 .2 .3" refquat="1 2 3 4"',
         'scale="-2 1 1" refpos=".1 .2 .3" refquat="1 2 3 4"']  # fmt: skip


@pytest.fixture(params=SHAPES)
def mesh(request):
    return SHAPES[request.param](np.random.default_rng(0))


@pytest.mark.sampled(12)
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("ending", ["stl", "obj", "msh"])
def test_a_mesh_file(mesh, ending, mode, folder):
    for moved in MOVED:
        text = meshed(f'file="m.{ending}" inertia="{mode}" {moved}')
        p = compared(folder({"main.xml": text, f"m.{ending}": as_file(mesh, ending)}), MESH)
        assert p.robot.mass == pytest.approx(p.m.body_mass[1], rel=1e-12)
        np.testing.assert_allclose(p.robot.model.links["a"].com, p.m.body_ipos[1], atol=1e-12)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("faces", [True, False])
def test_a_mesh_in_the_file_itself(mesh, mode, faces):
    written = f'vertex="{" ".join(map(str, mesh.vertices.ravel()))}"'
    if faces:
        written += f' face="{" ".join(map(str, mesh.faces.ravel()))}"'
    compared(meshed(f'inertia="{mode}" {written}'), MESH)


def test_a_cloud_of_points_in_a_file_stands_for_its_hull(mesh, folder):
    compared(folder({"main.xml": meshed('file="m.msh"'), "m.msh": msh(mesh, faces=False)}), MESH)


def test_normals_and_texture_coordinates_of_a_file_are_passed_over(mesh, folder):
    compared(folder({"main.xml": meshed('file="m.msh"'), "m.msh": msh(mesh, drawn=True)}), MESH)


@pytest.mark.parametrize("kind", SIZES)
@pytest.mark.parametrize("by_box", ["true", "false"])
def test_a_primitive_in_the_place_of_a_mesh(mesh, kind, by_box, folder):
    for mode in MODES:
        text = meshed(f'file="m.stl" inertia="{mode}"', f'type="{kind}" fitscale="1.2"', f'fitaabb="{by_box}"')
        compared(folder({"main.xml": text, "m.stl": as_file(mesh, "stl")}), MESH)


def test_a_mass_a_class_and_folders_for_a_mesh(mesh, folder):
    geom = '<body name="a"><joint axis="1 1 0"/><geom type="mesh" mesh="part" mass="3"/></body>'
    before = '<default><mesh scale="2 2 2" inertia="convex"/></default><asset><mesh file="deep/PART.stl"/></asset>'
    settings = {'meshdir="m"': "m/deep", 'assetdir="m"': "m/deep", 'meshdir="m" assetdir="q"': "m/deep",
                'strippath="true"': "."}  # fmt: skip
    for setting, place in settings.items():
        text = world(geom.replace("part", "PART"), f"<compiler {setting}/>{before}")
        compared(folder({"main.xml": text, f"{place}/PART.stl": as_file(mesh, "stl")}), MESH)


def test_a_mesh_that_need_not_weigh_is_not_opened(folder):
    """Robots are often passed on without their meshes."""
    stated = '<inertial pos="0 0 1" mass="2" diaginertia="1 1 1"/>'
    robot = hinge.load(folder({"main.xml": meshed('file="gone.stl"').replace("<geom", stated + "<geom")}))
    assert robot.mass == 2.0
    (shape,) = (shape for shape in robot.model.shapes["a"] if shape.role == "visual")
    assert (shape.kind, shape.file) == ("mesh", "gone.stl")


def test_a_mesh_is_closed_wherever_its_vertices_are_repeated():
    corners = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], float)
    faces = np.array([[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]])
    loose = corners[faces].reshape(-1, 3)
    loose[0] = -0.0  # is where 0.0 is
    apart = np.arange(12).reshape(4, 3)
    assert Mesh(corners, faces).closed
    assert Mesh(loose, apart).closed
    assert not Mesh(loose, apart[:3]).closed
    assert not Mesh(loose, np.concatenate([apart[:3], apart[3:, ::-1]])).closed


def test_a_binary_stl_file_has_the_triangles_that_trimesh_finds(tmp_path):
    path = tmp_path / "a.stl"
    trimesh.creation.icosphere(2, 0.3).export(path)
    vertices, faces = meshes.read(str(path))
    theirs = trimesh.load(path, process=False)
    np.testing.assert_array_equal(vertices[faces], theirs.vertices[theirs.faces])


@pytest.mark.parametrize("mode", ["legacy", "exact", "shell"])
def test_triangles_hold_the_same_however_many_are_taken_at_once(mode, monkeypatch):
    made = trimesh.creation.icosphere(3, 0.3).apply_translation([1.0, -2.0, 0.5])
    mesh = Mesh(np.asarray(made.vertices), np.asarray(made.faces))
    whole = mesh.solid(mode)
    monkeypatch.setattr(moments, "BLOCK", 100)
    for some, all_at_once in zip(mesh.solid(mode), whole, strict=True):
        np.testing.assert_allclose(some, all_at_once, rtol=1e-11, atol=1e-14)
