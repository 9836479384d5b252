"""`hinge equations` and `hinge export`."""

import math
import re

import numpy as np
import pytest
import saying

import hinge

sympy = pytest.importorskip("sympy")

URDF = """<robot name="lamp">
  <link name="foot"/>
  <link name="stem"><inertial><origin xyz="0 0 0.5"/><mass value="2"/>
    <inertia ixx="0" iyy="0.25" izz="0" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <link name="head"><inertial><origin xyz="0 0 0.25"/><mass value="1"/>
    <inertia ixx="0" iyy="0.5" izz="0" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="lean" type="continuous"><parent link="foot"/><child link="stem"/><axis xyz="0 1 0"/></joint>
  <joint name="nod" type="continuous"><parent link="stem"/><child link="head"/>
    <origin xyz="0 0 1"/><axis xyz="0 1 0"/></joint>
</robot>"""

pytestmark = pytest.mark.usefixtures("plain_interpreter")


@pytest.fixture
def lamp(tmp_path):
    path = tmp_path / "lamp.urdf"
    path.write_text(URDF)
    return str(path)


def said(*words):
    ended = saying.said(*words)
    assert ended.exit_code == 0, ended.output
    return ended.output


def test_equations_are_printed_a_line_each(lamp):
    lines = said("equations", lamp, "mass_matrix", "potential_energy").splitlines()
    # 0.25 + 2 (1/2)² + 0.5 + 1 (1² + (1/4)² + 2 (1/4) cos)
    assert lines[0] == "mass_matrix[1, 1] = cos(q_nod)/2 + 2.3125"
    assert lines[3] == "mass_matrix[2, 2] = 0.5625"
    assert lines[-1].startswith("potential_energy = ")
    x = sympy.sympify(lines[-1].split(" = ")[1])
    made = x.subs({"q_lean": 0.3, "q_nod": 0.4})
    assert float(made) == pytest.approx(9.81 * (2 * 0.5 * math.cos(0.3) + math.cos(0.3) + 0.25 * math.cos(0.7)))


def test_equations_as_latex(lamp):
    text = said("equations", lamp, "--latex", "--vary", "head.mass")
    assert text.startswith("\\begin{align*}\n\\tau_{lean} &= ")
    assert text.endswith("\\end{align*}\n")
    assert "\\ddot{q}_{lean}" in text
    assert "m_{head}" in text
    assert text.count(" \\\\\n") == 1


def test_decimals_are_rounded(lamp):
    assert (
        said("equations", lamp, "mass_matrix", "--digits", "2").splitlines()[0]
        == "mass_matrix[1, 1] = cos(q_nod)/2 + 2.3"
    )
    gravity = said("equations", lamp, "gravity_force", "--latex", "--digits", "3")
    assert gravity.splitlines()[2] == r"G_{2} &= - 2.45 \sin{\left(q_{lean} + q_{nod} \right)}"
    refused = saying.said("equations", lamp, "--digits", "0")
    assert refused.exit_code == 2
    assert "0 is not in the range x>=1" in refused.output


@pytest.mark.parametrize("name", ["inverse_dynamics", "mass_matrix", "kinetic_energy", "hybrid_dynamics"])
def test_equations_as_python_run(lamp, name):
    space = {}
    exec(said("equations", lamp, "--python", name), space)
    robot = hinge.load(lamp)
    state = {"q": [0.3, -0.4], "qd": [1.0, 2.0], "qdd": [0.5, 0.25], "tau": [1.0, -1.0], "known": [0.0, 1.0]}
    inputs = [state[one.name] for one in robot.kernel(name).plan.inputs]
    made = space[name](*inputs)
    wanted = getattr(robot, name)(*inputs)
    for ours, theirs in zip(made, wanted, strict=True) if isinstance(wanted, tuple) else [(made, wanted)]:
        np.testing.assert_allclose(ours, theirs, rtol=1e-12)


def test_python_holds_where_a_formula_does_not(lamp):
    """A ball that does not turn: sin(|v|/2)/|v| has no value there, and the code has one."""
    space = {}
    exec(said("equations", lamp, "--python", "integrate", "--base", "floating"), space)
    robot = hinge.load(lamp, base="floating")
    for v in (np.zeros(robot.nv), np.linspace(-1.0, 1.0, robot.nv)):
        np.testing.assert_allclose(
            space["integrate"](robot.neutral(), v), robot.integrate(robot.neutral(), v), atol=1e-14
        )
    assert "Piecewise" not in said("equations", lamp, "integrate", "--base", "floating")


def test_long_equations_come_with_definitions_and_run(tmp_path):
    rng = np.random.default_rng(3)
    links, joints = ['<link name="l0"/>'], []
    for k in range(1, 7):
        x = rng.uniform(0.1, 0.5, 6)
        links.append(f'<link name="l{k}"><inertial><origin xyz="{x[0]} {x[1]} {x[2]}"/><mass value="{1 + x[3]}"/>'
                     f'<inertia ixx="{x[4]}" iyy="{x[4]}" izz="{x[5]}"/></inertial></link>')  # fmt: skip
        joints.append(f'<joint name="joint{k}" type="continuous"><parent link="l{k - 1}"/><child link="l{k}"/><origin '
                      f'xyz="{x[5]} {x[0]} {x[3]}" rpy="{x[1]} {x[2]} 0"/><axis xyz="0 0 1"/></joint>')  # fmt: skip
    path = tmp_path / "long.urdf"
    path.write_text(f'<robot name="long">{"".join(links + joints)}</robot>')
    text = said("equations", path, "--python")
    assert re.search(r"^    x150 = ", text, re.M)
    space = {}
    exec(text, space)
    robot = hinge.load(str(path))
    q, qd, qdd = rng.normal(size=(3, 6))
    np.testing.assert_allclose(space["inverse_dynamics"](q, qd, qdd), robot.inverse_dynamics(q, qd, qdd), rtol=1e-9)
    assert said("equations", path).startswith("x0 = ")


def test_export_writes_cuda_too(lamp, tmp_path):
    code, kernels = tmp_path / "code", tmp_path / "kernels"
    paths = said("export", lamp, "--c", code, "--cuda", kernels, "mass_matrix", "--float").split()
    assert paths[3:] == [str(kernels / name) for name in ("lamp.cuh", "lamp_mass_matrix.cu", "lamp_test.cu")]
    header = (kernels / "lamp.cuh").read_text(encoding="utf-8")
    prototype = "cudaError_t lamp_mass_matrix(const float *q, float *out, long long states, cudaStream_t stream);"
    assert prototype in header
    assert "Say where to: --c DIR, --cuda DIR, or both." in saying.refused("export", lamp, code=2)


def test_export_says_what_it_writes(lamp, tmp_path):
    folder = tmp_path / "code"
    paths = said("export", lamp, "--c", folder, "pose", "--at", "head", "--base", "floating").split()
    assert paths == [str(folder / name) for name in ("lamp.h", "lamp.c", "lamp_test.c")]
    header = (folder / "lamp.h").read_text(encoding="utf-8")
    assert "void lamp_pose(const double *restrict q, double *restrict out);" in header
    assert "Of the frame 'head'." in header
    assert "q[0..6]  qd[0..5]" in header
    assert "#define LAMP_NQ 9" in header
