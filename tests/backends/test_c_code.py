"""C code: it compiles without a warning, and gives what the interpreter gives."""

import ctypes
import functools
import re
import shutil
import subprocess
import sysconfig
from math import prod
from pathlib import Path

import numpy as np
import pytest
from sweeps import swept

import hinge
from hinge.backends import c, interpret
from hinge.export import c_files
from hinge.graph import OPS, Graph, Input, order

ROBOTS = Path(sysconfig.get_path("purelib"), "cmeel.prefix", "share", "example-robot-data", "robots")
COMPILER = next((found for found in map(shutil.which, ("cc", "gcc", "clang", "tcc")) if found), None)
STRICT = ["-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic"]
REAL = {"double": (ctypes.c_double, np.float64), "float": (ctypes.c_float, np.float32)}
compiled = pytest.mark.skipif(COMPILER is None, reason="there is no C compiler here: cc, gcc, clang or tcc")
scalars = pytest.mark.parametrize("scalar", REAL)


def file(path, base):
    if not (ROBOTS / path).exists():
        pytest.skip("example-robot-data is not installed here")
    return hinge.load(ROBOTS / path, base=base)


def balls():
    made = hinge.samples.random_tree(np.random.default_rng(5), 4, ("spherical", "prismatic"))
    assert made.nq > made.nv
    return made


MADE = {
    "UR5": lambda: file("ur_description/urdf/ur5_robot.urdf", "fixed"),
    "G1": lambda: file("g1_description/urdf/g1_29dof_rev_1_0.urdf", "floating"),
    "balls": balls,
    "mimic": lambda: file("panda_description/urdf/panda.urdf", "fixed"),
    "symbols": lambda: hinge.samples.planar_2r(symbols=True),
}
robot_named = functools.cache(lambda name: MADE[name]())


def built(folder, text, optimise="-O1"):
    """The functions of a C text as a library."""
    (folder / "code.c").write_text(text, encoding="utf-8")
    library = folder / "code.so"
    run = subprocess.run([COMPILER, *STRICT, optimise, "-shared", "-fPIC", "-o", library, folder / "code.c", "-lm"],
                         capture_output=True, text=True)  # fmt: skip
    assert run.returncode == 0, run.stderr
    return ctypes.CDLL(str(library))


def called(function, rows, sizes, scalar):
    """What a function gives for arrays of numbers."""
    number, dtype = REAL[scalar]
    given = [np.ascontiguousarray(row, dtype) for row in rows]
    outs = [np.full(n, 77.0, dtype) for n in sizes]
    function.restype = None
    function(*(a.ctypes.data_as(ctypes.POINTER(number)) for a in (*given, *outs)))
    return outs


@pytest.mark.sampled(2)
@compiled
@scalars
@pytest.mark.parametrize(
    ("robot", "names"),
    [
        ("UR5", ["inverse_dynamics", "forward_dynamics", "mass_matrix", "coriolis_matrix", "joint_reactions"]),
        pytest.param(
            "G1",
            ["inverse_dynamics", "forward_dynamics", "mass_matrix", "floating_inverse_dynamics"],
            marks=pytest.mark.sweep,
        ),
        ("balls", ["inverse_dynamics", "forward_dynamics", "hybrid_dynamics", "integrate", "difference", "momentum"]),
        ("mimic", ["inverse_dynamics", "forward_dynamics", "kinetic_energy"]),
        ("symbols", ["inverse_dynamics", "forward_dynamics", "potential_energy"]),
    ],
)
def test_c_gives_what_the_interpreter_gives(robot, names, scalar, tmp_path):
    made = robot_named(robot)
    for name in names:
        text = made.source(name, "c", scalar=scalar)
        _, (routine,) = c_files.routines(made.target, [name], None, "", {})
        program, rng = routine.program, np.random.default_rng(3)
        (folder := tmp_path / name).mkdir()
        library = built(folder, text)
        for k in range(3):
            rows = [
                row if k == 0 else _other(made, a, row, rng)
                for a, row in zip(routine.inputs, routine.state, strict=True)
            ]
            sizes = [prod(output.shape) for output in program.outputs]
            dtype = REAL[scalar][1]
            wanted = [np.empty((1, n), dtype) for n in sizes]
            interpret.run(program, [row[None].astype(dtype) for row in rows], wanted)
            got = called(getattr(library, routine.name), rows, sizes, scalar)
            for ours, theirs in zip(got, wanted, strict=True):
                assert ours.tobytes() == theirs.tobytes(), name


