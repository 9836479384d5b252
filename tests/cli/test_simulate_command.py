"""`hinge simulate`: what it writes, draws and says."""

import errno
import json
import os

import numpy as np
import pytest
from saying import refused, said

import hinge
from hinge import logs

SHORT = ("--time", "0.2", "--step", "0.01", "--backend", "interpret")

pytestmark = pytest.mark.usefixtures("plain_interpreter")


@pytest.fixture
def run(lamp):
    return hinge.simulate(hinge.load(lamp), 0.2, q0=[0.1, 0.2], step=0.01)


def test_it_is_what_simulate_gives(tmp_path, lamp, run):
    out = tmp_path / "run.npz"
    ended = said("simulate", lamp, *SHORT, "--from", "turn=0.1", "--from", "nod=0.2", "--out", out, "--json")
    assert ended.exit_code == 0, ended.output
    assert ended.stderr == f"wrote {out}\n"
    made, told = np.load(out), json.loads(ended.stdout)
    for name in ("t", "q", "qd", "tau"):
        np.testing.assert_array_equal(made[name], getattr(run, name))
    assert (told["states"], told["time"], told["failed"]) == (21, 0.2, 0)
    np.testing.assert_array_equal(told["q"], run.final[0])
    np.testing.assert_allclose(told["energy"], run.energy()[[0, -1]])


def test_without_json_the_trajectory_prints_itself(lamp, run):
    assert said("simulate", lamp, *SHORT, "--from", "nod=0.2").stdout == f"{run!r}\n"


@pytest.mark.parametrize("out", ["run.csv", "run.parquet"])
def test_a_run_is_a_log_that_run_reads(tmp_path, lamp, out):
    pytest.importorskip("pyarrow")
    assert said("simulate", lamp, *SHORT, "--rollouts", "3", "--seed", "4", "--out", tmp_path / out).exit_code == 0
    ended = said("run", "kinetic-energy", lamp, "--in", tmp_path / out, "--out", tmp_path / "energy.npz", "--json")
    assert json.loads(ended.stdout)["rows"] == 3 * 21
    made, robot = np.load(tmp_path / "energy.npz"), hinge.load(lamp)
    q, _ = robot.random_state(np.random.default_rng(4), 3)
    many = hinge.simulate(robot, 0.2, q0=q, step=0.01)
    np.testing.assert_array_equal(made["kinetic_energy"].reshape(3, 21), robot.kinetic_energy(many.q, many.qd))
    assert made["rollout"].reshape(3, 21)[:, 0].tolist() == [0, 1, 2]
    np.testing.assert_array_equal(made["t"][:21], many.t)


def test_a_folder_of_a_trajectory(tmp_path, lamp):
    pytest.importorskip("zarr")
    assert said("simulate", lamp, *SHORT, "--out", tmp_path / "run.zarr").exit_code == 0
    assert len(hinge.open(tmp_path / "run.zarr")) == 21


