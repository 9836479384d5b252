"""Every extra is missed by name: where only the core is installed, what needs an extra says which; the rest works."""

import json
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import hinge
from hinge.cli import VERBS

ROOT = Path(__file__).parents[2]
EXTRAS = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
NOT_CALLED = {
    "test": "for the tests",
    "docs": "for the pages",
    "dev": "for those who change hinge",
    "jax": "asked for by its own arrays, which nobody has without it",
}


@pytest.fixture(scope="module")
def said(tmp_path_factory):
    """What each row says in one process that finds nothing but the core: (extra, name, [type, text, own] or None)."""
    pytest.importorskip("zarr")
    folder = tmp_path_factory.mktemp("core")
    hinge.simulate(hinge.samples.planar_2r(), 0.02, [0.1, 0.2], step=1e-2).save(folder / "run.zarr")
    script = Path(__file__).with_name("without_extras.py")
    made = subprocess.run(
        [sys.executable, script, folder], capture_output=True, text=True, check=False, cwd=folder, timeout=300
    )
    assert made.returncode == 0, made.stderr
    return json.loads(made.stdout)


def test_every_extra_and_every_command_has_a_row(said):
    assert {extra for extra, _, _ in said if extra} == EXTRAS.keys() - NOT_CALLED.keys()
    names = {" ".join(name.split()[:2]) for _, name, _ in said}
    assert {f"hinge {verb}" for verb in VERBS} <= names


def test_what_needs_an_extra_names_it(said):
    """By an error of hinge's own, with what to type."""
    wrong = [
        (extra, name, problem)
        for extra, name, problem in said
        if extra and not (problem and problem[2] and f'pip install "hinge[{extra}]"' in problem[1])
    ]
    assert wrong == []


def test_the_core_needs_no_extra(said):
    assert [(name, problem) for extra, name, problem in said if not extra and problem is not None] == []
