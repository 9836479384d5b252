"""Kernels are tried on machine code."""

import pytest

import hinge


@pytest.fixture(autouse=True)
def _usual_threads():
    yield
    hinge.set_threads(None)


@pytest.fixture(autouse=True)
def _plain_cache(monkeypatch):
    """The cache as users have it: what it finds is not traced again."""
    monkeypatch.delenv("HINGE_CACHE", raising=False)


@pytest.fixture
def cold(tmp_path, monkeypatch):
    """A cache folder of the test's own, empty."""
    folder = tmp_path / "cold"
    monkeypatch.setenv("HINGE_CACHE_DIR", str(folder))
    return folder
