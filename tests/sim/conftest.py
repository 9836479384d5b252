"""Simulations run on machine code."""

import pytest

import hinge


@pytest.fixture(autouse=True)
def _usual_threads():
    yield
    hinge.set_threads(None)
