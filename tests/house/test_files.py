"""The files themselves: listed on the map, without leftovers or paths of somebody's machine."""

import re
from collections import Counter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "hinge"
TEXT = {".py", ".pyi", ".md", ".toml", ".txt", ".cfg", ".yaml", ".yml", ".ipynb"}

# spelled so that this file does not find itself
LEFTOVER = re.compile("|".join([r"\bTO" + r"DO\b", r"\bFIX" + r"ME\b", r"\bX" + r"XX\b"]))
MACHINE_PATH = re.compile(r"(?<![\w/:.])(?:/(?:home|Users|root|work|tmp|mnt|private|opt)/\w|[A-Z]:\\\w)")


def texts(*folders):
    for folder in folders:
        for path in sorted((ROOT / folder).rglob("*")):
            if path.suffix in TEXT and "__pycache__" not in path.parts:
                yield path


def lines_with(pattern, *folders):
    return [
        f"{path.relative_to(ROOT).as_posix()}:{k}: {line.strip()}"
        for path in texts(*folders)
        for k, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1)
        if pattern.search(line)
    ]


@pytest.mark.parametrize("pattern", [LEFTOVER, MACHINE_PATH], ids=["leftovers", "paths of a machine"])
def test_nothing_is_left_lying_about(pattern):
    found = lines_with(pattern, "src", "tests", "docs", "examples", "bench")
    assert not found, "\n".join(found)


def test_the_patterns_find_what_they_are_for():
    for line in ("see /ho" + "me/me/x.urdf", '"/wo' + 'rk/main"', "C:" + "\\Users\\me", "# TO" + "DO later"):
        assert LEFTOVER.search(line) or MACHINE_PATH.search(line), line
    for line in ("package://home/x", "https://a.b/home/x", "docs/home/x", "todo", "a/tmp/b"):
        assert not LEFTOVER.search(line), line
        assert not MACHINE_PATH.search(line), line


# ---- docs/map.md


def on_the_map():
    """The files that docs/map.md names, in its order: `graph/expr.py` at the start of a table row or a list item."""
    text = (ROOT / "docs" / "map.md").read_text(encoding="utf-8")
    return re.findall(r"^[|\-*]\s*`([\w/.]+\.pyi?)`", text, re.MULTILINE)


def test_the_map_lists_every_source_file_once():
    listed = Counter(on_the_map())
    there = {p.relative_to(SOURCE).as_posix() for p in SOURCE.rglob("*.py*") if p.suffix in (".py", ".pyi")}
    assert {name for name, n in listed.items() if n > 1} == set(), "listed twice in docs/map.md"
    assert there - set(listed) == set(), "not in docs/map.md: add a line that says what the file is for"
    assert set(listed) - there == set(), "in docs/map.md, but there is no such file"


def test_the_map_follows_the_order_in_which_data_flows():
    from test_imports import ORDER

    rooms = [name.split("/")[0].removesuffix(".py") for name in on_the_map()]
    known = [r for r in rooms if r in ORDER]
    assert known == sorted(known, key=ORDER.index)


def test_every_line_of_the_map_says_something():
    text = (ROOT / "docs" / "map.md").read_text(encoding="utf-8")
    silent = [line for line in text.splitlines() if re.match(r"[|\-*]\s*`", line) and len(line.split("`", 2)[2]) < 15]
    assert not silent
