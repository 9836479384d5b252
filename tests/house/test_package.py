"""What is handed out: wheel and source archive, and papers that say of them what is so."""

import os
import re
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest
from lowest import PROJECT

import hinge

ROOT = Path(__file__).parents[2]
KINDS = ("Changed", "Gone", "Mended", "Security", "New")  # of changes, in the order a release lists them
SAYING = (
    "import hinge, sys; print(hinge.__file__, hinge.__version__, *hinge.samples.planar_2r().gravity_force([0.0, 0.0]))"
)


def text(name):
    return (ROOT / name).read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """A source archive of the repository, and a wheel built from that archive alone."""
    pytest.importorskip("hatchling")
    folder = tmp_path_factory.mktemp("built")
    _build(ROOT, "sdist", folder)
    (archive,) = folder.glob("*.tar.gz")
    with tarfile.open(archive) as inside:
        inside.extractall(folder, filter="data")
    _build(folder / f"hinge-{hinge.__version__}", "wheel", folder)
    (wheel,) = folder.glob("*.whl")
    return archive, wheel


def _build(source, what, target):
    command = [sys.executable, "-m", "hatchling", "build", "--target", what, "--directory", target]
    subprocess.run(command, cwd=source, check=True, capture_output=True)


def test_the_wheel_has_every_source_file_and_nothing_else(built):
    inside = {name for name in zipfile.ZipFile(built[1]).namelist() if ".dist-info/" not in name}
    sources = (path for path in (ROOT / "src" / "hinge").rglob("*") if path.is_file() and path.suffix != ".pyc")
    assert inside == {path.relative_to(ROOT / "src").as_posix() for path in sources}
    assert "hinge/py.typed" in inside


def test_the_source_archive_can_be_tested(built):
    with tarfile.open(built[0]) as archive:
        top = {name.split("/")[1] for name in archive.getnames()}
    assert top >= {"src", "tests", "docs", "examples", "Makefile", "pyproject.toml", "LICENSE", "CHANGELOG.md"}
    assert not top & {".venv", ".git", ".ci", ".github"}


@pytest.mark.sweep
def test_the_wheel_installs_and_computes(built, tmp_path):
    place = tmp_path / "installed"
    install = ["install", "--quiet", "--no-deps", "--no-index", "--no-compile", "--target", place, built[1]]
    subprocess.run([sys.executable, "-m", "pip", *install], check=True, capture_output=True)
    alone = os.environ | {"PYTHONPATH": str(place)}
    ran = subprocess.run([sys.executable, "-c", SAYING], env=alone, cwd=tmp_path, capture_output=True, text=True)
    file, version, *forces = ran.stdout.split()
    assert Path(file).is_relative_to(place)
    assert version == hinge.__version__
    assert [float(x) for x in forces] == hinge.samples.planar_2r().gravity_force([0.0, 0.0]).tolist()
    command = place / "bin" / "hinge" if os.name == "posix" else place / "Scripts" / "hinge.exe"
    said = subprocess.run([command, "--version"], env=alone, capture_output=True, text=True)
    assert hinge.__version__ in said.stdout


def test_the_changelog_begins_with_this_version_and_names_the_kinds_of_change():
    log = text("CHANGELOG.md")
    released = re.findall(r"^## (\S+)", log, re.MULTILINE)
    assert released[0] == hinge.__version__
    for release in re.split(r"^## ", log, flags=re.MULTILINE)[1:]:
        kinds = re.findall(r"^### (.+)$", release, re.MULTILINE)
        assert kinds
        assert kinds == [kind for kind in KINDS if kind in kinds]


def test_the_citation_is_of_this_version():
    said = dict(re.findall(r"^([\w-]+): (.+)$", text("CITATION.cff"), re.MULTILINE))
    assert (said["version"], said["license"]) == (hinge.__version__, PROJECT["license"])


def test_no_address_is_claimed_that_nobody_has():
    """There is no host yet. When there is one, its address goes here and into both papers."""
    assert "urls" not in PROJECT
    assert "url:" not in text("CITATION.cff").replace("repository-code:", "url:")


def test_the_pythons_that_are_claimed_are_the_ones_that_are_tried():
    claimed = [line.split(" :: ")[-1] for line in PROJECT["classifiers"] if re.search(r"Python :: 3\.\d+$", line)]
    tried = re.findall(r"^ +python: \[(.*)\]$", text(".github/workflows/tests.yml"), re.MULTILINE)[0]
    assert re.findall(r'"(\S+)"', tried) == claimed
    assert PROJECT["requires-python"] == f">={claimed[0]}"


def test_the_site_is_hosted_with_what_it_is_built_with():
    (hosted,) = re.findall(r"extra_requirements: \[(.*)\]", text(".readthedocs.yaml"))
    assert f"'.[{hosted.replace(', ', ',')}]'" in text("Makefile")
