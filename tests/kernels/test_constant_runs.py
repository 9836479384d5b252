"""Runs of constants in a row of results are written on their own, and the row is the same wherever they stand."""

import numpy as np
import pytest

from hinge.backends.llvm import DOUBLE, SINGLE, Native, batch_loop, levels
from hinge.backends.llvm.block import Block
from hinge.graph import Graph, Input, order

# lengths of runs: what is computed, then zeros, then what is computed, then ones, …
ROWS = [
    (0, 64),
    (5, 40),
    (40, 33),
    (1, 16, 1, 40, 1),
    (9, 70, 3, 31, 20),
    (0, 16, 0, 17, 8),
    (200, 300, 7),
    (3, 15, 30),
]


def entries(row, x):
    """The numbers of a row whose runs are that long; `x` is what is computed."""
    made = []
    for k, count in enumerate(row):
        made += [x * (len(made) + j + 1.0) if k % 2 == 0 else float(k // 2) for j in range(count)]
    return made


@pytest.mark.sampled(16)
@pytest.mark.parametrize("row", ROWS)
@pytest.mark.parametrize("precision", [DOUBLE, SINGLE])
@pytest.mark.parametrize("far", [batch_loop.FAR, 0])
def test_constants_stand_where_they_belong_for_one_state_and_any_batch(row, precision, far, monkeypatch):
    monkeypatch.setattr(batch_loop, "FAR", far)
    size = sum(row)
    kernel = Native(order([Input("x", 1)], [("y", (size,), entries(row, Graph().input("x", 0)))]), precision)
    for states in (1, 7, 16, 37):
        given = np.arange(1.0, states + 1.0, dtype=precision.dtype)[:, None]
        raw = np.full(states * size + 64, -1.0, precision.dtype)
        out = raw[32:-32].reshape(states, size)
        kernel.run([given], [out])
        want = np.array([entries(row, float(x)) for x in given[:, 0]], precision.dtype)
        assert np.array_equal(out, want)
        assert np.all(raw[:32] == -1.0)
        assert np.all(raw[-32:] == -1.0)
    alone = np.full((1, size), -1.0, precision.dtype)
    kernel.bind([given[:1]], [alone])()
    assert np.array_equal(alone, want[:1])


@pytest.mark.parametrize("row", ROWS)
@pytest.mark.parametrize("lanes", [2, 4, 8, 16])
def test_parts_make_up_the_row_and_none_is_narrower_than_a_square(row, lanes):
    whole = entries(row, None) if not any(row[::2]) else entries(row, Graph().input("x", 0))
    found = levels.parts(whole, Block(lanes))
    assert [part.first for part in found] == [0, *np.cumsum([part.width for part in found])[:-1]]
    assert sum(part.width for part in found) == len(whole)
    assert len(found) == 1 or all(part.width >= min(lanes, 8) for part in found)
    for part in found:
        if part.value is not None:
            assert set(whole[part.first : part.first + part.width]) == {part.value}