def _other(robot, array, row, rng):
    """Another state."""
    if array.name in ("q", "q0", "q1"):
        row = robot.random_state(rng, 1)[0][0]
    elif array.name not in ("known", "parameters"):
        row = rng.normal(size=row.shape)
    return row


@pytest.mark.sampled(1)
@compiled
@scalars
@pytest.mark.parametrize("robot", swept(MADE, lambda name: name != "G1"))
def test_the_test_main_passes_and_fails_where_the_code_is_wrong(robot, scalar, tmp_path):
    made = robot_named(robot)
    names = ["inverse_dynamics", "mass_matrix", "pose"]
    files = c_files.c_files(made.target, names, scalar, at=made.body_names[-1])
    prefix = next(iter(files)).removesuffix(".h")

    def ended(files):
        for name, text in files.items():
            (tmp_path / name).write_text(text, encoding="utf-8")
        run = [COMPILER, *STRICT, "-O1", f"{prefix}.c", f"{prefix}_test.c", "-o", "tried", "-lm"]
        compiling = subprocess.run(run, cwd=tmp_path, capture_output=True, text=True)
        assert compiling.returncode == 0, compiling.stderr
        return subprocess.run([tmp_path / "tried"], capture_output=True, text=True)

    good = ended(files)
    assert good.returncode == 0, good.stdout
    assert good.stdout.count("ok ") == 3
    source = files[f"{prefix}.c"]
    broken = re.sub(r"out\[0\] = (\w+);", r"out[0] = \1 + 1;", source, count=1)
    assert broken != source
    bad = ended(files | {f"{prefix}.c": broken})
    assert bad.returncode == 1
    assert "BAD " in bad.stdout
    nan = ended(files | {f"{prefix}.c": re.sub(r"out\[0\] = (\w+);", r"out[0] = \1 * NAN;", source, count=1)})
    assert nan.returncode == 1


def every_operation():
    """A program with one output for each operation."""
    graph = Graph()
    a, b, d = (graph.input("x", k) for k in range(3))
    made = [graph.node(name, *(a, b, d)[: op.arity]) for name, op in OPS.items()]
    less = graph.node("select", graph.node("less", a, b), d, 2.0)
    return order([Input("x", 3)], [("y", (len(made) + 1,), [*made, less])], contract=False)


@pytest.mark.sampled(1)
@compiled
@scalars
def test_every_operation_means_in_c_what_it_means(scalar, tmp_path):
    program = every_operation()
    n = len(program.outputs[0].entries)
    routine = c.Routine("f", program, (c.Array("x", 3, ""),), (c.Array("out", n, ""),), "")
    library = built(tmp_path, c.code([routine], c.REALS[scalar]))
    values = [0.0, -0.0, 1.5, -2.0, np.nan, np.inf, -np.inf, 3e9, 1e-3]
    for x in np.array(np.meshgrid(values, values, [0.0, 0.5, -3.0, np.nan])).reshape(3, -1).T:
        wanted = np.empty((1, n), REAL[scalar][1])
        interpret.run(program, [x[None].astype(wanted.dtype)], [wanted])
        (got,) = called(library.f, [x], [n], scalar)
        for name, ours, theirs in zip([*OPS, "chosen"], got, wanted[0], strict=True):
            assert ours.tobytes() == theirs.tobytes() or (np.isnan(ours) and np.isnan(theirs)), (name, x, ours, theirs)


@compiled
def test_fused_products_are_rounded_once(tmp_path):
    """x² - 1 for an x whose square does not fit: one rounding keeps what two would lose."""
    graph = Graph()
    x = graph.input("x", 0)
    program = order([Input("x", 1)], [("y", (1,), [x * x - 1.0])])
    routine = c.Routine("f", program, (c.Array("x", 1, ""),), (c.Array("out", 1, ""),), "")
    library = built(tmp_path, c.code([routine], c.REALS["double"]))
    small = 2.0**-30
    (got,) = called(library.f, [[1.0 + small]], [1], "double")
    assert got[0] == 2 * small + small**2
    unfused = c.code([routine], c.REALS["double"]).replace("#ifdef HINGE_NO_FMA", "#if 1")
    (folder := tmp_path / "unfused").mkdir()
    (got,) = called(built(folder, unfused).f, [[1.0 + small]], [1], "double")
    assert got[0] == 2 * small


