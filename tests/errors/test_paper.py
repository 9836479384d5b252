"""What cannot be written, each message whole: sources, equations, files; and symbols that are used wrongly."""

import builtins
import os

import numpy as np
import pytest
from click.testing import CliRunner

import hinge
from hinge.cli import main
from hinge.export import c_files

ARM = hinge.samples.planar_2r()
URDF = """<robot name="lamp"><link name="foot"/><link name="stem"><inertial><origin xyz="0 0 0.2"/><mass value="1.5"/>
<inertia ixx="0.02" iyy="0.02" izz="0.02" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="turn" type="continuous"><parent link="foot"/><child link="stem"/><axis xyz="0 1 0"/></joint></robot>"""


def refused(error, call):
    with pytest.raises(error) as caught:
        call()
    return str(caught.value)


def test_an_unknown_language_algorithm_method_option_scalar_or_frame():
    unknown = hinge.UnknownName
    assert refused(unknown, lambda: ARM.source("mass_matrix", "C99")) == (
        "there is no source in 'C99'. Known: 'c', 'cuda', 'latex', 'listing', 'llvm'."
    )
    assert refused(unknown, lambda: ARM.source("mass_matrix", "lvm")) == (
        "there is no source in 'lvm'. Did you mean 'llvm'?"
    )
    assert refused(unknown, lambda: ARM.source("mass_matrix", "c", scalar="floot")) == (
        "scalar='floot' is not known. Did you mean 'float'?"
    )
    for call in (ARM.source, ARM.equations):
        assert refused(unknown, lambda call=call: call("mas_matrix")).startswith("there is no algorithm 'mas_matrix'.")
        assert "has no method 'lagrange_'" in refused(
            unknown, lambda call=call: call("mass_matrix", method="lagrange_")
        )
        assert "has no option 'frme'" in refused(unknown, lambda call=call: call("mass_matrix", frme="body"))
        assert "no body or frame 'hnd'" in refused(unknown, lambda call=call: call("pose", at="hnd"))
    assert refused(unknown, lambda: ARM.equations("mass_matrix", at="hand")) == (
        "mass_matrix is not about a frame, so at='hand' says nothing. Leave it out."
    )
    assert refused(unknown, lambda: ARM.equations("pose")) == (
        "pose is about a frame: give at=. Known: 'base', 'hand', 'lower', 'upper'."
    )
    assert refused(unknown, lambda: ARM.source("pose", "c")).startswith("pose is about a frame: give at=.")
    assert "joint_terms has 'dampin'" in refused(unknown, lambda: ARM.equations("mass_matrix", joint_terms="dampin"))


def test_without_sympy_it_is_said_how_to_get_it(monkeypatch):
    there = builtins.__import__

    def missing(name, *args, **options):
        if name == "sympy":
            raise ImportError(name)
        return there(name, *args, **options)

    monkeypatch.setattr(builtins, "__import__", missing)
    wanted = 'equations need SymPy, which is not installed.\n  pip install "hinge[equations]"'
    assert refused(hinge.NotCovered, lambda: ARM.equations("mass_matrix")) == wanted
    assert ARM.source("mass_matrix", "c")  # which needs none


# ---- symbols


@pytest.fixture
def sympy():
    return pytest.importorskip("sympy")


def test_a_symbol_without_a_value_is_named():
    arm = hinge.samples.planar_2r(symbols=True)
    assert refused(hinge.SizeError, lambda: arm.mass_matrix([0.0, 0.0])) == (
        "the symbol 'I1' of robot 'planar_2r' has no value.\n"
        '  Give parameters={"I1": …}, or robot.with_values({"I1": …}) once and for all.'
    )
    assert "has no symbol 'm3'. Known: 'I1', 'I2', 'g', 'l1'," in refused(
        hinge.UnknownName, lambda: arm.with_values({"m3": 1.0})
    )
    for bad in ("x", np.nan, [1.0, 2.0]):
        assert "with_values: 'm1' is" in refused(hinge.SizeError, lambda bad=bad: arm.with_values({"m1": bad}))


