"""What is kept of a run: in memory, in a file while it runs, and of runs that end before their time."""

import errno
import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from sim_robots import START, double_pendulum, flyer

import hinge
from hinge import SizeError, TrajectoryError
from hinge.sim import store

MIMIC = """<robot name="gripper"><link name="base"/>
<link name="a"><inertial><origin xyz="0.1 0 0"/><mass value="1"/>
<inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial></link>
<link name="b"><inertial><mass value="0.5"/>
<inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="left" type="revolute"><parent link="base"/><child link="a"/><axis xyz="0 1 0"/>
<limit lower="-2" upper="2" effort="1" velocity="4"/></joint>
<joint name="right" type="revolute"><parent link="a"/><child link="b"/><origin xyz="0.2 0 0"/><axis xyz="0 1 0"/>
<limit lower="-9" upper="9" effort="1" velocity="1"/>
<mimic joint="left" multiplier="-2" offset="0.1"/></joint></robot>"""
ROBOTS = {"fixed": double_pendulum, "floating": flyer, "mimic": lambda: hinge.load(MIMIC)}


def same(a, b):
    assert np.array_equal(a.t, b.t)
    for name in ("q", "qd", "tau"):
        assert np.array_equal(getattr(a, name), getattr(b, name), equal_nan=True)
    assert np.array_equal(a.status, b.status)
    assert a.method == b.method


# in memory


def test_every_so_many_steps_the_last_only_and_chosen_fields():
    robot = double_pendulum()
    full = hinge.simulate(robot, 0.1, START, step=1e-2)
    assert full.q.shape == (11, 2)
    np.testing.assert_allclose(full.t, np.arange(11) * 1e-2, atol=1e-15)
    third = hinge.simulate(robot, 0.1, START, step=1e-2, record=3)
    assert np.array_equal(third.q, full.q[[0, 3, 6, 9, 10]])  # the end is always there
    assert third.t[-1] == 0.1
    last = hinge.simulate(robot, 0.1, START, step=1e-2, record="last")
    assert np.array_equal(last.q, full.q[-1:])
    assert np.array_equal(last.final[1], full.qd[-1])
    only = hinge.simulate(robot, 0.1, START, step=1e-2, fields=("qd",))
    assert np.array_equal(only.qd, full.qd)
    for name in ("q", "tau"):
        with pytest.raises(
            hinge.TrajectoryError, match=rf"^{name} was not recorded.\n  Simulate with fields=.*'{name}'"
        ):
            getattr(only, name)
    with pytest.raises(hinge.TrajectoryError, match=r"^q was not recorded"):
        only.energy()


def test_what_was_not_recorded_is_in_no_file_table_or_picture(tmp_path):
    robot = hinge.samples.pendulum(2)
    run = hinge.simulate(robot, 0.1, START, step=1e-2, fields=("qd",))
    run.save(tmp_path / "run.zarr")
    again = hinge.open(tmp_path / "run.zarr")
    assert np.array_equal(again.qd, run.qd)
    with pytest.raises(hinge.TrajectoryError, match=r"^q was not recorded"):
        _ = again.q
    columns = ["t", *(f"qd_{joint}" for joint in robot.joint_names)]
    assert [*run.to_dataframe()] == columns
    assert set(run.to_xarray().data_vars) == {"qd", "status"}
    hinge.logs.write(run, tmp_path / "run.csv")
    assert (tmp_path / "run.csv").read_text().splitlines()[0].replace(chr(34), "").split(",") == columns
    assert "Trajectory" in run._repr_html_()
    assert run.plot() is not None


def test_where_a_step_does_not_divide_the_time_the_last_one_is_shorter():
    run = hinge.simulate(double_pendulum(), 0.1, START, step=0.03)
    assert run.info["step"] == 0.03
    np.testing.assert_allclose(run.t, [0.0, 0.03, 0.06, 0.09, 0.1], rtol=1e-15)
    assert len(hinge.simulate(double_pendulum(), 1e-3, START, step=1.0)) == 2


def test_auto_bounds_what_a_joint_moves_in_a_step():
    """turney1981, section 9."""
    robot = hinge.load(MIMIC)
    run = hinge.simulate(robot, 1.0, qd0=[0.4], step="auto")
    assert run.info["step"] == pytest.approx(0.02 / 0.5)  # the right one, of at most 1 rad/s, goes twice as fast
    assert np.abs(np.diff(run.q[:, 0])).max() <= 0.02 * max(1.0, np.abs(run.qd).max() / 0.5) + 1e-4


