"""Every `>>>` line in the source runs, and every public method of a robot has one."""

import doctest
import importlib
import inspect
from pathlib import Path

import numpy as np
import pytest

import hinge
from hinge.calls.libraries import LIBRARIES

SOURCE = Path(__file__).parents[2] / "src"
MODULES = sorted(
    ".".join(path.relative_to(SOURCE).with_suffix("").parts).removesuffix(".__init__") for path in SOURCE.rglob("*.py")
)
GLOBALS = {"hinge": hinge, "np": np}
METHODS = [name for name, f in inspect.getmembers(hinge.Robot, inspect.isfunction) if not name.startswith("_")]


def run(test):
    """What went wrong in a docstring's examples, as doctest prints it; empty where all is well."""
    wrong = []
    runner = doctest.DocTestRunner(verbose=False, optionflags=doctest.NORMALIZE_WHITESPACE)
    runner.run(test, out=wrong.append)
    return "".join(wrong)


def with_examples(module):
    finder = doctest.DocTestFinder(exclude_empty=True)
    return [test for test in finder.find(module, extraglobs=GLOBALS) if test.examples]


@pytest.mark.parametrize("name", MODULES)
def test_the_examples_in_a_module_run(name):
    try:
        module = importlib.import_module(name)
    except ModuleNotFoundError as missing:
        if missing.name not in {*LIBRARIES, "casadi"}:
            raise
        pytest.skip(f"{missing.name} is not installed")
    tests = with_examples(module)
    missed = inspect.getsource(module).count(">>> ") - sum(len(test.examples) for test in tests)
    assert missed <= 0, f"{name}: {missed} examples are in no docstring that doctest finds"
    for test in tests:
        assert run(test) == ""


@pytest.mark.parametrize("name", METHODS)
def test_every_public_method_has_words_and_an_example_that_runs(name):
    words = inspect.getdoc(getattr(hinge.Robot, name))
    assert words, f"Robot.{name} has no docstring"
    test = doctest.DocTestParser().get_doctest(words, dict(GLOBALS), f"Robot.{name}", None, None)
    assert test.examples, f"Robot.{name} has no >>> example"
    assert run(test) == ""


def test_a_wrong_example_would_be_found():
    test = doctest.DocTestParser().get_doctest(">>> 1 + 1\n3\n", {}, "wrong", None, None)
    assert "Expected" in run(test)
