"""Type checkers see every source file: a fault planted in any one of them is found."""

import ast
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import hinge

pytest.importorskip("mypy", reason="mypy is not installed: `make lint` sets it up")

ROOT = Path(__file__).parents[2]
FAULT = '\n\ndef planted() -> int:\n    return "text"\n'
GENERATED = {"robot/algorithms.pyi"}  # the file it shadows has no more than a class and a call


@pytest.fixture(scope="module")
def house(tmp_path_factory):
    """A copy of the sources, and of what mypy is told about them."""
    copy = tmp_path_factory.mktemp("typed")
    shutil.copy(ROOT / "pyproject.toml", copy)
    shutil.copytree(ROOT / "src", copy / "src", ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"))
    return copy


def faults(house):
    """What `make lint` says of the types."""
    made = subprocess.run([sys.executable, "-m", "mypy"], cwd=house, capture_output=True, text=True)
    assert not made.stderr
    return [line for line in made.stdout.splitlines() if ": error: " in line]


@pytest.mark.sweep  # checks the whole package anew
def test_a_wrong_type_is_found_in_the_front_and_in_the_files_it_inherits_from(house):
    planted = ["robot/robot.py", "loops/mobility.py", "geometry/methods.py"]
    for name in planted:
        path = house / "src" / "hinge" / name
        path.write_text(path.read_text(encoding="utf-8") + FAULT, encoding="utf-8")
    found = faults(house)
    assert sorted(line.split(":")[0] for line in found) == sorted(f"src/hinge/{name}" for name in planted)
    assert all('got "str", expected "int"' in line for line in found)


def test_checkers_see_every_room_and_every_public_name():
    tree = ast.parse((ROOT / "src" / "hinge" / "__init__.py").read_text(encoding="utf-8"))
    (block,) = (node for node in tree.body if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING")
    imported = {alias.name for node in block.body for alias in node.names}
    assert imported == {*hinge.ROOMS, *hinge.__all__} - {"version"}


def test_no_stub_hides_a_file_with_code_of_its_own():
    source = ROOT / "src" / "hinge"
    assert {path.relative_to(source).as_posix() for path in source.rglob("*.pyi")} == GENERATED
    body = (source / "robot" / "algorithms.py").read_text(encoding="utf-8")
    assert "def " not in body
