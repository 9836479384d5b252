"""Mechanisms are tried on the plain interpreter; test_machine_code carries a few of them to the compiled back end."""

import pytest

from hinge.model import JOINTS


@pytest.fixture(autouse=True)
def _plain_interpreter(monkeypatch):
    monkeypatch.setenv("HINGE_BACKEND", "interpret")


@pytest.fixture(autouse=True)
def _registry_as_it_was():
    """Joint classes that a test makes are gone after it: random trees draw from the registry."""
    kept = dict(JOINTS)
    yield
    JOINTS.clear()
    JOINTS.update(kept)
