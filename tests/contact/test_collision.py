"""Contacts over scalars: the points, gaps, normals and tangents of MuJoCo; the same bits everywhere."""

import numpy as np
import pytest
from colliding import CORNERS, contact_kernel, loose, mjcf, states

mujoco = pytest.importorskip("mujoco", reason="MuJoCo is not installed")

WITHIN, ROOM, STATES = 0.03, 64, 1000
CLOSED = ["sphere", "capsule", "cylinder", "box", "ellipsoid", "sphere", "capsule", "box"]
ALIKE = {("plane", kind) for kind in ("sphere", "capsule", "ellipsoid", "cylinder", "box")} | {
    ("sphere", "sphere"), ("sphere", "capsule"), ("sphere", "cylinder"), ("sphere", "box"), ("capsule", "capsule"),
    ("box", "box"),
}  # fmt: skip


def found(model, data, qpos):
    """MuJoCo's contacts of a state: for each pair of geoms rows (gap, point, normal, tangent)."""
    data.qpos[:] = qpos
    mujoco.mj_kinematics(model, data)
    mujoco.mj_comPos(model, data)
    mujoco.mj_collision(model, data)
    made = {}
    for geoms, gap, at, frame in zip(
        data.contact.geom, data.contact.dist, data.contact.pos, data.contact.frame, strict=True
    ):
        made.setdefault(tuple(sorted(geoms)), []).append([gap, *at, *frame[:6]])
    return {key: np.array(rows) for key, rows in made.items()}


@pytest.fixture(scope="module")
def both():
    """Contacts of loose shapes: for each state and pair hinge's rows and MuJoCo's, and the kinds of the pair."""
    robot = loose(CLOSED)
    kernel, pairs = contact_kernel(robot, ROOM, ground=0.0, within=WITHIN)
    model = mujoco.MjModel.from_xml_string(mjcf(CLOSED, WITHIN))
    data = mujoco.MjData(model)
    q, qpos = states(np.random.default_rng(0), STATES, len(CLOSED), 0.25)
    counts, rows = kernel(q)
    assert counts.max() <= ROOM
    n = len(CLOSED)
    geom = [k + 1 for k in range(n)] + [0]  # ours to MuJoCo's, whose plane comes first
    numbers = {tuple(sorted((geom[i], geom[j]))): k for k, (i, j) in enumerate(pairs.rows)}
    kinds = [tuple(pairs.shapes[i].geometry.kind for i in row) for row in pairs.rows]
    listed = []
    for here, count, pos in zip(rows.reshape(STATES, ROOM, 11), counts, qpos, strict=True):
        mine, theirs = here[: int(count)], found(model, data, pos)
        for key, k in numbers.items():
            listed.append((kinds[k], mine[mine[:, 0] == k][:, 1:], theirs.get(key, np.zeros((0, 10)))))
    return listed


@pytest.mark.sampled(5)
@pytest.mark.parametrize("kinds", sorted(ALIKE), ids="-".join)
def test_closed_forms_are_those_of_mujoco(both, kinds):
    touched = 0
    for pair, mine, theirs in both:
        if pair != kinds:
            continue
        assert len(mine) == len(theirs)
        for row in theirs:
            off = np.abs(mine - row)
            best = off[:, 1:4].sum(axis=1).argmin()
            np.testing.assert_allclose(mine[best], row, atol=1e-9)
        touched += len(theirs)
    assert touched > 40


def test_the_deepest_point_of_a_capsule_on_a_box_is_that_of_mujoco(both):
    """Where the line of the capsule does not pass through the box, whose second point may differ."""
    seen = 0
    for pair, mine, theirs in both:
        if pair == ("capsule", "box") and len(theirs) and min(theirs[:, 0].min(), mine[:, 0].min()) > -0.0799:
            a, b = mine[mine[:, 0].argmin()], theirs[theirs[:, 0].argmin()]
            assert abs(a[0] - b[0]) < 1e-9
            np.testing.assert_allclose(a[4:7], b[4:7], atol=1e-6)
            seen += 1
    assert seen > 100


