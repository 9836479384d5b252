"""Distances between links: those of MuJoCo and coal, for every two kinds of shapes; rules for pairs; collisions."""

import sysconfig
from dataclasses import replace
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from colliding import CORNERS, SIZES, loose, mjcf, states

import hinge
from hinge.contact.collision_pairs import pairs_of
from hinge.model.file_physics import Surface
from hinge.model.shapes import Shape

pytest.importorskip("trimesh", reason="trimesh is not installed")

KINDS = ["sphere", "capsule", "ellipsoid", "cylinder", "box", "mesh"]
STATES, DEEP = 1000, 0.03


@pytest.fixture(scope="module")
def robot(tmp_path_factory):
    return loose(KINDS, tmp_path_factory.mktemp("meshes"))


@pytest.fixture(scope="module")
def measured(robot):
    q, qpos = states(np.random.default_rng(1), STATES, len(KINDS))
    return q, qpos, robot.distances(q, ground=0.0, backend="llvm")


def near(ours, theirs):
    """Distances agree: all that are positive, and where bodies are less deep than DEEP; deeper, ours may be deeper."""
    shallow = theirs > -DEEP
    np.testing.assert_allclose(ours[shallow], theirs[shallow], atol=2e-6)
    assert (ours[~shallow] < theirs[~shallow] + 2e-6).all()
    assert np.mean(np.abs(ours - theirs)[~shallow] < 1e-5) > 0.9


def test_distances_are_those_of_mujoco(measured):
    """But for its capsule deep in a box, and lines that cross."""
    mujoco = pytest.importorskip("mujoco", reason="MuJoCo is not installed")
    _, qpos, made = measured
    model = mujoco.MjModel.from_xml_string(mjcf(KINDS))
    data, n = mujoco.MjData(model), len(KINDS)
    theirs, fromto = {}, np.zeros(6)
    for pos in qpos:
        data.qpos[:] = pos
        mujoco.mj_kinematics(model, data)
        for i, j in combinations(range(n + 1), 2):
            gap = mujoco.mj_geomDistance(model, data, i, j, 10.0, fromto)
            theirs.setdefault(frozenset((i, j)), []).append(gap)
    number = {"ground": 0} | {kind: k + 1 for k, kind in enumerate(KINDS)}
    for k, names in enumerate(made.pairs):
        if set(names) != {"capsule", "box"} and "ground" not in names:
            near(made.distance[:, k], np.array(theirs[frozenset(number[name] for name in names)]))


def test_distances_are_those_of_coal(measured):
    coal = pytest.importorskip("coal", reason="coal is not installed")
    q, _, made = measured
    kinds = {"sphere": coal.Sphere, "capsule": coal.Capsule, "ellipsoid": coal.Ellipsoid, "cylinder": coal.Cylinder,
             "box": coal.Box}  # fmt: skip
    solids = {kind: kinds[kind](*SIZES[kind]) for kind in kinds}
    ask = coal.DistanceRequest()
    ask.gjk_tolerance, ask.epa_tolerance, ask.gjk_max_iterations, ask.epa_max_iterations = 1e-9, 1e-9, 1000, 200
    for k, (one, two) in enumerate(made.pairs):
        if one not in solids or two not in solids:
            continue
        theirs = []
        for state in q[:200].reshape(200, len(KINDS), 7):
            at = [_placed(coal, state[KINDS.index(kind)]) for kind in (one, two)]
            theirs.append(coal.distance(solids[one], at[0], solids[two], at[1], ask, coal.DistanceResult()))
        theirs = np.array(theirs)
        found = (np.abs(theirs) < 1.0) & (theirs > -DEEP)  # it gives up at times, and is not sure when deep
        assert found.mean() > 0.3
        np.testing.assert_allclose(made.distance[:200, k][found], theirs[found], atol=2e-6)


def _placed(coal, state):
    w, *v = state[:4]
    K = np.array([[0, -v[2], v[1]], [v[2], 0, -v[0]], [-v[1], v[0], 0]])
    return coal.Transform3s(np.eye(3) + 2 * w * K + 2 * K @ K, state[4:])


def test_points_lie_on_the_links_and_normals_between_them(robot, measured):
    q, _, made = measured
    between = made.points[..., 1, :] - made.points[..., 0, :]
    np.testing.assert_allclose(between, made.distance[..., None] * made.normal, atol=1e-12)
    np.testing.assert_allclose(np.linalg.norm(made.normal, axis=-1), 1.0, atol=1e-12)
    assert not made.status.any()
    for k, names in enumerate(made.pairs):  # no point of a link is farther along the normal than the nearest
        for name, at, sign in zip(names, (0, 1), (1.0, -1.0), strict=True):
            if name == "ground":
                continue
            T = robot.pose(q, name)
            geometry = robot.model.shapes[name][0].geometry
            d = np.einsum("nji,nj->ni", T[:, :3, :3], sign * made.normal[:, k])
            far = np.einsum("ni,ni->n", geometry.support(d), d)
            local = np.einsum("nji,nj->ni", T[:, :3, :3], made.points[:, k, at] - T[:, :3, 3])
            np.testing.assert_allclose(np.einsum("ni,ni->n", local, d), far, atol=1e-5)


