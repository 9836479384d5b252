"""Calls in machine code take what is plain, hand on what is not, and never end the interpreter."""

import gc
import json
import pathlib
import sys
import tracemalloc

import numpy as np
import pytest
from kernel_cases import python, same_bits, states

import hinge
from hinge.backends import memory

FUZZ = pathlib.Path(__file__).parent / "fuzz_calls.py"


@pytest.fixture(scope="module")
def arm():
    return hinge.samples.puma560()


@pytest.fixture(scope="module")
def fast(arm):
    """The builtin behind inverse_dynamics: its arguments, and a place for the result or None."""
    return arm.kernel("inverse_dynamics").code(np.dtype(float)).enter


@pytest.fixture(scope="module")
def state(arm):
    return [x[0] for x in states(arm, 1)]


@pytest.mark.sampled(1)
@pytest.mark.parametrize("seed", [1, 2])
def test_whatever_it_is_given_it_answers_right_or_refuses(seed):
    ran = python(FUZZ, seed, 350, PYTHONWARNINGS="ignore")
    assert (ran.returncode, ran.stderr) == (0, "")
    tally = json.loads(ran.stdout)
    assert tally["answered"] + tally["refused"] == tally["fast"] + tally["passed on"] == 3500
    assert tally["answered"] > 1000
    assert tally["refused"] > 1000
    assert tally["fast"] > 50
    assert tally["into a place"] > 10


def test_a_plain_state_is_taken(arm, fast, state):
    made = fast(*state, None)
    assert type(made) is np.ndarray
    assert made.flags.owndata
    np.testing.assert_allclose(made, arm.inverse_dynamics(*state, backend="interpret"), rtol=1e-12)
    assert same_bits(made, arm.kernel("inverse_dynamics")(*state))


class Sub(np.ndarray):
    pass


def _frozen(x):
    x = x.copy()
    x.flags.writeable = False
    return x


def test_a_read_only_state_is_taken(fast, state):
    assert same_bits(fast(*map(_frozen, state), None), fast(*state, None))


PLAIN = {
    "a list": lambda x: x.tolist(),
    "a tuple": lambda x: tuple(x.tolist()),
    "a list of whole numbers": lambda x: [1, 2, 3, 4, 5, 6],
}


@pytest.mark.parametrize("k", range(3))
@pytest.mark.parametrize("plain", PLAIN.values(), ids=PLAIN)
def test_lists_and_tuples_are_taken(arm, fast, state, plain, k):
    given = list(state)
    given[k] = plain(given[k])
    assert same_bits(fast(*given, None), arm.inverse_dynamics(*map(np.asarray, given), out=np.empty(6)))


