"""A bounded list of contacts keeps the deepest and counts all, each lane on its own."""

import numpy as np
import pytest

from hinge.backends import find
from hinge.contact.slots import Slots, Touch
from hinge.graph import Graph, Input, less, order, repeat
from hinge.graph.loops import entry

N, ROOM = 7, 3


def program():
    """Gaps (N) less than zero are taken in: how many there were, and pair and gap of those kept."""
    graph = Graph()
    slots = Slots(ROOM, graph.input("gaps", 0))

    def body(k, x):
        gap = entry(graph, "gaps", N, k)
        slots.add(less(gap, 0.0), Touch(k, gap, (k, k, k), (0.0, 0.0, 1.0), (1.0, 0.0, 0.0)))
        return (x,)

    repeat(N, (graph.input("gaps", 0),), body)
    kept = [y for k in range(ROOM) for y in (slots[float(k)].pair, slots[float(k)].gap, slots[float(k)].tangent[0])]
    return order([Input("gaps", N)], [("found", (), [slots.found]), ("kept", (ROOM, 3), kept)])


@pytest.mark.parametrize("backend", ["interpret", "llvm"])
def test_the_deepest_are_kept_and_all_are_counted(backend):
    gaps = np.random.default_rng(0).normal(size=(40, N))
    code = find(backend).compile(program(), np.dtype(float))
    found, kept = np.zeros((40, 1)), np.zeros((40, ROOM * 3))
    code.run([gaps], [found, kept])
    assert (found[:, 0] == (gaps < 0).sum(1)).all()
    for row, numbers in zip(gaps, kept.reshape(40, ROOM, 3), strict=True):
        deepest = np.sort(row[row < 0])[:ROOM]
        n = len(deepest)
        assert np.array_equal(np.sort(numbers[:n, 1]), deepest)
        assert (row[numbers[:n, 0].astype(int)] == numbers[:n, 1]).all()
        assert (numbers[:n, 2] == 1.0).all()


def test_on_floats_too():
    slots = Slots(2, 0.0)
    for k, gap in enumerate((-1.0, 2.0, -3.0, -2.0)):
        slots.add(gap < 0.0, Touch(float(k), gap, (0.0,) * 3, (0.0, 0.0, 1.0), (1.0, 0.0, 0.0)))
    assert slots.found == 3.0
    assert sorted(slots[k].gap for k in range(2)) == [-3.0, -2.0]