@pytest.mark.parametrize("kind", ROBOTS)
def test_energy_slices_and_xarray(kind):
    robot = ROBOTS[kind]()
    q, qd = robot.random_state(np.random.default_rng(0), 3)
    run = hinge.simulate(robot, 0.05, q, 0.1 * qd, step=1e-2)
    energy = run.energy()
    assert energy.shape == (3, 6)
    np.testing.assert_allclose(energy, energy[:, :1].repeat(6, axis=1), rtol=1e-3)
    assert energy[1, 2] == robot.kinetic_energy(run.q[1, 2], run.qd[1, 2]) + robot.potential_energy(run.q[1, 2])
    part = run[2:5]
    assert len(part) == 3
    assert np.array_equal(part.q, run.q[:, 2:5])
    assert np.array_equal(part.t, run.t[2:5])
    assert len(run[-1]) == 1
    assert np.array_equal(run[-1].q[:, 0], run.final[0])
    assert np.array_equal(run[::-2].q, run.q[:, ::-2])
    assert np.array_equal(run[[0, 3]].qd, run.qd[:, [0, 3]])
    table = run.to_xarray()
    assert table.q.dims == ("rollout", "time", "coordinate")
    assert table.qd.dims == ("rollout", "time", "velocity")
    assert np.array_equal(table.q.values, run.q)
    assert len(table.coordinate) == robot.nq
    joint = {"fixed": "joint2", "floating": "elbow", "mimic": "left"}[kind]
    assert np.array_equal(table.q.sel(coordinate=joint), run.q[..., robot.coordinates(joint)[0].start])
    assert table.attrs["robot"] == robot.name
    assert "3 rollouts, 6 states in 0 … 0.05 s, rk4" in repr(run)


def test_a_record_that_would_not_fit_is_refused_before_it_starts():
    with pytest.raises(SizeError, match=r"GiB of memory(?s:.*)record=10(?s:.*)file="):
        hinge.simulate(double_pendulum(), 1e5, np.zeros((4096, 2)), step=1e-3)


CONSTANT = """
import resource, numpy as np, hinge
robot = hinge.samples.pendulum(2)
q = np.random.default_rng(0).normal(size=(4096, 2))
hinge.simulate(robot, 0.1, q, step=1e-2, record="last")
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
run = hinge.simulate(robot, 1.0, q, step=1e-3, record="last")
after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
assert run.q.shape == (4096, 1, 2) and not run.status.any()
print(after - before)
"""


def python(code, *args, **options):
    return subprocess.run([sys.executable, "-c", code, *map(str, args)], capture_output=True, text=True, **options)


def test_a_thousand_steps_of_4096_rollouts_take_no_more_memory_than_ten():
    done = python(CONSTANT)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) < 8 * 1024  # KiB; a record of q alone would be 64 MiB


STREAMED = """
import sys, resource, numpy as np, hinge
robot = hinge.samples.pendulum(2)
q = np.random.default_rng(0).normal(size=(2000, 2))
hinge.simulate(robot, 0.2, q, step=1e-2, file=sys.argv[1])
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
run = hinge.simulate(robot, 4.0, q, step=1e-3, file=sys.argv[1], overwrite=True)
last = run[-1].q
after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
assert len(run) == 4001 and np.isfinite(last).all()
print(after - before)
"""


@pytest.mark.sweep
def test_a_long_record_streams_to_disk(tmp_path):
    done = python(STREAMED, tmp_path / "run.zarr")
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) < 80 * 1024  # KiB; the record is 366 MiB
    run = hinge.open(tmp_path / "run.zarr")
    assert len(run) == 4001
    short = hinge.simulate(run.robot, 0.01, run[:1].q[:, 0], step=1e-3)
    np.testing.assert_allclose(run[:11].q, short.q, rtol=0, atol=1e-12)


# in a file


