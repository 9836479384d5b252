"""The examples run, and each makes its picture."""

import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = sorted((Path(__file__).parents[2] / "examples").glob("[0-9]*.py"))


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda p: p.stem)
def test_the_example_makes_a_picture(example, tmp_path):
    picture = tmp_path / "picture.png"
    run = subprocess.run([sys.executable, str(example), str(picture)], capture_output=True, text=True, timeout=120)
    assert run.returncode == 0, run.stderr
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert len(picture.read_bytes()) > 10_000


def test_there_are_examples():
    assert EXAMPLES
