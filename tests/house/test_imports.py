"""Imports go downward: a package uses those before it in ORDER and nothing after; and `import hinge` is light."""

import ast
import importlib.util
import re
import subprocess
import sys
from pathlib import Path

import pytest

import hinge

SOURCE = Path(__file__).parents[2] / "src" / "hinge"
ORDER = list(hinge.ROOMS)
FRONTS = {"__init__", "__main__", "cli"}  # nothing imports these, they may import everything
ALLOWED = {
    # what imports upward, and why it may
    (
        "model/samples.py",
        "formats",
    ): "the Puma 560 is published as a table, which puma560 reads when it is called",
}
HEAVY = {"llvmlite", "sympy", "click", "rich", "matplotlib", "mujoco", "platformdirs", "numba", "scipy",
         "xacro", "xacrodoc", "pinocchio", "viser", "trimesh", "pydrake", "pyarrow", "casadi"}  # fmt: skip


def files():
    return sorted(path for path in SOURCE.rglob("*.py"))


def room(path):
    """The package a file belongs to: its first folder below hinge, or its own name."""
    return path.relative_to(SOURCE).parts[0].removesuffix(".py")


def imported(path):
    """(line, room) for each import of hinge, also inside functions and under TYPE_CHECKING."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path.name}:{node.lineno}: relative import; write it from hinge on"
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        else:
            continue
        for parts in (name.split(".") for name in names):
            if parts[0] == "hinge":
                yield node.lineno, parts[1] if len(parts) > 1 else "__init__"


def upward():
    """(file, line, room) for each import that does not go downward."""
    for path in files():
        mine = room(path)
        for line, theirs in imported(path):
            if mine in FRONTS or theirs == mine:
                continue
            if theirs not in ORDER or ORDER.index(theirs) > ORDER.index(mine):
                yield path.relative_to(SOURCE).as_posix(), line, theirs


def test_every_file_belongs_to_a_package_whose_place_is_known():
    unknown = {room(path) for path in files()} - set(ORDER) - FRONTS
    assert not unknown, f"give these a place in ORDER, where data flows through them: {sorted(unknown)}"


def test_packages_import_downward_only():
    wrong = [
        f"{file}:{line} imports hinge.{theirs}" for file, line, theirs in upward() if (file, theirs) not in ALLOWED
    ]
    assert not wrong, "imports go downward, in the order " + ", ".join(ORDER) + ":\n" + "\n".join(wrong)


def test_every_exception_is_still_needed():
    assert set(ALLOWED) == {(file, theirs) for file, _, theirs in upward()} & set(ALLOWED)


def test_nothing_imports_the_whole_of_hinge_but_the_fronts():
    whole = [
        f"{path.relative_to(SOURCE).as_posix()}:{line}"
        for path in files()
        if room(path) not in FRONTS
        for line, theirs in imported(path)
        if theirs == "__init__"
    ]
    assert not whole


def test_the_upward_exceptions_are_inside_functions():
    for file, theirs in ALLOWED:
        tree = ast.parse((SOURCE / file).read_text(encoding="utf-8"))
        at_import = [n for n in tree.body if isinstance(n, ast.ImportFrom) and (n.module or "").startswith("hinge.")]
        assert not [n for n in at_import if n.module.split(".")[1] == theirs]


def modules_after(code):
    listed = subprocess.run(
        [sys.executable, "-c", f"import sys\n{code}\nprint(*sys.modules)"], capture_output=True, text=True, check=True
    )
    return {name.split(".")[0] for name in listed.stdout.split()}


def test_import_hinge_brings_in_numpy_and_nothing_heavy():
    brought = modules_after("import hinge; hinge.load")
    assert "numpy" in brought
    assert not brought & HEAVY


@pytest.mark.parametrize(
    "code",
    [
        'import hinge; hinge.load(\'<robot name="r"><link name="a"/></robot>\')',
        "import hinge; hinge.samples.puma560().inverse_dynamics(*[[0.0] * 6] * 3, backend='interpret')",
        "import hinge; print(hinge.samples.planar_2r().cost('mass_matrix'))",
    ],
    ids=["load", "interpret", "count"],
)
def test_what_needs_no_compiler_brings_in_none(code):
    assert not modules_after(code) & HEAVY


def script_imports():
    """(file, line, module, name) for each `from hinge… import name` of scripts, which few tests run."""
    root = SOURCE.parents[1]
    for path in sorted(path for folder in ("bench", "examples", "tests") for path in (root / folder).rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] == "hinge":
                for alias in node.names:
                    yield path.relative_to(root).as_posix(), node.lineno, node.module, alias.name


def test_what_scripts_import_exists():
    found, missing = 0, []
    for file, line, module, name in script_imports():
        spec = importlib.util.find_spec(module)
        found += 1
        if spec is None:
            missing.append(f"{file}:{line}: there is no {module}")
            continue
        if name == "*" or importlib.util.find_spec(f"{module}.{name}") if spec.submodule_search_locations else False:
            continue
        if not re.search(rf"\b{re.escape(name)}\b", Path(spec.origin).read_text(encoding="utf-8")):
            missing.append(f"{file}:{line}: {module} has no {name}")
    assert found > 500
    assert not missing, "\n".join(missing)
