"""What the texts claim of costs, in figures; those of forward dynamics on tilted arms are in test_forward_claims.py."""

import pytest

from hinge.counting import claims
from hinge.counting.claims import ADD, BASE, BOTH, MEASURES, MUL, WEIGHED, first
from hinge.counting.steps import Steps
from hinge.counting.units import figures, whole_matrices


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


def test_inertias_in_full_cost_what_the_book_says_before_it_uses_symmetry():
    done = {name: figures(one.ours) for name, one in whole_matrices().items()}
    assert done == {"articulated": Steps(216, 162), "rigid": Steps(84, 69)}  # featherstone1987, Table 8-3
    saved = [1.0 - 1.0 / claims.factor_saved(one, "matrices", "general") for one in done]
    assert saved == pytest.approx([0.2, 0.2], abs=0.025)  # 8.3.3: about 20 %


def test_screws_are_cheaper_than_general_transforms():
    assert 1.0 / claims.factor_saved("vector", "general", "screw") < 0.5  # featherstone1987 8.3.4: less than half
    shares = [1.0 / claims.factor_saved(one, "general", "screw", 2) for one in ("vector", "articulated", "rigid")]
    assert shares == pytest.approx([0.81, 0.46, 0.48], abs=0.005)  # 8.2.1: 80 % or less


def test_link_coordinates_halve_newton_euler_and_stay_cheaper_under_forces():
    sizes = [claims.of("inverse_dynamics", m, 6) for m in ("newton_euler", "newton_euler_base")]
    assert all(0.4 < 1.0 - size(sizes[0]) / size(sizes[1]) < 0.6 for size in (MEASURES[MUL], MEASURES[ADD]))
    assert all(links < base for links, base in (claims.pushed_in_base(6, m) for m in (MUL, ADD)))


@pytest.mark.parametrize("n", [3, 6, 8])
def test_a_floating_base_favours_articulated_bodies(n):
    assert claims.articulated_share(claims.adrift(n)) < 0.95 * claims.articulated_share(claims.arm(n))


def test_solving_the_equations_is_little_beside_setting_them_up():
    assert [claims.solving(n).mul for n in (1, 2, 3)] == [1, 6, 16]  # with the reciprocals of the pivots at hand
    shares = [MEASURES[BOTH](claims.solving(n)) / claims.forward("composite", n, BOTH) for n in (6, 12)]
    assert shares == pytest.approx([0.09, 0.17], abs=0.01)


@pytest.mark.parametrize("n", [4, 6, 8])
def test_conjugate_gradients_are_dearer_than_composite_bodies(n):
    assert all(claims.forward("conjugate_gradient", n, m) > 2 * claims.forward("composite", n, m) for m in MEASURES)


def test_every_claim_has_a_place_a_figure_and_a_verdict():
    made = [check() for check in claims.CLAIMS if check is not claims.sweep]  # which needs long arms
    assert len(made) == 26
    assert all(all(part) for part in made)
    assert made[0] == ("the direct form takes well over 100,000 operations at n = 6", "silver1981 1.2",
                       "146,773 as written, 12,774 traced", "yes, as written")  # fmt: skip