def test_what_symbols_cannot_do_is_said(sympy):
    x = sympy.Symbol("x")
    read = "Symbols may be added, multiplied, divided, raised to powers, and be in sqrt, sin, exp and the like."
    assert refused(hinge.ModelError, lambda: hinge.dh([{"mass": sympy.gamma(x)}])) == (
        f"link 'link1' has mass [gamma(x)]: gamma is not among the functions that can be read.\n  {read}"
    )
    assert refused(hinge.ModelError, lambda: hinge.dh([{"com": (x, 0)}])).endswith("Give 3 numbers.")
    builder = hinge.Builder("r")
    builder.link("base")
    builder.link("rod", x)
    limits = refused(hinge.ModelError, lambda: builder.joint("j", "revolute", "base", "rod", upper=x))
    assert limits == "joint 'j' has upper x.\n  Give a number, or 1 of them."
    axis = refused(hinge.ModelError, lambda: builder.joint("j", "revolute", "base", "rod", axis=(x, 0, 1)))
    assert axis == "joint 'j' has axis made of symbols.\n  Give numbers."
    follows = refused(hinge.ModelError, lambda: builder.joint("j", "revolute", "base", "rod", mimic=("k", x, 0.0)))
    assert follows == "joint 'j' has mimic ratio and offset made of symbols.\n  Give numbers."
    pitch = refused(hinge.ModelError, lambda: hinge.dh([{"type": "screw", "pitch": sympy.erf(x)}]))
    assert pitch.startswith("joint 'joint1' has pitch [erf(x)]: erf is not among the functions that can be read.")


def test_what_needs_numbers_refuses_symbols():
    arm = hinge.samples.planar_2r(symbols=True)
    assert refused(hinge.NotCovered, lambda: arm.vary("upper.mass")) == (
        "'upper.mass' of robot 'planar_2r' is made of symbols (m1), which are inputs already."
    )
    assert refused(hinge.NotCovered, lambda: arm.vary("gravity")) == (
        "'gravity' of robot 'planar_2r' is made of symbols (g), which are inputs already."
    )
    assert "it is made of symbols (I1, I2, " in refused(hinge.NotCovered, arm.to_dh)


def test_a_symbol_that_is_called_like_a_coordinate_is_refused(sympy):
    arm = hinge.dh([{"a": sympy.Symbol("q1"), "mass": 1.0}, {"a": 1.0, "mass": 1.0}])
    assert refused(hinge.NotCovered, lambda: arm.equations("mass_matrix")) == (
        "'q1' is a symbol of robot 'arm', and the name of one of its coordinates.\n  Rename the symbol."
    )


# ---- files


@pytest.fixture
def lamp(tmp_path):
    path = tmp_path / "lamp.urdf"
    path.write_text(URDF)
    return str(path)


def said(*words):
    return CliRunner().invoke(main, [str(w) for w in words], catch_exceptions=False)


def test_files_that_are_there_stay_unless_forced(lamp, tmp_path):
    folder = tmp_path / "deep" / "code"
    first = said("export", lamp, "--c", folder)
    assert first.exit_code == 0
    assert first.output.split() == [str(folder / f"lamp{end}") for end in (".h", ".c", "_test.c")]
    (folder / "lamp.c").write_text("mine")
    again = said("export", lamp, "--c", folder)
    assert again.exit_code == 1
    wanted = f"{folder / 'lamp.h'} is there already.\n  Choose another folder, or overwrite it with --force."
    assert again.output == f"Error: {wanted}\n"
    assert (folder / "lamp.c").read_text() == "mine"
    assert said("export", lamp, "--c", folder, "--force", "mass_matrix", "--float").exit_code == 0
    assert "float" in (folder / "lamp.c").read_text()


def test_a_folder_that_cannot_be_written_is_named(lamp, tmp_path):
    (tmp_path / "file").write_text("")
    ended = said("export", lamp, "--c", tmp_path / "file")
    assert ended.exit_code == 1
    assert ended.output == (
        f"Error: {tmp_path / 'file'} cannot be written: File exists.\n"
        "  Choose another place, or see who may write there.\n"
    )


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="this user may write anywhere")
def test_a_folder_one_may_not_write_to_is_named(tmp_path):
    (tmp_path / "closed").mkdir(mode=0o500)
    message = refused(hinge.FileFault, lambda: c_files.put(str(tmp_path / "closed"), {"a.h": ""}))
    assert message.startswith(f"{tmp_path / 'closed'} cannot be written: Permission denied.")


@pytest.mark.parametrize("verb", [["export", "--c", "folder"], ["equations"]])
def test_the_command_line_says_what_is_wrong(lamp, verb, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    ended = said(verb[0], lamp, *verb[1:], "mas_matrix")
    assert ended.exit_code == 2
    assert ended.output.startswith("Error: there is no algorithm 'mas_matrix'. Did you mean 'mass_matrix'")
    assert said(verb[0], "no.urdf", *verb[1:]).exit_code == 2
    assert "give --at" in said(verb[0], lamp, *verb[1:], "pose").output
    assert not (tmp_path / "folder").exists()
