"""What pyproject.toml asks for: needed, bounded below, and bounded alike wherever it is named."""

import ast
from collections import defaultdict
from pathlib import Path

from lowest import BOUND, EXTRAS, PROJECT, RUNNERS, pinned, requirements

SOURCE = Path(__file__).parents[2] / "src" / "hinge"


def everywhere():
    return [*PROJECT["dependencies"], *(line for extra in PROJECT["optional-dependencies"].values() for line in extra)]


def imported():
    """The packages that the source imports, also inside functions."""
    for path in SOURCE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                yield from (alias.name.split(".")[0] for alias in node.names)
            elif isinstance(node, ast.ImportFrom):
                yield node.module.split(".")[0]


def test_every_package_the_core_asks_for_is_imported():
    names = {BOUND.fullmatch(line)["name"] for line in PROJECT["dependencies"]}
    assert "numpy" in names
    assert names - set(imported()) == set()


def test_every_package_has_a_lower_bound_and_one_alone():
    bounds = defaultdict(set)
    for line in everywhere():
        found = BOUND.fullmatch(line)
        assert found, f"{line!r} has no lower bound that `make lowest` can read"
        bounds[found["name"]].add(found["least"])
    assert {name: least for name, least in bounds.items() if len(least) > 1} == {}


def test_the_lowest_versions_are_those_of_the_file():
    assert pinned("pin>=3.1,<4; platform_system != 'Windows'") == "pin==3.1; platform_system != 'Windows'"
    lines = requirements()
    assert set(PROJECT["dependencies"]) <= set(lines)
    assert {BOUND.fullmatch(line)["name"] for line in lines} >= {"scipy", "zarr", "sympy", *RUNNERS}
    assert len(lines) == len(set(lines))
    assert set(EXTRAS) <= set(PROJECT["optional-dependencies"])
