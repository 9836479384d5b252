"""The tables of motions and controllers in docs/contract.md name what is there, with its parameters and defaults."""

import ast
import inspect
import re
from pathlib import Path

import numpy as np
import pytest

import hinge

TEXT = (Path(__file__).parents[2] / "docs" / "contract.md").read_text(encoding="utf-8").replace("\\|", "|")
TOLD = re.findall(r"`(hinge\.(?:motion|control)\.\w+|hinge\.check_motion)(\(.*?\))`", TEXT)


def parameters(written):
    """Parameter → its default as written, the first of several words; `...` where it has to be given."""
    first = re.sub(r'("\w+")(?:\|"\w+")+', r"\1", written).replace("2π", "np.pi * 2")
    call = ast.parse(f"f{first}", mode="eval").body
    made = {one.id: ... for one in call.args}
    return made | {one.arg: eval(ast.unparse(one.value), {"np": np}) for one in call.keywords}


def test_the_tables_name_every_public_function():
    named = {name.split(".")[-1] for name, _ in TOLD}
    public = {name for room in (hinge.motion, hinge.control) for name in room.__all__ if name[0].islower()}
    assert named == public


@pytest.mark.parametrize(("name", "written"), TOLD, ids=[name for name, _ in TOLD])
def test_a_function_takes_what_the_contract_says(name, written):
    found = hinge
    for part in name.split(".")[1:]:
        found = getattr(found, part)
    there = inspect.signature(found).parameters.values()
    assert {p.name: ... if p.default is p.empty else p.default for p in there} == parameters(written)
