"""Tests run on the back end that users have, unless a file gives a reason."""

import re
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]


@pytest.mark.parametrize("path", sorted(TESTS.rglob("conftest.py")), ids=lambda path: path.parent.name)
def test_no_directory_chooses_a_back_end(path):
    text = path.read_text(encoding="utf-8")
    for fixture in re.split(r"(?=^@pytest\.fixture)", text, flags=re.MULTILINE):
        if "autouse=True" in fixture:
            assert not re.search(r"setenv\(\s*.HINGE_BACKEND", fixture), fixture
