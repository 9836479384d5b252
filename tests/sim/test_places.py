"""What is on disk already is replaced only by what is complete, and only where hinge wrote all of it."""

import asyncio
import errno
import json
import os
import time

import numpy as np
import pytest
from sim_robots import START, double_pendulum

import hinge
from hinge import TrajectoryError
from hinge.sim.store import Writer

pytest.importorskip("zarr")


@pytest.fixture
def run():
    return hinge.simulate(double_pendulum(), 0.05, START, step=1e-2)


def into(path, **options):
    return hinge.simulate(double_pendulum(), 0.03, START, step=1e-2, file=path, overwrite=True, **options)


WAYS = {"save": lambda run, path: run.save(path), "file": lambda run, path: into(path)}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("mark", ["", "{}", "[]", '{"finished": true}', "{" * 10**5, '{"format": 1, "fields": []}'])
def test_a_folder_with_something_called_finished_is_no_trajectory(way, mark, run, tmp_path):
    place = tmp_path / "thesis"
    place.mkdir()
    (place / "finished.json").write_text(mark)
    (place / "chapter").write_text("all of it")
    with pytest.raises(TrajectoryError, match=r"thesis exists and is not a trajectory.\n  Choose another name"):
        WAYS[way](run, place)
    assert sorted(path.name for path in place.iterdir()) == ["chapter", "finished.json"]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("other", ["notes.txt", "q/notes.txt", "q/c/notes", "plots/a.png", "t/c/0/link"])
def test_a_trajectory_with_something_else_in_it_stays(way, other, run, tmp_path):
    place = tmp_path / "run.zarr"
    run.save(place)
    if other.endswith("link"):
        other = "q/c/7"
        os.symlink(place / "finished.json", place / other)
    else:
        (place / other).parent.mkdir(exist_ok=True)
        (place / other).write_text("mine")
    with pytest.raises(TrajectoryError, match=rf"run.zarr holds a trajectory, and {other} which is not of it."):
        WAYS[way](run, place)
    assert os.path.lexists(place / other)
    assert np.array_equal(hinge.open(place).q, run.q)
    assert os.listdir(tmp_path) == ["run.zarr"]


@pytest.mark.parametrize("way", WAYS)
def test_what_is_called_part_or_old_is_another_s(way, run, tmp_path):
    run.save(tmp_path / "run.zarr")
    for name in ("run.zarr.part", "run.zarr.old", "run.zarr.2.old"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "chapter").write_text("all of it")
    WAYS[way](run[:4], tmp_path / "run.zarr")
    assert len(hinge.open(tmp_path / "run.zarr")) == 4
    for name in ("run.zarr.part", "run.zarr.old", "run.zarr.2.old"):
        assert (tmp_path / name / "chapter").read_text() == "all of it"
    assert len(list(tmp_path.iterdir())) == 4


def test_the_old_one_stays_until_the_new_one_is_complete(run, tmp_path):
    place = tmp_path / "run.zarr"
    run.save(place)
    seen = []

    def control(t, q, qd):
        seen.append(len(hinge.open(tmp_path / "run.zarr.old")))
        raise ZeroDivisionError("in the middle")

    with pytest.raises(ZeroDivisionError):
        into(place, control=control)
    assert set(seen) == {6}
    assert np.array_equal(hinge.open(tmp_path / "run.zarr.old").q, run.q)
    assert len(hinge.open(place)) < 4
    into(place)
    assert sorted(os.listdir(tmp_path)) == ["run.zarr", "run.zarr.old"]


@pytest.mark.parametrize("way", WAYS)
def test_a_disk_that_is_full_at_once_loses_nothing(way, run, tmp_path, monkeypatch):
    place = tmp_path / "run.zarr"
    run.save(place)

    def full(*given):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Writer, "_mark" if way == "save" else "flush", full)
    if way == "file":
        monkeypatch.setattr("hinge.sim.store._write_robot", full)
    with pytest.raises((TrajectoryError, OSError), match="No space left on device"):
        WAYS[way](run[:2], place)
    monkeypatch.undo()
    assert np.array_equal(hinge.open(place).q, run.q)
    assert os.listdir(tmp_path) == ["run.zarr"]


def test_a_run_that_stops_early_leaves_both(run, tmp_path):
    place = tmp_path / "run.zarr"
    run.save(place)

    def control(t, q, qd):
        if t > 0.01:
            raise KeyboardInterrupt
        return np.array([0.0, 0.0])

    with pytest.warns(UserWarning, match="stopped early: interrupted"):
        short = into(place, control=control, sample=1)
    assert short.info["replaced"] == str(place) + ".old"
    assert np.array_equal(hinge.open(short.info["replaced"]).q, run.q)
    assert 0 < len(hinge.open(place)) < 4


@pytest.mark.parametrize("way", WAYS)
def test_through_a_link_the_trajectory_is_replaced_and_the_link_stays(way, run, tmp_path):
    run.save(tmp_path / "real.zarr")
    os.symlink("real.zarr", tmp_path / "run.zarr")
    WAYS[way](run[:4], tmp_path / "run.zarr")
    assert (tmp_path / "run.zarr").is_symlink()
    assert len(hinge.open(tmp_path / "real.zarr")) == 4


def test_what_a_killed_process_left_inside_is_known(run, tmp_path):
    place = tmp_path / "run.zarr"
    run.save(place)
    for name in ("q/c/1." + "0a" * 16 + ".partial", "q/zarr." + "0a" * 16 + ".partial", "finished.json.part"):
        (place / name).parent.mkdir(exist_ok=True)
        (place / name).write_text("")
    run[:2].save(place)
    assert len(hinge.open(place)) == 2
    assert "finished.json.part" not in os.listdir(place)
    assert json.loads((place / "finished.json").read_text())["finished"] == 2


@pytest.mark.sampled(1)
@pytest.mark.parametrize("way", WAYS)
def test_a_write_that_ends_after_another_has_failed_does_not_reach_what_was_there(way, run, tmp_path, monkeypatch):
    """Zarr writes several files at once: on a full disk one fails while others are on their way."""
    from zarr.storage import LocalStore

    place = tmp_path / "run.zarr"
    run.save(place)
    before = {path: path.read_bytes() for path in place.rglob("*") if path.is_file()}
    write, write_new = LocalStore.set, LocalStore.set_if_not_exists

    async def put(self, key, *args, **options):
        if key == "qd/zarr.json":
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        await write(self, key, *args, **options)

    async def put_late(self, *args, **options):
        await asyncio.sleep(0.3)
        await write_new(self, *args, **options)

    monkeypatch.setattr(LocalStore, "set", put)
    monkeypatch.setattr(LocalStore, "set_if_not_exists", put_late)
    with pytest.raises(TrajectoryError, match=r"run.zarr cannot be written: No space left on device.\n  Make room"):
        WAYS[way](run, place)
    time.sleep(0.5)
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before


@pytest.mark.parametrize("way", WAYS)
def test_an_empty_folder_stays_where_nothing_can_be_written(way, run, tmp_path, monkeypatch):
    from zarr.storage import LocalStore

    async def put(self, *args, **options):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(LocalStore, "set", put)
    (tmp_path / "run.zarr").mkdir()
    with pytest.raises(TrajectoryError, match=r"run.zarr cannot be written: No space left on device.\n  Make room"):
        WAYS[way](run, tmp_path / "run.zarr")
    assert [path.name for path in tmp_path.rglob("*")] == ["run.zarr"]
