"""Logs of which the process was killed, and names beside a log that are somebody else's."""

import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from saying import refused, said

import hinge

pytest.importorskip("pyarrow")
import pyarrow.parquet

MAIN = "from hinge.logs import tables; tables.BLOCK = 4096; from hinge.cli import main; main()"


def killed(words, begun):
    """Run the command line and kill it when something is there."""
    run = subprocess.Popen([sys.executable, "-c", MAIN, *map(str, words)], stderr=subprocess.PIPE)
    deadline = time.monotonic() + 120
    while not begun() and run.poll() is None and time.monotonic() < deadline:
        time.sleep(0.005)
    assert run.poll() is None, run.communicate()[1]
    run.send_signal(signal.SIGKILL)
    run.communicate()


def rows(path):
    """Return the rows of a log that is still being written."""
    if not path.exists() or path.stat().st_size < 128:  # the header of an array
        return np.empty((0, 2))
    if path.suffix == ".csv":
        return np.array([line.split(",")[1:3] for line in path.read_text().splitlines()[1:-1]], float)
    return np.load(path)


@pytest.fixture
def long_log(tmp_path):
    path = tmp_path / "long.csv"
    path.write_text("t,q_turn,q_nod\n" + "".join(f"{k},0.25,{k % 7}\n" for k in range(1_000_000)))
    return path


@pytest.mark.sampled(1)
@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="there is no such signal here")
@pytest.mark.parametrize("suffix", ["parquet", "npz", "csv"])
def test_what_was_computed_before_a_kill_can_be_read(tmp_path, lamp, long_log, suffix):
    out, part = tmp_path / f"out.{suffix}", tmp_path / f"out.{suffix}.part"
    grown = part / ("out.csv" if suffix == "csv" else "gravity_force.npy")
    killed(["run", "gravity-force", lamp, "--in", long_log, "--out", out], lambda: len(rows(grown)) > 1000)
    assert not out.exists()
    forces = rows(grown)
    assert len(forces) > 1000
    if suffix != "csv":
        assert len(np.load(part / "t.npy")) >= len(forces)
    q = np.stack([np.full(len(forces), 0.25), np.arange(len(forces)) % 7], axis=-1)
    np.testing.assert_allclose(forces, hinge.load(lamp).gravity_force(q), atol=1e-12)
    assert not any("reserve" in path.name for path in tmp_path.rglob("*"))


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="there is no such signal here")
def test_a_simulation_into_a_folder_leaves_what_was_computed(tmp_path, lamp):
    pytest.importorskip("zarr")
    place = tmp_path / "run.zarr"

    def begun():
        try:
            return len(hinge.open(place)) > 0
        except hinge.TrajectoryError:
            return False

    killed(["simulate", lamp, "--time", 3000, "--out", place], begun)
    run = hinge.open(place)
    assert 0 < len(run) < 3_000_001
    assert np.isfinite(run.q).all()
    assert "states were finished" in run.info["stopped"]


@pytest.mark.parametrize("suffix", ["parquet", "npz", "csv"])
@pytest.mark.parametrize("folder", [True, False])
def test_what_is_called_part_or_reserve_is_another_s(tmp_path, lamp, suffix, folder):
    np.savez(tmp_path / "log.npz", q=np.zeros((100, 2)))
    others = [tmp_path / f"out.{suffix}.{ending}" for ending in ("part", "reserve", "zip.part", "2.part")]
    for other in others:
        if folder:
            other.mkdir()
            other = other / "chapter"
        other.write_text("all of it")
    words = ["run", "gravity-force", lamp, "--in", tmp_path / "log.npz", "--out", tmp_path / f"out.{suffix}"]
    assert said(*words).exit_code == 0
    for other in others:
        assert (other / "chapter" if folder else other).read_text() == "all of it"
    assert len(list(tmp_path.iterdir())) == len(others) + 3


@pytest.mark.parametrize("link", [os.symlink, os.link])
def test_a_log_is_not_overwritten_through_a_link(tmp_path, lamp, link):
    np.savez(tmp_path / "a.npz", q=np.zeros((3, 2)))
    before = (tmp_path / "a.npz").read_bytes()
    link(tmp_path / "a.npz", tmp_path / "alias.npz")
    for source, target in (("alias", "a"), ("a", "alias")):
        words = ["--in", tmp_path / f"{source}.npz", "--out", tmp_path / f"{target}.npz", "--force"]
        assert "is the log that is read, and would be lost." in refused("run", "gravity-force", lamp, *words)
    assert (tmp_path / "a.npz").read_bytes() == before


def test_a_finished_parquet_file_leaves_no_arrays(tmp_path, lamp):
    np.savez(tmp_path / "log.npz", q=np.zeros((100, 2)))
    said("run", "gravity-force", lamp, "--in", tmp_path / "log.npz", "--out", tmp_path / "out.parquet")
    assert pyarrow.parquet.read_table(tmp_path / "out.parquet").num_rows == 100
    assert sorted(os.listdir(tmp_path)) == ["lamp.urdf", "log.npz", "out.parquet"]
