"""Rows by step: a rollout gives the same bits on every back end, in any batch, in one call or in chunks."""

import numpy as np
import pytest
from back_ends import COMPILER, PRECISION, run_in_c, same_bits
from test_loop_laws import Drawn

import hinge
from hinge.backends import interpret, partition, threads
from hinge.backends.kernel import ROWS, Memo, Plan, kernel_of
from hinge.backends.llvm import Native
from hinge.errors import NotCovered, SizeError, TraceError
from hinge.graph import Graph, Input, Record, Rows, absolute, jacobian, less, order, pulled, repeat, replay, sin, when

STATES, STEPS, EVERY = 13, 12, 3
CARRIED = 3


class Rollout:
    """A state carried over steps by a random program, forces read at every step and a record written at every m-th.

    `shape` says how wide the rows are; the forces may be shared by all states. The record holds the state as it was,
    what it became, and the forces, as far as its width goes.
    """

    def __init__(self, seed, wide=2, log=5, shared=False):
        self.body, self.wide, self.log, self.shared = Drawn(seed), wide, log, shared

    def program(self):
        graph = Graph()
        x = [graph.input("x", k) for k in range(CARRIED)]
        n, m, start = (graph.input(name, 0) for name in ("records", "every", "first"))
        forces, log = Rows(graph, "forces", self.wide), Record(graph, "log", self.log)

        def step(k, *now):
            u = forces[k]
            moved = self.body(*(x + 0.1 * u[j % self.wide] for j, x in enumerate(now)))
            return tuple(sin(v) for v in moved[-CARRIED:])

        def record(k, *now):
            after = repeat(m, now, lambda j, *now: step(start + k * m + j, *now))
            written = [*now, *after, *forces[start + k * m]]
            log[k] = [written[j % len(written)] for j in range(self.log)]
            return after

        made = repeat(n, x, record)
        inputs = [
            Input("x", CARRIED),
            *(Input(name, 1, uniform=True) for name in ("records", "every", "first")),
            Input("forces", self.wide, uniform=self.shared, stream=True),
        ]
        return order(inputs, [("y", (CARRIED,), made), log])

    def given(self, number=np.float64, states=STATES, steps=STEPS):
        rng = np.random.default_rng(3)
        forces = rng.normal(size=(steps, self.wide) if self.shared else (states, steps, self.wide)).astype(number)
        return rng.normal(size=(states, CARRIED)).astype(number), forces


def outcome(run, program, x, forces, records, every=EVERY, first=0, rows=None):
    """What a way to run it makes of the state and of the record, which held 77 before."""
    number = x.dtype
    counts = [np.array([n], number) for n in (records, every, first)]
    log = np.full((len(x), records if rows is None else rows, program.outputs[1].shape[0]), 77.0, number)
    y = np.full((len(x), CARRIED), 77.0, number)
    run(program, [x, *counts, forces], [y, log])
    return y, log


def native(lanes):
    return lambda program, arrays, outs: Native(program, PRECISION[outs[0].dtype.type], lanes).run(arrays, outs)


WAYS = {"1 lane": native(1), "4 lanes": native(4), "8 lanes": native(8), "16 lanes": native(16)}
SHAPES = [(2, 5, False), (1, 1, False), (7, 27, False), (9, 8, True), (3, 4, True)]


