"""What silver1981 says of the cost of Lagrange's equation, by counting: as the algorithms are written, and as traced.

As written, its figures hold within what it matters. Traced, they do not: a program that shares what is equal and
multiplies by no zero does a good part of what the better formulations do.
"""

import numpy as np
import pytest

import hinge
from hinge.counting.tally import as_written

ARM = hinge.samples.chain(np.random.default_rng(0), 6)


def written(method, n=6):
    """Counts as written on a general arm of so many turning joints."""
    arm = ARM if n == 6 else hinge.samples.chain(np.random.default_rng(0), n)
    counted, motion, tau = as_written(arm, "inverse_dynamics", method)
    expected = arm.inverse_dynamics(*motion, backend="interpret")
    np.testing.assert_allclose(tau, expected, rtol=1e-9, atol=1e-9)
    return counted


def total(cost):
    return cost.mul + cost.add


def traced(method):
    return total(ARM.cost("inverse_dynamics", method=method))


def test_the_direct_form_takes_well_over_a_hundred_thousand_operations():
    assert total(written("uicker_kahn_direct")) > 100_000  # section 1.2
    assert traced("uicker_kahn_direct") < 20_000


def test_the_recursion_with_4x4_matrices_is_some_fifteen_times_better():
    ratio = total(written("uicker_kahn_direct")) / total(written("hollerbach_4x4"))
    assert 14 < ratio < 20  # section 1.4: about 15
    assert 8 < traced("uicker_kahn_direct") / traced("hollerbach_4x4") < 10


def test_and_takes_some_five_times_the_operations_of_the_form_with_vectors():
    ratio = total(written("hollerbach_4x4")) / total(written("silver"))
    assert 4 < ratio < 5  # section 1.4: about 5
    assert 1.6 < traced("hollerbach_4x4") / traced("silver") < 1.8


def test_3x3_matrices_save_about_a_further_half():
    ratio = total(written("hollerbach_4x4")) / total(written("hollerbach"))
    assert 1.75 < ratio < 2  # section 1.4: 2
    # the rows of zeros and the ones of a 4×4 matrix cost a traced program nothing
    assert traced("hollerbach_4x4") == traced("hollerbach")


@pytest.mark.parametrize(
    ("method", "degree"),
    [("uicker_kahn_direct", 4), ("uicker_kahn", 3), ("gibbs_appell", 3), ("hollerbach", 1), ("hollerbach_4x4", 1),
     ("silver", 1)],
)  # fmt: skip
def test_the_cost_grows_with_the_links_as_the_texts_say(method, degree):
    counts = [written(method, n).mul for n in range(2, 8 if degree > 3 else 7)]
    assert not np.any(np.diff(counts, degree + 1))
    assert np.all(np.diff(counts, degree) > 0)


def test_the_direct_form_takes_two_matrix_products_and_two_for_the_rates_a_term():
    """There are n⁴/4 terms with a product of rates: those of link r have r first derivatives and r² second ones."""
    counted = [written("uicker_kahn_direct", n) for n in range(2, 7)]
    counts = np.array([(cost.mul, cost.add) for cost in counted])
    mul, add = np.diff(counts, 4, axis=0)[0] / 24
    assert (mul, add) == ((64 + 64 + 2) / 4, (48 + 48 + 3 + 1) / 4)
