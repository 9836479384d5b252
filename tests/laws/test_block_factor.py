"""Large systems by loops over blocks, against NumPy, on floats and as a program."""

import numpy as np
import pytest

from hinge.backends.llvm import Native
from hinge.dynamics.block_factor import Blocks
from hinge.graph import Graph, Input, order


def solved(n, entries, b, like):
    """H⁻¹ b; the entries of H are those up to its diagonal, row by row."""
    H = Blocks(n, like, str)
    for k, (i, j) in enumerate(zip(*np.tril_indices(n), strict=True)):
        H.memory[float(H.place(i, j))] = entries[k]
    H.factor()
    return H.solve(b)


@pytest.mark.parametrize("n", [5, 6, 20])
def test_it_solves_what_numpy_solves(n):
    rng = np.random.default_rng(n)
    A = rng.normal(size=(9, n, n))
    if n == 20:
        A[:, 6:12, :6] = A[:, 12:18, :6] = 0.0
    H, b = A @ A.swapaxes(1, 2) + np.eye(n), rng.normal(size=(9, n))
    lower = H[:, *np.tril_indices(n)]
    x = np.linalg.solve(H, b[..., None])[..., 0]
    assert np.allclose(solved(n, lower[0].tolist(), b[0].tolist(), 0.0), x[0], rtol=1e-11, atol=1e-11)

    graph = Graph()
    entries, right = ([graph.input(name, k) for k in range(size)] for name, size in (("H", lower.shape[1]), ("b", n)))
    program = order([Input("H", lower.shape[1]), Input("b", n)], [("x", (n,), solved(n, entries, right, right[0]))])
    made = np.empty((9, n))
    Native(program).run([np.ascontiguousarray(lower), b], [made])
    assert np.allclose(made, x, rtol=1e-11, atol=1e-11)
