"""The section on optimal control in docs/contract.md: its calls are there, with these parameters and these defaults."""

import ast
import inspect
import re
from pathlib import Path

import pytest

import hinge

TEXT = (Path(__file__).parents[2] / "docs" / "contract.md").read_text(encoding="utf-8").replace("\\|", "|")
SECTION = TEXT.split("\n## Optimal control\n")[1].split("\n## ")[0]
CALLS = re.findall(r"`hinge\.optimal\.(\w+)(\(.*?\))`", SECTION)


def test_the_table_names_every_public_call():
    given = {"Equilibrium", "Follower", "Mode", "Regulator", "Rolled", "Solution"}  # by calls, and made by nobody
    assert {name for name, _ in CALLS} == set(hinge.optimal.__all__) - given
    assert all(f"`{name}`" in SECTION or f"`{name}(" in SECTION for name in given)


@pytest.mark.parametrize(("name", "written"), CALLS, ids=[name for name, _ in CALLS])
def test_a_call_has_the_parameters_and_defaults_the_contract_says(name, written):
    first = re.sub(r'("\w+")(?:\|"\w+")+', r"\1", written)
    told = ast.parse(f"def f{first}: ...").body[0].args
    there = list(inspect.signature(getattr(hinge.optimal, name)).parameters.values())
    assert [a.arg for a in (*told.args, *([told.kwarg] if told.kwarg else []))] == [p.name for p in there]
    assert [ast.literal_eval(d) for d in told.defaults] == [p.default for p in there if p.default is not p.empty]


def test_what_they_give_has_the_fields_the_contract_says():
    for found in (hinge.optimal.Equilibrium, hinge.optimal.Mode, hinge.optimal.Rolled):
        assert f"`{found.__name__}({', '.join(found._fields)})`" in SECTION
    arm = hinge.samples.planar_2r()
    problem = hinge.optimal.Problem(arm, 3, 0.1, [hinge.optimal.effort()])
    solution = hinge.optimal.ddp(problem, [[0.0, 0.0]] * 4)
    text = SECTION[SECTION.index("A `Solution` has") :]
    sizes = {"horizon + 1": 4, "horizon": 3, "nq": 2, "nv": 2, "nu": 2, "2 nv": 4}
    told = re.findall(r"`?(\w+)`? \((…, )?([^)…]+)\)", text.split(": OK")[0] + re.search(r"`gains` \(.*?\)", text)[0])
    assert [name for name, *_ in told] == ["q", "qd", "u", "tau", "t", "gains"]
    for name, many, shape in told:
        assert getattr(solution, name).shape == (*((4,) if many else ()), *(sizes[n] for n in shape.split(", ")))
    for name in ("cost", "status", "optimality", "gap", "violation"):
        assert f"`{name}`" in text
        assert getattr(solution, name).shape == (4,)
    for name in ("problem", "method", "trajectory", "table"):
        assert f"`{name}`" in text
        assert getattr(solution, name) is not None
    for name, written in re.findall(r"`(\w+)(\([^`]*\))`", text):
        there = inspect.signature(getattr(solution, name)).parameters.values()
        defaults = {p.name: p.default for p in there}
        assert defaults == {a: ast.literal_eval(b) for a, b in re.findall(r"(\w+)=(\w+)", written)}
