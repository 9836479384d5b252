"""Logs and trajectories that are damaged, or hold what is no number: an error of hinge's own, with the file in it."""

import datetime
import importlib
import io
import json
import os
import zipfile

import numpy as np
import pytest

import hinge
from hinge import logs
from hinge.logs import tables
from hinge.sim import store

pa = pytest.importorskip("pyarrow")

ARM = hinge.samples.planar_2r()
DAY = datetime.date(2026, 1, 1)
COLUMNS = {
    "time": pa.array([datetime.time(1), datetime.time(2)]),
    "list": pa.array([[1.0], [2.0, 3.0]]),
    "struct": pa.array([{"a": 1}, {"a": 2}]),
    "date": pa.array([DAY, DAY]),
    "timestamp": pa.array([datetime.datetime(2026, 1, 1)] * 2),
    "binary": pa.array([b"1", b"x"]),
    "map": pa.array([[("a", 1)], []], pa.map_(pa.string(), pa.int64())),
}


def refused(path, kind=hinge.LogError):
    with pytest.raises(kind) as caught:
        logs.run(ARM, "gravity_force", path, path.with_name("out.npz"))
    assert type(caught.value) is kind
    assert not path.with_name("out.npz").exists()
    return str(caught.value)


@pytest.mark.parametrize("kind", COLUMNS)
def test_a_parquet_column_that_holds_no_numbers(tmp_path, kind):
    path = tmp_path / "log.parquet"
    table = pa.table({"q_shoulder": COLUMNS[kind], "q_elbow": pa.array([1.0, 2.0])})
    importlib.import_module("pyarrow.parquet").write_table(table, path)
    said = refused(path)
    assert said.startswith(f"{path}: column 'q_shoulder' holds {kind}")
    assert said.endswith(", not numbers.\n  Write numbers; times in seconds.")


def npy(header, version=b"\x01\x00"):
    said = header.encode() + b"\n"
    return b"\x93NUMPY" + version + len(said).to_bytes(2, "little") + said


def whole(array):
    file = io.BytesIO()
    np.save(file, array)
    return file.getvalue()


def zipped(path, **members):
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in members.items():
            archive.writestr(f"{name}.npy", content)


def patched(path, at, mark, content):
    """Other bytes after each place where a mark is."""
    data = bytearray(path.read_bytes())
    place = data.find(mark)
    while place >= 0:
        data[place + at : place + at + len(content)] = content
        place = data.find(mark, place + 1)
    path.write_bytes(data)


def locked(path):
    zipped(path, q=whole(np.zeros((3, 2))))
    patched(path, 6, b"PK\x03\x04", b"\x01\x00")
    patched(path, 8, b"PK\x01\x02", b"\x01\x00")


def unknown_compression(path):
    zipped(path, q=whole(np.zeros((3, 2))))
    patched(path, 8, b"PK\x03\x04", b"\x63\x00")
    patched(path, 10, b"PK\x01\x02", b"\x63\x00")


def header(text, *version):
    return lambda path: zipped(path, q=npy(text, *version) + bytes(48))


NPZ = {
    "a password": locked,
    "an unknown compression": unknown_compression,
    "no header": lambda path: zipped(path, q=b""),
    "no magic": lambda path: zipped(path, q=b"nothing at all, but long enough"),
    "half a header": header("{'descr': '<f8', 'fort"),
    "a header of words": header("import os"),
    "a header of brackets": header("(" * 5000),
    "a header without keys": header("{}"),
    "a type that is none": header("{'descr': [1, 2], 'fortran_order': False, 'shape': (3, 2)}"),
    "a shape that is none": header("{'descr': '<f8', 'fortran_order': False, 'shape': (3.5, 2)}"),
    "a negative shape": header("{'descr': '<f8', 'fortran_order': False, 'shape': (-3, 2)}"),
    "an absurd shape": header("{'descr': '<f8', 'fortran_order': False, 'shape': (1000000000000000, 2)}"),
    "a wide shape": header("{'descr': '<f8', 'fortran_order': False, 'shape': (3, 1000000000000000)}"),
    "another version": header("{'descr': '<f8', 'fortran_order': False, 'shape': (3, 2)}", b"\x09\x00"),
}


