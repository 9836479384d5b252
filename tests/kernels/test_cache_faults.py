"""A cache that is damaged, shared or cannot be written: the answers are right all the same."""

import errno
import json
import os
import pathlib
import tempfile
import warnings

import numpy as np
import pytest
from kernel_cases import python, same_bits

import hinge
from hinge.backends import cache

Q = np.array([0.3, -0.7])


def kernels(folder):
    """What is in a cache but for what all kernels share."""
    return [path for path in folder.iterdir() if path.suffix != ".shared"]


def gravity():
    """The answer of a robot that has to look into the cache first."""
    return hinge.samples.planar_2r().gravity_force(Q)


@pytest.fixture(scope="module")
def right():
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HINGE_CACHE_DIR", "")
        return gravity()


@pytest.fixture
def entry(cold):
    """The one entry of a cache."""
    gravity()
    (path,) = cold.glob("*.kernel")
    return path


@pytest.fixture
def unwarned(monkeypatch):
    monkeypatch.setattr(cache, "_warned", set())


def flipped(content, rng):
    damaged = bytearray(content)
    bit = int(rng.integers(8 * len(content)))
    damaged[bit // 8] ^= 1 << bit % 8
    return bytes(damaged)


def cut_short(content, rng):
    return content[: int(rng.integers(len(content)))]


def lengthened(content, rng):
    return content + rng.bytes(int(rng.integers(1, 64)))


def overwritten(content, rng):
    """A page of the file was never written."""
    at = int(rng.integers(len(content) - 1))
    end = min(len(content), at + 4096)
    return content[:at] + bytes(x ^ 0xFF for x in content[at:end]) + content[end:]


DAMAGES = [flipped, flipped, cut_short, lengthened, overwritten]


@pytest.mark.parametrize("seed", range(4))
def test_no_damaged_entry_is_ever_taken(entry, seed):
    rng, content, name = np.random.default_rng(seed), entry.read_bytes(), entry.stem
    whole = cache.find(name)
    assert whole is not None
    for k in range(250):
        damaged = DAMAGES[k % len(DAMAGES)](content, rng)
        assert damaged != content
        entry.write_bytes(damaged)
        assert cache.find(name) is None
        assert not entry.exists()  # it is thrown away
    entry.write_bytes(content)
    assert cache.find(name) == whole


@pytest.mark.parametrize("part", ["magic", "checksum", "name", "description", "code"])
def test_a_flipped_bit_is_seen_wherever_it_is(entry, part):
    content = entry.read_bytes()
    head = len(cache.MAGIC)
    start = {"magic": 0, "checksum": head, "name": head + 32, "description": head + 100, "code": len(content) - 8}
    for bit in range(64):
        damaged = bytearray(content)
        damaged[start[part] + bit // 8] ^= 1 << bit % 8
        entry.write_bytes(damaged)
        assert cache.find(entry.stem) is None


def test_a_robot_makes_a_damaged_entry_anew(entry, right):
    rng, content = np.random.default_rng(7), entry.read_bytes()
    for k in range(20):
        entry.write_bytes(DAMAGES[k % len(DAMAGES)](content, rng))
        assert same_bits(gravity(), right)
        assert entry.read_bytes() == content


@pytest.mark.parametrize("content", [b"", cache.MAGIC, b"\0" * 5000, cache.MAGIC + b"\0" * 40])
def test_a_file_that_is_no_entry_is_made_anew(entry, right, content):
    whole = entry.read_bytes()
    entry.write_bytes(content)
    assert same_bits(gravity(), right)
    assert entry.read_bytes() == whole


def test_another_process_makes_a_damaged_entry_anew(entry, right):
    whole = entry.read_bytes()
    entry.write_bytes(flipped(whole, np.random.default_rng(3)))
    ran = python(f"import hinge; print(hinge.samples.planar_2r().gravity_force({Q.tolist()}).tobytes().hex())")
    assert (ran.returncode, ran.stdout.strip(), ran.stderr) == (0, right.tobytes().hex(), "")
    assert entry.read_bytes() == whole


# ---- a cache that cannot be written


def warnings_of_two_robots(right):
    """The warnings of two robots that both have to compile."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert same_bits(gravity(), right)
        hinge.samples.planar_2r().mass_matrix(Q)
    return [str(w.message) for w in caught]


def unwritable(folder, why):
    return f"the kernel cache {folder} cannot be written ({why}); kernels will be compiled anew in every process."


def refuse(number):
    def refusing(*args, **options):
        raise OSError(number, os.strerror(number))

    return refusing


@pytest.mark.parametrize(("module", "name"), [(tempfile, "mkstemp"), (os, "replace"), (pathlib.Path, "mkdir")])
def test_a_read_only_cache_warns_once(cold, unwarned, monkeypatch, right, module, name):
    with monkeypatch.context() as patch:
        patch.setattr(module, name, refuse(errno.EACCES))
        assert warnings_of_two_robots(right) == [unwritable(cold, "Permission denied")]
    assert not cold.exists() or kernels(cold) == []


def test_a_cache_below_a_file_warns_once(tmp_path, unwarned, monkeypatch, right):
    file = tmp_path / "file"
    file.write_text("not a folder")
    monkeypatch.setenv("HINGE_CACHE_DIR", str(file / "cache"))
    assert warnings_of_two_robots(right) == [unwritable(file / "cache", "Not a directory")]
    assert file.read_text() == "not a folder"


def test_a_folder_in_the_place_of_an_entry_warns_once(entry, unwarned, right):
    entry.unlink()
    (entry / "inside").mkdir(parents=True)
    with pytest.warns(UserWarning, match="cannot be written"):
        assert same_bits(gravity(), right)
    assert sorted(p.name for p in kernels(entry.parent)) == [entry.name]


def test_a_disk_that_is_full_warns_once_and_leaves_nothing(cold, unwarned, monkeypatch, right):
    really = os.fdopen

    def filling(handle, mode):
        file = really(handle, mode)

        class Full:
            def __enter__(self):
                return self

            def __exit__(self, *problem):
                file.close()

            def write(self, content):
                file.write(content[:100])
                file.flush()
                refuse(errno.ENOSPC)()

        return Full()

    with monkeypatch.context() as patch:
        patch.setattr(os, "fdopen", filling)
        assert warnings_of_two_robots(right) == [unwritable(cold, "No space left on device")]
    assert kernels(cold) == []


def test_a_limit_on_file_sizes_warns_once_and_leaves_nothing(cold, right):
    pytest.importorskip("resource")
    code = """
import resource, warnings, hinge
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    arm = hinge.samples.planar_2r()
    tau = arm.gravity_force([0.3, -0.7])
    arm.mass_matrix([0.3, -0.7])
print(tau.tobytes().hex(), *(w.message for w in caught), sep="\\n")
"""
    ran = python(code, HINGE_CACHE_DIR=str(cold))
    assert (ran.returncode, ran.stderr) == (0, "")
    assert ran.stdout.splitlines() == [right.tobytes().hex(), unwritable(cold, "File too large")]
    assert kernels(cold) == []


# ---- a cache that is shared

SIXTEEN = """
import os, sys, hinge
gates, answers = os.pipe(), []
for _ in range(16):
    answer, told = os.pipe()
    if os.fork() == 0:
        os.close(gates[1])
        os.read(gates[0], 1)  # until all have begun
        arm = hinge.samples.planar_2r()
        made = arm.gravity_force([0.3, -0.7]).tobytes() + arm.mass_matrix([0.3, -0.7]).tobytes()
        os.write(told, made)
        os._exit(0)
    os.close(told)
    answers.append(answer)
os.close(gates[1])
for answer in answers:
    print(os.read(answer, 1000).hex())
print(*sorted(os.wait()[1] for _ in answers))
"""


@pytest.mark.sweep
def test_sixteen_processes_share_a_cold_cache(cold, right):
    ran = python(SIXTEEN, HINGE_CACHE_DIR=str(cold))
    wanted = (right.tobytes() + hinge.samples.planar_2r().mass_matrix(Q).tobytes()).hex()
    assert (ran.returncode, ran.stderr) == (0, "")
    assert ran.stdout.splitlines() == [wanted] * 16 + [" ".join("0" * 16)]
    left = sorted(kernels(cold))
    assert [p.suffix for p in left] == [".kernel"] * 2  # nothing half written
    assert all(cache.find(p.stem) is not None for p in left)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
@pytest.mark.parametrize(("processes", "kills"), [(4, 12), pytest.param(16, 200, marks=pytest.mark.sweep)])
def test_processes_that_are_killed_leave_a_cache_that_gives_right_answers(cold, processes, kills):
    script = pathlib.Path(__file__).parent / "killed_caches.py"
    ran = python(script, processes, kills, 7, timeout=550, HINGE_CACHE_DIR=str(cold))
    assert (ran.returncode, ran.stderr) == (0, "")
    told = json.loads(ran.stdout)
    assert (told["kills"], told["others"], told["wrong"], told["broken"]) == (processes + kills, [], [], [])
    assert told["answers"] >= kills
    halves = list(cold.glob("*.new"))
    assert len(halves) <= processes + kills
    assert {path.suffix for path in cold.iterdir()} - {path.suffix for path in halves} == {".kernel", ".shared"}
    for path in halves:
        os.utime(path, (0, 0))
    cache.trim()  # what was left half written goes when it is an hour older than the newest entry
    assert list(cold.glob("*.new")) == []
