"""Joint classes that tests define are gone after each test."""

import pytest

from hinge.model import JOINTS


@pytest.fixture(autouse=True)
def _registry_as_it_was():
    """Joint classes that a test makes are gone after it: random trees draw from the registry."""
    kept = dict(JOINTS)
    yield
    JOINTS.clear()
    JOINTS.update(kept)
