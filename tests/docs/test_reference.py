"""The reference, which docs/made_pages.py makes, has every public name once, with all that a call takes."""

import inspect
import re
import sys
from pathlib import Path

import pytest

import hinge
from hinge.dynamics import ALGORITHMS

DOCS = Path(__file__).parents[2] / "docs"


@pytest.fixture(scope="module")
def listed():
    """Name → its call and its text, on all pages of the reference."""
    sys.path.insert(0, str(DOCS))
    try:
        import made_pages
    finally:
        sys.path.remove(str(DOCS))
    pages = [made_pages.robot(), made_pages.functions(), made_pages.errors()]
    pages += [made_pages.module_page(room, parts) for room, parts in made_pages.ROOMS.items()]
    entries = [
        one for page in pages for one in re.findall(r"^`{8}\{py:\w+\} ([\w.]+)([^\n]*)\n(.*?)^`{8}$", page, re.M | re.S)
    ]
    made = {name: (call, text) for name, call, text in entries}
    assert len(entries) == len(made), "a name is described twice"
    return made


def test_what_hinge_and_a_robot_have_is_there(listed):
    assert {f"hinge.{name}" for name in hinge.__all__} - set(listed) == {"hinge.samples"}
    assert {f"hinge.samples.{name}" for name in hinge.samples.__all__} <= set(listed)
    public = {name for name in dir(hinge.Robot) if not name.startswith("_")}
    assert {f"hinge.Robot.{name}" for name in public} - set(listed) == set()


def test_what_the_contract_names_is_there(listed):
    text = (DOCS / "contract.md").read_text(encoding="utf-8")
    named = set(re.findall(r"`(hinge(?:\.\w+)+)\(", text))
    assert len(named) > 60
    assert named - set(listed) == set()


@pytest.mark.parametrize("name", [*ALGORITHMS, "kernel", "derivatives", "random_state"])
def test_a_call_is_shown_with_everything_it_takes(listed, name):
    takes = set(inspect.signature(getattr(hinge.Robot, name)).parameters) - {"self"}
    assert takes <= set(re.findall(r"\w+", listed[f"hinge.Robot.{name}"][0]))


def test_what_two_stars_stand_for_is_said(listed):
    starred = {name: re.findall(r"\*\*(\w+)", call) for name, (call, _) in listed.items() if "**" in call}
    assert len(starred) > 20
    other = ("`hinge.load`", "`hinge.rollout`", "`sympy.latex`", "`VectorEnv`")  # whose options they are
    for name, (rest,) in starred.items():
        text = listed[name][1]
        assert f"`**{rest}`" in text or any(one in text for one in other), name


def test_every_name_has_words(listed):
    assert [name for name, (_, text) in listed.items() if not text.strip()] == []
