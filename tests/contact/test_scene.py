"""Contact geometry: gaps against distances found by search, normals, and what is refused by name."""

import itertools
import sys

import numpy as np
import pytest
from things import turned

import hinge
from hinge.contact.pairs import touching
from hinge.contact.solids import Solid

SIZES = {"sphere": (0.1,), "capsule": (0.08, 0.3), "box": (0.3, 0.2, 0.25), "cylinder": (0.1, 0.3)}


def solid(kind, rng, p=(0, 0, 0)):
    return Solid(kind, SIZES[kind], kind, turned(rng), np.array(p, float))


def distance(a, b):
    """By bounded least squares over the points of the two cores, less their radii."""
    lsq_linear = pytest.importorskip("scipy.optimize").lsq_linear

    def half(s):
        return {"sphere": (0, 0, 0), "capsule": (0, 0, s.size[-1] / 2), "box": np.array(s.size) / 2}[s.kind]

    bound = np.maximum(np.concatenate([half(a), half(b)]), 1e-15)
    made = lsq_linear(np.hstack([a.R, -b.R]), b.p - a.p, (-bound, bound), method="bvls", tol=1e-15)
    return float(np.sqrt(2 * made.cost)) - sum(s.size[0] for s in (a, b) if s.kind != "box")


PAIRS = [p for p in itertools.combinations_with_replacement(["sphere", "capsule", "box"], 2) if p != ("box", "box")]


@pytest.mark.parametrize(("one", "two"), PAIRS)
def test_the_gap_is_the_distance(one, two):
    rng = np.random.default_rng(7)
    met = 0
    for _ in range(60):
        a, b = solid(one, rng), solid(two, rng, rng.normal(size=3) * 0.35)
        far = distance(a, b)
        if far > 1e-3:
            assert min(f.gap for f in touching(a, b, np.inf)) == pytest.approx(far, abs=1e-7)
            met += 1
    assert met > 10


def test_boxes_that_all_but_touch_have_that_gap():
    rng = np.random.default_rng(7)
    kinds = []
    for _ in range(40):
        a, way, R = solid("box", rng), rng.normal(size=3), turned(rng)
        near, far = 0.0, 2.0
        for _ in range(40):  # along a line until they are all but in touch
            middle = (near + far) / 2
            b = Solid("box", SIZES["box"], "b", R, middle * way / np.linalg.norm(way))
            near, far = (middle, far) if distance(a, b) < 1e-5 else (near, middle)
        best = min(touching(a, b, 1e-3), key=lambda f: f.gap)
        assert best.gap == pytest.approx(1e-5, abs=1e-8)
        kinds.append(best.normal is None)
    assert 5 < sum(kinds) < 35  # pairs of edges, and corners on faces


def test_every_solid_rests_on_the_ground_at_its_own_height():
    heights = {"sphere": 0.1, "capsule": 0.08 + 0.15, "box": 0.125, "cylinder": 0.15}
    counts = {"sphere": 1, "capsule": 1, "box": 4, "cylinder": 8}
    for kind, height in heights.items():
        scene = hinge.Scene().ground(0.5).body("thing", kind, SIZES[kind], 2.0)
        q = np.array([1.0, 0, 0, 0, 0, 0, 0.5 + height])
        contacts = scene.contacts(q)
        assert len(contacts) == counts[kind]
        made = scene.robot.contact_dynamics(q, np.zeros(6), np.zeros(6), contacts)
        np.testing.assert_allclose(made.gap, 0.0, atol=1e-12)
        np.testing.assert_allclose(made.qdd, 0.0, atol=1e-9)
        assert made.force.sum() == pytest.approx(2.0 * 9.81)


def test_a_cylinder_on_its_side_rolls_without_leaving_the_ground():
    scene = hinge.Scene().ground().body("roll", "cylinder", SIZES["cylinder"], 2.0)
    q = np.array([np.sqrt(0.5), np.sqrt(0.5), 0, 0, 0, 0, 0.1])
    contacts = scene.contacts(q)
    assert [c.kind for c in contacts] == ["rim", "rim"]
    made = scene.robot.contact_dynamics(q, [0, 0, 5.0, 0.5, 0, 0], np.zeros(6), contacts)  # spins about its own axis
    np.testing.assert_allclose(made.acceleration, 0.0, atol=1e-9)
    np.testing.assert_allclose(made.force, 9.81)


