"""Results larger than the cache are written past it, and are the same bits wherever they go."""

import sys

import numpy as np
import pytest

import hinge
from hinge.backends import memory
from hinge.backends.llvm import DOUBLE, SINGLE, Native, batch_loop
from hinge.backends.llvm.batch_loop import FAR
from hinge.backends.memory import ALIGNED, LARGEST, SMALLEST, empty
from hinge.graph import Graph, Input, order

ROBOTS = {"rows of whole vectors": ("revolute",) * 4, "rows of broken ones": ("revolute",) * 3}


@pytest.mark.parametrize("kind", ROBOTS)
@pytest.mark.parametrize("number", [np.float64, np.float32])
def test_large_results_are_those_of_small_batches(kind, number):
    hinge.set_threads(1)  # or no part of the batch would be large
    robot = hinge.samples.random_tree(np.random.default_rng(0), len(ROBOTS[kind]), ROBOTS[kind])
    one = robot.regressor(robot.neutral(), *np.zeros((2, robot.nv)))
    states = FAR // (one.size * np.dtype(number).itemsize) + 37
    rng = np.random.default_rng(1)
    q, qd, qdd = rng.normal(size=(3, states, robot.nv)).astype(number)
    parts = [robot.regressor(q[k : k + 500], qd[k : k + 500], qdd[k : k + 500]) for k in range(0, states, 500)]
    want = np.concatenate(parts)
    assert np.array_equal(robot.regressor(q, qd, qdd), want)
    raw = np.empty(want.size + 2 * ALIGNED, number)
    even = (-raw.ctypes.data % ALIGNED) // raw.itemsize
    for start in (even, even + 1):  # on a line of the cache, and off it
        out = raw[start : start + want.size].reshape(want.shape)
        out[:] = np.nan
        assert robot.regressor(q, qd, qdd, out=out) is out
        assert np.array_equal(out, want)


@pytest.mark.sampled(10)
@pytest.mark.parametrize("size", [1, 16, 29, 33, 256, 257, 264, 320, 328, 841])  # short rows, and tiles of long ones
@pytest.mark.parametrize("precision", [DOUBLE, SINGLE])
def test_rows_of_any_length_go_past_the_cache_from_anywhere_in_a_line(size, precision, monkeypatch):
    monkeypatch.setattr(batch_loop, "FAR", 0)  # all of them do
    graph = Graph()
    x = graph.input("x", 0)
    kernel = Native(order([Input("x", 1)], [("y", (size,), [x * (k + 1.0) for k in range(size)])]), precision)
    given = np.arange(1.0, 36.0, dtype=precision.dtype)[:, None]
    want = given * np.arange(1.0, size + 1.0, dtype=precision.dtype)
    raw = np.empty(want.size + 3 * ALIGNED, precision.dtype)
    even = ALIGNED + (-raw.ctypes.data % ALIGNED) // raw.itemsize
    for start in range(even, even + ALIGNED // raw.itemsize):
        raw[:] = -1.0
        kernel.run([given], [raw[start : start + want.size].reshape(want.shape)])
        assert np.array_equal(raw[start : start + want.size], want.ravel())
        assert np.all(raw[:start] == -1.0)
        assert np.all(raw[start + want.size :] == -1.0)


@pytest.mark.parametrize("size", [SMALLEST, 3 * SMALLEST + 8, LARGEST + 8])
def test_large_arrays_begin_on_a_line_of_the_cache_and_are_used_again(size, monkeypatch):
    monkeypatch.setattr(memory, "_known", [])
    first = empty((size // 8,), np.float64)
    where = first.ctypes.data
    assert where % ALIGNED == 0
    first[:] = 1.0
    view = first[1:]
    del first
    again = empty((size // 8,), np.float64)
    assert again.ctypes.data != where  # a view still holds it
    again[:] = 2.0
    assert np.all(view == 1.0)
    del view
    if size <= LARGEST:
        assert empty((size // 8,), np.float64).ctypes.data == where


@pytest.mark.parametrize("more", [-2, -1, 0, 1])
def test_memory_in_use_is_not_lent_however_python_counts(more, monkeypatch):
    count = sys.getrefcount
    monkeypatch.setattr(memory, "_known", [])
    monkeypatch.setattr(memory.sys, "getrefcount", lambda x: count(x) + more)  # Python 3.14 counts fewer than 3.13
    first = empty((SMALLEST,), np.uint8)
    second = empty((SMALLEST,), np.uint8)
    assert not np.shares_memory(first, second)
    where = first.ctypes.data
    del first
    assert empty((SMALLEST,), np.uint8).ctypes.data == where
