"""What the texts claim of costs, in figures; those of forward dynamics on tilted arms are in test_forward_claims.py."""

import pytest

from hinge.counting import claims
from hinge.counting.claims import ADD, BASE, BOTH, MEASURES, MUL, WEIGHED, first


def test_newton_euler_is_about_a_hundred_times_cheaper_than_the_direct_form():
    written, traced = claims.times("uicker_kahn_direct", "luh")
    assert 80 < written < 120  # featherstone1987 4.2: about 100
    assert 12 < traced < 14


def test_against_luh_itself():
    """silver1981 1.4: the 4×4 recursion takes 5 times as many, the 3×3 one 2½ times."""
    assert claims.times("hollerbach_4x4", "luh")[0] == pytest.approx(4.4, abs=0.1)
    assert claims.times("hollerbach", "luh")[0] == pytest.approx(2.4, abs=0.1)
    assert claims.times("silver", "luh")[1] == 1.0


def test_articulated_bodies_are_cheaper_from_here_on():
    ours = [first("forward_dynamics", "articulated", "composite", measure) for measure in MEASURES]
    assert ours == [6, 9, 7, 7]
    assert [first("forward_dynamics", "articulated", "composite_turney", m) for m in MEASURES] == [8, 9, 9, 8]
    # the text says n > 9, and its own table says so by multiplications only
    assert {m: claims.printed_first(m) for m in MEASURES} == {MUL: 10, ADD: 14, BOTH: 12, WEIGHED: 11}


def test_forward_dynamics_takes_up_to_2_3_times_inverse_dynamics():
    assert claims.dearest("newton_euler", MUL) < claims.dearest("turney", MUL) < 2.3
    assert claims.dearest("newton_euler", ADD) < 2.3 < claims.dearest("turney", ADD) < 2.4


def test_link_coordinates_save_articulated_bodies_a_third():
    assert claims.share_saved(MUL) == pytest.approx(0.34, abs=0.01)
    assert claims.share_saved(ADD) == pytest.approx(0.33, abs=0.01)


@pytest.mark.parametrize("n", [2, 6, 12, 20])
def test_composite_bodies_in_base_coordinates_never_beat_articulated_bodies(n):
    assert claims.forward(BASE, n, MUL) > 1.3 * claims.forward("articulated", n, MUL)


def test_composite_bodies_in_base_coordinates_are_cheaper_from_eighteen_on():
    assert first("mass_matrix", "composite_base", "composite", MUL) == 18
    assert first("mass_matrix", "composite_base", "composite", ADD) is None


@pytest.mark.parametrize(("method", "mul", "add"), [("strobe", 5, 5), ("composite", 9, 11)])
def test_nasser_beats_walker_and_orin_on_upright_arms(method, mul, add):
    assert first("forward_dynamics", "nasser", method, MUL) == mul
    assert first("forward_dynamics", "nasser", method, ADD) == add


@pytest.mark.parametrize("n", [2, 5, 8])
def test_nasser_beats_conjugate_gradients(n):
    assert all(claims.forward("nasser", n, m) < claims.forward("conjugate_gradient", n, m) for m in MEASURES)


@pytest.mark.parametrize("n", [2, 4, 6, 8])
def test_lagrange_is_cheaper_when_all_coefficients_are_wanted(n):
    ours, strobed = (MEASURES[BOTH](claims.of("coriolis_coefficients", m, n)) for m in ("differentiation", "strobe"))
    assert ours < strobed / 3
    assert strobed < 2 * (54 * n**3 + 27 * n**2 + 9 * n)  # turney1981, section 8


def test_short_arms_are_cheapest_by_differentiation():
    sizes = {m: [MEASURES[BOTH](claims.of("inverse_dynamics", m, n)) for n in (2, 3, 4)]
             for m in ("euler_lagrange", "turney", "luh")}  # fmt: skip
    assert sizes["euler_lagrange"][0] < 0.7 * sizes["turney"][0]
    assert sizes["turney"][1] < sizes["euler_lagrange"][1] < sizes["luh"][1]
    assert sizes["luh"][2] < sizes["euler_lagrange"][2]


def test_newton_euler_would_have_taken_less_than_twelve_milliseconds():
    assert claims.time_at_six() == pytest.approx(9.2e-3, abs=0.1e-3)


def test_every_claim_has_a_place_a_figure_and_a_verdict():
    made = [check() for check in claims.CLAIMS[:-1]]  # the last one needs long arms
    assert len(made) == 14
    assert all(all(part) for part in made)
    assert made[0] == ("the direct form takes well over 100,000 operations at n = 6", "silver1981 1.2",
                       "146,773 as written, 12,774 traced", "yes, as written")  # fmt: skip
