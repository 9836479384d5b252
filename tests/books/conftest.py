"""The books are checked with the plain interpreter, which is the meaning of every operation; agree/ carries it on."""

import pytest


@pytest.fixture(autouse=True)
def _plain_interpreter(monkeypatch):
    monkeypatch.setenv("HINGE_BACKEND", "interpret")
