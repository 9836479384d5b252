"""What an entry of the cache is found by, when it goes, and what the command line says of it."""

import json
import os

import numpy as np
import pytest
from click.testing import CliRunner
from kernel_cases import same_bits, states, tree, user_joint, with_joint

import hinge
from hinge import backends
from hinge.backends import cache, llvm
from hinge.backends.kernel import SEVERAL
from hinge.cli import main
from hinge.dynamics.registry import Algorithm

Q = np.array([0.3, -0.7])


def files(folder):
    """The kernels in a folder, and what was left half written; besides, there is what all kernels share."""
    return sorted(p for p in folder.iterdir() if p.suffix != ".shared") if folder.exists() else []


def never(*args, **options):
    raise AssertionError("traced, though the cache has it")


# ---- what it is found by


def test_an_entry_comes_back_as_it_was_kept(cold):
    for name, code in (("a", b""), ("b", bytes(range(256)) * 40)):
        cache.keep(name, code)
        assert cache.find(name) == code


def test_a_second_robot_of_the_same_model_does_not_trace(cold, monkeypatch):
    q, qd, qdd = states(tree(), 5)
    first = tree().inverse_dynamics(q, qd, qdd)
    monkeypatch.setattr(Algorithm, "trace", never)
    assert same_bits(tree().inverse_dynamics(q, qd, qdd), first)
    with pytest.raises(AssertionError, match="traced"):
        tree().mass_matrix(q)


def test_names_do_not_matter_to_an_entry(cold, monkeypatch):
    def pendulum(body, joint):
        builder = hinge.Builder(body)
        builder.link("base")
        builder.link(body, 1.0, (0, 0, -1), np.eye(3))
        builder.joint(joint, "revolute", "base", body, axis=(0, 1, 0))
        return hinge.Robot(builder.build())

    first = pendulum("rod", "pivot").gravity_force([0.4])
    monkeypatch.setattr(backends, "compiled", never)  # it is traced once more, and its program is known
    assert same_bits(pendulum("bar", "pin").gravity_force([0.4]), first)


def test_whatever_changes_the_code_has_an_entry_of_its_own(cold):
    def robot(mass=1.0, armature=0.0, gravity=(0.0, 0.0, -9.81), ratio=2.0, kind="revolute"):
        builder = hinge.Builder("r", gravity)
        builder.link("base")
        builder.link("a", mass, (0.1, 0, 0), np.eye(3))
        builder.link("b", 1.0, (0.1, 0, 0), np.eye(3))
        builder.joint("one", kind, "base", "a", axis=(0, 1, 0), armature=armature)
        builder.joint("two", "revolute", "a", "b", (1, 0, 0), axis=(0, 1, 0), mimic=("one", ratio, 0.0))
        return hinge.Robot(builder.build())

    tiny = np.nextafter(1.0, 2.0)
    changes = [{}, {"mass": tiny}, {"armature": 1e-12}, {"gravity": (0.0, 0.0, -1.6)}, {"ratio": 2.5},
               {"kind": "prismatic"}]  # fmt: skip
    for change in changes:
        robot(**change).inverse_dynamics([0.1], [0.2], [0.3])
    assert len(files(cold)) == len(changes)
    arm = robot()
    arm.forward_dynamics([0.1], [0.2], [0.3])
    arm.forward_dynamics([0.1], [0.2], [0.3], method="composite_llt")
    arm.forward_dynamics([0.1], [0.2], [0.3], return_status=True)
    arm.kernel("forward_dynamics")(*np.ones((3, 1), np.float32))
    for _ in range(SEVERAL + 1):  # what is named a few times is not kept
        arm.forward_dynamics([0.1], [0.2], [0.3], external={"b": np.zeros(6)})
        arm.forward_dynamics([0.1], [0.2], [0.3], external={"b": np.zeros(6)}, external_frame="base")
        arm.jacobian([0.1], "b")
        arm.jacobian([0.1], "a")
        arm.jacobian([0.1], "b", frame="base")
    assert len(files(cold)) == len(changes) + 9


def test_an_entry_under_another_name_is_not_used(cold):
    hinge.samples.planar_2r().gravity_force(Q)
    (old,) = files(cold)
    want = hinge.samples.pendulum(2).gravity_force(Q)
    (new,) = set(files(cold)) - {old}
    whole = new.read_bytes()
    new.write_bytes(old.read_bytes())
    assert cache.find(new.stem) is None
    new.write_bytes(old.read_bytes())
    assert same_bits(hinge.samples.pendulum(2).gravity_force(Q), want)
    assert new.read_bytes() == whole


def _other_processor(patch, folder):
    patch.setattr(llvm.jit, "processor", lambda: ("another", "+none"))


def _other_llvm(patch, folder):
    patch.setattr("llvmlite.__version__", "0.0")


def _other_source(patch, folder):
    (folder / "hinge" / "backends").mkdir(parents=True)
    (folder / "hinge" / "one.py").write_text("x = 1")
    patch.setattr(cache, "__file__", str(folder / "hinge" / "backends" / "cache.py"))


@pytest.mark.parametrize("other", [_other_processor, _other_llvm, _other_source])
def test_an_entry_from_elsewhere_is_not_used(cold, monkeypatch, tmp_path, other):
    def key():
        cache._sources.cache_clear()
        llvm.jit.circumstances.cache_clear()
        return cache.key("robot", "algorithm", *llvm.BACKEND.key(np.dtype(float)))

    here = key()
    try:
        with monkeypatch.context() as patch:
            other(patch, tmp_path)
            there = key()
            cache.keep(there, b"code")
    finally:
        assert key() == here != there
    (cold / f"{there}.kernel").rename(cold / f"{here}.kernel")
    assert cache.find(here) is None


