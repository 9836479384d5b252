"""The laws hold for the plain interpreter, which is the meaning of every operation; agree/ carries them further."""

import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]
sys.path[1:1] = [str(TESTS / folder) for folder in ("derivatives", "mechanisms")]


@pytest.fixture(autouse=True)
def _plain_interpreter(monkeypatch):
    monkeypatch.setenv("HINGE_BACKEND", "interpret")
