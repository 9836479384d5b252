"""Bound calls: their arrays are checked once, kept alive, and read anew each time."""

import gc
import sys
import weakref

import numpy as np
import pytest
from kernel_cases import ROBOTS, python, same_bits, states

import hinge
from hinge import SizeError


@pytest.fixture(scope="module")
def arm():
    return hinge.samples.puma560()


def test_a_bound_call_sees_new_values(arm):
    q, qd, qdd = (x[0].copy() for x in states(arm, 1))
    tau = np.full(6, np.nan)
    step = arm.kernel("inverse_dynamics").bind(q, qd, qdd, tau)
    assert np.isnan(tau).all()  # nothing happens before it is called
    for seed in range(5):
        for x, new in zip((q, qd, qdd), states(arm, 1, seed), strict=True):
            x[:] = new[0]
        assert step() is None
        assert same_bits(tau, arm.inverse_dynamics(q, qd, qdd))


@pytest.mark.parametrize("backend", ["llvm", "interpret"])
@pytest.mark.parametrize("number", [np.float64, np.float32])
@pytest.mark.parametrize("batch", [(), (1,), (5,), (2, 3), (1031,), (0,), (3, 0)])
def test_a_bound_batch_is_the_batch(arm, batch, number, backend):
    n = int(np.prod(batch, dtype=int))
    given = [x.reshape(*batch, 6) for x in states(arm, n, dtype=number)]
    kernel = arm.kernel("forward_dynamics", backend=backend)
    out = np.full((*batch, 6), 7.0, number)
    kernel.bind(*given, out)()
    assert same_bits(out, kernel(*given))


@pytest.mark.parametrize("name", ROBOTS)
def test_every_result_can_be_bound(name):
    robot = ROBOTS[name]()
    q, qd, tau = (x[0] for x in states(robot, 1))
    cases = {"mass_matrix": (q,), "kinetic_energy": (q, qd), "integrate": (q, qd), "forward_dynamics": (q, qd, tau)}
    for what, given in cases.items():
        want = getattr(robot, what)(*given)
        out = np.empty_like(want)
        robot.kernel(what).bind(*given, out)()
        assert same_bits(out, want)


def test_read_only_inputs_can_be_bound(arm):
    q = np.linspace(0, 1, 6)
    q.flags.writeable = False
    out = np.empty(6)
    arm.kernel("gravity_force").bind(q, out)()
    assert same_bits(out, arm.gravity_force(q))


# ---- what it keeps alive


def test_a_bound_call_keeps_its_arrays_alive(arm):
    q, out = np.linspace(0, 1, 6), np.empty(6)
    want, alive = arm.gravity_force(q), (weakref.ref(q), weakref.ref(out))
    step = arm.kernel("gravity_force").bind(q, out)
    del q, out
    gc.collect()
    filler = [np.full(6, 7.0) for _ in range(1000)]
    step()
    assert same_bits(alive[1](), want)
    assert all((f == 7.0).all() for f in filler)
    del step
    gc.collect()
    assert [ref() for ref in alive] == [None, None]  # and no longer than it lives


def test_a_bound_call_outlives_its_kernel_and_robot():
    robot = hinge.samples.random_tree(np.random.default_rng(11), 4)
    given = states(robot, 9)
    want, out = robot.forward_dynamics(*given), np.empty((9, robot.nv))
    gone = weakref.ref(robot)
    step = robot.kernel("forward_dynamics").bind(*given, out)
    del robot
    gc.collect()
    assert gone() is None
    filler = [np.full(n, 7.0) for n in range(10, 600)]
    step()
    assert same_bits(out, want)
    assert all((f == 7.0).all() for f in filler)


def test_ten_thousand_bound_calls_keep_no_reference(arm):
    q, out = np.zeros((2, 6)), np.empty((2, 6))
    step = arm.kernel("gravity_force").bind(q, out)
    before = [sys.getrefcount(x) for x in (q, out, step, np.ndarray, np.dtype(float))]
    for _ in range(10_000):
        step()
    assert [sys.getrefcount(x) for x in (q, out, step, np.ndarray, np.dtype(float))] == before