@pytest.mark.parametrize(("words", "says"), [
    (["--from", "nodd=1"], "robot 'lamp' has no moving joint 'nodd'. Did you mean 'nod'?\n"),
    (["--method", "rk5"], "--method 'rk5' is not known. Did you mean 'rk4'"),
    (["--limits", "sotp"], "--limits 'sotp' is not known. Did you mean 'stop'?\n"),
    (["--time", "-1"], "--time -1.0 is not a time. Give a positive number of seconds.\n"),
    (["--out", "run.xlsx"], "run.xlsx has the suffix '.xlsx'.\n  A log is one of .csv, .parquet, .npz"),
    (["--plot", "run.docx"], "run.docx has the suffix 'docx'.\n"),
    (["--plot", "gone/run.png"], "gone/run.png cannot be written: there is no folder gone.\n  Make it first.\n"),
    (["--joint-terms", "armor"], "--joint-terms has 'armor'. Did you mean 'armature'?\n"),
])  # fmt: skip
def test_what_cannot_be_simulated_is_said(lamp, words, says, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    code = 1 if "cannot be written" in says else 2
    assert refused("simulate", lamp, *SHORT, *words, code=code).startswith(says)


@pytest.mark.parametrize("words", [("--plot", "gone/run.png"), ("--plot", "run.docx"), ("--out", "gone/run.npz")])
def test_a_place_that_cannot_be_written_is_said_before_the_run(lamp, words, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(hinge, "simulate", lambda *given, **options: pytest.fail("the run was made first"))
    assert said("simulate", lamp, *words).exit_code == (1 if "gone" in words[1] else 2)


def test_words_that_are_no_numbers(lamp):
    assert refused("simulate", lamp, "--from", "nod=up").endswith("--from nod=up: joint 'nod' takes a number.\n")
    assert refused("simulate", lamp, "--step", "small").endswith('--step small: give seconds, or "auto".\n')


def test_a_robot_that_does_not_move(tmp_path):
    path = tmp_path / "rock.urdf"
    path.write_text('<robot name="rock"><link name="a"/></robot>')
    for verb in ("simulate", "bench", "demo"):
        says = "robot 'rock' has no moving joint: there is nothing to compute.\n"
        assert refused(verb, path, code=1) == says


def test_ctrl_c_writes_what_there_is_and_exits_with_130(tmp_path, lamp, monkeypatch):
    def stopped(bar, step):
        if step == 7:
            raise KeyboardInterrupt

    monkeypatch.setattr("hinge.sim.turns.Turns.bounded", lambda turns, n, count: 1)
    monkeypatch.setattr("hinge.sim.record.Bar.at", stopped)
    ended = said("simulate", lamp, *SHORT, "--out", tmp_path / "run.npz")
    assert ended.exit_code == 130
    assert "stopped: interrupted at t = 0.07 s" in ended.stdout
    assert ended.stderr.startswith("Warning: the simulation stopped early: interrupted at t = 0.07 s.")
    assert len(np.load(tmp_path / "run.npz")["t"]) == 7


def test_a_picture_is_drawn(tmp_path, lamp):
    pytest.importorskip("matplotlib")
    for name, many in (("one.png", []), ("many.svg", ["--rollouts", "5"])):
        assert said("simulate", lamp, *SHORT, "--plot", tmp_path / name, *many).exit_code == 0
        assert os.path.getsize(tmp_path / name) > 10_000
    assert (tmp_path / "one.png").read_bytes().startswith(b"\x89PNG")
    assert "</svg>" in (tmp_path / "many.svg").read_text()


def test_a_log_of_a_trajectory_without_fields(tmp_path, lamp):
    run = hinge.simulate(hinge.load(lamp), 0.1, step=0.01, fields=("qd",), backend="interpret")
    logs.write(run, tmp_path / "run.npz")
    assert sorted(np.load(tmp_path / "run.npz")) == ["qd", "t"]


def test_a_run_of_which_nothing_is_left_is_json_and_no_success(tmp_path):
    path = tmp_path / "s.urdf"
    path.write_text("""<robot name="s"><link name="w"/><link name="a"><inertial><mass value="1"/><origin xyz="0.2 0 0"/>
      <inertia ixx=".001" iyy=".001" izz=".001" ixy="0" ixz="0" iyz="0"/></inertial></link>
      <joint name="j" type="continuous"><parent link="w"/><child link="a"/><axis xyz="0 1 0"/>
      <dynamics damping="500" friction="0"/></joint></robot>""")
    words = ["--joint-terms", "armature,damping", "--method", "euler", "--from", "j=0.3", "--time", "0.5"]
    for form in ([], ["--json"]):
        made = said("simulate", path, *words, "--step", "0.01", *form)
        assert made.exit_code == 1
    data = json.loads(made.stdout, parse_constant=pytest.fail)
    assert data["failed"] == 1
    assert data["q"] == [None]


@pytest.mark.parametrize("room", [0, 4])
def test_a_disk_that_is_full_from_the_start_is_no_fault_of_what_was_given(tmp_path, lamp, monkeypatch, room):
    """As of a log: exit code 1, for a folder too."""
    storage, left = pytest.importorskip("zarr.storage"), [room]
    put = storage.LocalStore.set

    async def full(self, *args, **options):
        left[0] -= 1
        if left[0] < 0:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        await put(self, *args, **options)

    monkeypatch.setattr(storage.LocalStore, "set", full)
    ended = said("simulate", lamp, *SHORT, "--out", tmp_path / "run.zarr")
    assert ended.exit_code == 1
    assert "run.zarr cannot be written: No space left on device.\n  Make room there" in ended.output
