"""The least of a quadratic within bounds, against every pattern of what is held where."""

from itertools import product

import numpy as np
import pytest

from hinge.optimal.riccati import bounded


def by_patterns(Q, q, low, high):
    """The least by trying which entries are free, and which at either bound."""
    best, least = None, np.inf
    for pattern in product((-1, 0, 1), repeat=len(q)):
        held = np.array(pattern)
        x, free = np.where(held < 0, low, np.where(held > 0, high, 0.0)), held == 0
        if not np.isfinite(x).all():
            continue
        if free.any():
            x[free] = np.linalg.solve(Q[np.ix_(free, free)], -(q + Q @ x)[free])
        if ((x >= low - 1e-12) & (x <= high + 1e-12)).all() and (value := 0.5 * x @ Q @ x + q @ x) < least:
            best, least = x, value
    return best


@pytest.mark.parametrize("n", [1, 2, 3, 5])
@pytest.mark.parametrize("stiffness", [1.0, 1e4])
def test_the_least_within_bounds_is_that_of_the_best_pattern(n, stiffness):
    rng = np.random.default_rng(n)
    held = 0
    for _ in range(30):
        R, turn = rng.normal(size=(n, n)), np.geomspace(1.0, stiffness, n)
        Q, q = R @ np.diag(turn) @ R.T + 0.1 * np.eye(n), 3.0 * turn.max() ** 0.5 * rng.normal(size=n)
        low, high = -rng.uniform(0.0, 1.0, n), rng.uniform(0.0, 1.0, n)
        low[rng.uniform(size=n) < 0.2], high[rng.uniform(size=n) < 0.2] = 0.0, np.inf
        wanted = by_patterns(Q, q, low, high)
        found = np.array(bounded(Q.tolist(), q.tolist(), low.tolist(), high.tolist()))
        np.testing.assert_allclose(found, wanted, rtol=1e-7, atol=1e-9)
        held += ((wanted == low) | (wanted == high)).any()
    assert held > 5