def test_other_solids_touch_as_deep_as_in_mujoco(both):
    """By a search: the same gap and normal where they overlap and MuJoCo has one point; several it cuts from faces."""
    seen = 0
    for pair, mine, theirs in both:
        if pair in ALIKE or pair == ("capsule", "box"):
            continue
        least = min([*mine[:, 0], *theirs[:, 0]], default=WITHIN)
        assert bool(len(mine)) == bool(len(theirs)) or least > WITHIN
        if len(mine) and len(theirs) == 1 and -0.05 < theirs[0, 0] < 0.0:
            assert abs(mine[:, 0].min() - theirs[:, 0].min()) < 2e-6
            assert np.abs(mine[:, 4:7] @ theirs[0, 4:7]).max() > 0.99
            seen += 1
    assert seen > 100


@pytest.mark.sweep
def test_interpreted_it_has_the_same_bits_and_one_state_is_its_row():
    kinds = ["sphere", "capsule", "box", "cylinder"]
    robot = loose(kinds)
    q, _ = states(np.random.default_rng(3), 5, len(kinds), 0.2)
    kernel, _ = contact_kernel(robot, 24, ground=0.0, within=0.01)
    other, _ = contact_kernel(robot, 24, backend="interpret", ground=0.0, within=0.01)
    counts, rows = kernel(q)
    assert counts.min() < counts.max() > 3
    for again, there in zip(other(q), (counts, rows), strict=True):
        np.testing.assert_array_equal(again, there)
    for k in range(3):
        np.testing.assert_array_equal(kernel(q[k])[1], rows[k])


@pytest.mark.sweep
def test_in_single_precision_contacts_are_near():
    kinds = ["sphere", "capsule", "cylinder", "box"]
    kernel, _ = contact_kernel(loose(kinds), 24, ground=0.0, within=0.01)
    q, _ = states(np.random.default_rng(5), 200, len(kinds), 0.3)
    counts, rows = kernel(q)
    few, near = kernel(q.astype(np.float32))
    same = counts == few
    assert same.mean() > 0.9
    first = np.sort(rows.reshape(200, 24, 11)[same][..., 1].min(axis=1))
    again = np.sort(near.reshape(200, 24, 11)[same][..., 1].min(axis=1))
    np.testing.assert_allclose(again, first, atol=1e-3)


def test_a_mesh_stands_on_a_plane_on_corners_that_are_apart(tmp_path):
    """The lowest corner first, and no more than four, all of the hull and near."""
    pytest.importorskip("trimesh", reason="trimesh is not installed")
    robot = loose(["mesh"], tmp_path)
    kernel, _ = contact_kernel(robot, 8, ground=0.0, within=0.05)
    q, _ = states(np.random.default_rng(7), 300, 1, 0.1)
    counts, rows = kernel(q)
    T = robot.pose(q, "mesh")
    corners = np.einsum("nij,kj->nki", T[:, :3, :3], CORNERS.astype("f4")) + T[:, None, :3, 3]
    for here, count, many in zip(rows.reshape(300, 8, 11), counts.astype(int), corners, strict=True):
        low = many[:, 2].min()
        assert (count > 0) == (low < 0.05)
        assert count <= 4
        if count:
            assert here[0, 1] == pytest.approx(low, abs=1e-12)
        for row in here[:count]:
            foot = row[2:5] + [0.0, 0.0, 0.5 * row[1]]
            assert np.abs(many - foot).max(axis=1).min() < 1e-12
        apart = np.linalg.norm(here[:count, None, 2:5] - here[None, :count, 2:5], axis=-1)
        assert (apart[~np.eye(count, dtype=bool)] > 1e-3).all()
    assert set(counts) == {0.0, 1.0, 2.0, 3.0, 4.0}
