"""The code on the documentation pages runs, their tables are whole, and the contents have them all."""

import re
import tomllib
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
PAGES = [p for p in sorted(DOCS.glob("*.md")) if "```python" in p.read_text("utf-8")]
READ_FROM_THE_TOP = [p for p in PAGES if p.stem != "how-do-i"]  # the answers there stand alone: test_how_do_i.py


@pytest.mark.sampled(8)
@pytest.mark.parametrize("page", READ_FROM_THE_TOP, ids=lambda p: p.stem)
def test_the_code_on_the_page_runs(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # a page may write files
    names, blocks = {}, re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), re.S)
    for block in blocks:  # a page is read from its top
        for library in re.findall(r"^import (torch|jax|gymnasium|casadi)(?: as \w+)?$", block, re.M):
            pytest.importorskip(library, reason=f"{library} is not installed")
        exec(compile(block, page.name, "exec"), names)


def test_there_is_a_page_with_code():
    assert PAGES


def test_every_row_of_a_table_has_as_many_cells_as_its_head():
    for page in DOCS.glob("*.md"):
        text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.S)
        for table in re.findall(r"(?:^\|.*\n)+", text + "\n", re.M):
            cells = [len(re.split(r"(?<!\\)\|", row)) for row in table.splitlines()]
            assert len(set(cells)) == 1, f"{page.name}: {table.splitlines()[cells.index(max(cells))]}"


def test_every_page_is_in_the_contents():
    listed = re.findall(r"^(?:_made/)?[\w-]+$", (DOCS / "index.md").read_text(encoding="utf-8"), re.M)
    assert len(listed) == len(set(listed))
    assert {page.stem for page in DOCS.glob("*.md")} - {"index"} == {name for name in listed if "_made" not in name}


def test_the_page_on_installing_has_every_extra():
    extras = tomllib.loads((DOCS.parent / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    rows = re.findall(r"^\| (`[^|]+) \|", (DOCS / "install.md").read_text(encoding="utf-8"), re.M)
    assert {name for row in rows for name in re.findall(r"`([a-z]+)`", row)} == set(extras["optional-dependencies"])