@pytest.mark.sampled(4)
@pytest.mark.parametrize("kind", ROBOTS)
@pytest.mark.parametrize("batch", [(), (3,), (2, 2)])
def test_save_and_open(kind, batch, tmp_path):
    robot = ROBOTS[kind]()
    q, qd = (
        a.reshape(*batch, -1) for a in robot.random_state(np.random.default_rng(0), int(np.prod(batch, dtype=int)))
    )
    run = hinge.simulate(robot, 0.05, q, qd, step=1e-2)
    run.save(tmp_path / "run.zarr")
    back = hinge.open(tmp_path / "run.zarr")
    same(run, back)
    assert (back.robot.nq, back.robot.nv, back.robot.name) == (robot.nq, robot.nv, robot.name)
    np.testing.assert_allclose(back.energy(), run.energy(), rtol=1e-12)
    assert back.info["step"] == run.info["step"]
    assert back.info["hinge"] == hinge.__version__
    assert np.array_equal(back[1:3].q, run[1:3].q)
    assert np.array_equal(back[[4, 0]].q, run[[4, 0]].q)
    assert np.array_equal(back[::-1].q, run[::-1].q)
    back.save(tmp_path / "again.zarr")
    same(run, hinge.open(tmp_path / "again.zarr"))
    run[:2].save(tmp_path / "run.zarr")  # replaces it
    assert len(hinge.open(tmp_path / "run.zarr")) == 2
    assert not list(tmp_path.glob("*.part"))


@pytest.mark.parametrize("method", ["rk4", "midpoint", "euler"])
def test_into_a_file_is_the_same_as_into_memory(method, tmp_path, monkeypatch):
    monkeypatch.setattr(store, "LONGEST", 7)
    robot = double_pendulum()
    q, qd = robot.random_state(np.random.default_rng(0), 4)
    options = {"step": 1e-2, "method": method, "record": 2}
    memory = hinge.simulate(robot, 0.5, q, qd, **options)
    run = hinge.simulate(robot, 0.5, q, qd, file=tmp_path / "run.zarr", **options)
    same(memory, run)
    same(memory, hinge.open(tmp_path / "run.zarr"))
    last = hinge.simulate(robot, 0.5, q, qd, **options | {"record": "last"}, file=tmp_path / "run.zarr", overwrite=True)
    assert np.array_equal(last.q, memory.q[:, -1:])


def test_events_and_status_are_in_the_file(tmp_path):
    run = hinge.simulate(double_pendulum(), 1.0, [START, START], [[0, 0], [1e200, 0]], method="dopri5", step=0.1,
                         events=[lambda t, q, qd: q[0]])  # fmt: skip
    run.save(tmp_path / "run.zarr")
    back = hinge.open(tmp_path / "run.zarr")
    same(run, back)
    assert back.status.tolist() == [0, hinge.Status.DIVERGED]
    assert len(back.events) == len(run.events) > 0
    assert back.events[0][:3] == run.events[0][:3]
    assert np.array_equal(back.events[0].q, run.events[0].q)


def test_what_is_there_and_is_no_trajectory_is_left_alone(tmp_path):
    (tmp_path / "thesis").mkdir()
    (tmp_path / "thesis" / "chapter").write_text("all of it")
    run = hinge.simulate(double_pendulum(), 0.01, START)
    for write in (run.save, lambda path: hinge.simulate(double_pendulum(), 0.01, START, file=path)):
        with pytest.raises(TrajectoryError, match="exists and is not a trajectory"):
            write(tmp_path / "thesis")
    assert (tmp_path / "thesis" / "chapter").read_text() == "all of it"


def saved(tmp_path):
    hinge.simulate(double_pendulum(), 0.05, START, step=1e-2).save(tmp_path / "run.zarr")
    return tmp_path / "run.zarr"


def test_a_file_of_another_version(tmp_path):
    path = saved(tmp_path)
    about = json.loads((path / "finished.json").read_text())
    (path / "finished.json").write_text(json.dumps(about | {"format": 7, "hinge": "3.1"}))
    with pytest.raises(
        TrajectoryError,
        match=rf"format 7, written by hinge 3.1; this is hinge .*, which reads format {store.FORMAT}",
    ):
        hinge.open(path)


def test_a_file_that_holds_no_trajectory(tmp_path):
    for path, why in ((tmp_path, "It has no finished.json"), (tmp_path / "nothing", "There is no such folder")):
        with pytest.raises(TrajectoryError, match=rf"holds no trajectory.\n  {why}\."):
            hinge.open(path)


