"""What is drawn of a robot: shapes have their size, and bodies without any are drawn with their mass and inertia."""

import numpy as np
import pytest
import trimesh

import hinge
from hinge.model.shapes import Shape
from hinge.viewing import shapes
from hinge.viewing.figure import Figure
from hinge.viewing.reel import body_poses

TURNED = ((0.0, -1.0, 0.0), (1.0, 0.0, 0.0), (0.0, 0.0, 1.0))


@pytest.mark.parametrize(
    ("kind", "size", "volume", "edges"),
    [
        ("box", (1.0, 2.0, 3.0), 6.0, (2.0, 1.0, 3.0)),
        ("sphere", (0.5,), np.pi / 6, (1.0, 1.0, 1.0)),
        ("ellipsoid", (0.5, 1.0, 2.0), np.pi * 4 / 3, (2.0, 1.0, 4.0)),
        ("cylinder", (0.5, 3.0), np.pi * 0.75, (1.0, 1.0, 3.0)),
        ("capsule", (0.5, 3.0), np.pi * (0.75 + 1 / 6), (1.0, 1.0, 4.0)),
    ],
)
def test_a_shape_is_closed_and_has_its_size(kind, size, volume, edges):
    vertices, faces = shapes.triangles(Shape("visual", kind, size, xyz=(1.0, 2.0, 3.0), rotation=TURNED))
    mesh = trimesh.Trimesh(vertices, faces)
    mesh.merge_vertices()
    assert mesh.is_watertight
    assert mesh.volume == pytest.approx(volume, rel=0.03)  # what is round has corners; outward triangles count up
    assert np.ptp(vertices, axis=0) == pytest.approx(edges, rel=0.01)
    assert (vertices.max(axis=0) + vertices.min(axis=0)) / 2 == pytest.approx((1.0, 2.0, 3.0), abs=0.01)


@pytest.mark.parametrize("robot", [hinge.samples.puma560(), hinge.samples.panda(), hinge.samples.go2()])
def test_bodies_are_drawn_where_their_masses_are(robot):
    q, _ = robot.random_state(np.random.default_rng(0), 5)
    bodies = robot.model.inertia[1:]
    mass, com = np.array([body.m for body in bodies]), np.array([tuple(body.com) for body in bodies])
    poses = body_poses(robot, q)[:, 1:]
    at = np.einsum("tbij,bj->tbi", poses[..., :3, :3], com) + poses[..., :3, 3]
    np.testing.assert_allclose(mass @ at / mass.sum(), robot.center_of_mass(q), atol=1e-12)


def test_a_body_without_shapes_has_a_box_with_its_inertia():
    builder = hinge.Builder("brick")
    builder.link("base")
    R = hinge.geometry.se3.exp([0.3, -0.5, 0.7, 0.0, 0.0, 0.0])[:3, :3]
    a, b, c = 0.2, 0.3, 0.5
    builder.link("brick", 2.0, (0.1, 0.2, 0.3), R @ np.diag([b * b + c * c, a * a + c * c, a * a + b * b]) @ R.T / 6)
    builder.joint("hinge", "revolute", "base", "brick", axis=(0.0, 0.0, 1.0), lower=-1.0, upper=1.0)
    robot = hinge.Robot(builder.build())
    made, left = shapes.parts(robot.model, np.stack([np.eye(4)] * 2))
    assert not left
    box = trimesh.Trimesh(made[-1].vertices, made[-1].faces)
    box.merge_vertices()
    assert box.center_mass == pytest.approx((0.1, 0.2, 0.3))
    box.density = 2.0 / box.volume
    assert box.moment_inertia == pytest.approx(np.array(robot.model.links["brick"].inertia), abs=1e-12)


def test_visual_shapes_come_before_collision_shapes_and_masses():
    visual, hull = Shape("visual", "box", (1.0, 1.0, 1.0)), Shape("collision", "sphere", (0.5,))
    lost = Shape("visual", "mesh", file="nowhere.stl")
    builder = hinge.Builder("three")
    builder.link("base")
    for k, these in enumerate([[visual, hull], [hull], [lost, hull], [lost]]):
        builder.link(f"l{k}", 1.0, inertia=np.eye(3), shapes=these)
        builder.joint(f"j{k}", "revolute", "base", f"l{k}", axis=(0.0, 0.0, 1.0), lower=-1.0, upper=1.0)
    made, left = shapes.parts(builder.build(), np.stack([np.eye(4)] * 5))
    of = {body: [len(part.vertices) for part in made if part.body == body] for body in range(1, 5)}
    assert of[1] == [24]
    assert of[2] == of[3]
    assert len(of[2]) == 1
    assert of[2] != of[1]
    assert len(left) == 2
    assert "nowhere.stl was not found" in left[0]
    assert of[4]


class Scene:
    """Stands for the scene of a browser; remembers what is put in it."""

    def __init__(self):
        self.nodes = {}

    def __getattr__(self, name):
        def add(path, *args, **options):
            node = self.nodes[path] = type("Node", (), {"remove": lambda node: self.nodes.pop(path), "args": args})()
            return node

        return add


def test_bodies_stand_where_the_kinematics_say():
    robot = hinge.samples.panda()
    scene = Scene()
    figure = Figure(scene, robot, "robot")
    q, _ = robot.random_state(np.random.default_rng(1), 1)
    figure.stand(q[0])
    for body in robot.body_names:
        node, T = scene.nodes[f"/robot/bodies/{body}"], robot.pose(q[0], body)
        w, x, y, z = node.wxyz
        turned = hinge.geometry.se3.exp([*(2 * np.arctan2(np.linalg.norm([x, y, z]), w) * np.array([x, y, z])
                                           / max(np.linalg.norm([x, y, z]), 1e-300)), 0, 0, 0])  # fmt: skip
        np.testing.assert_allclose(turned[:3, :3], T[:3, :3], atol=1e-12)
        np.testing.assert_allclose(node.position, T[:3, 3])


def test_marks_come_and_go_and_follow():
    robot = hinge.samples.planar_2r()
    scene = Scene()
    figure = Figure(scene, robot, "robot")
    for mark in ("joint axes", "centre of mass", "forces"):
        figure.mark(mark, True)
    figure.stand(np.array([0.4, 0.2]), np.array([3.0, -1.5]))
    np.testing.assert_allclose(scene.nodes["/robot/com"].position, robot.center_of_mass([0.4, 0.2]))
    axes = scene.nodes["/robot/joint axes"].args[0]
    np.testing.assert_allclose(np.cross(axes[:, 1] - axes[:, 0], [0.0, 1.0, 0.0]), 0.0, atol=1e-6)
    forces = scene.nodes["/robot/forces"].args[0]
    long = (forces[:, 1] - forces[:, 0])[:, 1]
    assert long[0] / long[1] == pytest.approx(-2.0)
    figure.mark("forces", False)
    assert "/robot/forces" not in scene.nodes
