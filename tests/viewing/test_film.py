"""Films: what is in a page, what is seen in a picture, and that the camera has all of it."""

import base64
import gzip
import io
import json
import re

import numpy as np
import pytest
from PIL import Image

import hinge
from hinge import SizeError, UnknownName, ViewError
from hinge.viewing import picture
from hinge.viewing.reel import reel, strobe
from hinge.viewing.render import FROM, Studio
from hinge.viewing.shapes import balls, extent
from hinge.viewing.triangles import surface


@pytest.fixture(scope="module")
def dropped():
    """Two boxes, one above the other, in two rollouts of which the second is lost."""
    scene = hinge.Scene().body("low", "box", (0.4, 0.3, 0.2), 2.0).body("high", "sphere", 0.1, 1.0)
    q0 = np.tile([1.0, 0, 0, 0, 0, 0, 0.1, 1, 0, 0, 0, 0.5, 0.0, 0.3], (2, 1))
    qd0 = np.zeros((2, 12))
    qd0[1, 3] = 1e9
    return hinge.simulate(scene.robot, 0.4, q0, qd0, step=2e-3, record=5, ground=0.0, backend="llvm")


def unpacked(path):
    """What a page says of its film, and its arrays."""
    text = path.read_text(encoding="utf-8")
    data = gzip.decompress(base64.b64decode(re.search(r'id="packed" type="text/plain">([^<]*)<', text)[1]))
    size = int.from_bytes(data[:4], "little")
    about = json.loads(data[4 : 4 + size])
    return about, lambda told: np.frombuffer(data, f"<{told[0]}", told[2], 4 + size + told[1]), text


def test_a_page_has_all_it_needs(dropped, tmp_path):
    hinge.film(dropped, tmp_path / "x.html", rate=25.0)
    about, array, text = unpacked(tmp_path / "x.html")
    assert not re.search(r"https?:|src=|href=|import ", text)
    assert len(text) < 30_000
    rows = np.round(np.arange(11) / 25.0 / 0.01).astype(int)
    np.testing.assert_allclose(array(about["t"]), dropped.t[rows], atol=1e-6)
    poses = array(about["poses"]).reshape(11, 3, 3, 4)
    for body, name in ((1, "low"), (2, "high")):
        np.testing.assert_allclose(poses[:, body], dropped.robot.pose(dropped.q[0, rows], name)[:, :3], atol=1e-6)
    forces = array(about["forces"]).reshape(11, about["most"], 6)
    made = dropped.contacts.forces[0, rows].sum(axis=-2) / (3.0 * 9.81)
    long, quiet = extent(reel(dropped).parts, reel(dropped).poses[0]), made[:, 2] < 1.2
    assert quiet.sum() == 10  # the ball strikes once
    np.testing.assert_allclose(forces[quiet, :, 3:].sum(axis=1), made[quiet] * 0.5 * long, rtol=1e-4, atol=1e-5)
    assert np.linalg.norm(forces[..., 3:], axis=-1).max() < 0.751 * long
    box = about["parts"][0]
    corners = array(box["corners"]).reshape(-1, 3) / 32767 * box["half"] + box["middle"]
    np.testing.assert_allclose(np.ptp(corners, axis=0), [0.4, 0.3, 0.2], atol=1e-4)


def test_one_picture_has_the_robot_at_places_equally_far_apart(tmp_path):
    ball = hinge.Scene().body("ball", "sphere", 0.1, 1.0).robot.with_gravity((0.0, 0.0, 0.0))
    speedy = [0.0, 0.0, 0.0, 1.0, 0.0, 0.0]
    run = hinge.simulate(ball, 2.0, qd0=speedy, control=lambda t, q, qd: [0, 0, 0, 3.0 * t, 0, 0], step=1e-2)
    made = strobe(reel(run))
    assert [part.opacity is None for part in made.parts] == [False] * 4 + [True]
    assert np.all(np.diff([part.opacity for part in made.parts[:4]]) > 0.1)
    steps = np.diff([made.poses[0, part.body, 0, 3] for part in made.parts])
    np.testing.assert_allclose(steps, run.q[-1, 4] / 4, rtol=0.1)
    hinge.film(run, tmp_path / "x.png", size=(160, 100))
    seen = np.asarray(Image.open(tmp_path / "x.png"))
    assert seen.shape == (100, 160, 3)
    resting = strobe(reel(hinge.simulate(ball, 0.1)))
    assert len(resting.parts) == 1


def test_a_gif_moves_and_lasts_as_long_as_it_was(dropped, tmp_path):
    hinge.film(dropped, tmp_path / "x.gif", rate=10.0, speed=0.5, size=(80, 50))
    moving = Image.open(io.BytesIO((tmp_path / "x.gif").read_bytes()))
    assert moving.size == (80, 50)
    first, lasts = np.asarray(moving.convert("RGB"), float), 0
    for k in range(moving.n_frames):  # pictures that are alike are one that is shown longer
        moving.seek(k)
        lasts += moving.info["duration"]
    assert lasts == 900
    assert (np.abs(np.asarray(moving.convert("RGB"), float) - first).max(axis=-1) > 40).sum() > 50


