"""Derivatives are tried on the robots of the laws, of the mechanisms and of other libraries."""

import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]
sys.path[1:1] = [str(TESTS / folder) for folder in ("laws", "mechanisms", "agree")]


@pytest.fixture
def plain_interpreter(monkeypatch):
    """Calls run on the plain interpreter, which is the meaning of every operation and compiles nothing."""
    monkeypatch.setenv("HINGE_BACKEND", "interpret")
