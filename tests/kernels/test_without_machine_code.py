"""Where the system does not let a process run code it has written, the interpreter serves."""

import warnings
from types import SimpleNamespace

import numpy as np
import pytest
from kernel_cases import ROBOTS, same_bits, states

import hinge
from hinge.backends import llvm
from hinge.backends.llvm import jit


@pytest.fixture
def refused(monkeypatch):
    monkeypatch.setattr(llvm, "may_run", lambda: False)


def test_machine_code_may_run_here():
    assert jit.may_run()


@pytest.mark.sampled(5)
@pytest.mark.parametrize("name", ROBOTS)
@pytest.mark.parametrize("number", [np.float64, np.float32], ids=["double", "single"])
def test_the_interpreter_serves(refused, cold, name, number):
    robot = ROBOTS[name]()
    for n in (1, 6):
        q, qd, x = states(robot, n, dtype=number)
        for given in ((q, qd, x), (q[0], qd[0], x[0])):
            for _ in range(2):
                made = robot.forward_dynamics(*given)
                assert same_bits(made, robot.forward_dynamics(*given, backend="interpret"))
    tip = robot.body_names[-1]
    assert same_bits(robot.pose(q, tip), robot.pose(q, tip, backend="interpret"))
    assert robot.kernel("forward_dynamics").entries == ()
    assert not cold.exists()  # nothing was compiled


def test_bound_calls_and_statuses_are_served_too(refused):
    arm = ROBOTS["planar"]()
    q, qd, tau = states(arm, 5)
    out = np.empty((5, 2))
    step = arm.kernel("forward_dynamics").bind(q, qd, tau, out)
    assert step() is None
    assert same_bits(out, arm.forward_dynamics(q, qd, tau, backend="interpret"))
    q[2] = np.nan
    step()
    assert np.isnan(out).any(axis=1).tolist() == [False, False, True, False, False]
    assert arm.forward_dynamics(q, qd, tau, return_status=True)[1].tolist() == [0, 0, 2, 0, 0]


def test_the_user_is_told_once(monkeypatch):
    jit.may_run.cache_clear()
    try:
        with monkeypatch.context() as patch, warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            patch.setattr(jit.ctypes, "CDLL", lambda name: SimpleNamespace(mprotect=lambda *args: -1))
            arm = hinge.samples.planar_2r()
            made = [arm.gravity_force([0.3, 0.4]) for _ in range(3)]
            arm.mass_matrix([0.3, 0.4])
            hinge.samples.planar_2r().gravity_force([0.3, 0.4])
    finally:
        jit.may_run.cache_clear()
    message = "this system does not let hinge run machine code; the slow interpreter serves."
    assert [str(w.message) for w in caught] == [message]
    want = arm.gravity_force([0.3, 0.4], backend="interpret")
    assert all(same_bits(one, want) for one in made)
    assert jit.may_run()
