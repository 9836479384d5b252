"""The mutation tool makes each kind of change, counts what tests notice, and leaves the sources as they are."""

import sqlite3
import subprocess
import sys

import mutants
import pytest

SOURCE = b'''"""Text + text."""
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from x import y


def sum_of(a: "int < 3", b: int = 2) -> "a + b":
    """Return the sum."""
    if not a < b and True:
        raise ValueError(f"{a + b}" "or")
    rows.append(key(a, order="C"))
    key.size = (a, b)
    return (-a  # and, +
            - b) is not None
'''

CHANGES = {
    "not removed": ["if a < b and True:"],
    "comparison swapped": ["if not a <= b and True:", "- b) is None"],
    "and, or swapped": ["if not a < b or True:"],
    "operation swapped": ["+ b) is not None"],
    "sign removed": ["return (a  # and, +"],
    "constant changed": ["def sum_of(a: \"int < 3\", b: int = 3) -> \"a + b\":", "if not a < b and False:"],
    "statement dropped": ["pass", "pass", "pass"],
    "component 'a' dropped": ["key.size = (b,)"],
    "component 'b' dropped": ["key.size = (a,)"],
    "keyword 'order' dropped": ["rows.append(key(a, ))"],
}  # fmt: skip


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A package of one function, and two test files, one of which notices what the function returns."""
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")  # starting them takes longer than these tests
    sources, tests = tmp_path / "src/half", tmp_path / "tests"
    sources.mkdir(parents=True)
    tests.mkdir()
    (sources / "__init__.py").write_text("def half(x):\n    return x / 2\n")
    (tests / "test_half.py").write_text("from half import half\ndef test_half():\n    assert half(6) == 3\n")
    (tests / "test_other.py").write_text("def test_fails_anyway():\n    assert False\n")
    return sources, tests, tmp_path


def test_each_kind_of_change_is_made_and_nothing_else():
    changes = {}
    for mutant in mutants.mutants_of("file.py", SOURCE):
        assert mutants.changes_program(mutant, SOURCE)
        before, after = SOURCE.decode().split("\n"), mutant.apply(SOURCE).decode().split("\n")
        changed = next(new for old, new in zip(before, after, strict=False) if old != new)
        changes.setdefault(mutant.kind, []).append(changed.strip())
    assert changes == CHANGES


def test_mutants_are_those_of_their_seed():
    first, again, other = (mutants.draw(mutants.SOURCES, 12, seed, "sim") for seed in (1, 1, 2))
    assert first == again != other
    assert len(set(first)) == 12
    assert {mutant.file.split("/")[0] for mutant in first} == {"sim"}
    for mutant in first:
        assert mutants.changes_program(mutant, (mutants.SOURCES / mutant.file).read_bytes())


def test_a_package_that_is_not_there_is_refused():
    with pytest.raises(SystemExit, match="there is no 'simm'"):
        mutants.draw(mutants.SOURCES, 1, 0, "simm")


def test_closest_tests_use_what_is_changed():
    source = (mutants.SOURCES / "optimal/mppi.py").read_bytes()
    place = source.index(b"temperature")
    mutant = mutants.Mutant("optimal/mppi.py", place, place + 1, "", "a change")
    near = mutants.closest_tests(mutant, source, mutants.ROOT / "tests", 2)
    assert any("mppi" in path.read_text(encoding="utf-8") for path in near)


def numbits(*lines):
    bits = bytearray(max(lines) // 8 + 1)
    for line in lines:
        bits[line // 8] |= 1 << line % 8
    return bytes(bits)


def test_tests_that_execute_a_line_come_first(tmp_path):
    source = b"x = 1\nif x:\n    y = (2 +\n         3)\nz = 4\n"
    assert [list(mutants.statement_lines(source, line)) for line in (1, 2, 3, 4, 5)] == [[1], [2], [3, 4], [3, 4], [5]]
    names = ["", "test_a.py::narrow|run", "test_a.py::wide|run", "test_b.py::near[1]|run", "test_a.py::other"]
    with sqlite3.connect(tmp_path / "recorded") as rows:
        rows.execute("create table file (id integer, path text)")
        rows.execute("create table context (id integer, context text)")
        rows.execute("create table line_bits (file_id integer, context_id integer, numbits blob)")
        rows.executemany("insert into file values (?, ?)", [(1, "/a/src/hinge/sim/a.py"), (2, "/a/src/hinge/b.py")])
        rows.executemany("insert into context values (?, ?)", enumerate(names))
        bits = [(1, 0, (1, 2, 3)), (1, 1, (3,)), (1, 2, (2, 3, 80)), (1, 3, (4, 900)), (1, 4, (5,)), (2, 4, (3,))]
        rows.executemany("insert into line_bits values (?, ?, ?)", [(*ids, numbits(*lines)) for *ids, lines in bits])
    change = mutants.Mutant("sim/a.py", source.index(b"2 +"), source.index(b"2 +") + 1, "1", "a change")
    coverage = mutants.Coverage(tmp_path / "recorded")
    assert coverage.tests_of(change, source, []) == ["test_a.py::narrow", "test_a.py::wide", "test_b.py::near[1]"]


def test_mutants_are_killed_or_survive(project):
    sources, tests, root = project
    source = (sources / "__init__.py").read_bytes()
    noticed, same = (
        mutants.Mutant("__init__.py", source.index(old), source.index(old) + len(old), new, "a change")
        for old, new in ((b"/ 2", "/ 3"), (b"x / 2", "0.5 * x"))
    )
    results = list(mutants.run([noticed, same], sources, tests, root, files=2, workers=1))
    assert results == [(noticed, "tests/test_half.py::test_half"), (same, "")]
    assert (sources / "__init__.py").read_bytes() == source


def test_tests_that_do_not_exist_kill_nothing(project):
    sources, _, root = project
    source = (sources / "__init__.py").read_bytes()
    place = source.index(b"/ 2")
    noticed, same = (mutants.Mutant("__init__.py", place, place + 3, new, "a change") for new in ("/ 3", "/ 2.0"))
    group = ["tests/test_half.py::test_gone", "tests/test_half.py::test_half"]
    with mutants.Trials(sources, root) as trials:
        assert trials.killer(noticed, [group]) == "tests/test_half.py::test_half"
        assert trials.killer(same, [group]) == ""


def test_endless_loops_are_killed(project):
    sources, _, root = project
    source = (sources / "__init__.py").read_bytes()
    place = source.index(b"return")
    endless = mutants.Mutant("__init__.py", place, place, "while True: pass\n    ", "a loop")
    with mutants.Trials(sources, root, limit=3) as trials:
        assert trials.killer(endless, [["tests/test_half.py"]]) == "tests/test_half.py (ran out of time)"


def test_the_command_lists_mutants():
    command = [sys.executable, mutants.__file__, "--number", "3", "--package", "keys.py", "--list"]
    listed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert listed.count("src/hinge/keys.py:") == 3