def test_several_bound_calls_do_not_disturb_each_other(arm):
    given = [states(arm, n, seed) for seed, n in enumerate((1, 3, 17))]
    outs = [np.empty_like(g[1]) for g in given]
    steps = [arm.kernel("inverse_dynamics").bind(*g, out) for g, out in zip(given, outs, strict=True)]
    for step in steps + steps[::-1]:
        step()
    for g, out in zip(given, outs, strict=True):
        assert same_bits(out, arm.inverse_dynamics(*g))


def test_bound_calls_end_quietly_with_the_interpreter():
    code = """
import numpy as np, hinge
arm = hinge.samples.planar_2r()
q, out = np.zeros(2), np.empty(2)
step = arm.kernel("gravity_force").bind(q, out)
step()
large = arm.gravity_force(np.zeros((50_000, 2)))
"""
    ran = python(code)
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "", "")


# ---- what it refuses

PLAIN = "inverse_dynamics: bind needs contiguous arrays of one floating type; {} is not one."
Z = np.zeros(6)


def _frozen():
    x = np.zeros(6)
    x.flags.writeable = False
    return x


REFUSED = [
    ((Z, Z, Z), "inverse_dynamics: bind takes q, qd, qdd and out; 3 arrays were given."),
    ((Z, Z, Z, Z + 1, Z + 2), "inverse_dynamics: bind takes q, qd, qdd and out; 5 arrays were given."),
    ((Z.tolist(), Z, Z, Z + 1), PLAIN.format("q")),
    ((Z, None, Z, Z + 1), PLAIN.format("qd")),
    ((Z, Z, np.zeros(12)[::2], Z + 1), PLAIN.format("qdd")),
    ((Z, Z, Z, np.zeros(12)[::2]), PLAIN.format("out")),
    ((Z, Z, Z.astype(np.float32), Z + 1), PLAIN.format("qdd")),
    ((Z, Z, Z.astype(">f8"), Z + 1), PLAIN.format("qdd")),
    ((Z, Z, Z.view(np.recarray), Z + 1), PLAIN.format("qdd")),
    ((Z, np.frombuffer(b"\0" * 49, np.float64, offset=1), Z, Z + 1), PLAIN.format("qd")),
    ((np.zeros(6, int), Z, Z, Z + 1), PLAIN.format("q")),
    ((np.zeros(7), Z, Z, Z + 1), "inverse_dynamics: q has 7 entries, robot 'puma560' has nq = 6."),
    ((np.zeros((2, 6)), Z, Z, np.zeros((2, 6))), "inverse_dynamics: bind does not broadcast; qd has shape (6,)."),
    ((Z, Z, Z, np.zeros(5)),
     "inverse_dynamics: out is float64 (5,); it has to be a writable array of floats with shape (6,)."),
    ((Z, Z, Z, _frozen()),
     "inverse_dynamics: out is float64 (6,); it has to be a writable array of floats with shape (6,)."),
    ((Z, Z, Z, Z), "inverse_dynamics: bind needs an out that shares no memory with an input."),
]  # fmt: skip


@pytest.mark.parametrize(("arrays", "message"), REFUSED)
@pytest.mark.parametrize("backend", ["llvm", "interpret"])
def test_arrays_that_cannot_be_bound_are_refused(arm, backend, arrays, message):
    with pytest.raises(SizeError) as caught:
        arm.kernel("inverse_dynamics", backend=backend).bind(*arrays)
    assert str(caught.value) == message


@pytest.mark.parametrize("backend", ["llvm", "interpret"])
@pytest.mark.parametrize("states", [1, 3, 100])
def test_a_kernel_with_two_results_is_bound_to_both(arm, backend, states):
    kernel = arm.kernel("forward_dynamics", status=True, backend=backend)
    q, qd, tau = (np.random.default_rng(k).normal(size=(states, len(Z))) for k in range(3))
    qdd, status = np.empty((states, len(Z))), np.empty(states, np.uint8)
    kernel.bind(q, qd, tau, qdd, status)()
    wanted = kernel(q, qd, tau)
    assert np.array_equal(qdd, wanted[0])
    assert np.array_equal(status, wanted[1])


def test_a_kernel_with_two_results_says_that_it_has_two(arm):
    with pytest.raises(SizeError, match="bind takes q, qd, tau, out and out"):
        arm.kernel("forward_dynamics", status=True).bind(Z, Z, Z, Z + 1)
