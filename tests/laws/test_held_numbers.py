"""A number that is held has no derivative; with it an answer has that of the equation it solves."""

import numpy as np
import pytest
from solvers import orbits

from hinge.backends import find
from hinge.graph import Graph, Input, absolute, along, cos, held, jacobian, less, order, pulled, repeat, sin


def answer(M, e):
    """E of E - e sin E = M by a loop that stops early, and the same with the derivative of the implicit function."""
    off = lambda E: E - e * sin(E) - M
    (found,) = repeat(3, (M,), lambda k, E: (E - off(E) / (1.0 - e * cos(E)),), lambda E: less(absolute(off(E)), 1e-3))
    start = held(found)
    return found, start - off(start) / held(1.0 - e * cos(start))


@pytest.mark.parametrize("backend", ["interpret", "llvm"])
@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_an_answer_has_the_derivative_of_its_equation(backend, mode):
    graph = Graph()
    M, e = graph.input("x", 0), graph.input("x", 1)
    found, E = answer(M, e)
    slopes = jacobian([E], [M, e])[0] if mode == "forward" else pulled([E], [1.0], [M, e])
    program = order([Input("x", 2)], [("y", (3,), [found, *slopes])])
    x, y = orbits(50), np.empty((50, 3))
    find(backend).compile(program, np.dtype(float)).run([x], [y])
    bent = 1.0 - x[:, 1] * np.cos(y[:, 0])
    np.testing.assert_allclose(y[:, 1], 1.0 / bent, rtol=1e-12)
    np.testing.assert_allclose(y[:, 2], np.sin(y[:, 0]) / bent, rtol=1e-12, atol=1e-15)


def test_a_held_number_is_itself_and_stands_still():
    graph = Graph()
    x = graph.input("x", 0)
    assert along([held(x * x)], {x: 1.0}) == [0.0]
    for number in (0.3, -0.0, np.inf):
        assert str(held(number)) == str(number)
    assert np.isnan(held(np.nan))
