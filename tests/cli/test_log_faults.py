"""Every message of `hinge run`, and what is left when a log cannot be finished."""

import contextlib
import errno
import os
import signal
import subprocess
import sys
import time
import zipfile

import numpy as np
import pytest
from saying import refused, said

import hinge
from hinge import logs
from hinge.logs import disk, tables

pytest.importorskip("pyarrow")
import pyarrow.csv
import pyarrow.parquet

GOOD = "t,q_turn,q_nod\n0,0.1,0.2\n1,0.3,0.4\n"

pytestmark = pytest.mark.usefixtures("plain_interpreter")


@pytest.fixture
def log(tmp_path):
    path = tmp_path / "log.csv"
    path.write_text(GOOD)
    return path


def message(lamp, log, *words, name="gravity-force", out="out.csv", code=2):
    target = os.path.join(os.path.dirname(lamp), out)
    made = refused("run", name, lamp, "--in", log, "--out", target, *words, code=code)
    assert not os.path.exists(target)
    return made.replace(os.path.dirname(lamp) + os.sep, "")


def test_a_robot_that_is_not_there(tmp_path, lamp, log):
    assert message(str(tmp_path / "lump.urdf"), log) == (
        "lump.urdf cannot be read: No such file or directory.\n  Did you mean 'lamp.urdf'?\n"
    )


def test_a_log_that_is_not_there(tmp_path, lamp, log):
    assert message(lamp, tmp_path / "lag.csv") == (
        "lag.csv cannot be read: No such file or directory.\n  Did you mean 'log.csv'?\n"
    )
    assert message(lamp, tmp_path / "gone" / "log.csv").startswith("gone")
    (tmp_path / "folder.csv").mkdir()
    assert message(lamp, tmp_path / "folder.csv").startswith("folder.csv cannot be read: it is a folder.")


def test_a_log_of_another_kind(tmp_path, lamp, log):
    assert message(lamp, tmp_path / "log.xlsx") == (
        "log.xlsx has the suffix '.xlsx'.\n  A log is one of .csv, .parquet, .npz.\n"
    )
    assert message(lamp, log, out="out.txt") == (
        "out.txt has the suffix '.txt'.\n  A log is one of .csv, .parquet, .npz.\n"
    )


def test_an_algorithm_that_is_not_there(lamp, log):
    assert "there is no algorithm 'inverse_dynamcs'. Did you mean 'inverse_dynamics'" in message(
        lamp, log, name="inverse-dynamcs"
    )
    made = message(lamp, log, name="integrate", code=1)
    assert made.startswith("integrate takes v, which a log has no columns for.\n")
    assert message(lamp, log, name="pose") == (
        "pose is about a frame, and --at names none.\n  Known: 'foot', 'head', 'stem'.\n"
    )
    assert message(lamp, log, "--at", "haed", name="pose") == (
        "robot 'lamp' has no body or frame 'haed'. Did you mean 'head'?\n"
    )
    assert "gravity_force has no method 'nothing'" in message(lamp, log, "--method", "nothing")
    assert "--joint-terms has 'damp'. Did you mean 'damping'?" in message(lamp, log, "--joint-terms", "damp")


def test_a_column_that_is_missing_is_named(tmp_path, lamp):
    path = tmp_path / "log.csv"
    path.write_text("turn,q_nod,qd_turn\n1,2,3\n")
    assert message(lamp, path, name="bias-force").startswith("log.csv has no column 'qd_nod'.\n  Did you mean 'q_nod'")
    path.write_text("turn,nodd\n1,2\n")
    assert message(lamp, path) == "log.csv has no column 'q_nod' or 'nod'.\n  Did you mean 'nodd'?\n"


def test_a_whole_input_that_is_missing_is_named(tmp_path, lamp):
    path = tmp_path / "log.csv"
    path.write_text("turn,nod,qd_turn,qd_nod\n1,2,3,4\n")
    assert message(lamp, path, name="inverse-dynamics") == (
        "log.csv has no column of qdd, and q, qd, qdd are needed.\n  Add qdd_turn, and one for every other joint.\n"
    )


def test_semicolons_between_columns_are_said(tmp_path, lamp):
    path = tmp_path / "log.csv"
    path.write_text("q_turn;q_nod\n1;2\n")
    assert message(lamp, path) == "log.csv has ';' between its columns.\n  Write commas, and points in numbers.\n"