@pytest.mark.parametrize("batch", [(1,), (5,), (2, 3), (1, 1, 4), (700,), (40, 60)])
def test_batches_are_taken_with_a_place_and_without(arm, fast, batch):
    given = [x.reshape(*batch, 6) for x in states(arm, int(np.prod(batch)))]
    out = np.full((*batch, 6), 7.0)
    assert fast(*given, out) is out
    assert same_bits(fast(*given, None), out)
    alone = [fast(*(x.reshape(-1, 6)[k] for x in given), None) for k in range(out.size // 6)]
    assert same_bits(np.stack(alone).reshape(out.shape), out)


def test_statuses_and_several_results_are_taken(arm, state):
    enter = arm.kernel("forward_dynamics", status=True).code(np.dtype(float)).enter
    for given, shape in ((state, ()), ([np.stack([x, x]) for x in state], (2,)), ([x.tolist() for x in state], ())):
        qdd, status = enter(*given, None)
        assert (qdd.shape, status.shape, status.dtype) == ((*shape, 6), shape, np.uint8)
        assert same_bits(qdd, arm.forward_dynamics(*given))
        assert not status.any()
    out = np.empty(6)
    assert enter(*state, out)[0] is out
    q, qd = arm.kernel("step").code(np.dtype(float)).enter(*state, 0.01, None)
    assert [same_bits(a, b) for a, b in zip((q, qd), arm.step(*state, 0.01), strict=True)] == [True, True]


def test_a_place_that_does_not_fit_is_handed_on(fast, state):
    shared = np.concatenate(state)
    given = [shared[6 * k : 6 * k + 6] for k in range(3)]
    assert fast(*given, np.empty(6)) is not None
    for out in (shared[3:9], shared[12:], given[0], np.empty(5), np.empty((1, 6)), np.empty(6, np.float32), [0.0] * 6,
                _frozen(np.empty(6)), np.empty(12)[::2], np.empty(6).view(Sub), 3.0):  # fmt: skip
        assert fast(*given, out) is None


UNUSUAL = {
    "a list in a list": lambda x: [x.tolist()],
    "a list of text": lambda x: ["1"] * 6,
    "a list with a number that is too large": lambda x: [10**400] * 6,
    "a short list": lambda x: x.tolist()[1:],
    "a subclass": lambda x: x.view(Sub),
    "a memoryview": memoryview,
    "every third of a longer one": lambda x: np.repeat(x, 3)[::3],
    "backwards": lambda x: x[::-1][::-1].copy()[::-1],
    "swapped bytes": lambda x: x.astype(">f8"),
    "one row": lambda x: x[None],  # the others are single
    "float32": lambda x: x.astype(np.float32),
    "integers": lambda x: x.astype(int),
    "too long": lambda x: np.append(x, 0.0),
    "too short": lambda x: x[:-1],
    "nothing": lambda x: None,
    "records": lambda x: x.view([("a", "f8")]),
    "objects": lambda x: x.astype(object),
    "misaligned": lambda x: np.frombuffer(b"\0" + x.tobytes(), np.float64, offset=1),
}


@pytest.mark.parametrize("k", range(3))
@pytest.mark.parametrize("unusual", UNUSUAL.values(), ids=UNUSUAL)
def test_the_unusual_is_handed_on(fast, state, unusual, k):
    given = list(state)
    given[k] = unusual(given[k])
    assert fast(*given, None) is None


@pytest.mark.parametrize("unusual", ["a subclass", "a memoryview", "every third of a longer one",
                                     "swapped bytes", "misaligned"])  # fmt: skip
def test_what_is_handed_on_gives_the_same_bits(arm, state, unusual):
    assert same_bits(arm.inverse_dynamics(*map(UNUSUAL[unusual], state)), arm.inverse_dynamics(*state))


def test_a_wrong_number_of_arguments_is_handed_on(arm, fast, state):
    assert [fast(*given) for given in ([], state[:1], state, [*state, None, None], state * 20)] == [None] * 5
    with pytest.raises(TypeError, match="keyword"):
        fast(*state[:2], qdd=state[2], out=None)
    with pytest.raises(hinge.SizeError, match="takes q, qd, qdd; 2 arrays were given"):
        arm.kernel("inverse_dynamics")(*state[:2])


def test_results_are_new_arrays_each_time(arm, state):
    q = np.stack([state[0]] * 3)
    for given in (state, [q, q, q], [np.zeros((30_000, 6))] * 3):
        first = arm.inverse_dynamics(*given)
        before = first.copy()
        second = arm.inverse_dynamics(*given)
        assert not np.shares_memory(first, second)
        second[...] = 0.0
        assert same_bits(first, before)


def test_the_memory_of_a_large_result_is_not_reused_while_a_view_of_it_lives(arm):
    q, qd, qdd = states(arm, 30_000)
    row = arm.inverse_dynamics(q, qd, qdd)[7]
    before, buffer = row.copy(), memoryview(arm.inverse_dynamics(q, qd, qdd))
    kept = bytes(buffer)
    gc.collect()
    for _ in range(5):
        arm.inverse_dynamics(qd, q, q)
    assert same_bits(row, before)
    assert bytes(buffer) == kept


def test_shapes_are_those_of_the_ordinary_way(arm, state):
    q, qd, _ = state
    calls = {
        "kinetic_energy": (q, qd), "center_of_mass": (q,), "mass_matrix": (q,), "pose": (q, "tool"),
        "jacobian": (q, "tool"), "momentum": (q, qd),
    }  # fmt: skip
    for name, given in calls.items():
        slow = getattr(arm, name)(*given, out=np.empty_like(getattr(arm, name)(*given)))
        quick = getattr(arm, name)(*given)
        assert (type(quick), quick.shape) == (np.ndarray, slow.shape)
        assert same_bits(quick, slow)


# ---- nothing is left behind


def counts(*objects):
    return [sys.getrefcount(x) for x in objects]


@pytest.mark.sweep
def test_ten_thousand_calls_keep_no_reference(arm, fast, state):
    rows = [np.stack([x] * 3) for x in state]
    arm.inverse_dynamics(*rows)
    watched = [*state, *rows, np.dtype(float), np.ndarray, fast, arm]
    gc.collect()
    before = counts(*watched)
    for _ in range(10_000):
        arm.inverse_dynamics(*state)  # taken
        fast(*state)  # handed on
        arm.inverse_dynamics(*rows)  # a batch
    gc.collect()
    assert counts(*watched) == before


def test_ten_thousand_nones_are_given_and_taken(arm, fast, state):
    bound = arm.kernel("inverse_dynamics").bind(*state, np.empty(6))
    before = sys.getrefcount(None)
    for _ in range(10_000):
        fast()
        bound()
    assert abs(sys.getrefcount(None) - before) < 1000


def test_ten_thousand_calls_keep_no_memory(arm, fast, state):
    rows = [np.stack([x] * 3) for x in state]
    arm.inverse_dynamics(*rows)
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        for _ in range(10_000):
            arm.inverse_dynamics(*state)
            fast(None)
            arm.inverse_dynamics(*rows)
        assert tracemalloc.get_traced_memory()[0] - before < 50_000
    finally:
        tracemalloc.stop()


def test_many_large_results_keep_little_memory(arm):
    q, qd, qdd = states(arm, 40_000)
    tracemalloc.start()
    try:
        for k in range(200):
            n = (40_000, 20_000, 7_000, 33_000)[k % 4]
            arm.inverse_dynamics(q[:n], qd[:n], qdd[:n])
        left = tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()
    assert left < memory.KEPT + 1_000_000  # the results are 240 MB in all
