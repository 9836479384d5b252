"""Files are read and written back for the plain interpreter, which compiles nothing."""

import pytest


@pytest.fixture(autouse=True)
def _plain_interpreter(monkeypatch):
    monkeypatch.setenv("HINGE_BACKEND", "interpret")
