"""Solvers with loops agree with NumPy, and take new numbers without being compiled anew."""

import numpy as np
import pytest
from solvers import (
    gauss_seidel,
    gauss_seidel_in_numpy,
    kepler,
    kepler_in_numpy,
    ldl,
    ldl_in_numpy,
    network,
    network_in_numpy,
    orbits,
    problems,
)

from hinge.backends import interpret
from hinge.backends.llvm import Native


def both(program, *arrays):
    """What machine code gives; the interpreter gives the same bits."""
    states = len(arrays[0])
    made, plain = (np.empty((states, len(program.outputs[0].entries))) for _ in range(2))
    Native(program).run(arrays, [made])
    interpret.run(program, arrays, [plain])
    assert np.array_equal(made, plain)
    return made


def test_newtons_method_ends_when_each_state_has_arrived():
    x = orbits(203)
    np.testing.assert_allclose(both(kepler(), x), kepler_in_numpy(x), rtol=0, atol=1e-12)


def test_projected_gauss_seidel_with_twelve_unknowns():
    A, b = problems(12, 101)
    x = both(gauss_seidel(12), A, b)
    np.testing.assert_allclose(x, gauss_seidel_in_numpy(A, b), rtol=1e-12, atol=1e-12)
    assert ((x == 0.0).sum(axis=1) > 0).any()  # some unknowns are held at zero
    rest = np.einsum("kij,kj->ki", A.reshape(-1, 12, 12), x) - b
    assert np.abs(np.where(x > 0.0, rest, np.minimum(rest, 0.0))).max() < 1e-6


@pytest.mark.parametrize("n", [1, 2, 5, 12])
def test_factors_and_substitutions_in_loops_solve_equations(n):
    A, b = problems(n, 37)
    np.testing.assert_allclose(both(ldl(n), A, b), ldl_in_numpy(A, b), rtol=1e-10, atol=1e-12)


def test_a_network_takes_its_weights_as_an_input():
    sizes = (7, 64, 64, 3)
    program, rng = network(sizes), np.random.default_rng(1)
    assert len(program.code) < 400  # layers are loops, not unrolled
    native, x = Native(program), rng.normal(size=(33, 7))
    for seed in range(3):
        weights = np.random.default_rng(seed).normal(size=program.inputs[1].size) * 0.2
        made = np.empty((33, 3))
        native.run([x, weights], [made])
        np.testing.assert_allclose(made, network_in_numpy(sizes, x, weights), rtol=1e-12, atol=1e-12)
