"""A small robot file, and the command line said to in words; compiled code goes to a folder of the tests' own."""

import pytest
from saying import LAMP


@pytest.fixture(scope="session")
def shared_cache(tmp_path_factory):
    """One folder for all tests, so that a kernel is compiled once."""
    return tmp_path_factory.mktemp("kernels")


@pytest.fixture(autouse=True)
def _own_cache(shared_cache, monkeypatch):
    monkeypatch.setenv("HINGE_CACHE_DIR", str(shared_cache))
    monkeypatch.delenv("HINGE_BACKEND", raising=False)
    monkeypatch.delenv("HINGE_THREADS", raising=False)


@pytest.fixture
def lamp(tmp_path):
    path = tmp_path / "lamp.urdf"
    path.write_text(LAMP)
    return str(path)
