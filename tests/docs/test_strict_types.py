"""What the tutorial and the README show passes mypy and pyright in strict mode, as it does in an editor."""

import json
import os
import re
import subprocess
import sys
import sysconfig
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parents[2]
PAGES = ("docs/tutorial.md", "README.md")
WRONG = """
hinge.smaples
arm.inverse_dynamics(q, qd, q, method="newton-euler")
arm.jacobian(q, "tool", frame="world")
hinge.simulate(arm, limits="stops")
arm.mass_matrix("0.1")
"""
KINDS = """
from typing import assert_type
from hinge.typing import Array, Single, Statuses

few = np.zeros(6, np.float32)
assert_type(arm.mass_matrix(np.zeros(6)), Array)
assert_type(arm.mass_matrix([0.0] * 6), Array)
assert_type(arm.mass_matrix(few), Single)
assert_type(arm.inverse_dynamics(few, few, few), Single)
assert_type(arm.inverse_dynamics(few, few, [0.0] * 6), Array)
assert_type(arm.forward_dynamics(np.zeros(6), few, few, return_status=True), tuple[Array, Statuses])
assert_type(arm.step(np.zeros(6), few, few, 1e-3), tuple[Array, Array])
assert_type(hinge.simulate(arm).q, Array)
assert_type(hinge.control.pd(arm, np.zeros(6))(0.0, np.zeros(6), np.zeros(6)), Array)
assert_type(hinge.motion.quintic(arm, np.zeros(6), np.ones(6))(0.5).qdd, Array)


class Tensor:  # of another library, as these show themselves
    @property
    def __cuda_array_interface__(self) -> dict[str, object]:
        return {}


assert_type(arm.mass_matrix(Tensor()), Tensor)
assert_type(arm.inverse_dynamics(Tensor(), [0.0] * 6, np.zeros(6), return_status=True), tuple[Tensor, Tensor])
"""


def blocks(page):
    return re.findall(r"^```python\n(.*?)^```", (ROOT / page).read_text(encoding="utf-8"), re.M | re.S)


@pytest.fixture(scope="module")
def scripts(tmp_path_factory):
    """A script of each page; one of the kinds of arrays that calls give; and one of faults, which come last in it."""
    folder = tmp_path_factory.mktemp("strict")
    texts = {Path(page).stem.lower(): "\n".join(blocks(page)) for page in PAGES}
    assert all(texts.values())
    texts |= {"kinds": texts["tutorial"] + KINDS, "faults": texts["tutorial"] + WRONG}
    for name, text in texts.items():
        (folder / f"{name}.py").write_text(text, encoding="utf-8")
    return folder


def told(scripts, command, **env):
    """The lines of each script at which a checker says that something is wrong."""
    made = subprocess.run(command, cwd=scripts, env=os.environ | env, capture_output=True, text=True)
    found = re.findall(r"(?:^|/)(\w+)\.py:(\d+)[^\n]*?\berror\b(.*)", made.stdout, re.M)
    assert found, made.stdout + made.stderr  # those of the faults at least
    wrong = {name: [line for one, *line in found if one == name] for name, *_ in found}
    last = len((scripts / "faults.py").read_text(encoding="utf-8").splitlines())
    assert {int(line) for line, _ in wrong.pop("faults")} == set(range(last - 4, last + 1)), made.stdout
    return wrong


@pytest.mark.sweep
def test_mypy_has_nothing_to_say_of_what_the_pages_show(scripts):
    pytest.importorskip("mypy", reason="mypy is not installed: `make lint` sets it up")
    command = [sys.executable, "-m", "mypy", "--strict", "--config-file=", "--follow-imports=silent", "."]
    assert told(scripts, command, MYPYPATH=str(ROOT / "src")) == {}


@pytest.mark.sweep
@pytest.mark.skipif(sys.platform == "win32", reason="the packages are linked")
def test_pyright_has_nothing_to_say_of_what_the_pages_show_nor_of_the_examples(scripts):
    """With hinge as an installed package, whose names are private unless it says otherwise."""
    pytest.importorskip("pyright", reason="pyright is not installed: `make lint` sets it up")
    version = sysconfig.get_python_version()
    site = scripts / "venv" / "lib" / f"python{version}" / "site-packages"
    site.mkdir(parents=True)
    for package in (ROOT / "src" / "hinge", Path(np.__file__).parent):
        (site / package.name).symlink_to(package)
    for example in (ROOT / "examples").glob("*.py"):
        text = "# pyright: basic, reportMissingImports=false\n" + example.read_text(encoding="utf-8")
        (scripts / example.name).write_text(text, encoding="utf-8")
    how = {"typeCheckingMode": "strict", "venvPath": ".", "venv": "venv", "pythonVersion": version}
    (scripts / "pyrightconfig.json").write_text(json.dumps(how))
    assert told(scripts, [sys.executable, "-m", "pyright", "-p", "."]) == {}
