"""The code on the documentation pages runs."""

import re
from pathlib import Path

import pytest

PAGES = [p for p in sorted((Path(__file__).parents[2] / "docs").glob("*.md")) if "```python" in p.read_text("utf-8")]
READ_FROM_THE_TOP = [p for p in PAGES if p.stem != "how-do-i"]  # the answers there stand alone: test_how_do_i.py


@pytest.mark.parametrize("page", READ_FROM_THE_TOP, ids=lambda p: p.stem)
def test_the_code_on_the_page_runs(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # a page may write files
    names, blocks = {}, re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), re.S)
    for library in re.findall(r"^import (torch|jax|gymnasium)$", "".join(blocks), re.M):
        pytest.importorskip(library, reason=f"{library} is not installed")
    for block in blocks:  # a page is read from its top
        exec(compile(block, page.name, "exec"), names)


def test_there_is_a_page_with_code():
    assert PAGES
