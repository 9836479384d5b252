"""A back end is a row: one of a page runs every algorithm, one that lacks something says what."""

import math

import numpy as np
import pytest
from kernel_cases import ROBOTS, same_bits, states

import hinge
from hinge import backends
from hinge.backends import Backend, Code
from hinge.graph import OPS

MEANING = {
    "add": lambda a, b: a + b, "sub": lambda a, b: a - b, "mul": lambda a, b: a * b, "neg": lambda a: -a,
    "div": lambda a, b: a / b if b else math.nan, "sin": math.sin, "cos": math.cos, "atan2": math.atan2,
    "sqrt": lambda a: math.sqrt(a) if a >= 0.0 else math.nan, "min": min, "max": max, "less": lambda a, b: a < b,
    "select": lambda c, a, b: a if c else b, "fma": lambda a, b, c: a * b + c, "fms": lambda a, b, c: a * b - c,
    "fnma": lambda a, b, c: c - a * b, "abs": abs, "floor": math.floor,
}  # fmt: skip


class ByHand(Code):
    """A program run in plain Python, state by state."""

    def __init__(self, program):
        self.program = program

    def run(self, arrays, outs):
        for k in range(len(outs[0])):
            values = []
            for op, args in self.program.code:
                if op == "input":
                    row = arrays[args[0]] if self.program.inputs[args[0]].uniform else arrays[args[0]][k]
                    values.append(float(row[args[1]]))
                else:
                    values.append(MEANING[op](*(values[a] if type(a) is int else a for a in args)))
            for output, out in zip(self.program.outputs, outs, strict=True):
                out[k] = [values[e] if type(e) is int else e for e in output.entries]


class Toy(Backend):
    """Python's own numbers."""

    name, operations = "toy", MEANING.keys()

    def compile(self, program, dtype):
        return ByHand(program)


class WithoutSines(Toy):
    name, operations = "flat", MEANING.keys() - {"sin", "cos"}


@pytest.fixture(autouse=True)
def table(monkeypatch):
    """A copy of the table, which is thrown away after the test."""
    monkeypatch.setattr(backends, "_ROWS", dict(backends._ROWS))


@pytest.mark.parametrize("name", ROBOTS)
def test_a_back_end_of_a_page_runs_what_the_others_run(name):
    backends.register(Toy())
    robot = ROBOTS[name]()
    q, qd, qdd = states(robot, 4)
    for call in ("inverse_dynamics", "forward_dynamics"):
        made = getattr(robot, call)(q, qd, qdd, backend="toy")
        np.testing.assert_allclose(made, getattr(robot, call)(q, qd, qdd), rtol=1e-9, atol=1e-9)
        assert same_bits(getattr(robot, call)(q[1], qd[1], qdd[1], backend="toy"), made[1])
    made, status = robot.forward_dynamics(q, qd, qdd, backend="toy", return_status=True)
    assert status.tolist() == [0] * 4
    out = np.empty_like(made)
    robot.kernel("forward_dynamics", backend="toy").bind(q, qd, qdd, out)()
    assert same_bits(out, robot.forward_dynamics(q, qd, qdd, backend="toy"))


def test_it_serves_where_the_environment_says_so(monkeypatch):
    backends.register(Toy())
    monkeypatch.setenv("HINGE_BACKEND", "toy")
    arm = hinge.samples.planar_2r()
    assert arm.kernel("gravity_force").backend == "toy"
    assert isinstance(arm.kernel("gravity_force").code(np.dtype(float)), ByHand)


def test_one_that_lacks_an_operation_raises_by_its_name():
    backends.register(WithoutSines())
    arm = hinge.samples.planar_2r()
    with pytest.raises(hinge.NotCovered) as caught:
        arm.inverse_dynamics([0.1, 0.2], [0.0, 0.0], [0.0, 0.0], backend="flat")
    assert str(caught.value) == (
        "back end 'flat' has no 'cos', 'sin', which inverse_dynamics of robot 'planar_2r' needs.\n"
        "  Add it to the back end's operations, or use another back end."
    )


def test_one_that_does_not_say_how_it_compiles_raises():
    class Empty(Backend):
        name, operations = "empty", OPS.keys()

    backends.register(Empty())
    with pytest.raises(NotImplementedError, match="back end 'empty' does not say how it compiles"):
        hinge.samples.planar_2r().gravity_force([0.1, 0.2], backend="empty")


def test_code_that_does_not_say_how_it_runs_raises():
    class Idle(Backend):
        name, operations = "idle", OPS.keys()

        def compile(self, program, dtype):
            return Code()

    backends.register(Idle())
    with pytest.raises(NotImplementedError):
        hinge.samples.planar_2r().gravity_force([0.1, 0.2], backend="idle")


def test_a_name_that_is_no_back_end_is_refused():
    with pytest.raises(hinge.UnknownName) as caught:
        hinge.samples.planar_2r().kernel("gravity_force", backend="lllvm")
    assert str(caught.value) == "there is no back end 'lllvm'. Did you mean 'llvm'?"
    with pytest.raises(hinge.NotCovered, match="is no back end"):
        backends.register("cuda")


def test_a_stand_in_is_not_offered(monkeypatch):
    from hinge.backends.llvm import Alone

    monkeypatch.setitem(backends._ROWS, "llvm", backends.find("llvm"))
    monkeypatch.setitem(backends._ROWS, "llvm_alone", Alone())
    with pytest.raises(hinge.UnknownName, match="'llvm'") as refused:
        backends.find("vulkan")
    assert "llvm_alone" not in str(refused.value)


@pytest.mark.parametrize("call", [
    lambda robot: robot.mass_matrix([0.1, 0.2], backend=[1]),
    lambda robot: hinge.rollout(robot, [0.1, 0.2], [0.0, 0.0], 2, 1e-3, backend=[1]),
    lambda robot: hinge.simulate(robot, 0.01, [0.1, 0.2], backend=[1]),
])  # fmt: skip
def test_a_back_end_that_is_no_name_is_refused(call):
    with pytest.raises(hinge.UnknownName, match=r"backend is \[1\]. Give the name of a back end, such as"):
        call(hinge.samples.planar_2r())