@pytest.mark.sampled(2)
@pytest.mark.parametrize("number", [np.float64, np.float32], ids=["double", "single"])
@pytest.mark.parametrize("seed", range(10))
def test_a_rollout_gives_the_same_bits_everywhere(seed, number):
    rollout = Rollout(seed, *SHAPES[seed % len(SHAPES)])
    program, (x, forces) = rollout.program(), rollout.given(number)
    want = outcome(interpret.run, program, x, forces, STEPS // EVERY)
    assert all(np.isfinite(a).all() and (a != 77.0).all() for a in want)
    ways = WAYS | ({"C": run_in_c} if COMPILER and seed < 5 else {})
    for run in ways.values():
        made = outcome(run, program, x, forces, STEPS // EVERY)
        assert all(same_bits(a, b).all() for a, b in zip(made, want, strict=True))


@pytest.mark.sampled(4)
@pytest.mark.parametrize("longest", [60, 12, 4])
@pytest.mark.parametrize("seed", range(10))
def test_a_rollout_over_several_functions_gives_the_same_bits(monkeypatch, seed, longest):
    monkeypatch.setattr(partition, "SHORTEST", longest // 2)
    monkeypatch.setattr(partition, "LONGEST", longest)
    rollout = Rollout(seed, *SHAPES[seed % len(SHAPES)])
    program, (x, forces) = rollout.program(), rollout.given()
    want = outcome(interpret.run, program, x, forces, STEPS // EVERY)
    for run in [WAYS["4 lanes"], *([run_in_c] if COMPILER and seed < 2 else [])]:
        made = outcome(run, program, x, forces, STEPS // EVERY)
        assert all(same_bits(a, b).all() for a, b in zip(made, want, strict=True))


@pytest.mark.sampled(4)
@pytest.mark.parametrize("run", [interpret.run, *WAYS.values()], ids=["interpret", *WAYS])
@pytest.mark.parametrize("seed", range(5))
def test_two_chunks_are_one_call(seed, run):
    rollout = Rollout(seed, *SHAPES[seed])
    program, (x, forces) = rollout.program(), rollout.given()
    y, log = outcome(run, program, x, forces, 4)
    middle, before = outcome(run, program, x, forces, 1)
    end, after = outcome(run, program, middle, forces, 3, first=EVERY)
    assert same_bits(end, y).all()
    assert same_bits(np.concatenate([before, after], axis=1), log).all()


@pytest.mark.sampled(2)
@pytest.mark.parametrize("run", [interpret.run, *WAYS.values()], ids=["interpret", *WAYS])
def test_a_state_is_the_same_alone_and_in_any_batch(run):
    rollout = Rollout(1, 7, 27)
    program, (x, forces) = rollout.program(), rollout.given(states=21)
    y, log = outcome(run, program, x, forces, 4)
    for part in (slice(0, 1), slice(4, 12), slice(20, 21), slice(2, 7)):
        alone = outcome(run, program, x[part], np.ascontiguousarray(forces[part]), 4)
        assert same_bits(alone[0], y[part]).all()
        assert same_bits(alone[1], log[part]).all()


def test_threads_give_the_same_bits():
    rollout = Rollout(2, 7, 27)
    program, (x, forces) = rollout.program(), rollout.given(states=53)
    want = outcome(interpret.run, program, x, forces, 4)
    code = Native(program, width=4)
    try:
        for n in (1, 2, 3):
            hinge.set_threads(n)
            threads.tell(smallest=0.0)
            made = outcome(lambda _, arrays, outs: code.run(arrays, outs), program, x, forces, 4)
            assert all(same_bits(a, b).all() for a, b in zip(made, want, strict=True))
    finally:
        hinge.set_threads(None)


@pytest.mark.parametrize("run", [interpret.run, *WAYS.values()], ids=["interpret", *WAYS])
def test_no_steps_write_nothing(run):
    rollout = Rollout(0)
    program, (x, forces) = rollout.program(), rollout.given()
    for f in (forces, forces[:, :0]):
        y, log = outcome(run, program, x, np.ascontiguousarray(f), 0, rows=3)
        assert same_bits(y, x).all()
        assert (log == 77.0).all()


# ---- by hand


def everywhere(program, arrays, *shapes):
    """The results on every back end, which have to agree."""
    made = []
    for run in [interpret.run, *WAYS.values(), *([run_in_c] if COMPILER else [])]:
        outs = [np.full(shape, 77.0) for shape in shapes]
        run(program, arrays, outs)
        made.append(outs)
    for outs in made[1:]:
        for a, b in zip(made[0], outs, strict=True):
            np.testing.assert_array_equal(a, b)
    return made[0]


@pytest.mark.sampled(1)
@pytest.mark.parametrize("width", [1, 2, 9])
def test_a_row_that_is_not_there_reads_nan_and_is_not_written(width):
    graph = Graph()
    k, rows, log = graph.input("k", 0), Rows(graph, "a", width), Record(graph, "b", width)
    read = rows[k]
    log[k] = [float(j) for j in range(width)]
    program = order([Input("k", 1), Input("a", width, stream=True)], [("y", (width,), read), log])
    numbers = [0.0, 1.0, 2.0, -1.0, 3.0, np.nan, 1e300, -np.inf, 0.5, -0.5, 2.999]
    at = np.array(numbers)[:, None]
    held = np.random.default_rng(0).normal(size=(len(at), 3, width))
    y, b = everywhere(program, [at, held], (len(at), width), (len(at), 3, width))
    for state, number in enumerate(numbers):
        there = number >= 0.0 and number < 3.0
        np.testing.assert_array_equal(y[state], held[state, int(number)] if there else np.full(width, np.nan))
        want = np.full((3, width), 77.0)
        if there:
            want[int(number)] = np.arange(width)
        np.testing.assert_array_equal(b[state], want)
    y, b = everywhere(program, [at, held[:, :0].copy()], (len(at), width), (len(at), 0, width))
    assert np.isnan(y).all()


@pytest.mark.parametrize("shared", [False, True])
def test_an_index_may_differ_from_state_to_state(shared):
    graph = Graph()
    k = graph.input("k", 0)
    read = Rows(graph, "a", 3)[k]
    log = Record(graph, "b", 3)
    log[2.0 - k] = read
    program = order([Input("k", 1), Input("a", 3, uniform=shared, stream=True)], [("y", (3,), read), log])
    at = np.array([[0.0], [2.0], [1.0], [1.0], [0.0]])
    held = np.random.default_rng(0).normal(size=(3, 3) if shared else (5, 3, 3))
    y, b = everywhere(program, [at, held], (5, 3), (5, 3, 3))
    for state, number in enumerate(at[:, 0].astype(int)):
        np.testing.assert_array_equal(y[state], held[number] if shared else held[state, number])
        np.testing.assert_array_equal(b[state, 2 - number], y[state])
    assert (b == 77.0).sum() == 5 * 2 * 3


@pytest.mark.parametrize("longest", [400, 2])
def test_a_state_that_has_arrived_writes_no_more(monkeypatch, longest):
    monkeypatch.setattr(partition, "SHORTEST", longest // 2)
    monkeypatch.setattr(partition, "LONGEST", longest)
    graph = Graph()
    x, log = graph.input("x", 0), Record(graph, "log", 1)

    def halve(k, x):
        log[k] = [x]
        return (0.5 * x,)

    (y,) = repeat(6, (x,), halve, until=lambda x: less(x, 1.0))
    program = order([Input("x", 1)], [("y", (1,), [y]), log])
    x = np.array([[0.5], [1.0], [9.0], [100.0], [3.0]])
    y, log = everywhere(program, [x], (5, 1), (5, 6, 1))
    for state in range(5):
        trips = [x[state, 0] * 0.5**k for k in range(6)]
        want = [v if v >= 1.0 else 77.0 for v in trips]
        np.testing.assert_array_equal(log[state, :, 0], want)


def test_every_mth_trip_may_be_a_condition():
    graph = Graph()
    x, m, log = graph.input("x", 0), graph.input("m", 0), Record(graph, "log", 2)

    def step(k, x, waited, row):
        def write(waited, row):
            log[row] = [x, k]
            return waited * 0.0, row + 1.0

        waited, row = when(less(m - 0.5, waited), (waited, row), write)
        return x + 1.0, waited + 1.0, row

    y, *_ = repeat(10, (x, m, 0.0), step)
    program = order([Input("x", 1), Input("m", 1, uniform=True)], [("y", (1,), [y]), log])
    y, log = everywhere(program, [np.arange(5.0)[:, None], np.array([4.0])], (5, 1), (5, 4, 2))
    for state in range(5):
        np.testing.assert_array_equal(log[state], [[state, 0], [state + 4, 4], [state + 8, 8], [77, 77]])


def test_the_last_of_several_writes_stays():
    graph = Graph()
    x, log = graph.input("x", 0), Record(graph, "log", 1)
    log[0] = [x]
    log[0] = [x + 1.0]
    log[1] = [5.0]
    repeat(3, (x,), lambda k, v: (log.__setitem__(1.0, [v]), (v + 1.0,))[1])
    log[2] = [x]
    program = order([Input("x", 1)], [log])
    (log,) = everywhere(program, [np.array([[2.0], [7.0]])], (2, 3, 1))
    np.testing.assert_array_equal(log[..., 0], [[3.0, 4.0, 2.0], [8.0, 9.0, 7.0]])


# ---- kernels


def plan(rollout):
    program = rollout.program()
    outputs = (CARRIED,), (ROWS, rollout.log)
    return Plan("", "rollout", program.inputs, outputs, lambda backend: program, program, Memo())


@pytest.mark.parametrize("backend", ["llvm", "interpret"])
@pytest.mark.parametrize("number", [np.float64, np.float32], ids=["double", "single"])
def test_a_kernel_takes_and_gives_rows(tmp_path, monkeypatch, backend, number):
    monkeypatch.setenv("HINGE_CACHE_DIR", str(tmp_path))
    rollout = Rollout(3, 7, 9)
    x, forces = rollout.given(number, states=6)
    want = outcome(interpret.run, rollout.program(), x, forces, 4)
    shaped = x.reshape(2, 3, CARRIED), [4.0], [3.0], [0.0], forces.reshape(2, 3, STEPS, 7)
    for _ in range(2):  # compiled, and from the disk
        kernel = kernel_of(plan(rollout), backend)
        y, log = kernel(*shaped, rows=5)
        assert log.shape == (2, 3, 5, 9)
        assert log.dtype == number
        assert same_bits(y.reshape(6, CARRIED), want[0]).all()
        assert same_bits(log.reshape(6, 5, 9)[:, :4], want[1]).all()
        assert np.isnan(log[:, :, 4]).all()
    turned = np.asfortranarray(shaped[4])
    assert same_bits(kernel(*shaped[:4], turned, rows=5)[1], log).all()
    counts = [np.array([n], number) for n in (4, 3, 0)]
    outs = np.zeros((6, CARRIED), number), np.full((6, 5, 9), 77.0, number)
    bound = kernel.bind(x, *counts, forces, *outs)
    for _ in range(2):
        bound()
        assert same_bits(outs[0], want[0]).all()
        assert same_bits(outs[1][:, :4], want[1]).all()
        assert (outs[1][:, 4] == 77.0).all()
        outs[1][:, :4] = 0.0
    alone = kernel.bind(x[2], *counts, forces[2], outs[0][2], outs[1][2])
    alone()
    assert same_bits(outs[1][2, :4], want[1][2]).all()


@pytest.mark.parametrize("backend", ["llvm", "interpret"])
def test_a_record_that_is_given_keeps_what_is_not_written(backend):
    graph = Graph()
    x, log = graph.input("x", 0), Record(graph, "log", 2)
    repeat(2, (x,), lambda k, v: (log.__setitem__(k, [v, k]), (v + 1.0,))[1])
    program = order([Input("x", 1)], [log])
    kernel = kernel_of(Plan("", "f", program.inputs, ((ROWS, 2),), lambda backend: program, program, Memo()), backend)
    want = np.array([[[3.0, 0.0], [4.0, 1.0], [77.0, 77.0]]])
    for out in (np.full((1, 3, 2), 77.0), np.full((1, 3, 4), 77.0)[..., ::2], np.full((1, 3, 2), 77.0, np.float32)):
        assert kernel(np.array([[3.0]]), out=out) is out
        np.testing.assert_array_equal(out, want)


def test_what_does_not_fit_is_refused_by_name():
    rollout = Rollout(0)
    x, forces = rollout.given()
    kernel = kernel_of(plan(rollout), "interpret")
    refused = [
        (lambda: kernel(x, [1.0], [1.0], [0.0], forces), "rollout: say with rows= how many rows by step a result has."),
        (lambda: kernel(x, [1.0], [1.0], [0.0], forces, rows=(1, 2)),
         "rollout: rows is (1, 2); 1 results have rows by step."),
        (lambda: kernel(x, [1.0], [1.0], [0.0], forces[..., :1], rows=1),
         "rollout: forces has shape (13, 12, 1), robot '' has shape (rows, 2)."),
        (lambda: kernel.bind(x, *np.zeros((3, 1)), forces, np.zeros((13, CARRIED)), np.zeros((13, 5))),
         "rollout: out is float64 (13, 5); it has to be a writable array of floats with shape (13, 13, 5)."),
    ]  # fmt: skip
    for call, message in refused:
        with pytest.raises(SizeError) as caught:
            call()
        assert str(caught.value) == message


def test_a_record_has_rules():
    graph = Graph()
    x, log = graph.input("x", 0), Record(graph, "log", 2)
    with pytest.raises(SizeError, match="Record: 1 scalars are given; a row of 'log' has 2"):
        log[0] = [x]
    with pytest.raises(SizeError, match="row -1 of 'log': give a whole number, 0 or more"):
        log[-1] = [x, x]
    with pytest.raises(TraceError, match="there is a record 'log' already"):
        Record(graph, "log", 2)
    with pytest.raises(TraceError, match="'late' is made in the body of a loop"):
        repeat(3, (x,), lambda k, v: (Record(graph, "late", 2), (v,))[1])
    graph.open.clear()
    (y,) = repeat(3, (x,), lambda k, v: (log.__setitem__(k, [v, v]), (v + 1.0,))[1])
    with pytest.raises(TraceError, match="the record 'log' is written, and is not among the outputs"):
        order([Input("x", 1)], [("y", (1,), [y])])
    with pytest.raises(NotCovered, match="rows by step, 'log', does not run on symbols"):
        replay(order([Input("x", 1)], [("y", (1,), [y]), log]), [[2.0]])


def test_derivatives_pass_by_rows_that_are_read():
    graph = Graph()
    x, rows = graph.input("x", 0), Rows(graph, "a", 1)
    (y,) = repeat(4, (x,), lambda k, v: (v * rows[k][0] + absolute(x),))
    forward, back = jacobian([y], [x])[0], pulled([y], [1.0], [x])
    program = order([Input("x", 1), Input("a", 1, stream=True)], [("J", (2,), [*forward, *back])])
    a = np.array([[[2.0], [3.0], [5.0], [7.0]], [[1.0], [1.0], [1.0], [1.0]]])
    (J,) = everywhere(program, [np.array([[2.0], [3.0]]), a], (2, 2))
    np.testing.assert_array_equal(J, [[210 + 105 + 35 + 7 + 1] * 2, [5.0, 5.0]])


def test_a_listing_says_which_rows_are_read_and_written():
    graph = Graph()
    k, log = graph.input("k", 0), Record(graph, "log", 2)
    log[k] = Rows(graph, "a", 2)[k + 1.0]
    assert str(order([Input("k", 1), Input("a", 2, stream=True)], [log])) == (
        "v0 = k[0]\nv1 = v0 + 1.0\nv2 = a[v1][0]\nv3 = a[v1][1]\nlog[v0] = v2, v3\n"
    )