@pytest.mark.parametrize("upper", ["box", "sphere", "capsule"])
def test_a_stack_rests_and_the_lower_carries_both(upper):
    scene = hinge.Scene().ground().body("lower", "box", (1.0, 1.0, 0.2), 4.0).body("upper", upper, SIZES[upper], 2.0)
    height = {"box": 0.125, "sphere": 0.1, "capsule": 0.08}[upper]
    turn = [np.sqrt(0.5), np.sqrt(0.5), 0, 0] if upper == "capsule" else [1.0, 0, 0, 0]
    q = np.array([1.0, 0, 0, 0, 0, 0, 0.1, *turn, 0, 0, 0.2 + height])
    contacts = scene.contacts(q)
    made = scene.robot.contact_dynamics(q, np.zeros(12), np.zeros(12), contacts)
    np.testing.assert_allclose(made.qdd, 0.0, atol=1e-9)
    between = np.array([c.other is not None for c in contacts])
    assert made.force[between].sum() == pytest.approx(2.0 * 9.81)
    assert made.force[~between].sum() == pytest.approx(6.0 * 9.81)
    assert between.sum() == {"box": 4, "sphere": 1, "capsule": 2}[upper]


def test_boxes_meet_edge_to_edge():
    scene = hinge.Scene().body("one", "box", (0.2, 0.2, 0.2), 1.0).body("two", "box", (0.2, 0.2, 0.2), 1.0)
    c, s = np.cos(np.pi / 8), np.sin(np.pi / 8)
    high = 0.1 * np.sqrt(2)
    q = np.array([c, s, 0, 0, 0, 0, 0, c, 0, s, 0, 0, 0, 2 * high + 1e-4])  # one turned about x, the other about y
    (contact,) = scene.contacts(q)
    assert contact.kind == "edges"
    made = scene.robot.contact_system(q, np.zeros(12), np.zeros(12), [contact])
    assert made.gap[0] == pytest.approx(1e-4)
    np.testing.assert_allclose(
        made.F[0] @ [0, 0, 0, 0, 0, 0, *np.zeros(3), *scene.robot.pose(q, "two")[:3, :3].T[:, 2]], 1.0
    )


def test_a_robot_stands_in_the_scene_with_its_names():
    leg = hinge.load(
        '<robot name="r"><link name="foot"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" '
        'iyz="0"/></inertial><collision><origin xyz="0 0 -0.5"/><geometry><sphere radius="0.1"/></geometry></collision>'
        "</link></robot>", base="floating")  # fmt: skip
    scene = hinge.Scene().ground().body("ball", "sphere", (0.2,), 1.0).add(leg, "leg")
    q = np.array([1.0, 0, 0, 0, 5.0, 0, 0.2, 1.0, 0, 0, 0, 0, 0, 0.6])
    contacts = scene.contacts(q)
    assert {c.body for c in contacts} == {"ball", "leg/foot"}
    made = scene.robot.contact_dynamics(q, np.zeros(12), np.zeros(12), contacts)
    np.testing.assert_allclose(made.force, 9.81)


def test_a_mesh_stands_on_the_vertices_of_its_hull(tmp_path):
    scene = with_cube(tmp_path)
    assert len(scene.contacts([1.0, 0, 0, 0, 0, 0, 0.2])) == 4
    assert scene.contacts([1.0, 0, 0, 0, 0, 0, 0.3]) == []


def test_without_trimesh_a_mesh_is_refused(tmp_path, monkeypatch):
    scene = with_cube(tmp_path)
    monkeypatch.setitem(sys.modules, "trimesh", None)
    with pytest.raises(hinge.NotCovered, match=r"link 'r/cube': .*trimesh.*\n  pip install .hinge\[mesh\]."):
        scene.contacts([1.0, 0, 0, 0, 0, 0, 0.2])


def test_without_scipy_which_trimesh_needs_a_mesh_is_refused(tmp_path, monkeypatch):
    def absent(*given, **further):
        raise ImportError("No module named 'scipy'")

    scene = with_cube(tmp_path)
    monkeypatch.setattr("trimesh.convex.ConvexHull", absent)
    with pytest.raises(hinge.NotCovered, match=r"No module named 'scipy'.\n  pip install .hinge\[mesh\]."):
        scene.contacts([1.0, 0, 0, 0, 0, 0, 0.2])


