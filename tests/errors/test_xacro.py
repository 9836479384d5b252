"""xacro files: expanded where xacrodoc is installed, and said what to do where it is not."""

import json
import os
import sys

import pytest
from click.testing import CliRunner

import hinge
from hinge.cli import main

pytest.importorskip("xacrodoc", reason="xacrodoc is not installed")

PART = """<robot xmlns:xacro="http://www.ros.org/wiki/xacro">
  <xacro:macro name="rod" params="name mass">
    <link name="${name}"><inertial><mass value="${mass}"/>
      <inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial></link>
    <joint name="to_${name}" type="continuous"><parent link="base"/><child link="${name}"/><axis xyz="0 0 1"/></joint>
  </xacro:macro>
</robot>"""
ARM = """<robot name="arm" xmlns:xacro="http://www.ros.org/wiki/xacro">
  <xacro:include filename="INCLUDED"/>
  <xacro:property name="m" value="${2 * 3}"/>
  <link name="base"/>
  <xacro:rod name="rod" mass="${m}"/>
</robot>"""


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A package with an arm and the part it includes; the current folder is another."""
    folder = tmp_path / "arms" / "urdf"
    folder.mkdir(parents=True)
    (tmp_path / "arms" / "package.xml").write_text("<package><name>arms</name></package>")
    (folder / "part.xacro").write_text(PART)
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    return folder


def write(folder, text, name="arm.urdf.xacro"):
    path = folder / name
    path.write_text(text)
    return path


@pytest.mark.parametrize("included", ["part.xacro", "$(find arms)/urdf/part.xacro"])
def test_a_xacro_file_is_a_robot(package, included):
    path = write(package, ARM.replace("INCLUDED", included))
    for given in (path, str(path), os.path.relpath(path)):
        robot = hinge.load(given)
        assert (robot.name, robot.joint_names, robot.mass) == ("arm", ("to_rod",), 6.0)


def test_a_package_is_found_where_packages_says(package, tmp_path):
    path = write(tmp_path, ARM.replace("INCLUDED", "$(find arms)/urdf/part.xacro"))
    with pytest.raises(hinge.ModelError, match="Package not found: arms") as caught:
        hinge.load(path)
    assert (caught.value.code, caught.value.file) == ("xacro", "arm.urdf.xacro")
    assert hinge.load(path, packages=[tmp_path / "arms"]).mass == 6.0
    assert hinge.check(path, packages=[tmp_path / "arms"]).exit_code == 0


def test_findings_name_the_expanded_text(package):
    path = write(package, ARM.replace("INCLUDED", "part.xacro").replace('value="${2 * 3}"', 'value="-1"'))
    (finding,) = hinge.load(path).report
    assert str(finding).startswith("arm.urdf.xacro (expanded):")
    assert (finding.code, finding.where.line > 0) == ("negative-mass", True)


@pytest.mark.parametrize(
    ("text", "what"),
    [
        (ARM.replace("INCLUDED", "part.xacro").replace("${2 * 3}", "${nothing}"),
         "arm.urdf.xacro: xacro cannot expand it: name 'nothing' is not defined when evaluating expression 'nothing'"),
        (ARM.replace("INCLUDED", "gone.xacro"), "arm.urdf.xacro: xacro cannot expand it: No such file or directory"),
        (ARM.replace("INCLUDED", "part.xacro").replace("${2 * 3}", "${1 / 0}"), "division by zero"),
        (ARM.replace("INCLUDED", "part.xacro")[:-10], "arm.urdf.xacro:5: the XML is not well-formed"),
        ("", "arm.urdf.xacro:1: the XML is not well-formed"),
        (ARM.replace("INCLUDED", "arm.urdf.xacro"), "xacro cannot expand it"),
    ],
    ids=["unknown name", "no such file", "division", "cut off", "empty", "includes itself"],
)  # fmt: skip
def test_what_xacro_refuses_is_a_model_error_with_its_file(package, text, what):
    path = write(package, text)
    with pytest.raises(hinge.ModelError) as caught:
        hinge.load(path)
    assert caught.value.code == "xacro"
    assert what in str(caught.value)
    assert caught.value.file == "arm.urdf.xacro"


def test_a_fault_in_an_included_file_is_told_there(package):
    write(package, PART.replace("</xacro:macro>", ""), "part.xacro")
    with pytest.raises(hinge.ModelError) as caught:
        hinge.load(write(package, ARM.replace("INCLUDED", "part.xacro")))
    assert (caught.value.code, caught.value.file) == ("xacro", "part.xacro")


def test_without_xacrodoc_the_error_says_what_to_install(package, monkeypatch):
    monkeypatch.setitem(sys.modules, "xacrodoc", None)
    with pytest.raises(hinge.ModelError) as caught:
        hinge.load(write(package, ARM))
    assert caught.value.code == "no-xacro"
    assert str(caught.value) == 'arm.urdf.xacro: a xacro file needs the package xacrodoc.\n  pip install "hinge[xacro]"'


def test_a_xacro_file_that_is_not_there_is_told_as_any_other(package):
    write(package, ARM)
    with pytest.raises(hinge.ModelError, match=r"Did you mean 'arm.urdf.xacro' or 'part.xacro'\?") as caught:
        hinge.load(package / "arn.urdf.xacro")
    assert caught.value.code == "no-file"


def test_the_doctor_reads_it(package):
    path = write(package, ARM.replace("INCLUDED", "part.xacro"))
    ended = CliRunner().invoke(main, ["check", "--json", str(path)])
    assert (ended.exit_code, json.loads(ended.output)["robot"]["mass"]) == (0, 6.0)


def test_the_doctor_proves_it(package, monkeypatch):
    monkeypatch.setenv("HINGE_BACKEND", "interpret")
    pytest.importorskip("pinocchio")
    made = {
        proof.name: proof
        for proof in hinge.check(write(package, ARM.replace("INCLUDED", "part.xacro")), certify=True).proofs
    }
    assert made["agrees with Pinocchio"].passed
