"""`hinge film` and `hinge view` of what was saved: runs, logs, sweeps and their stores."""

import numpy as np
import pytest
from saying import refused, said

import hinge
from hinge.viewing.reel import reel

LAMPS = """robot = "lamp.urdf"
store = "lamps.zarr"
t = 0.05
step = 0.01
keep = ["trajectory"]
[initial]
q_nod = { grid = [0.0, 0.3, 0.6] }
"""


@pytest.fixture(autouse=True)
def place(tmp_path, lamp, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HINGE_BACKEND", "interpret")
    (tmp_path / "lamps.toml").write_text(LAMPS)
    return tmp_path


@pytest.fixture
def filmed(monkeypatch):
    """What `hinge.film` was asked for, as a reel."""
    made = []

    def film(run, path, rollout, layout, trails, **options):
        made.append(reel(run, rollout, 100.0, 1.0, layout, trails))

    monkeypatch.setattr(hinge, "film", film)
    return made


def test_a_saved_run_and_its_log_are_the_same_film(place, filmed):
    words = ["simulate", "lamp.urdf", "--time", "0.05", "--step", "0.01", "--rollouts", "3"]
    for out in ("run.zarr", "run.npz"):
        assert said(*words, "--out", out).exit_code == 0
    assert said("film", "run.zarr", "a.html", "--rollout", "0,2").exit_code == 0
    assert said("film", "run.npz", "a.html", "--rollout", "0,2", "--robot", "lamp.urdf").exit_code == 0
    np.testing.assert_allclose(filmed[0].poses, filmed[1].poses, atol=1e-12)
    assert filmed[0].poses.shape[1] == 2 * 3


def test_a_sweep_and_its_store_are_the_same_film(filmed):
    assert said("sweep", "lamps.toml").exit_code == 0
    for words in (["lamps.toml"], ["lamps.zarr", "--robot", "lamp.urdf"]):
        ended = said(
            "film", words[0], "a.html", *words[1:], "--rollout", "1-2", "--layout", "ghosts", "--trail", "tips"
        )
        assert ended.exit_code == 0, ended.output
    np.testing.assert_allclose(filmed[0].poses, filmed[1].poses, atol=1e-12)
    np.testing.assert_allclose(filmed[0].trails, filmed[1].trails, atol=1e-12)
    assert len(filmed[0].trails) == 2
    assert not np.allclose(filmed[0].poses[0, :3], filmed[0].poses[0, 3:])


def test_a_film_is_written_where_it_is_said(place):
    assert said("simulate", "lamp.urdf", "--time", "0.05", "--step", "0.01", "--out", "run.zarr").exit_code == 0
    ended = said("film", "run.zarr", "run.gif", "--size", "60", "40", "--rate", "10")
    assert ended.exit_code == 0, ended.output
    assert ended.stderr.endswith("wrote run.gif\n")
    assert (place / "run.gif").read_bytes().startswith(b"GIF89a")


@pytest.mark.parametrize(
    ("words", "code", "line"),
    [
        (["log.npz", "a.html"], 2, "log.npz is a log, and has no robot in it. Say --robot ROBOT"),
        (["log.npz", "a.html", "--robot", "lamp.urdf", "--rollout", "1"], 2, "--rollout 1: log.npz has 1, from 0 on."),
        (["log.npz", "a.html", "--robot", "lamp.urdf", "--rollout", "1-x"], 2, "'1-x' is no number of a rollout"),
        (["log.npz", "a.html", "--robot", "lamp.urdf", "--trail", "hat"], 2, "has no link or frame 'hat'"),
        (["bare.npz", "a.html", "--robot", "lamp.urdf"], 2, "bare.npz has no column 't'"),
        (["back.npz", "a.html", "--robot", "lamp.urdf"], 2, "back.npz: its column 't' does not increase"),
        (["final.zarr", "a.html"], 2, "final.zarr is the store of a sweep, and has no robot in it."),
        (["final.zarr", "a.html", "--robot", "lamp.urdf"], 1, "final.zarr keeps final of its rollouts"),
        (["gone.zarr", "a.html"], 2, "gone.zarr"),
        (["log.npz", "a.avi", "--robot", "lamp.urdf"], 2, "'.avi' is not known. Known: '.gif', '.html', '.mp4',"),
    ],
)
def test_what_cannot_be_filmed_is_told(words, code, line, place):
    np.savez("log.npz", t=np.arange(3.0), q=np.zeros((3, 2)))
    np.savez("bare.npz", q=np.zeros((3, 2)))
    np.savez("back.npz", t=-np.arange(3.0), q=np.zeros((3, 2)))
    if words[0] == "final.zarr":
        hinge.sweep(hinge.load("lamp.urdf"), t=0.02, step=0.01, store="final.zarr")
    assert line in refused("film", *words, code=code)
    assert not (place / "a.html").exists()


def test_a_log_and_a_sweep_are_viewed_too(place, monkeypatch):
    seen = []
    monkeypatch.setattr(hinge, "view", lambda thing, *given, **options: seen.append((thing, options["rollout"])))
    monkeypatch.setattr("hinge.cli.view.serve", lambda page, browser: None)
    np.savez("log.npz", t=np.arange(3.0), q=np.zeros((3, 2)))
    assert said("view", "log.npz", "--robot", "lamp.urdf").exit_code == 0
    assert said("view", "lamps.toml", "--rollout", "0,2").exit_code == 0
    assert [len(runs) for runs, _ in seen] == [1, 2]
    assert seen[1][0][1].q[0, 1] == 0.6
