"""One state equals its row in any batch, bit for bit: for any size, split, number of threads, layout and repetition."""

import numpy as np
import pytest
from kernel_cases import ROBOTS, same_bits, states

import hinge
from hinge.backends import threads
from hinge.backends.llvm import DOUBLE, SINGLE, lanes

SIZES = [*range(1, 18), 1031]
NUMBERS = [np.float64, np.float32]
TIP = {"planar": "hand", "puma": "tool", "tree": "link4", "follower": "link3", "floating": "link3"}


def calls(name, robot):
    """Calls that take q, qd, and something of the size of qd."""
    return {
        "inverse_dynamics": lambda q, qd, x, **o: robot.inverse_dynamics(q, qd, x, **o),
        "forward_dynamics": lambda q, qd, x, **o: robot.forward_dynamics(q, qd, x, **o),
        "mass_matrix": lambda q, qd, x, **o: robot.mass_matrix(q, **o),
        "pose": lambda q, qd, x, **o: robot.pose(q, TIP[name], **o),
        "jacobian": lambda q, qd, x, **o: robot.jacobian(q, TIP[name], **o),
        "kinetic_energy": lambda q, qd, x, **o: robot.kinetic_energy(q, qd, **o),
    }


WHAT = ["inverse_dynamics", "forward_dynamics", "mass_matrix", "pose", "jacobian", "kinetic_energy"]


@pytest.fixture(scope="module")
def made():
    """Robots made once: a call, 1031 states, and the answers one state at a time."""
    kept = {}

    def get(name, what, number):
        if (name, what, number) not in kept:
            robot = kept.setdefault(name, ROBOTS[name]())
            call = calls(name, robot)[what]
            given = states(robot, max(SIZES), 5, number)
            rows = np.stack([call(*(x[k] for x in given)) for k in range(max(SIZES))])
            assert rows.dtype == number
            kept[name, what, number] = call, given, rows
        return kept[name, what, number]

    return get


every = [
    pytest.mark.parametrize("number", NUMBERS, ids=["double", "single"]),
    pytest.mark.parametrize("what", WHAT),
    pytest.mark.parametrize("name", ["planar", "puma", "tree"]),
]


def for_all(test):
    for mark in every:
        test = mark(test)
    return test


@pytest.mark.sampled(12)
@for_all
def test_a_state_equals_its_row_in_a_batch_of_any_size(made, name, what, number):
    call, given, rows = made(name, what, number)
    for n in SIZES:
        for first in (0, 3):
            part = call(*(x[first : first + n] for x in given))
            assert same_bits(part, rows[first : first + n])


@pytest.mark.sampled(18)
@for_all
def test_a_state_equals_its_row_for_any_split(made, name, what, number):
    call, given, rows = made(name, what, number)
    block = lanes(DOUBLE if number is np.float64 else SINGLE)
    for n in (1, 2, 3, 4):
        hinge.set_threads(n)
        threads.tell(smallest=0.0)  # even the smallest batch goes in as many parts as there are blocks and threads
        for size in (block - 1, 2 * block, 3 * block + 1, 17, 1031):
            assert same_bits(call(*(x[:size] for x in given)), rows[:size])


@pytest.mark.parametrize("name", ["follower", "floating"])
@pytest.mark.parametrize("what", WHAT)
def test_coupled_and_free_robots_give_the_same_bits_too(made, name, what):
    call, given, rows = made(name, what, np.float64)
    for n in (1, 3):
        hinge.set_threads(n)
        threads.tell(smallest=0.0)
        for size in (1, 5, 17, 1031):
            assert same_bits(call(*(x[:size] for x in given)), rows[:size])


@pytest.mark.parametrize("number", NUMBERS, ids=["double", "single"])
def test_repeated_runs_give_the_same_bits(made, number):
    call, given, rows = made("tree", "forward_dynamics", number)
    hinge.set_threads(4)
    threads.tell(smallest=0.0)
    for _ in range(50):
        assert same_bits(call(*given), rows)


def test_a_large_batch_over_threads_gives_the_same_bits(made):
    call, given, rows = made("puma", "inverse_dynamics", np.float64)
    large = [np.tile(x, (60, 1)) for x in given]
    for n in (1, 2, 4, 7):
        hinge.set_threads(n)
        assert same_bits(call(*large), np.tile(rows, (60, 1)))


LAYOUTS = {
    "nested": lambda x: x[:1030].reshape(2, 5, 103, -1),
    "every other": lambda x: np.repeat(x[:1030], 2, axis=0)[::2].reshape(2, 5, 103, -1),
    "backwards": lambda x: x[:1030][::-1].copy()[::-1].reshape(2, 5, 103, -1),
    "by columns": lambda x: np.asfortranarray(x[:1030]).reshape(2, 5, 103, -1),
    "transposed": lambda x: x[:1030].reshape(2, 5, 103, -1).transpose(2, 1, 0, 3).copy().transpose(2, 1, 0, 3),
}


@pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS)
@pytest.mark.parametrize("number", NUMBERS, ids=["double", "single"])
def test_the_layout_of_a_batch_does_not_matter(made, layout, number):
    call, given, rows = made("puma", "forward_dynamics", number)
    assert same_bits(call(*map(layout, given)), rows[:1030].reshape(2, 5, 103, -1))


def test_broadcasting_gives_the_same_bits(made):
    call, (q, qd, x), _ = made("tree", "inverse_dynamics", np.float64)
    grid = call(q[:3, None, None], qd[:4, None], x[:5])
    for i, j, k in np.ndindex(3, 4, 5):
        assert same_bits(grid[i, j, k], call(q[i], qd[j], x[k]))


@pytest.mark.parametrize("what", WHAT)
@pytest.mark.parametrize("number", NUMBERS, ids=["double", "single"])
def test_writing_into_an_array_gives_the_same_bits(made, what, number):
    call, given, rows = made("planar", what, number)
    for n in (1, 5, 1031):
        out = np.full_like(rows[:n], np.nan)
        assert call(*(x[:n] for x in given), out=out) is out
        assert same_bits(out, rows[:n])
    strided = np.full((40, *rows.shape[1:]), np.nan, number)[::2]
    call(*(x[:20] for x in given), out=strided)
    assert same_bits(strided.copy(), rows[:20])


@pytest.mark.parametrize("threads_used", [1, 3])
def test_an_out_that_overlaps_an_input_gives_the_same_bits(made, threads_used):
    call, given, rows = made("puma", "inverse_dynamics", np.float64)
    hinge.set_threads(threads_used)
    threads.tell(smallest=0.0)
    for n in (1, 7, 200):
        q, qd, qdd = (x[:n].copy() for x in given)
        call(q, qd, qdd, out=qd)
        assert same_bits(qd, rows[:n])
        memory = np.zeros((n + 1, 6))
        memory[:n] = given[2][:n]
        call(q, given[1][:n], memory[:n], out=memory[1:])  # each row is written where the next is read
        assert same_bits(memory[1:], rows[:n])


@pytest.mark.parametrize("batch", [(0,), (3, 0), (0, 5)])
@pytest.mark.parametrize("number", NUMBERS, ids=["double", "single"])
def test_a_batch_of_no_states_gives_no_rows(made, batch, number):
    call, given, _ = made("puma", "inverse_dynamics", number)
    none = [np.zeros((*batch, x.shape[1]), number) for x in given]
    assert same_bits(call(*none), np.zeros((*batch, 6), number))
    assert same_bits(call(none[0], given[1][0], given[2][0]), np.zeros((*batch, 6), number))
