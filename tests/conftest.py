"""What several folders of tests share; this file also puts this folder on the path."""

import gc
import os
import signal
from contextlib import suppress

import pytest
from sweeps import mark_sampled, part_of_sweep

# a shell starts what it runs in the background with Ctrl-C ignored, and children would inherit that
with suppress(ValueError):  # not in the main thread
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_configure():
    gc.set_threshold(50_000, 20, 100)  # robots stay in memory: to look through all of them takes seconds


@pytest.hookimpl(tryfirst=True)  # before -m chooses
def pytest_collection_modifyitems(config, items):
    mark_sampled(items)
    if part := os.environ.get("HINGE_SWEEP_PART"):
        items[:], left_out = part_of_sweep(items, part)
        config.hook.pytest_deselected(items=left_out)


@pytest.fixture(scope="session", autouse=True)
def _own_cache(tmp_path_factory):
    """Kernels are never taken from the user's own cache; what several tests of a run compile is compiled once."""
    base = tmp_path_factory.getbasetemp()  # one a worker, side by side
    folder = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "kernels"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HINGE_CACHE_DIR", str(folder))
        patch.delenv("HINGE_BACKEND", raising=False)
        patch.delenv("HINGE_THREADS", raising=False)
        yield


@pytest.fixture(scope="module")
def plain_interpreter():
    """Calls run on the plain interpreter: for files of many robots with a few calls each, and for its own meaning."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HINGE_BACKEND", "interpret")
        yield


@pytest.fixture(scope="module")
def machine_code():
    """Kernels are compiled at their first call, not only when they have been called often enough."""
    from hinge.backends.kernel import Kernel

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Kernel, "_code_for", lambda self, number, states: self.code(number))
        yield


@pytest.fixture
def folder(tmp_path):
    """Write files into a folder of their own: folder({"main.xml": text, …}) is the path of the first."""

    def written(files):
        for name, content in files.items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content) if isinstance(content, bytes) else path.write_text(content, encoding="utf-8")
        return tmp_path / next(iter(files))

    return written