def test_the_ground_is_as_far_as_the_lowest_point(measured, robot):
    q, _, made = measured
    k = made.pairs.index(("ground", "mesh"))
    T = robot.pose(q, "mesh")
    lowest = (CORNERS.astype("f4") @ T[:, 2, :3].T).min(axis=0) + T[:, 2, 3]
    np.testing.assert_allclose(made.distance[:, k], lowest, atol=1e-12)


def test_links_collide_where_a_distance_is_negative(robot, measured):
    q, _, made = measured
    hit = robot.collides(q, ground=0.0)
    least = made.distance.min(axis=1)
    sure = np.abs(least) > 1e-9
    assert (hit == (least < 0.0))[sure].all()
    assert hit.any()
    pair = [("box", "mesh")]
    alone = robot.collides(q, pairs=pair)
    np.testing.assert_array_equal(alone, made.distance[:, made.pairs.index(pair[0])] < 0.0)
    bad = q[:2].copy()
    bad[0, 0] = np.nan
    assert robot.collides(bad, pairs=pair)[0]
    numbers = robot.distances(bad, pairs=pair)
    assert list(numbers.status) == [hinge.Status.NONFINITE, hinge.Status.OK]
    assert np.isfinite(numbers.distance).tolist() == [[False], [True]]


def test_one_state_is_its_row_and_single_precision_is_near(robot, measured):
    q, _, made = measured
    one = robot.distances(q[7], ground=0.0)
    np.testing.assert_array_equal(one.distance, made.distance[7])
    single = robot.distances(q[:50].astype(np.float32), ground=0.0)
    assert single.distance.dtype == np.float32
    apart = made.distance[:50] > 1e-3
    np.testing.assert_allclose(single.distance[apart], made.distance[:50][apart], atol=1e-4)


def chain(*overlaps):
    """Four links in a row, a ball each, joined by hinges; some balls are large enough to reach the one after next."""
    builder = hinge.Builder("chain")
    builder.link("base", shapes=[Shape("collision", "sphere", (0.1,))])
    for k in range(1, 4):
        radius = 0.95 if k in overlaps else 0.1
        builder.link(f"l{k}", 1.0, (0, 0, 0), np.eye(3), [Shape("collision", "sphere", (radius,))])
        builder.joint(f"j{k}", "revolute", "base" if k == 1 else f"l{k - 1}", f"l{k}", axis=(0, 1, 0), xyz=(0.5, 0, 0))
    return hinge.Robot(builder.build())


def test_which_pairs_there_are():
    model = chain().model
    names = lambda **rules: set(pairs_of(model, **rules).names)
    assert names() == {("base", "l1"), ("base", "l2"), ("base", "l3"), ("l1", "l3")}  # the world has no neighbours
    assert names(ground=0.0) >= {("ground", f"l{k}") for k in (1, 2, 3)}
    assert ("ground", "base") not in names(ground=0.0)
    assert names(exclude=[("l3", "l1")]) == names() - {("l1", "l3")}
    other = replace(model.shapes["l1"][0], surface=Surface(contype=2, conaffinity=2))
    apart = replace(model, shapes=dict(model.shapes) | {"l1": (other,)})
    assert set(pairs_of(apart).names) == {("base", "l2"), ("base", "l3")}
    assert names(pairs=[("l2", "l1")]) == {("l1", "l2")}
    assert pairs_of(model, within=[0.0, 0.1, 0.2, 0.3]).within[-1] == pytest.approx(0.4)


def test_pairs_that_overlap_at_rest_are_left_out_and_named_ones_are_not():
    robot = chain(2)
    made = robot.distances(robot.neutral())
    assert made.pairs == (("base", "l1"), ("base", "l3"), ("l1", "l3"))
    named = robot.distances(robot.neutral(), pairs=[("l2", "base")])
    assert named.pairs == (("base", "l2"),)
    assert named.distance[0] == pytest.approx(-0.05)


def test_bad_pairs_are_said_by_name():
    robot = chain()
    with pytest.raises(hinge.UnknownName, match=r"no collision shape on a link 'l9'\. Known: 'base', 'l1'"):
        robot.distances(robot.neutral(), pairs=[("l9", "l1")])
    with pytest.raises(hinge.SizeError, match="is no pair of links"):
        robot.distances(robot.neutral(), pairs=["l1"])
    with pytest.raises(hinge.SizeError, match="ground: normal is"):
        robot.distances(robot.neutral(), ground=((0, 0, 0), 1.0))
    bare = hinge.samples.planar_2r()
    with pytest.raises(hinge.NotCovered, match="no two collision shapes"):
        bare.distances([0.0, 0.0])
    with pytest.raises(hinge.NotCovered, match="no moving link of robot 'planar_2r' has a collision shape"):
        bare.collides([0.0, 0.0])


@pytest.mark.sweep
def test_real_robots_stand_in_a_scene():
    robots = Path(sysconfig.get_path("purelib"), "cmeel.prefix", "share", "example-robot-data", "robots")
    path = robots / "go2_description" / "urdf" / "go2.urdf"
    if not path.exists():
        pytest.skip("example-robot-data is not installed")
    scene = hinge.Scene().ground().add(hinge.load(path, base="floating"), "r")
    q = scene.robot.neutral()
    q[6] += 5.0
    assert scene.contacts(q) == []