@pytest.mark.sweep
@compiled
def test_a_long_program_is_cut_and_compiles(tmp_path):
    arm = hinge.samples.chain(np.random.default_rng(1), 40)
    text = arm.source("forward_dynamics", "c")
    assert text.count("static void chain40_forward_dynamics_") > 3
    library = built(tmp_path, text)
    q, qd = arm.random_state(np.random.default_rng(2), 1)
    wanted = arm.forward_dynamics(q[0], qd[0], np.zeros(40))
    (got,) = called(library.chain40_forward_dynamics, [q[0], qd[0], np.zeros(40)], [40], "double")
    np.testing.assert_allclose(got, wanted, rtol=0, atol=1e-9 * np.abs(wanted).max())


@compiled
def test_a_state_without_an_answer_gives_nan(tmp_path):
    made = balls()
    library = built(tmp_path, made.source("mass_matrix", "c"))
    (got,) = called(
        getattr(library, f"{c.identifier(made.name)}_mass_matrix"), [np.zeros(made.nq)], [made.nv**2], "double"
    )
    assert np.isnan(got).all()


# ---- what stands in the text


HARD = 'arm */ int main(void){} /* "x" ??/ \\'


def odd(name=HARD, joint="*/ evil\n??/ joint", frame="double"):
    builder = hinge.Builder(name)
    builder.link("base")
    builder.link("rod", 1.0, (0.5, 0, 0))
    builder.joint(joint, "revolute", "base", "rod", axis=(0, 1, 0))
    builder.frame(frame, "rod", (1, 0, 0))
    return hinge.Robot(builder.build())


@compiled
@pytest.mark.parametrize("name", [HARD, "double", "1st robot", "été", "", "a-b.c"])
def test_any_name_is_safe(name, tmp_path):
    robot = odd(name)
    files = c_files.c_files(robot.target, ["inverse_dynamics", "pose"], at="double")
    assert all(re.fullmatch(r"\w+\.[ch]", file) for file in files)
    library = built(tmp_path, robot.source("pose", "c", at="double"))
    (got,) = called(getattr(library, f"{c.identifier(name)}_pose"), [[0.0]], [16], "double")
    np.testing.assert_allclose(got.reshape(4, 4)[:, 3], [1, 0, 0, 1], atol=1e-15)


@pytest.mark.parametrize(
    ("given", "wanted"),
    [("panda", "panda"), ("ur5-robot 2", "ur5_robot_2"), ("2R", "robot_2R"), ("for", "for_"), ("---", "robot"),
     ("t12", "t12_"), ("kept", "kept_"), ("naïve", "na_ve")],
)  # fmt: skip
def test_identifiers(given, wanted):
    assert c.identifier(given) == wanted


def test_the_header_tells_units_order_and_sizes():
    text = hinge.samples.puma560().source("inverse_dynamics", "c")
    assert "#define PUMA560_NQ 6" in text
    assert (
        "const double *restrict q, const double *restrict qd, const double *restrict qdd, double *restrict out" in text
    )
    for words in ("rad", "N m", "right-handed", "Gravity is (0, 0, -9.81) m/s²", "joint3  revolute     q[2]  qd[2]"):
        assert words in text
    assert "malloc" not in text
    assert set(re.findall(r"#include (\S+)", text)) == {"<math.h>", "<stdint.h>"}
    quaternion = balls().source("mass_matrix", "c")
    assert re.search(r"joint\d  spherical    q\[\d\.\.\d\]  qd\[\d\.\.\d\]", quaternion)


def test_several_outputs_have_their_names():
    text = hinge.samples.planar_2r().source("hybrid_dynamics", "c")
    assert "double *restrict tau_out, double *restrict qdd_out)" in text


def test_float_is_float_throughout():
    """But for the reduction of angles, which would lose digits."""
    text = hinge.samples.planar_2r().source("forward_dynamics", "c", scalar="float")
    code = text[text.rindex("void planar_2r_forward_dynamics(const") :]
    assert "double" not in code
    assert re.search(r"\d\.\d+f\b", code)
    assert not re.search(r"\d\.\d+\b(?!f)", code)
    assert "FMAF(" in code
    assert "= sine_and_cosine(q[0])" in code
    assert "#define FMAF(a, b, c) fmaf(a, b, c)" in text


def test_inputs_that_do_not_matter_are_said_not_to(tmp_path):
    text = hinge.samples.pendulum(1).source("mass_matrix", "c")
    assert "(void)q;" in text
    if COMPILER:
        (got,) = called(built(tmp_path, text).pendulum1_mass_matrix, [[0.3]], [1], "double")
        assert got[0] == pytest.approx(1 / 3, rel=1e-15)
