"""A Python that lays out one kind of object in another way keeps the fast path of the others, and says so once."""

import warnings

import numpy as np
import pytest
from kernel_cases import same_bits, states

import hinge
from hinge.backends.llvm import cpython_layout, jit

GIVEN = {"arrays": lambda x: x, "lists": lambda x: x.tolist(), "tuples": lambda x: tuple(x.tolist())}


@pytest.fixture
def odd(monkeypatch):
    """Makes the probe of one kind fail, or Python do without its lock, and gives what is said from then on."""
    looked_up = cpython_layout.known, jit.entry
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")

        def fail(kind):
            if kind == "lock":
                monkeypatch.setattr(cpython_layout.sys, "_is_gil_enabled", lambda: False, raising=False)
            else:
                monkeypatch.setitem(cpython_layout.PROBES, kind, lambda: False)
            for one in looked_up:
                one.cache_clear()
            return said

        yield fail
    for one in looked_up:
        one.cache_clear()


def test_every_kind_is_known_here():
    assert cpython_layout.known() == cpython_layout.PROBES.keys()


@pytest.mark.parametrize("kind", ["lists", "tuples", "numbers"])
def test_one_odd_layout_leaves_the_others_fast(odd, kind):
    said = odd(kind)
    arm = hinge.samples.puma560()
    q, qd, qdd = (x[0] for x in states(arm, 1))
    want = arm.inverse_dynamics(q, qd, qdd)
    enter = arm.kernel("inverse_dynamics").code(np.dtype(float)).enter
    slow = {kind} if kind in GIVEN else {"lists", "tuples"}
    for name, given in GIVEN.items():
        made = enter(*map(given, (q, qd, qdd)), None)
        assert (made is None) == (name in slow)
        for _ in range(2):
            assert same_bits(arm.inverse_dynamics(*map(given, (q, qd, qdd))), want)
    hinge.samples.planar_2r().mass_matrix([0.3, 0.4])
    assert [str(one.message) for one in said] == [
        f"calls of hinge with {kind} take longer here: this Python lays {kind} out as hinge does not know it.\n"
        "  Results are the same."
    ]


@pytest.mark.parametrize("kind", ["arrays", "lock"])
def test_without_arrays_or_a_lock_python_serves(odd, kind):
    usual = hinge.samples.puma560()
    q, qd, qdd = states(usual, 6)
    want = usual.inverse_dynamics(q, qd, qdd)
    said = odd(kind)
    arm = hinge.samples.puma560()
    kernel = arm.kernel("inverse_dynamics")
    for _ in range(2):
        assert same_bits(arm.inverse_dynamics(q, qd, qdd), want)
        assert same_bits(arm.inverse_dynamics(q[2], qd[2], qdd[2]), want[2])
    out = np.empty((6, 6))
    bound = kernel.bind(q, qd, qdd, out)
    bound()
    assert same_bits(out, want)
    assert kernel.entries == ()
    assert len(said) == 1
    assert ("arrays" if kind == "arrays" else "without a lock") in str(said[0].message)
    assert type(bound).__name__ == ("builtin_function_or_method" if kind == "arrays" else "function")
