"""The Planning section of docs/contract.md: its calls are there, with these parameters and these defaults."""

import ast
import inspect
import re
from pathlib import Path

import pytest

import hinge

TEXT = (Path(__file__).parents[2] / "docs" / "contract.md").read_text(encoding="utf-8")
SECTION = TEXT.split("\n## Planning\n")[1].split("\n## ")[0]
CALLS = re.findall(r"^\| `hinge\.(\w+)\((.*?)\)` \|", SECTION, re.MULTILINE)


def test_the_calls_are_found():
    assert [name for name, _ in CALLS] == ["inverse_kinematics", "hand_accelerations", "time_optimal", "time_uniform"]


@pytest.mark.parametrize(("name", "written"), CALLS)
def test_a_call_has_the_parameters_and_defaults_the_contract_says(name, written):
    told = ast.parse(f"def f({written}): ...").body[0].args
    there = inspect.signature(getattr(hinge, name)).parameters
    assert [a.arg for a in told.args] == list(there)
    defaults = [p.default for p in there.values() if p.default is not p.empty]
    assert [ast.literal_eval(d) for d in told.defaults] == defaults


def test_what_they_give_has_the_fields_the_contract_says():
    assert hinge.Reached._fields == ("q", "status", "error")
    assert hinge.planning.Limit._fields == ("joint", "kind", "share")
    for name in ("most", "support", "facets", "vertices"):
        assert f"`{name}(" in SECTION
        assert hasattr(hinge.Accelerations, name)
    for name in ("duration", "s", "limiting"):
        assert re.search(rf"`{name}[`(]", SECTION)
        assert hasattr(hinge.Timed, name)
