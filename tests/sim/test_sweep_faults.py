"""Workers and a driver that are killed, a disk that is full, a worker of another version: with real processes."""

import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import hinge
from hinge import SweepError
from hinge.sweeps import table, uniform

for package in ("zarr", "distributed", "resource"):
    pytest.importorskip(package)
psutil = pytest.importorskip("psutil")

DRIVER = Path(__file__).with_name("sweep_driver.py")
CHUNK = 100


def driven(store, *numbers):
    """What a driver says that nobody disturbs: the hash, how many rollouts are done, and why no more."""
    words = [sys.executable, DRIVER, store, *numbers]
    ended = subprocess.run(list(map(str, words)), capture_output=True, text=True, timeout=500)
    assert ended.returncode == 0, ended.stderr
    return ended.stdout.split(maxsplit=2)


def there(store):
    """The chunks that are in a store, and when they came."""
    folder = Path(store) / "digest"
    return {path.name: path.stat().st_mtime_ns for path in folder.glob("c.*.0")} if folder.is_dir() else {}


def content(store):
    return {path.relative_to(store).as_posix(): path.read_bytes() for path in Path(store).rglob("*") if path.is_file()}


def workers(driver):
    """The processes that compute."""
    try:
        found = psutil.Process(driver.pid).children(recursive=True)
        return [one for one in found if any("spawn_main" in word for word in one.cmdline())]
    except psutil.Error:
        return []


def until(happened, what, seconds=240.0):
    deadline = time.monotonic() + seconds
    while not happened():
        assert time.monotonic() < deadline, what
        time.sleep(0.01)


def disturbed(store, rollouts, kills, seed):
    """Kill workers of a sweep at random, then its driver, and fill the disk; then let it end in peace."""
    rng, chunks = random.Random(seed), rollouts // CHUNK
    words = map(str, [sys.executable, DRIVER, store, 2, rollouts])
    said = open(f"{store}.log", "w")  # noqa: SIM115  for whoever asks why it hangs
    driver = subprocess.Popen(list(words), stdout=said, stderr=said)
    crew = []
    try:
        for n in range(1, kills + 1):
            wanted = n * (chunks - 6) // (kills + 1)
            until(lambda wanted=wanted: len(there(store)) >= wanted and workers(driver), f"{wanted} chunks")
            assert driver.poll() is None
            crew += (found := workers(driver))
            rng.choice(found).send_signal(signal.SIGKILL)
        before = len(there(store))
        until(lambda: len(there(store)) > before, "it goes on")
        crew += workers(driver)
        driver.send_signal(signal.SIGKILL)
        driver.wait()
        until(lambda: not any(one.is_running() and one.status() != psutil.STATUS_ZOMBIE for one in crew), "workers end")
    finally:
        for one in crew:
            if one.is_running():
                one.kill()
        driver.kill()
    done, left = there(store), set(Path(store).rglob("*.part"))  # of writers that were killed
    assert 0 < len(done) < chunks
    hash, count, why = driven(store, 0, rollouts, 1000)
    assert (hash, int(count)) == ("-", CHUNK * len(done))
    assert why.startswith(f"the sweep is not complete: {store} cannot be written: File too large.")
    assert there(store) == done
    assert set(Path(store).rglob("*.part")) == left
    hash, count = driven(store, 2 if kills > 2 else 0, rollouts)
    assert int(count) == rollouts
    after = there(store)
    assert {name: after[name] for name in done} == done  # nothing twice
    return hash


@pytest.mark.sweep
@pytest.mark.parametrize(
    ("rollouts", "kills"), [(1500, 2), pytest.param(8000, 10, marks=pytest.mark.sweep)], ids=["few", "many"]
)
def test_killed_workers_a_killed_driver_and_a_full_disk_change_nothing(tmp_path, rollouts, kills):
    quiet, loud = tmp_path / "quiet.zarr", tmp_path / "loud.zarr"
    hash, count, *more = driven(quiet, 0, rollouts)
    assert not more
    assert int(count) == rollouts
    assert disturbed(loud, rollouts, kills, 0) == hash
    assert content(loud) == content(quiet)


@pytest.fixture(scope="module")
def cluster():
    from distributed import Client, LocalCluster

    with LocalCluster(n_workers=1, threads_per_worker=2, dashboard_address=":0") as made, Client(made) as client:
        yield client


ASKED = {"initial": {"q": uniform(-1.0, 1.0), "qd_joint1": table(np.arange(40.0))}, "t": 0.05, "chunk": 7}