def with_cube(tmp_path):
    """A scene with a cube that a file has."""
    trimesh = pytest.importorskip("trimesh")
    trimesh.creation.box((0.2, 0.2, 0.2)).export(tmp_path / "cube.stl")
    (tmp_path / "r.urdf").write_text(
        '<robot name="r"><link name="cube"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" '
        'iyz="0"/></inertial><collision><geometry><mesh filename="cube.stl" scale="2 2 2"/></geometry></collision>'
        "</link></robot>")  # fmt: skip
    return hinge.Scene().ground().add(hinge.load(str(tmp_path / "r.urdf"), base="floating"), "r")


def test_what_is_not_covered_is_refused_by_name():
    egg = hinge.load('<mujoco><worldbody><body name="egg"><freejoint/><geom type="ellipsoid" size=".1 .2 .3"/></body>'
                     "</worldbody></mujoco>")  # fmt: skip
    with pytest.raises(hinge.NotCovered, match=r"link 'egg/egg' has a collision shape of kind 'ellipsoid'"):
        hinge.Scene().ground().add(egg, "egg").contacts([1.0, 0, 0, 0, 0, 0, 0])


def test_bad_bodies_are_refused_by_name():
    with pytest.raises(hinge.UnknownName, match=r"body 'a': there is no loose body of kind 'bax'. Did you mean 'box'"):
        hinge.Scene().body("a", "bax", (1, 1, 1), 1.0)
    with pytest.raises(hinge.SizeError, match=r"body 'a': size"):
        hinge.Scene().body("a", "box", (1, 1), 1.0)
    with pytest.raises(hinge.ModelError, match=r"already"):
        hinge.Scene().body("a", "sphere", (1,), 1.0).body("a", "sphere", (1,), 1.0)
    with pytest.raises(hinge.SizeError, match=r"Give a direction"):
        hinge.Scene().half_space((0, 0, 0))
    with pytest.raises(hinge.SizeError, match=r"give one state"):
        hinge.Scene().body("a", "sphere", (1,), 1.0).contacts(np.zeros((2, 7)))


def test_the_radius_of_a_ball_is_a_number():
    ball = hinge.Scene().body("ball", "sphere", 0.1, mass=2.0).robot
    assert np.allclose(ball.mass_matrix(ball.neutral()).diagonal(), [0.4 * 2.0 * 0.01] * 3 + [2.0] * 3)
    with pytest.raises(hinge.SizeError, match=r"size 0.1 and mass 2.0 do not make a box"):
        hinge.Scene().body("block", "box", 0.1, mass=2.0)


NAN, INF = float("nan"), float("inf")


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        (lambda s: s.contacts([1.0, 0, 0, 0, 0, NAN, 0]), r"contacts: q\[5\] is nan. Give finite numbers."),
        (lambda s: s.contacts([1.0, 0, 0, 0, 0, 0, INF]), r"contacts: q\[6\] is inf"),
        (lambda s: s.contacts("abcdefg"), r"contacts: q is not an array of real numbers"),
        (lambda s: s.contacts([1.0, 0, 0, 0, 0, 0, 0], within=NAN), r"contacts: within is nan"),
        (lambda s: s.body("b", "box", "abc", 1.0), r"body 'b': size is not an array of real numbers"),
        (lambda s: s.body("b", "box", (1.0, INF, 1.0), 1.0), r"body 'b': size\[1\] is inf. Give finite numbers."),
        (lambda s: s.body("b", "capsule", 1.0, 1.0), r"body 'b': size 1.0 and mass 1.0 do not make a capsule"),
        (lambda s: s.body("b", "sphere", (1.0,), "heavy"), r"body 'b': mass is not an array of real numbers"),
        (lambda s: s.body("b", "sphere", (1.0,), NAN), r"body 'b': mass is nan"),
        (lambda s: s.ground(NAN), r"ground: height is nan. Give finite numbers."),
        (lambda s: s.ground([0.0, 1.0]), r"ground: height has shape \(2,\). Give one number."),
        (lambda s: s.half_space((0, NAN, 1)), r"half_space: normal\[1\] is nan"),
        (lambda s: s.half_space((0, INF, 1)), r"half_space: normal\[1\] is inf"),
        (lambda s: s.half_space((0, 0, 1), NAN), r"half_space: offset is nan"),
    ],
)
def test_what_is_no_number_is_refused(asked, words):
    scene = hinge.Scene().ground().body("a", "sphere", (1.0,), 1.0)
    with pytest.raises(hinge.SizeError, match=words):
        asked(scene)