def test_a_damaged_file(tmp_path):
    path = saved(tmp_path)
    whole = (path / "finished.json").read_text()
    for broken in (
        whole[:40],
        "[]",
        "{}",
        whole.replace('"batch": []', '"batch": [7]'),
        whole.replace('"fields"', '"f"'),
    ):
        (path / "finished.json").write_text(broken)
        with pytest.raises(TrajectoryError, match="cannot be read"):
            hinge.open(path)
    (path / "finished.json").write_text(whole)
    (path / "robot.xml").write_text("<mujoco")
    with pytest.raises(TrajectoryError, match="robot"):
        hinge.open(path)
    same(hinge.open(path, robot=double_pendulum()), hinge.open(path, robot=double_pendulum()))
    (path / "q" / "zarr.json").unlink()
    with pytest.raises(TrajectoryError, match="cannot be read"):
        hinge.open(path, robot=double_pendulum())


def test_a_damaged_chunk_is_not_read_as_states(tmp_path):
    path = saved(tmp_path)
    for chunk in (p for p in (path / "q" / "c").rglob("*") if p.is_file()):
        chunk.write_bytes(chunk.read_bytes()[: chunk.stat().st_size // 2])
    with pytest.raises(TrajectoryError, match="cannot be read"):
        _ = hinge.open(path).q
    for chunk in (p for p in (path / "q" / "c").rglob("*") if p.is_file()):
        chunk.unlink()
    with pytest.raises(TrajectoryError, match="q lacks 1 of its chunks"):
        hinge.open(path)


def test_a_robot_of_another_size_is_refused(tmp_path):
    with pytest.raises(TrajectoryError, match="q has 2 numbers a state, and its robot 3"):
        hinge.open(saved(tmp_path), robot=hinge.samples.pendulum(3))


# before its time


def test_a_full_disk_keeps_what_was_finished_and_says_so(tmp_path, monkeypatch):
    from zarr.storage import LocalStore

    monkeypatch.setattr(store, "LONGEST", 10)
    full = hinge.simulate(double_pendulum(), 0.5, START, step=1e-2)
    room, write = [14], LocalStore.set  # three chunks of four arrays, and half of the next

    async def put(self, key, *args, **options):
        if "/c/" in key:
            room[0] -= 1
            if room[0] < 0:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        await write(self, key, *args, **options)

    monkeypatch.setattr(LocalStore, "set", put)
    with pytest.warns(UserWarning, match=r"stopped early: .*run.zarr: No space left on device at t = 0.4 s"):
        run = hinge.simulate(double_pendulum(), 0.5, START, step=1e-2, file=tmp_path / "run.zarr")
    assert len(run) == 30
    assert np.array_equal(run.q, full.q[:30])
    assert "No space left" in repr(run)
    back = hinge.open(tmp_path / "run.zarr")
    same(run, back)
    assert "30 of 51 states were finished" in repr(back)


def test_a_full_disk_is_said_when_a_run_is_saved_and_what_was_there_stays(tmp_path, monkeypatch):
    from zarr.storage import LocalStore

    path = saved(tmp_path)
    before = hinge.open(path)
    other = hinge.simulate(double_pendulum(), 0.02, START, step=1e-2)

    async def put(self, key, *args, **options):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as m:
        m.setattr(LocalStore, "set", put)
        with pytest.raises(hinge.TrajectoryError, match=r"run.zarr cannot be written: No space left.*\n  Make room"):
            other.save(path)
    assert os.listdir(tmp_path) == ["run.zarr"]
    same(before, hinge.open(path))


def test_what_is_not_installed_is_named_by_to_xarray(monkeypatch):
    monkeypatch.setitem(sys.modules, "xarray", None)
    run = hinge.simulate(double_pendulum(), 0.02, START, step=1e-2)
    with pytest.raises(hinge.TrajectoryError, match=r"needs the package xarray.\n  pip install .hinge\[files\]."):
        run.to_xarray()


def test_an_error_of_the_controller_is_not_taken_for_the_disk(tmp_path):
    def control(t, q, qd):
        raise FileNotFoundError("gains.txt")

    with pytest.raises(FileNotFoundError, match=r"gains.txt"):
        hinge.simulate(double_pendulum(), 0.1, START, control=control, sample=1, file=tmp_path / "run.zarr")


RUNS = """
import sys, warnings, numpy as np, hinge
from hinge.sim import store
store.LONGEST = 100
warnings.simplefilter("ignore")
def control(t, q, qd):
    if t > 0.5:
        print("half", flush=True)
    return -0.1 * qd
options = {options}
run = hinge.simulate(hinge.samples.pendulum(2), 1e4, [1.0, 0.5], control=control, sample=1, step=1e-3, **options)
print()  # what was being printed may lack its end
print(len(run), float(run.t[-1]), run.info["stopped"], run.q.shape, bool(np.isfinite(run.q).all()))
"""


def ended(options, how, *args):
    """Start a long run, end it in the middle, and give what it wrote."""
    code = RUNS.replace("{options}", options)
    child = subprocess.Popen([sys.executable, "-c", code, *map(str, args)], stdout=subprocess.PIPE, text=True)
    try:
        assert child.stdout.readline() == "half\n"
        time.sleep(0.2)
        child.send_signal(how)
        said, _ = child.communicate(timeout=60)
    finally:
        child.kill()
    return child.returncode, [line for line in said.splitlines() if line != "half"]


def test_the_file_of_a_killed_run_opens_and_shows_what_was_finished(tmp_path):
    code, _ = ended("{'file': sys.argv[1]}", signal.SIGKILL, tmp_path / "run.zarr")
    assert code == -signal.SIGKILL
    back = hinge.open(tmp_path / "run.zarr")
    assert len(back) >= 400
    assert len(back) % 100 == 0
    assert np.isfinite(back.q).all()
    assert np.isfinite(back.tau).all()
    assert "of 10000001 states were finished" in back.info["stopped"]
    again = hinge.simulate(back.robot, 0.4, [1.0, 0.5], control=lambda t, q, qd: -0.1 * qd, sample=1, step=1e-3)
    np.testing.assert_allclose(back[:401].q, again.q, rtol=0, atol=1e-12)


@pytest.mark.sampled(1)
@pytest.mark.parametrize("options", ["{'record': 100}", "{'record': 'last'}", "{'record': 10, 'file': sys.argv[1]}",
                                     "{'method': 'midpoint', 'record': 100}"])  # fmt: skip
def test_ctrl_c_returns_what_was_computed(options, tmp_path):
    code, said = ended(options, signal.SIGINT, tmp_path / "run.zarr")
    assert code == 0
    count, end, *rest = said[-1].split(maxsplit=2)
    assert int(count) >= (1 if "last" in options else 5)
    assert 0.4 < float(end) < 1e4
    assert rest[0].startswith("interrupted at t = ")
    assert rest[0].endswith("True")
    if "file" in options:
        assert len(hinge.open(tmp_path / "run.zarr")) == int(count)


ADAPTIVE = """
import signal, os, threading, warnings, numpy as np, hinge
warnings.simplefilter("ignore")
robot = hinge.samples.pendulum(2)
hinge.simulate(robot, 0.1, [1.0, 0.5], method="dopri5")
threading.Timer(1.0, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
run = hinge.simulate(robot, 1e5, [1.0, 0.5], method="dopri5", step=0.1)
print(len(run), bool(np.isfinite(run.q).all()), run.info["stopped"])
"""


def test_ctrl_c_returns_what_an_adaptive_run_computed():
    done = python(ADAPTIVE)
    assert done.returncode == 0, done.stderr
    count, good, said = done.stdout.split(maxsplit=2)
    assert 10 < int(count) < 1_000_001
    assert good == "True"
    assert said.startswith("interrupted at t = ")


# the bar


@pytest.mark.parametrize("terminal", [True, False])
@pytest.mark.parametrize("asked", [True, False, None])
def test_a_bar_is_shown_on_long_runs_on_a_terminal_only(terminal, asked, monkeypatch):
    from hinge.sim import record

    class Bar:
        task_ids, shown, stopped = (0,), 0, 0

        def update(self, task, completed):
            Bar.shown = completed

        def stop(self):
            Bar.stopped += 1

    class Clock:
        now, pace = 0.0, 0.3

        def monotonic(self):
            self.now += self.pace
            return self.now

    monkeypatch.setattr(record, "_bar", lambda steps: Bar())
    monkeypatch.setattr(record.sys.stderr, "isatty", lambda: terminal, raising=False)
    for pace in (0.001, 0.3):  # a short run, a long one
        Clock.pace = pace
        monkeypatch.setattr(record, "time", Clock())
        hinge.simulate(
            double_pendulum(), 0.1, START, control=lambda t, q, qd: 0.0 * qd, sample=1, step=1e-3, progress=asked
        )
        wanted = pace > 0.1 and (terminal if asked is None else asked)
        assert (Bar.shown, Bar.stopped) == ((100, 1) if wanted else (0, 0))


def test_the_bar_itself(capsys):
    from hinge.sim.record import _bar

    bar = _bar(10)
    bar.update(bar.task_ids[0], completed=5)
    bar.stop()
    assert capsys.readouterr().out == ""  # nothing where results go
