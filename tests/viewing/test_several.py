"""Several rollouts in one film: each in its place, none in another's way, with trails and with what varied."""

import base64
import gzip
import itertools
import json
import re

import numpy as np
import pytest

import hinge
from hinge import ViewError
from hinge.viewing.cast import places, takes
from hinge.viewing.reel import reel
from hinge.viewing.shapes import balls
from hinge.viewing.triangles import STEP, tube

ARM = hinge.samples.planar_2r()
UP = np.array([0.0, 0.0, 1.0])


@pytest.fixture(scope="module")
def swings():
    return hinge.simulate(ARM, 0.5, q0=[[0.1, 0.2], [0.4, -0.5], [1.2, 0.3], [-1.0, 2.0]], step=0.01)


def test_bodies_of_each_rollout_are_where_its_kinematics_say(swings):
    made = reel(swings, [0, 3, 1], rate=10.0)
    assert made.poses.shape == (6, 9, 4, 4)
    for k, rollout in enumerate((0, 3, 1)):
        place = made.poses[0, 3 * k, :3, 3]
        for body, name in ((1, "upper"), (2, "lower")):
            wanted = ARM.pose(swings.q[rollout, ::10], name)
            np.testing.assert_allclose(made.poses[:, 3 * k + body, :3, :3], wanted[:, :3, :3], atol=1e-12)
            np.testing.assert_allclose(made.poses[:, 3 * k + body, :3, 3] - place, wanted[:, :3, 3], atol=1e-12)