def test_a_run_whose_contacts_nobody_knows_is_filmed_without():
    ball = hinge.Scene().body("ball", "sphere", 0.1, mass=2.0).robot
    run = hinge.simulate(ball, 0.1, [1, 0, 0, 0, 0, 0, 0.1], step=0.01, ground=0.0, fields=("q",))
    assert reel(run).points.shape == (4, 0, 3)


def test_terrain_is_seen_and_the_floor_is_below_it():
    ball = hinge.Scene().body("ball", "sphere", 0.1, mass=2.0).robot
    heights = np.array([[0.0, 0.1], [-0.2, 0.3]])
    ground = hinge.Ground(height=0.5, heights=heights, size=(2.0, 2.0))
    run = hinge.simulate(ball, 0.01, [1, 0, 0, 0, 0, 0, 1.5], step=0.01, ground=ground, backend="llvm")
    made = reel(run)
    np.testing.assert_allclose(made.parts[-1].vertices[:, 2], 0.5 + heights.reshape(-1))
    assert made.parts[-1].body == 0
    assert made.floor.point[2] == 0.0
    assert made.radius < 0.5  # the camera looks at the ball


def test_a_rollout_that_was_lost_plays_while_it_was_good(dropped):
    assert len(reel(dropped, 1).t) == 1


@pytest.mark.parametrize("size", [(90, 60), (60, 90)])
def test_the_camera_has_everything_and_little_more(dropped, size):
    made = reel(dropped)
    centres, radii, bodies = balls(made.parts)
    studio = Studio(made, size, 1)
    seen = []
    for k in range(len(made.t)):
        camera = studio.camera(k)
        at = made.poses[k][bodies]
        where, far = camera.seen(np.einsum("nij,nj->ni", at[:, :3, :3], centres) + at[:, :3, 3])
        reach = 0.5 * size[1] * 2.4 * radii / far
        seen.append(np.concatenate([where - reach[:, None], where + reach[:, None]]))
    low, high = np.min(seen, axis=(0, 1)), np.max(seen, axis=(0, 1))
    assert (low > 0).all()
    assert (high < size).all()
    assert ((high - low) / size).max() > 0.5


def test_what_is_nearer_hides_what_is_behind_and_shadows_fall_on_the_floor():
    def ball(name, color, builder):
        builder.link(
            name, 1.0, inertia=np.eye(3), shapes=[hinge.model.shapes.Shape("visual", "sphere", (0.2,), rgba=color)]
        )
        builder.joint(name, "prismatic", "world", name, axis=FROM / np.linalg.norm(FROM))

    builder = hinge.Builder("balls")
    builder.link("world")
    ball("red", (1.0, 0.0, 0.0, 1.0), builder)
    ball("blue", (0.0, 0.0, 1.0, 1.0), builder)
    robot = hinge.Robot(builder.build())
    for q, wanted in (([0.5, -0.5], 0), ([-0.5, 0.5], 2)):
        run = hinge.simulate(robot, 0.01, q, step=0.01)
        image = picture(run, 0.0, size=(60, 60)).astype(float)
        assert image[30, 30].argmax() == wanted
        assert image[30, 30].max() > 100


def test_edges_stay_edges_and_what_is_round_is_smooth():
    box = surface(*hinge.model.shapes.Box(1.0, 2.0, 3.0).triangles())
    assert len(box.corners) == 24
    assert (np.abs(box.normals).max(axis=1) == 1.0).all()
    ball = surface(*hinge.model.shapes.Sphere(2.0).triangles())
    np.testing.assert_allclose(ball.normals, ball.corners / 2.0, atol=0.05)
    can = surface(*hinge.model.shapes.Cylinder(1.0, 1.0).triangles())
    flat = np.abs(can.normals[:, 2])
    assert ((flat < 1e-9) | (flat > 1.0 - 1e-9)).all()


def test_what_cannot_be_filmed_is_said(dropped, tmp_path):
    with pytest.raises(UnknownName, match=r"ending of a film.*'\.mp4'"):
        hinge.film(dropped, tmp_path / "x.mp4")
    with pytest.raises(SizeError, match="rollout 2 is asked for; there are 2"):
        hinge.film(dropped, tmp_path / "x.html", rollout=2)
    with pytest.raises(SizeError, match="film takes a trajectory; a Robot was given"):
        hinge.film(dropped.robot, tmp_path / "x.html")
    with pytest.raises(SizeError, match="rate"):
        hinge.film(dropped, tmp_path / "x.html", rate=0.0)
    with pytest.raises(ViewError, match="nowhere"):
        hinge.film(dropped, tmp_path / "nowhere" / "x.html")


def test_terrain_is_a_part_of_the_world():
    ball = hinge.Scene().body("ball", "sphere", 0.1, mass=1.0).robot
    heights = 0.3 * np.add.outer(np.linspace(-1, 1, 9) ** 2, np.linspace(-1, 1, 9) ** 2)
    bowl = hinge.Ground(height=0.5, heights=heights, size=(2.0, 2.0))
    made = reel(hinge.simulate(ball, 0.1, [1, 0, 0, 0, 0.3, 0.2, 0.75], step=2e-3, ground=bowl, backend="llvm"))
    part = made.parts[-1]
    assert part.body == 0
    np.testing.assert_allclose(part.vertices[:, 2], 0.5 + heights.reshape(-1))
    assert made.floor.point[2] < 0.5