def test_keys_keep_their_parts_apart():
    assert len({cache.key("ab", "c"), cache.key("a", "bc"), cache.key("abc"), cache.key("c", "ab")}) == 4


def test_an_empty_name_switches_the_cache_off(tmp_path, monkeypatch):
    monkeypatch.setenv("HINGE_CACHE_DIR", "")
    monkeypatch.chdir(tmp_path)
    assert cache.folder() is None
    assert hinge.samples.planar_2r().gravity_force(Q).shape == (2,)
    cache.keep("name", b"code")
    assert cache.find("name") is None
    assert (cache.entries(), cache.clear(), files(tmp_path)) == ([], 0, [])


def test_joints_of_the_users_own_are_told_apart_by_what_they_do(cold, monkeypatch):
    made = {}
    for pitch in (0.1, 0.7):
        robot = with_joint(user_joint(pitch))
        made[pitch] = robot.inverse_dynamics(Q, Q, Q)
        np.testing.assert_allclose(made[pitch], robot.inverse_dynamics(Q, Q, Q, backend="interpret"), rtol=1e-13)
    one, other = (with_joint(user_joint(pitch)).model for pitch in made)
    assert one.digest == other.digest  # nothing but what they compute tells them apart
    assert len(files(cold)) == 2
    monkeypatch.setattr(cache, "keep", never)
    for pitch, tau in made.items():
        assert same_bits(with_joint(user_joint(pitch)).inverse_dynamics(Q, Q, Q), tau)


# ---- when it goes


@pytest.fixture
def checked(monkeypatch):
    """Every write compares the size of the cache with its limit."""
    monkeypatch.setattr(cache, "SLACK", 0)


@pytest.mark.usefixtures("checked")
def test_the_least_recently_used_go_first(cold, monkeypatch):
    code = bytes(1000)
    for age, name in enumerate(["d", "c", "b", "a"]):
        cache.keep(name, code)
        os.utime(cold / f"{name}.kernel", (1e9 - age, 1e9 - age))
    assert [path.stem for path, _ in cache.entries()] == ["a", "b", "c", "d"]
    assert cache.find("b") is not None  # used just now
    size = (cold / "a.kernel").stat().st_size
    monkeypatch.setattr(cache, "LIMIT", 3 * size)
    cache.keep("e", code)
    assert [path.stem for path, _ in cache.entries()] == ["d", "b", "e"]
    monkeypatch.setattr(cache, "LIMIT", 2 * size - 1)
    cache.keep("f", code)
    assert [path.stem for path, _ in cache.entries()] == ["f"]


@pytest.mark.usefixtures("checked")
def test_a_cache_too_small_for_anything_still_gives_answers(cold, monkeypatch):
    monkeypatch.setattr(cache, "LIMIT", 10)
    arm = hinge.samples.planar_2r()
    np.testing.assert_allclose(arm.gravity_force(Q), arm.gravity_force(Q, backend="interpret"), rtol=1e-13)
    assert files(cold) == []


def test_few_writes_check_the_size_of_the_cache(cold, monkeypatch):
    monkeypatch.setattr(cache, "LIMIT", 0)
    monkeypatch.setattr(cache, "SLACK", 100_000)
    left = []
    for k in range(500):
        cache.keep(f"entry {k}", bytes(1000))
        left.append(len(files(cold)))
    assert 2 <= left.count(0) <= 15  # one in a hundred
    assert max(left) < 400


@pytest.mark.usefixtures("checked")
def test_what_a_killed_process_left_goes_after_an_hour(cold):
    cold.mkdir()
    old, young = cold / "old.new", cold / "young.new"
    for path in (old, young):
        path.write_bytes(b"half")
    os.utime(old, (1e9, 1e9))
    cache.keep("a", b"code")
    assert files(cold) == [cold / "a.kernel", young]


# ---- the command line


def test_the_command_line_lists_and_clears_the_cache(cold):
    run = CliRunner().invoke
    arm = hinge.samples.planar_2r()
    arm.gravity_force(Q)
    arm.mass_matrix(Q)
    (old, new) = sorted(files(cold), key=lambda p: p.stat().st_mtime)
    os.utime(old, (1e9, 1e9))

    said = run(main, ["cache"])
    assert said.exit_code == 0
    lines = said.output.splitlines()
    rows = [[cell.strip() for cell in line.split("│")[1:4]] for line in lines if line.startswith("│")]
    assert rows == [[arm.name, "gravity_force", "llvm"], [arm.name, "mass_matrix", "llvm"]]
    size = sum(p.stat().st_size for p in (old, new))
    assert lines[-1] == f"2 kernels, {size / 2**20:.1f} MiB in {cold}"

    said = run(main, ["cache", "--json"])
    told = json.loads(said.output)
    assert (said.exit_code, told["folder"], told["bytes"]) == (0, str(cold), size)
    assert [one["file"] for one in told["entries"]] == [old.name, new.name]
    about = {"robot": arm.name, "algorithm": "gravity_force", "backend": "llvm", "numbers": "float64"}
    assert told["entries"][0] == about | {"file": old.name, "bytes": old.stat().st_size, "used": 1e9}

    said = run(main, ["cache", "--clear"])
    assert (said.exit_code, said.output) == (0, "removed 2 kernels\n")
    assert files(cold) == []
    said = run(main, ["cache", "--clear", "--json"])
    assert (said.exit_code, json.loads(said.output)) == (0, {"removed": 0})


def test_the_command_line_knows_a_cache_that_is_not_there(cold):
    said = CliRunner().invoke(main, ["cache"])
    assert (said.exit_code, said.output) == (0, f"0 kernels, 0.0 MiB in {cold}\n")
