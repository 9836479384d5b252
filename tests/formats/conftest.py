"""What is written and read back is compared by the plain interpreter."""

import pytest


@pytest.fixture(autouse=True)
def _plain_interpreter(monkeypatch):
    monkeypatch.setenv("HINGE_BACKEND", "interpret")
