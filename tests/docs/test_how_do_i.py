"""Each answer of docs/how-do-i.md runs by itself, as someone copies it who reads no more than that."""

import re
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "how-do-i.md"
ANSWERS = re.findall(r"^## … (.+?)\?\n(.*?)(?=^## |\Z)", PAGE.read_text(encoding="utf-8"), re.M | re.S)


@pytest.mark.sampled(8)
@pytest.mark.parametrize(("question", "answer"), ANSWERS, ids=[question for question, _ in ANSWERS])
def test_an_answer_runs_by_itself(question, answer, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # some write files
    (block,) = re.findall(r"```python\n(.*?)```", answer, re.S)
    for library in re.findall(r"^import (torch|jax|cupy|gymnasium|casadi)(?: as \w+)?$", block, re.M):
        pytest.importorskip(library, reason=f"{library} is not installed")
    exec(compile(block, question, "exec"), {})


def test_no_section_is_left_out():
    assert len(ANSWERS) == PAGE.read_text(encoding="utf-8").count("\n## ")