def test_a_cluster_gives_the_same_store(tmp_path, cluster):
    gain = 3.0
    law = lambda t, q, qd: -gain * qd  # a function of this file, that no worker can import
    robot = hinge.samples.pendulum(2)
    here = hinge.sweep(robot, **ASKED, control=law, store=tmp_path / "a.zarr")
    there = hinge.sweep(robot, **ASKED, control=law, store=tmp_path / "b.zarr", client=cluster)
    assert there.complete
    assert content(tmp_path / "a.zarr") == content(tmp_path / "b.zarr")
    assert there.hash == here.hash


def test_a_store_that_is_replaced_by_another_question_is_not_taken_for_the_old_one(tmp_path, cluster):
    robot, place = hinge.samples.pendulum(2), tmp_path / "a.zarr"
    for chunk in (7, 20):
        made = hinge.sweep(robot, **ASKED | {"chunk": chunk}, store=place, client=cluster)
        assert made.verify() == []
        assert made.complete
        shutil.rmtree(place)


def test_a_problem_of_a_chunk_is_told_and_stops_no_other(tmp_path, cluster):
    robot = hinge.samples.pendulum(2)
    place = tmp_path / "a.zarr"
    hinge.sweep(robot, **ASKED, store=place)
    for chunk in (2, 4):
        (place / "digest" / f"c.{chunk}.0").unlink()
    (place / "status" / "c.2").unlink()
    (place / "status" / "c.2").mkdir()  # what cannot be replaced by a file
    (place / "status" / "c.2" / "x").write_text("")
    with pytest.warns(UserWarning, match="the sweep is not complete: 1 chunks could not be computed"):
        made = hinge.sweep(robot, **ASKED, store=place, client=cluster, resume=True)
    assert [(one.first, one.last) for one in made.problems] == [(14, 20)]
    assert f"{place} cannot be written: " in made.problems[0].why
    assert made.done == 33
    (place / "status" / "c.2" / "x").unlink()
    (place / "status" / "c.2").rmdir()
    assert hinge.sweep(robot, **ASKED, store=place, client=cluster, resume=True).complete


def test_workers_without_a_gpu_say_so(tmp_path, cluster):
    def blind():
        import os

        os.environ["CUDA_VISIBLE_DEVICES"] = ""

    cluster.run(blind)
    with pytest.warns(UserWarning, match=r"8 chunks could not be computed, the first because: DeviceError: "):
        made = hinge.sweep(
            hinge.samples.pendulum(2), **ASKED | {"chunk": 5}, store=tmp_path / "a", client=cluster, backend="cuda"
        )
    assert (made.done, len(made.problems)) == (0, 8)


def test_a_worker_of_another_version_is_refused(tmp_path, cluster):
    def pretend(version):
        import hinge.sweeps.question

        hinge.sweeps.question.__version__ = version

    robot = hinge.samples.pendulum(2)
    cluster.run(pretend, "0.0.1")
    try:
        with pytest.raises(SweepError) as caught:
            hinge.sweep(robot, **ASKED, store=tmp_path / "a.zarr", client=cluster)
    finally:
        cluster.run(pretend, hinge.__version__)
    text = str(caught.value)
    assert " has hinge 0.0.1 (" in text
    assert f", and this sweep {hinge.__version__} (" in text
    assert text.endswith(".\n  Install the same version on all workers.")
    assert hinge.sweep(robot, **ASKED, store=tmp_path / "a.zarr", client=cluster, resume=True).complete


def test_a_worker_that_joins_later_with_another_version_ends_the_sweep(tmp_path):
    from hinge.sweeps.workers import task

    made = task(b"", (str(tmp_path), ""), 3, {}, "0.0.1 (0)", 0)
    assert (made.chunk, made.ends) == (3, True)
    assert " has hinge " in made.why


def test_a_worker_is_given_a_robot_and_rows_but_no_kernels(tmp_path):
    """The question as it is sent: small, and without the tables."""
    cloudpickle = pytest.importorskip("cloudpickle")
    from hinge.sweeps.asking import asked

    robot, rows = hinge.samples.puma560(), np.zeros((100_000, 6))
    question = asked(robot, None, {"q": table(rows)}, None, 0.1, None, 0, 1e-3, "rk4", ("final",), 1, (), None, {})
    question.program_hash()
    sent = cloudpickle.dumps(question.carried())
    assert len(sent) < 100_000
    k = np.arange(5)
    again = cloudpickle.loads(sent).answer(k, question.rows(k))
    assert np.array_equal(again["q_end"], question.answer(k)["q_end"])
