"""The table of sweeps in docs/contract.md names what is there, with its parameters and defaults."""

import ast
import inspect
import re
from pathlib import Path

import pytest

import hinge

TEXT = (Path(__file__).parents[2] / "docs" / "contract.md").read_text(encoding="utf-8")
SECTION = TEXT.split("\n## Sweeps\n")[1].split("\n## ")[0]
TOLD = re.findall(r"`(hinge\.sweeps?(?:\.\w+)?)(\(.*?\))`", SECTION)


def test_the_tables_name_every_public_word():
    named = {name.split(".")[-1] for name, _ in TOLD}
    assert named == {name for name in hinge.sweeps.__all__ if name[0].islower()}
    cells = re.findall(r"^\| (`[^|]+) \|", SECTION.split("| attribute of `Sweep` | is |")[1], re.M)
    attributes = {name for cell in cells for name in re.findall(r"`(\w+)", cell)}
    assert attributes == {name for name in dir(hinge.sweeps.Sweep(None, None)) if name[0] != "_"} - {
        "question",
        "stored",
    }


@pytest.mark.parametrize(("name", "written"), TOLD, ids=[name for name, _ in TOLD])
def test_a_function_takes_what_the_contract_says(name, written):
    found = hinge
    for part in name.split(".")[1:]:
        found = getattr(found, part)
    function = ast.parse(f"def f{written}: ...").body[0]
    expression = ast.fix_missing_locations(ast.Expression(ast.Lambda(function.args, ast.Constant(0))))
    told = inspect.signature(eval(compile(expression, "", "eval")))
    there = inspect.signature(found)
    plain = lambda one: [(p.name, p.kind, p.default) for p in one.parameters.values()]
    assert plain(there) == plain(told)
