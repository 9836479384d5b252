"""Machine code is compiled here and now, and never taken from the user's own cache."""

import pytest


@pytest.fixture(scope="session", autouse=True)
def _own_cache(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HINGE_CACHE_DIR", str(tmp_path_factory.mktemp("kernels")))
        yield
