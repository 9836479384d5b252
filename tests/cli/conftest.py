"""A small robot file, and the command line said to in words."""

import pytest
from saying import LAMP


@pytest.fixture
def lamp(tmp_path):
    path = tmp_path / "lamp.urdf"
    path.write_text(LAMP)
    return str(path)