@pytest.mark.parametrize("fault", NPZ)
def test_an_npz_file_that_is_damaged(tmp_path, fault):
    path = tmp_path / "log.npz"
    NPZ[fault](path)
    said = refused(path)
    assert said.startswith(str(path))
    assert "damaged" in said


def test_a_member_that_is_no_array_is_passed_over(tmp_path):
    path = tmp_path / "log.npz"
    np.savez(path, q=np.zeros((3, 2)))
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("readme.txt", "measured on a Monday")
        archive.writestr("qd", whole(np.zeros((3, 2))))
    assert tables.open_log(path).columns == ["q"]
    assert logs.run(ARM, "gravity_force", path, tmp_path / "out.npz") == 3


@pytest.fixture
def saved(tmp_path):
    pytest.importorskip("zarr")
    hinge.simulate(ARM, 0.05, [0.1, 0.2], step=1e-2).save(tmp_path / "run.zarr")
    return tmp_path / "run.zarr"


def change(path, **fields):
    """Write other fields into the mark or an array's description, with digests that fit."""
    folder = path.parent if path.name == store.MARK else path.parents[1]
    mark = {k: v for k, v in json.loads((folder / store.MARK).read_text()).items() if k != "sha256"}
    about = mark if path.name == store.MARK else json.loads(path.read_text())
    about = {k: v for k, v in (about | fields).items() if v is not ...}
    if path.name == store.MARK:
        mark = about
    else:
        path.write_text(json.dumps(about))
        shape = about.get("shape")
        if isinstance(shape, list):  # of any other there is no digest
            mark["digests"] = store._digests(folder, ("t", *mark["fields"]))
            mark["lengths"] += shape[:1]
    (folder / store.MARK).write_bytes(store.sealed(mark))


WRONG = (..., None, 1.5, "word", {"a": 1}, [[1, 2]], True)
RIGHT = (("hinge", "word"), ("method", "word"), ("info", {"a": 1}))
NAMES = ("finished", "fields", "batch", "status", "events", "info", "hinge", "method")
MARKS = [{name: value} for name in NAMES for value in WRONG if (name, value) not in RIGHT]
MARKS += [
    {"fields": ["q", "x"]}, {"fields": [["q"]]}, {"batch": [10**12]}, {"batch": [-1]}, {"batch": ["a"]},
    {"status": [300]}, {"events": [[1]]}, {"parameters": {"x": [1.0]}}, {"parameters": []}, {"finished": 10**15},
    {"finished": -5}, {"lost": ["a"]}, {"format": [1]},
]  # fmt: skip


@pytest.mark.parametrize("fields", MARKS, ids=str)
def test_a_mark_with_missing_or_wrong_fields(saved, fields):
    change(saved / "finished.json", **fields)
    with pytest.raises(hinge.TrajectoryError, match=r"run.zarr"):
        hinge.open(saved)


