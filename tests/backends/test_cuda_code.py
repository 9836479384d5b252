"""CUDA text: on the host it gives the interpreter's bits, NVRTC takes it, and a GPU gives the same numbers."""

import functools
import importlib.util

import cuda_on_host
import numpy as np
import pytest
from cuda_on_host import outs_of
from gpus import has_gpu, with_gpu
from sweeps import swept

import hinge
from hinge.backends import interpret
from hinge.backends.cuda import compiler, emit
from hinge.backends.statements import REALS
from hinge.dynamics.registry import ALGORITHMS
from hinge.errors import DeviceError, HingeError
from hinge.graph import Graph, Input, Record, Rows, Scratch, Table, absolute, cos, less, order, repeat, sin
from hinge.graph.loops import entry

STATES = 37  # a warp, and a few
hosted = pytest.mark.skipif(cuda_on_host.COMPILER is None, reason="there is no C++ compiler here: g++ or clang++")
with_nvrtc = pytest.mark.skipif(
    importlib.util.find_spec("cuda") is None or importlib.util.find_spec("cuda.bindings") is None,
    reason='NVRTC is not here: pip install "hinge[cuda]"',
)


numbers = pytest.mark.parametrize("number", [np.float64, np.float32])
ROBOTS = {
    "arm": hinge.samples.puma560,
    "tree": lambda: hinge.samples.random_tree(np.random.default_rng(116), 3, ("revolute", "spherical")),
    "legs": lambda: hinge.samples.random_tree(np.random.default_rng(3), 9, ("revolute",)),
}
robot_named = functools.cache(lambda name: ROBOTS[name]())


LONG = 1500  # instructions: compilers take minutes for more of them


def kernels():
    """Every algorithm of the registry on an arm, by its default method, and some on other robots."""
    return [("arm", name) for name in ALGORITHMS] + [("legs", "mass_matrix"), ("tree", "forward_dynamics")]


def program_of(robot, name):
    try:
        made = robot_named(robot).kernel(name, status=True).program
    except HingeError as refused:
        pytest.skip(str(refused))
    if len(made.code) > LONG:
        pytest.skip(f"{len(made.code)} instructions take a compiler minutes")
    return made


def given_for(program, robot, number):
    rng, made = np.random.default_rng(7), []
    one = robot_named(robot)
    for taken in program.inputs:
        if taken.uniform:
            made.append(np.zeros(taken.size, number))
        else:
            q, _ = one.random_state(rng, STATES)
            row = q if taken.size == one.nq else rng.normal(size=(STATES, taken.size))
            made.append(np.ascontiguousarray(row, number))
    return made


def same(a, b):
    return np.array_equal(a, b, equal_nan=a.dtype.kind == "f")


def agree(folder, program, arrays, rows=0):
    number = arrays[0].dtype
    ours, plain = outs_of(program, STATES, number, rows), outs_of(program, STATES, number, rows)
    cuda_on_host.run(folder, program, arrays, ours)
    interpret.run(program, arrays, plain)
    assert all(map(same, ours, plain))


@pytest.mark.sampled(1)
@hosted
@numbers
@pytest.mark.parametrize(
    "case",
    swept(kernels(), lambda case: case in {("legs", "mass_matrix"), ("tree", "forward_dynamics"), ("arm", "pose")}),
    ids="-".join,
)
def test_on_the_host_the_text_gives_the_bits_of_the_interpreter(tmp_path, case, number):
    program = program_of(*case)
    agree(tmp_path, program, given_for(program, case[0], number))


@pytest.mark.sampled(1)
@hosted
@numbers
def test_loops_memory_and_rows_give_the_bits_of_the_interpreter(tmp_path, number):
    graph = Graph()
    x, n = [graph.input("x", k) for k in range(3)], graph.input("n", 0)
    weights, kept = Table([0.5, 0.25, 0.125]), Scratch(4, like=x[0])
    force, log = Rows(graph, "force", 2), Record(graph, "log", 3)

    def step(k, a, b):
        u = force[k]
        kept[a * 3.0] = b
        log[k] = a, b + u[1], kept[b]
        return sin(a) + u[0] * weights[k], cos(b) + entry(graph, "x", 3, a * 4.0)

    a, b = repeat(n, x[:2], step, until=lambda a, b: less(absolute(a), 0.1))
    inputs = [Input("x", 3), Input("n", 1, uniform=True), Input("force", 2, stream=True)]
    program = order(inputs, [("out", (3,), [a, b, kept[1]]), log])
    rng = np.random.default_rng(1)
    arrays = [rng.normal(size=(STATES, 3)), np.array([3.0]), rng.normal(size=(STATES, 2, 2))]
    agree(tmp_path, program, [one.astype(number) for one in arrays], rows=3)


def test_no_two_arrays_have_one_name():
    graph = Graph()
    inputs = [Input("rows", 1), Input("x y", 1), Input("x_y", 1)]
    total = sum((graph.input(one.name, 0) for one in inputs), 0.0)
    source = emit(order(inputs, [("rows", (1,), [total])]), REALS["double"]).source
    assert all(f"all_{name}[" in source for name in ("rows_", "x_y", "x_y_", "rows__"))


@with_nvrtc
@pytest.mark.parametrize("scalar", REALS)
@pytest.mark.parametrize("case", swept(kernels(), lambda case: case == ("tree", "forward_dynamics")), ids="-".join)
def test_nvrtc_takes_every_algorithm(case, scalar):
    text = emit(program_of(*case), REALS[scalar])
    assert compiler.compiled(text.source, "program", 90).startswith(b"\x7fELF")


@with_nvrtc
def test_what_nvrtc_does_not_take_is_said():
    with pytest.raises(DeviceError, match=r"does not know the architecture sm_12\.\n  Take a newer one"):
        compiler.compiled("", "nothing", 12)
    with pytest.raises(DeviceError, match=r"does not take wrong: wrong\.cu"):
        compiler.compiled("nonsense", "wrong", 90)


@pytest.mark.skipif(has_gpu(), reason="there is a GPU here")
def test_without_a_gpu_the_back_end_says_what_is_missing():
    with pytest.raises(DeviceError, match=r'backend="cuda" needs .* which is not there'):
        hinge.samples.planar_2r().gravity_force(np.zeros(2), backend="cuda")


@with_gpu
@numbers
@pytest.mark.parametrize("case", swept(kernels(), lambda case: case[1] == "forward_dynamics"), ids="-".join)
def test_a_gpu_gives_the_bits_of_the_interpreter(case, number):
    from hinge.backends import cuda

    program = program_of(*case)
    arrays = given_for(program, case[0], number)
    ours, plain = outs_of(program, STATES, number), outs_of(program, STATES, number)
    cuda.BACKEND.compile(program, np.dtype(number)).run(arrays, ours)
    interpret.run(program, arrays, plain)
    assert all(map(same, ours, plain))
