"""Linear programs of two unknowns, many at once, against another solver."""

import numpy as np
import pytest

from hinge.planning.polygons import REACH, furthest, interval

optimize = pytest.importorskip("scipy.optimize")


@pytest.mark.parametrize("way", [(1.0, 0.0), (-1.0, 0.0), (0.0, 1.0), (1.0, 1.0)])
def test_the_furthest_point_is_the_furthest(way):
    rng = np.random.default_rng(0)
    A = rng.normal(size=(60, 12, 2)) * 10.0 ** rng.uniform(-2, 2, (60, 12, 1))
    c = np.einsum("nmk,k->nm", A, [1.0, 1.0]) + np.abs(A).sum(axis=2) * rng.uniform(-0.6, 2.0, (60, 12))
    A[:, 3] = A[:, 2]  # a half-plane twice, and one that says nothing
    A[:, 5], c[:, 5] = 0.0, 0.5
    z, empty = furthest(A, c, way)
    assert 5 < empty.sum() < 55
    for k in range(60):
        found = optimize.linprog(-np.array(way), A_ub=A[k], b_ub=c[k], bounds=(0.0, REACH))
        assert empty[k] == (found.status == 2)
        if not empty[k]:
            assert np.dot(way, z[k]) == pytest.approx(-found.fun, rel=1e-7, abs=1e-9)
            assert (A[k] @ z[k] <= c[k] + 1e-8 * np.abs(c[k]).max()).all()


def test_a_half_plane_that_excludes_everything_leaves_nothing():
    _, empty = furthest(np.zeros((2, 1, 2)), np.array([[-1.0], [1.0]]), (1.0, 0.0))
    assert list(empty) == [True, False]
    low, _ = interval(np.array([0.0]), np.array([-1.0]), np.array([1.0]))
    assert low == np.inf