def test_a_column_of_no_joint_is_named(tmp_path, lamp):
    path = tmp_path / "log.csv"
    path.write_text("q_turn,q_nodd\n1,2\n")
    assert message(lamp, path) == (
        "log.csv has a column 'q_nodd', and robot 'lamp' has no joint 'nodd'.\n"
        "  Did you mean 'nod'? Rename the column, or leave it out.\n"
    )


@pytest.mark.parametrize(("name", "content", "says"), [
    ("log.csv", b"", "log.csv cannot be read: Empty CSV file."),
    ("log.csv", b"q_turn,q_nod,q_turn\n1,2,3\n", "log.csv has two columns 'q_turn'."),
    ("log.csv", b"q_turn,q_nod\n1,2\n3,up\n", "log.csv cannot be read: In CSV column #1: "),
    ("log.csv", b"q_turn,q_nod\n1,2\n3\n", "log.csv cannot be read: CSV parse error: Expected 2 columns, got 1"),
    ("log.parquet", b"PAR1 nothing", "log.parquet cannot be read: Parquet magic bytes not found"),
    ("log.npz", b"PK nothing", "log.npz cannot be read: File is not a zip file."),
])  # fmt: skip
def test_a_log_that_cannot_be_read(tmp_path, lamp, name, content, says):
    (tmp_path / name).write_bytes(content)
    assert message(lamp, tmp_path / name).startswith(says)