ARRAYS = [
    {"shape": [10**15, 1, 9]}, {"shape": [6, 10**9, 2]}, {"shape": []}, {"shape": [-1, 1, 2]}, {"shape": "six"},
    {"shape": ...}, {"data_type": "int8"}, {"data_type": "nothing"}, {"codecs": [{"name": "nothing"}]}, {"codecs": []},
    {"chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [10**15, 1, 2]}}},
    {"chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [0, 1, 2]}}},
    {"chunk_grid": {"name": "other"}}, {"node_type": "group"}, {"zarr_format": 9}, {"fill_value": "x"},
]  # fmt: skip


@pytest.mark.parametrize("name", ["q", "t"])
@pytest.mark.parametrize("fields", ARRAYS, ids=str)
def test_an_array_of_another_shape_or_kind(saved, fields, name):
    change(saved / name / "zarr.json", **fields)
    with pytest.raises(hinge.TrajectoryError, match=r"run.zarr"):
        _ = hinge.open(saved).q


@pytest.mark.parametrize("content", [b"", b"\x00" * 40, b"\x28\xb5\x2f\xfd" + b"\xff" * 40, "half"])
@pytest.mark.parametrize("name", ["q/c/0/0/0", "t/c/0"])
def test_a_chunk_that_is_damaged(saved, name, content):
    data = (saved / name).read_bytes()
    (saved / name).write_bytes(data[: len(data) // 2] if content == "half" else content)
    with pytest.raises(hinge.TrajectoryError, match=r"run.zarr(?s:.*)It is damaged"):
        _ = hinge.open(saved).q


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes with names here")
@pytest.mark.parametrize("name", ["q/c/0/0/0", "zarr.json", "t/zarr.json"])
def test_a_pipe_in_a_trajectory_is_not_waited_for(saved, name):
    (saved / name).unlink()
    os.mkfifo(saved / name)
    with pytest.raises(hinge.TrajectoryError, match=f"run.zarr cannot be read: {name}: it is a pipe."):
        hinge.open(saved)


def flipped(path, rng):
    """Flip one bit of a file; gives what was there."""
    content = path.read_bytes()
    other = bytearray(content)
    other[rng.integers(len(other))] ^= 1 << rng.integers(8)
    path.write_bytes(other)
    return content


def test_a_flipped_bit_in_any_file_of_a_trajectory_is_noticed(tmp_path, monkeypatch):
    """In chunks, descriptions of arrays, the mark and the robot; also of a run that went on."""
    pytest.importorskip("zarr")
    monkeypatch.setattr(store, "LONGEST", 4)
    folder, rng = tmp_path / "run.zarr", np.random.default_rng(0)
    for _ in range(2):
        hinge.simulate(ARM, 0.03, [[0.1, 0.2]] * 3, step=1e-2, file=folder, append=True)
    paths = [path for path in sorted(folder.rglob("*")) if path.is_file()]
    assert len(paths) == 4 * 2 + 4 + 3
    for path in paths:
        for _ in range(2):
            content = flipped(path, rng)
            with pytest.raises(hinge.TrajectoryError) as problem:
                _ = (run := hinge.open(folder)).q, run.qd, run.tau
            assert path.relative_to(tmp_path).as_posix() in str(problem.value) or path.name in str(problem.value)
            path.write_bytes(content)
    assert len(hinge.open(folder).q) == 3


def test_every_flipped_bit_in_a_chunk_is_noticed(saved):
    """Of 200, where the file was opened before."""
    run, rng, chunk = hinge.open(saved), np.random.default_rng(1), saved / "q" / "c" / "0" / "0" / "0"
    for _ in range(200):
        content = flipped(chunk, rng)
        with pytest.raises(hinge.TrajectoryError, match=r"run.zarr.q.c.0.0.0 cannot be read(?s:.*)It is damaged"):
            _ = run[:].q
        chunk.write_bytes(content)
    chunk.unlink()
    with pytest.raises(hinge.TrajectoryError, match=r"run.zarr.q.c.0.0.0 cannot be read: there is no such file"):
        _ = run[:].q


@pytest.mark.parametrize("suffix", [".npz", ".parquet"])
def test_a_flipped_bit_among_the_numbers_of_a_log_is_noticed(tmp_path, suffix):
    parquet = pytest.importorskip("pyarrow.parquet")
    path, rng = tmp_path / f"run{suffix}", np.random.default_rng(2)
    run = hinge.simulate(ARM, 0.2, [0.1, 0.2], step=1e-2)
    logs.write(run, path)
    content = path.read_bytes()
    if suffix == ".npz":
        ends = [(content.index(one.tobytes()) + one.nbytes, one.nbytes) for one in (run.q, run.qd)]
    else:  # the second half of a column has no header in it
        columns = [parquet.read_metadata(path).row_group(0).column(k) for k in range(5)]
        ends = [(one.data_page_offset + (n := one.total_compressed_size), n // 2) for one in columns]
    for end, size in ends:
        for k in rng.integers(size, size=20):
            other = bytearray(content)
            other[end - 1 - k] ^= 1 << rng.integers(8)
            path.write_bytes(other)
            with pytest.raises(hinge.LogError, match=f"run{suffix} cannot be read"):
                _ = list(tables.chunks_of(log := tables.open_log(path), log.columns, 1000))
