"""`hinge check`: exit codes, text, JSON."""

import json
import os
import subprocess
import sys

import pytest
from click.testing import CliRunner

import hinge
from hinge.cli import main

CLEAN = """<robot name="lamp">
<link name="foot"/>
<link name="head"><inertial><mass value="0.5"/><inertia ixx="0.01" iyy="0.01" izz="0.01"
 ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="nod" type="revolute"><parent link="foot"/><child link="head"/><origin xyz="0 0 0.4"/><axis xyz="0 1 0"/>
<limit lower="-1" upper="0.5" effort="3" velocity="2"/></joint>
</robot>"""
NOTED = CLEAN.replace('lower="-1"', 'lower="0.1"')
WARNED = CLEAN.replace('izz="0.01"', 'izz="0.03"')


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, text in (("clean", CLEAN), ("noted", NOTED), ("warned", WARNED), ("broken", CLEAN[:100])):
        (tmp_path / f"{name}.urdf").write_text(text)
    return tmp_path


def said(*words):
    return CliRunner().invoke(main, ["check", *words])


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["clean.urdf"], 0),
        (["noted.urdf"], 0),
        (["--strict", "noted.urdf"], 1),
        (["--strict", "clean.urdf"], 0),
        (["warned.urdf"], 1),
        (["broken.urdf"], 2),
        (["gone.urdf"], 2),
        (["clean.urdf", "broken.urdf", "warned.urdf"], 2),
        (["clean.urdf", "warned.urdf", "noted.urdf"], 1),
    ],
)
def test_the_exit_code_is_that_of_the_worst_file(files, words, code):
    assert said(*words).exit_code == code
    assert said("--json", *words).exit_code == code


def test_findings_are_printed_plainly_where_there_is_no_terminal(files):
    assert said("warned.urdf").output == (
        "warned.urdf:3: warning: link 'head' has principal inertias (0.01, 0.01, 0.03) kg m²: no body has two that "
        "sum to less than the third. [triangle]\n"
        "  Raise the two smaller ones until they sum to 0.03.\n"
        "warned.urdf: 1 warning\n"
    )
    assert said("warned.urdf").output == f"{hinge.check('warned.urdf')}\n"


def test_in_a_terminal_the_judgement_is_coloured(files, monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm")
    first, fix, last = said("warned.urdf").output.splitlines()
    assert first.startswith("\x1b[1mwarned.urdf:3: \x1b[0m\x1b[33mwarning\x1b[0m: link 'head' has")
    assert fix.startswith("\x1b[2m  Raise")
    assert last == "\x1b[1mwarned.urdf: 1 warning\x1b[0m"


def test_a_name_with_brackets_is_printed_as_it_is(files):
    (files / "odd.urdf").write_text(WARNED.replace("head", "[bold]head[/]"))
    assert "link '[bold]head[/]' has" in said("odd.urdf").output


def test_json_is_an_object_a_line(files):
    lines = said("--json", "clean.urdf", "broken.urdf").output.splitlines()
    assert [json.loads(line)["file"] for line in lines] == ["clean.urdf", "broken.urdf"]
    assert [json.loads(line)["exit_code"] for line in lines] == [0, 2]


def test_a_file_that_is_not_there_is_told_with_those_that_are(files):
    assert said("notd.urdf").output == (
        "error: notd.urdf cannot be read: No such file or directory. [no-file]\n"
        "  Did you mean 'noted.urdf' or 'warned.urdf' or 'clean.urdf'?\n"
        "notd.urdf: cannot be loaded\n"
    )


def test_no_file_is_a_mistake_in_the_command(files):
    assert said().exit_code == 2
    assert "Missing argument" in said().output


def test_the_base_can_float(files):
    assert json.loads(said("--json", "--base", "floating", "clean.urdf").output)["robot"]["nv"] == 7


def test_certify_prints_the_proofs(files, monkeypatch):
    monkeypatch.setenv("HINGE_BACKEND", "interpret")
    ended = said("--certify", "clean.urdf")
    assert ended.exit_code == 0
    lines = ended.output.splitlines()
    assert [line.split()[0] for line in lines[:8]] == ["passed"] * 7 + ["skipped"]
    assert (
        lines[7]
        == "skipped  machine code            the interpreter serves, there is no machine code to compare it with."
    )
    assert lines[-1].startswith("clean.urdf: nothing to report; proofs: ")
    proofs = json.loads(said("--certify", "--json", "clean.urdf").output)["proofs"]
    assert [proof["passed"] for proof in proofs[:8]] == [True] * 7 + [None]


def test_the_help_says_what_the_exit_codes_mean():
    text = " ".join(said("--help").output.split())
    assert "Exits with 0 when there is nothing but notes" in text


@pytest.mark.sampled(1)
@pytest.mark.skipif(sys.platform != "linux", reason="names of files are text there")
@pytest.mark.parametrize("encoding", ["utf-8", "ascii"])
def test_a_name_that_is_no_text_is_spelled_out(tmp_path, encoding):
    place = os.fsencode(tmp_path) + b"/arm\xff\xc2\xb2.urdf"
    with open(place, "w") as file:
        file.write('<robot name="r"><link name="a²"/></robot>')
    command = [sys.executable, "-m", "hinge.cli", "check", place]
    environment = os.environ | {"PYTHONIOENCODING": encoding}
    plain, data = (subprocess.run([*command, *more], capture_output=True, env=environment) for more in ([], ["--json"]))
    assert (plain.returncode, plain.stderr, data.returncode, data.stderr) == (0, b"", 0, b"")
    assert rb"arm\udcff" in plain.stdout
    assert os.fsencode(json.loads(data.stdout)["file"]) == place
