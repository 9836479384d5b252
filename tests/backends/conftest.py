"""Nothing here compiles with LLVM: the plain interpreter is what other back ends are compared with."""

import pytest


@pytest.fixture(autouse=True)
def _plain(monkeypatch):
    monkeypatch.setenv("HINGE_BACKEND", "interpret")
