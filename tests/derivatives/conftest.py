"""Derivatives are those of the plain interpreter, which is the meaning of every operation."""

import pytest


@pytest.fixture(autouse=True)
def _plain_interpreter(monkeypatch):
    monkeypatch.setenv("HINGE_BACKEND", "interpret")
