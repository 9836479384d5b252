"""Long programs on a GPU: a better order, several kernels, and methods chosen by what they cost there."""

import functools
import importlib.util

import cuda_on_host
import numpy as np
import pytest
from cuda_on_host import outs_of
from gpus import with_gpu

import hinge
from hinge import backends
from hinge.backends import find, interpret
from hinge.backends.cuda import compiler, emit, parts, rows
from hinge.backends.cuda.registers import Flow, reordered
from hinge.backends.statements import REALS

STATES = 131  # a block of 128 threads, and a few
hosted = pytest.mark.skipif(cuda_on_host.COMPILER is None, reason="there is no C++ compiler here: g++ or clang++")
with_nvrtc = pytest.mark.skipif(importlib.util.find_spec("cuda") is None, reason='pip install "hinge[cuda]"')


@functools.cache
def limbs():
    """Three limbs on a fixed base, which do not meet."""
    rng = np.random.default_rng(4)
    first, second, third = (hinge.samples.chain(rng, n) for n in (4, 3, 3))
    base = first.frame_names[0]
    return first.attach(second, base, prefix="left_").attach(third, base, prefix="right_")


def entries(program):
    return [e for one in program.outputs for e in one.entries]


def rows_for(program, number=np.float64):
    rng = np.random.default_rng(7)
    return [rng.normal(size=(STATES, one.size)).astype(number) for one in program.inputs]


def interpreted(program, arrays):
    made = outs_of(program, STATES, arrays[0].dtype)
    interpret.run(program, arrays, made)
    return made


@pytest.mark.parametrize("name", ["inverse_dynamics", "forward_dynamics", "forward_dynamics_derivatives"])
def test_every_order_gives_the_same_bits(name):
    program = limbs().kernel(name, status=name == "forward_dynamics").program
    arrays = rows_for(program)
    wanted = interpreted(program, arrays)
    for order in Flow(program).orders(entries(program)):
        made = interpreted(reordered(program, order, program.outputs), arrays)
        assert all(np.array_equal(a, b) for a, b in zip(made, wanted, strict=True))


def alive_by_definition(program):
    """Values that were made and are still needed, counted after every instruction."""
    most, code = 0, program.code
    for n in range(len(code)):
        needed = {a for op, args in code[n + 1 :] for a in (args if op != "input" else ()) if type(a) is int}
        most = max(most, sum(code[k][0] != "input" for k in needed if k <= n))
    return most


@pytest.mark.parametrize("name", ["inverse_dynamics", "forward_dynamics"])
def test_limbs_one_after_the_other_keep_fewer_values_alive(name):
    program = limbs().kernel(name).program
    flow = Flow(program)
    as_it_is, limb_by_limb, *_ = flow.orders(entries(program))
    better = reordered(program, limb_by_limb, program.outputs)
    assert flow.alive(as_it_is) == alive_by_definition(program)
    assert flow.alive(limb_by_limb) == alive_by_definition(better) < 0.75 * flow.alive(as_it_is)


@pytest.fixture
def few_registers(monkeypatch):
    """Everything is long."""
    for name, limit in (("REGISTERS", 5), ("MANY", 10)):
        monkeypatch.setattr(parts, name, dict.fromkeys(REALS, limit))
    monkeypatch.setattr(parts, "WIDEST", 8)
    monkeypatch.setattr(parts, "FIRST", 4)


@pytest.mark.sampled(1)
@hosted
@pytest.mark.parametrize("number", [np.float64, np.float32])
@pytest.mark.parametrize("name", ["forward_dynamics", "mass_matrix"])
def test_parts_on_the_host_give_the_bits_of_the_interpreter(tmp_path, few_registers, name, number):
    program = limbs().kernel(name, status=name == "forward_dynamics").program
    assert len(emit(program, REALS["double"]).kernels) > 2
    arrays = rows_for(program, number)
    made = outs_of(program, STATES, number)
    cuda_on_host.run(tmp_path, program, arrays, made)
    assert all(np.array_equal(a, b) for a, b in zip(made, interpreted(program, arrays), strict=True))


@with_gpu
@pytest.mark.parametrize("number", [np.float64, np.float32])
def test_parts_on_a_gpu_give_the_bits_of_the_interpreter(few_registers, monkeypatch, number):
    monkeypatch.setattr(rows, "BUSY", 50)  # states at a time: some calls of all kernels, the last one of a few states
    monkeypatch.setattr(rows, "ROOM", 50)
    kernel = limbs().kernel("forward_dynamics", backend="cuda", status=True)
    arrays = rows_for(kernel.program, number)
    made = kernel(*arrays)
    for ours, wanted in zip(made, interpreted(kernel.program, arrays), strict=True):
        assert np.array_equal(ours.reshape(wanted.shape), wanted)


def test_every_result_is_in_one_part(few_registers):
    program = limbs().kernel("inverse_dynamics_derivatives").program
    cut = parts.parts(program, REALS["double"])
    assert len(cut) > 2
    assert sorted(int(one.name) for part in cut for one in part.outputs) == list(range(len(program.outputs[0].entries)))


@with_nvrtc
def test_nvrtc_takes_one_part_at_a_time(few_registers):
    text = emit(limbs().kernel("mass_matrix").program, REALS["double"])
    names = text.kernels
    assert len(names) > 2
    for k, name in enumerate(names):
        code = compiler.compiled(text.source, "program", 90, k)
        assert [other for other in names if other.encode() + b"\0" in code] == [name]


def test_what_registers_do_not_hold_costs_more(monkeypatch):
    program = limbs().kernel("forward_dynamics").program
    assert find("llvm").cost(program) == parts.cost(program) == program.operations
    monkeypatch.setattr(parts, "REGISTERS", {"float": 10})
    assert parts.cost(program) > program.operations


def test_the_cheapest_method_is_the_back_ends_choice(monkeypatch):
    """A back end that likes many sums takes another method than the rest."""

    class Odd(backends.Backend):
        name = "odd"
        operations = find("interpret").operations

        def cost(self, program):
            return -program.operations

        def compile(self, program, dtype):
            return find("interpret").compile(program, dtype)

    monkeypatch.setitem(backends._ROWS, "odd", Odd())
    robot = limbs()
    usual, odd = (robot.kernel("forward_dynamics", backend=name) for name in ("interpret", "odd"))
    assert odd.program.operations > usual.program.operations == robot.kernel("forward_dynamics").program.operations
    q, qd = robot.random_state(np.random.default_rng(1), 3)
    assert np.allclose(odd(q, qd, qd), usual(q, qd, qd))
    packed = [robot.kernel("mass_matrix", backend=name, by="q", packed=True).program for name in ("interpret", "odd")]
    assert packed[0] == packed[1]
