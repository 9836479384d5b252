"""Motions are numbers from NumPy; what they ask of robots runs in the plain interpreter."""

import pytest


@pytest.fixture(autouse=True)
def _plain_interpreter(monkeypatch):
    monkeypatch.setenv("HINGE_BACKEND", "interpret")
