"""What silver1981 says of the cost of Lagrange's equation, by counting: as the algorithms are written, and as traced.

As written, its figures hold within what it matters. Traced, they do not: a program that shares what is equal and
multiplies by no zero does a good part of what the better formulations do.
"""

import numpy as np
import pytest
from tally import as_written

import hinge

ARM = hinge.samples.chain(np.random.default_rng(0), 6)


@pytest.fixture
def written(monkeypatch):
    """Counts as written on a general arm of so many turning joints."""

    def count(method, n=6):
        arm = ARM if n == 6 else hinge.samples.chain(np.random.default_rng(0), n)
        counted, motion, tau = as_written(arm, method, monkeypatch)
        monkeypatch.setenv("HINGE_BACKEND", "interpret")
        np.testing.assert_allclose(tau, arm.inverse_dynamics(*motion), rtol=1e-9, atol=1e-9)
        return counted

    return count


def traced(method):
    cost = ARM.cost("inverse_dynamics", method=method)
    return cost.mul + cost.add


def test_the_direct_form_takes_well_over_a_hundred_thousand_operations(written):
    assert written("uicker_kahn_direct").total > 100_000  # section 1.2
    assert traced("uicker_kahn_direct") < 20_000


def test_the_recursion_with_4x4_matrices_is_some_fifteen_times_better(written):
    ratio = written("uicker_kahn_direct").total / written("hollerbach_4x4").total
    assert 14 < ratio < 20  # section 1.4: about 15
    assert 8 < traced("uicker_kahn_direct") / traced("hollerbach_4x4") < 10


def test_and_takes_some_five_times_the_operations_of_the_form_with_vectors(written):
    ratio = written("hollerbach_4x4").total / written("silver").total
    assert 4 < ratio < 5  # section 1.4: about 5
    assert 1.6 < traced("hollerbach_4x4") / traced("silver") < 1.8


def test_3x3_matrices_save_about_a_further_half(written):
    ratio = written("hollerbach_4x4").total / written("hollerbach").total
    assert 1.75 < ratio < 2  # section 1.4: 2
    # the rows of zeros and the ones of a 4×4 matrix cost a traced program nothing
    assert traced("hollerbach_4x4") == traced("hollerbach")


@pytest.mark.parametrize(
    ("method", "degree"),
    [("uicker_kahn_direct", 4), ("uicker_kahn", 3), ("gibbs_appell", 3), ("hollerbach", 1), ("hollerbach_4x4", 1),
     ("silver", 1)],
)  # fmt: skip
def test_the_cost_grows_with_the_links_as_the_texts_say(written, method, degree):
    counts = [written(method, n).mul for n in range(2, 8 if degree > 3 else 7)]
    assert not np.any(np.diff(counts, degree + 1))
    assert np.all(np.diff(counts, degree) > 0)


def test_the_direct_form_takes_two_matrix_products_and_two_for_the_rates_a_term(written):
    """There are n⁴/4 terms with a product of rates: those of link r have r first derivatives and r² second ones."""
    counts = np.array([written("uicker_kahn_direct", n) for n in range(2, 7)])
    mul, add = np.diff(counts, 4, axis=0)[0] / 24
    assert (mul, add) == ((64 + 64 + 2) / 4, (48 + 48 + 3 + 1) / 4)
