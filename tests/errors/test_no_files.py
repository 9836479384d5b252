"""What is read from disk is a regular file of a size that is looked at first: no pipe is waited for, no device read."""

import os
import signal

import numpy as np
import pytest

import hinge
from hinge import files
from hinge.backends import cache
from hinge.errors import NOWHERE
from hinge.formats.mjcf import mesh as mjcf_mesh
from hinge.logs import tables
from hinge.model import meshes
from hinge.viewing import shapes

pytestmark = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes with names here")


@pytest.fixture(autouse=True)
def _alarm():
    """A reader that waits for a pipe fails after a while."""

    def ring(*given):
        raise AssertionError("it waits")

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, 20.0)
    yield
    signal.setitimer(signal.ITIMER_REAL, 0.0)
    signal.signal(signal.SIGALRM, before)


def large(path):
    with open(path, "wb") as file:
        file.truncate(5 << 30)


THINGS = {
    "a pipe": (os.mkfifo, "it is a pipe"),
    "a device": (lambda path: os.symlink("/dev/zero", path), "it is a device"),
    "a folder": (os.mkdir, "it is a folder"),
    "too large": (large, "it has 5368709120 bytes, at most "),
}


READERS = {
    "robot.urdf": (hinge.load, hinge.ModelError),
    "robot.xml": (hinge.load, hinge.ModelError),
    "robot.toml": (hinge.load, hinge.ModelError),
    "robot.xacro": (hinge.load, hinge.ModelError),
    "mesh.stl": (meshes.read, OSError),
    "mesh.msh": (meshes.read, OSError),
    "mesh.obj": (lambda path: mjcf_mesh.load(path, NOWHERE), hinge.ModelError),
    "finished.json": (lambda path: hinge.open(os.path.dirname(path)), hinge.TrajectoryError),
    "log.csv": (tables.open_log, hinge.LogError),
    "log.parquet": (tables.open_log, hinge.LogError),
    "log.npz": (tables.open_log, hinge.LogError),
}


@pytest.mark.parametrize("name", READERS)
@pytest.mark.parametrize("thing", THINGS)
def test_what_is_no_regular_file_or_too_large_is_refused_unread(thing, name, tmp_path):
    if name.startswith("log") and thing == "too large":
        pytest.skip("a log is read a chunk at a time, and may have any size")
    make, why = THINGS[thing]
    path = str(tmp_path / name)
    make(path)
    read, kind = READERS[name]
    with pytest.raises(kind, match=why):
        read(path)


@pytest.mark.parametrize("thing", THINGS)
def test_check_says_it(thing, tmp_path):
    make, why = THINGS[thing]
    make(tmp_path / "robot.urdf")
    assert why in str(hinge.check(tmp_path / "robot.urdf"))


@pytest.mark.parametrize("thing", THINGS)
def test_a_cache_with_something_else_in_it_compiles_anew(thing, tmp_path, monkeypatch):
    monkeypatch.setenv("HINGE_CACHE_DIR", str(tmp_path))
    make, _ = THINGS[thing]
    make(tmp_path / "name.kernel")
    assert cache.find("name") is None
    if thing != "a folder":
        cache.keep("name", b"code")
        assert cache.find("name") == b"code"
        assert (tmp_path / "name.kernel").stat().st_size < 100


@pytest.mark.parametrize("thing", ["a pipe", "a folder", "too large"])
def test_a_mesh_that_is_none_is_not_drawn(thing, tmp_path):
    THINGS[thing][0](tmp_path / "body.stl")
    shape = '<visual><geometry><mesh filename="body.stl"/></geometry></visual>'
    (tmp_path / "r.urdf").write_text(f'<robot name="r"><link name="a">{shape}</link></robot>')
    made, left = shapes.parts(hinge.load(tmp_path / "r.urdf").model, np.eye(4)[None])
    assert not made
    assert thing != "too large" or "body.stl cannot be read: it has 5368709120 bytes" in left[0]


def test_a_file_that_says_less_than_it_has_is_refused():
    if not os.path.exists("/proc/self/status"):
        pytest.skip("there are no such files here")
    with pytest.raises(OSError, match="it is longer than it says"):
        files.read("/proc/self/status", 100)


def test_what_becomes_a_pipe_while_it_is_looked_at_is_refused(tmp_path, monkeypatch):
    os.mkfifo(tmp_path / "pipe")
    monkeypatch.setattr(files, "regular", lambda *given: 0)
    with pytest.raises(OSError, match="it is a pipe"):
        files.opened(tmp_path / "pipe")


def test_a_mesh_in_several_files_stays_in_its_folder(tmp_path):
    trimesh = pytest.importorskip("trimesh")
    (tmp_path / "in").mkdir()
    box = trimesh.creation.box()
    for name, content in trimesh.exchange.gltf.export_gltf(trimesh.Scene(box)).items():
        (tmp_path / "in" / name).write_bytes(content)
    vertices, faces = meshes.read(str(tmp_path / "in" / "model.gltf"))
    assert len(faces) == 12
    np.testing.assert_allclose(np.ptp(vertices, axis=0), 1.0)
    buffer = next((tmp_path / "in").glob("*.bin"))
    os.rename(buffer, tmp_path / buffer.name)
    for outside in (f"../{buffer.name}", str(tmp_path / buffer.name)):
        text = (tmp_path / "in" / "model.gltf").read_text()
        (tmp_path / "in" / "b.gltf").write_text(text.replace(buffer.name, outside))
        with pytest.raises(ValueError, match="leads out of the folder of its mesh"):
            meshes.read(str(tmp_path / "in" / "b.gltf"))
    os.symlink(tmp_path / buffer.name, buffer)
    with pytest.raises(ValueError, match="leads out of the folder of its mesh"):
        meshes.read(str(tmp_path / "in" / "model.gltf"))
