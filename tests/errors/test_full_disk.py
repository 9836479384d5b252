"""Where there is no room: what was there stays whole, nothing is left that is not told, the error says what to do."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

for package in ("zarr", "pyarrow", "matplotlib", "resource"):
    pytest.importorskip(package)

SCRIPT = Path(__file__).with_name("full_disk.py")
WRITERS = ("urdf", "mjcf", "dh", "c", "png", "save", "file", "append", "csv", "parquet", "npz", "run csv",
           "run parquet", "run npz", "cache")  # fmt: skip
MOUNT = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c",
         'mount -t tmpfs -o size=4m,nr_inodes=400,mode=700 none "$1" && shift && exec "$@"', "sh"]  # fmt: skip


def tried(way, folder, names, before=()):
    """How often each writer was done and refused, with all that has to hold."""
    words = [*before, sys.executable, SCRIPT, way, folder, ",".join(names)]
    ended = subprocess.run([str(word) for word in words], capture_output=True, text=True)
    assert ended.returncode == 0, ended.stderr
    return json.loads(ended.stdout)


def all_of(found, names):
    assert found.keys() == set(names)
    for name, counts in found.items():
        assert set(counts) == ({"done"} if name == "cache" else {"done", "refused"}), (name, counts)


@pytest.mark.sweep
def test_files_that_may_not_grow_of_the_writers_that_differ(tmp_path):
    names = ("c", "file", "run npz")
    all_of(tried("few", tmp_path, names), names)


@pytest.mark.sweep
@pytest.mark.parametrize("name", WRITERS)
def test_files_that_may_not_grow(tmp_path, name):
    all_of(tried("limit", tmp_path, [name]), [name])


@pytest.mark.sweep
@pytest.mark.parametrize("way", ["disk", "names"])
@pytest.mark.parametrize("name", WRITERS)
def test_a_small_disk_that_is_full(tmp_path, name, way):
    try:
        subprocess.run([*MOUNT, str(tmp_path), "true"], check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("this user may not mount a disk of his own")
    all_of(tried(way, tmp_path, [name], [*MOUNT, tmp_path]), [name])


@pytest.mark.sampled(1)
@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no device that is always full here")
@pytest.mark.parametrize("words", [["--help"], ["cache"], ["show", "arm.urdf"], ["count", "arm.urdf", "--json"]])
def test_what_is_printed_to_a_full_disk(tmp_path, words):
    import hinge

    hinge.write(hinge.samples.planar_2r(), tmp_path / "arm.urdf")
    with open("/dev/full", "wb") as full:
        ended = subprocess.run([sys.executable, "-m", "hinge.cli", *words], stdout=full, stderr=subprocess.PIPE,
                               text=True, cwd=tmp_path)  # fmt: skip
    wanted = "Error: what is printed cannot be written: No space left on device.\n  Make room there, or choose another"
    assert (ended.returncode, ended.stderr) == (1, f"{wanted} place.\n")
