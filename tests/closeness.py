"""How close is close, for the tests that compare with other libraries."""

import numpy as np


def close(ours, theirs, tol, size=0.0):
    """Assert that two arrays agree to `tol` of the size of the second, or of what cancelled in it where given."""
    ours, theirs = np.asarray(ours), np.asarray(theirs)
    assert ours.shape == theirs.shape
    np.testing.assert_allclose(ours, theirs, rtol=0, atol=tol * np.max(np.abs(theirs), initial=size))