def test_side_by_side_none_is_in_anothers_way_and_the_camera_has_all(swings):
    made = reel(swings, range(4))
    centres, radii, bodies = balls(made.parts)
    T = made.poses[:, bodies]
    at = np.einsum("fnij,nj->fni", T[..., :3, :3], centres) + T[..., :3, 3]
    for a, b in itertools.combinations(range(4), 2):
        one, other = ((bodies // 3 == k) & (bodies % 3 > 0) for k in (a, b))
        spans = [
            ((at - radii[:, None])[:, k].min(axis=(0, 1)), (at + radii[:, None])[:, k].max(axis=(0, 1)))
            for k in (one, other)
        ]
        gaps = np.maximum(spans[0][0] - spans[1][1], spans[1][0] - spans[0][1])
        assert gaps[:2].max() > 0.0
    assert (np.linalg.norm(at - made.target[:, None], axis=-1) + radii)[:, bodies % 3 > 0].max() <= made.radius + 1e-9


def test_places_are_a_grid_along_the_floor():
    at = places("grid", 5, 2.0, UP)
    np.testing.assert_allclose(at[:, 2], 0.0)
    apart = [np.linalg.norm(a - b) for a, b in itertools.combinations(at, 2)]
    assert min(apart) == pytest.approx(4.2)
    slope = np.array([0.3, -0.2, 1.0])
    np.testing.assert_allclose(places("grid", 4, 1.0, slope) @ slope, 0.0, atol=1e-12)
    assert not places("ghosts", 4, 1.0, UP).any()


def test_ghosts_are_in_one_place_and_seen_through(swings):
    made = reel(swings, [1, 2], layout="ghosts")
    np.testing.assert_array_equal(made.poses[:, 0], made.poses[:, 3])
    first = [part.opacity for part in made.parts if part.body < 3]
    assert first == [part.opacity for part in reel(swings, 1).parts]
    assert {part.opacity for part in made.parts if part.body >= 3} == {0.3}


def test_runs_of_several_robots_and_lengths_play_together(swings):
    other = hinge.simulate(hinge.samples.pendulum(1), 1.0, q0=[0.5], step=0.01)
    made = reel([swings, other], rate=10.0)
    assert made.name == f"planar_2r, {other.robot.name}"
    np.testing.assert_allclose(made.t, np.arange(11) / 10.0)
    np.testing.assert_array_equal(made.poses[5:, :3], np.broadcast_to(made.poses[5, :3], (6, 3, 4, 4)))


def test_trails_are_the_ways_of_the_tips(swings):
    made = reel(swings, [0, 1], rate=20.0, trails=["hand"])
    assert made.trails.shape == (2, 11, 3)
    for k in (0, 1):
        np.testing.assert_allclose(
            made.trails[k] - made.poses[0, 3 * k, :3, 3], ARM.pose(swings.q[k, ::5], "hand")[:, :3, 3], atol=1e-12
        )
    np.testing.assert_array_equal(reel(swings, 0, trails=True).trails, reel(swings, 0, trails=["hand"]).trails)
    assert reel(swings, 0).trails.shape == (0, 16, 3)


def test_a_tube_goes_along_its_points_in_their_order():
    s = np.linspace(0.0, 3.0, 40)
    points = np.stack([np.cos(s), np.sin(s), 0.3 * s], axis=1)
    points[10:13] = points[10]  # it stands still for a while
    made = tube(points, 0.01)
    assert made.faces.shape == (39 * STEP, 3)
    away = np.linalg.norm(made.corners.reshape(40, -1, 3) - points[:, None], axis=-1)
    np.testing.assert_allclose(away, 0.01)
    for k in (0, 5, 38):
        assert set(made.faces[STEP * k : STEP * (k + 1)].ravel() // 3) == {k, k + 1}
    ahead = np.diff(points, axis=0)[:9]
    np.testing.assert_allclose(np.einsum("fnj,fj->fn", made.normals.reshape(40, -1, 3)[:9], ahead), 0.0, atol=1e-12)


def test_a_robot_whose_lengths_vary_is_drawn_with_its_own():
    arm = ARM.vary("elbow.placement")
    long = np.stack([np.eye(4)] * 2)
    long[:, :3, 3] = [[1.0, 0.0, 0.0], [1.5, 0.0, 0.0]]
    run = hinge.simulate(arm, 0.01, q0=[[0.0, 0.0]] * 2, step=0.01, parameters={"elbow.placement": long})
    for k in (0, 1):
        wanted = arm.pose(run.q[k, 0], "lower", parameters={"elbow.placement": long[k]})
        np.testing.assert_allclose(takes("film", run, k)[0].bodies()[0, 2], wanted, atol=1e-12)


def test_a_page_has_the_shapes_of_one_robot_once_and_its_trails(swings, tmp_path):
    def said(name, **options):
        hinge.film(swings, tmp_path / name, **options)
        text = (tmp_path / name).read_text(encoding="utf-8")
        data = gzip.decompress(base64.b64decode(re.search(r'id="packed" type="text/plain">([^<]*)<', text)[1]))
        return json.loads(data[4 : 4 + int.from_bytes(data[:4], "little")])

    about = said("x.html", rollout=[0, 1], trails=True)
    half = len(about["parts"]) // 2
    for one, other in zip(about["parts"][:half], about["parts"][half:], strict=True):
        assert one["corners"] == other["corners"]
        assert one["body"] + 3 == other["body"]
    assert len(about["trails"]) == 2
    assert not said("y.html")["trails"]


def test_a_trail_is_drawn_as_far_as_it_came(swings):
    def blue(t):
        with_it = hinge.viewing.picture(swings, t, trails=True, size=(120, 90)).astype(int)
        return (np.abs(with_it - hinge.viewing.picture(swings, t, size=(120, 90)))).max(axis=-1) > 40

    assert not blue(0.0).any()
    assert blue(0.5).sum() > blue(0.2).sum() > 5


def test_a_film_of_a_sweep_has_the_rollouts_asked_for(tmp_path):
    spread = {"q_elbow": hinge.sweeps.grid([0.0, 0.5, 1.0])}
    sweep = hinge.sweep(ARM, initial=spread, t=0.1, step=0.01, store=tmp_path / "arm.zarr")
    made = reel(sweep, [0, 2], rate=100.0)
    for k, rollout in enumerate((0, 2)):
        T = ARM.pose(sweep.open().q_end[rollout].values, "lower")
        np.testing.assert_allclose(made.poses[-1, 3 * k + 2, :3, :3], T[:3, :3], atol=1e-12)
    with pytest.raises(hinge.SizeError, match="there is no rollout 3"):
        reel(sweep, 3)


def test_an_mp4_has_all_pictures(swings, tmp_path):
    ffmpeg = pytest.importorskip("imageio_ffmpeg", reason="imageio-ffmpeg is not installed")
    hinge.film(swings, tmp_path / "x.mp4", rate=20.0, size=(63, 48))
    frames = ffmpeg.read_frames(tmp_path / "x.mp4")
    about = next(frames)
    assert about["size"] == (64, 48)
    assert about["fps"] == 20.0
    images = [np.frombuffer(one, np.uint8).reshape(48, 64, 3).astype(int) for one in frames]
    assert len(images) == 11
    wanted = hinge.viewing.picture(swings, 0.5, size=(64, 48)).astype(int)
    assert np.abs(images[-1] - wanted).mean() < 4.0 < np.abs(images[0] - wanted).mean()


def test_without_its_package_an_mp4_says_what_to_install(swings, tmp_path, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "imageio_ffmpeg", None)
    with pytest.raises(ViewError, match=r"imageio-ffmpeg.\n  pip install .hinge\[film\]., or write .html or .gif"):
        hinge.film(swings, tmp_path / "x.mp4")
    assert not (tmp_path / "x.mp4").exists()
