"""Linear programs of two unknowns, many at once, against another solver."""

import numpy as np
import pytest

from hinge.planning.polygons import REACH, furthest, interval

optimize = pytest.importorskip("scipy.optimize")


def boxed(A, c):
    """Put the half-planes of the square from 0 to REACH before others."""
    box = [[-1.0, 0.0], [1.0, 0.0], [0.0, -1.0], [0.0, 1.0]]
    return (
        np.concatenate([np.broadcast_to(box, (len(A), 4, 2)), A], axis=1),
        np.concatenate([np.broadcast_to([0.0, REACH, 0.0, REACH], (len(c), 4)), c], axis=1),
    )


@pytest.mark.parametrize("way", [(1.0, 0.0), (-1.0, 0.0), (0.0, 1.0), (1.0, 1.0)])
def test_the_furthest_point_is_the_furthest(way):
    rng = np.random.default_rng(0)
    A = rng.normal(size=(60, 12, 2)) * 10.0 ** rng.uniform(-2, 2, (60, 12, 1))
    c = np.einsum("nmk,k->nm", A, [1.0, 1.0]) + np.abs(A).sum(axis=2) * rng.uniform(-0.6, 2.0, (60, 12))
    A[:, 3] = A[:, 2]  # a half-plane twice, and one that says nothing
    A[:, 5], c[:, 5] = 0.0, 0.5
    z, empty = furthest(*boxed(A, c), *(np.tile(x, (60, 1)) for x in (way, np.where(np.array(way) > 0.0, REACH, 0.0))))
    assert 5 < empty.sum() < 55
    for k in range(60):
        found = optimize.linprog(-np.array(way), A_ub=A[k], b_ub=c[k], bounds=(0.0, REACH))
        assert empty[k] == (found.status == 2)
        if not empty[k]:
            assert np.dot(way, z[k]) == pytest.approx(-found.fun, rel=1e-7, abs=1e-9)
            assert (A[k] @ z[k] <= c[k] + 1e-8 * np.abs(c[k]).max()).all()


def test_a_half_plane_that_excludes_everything_leaves_nothing():
    A, c = boxed(np.zeros((2, 1, 2)), np.array([[-1.0], [1.0]]))
    _, empty = furthest(A, c, np.tile([1.0, 0.0], (2, 1)), np.tile([REACH, 0.0], (2, 1)))
    assert list(empty) == [True, False]
    low, _ = interval(np.array([0.0]), np.array([-1.0]), np.array([1.0]))
    assert low == np.inf