def test_arrays_that_are_no_log(tmp_path, lamp):
    path = tmp_path / "log.npz"
    for arrays, says in (
        ({"q": np.zeros((3, 2)), "qd": np.zeros((4, 2))}, "log.npz has arrays of different lengths: q 3, qd 4."),
        ({"q": np.zeros((3, 5))}, "log.npz: 'q' has 5 entries a row, robot 'lamp' has nq = 2."),
        ({"q": np.asfortranarray(np.ones((3, 2)))}, "log.npz: 'q' is stored column by column."),
        ({"name": np.array(["a"])}, "log.npz has no array of numbers."),
    ):
        np.savez(path, **arrays)
        assert message(lamp, path).startswith(says)
    np.savez(path, q=np.zeros((300, 2)))
    whole = path.read_bytes()
    with zipfile.ZipFile(path) as archive:
        content = archive.read("q.npy")
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("q.npy", content[: len(content) // 2])
    assert len(whole) > path.stat().st_size
    assert message(lamp, path).startswith("log.npz: array 'q' ends early.")


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
def test_an_archive_with_a_damaged_array(tmp_path, lamp, save):
    path = tmp_path / "log.npz"
    save(path, q=np.random.default_rng(0).normal(size=(2000, 2)))
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 0xFF
    path.write_bytes(content)
    assert message(lamp, path).startswith("log.npz cannot be read: ")


def test_chunks_have_rows(tmp_path, lamp, log):
    with pytest.raises(hinge.LogError, match="chunk=-1 is no number of rows"):
        logs.run(hinge.load(lamp), "gravity_force", log, tmp_path / "out.csv", chunk=-1)


def test_a_column_of_words(tmp_path, lamp):
    pyarrow.parquet.write_table(pyarrow.table({"q_turn": [1.0], "q_nod": ["up"]}), tmp_path / "log.parquet")
    assert message(lamp, tmp_path / "log.parquet") == (
        "log.parquet: column 'q_nod' holds string, not numbers.\n  Write numbers; times in seconds.\n"
    )


def test_a_package_that_is_missing(lamp, log, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    assert (
        message(lamp, log, code=1)
        == 'log.csv: CSV and Parquet files need the package pyarrow.\n  pip install "hinge[files]"\n'
    )


def test_no_such_back_end(lamp, log):
    assert message(lamp, log, "--backend", "vulkan").startswith("there is no back end 'vulkan'.")


def test_a_place_that_cannot_be_written(lamp, log):
    assert message(lamp, log, out="gone/out.csv", code=1).endswith(
        "out.csv cannot be written: there is no folder gone.\n  Make it first.\n"
    )


def test_the_command_itself(lamp, log):
    assert "Missing option '--in'" in refused("run", "gravity-force", lamp, "--out", "x.csv", code=2)
    assert refused("rn", code=2) == "there is no command 'rn'. Did you mean 'run'?\n"
    assert "No such option" in refused("run", "--colour", code=2)


# ---- what was written stays readable


def rows_of(path):
    if path.suffix == ".npz":
        return len(np.load(path)["gravity_force"])
    read = pyarrow.csv.read_csv if path.suffix == ".csv" else pyarrow.parquet.read_table
    return read(path).num_rows


def long_log(tmp_path, rows=4000, end=""):
    path = tmp_path / "long.csv"
    x = np.random.default_rng(0).uniform(size=(rows, 2)).tolist()  # which no format makes shorter
    path.write_text("q_turn,q_nod\n" + "".join(f"{a},{b}\n" for a, b in x) + end)
    return path


@pytest.mark.parametrize("out", ["out.csv", "out.parquet", "out.npz"])
def test_before_a_row_that_cannot_be_read(tmp_path, lamp, monkeypatch, out):
    monkeypatch.setattr(tables, "BLOCK", 4096)
    log = long_log(tmp_path, end="0.1,oops\n")
    with pytest.raises(
        hinge.LogError, match=r"invalid value 'oops'(.|\n)*The first [\d,]+ rows are in .*out"
    ) as caught:
        logs.run(hinge.load(lamp), "gravity_force", log, tmp_path / out, chunk=500)
    told = int(str(caught.value).rpartition("The first ")[2].split()[0].replace(",", ""))
    assert 0 < rows_of(tmp_path / out) == told < 4000


class Disk:
    """A disk of so many bytes: what is written to files opened here, and the reserve, count; removed files do not."""

    def __init__(self, monkeypatch, size):
        self.left, self.files = size, {}
        monkeypatch.setattr(disk, "open", self.open, raising=False)
        monkeypatch.setattr(disk, "_free", self.free)
        monkeypatch.setattr(disk, "_fill", self.fill)

    def take(self, path, wanted):
        given = min(wanted, self.left)
        if wanted and not given:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        self.left -= given
        self.files[path] = self.files.get(path, 0) + given
        return given

    def open(self, path, *mode, **options):
        file, here = open(path, *mode, **options), self  # noqa: SIM115

        class Counted:
            def write(self, view):
                return file.write(bytes(view)[: here.take(path, len(view))])

            def truncate(self, size):
                here.left += here.files.pop(path)
                return file.truncate(size)

            def __getattr__(self, name):
                return getattr(file, name)

        return Counted()

    def fill(self, file, size):
        more = size - self.files.get(file, 0)
        if more > self.left:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        self.take(file, more)

    def free(self, file):
        self.left += self.files.pop(file, 0)
        file.close()


@pytest.mark.parametrize("out", ["out.csv", "out.parquet"])
def test_a_full_disk(tmp_path, lamp, monkeypatch, out):
    monkeypatch.setattr(tables, "BLOCK", 4096)
    log, robot = long_log(tmp_path, 40_000), hinge.load(lamp)
    Disk(monkeypatch, 250_000)
    says = r"cannot be written: No space left on device.\n  The first [\d,]+ rows are in .*out"
    with pytest.raises(hinge.LogError, match=says) as caught:
        logs.run(robot, "gravity_force", log, tmp_path / out, chunk=500)
    told = int(str(caught.value).rpartition("The first ")[2].split()[0].replace(",", ""))
    assert 500 < rows_of(tmp_path / out) == told < 40_000
    assert sorted(p.name for p in tmp_path.iterdir()) == sorted(["lamp.urdf", "long.csv", out])


@pytest.mark.parametrize("out", ["out.csv", "out.parquet"])
def test_a_part_of_a_log_does_not_replace_a_whole_one(tmp_path, lamp, monkeypatch, out):
    monkeypatch.setattr(tables, "BLOCK", 4096)
    log, robot = long_log(tmp_path, 40_000), hinge.load(lamp)
    (tmp_path / out).write_text("whole")
    Disk(monkeypatch, 250_000)
    with pytest.raises(hinge.LogError, match=r"The first [\d,]+ rows are in .*out.*part.out.*\.$") as caught:
        logs.run(robot, "gravity_force", log, tmp_path / out, chunk=500)
    told = int(str(caught.value).rpartition("The first ")[2].split()[0].replace(",", ""))
    assert 500 < rows_of(tmp_path / f"{out}.part" / out) == told < 40_000
    assert (tmp_path / out).read_text() == "whole"
    assert sorted(p.name for p in tmp_path.iterdir()) == sorted(["lamp.urdf", "long.csv", out, f"{out}.part"])
    assert [p.name for p in (tmp_path / f"{out}.part").iterdir()] == [out]


def test_a_disk_too_full_for_an_archive(tmp_path, lamp, monkeypatch):
    """Its arrays are there, a file each."""

    def write(*words):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(zipfile.ZipFile, "write", write)
    Disk(monkeypatch, 250_000)
    with pytest.raises(hinge.LogError, match=r"No space left on device.\n  What there is of it is in .*out.npz.part"):
        logs.run(hinge.load(lamp), "gravity_force", long_log(tmp_path, 40_000), tmp_path / "out.npz", chunk=500)
    made = np.load(tmp_path / "out.npz.part" / "gravity_force.npy")
    assert 500 < len(made) < 40_000
    assert np.isfinite(made).all()
    assert sorted(p.name for p in tmp_path.iterdir()) == ["lamp.urdf", "long.csv", "out.npz.part"]


def test_a_disk_without_room_for_a_beginning(tmp_path, lamp, monkeypatch):
    Disk(monkeypatch, 1000)
    with pytest.raises(hinge.LogError, match="cannot be written: No space left on device"):
        logs.run(hinge.load(lamp), "gravity_force", long_log(tmp_path), tmp_path / "out.csv")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["lamp.urdf", "long.csv"]


@pytest.mark.skipif(not hasattr(signal, "SIGXFSZ"), reason="there are no limits of file size here")
def test_a_file_that_may_not_grow(tmp_path, lamp):
    """A limit that a reserve does not help against: it is said, and where what there is of the log lies."""
    code = """
import resource, sys
from hinge.cli import main
resource.setrlimit(resource.RLIMIT_FSIZE, (400_000, 400_000))
main()
"""
    words = ["run", "gravity-force", lamp, "--in", long_log(tmp_path, 40_000), "--out", tmp_path / "out.csv"]
    ended = subprocess.run([sys.executable, "-c", code, *map(str, words)], capture_output=True, text=True)
    assert ended.returncode == 1
    assert "out.csv cannot be written: File too large." in ended.stderr


@pytest.mark.skipif(sys.platform == "win32", reason="Ctrl-C is sent otherwise there")
def test_ctrl_c_keeps_what_there_is_and_exits_with_130(tmp_path, lamp):
    log = tmp_path / "long.csv"
    log.write_text("q_turn,q_nod\n" + "0.25,0.5\n" * 3_000_000)
    code = "from hinge.logs import tables; tables.BLOCK = 4096; from hinge.cli import main; main()"
    words = ["run", "gravity-force", lamp, "--in", log, "--out", tmp_path / "out.parquet"]
    run = subprocess.Popen([sys.executable, "-c", code, *map(str, words)], stderr=subprocess.PIPE, text=True)
    with contextlib.suppress(subprocess.TimeoutExpired):
        deadline = time.monotonic() + 60
        part = tmp_path / "out.parquet.part" / "out.parquet"
        while not (part.exists() and part.stat().st_size > 1000) and time.monotonic() < deadline:
            time.sleep(0.01)
    run.send_signal(signal.SIGINT)
    _, errors = run.communicate(timeout=60)
    assert run.returncode == 130, errors
    assert "Stopped. The first " in errors
    told = int(errors.rpartition("The first ")[2].split()[0].replace(",", ""))
    assert 0 < rows_of(tmp_path / "out.parquet") == told < 3_000_000


def test_a_log_that_is_there_is_replaced_when_the_new_one_is_done(tmp_path, lamp, log):
    out = tmp_path / "out.csv"
    out.write_text("old")
    bad = tmp_path / "bad.csv"
    bad.write_text("q_turn,q_nod\nx,y\n")
    said("run", "gravity-force", lamp, "--in", bad, "--out", out, "--force")
    assert out.read_text() == "old"
    assert said("run", "gravity-force", lamp, "--in", log, "--out", out, "--force").exit_code == 0
    assert out.read_text().startswith('"t","gravity_force_turn"')


@pytest.mark.parametrize("suffix", ["parquet", "csv", "npz"])
def test_ctrl_c_in_the_middle_of_a_write_waits_until_it_is_whole(tmp_path, lamp, monkeypatch, suffix):
    log, out = tmp_path / "log.npz", tmp_path / f"out.{suffix}"
    np.savez(log, q=np.zeros((1000, 2)))
    written, count = disk.File.write, []

    def interrupted(file, content):
        count.append(file)
        if len(count) == 12:
            signal.raise_signal(signal.SIGINT)
        return written(file, content)

    monkeypatch.setattr(disk.File, "write", interrupted)
    with pytest.raises(KeyboardInterrupt) as caught:
        logs.run(hinge.load(lamp), "gravity_force", log, out, chunk=10)
    told = int(str(caught.value).rpartition("The first ")[2].split()[0].replace(",", ""))
    assert 0 < rows_of(out) == told < 1000
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
