"""Bad calls of kernels and of the command line are refused by name, and odd but good ones are served."""

import json

import numpy as np
import pytest
from click.testing import CliRunner
from kernel_cases import python

import hinge
from hinge import SizeError
from hinge.backends import kernel as kernels
from hinge.cli import main

Z = np.zeros(2)


@pytest.fixture
def arm():
    """A planar arm whose kernels have run batches before."""
    robot, rows = hinge.samples.planar_2r(), np.zeros((3, 2))
    robot.mass_matrix(rows)
    robot.inverse_dynamics(rows, rows, rows)
    return robot


# ---- memory and the cache


def test_the_builtin_of_a_kernel_outlives_its_robot():
    """It writes into the work buffer of the robot that is gone."""
    code = """
import gc, numpy as np, hinge
robot = hinge.samples.puma560()
code = robot.kernel("inverse_dynamics").code(np.dtype(float))
size, fast = code._own_work.base.size, code.enter
del code
del robot
gc.collect()
others = [np.full(size, 7.0) for _ in range(2000)]
fast(np.ones(6), np.ones(6), np.ones(6), None)
print(sum(not (x == 7.0).all() for x in others))
"""
    assert python(code).stdout == "0\n"


def test_an_algorithm_of_the_users_own_is_keyed_by_its_graph(cold):
    """The second process gets the code of the first."""
    code = """
import sys, hinge
from hinge.dynamics.registry import POSITION, SCALAR, algorithm
factor = float(sys.argv[1])
@algorithm("mine", q=POSITION, returns=SCALAR)
def mine(model, q):
    return q[1][0] * factor
print(hinge.samples.planar_2r().kernel("mine")([1.0, 0.0]))
"""
    assert [python(code, factor).stdout for factor in (1, 2)] == ["1.0\n", "2.0\n"]


def test_single_precision_alone_compiles_no_double(monkeypatch):
    monkeypatch.setenv("HINGE_CACHE_DIR", "")  # where another test may have left it
    made, really = [], kernels.Kernel._compiled
    monkeypatch.setattr(kernels.Kernel, "_compiled", lambda kernel, n: (made.append(n.name), really(kernel, n))[1])
    hinge.samples.planar_2r().gravity_force(np.zeros(2, np.float32))
    assert made == ["float32"]


# ---- batches


@pytest.mark.parametrize("name", ["mass_matrix", "potential_energy"])
def test_a_batch_of_no_states_is_one_for_a_kernel_that_has_run(arm, name):
    getattr(arm, name)(np.zeros((3, 2)))
    assert getattr(arm, name)(np.zeros((0, 2))).shape == ((0, 2, 2) if name == "mass_matrix" else (0,))


def test_a_batch_of_no_states_has_a_status(arm):
    none = np.zeros((0, 2))
    made, status = arm.forward_dynamics(none, none, none, return_status=True)
    assert (made.shape, status.shape) == ((0, 2), (0,))


def test_external_forces_in_single_precision_keep_it(arm):
    single = Z.astype(np.float32)
    external = {"hand": np.zeros(6, np.float32)}
    assert arm.inverse_dynamics(single, single, single, external=external).dtype == np.float32


def test_a_large_batch_can_be_computed_while_the_interpreter_ends():
    code = """
import atexit, numpy as np, hinge
hinge.set_threads(3)
arm, z = hinge.samples.puma560(), np.zeros((200_000, 6))
arm.inverse_dynamics(z, z, z)
atexit.register(lambda: print(arm.inverse_dynamics(z, z, z).shape))
"""
    ran = python(code)
    assert (ran.stdout, ran.stderr) == ("(200000, 6)\n", "")


# ---- errors


def test_bind_without_arrays_is_refused(arm):
    with pytest.raises(SizeError, match="bind takes q, qd, qdd and out; 0 arrays were given"):
        arm.kernel("inverse_dynamics").bind()


@pytest.mark.parametrize("out", [None, np.zeros(2, np.float32)], ids=["None", "single"])
def test_bind_blames_the_array_that_is_to_blame(arm, out):
    with pytest.raises(SizeError, match="out is not one"):
        arm.kernel("gravity_force").bind(Z, out)


@pytest.mark.parametrize("q", ["text", None, [1.0, [2.0, 3.0]]], ids=["text", "None", "ragged"])
def test_a_check_of_values_refuses_what_holds_none(arm, q):
    with pytest.raises(SizeError, match="q is not an array of real numbers"):
        arm.gravity_force(q, check="values")


@pytest.mark.parametrize(
    ("external", "words"),
    [
        ({"hand": "text"}, r"external\['hand'\] is not an array of real numbers"),
        ({"hand": np.zeros((3, 6)), "lower": np.zeros((2, 6))}, r"do not fit together: 'hand' \(3,\), 'lower' \(2,\)"),
        (3.0, "external is a float; it has to be a dict of forces by name"),
    ],
    ids=["text", "batches that do not fit", "a number"],
)
def test_external_forces_that_are_none_are_refused(arm, external, words):
    with pytest.raises(SizeError, match=words):
        arm.inverse_dynamics(Z, Z, Z, external=external)


def test_digits_that_are_no_number_of_threads_do_not_stop_the_import():
    assert python("import hinge", HINGE_THREADS="²").returncode == 0


# ---- the command line

INERTIA = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'


def urdf(joint="j", inertia=INERTIA):
    return (
        f'<robot name="r"><link name="a"/><link name="b">{inertia}</link><joint name="{joint}" type="continuous">'
        '<parent link="a"/><child link="b"/><axis xyz="0 0 1"/></joint></robot>'
    )


@pytest.mark.parametrize(("words", "text"), [
    (["show"], urdf("j[/x]")),
    (["demo", "--seconds", "0.01"], '<robot name="r"><link name="a"/></robot>'),
    (["demo", "--seconds", "0.01"], urdf(inertia="")),
    (["demo", "--seconds", "0"], urdf()),
], ids=["a name with brackets", "nothing that moves", "nothing that has mass", "no time"])  # fmt: skip
def test_the_command_line_ends_without_a_traceback(tmp_path, words, text):
    path = tmp_path / "robot.urdf"
    path.write_text(text)
    ended = CliRunner().invoke(main, [*words, str(path)])
    assert type(ended.exception) in (type(None), SystemExit)


def test_a_cache_that_is_off_has_no_folder(monkeypatch):
    monkeypatch.setenv("HINGE_CACHE_DIR", "")
    assert json.loads(CliRunner().invoke(main, ["cache", "--json"]).output)["folder"] is None
