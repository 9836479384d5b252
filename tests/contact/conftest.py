import pytest


@pytest.fixture(autouse=True)
def _interpreted(monkeypatch):
    """Correctness is not the compiler's business here."""
    monkeypatch.setenv("HINGE_BACKEND", "interpret")
