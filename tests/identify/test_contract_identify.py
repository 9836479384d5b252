"""The calls of hinge.identify are those the contract tells, with these parameters and defaults."""

import inspect
import re
from pathlib import Path

import pytest

import hinge

TEXT = (Path(__file__).parents[2] / "docs" / "contract.md").read_text(encoding="utf-8")
CALLS = re.findall(r"^\| `hinge\.identify\.(\w+)\((.*?)\)` \|", TEXT, re.M)


@pytest.mark.parametrize(("name", "written"), CALLS)
def test_a_call_is_as_told(name, written):
    there = inspect.signature(getattr(hinge.identify, name)).parameters.values()
    made = ", ".join(p.name if p.default is p.empty else f"{p.name}={p.default!r}" for p in there)
    assert made.replace("'", '"') == written


def test_every_function_is_told():
    told = {name for name, _ in CALLS}
    results = {"Base", "Excitation", "Fit", "pseudo_inertia"}  # what calls give, and a helper
    assert told == set(hinge.identify.__all__) - results
