"""Kernels are tried on machine code, and never touch the user's own cache."""

import pytest

import hinge


@pytest.fixture(scope="session")
def shared_cache(tmp_path_factory):
    """One folder for all tests that do not care, so that a kernel is compiled once."""
    return tmp_path_factory.mktemp("kernels")


@pytest.fixture(scope="module", autouse=True)
def _own_cache(shared_cache):
    """Set for a whole module, before any of its fixtures makes a kernel."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HINGE_CACHE_DIR", str(shared_cache))
        patch.delenv("HINGE_BACKEND", raising=False)
        patch.delenv("HINGE_THREADS", raising=False)
        yield


@pytest.fixture(autouse=True)
def _usual_threads():
    yield
    hinge.set_threads(None)


@pytest.fixture
def cold(tmp_path, monkeypatch):
    """A cache folder of the test's own, empty."""
    folder = tmp_path / "cold"
    monkeypatch.setenv("HINGE_CACHE_DIR", str(folder))
    return folder
