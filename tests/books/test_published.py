"""The counts that the texts print: as they are kept, as they add up, and beside ours."""

from fractions import Fraction

import pytest

import hinge
from hinge.backends.count import Cost
from hinge.counting import units
from hinge.counting.measure import LENGTHS, arm, cost, polynomial
from hinge.counting.polynomials import Polynomial, fitted
from hinge.counting.published import published, rate_of_a_product
from hinge.counting.units import Symbols, better, figures
from hinge.counting.watch import Group, by_term, operations

COUNTS = published()["count"]
# what the texts print, or the list of records has, for six joints
AT_SIX = {
    ("turney1981", "Lagrange, 4×4 matrices"): (5916, 4840),
    ("turney1981", "recursive Lagrange"): (1356, 864),
    ("turney1981", "Newton-Euler"): (636, 591),
    ("turney1981", "modified Newton-Euler"): (513, 504),
    ("turney1981", "mass matrix by strobing"): (1512, 1092),
    ("turney1981", "all coefficients by strobing"): (12690, 12690),
    ("featherstone1987", "Newton-Euler"): (712, 550),
    ("featherstone1987", "composite bodies"): (505, 410),
    ("featherstone1987", "forward, composite bodies"): (1303, 1019),
    ("featherstone1987", "articulated bodies"): (1533, 1415),
    ("nasser1990", "links seen from the joint before"): (1429, 1063),
    ("balafoutis1991", "Newton-Euler"): (450, 386),
    ("featherstone2005", "composite bodies"): (460, 395),
    ("mcmillan1995", "articulated bodies"): (1085, 982),
}
# ours, on general arms with the first axis upright (principal ones where the text's are)
OURS = {
    ("inverse_dynamics", "uicker_kahn"): ("6n^3 + 34n^2 - 50n + 24", "4n^3 + 51/2 n^2 - 85/2 n + 19"),
    ("inverse_dynamics", "hollerbach"): ("198n - 309", "155n - 263"),
    ("inverse_dynamics", "luh"): ("121n - 168", "95n - 146"),
    ("inverse_dynamics", "turney"): ("91n - 118", "79n - 108"),
    ("inverse_dynamics", "newton_euler"): ("117n - 154", "88n - 125"),
    ("mass_matrix", "composite"): ("10n^2 - n - 29", "6n^2 + 21n - 55"),
    ("mass_matrix", "strobe_symmetric"): ("67/2 n^2 - 153/2 n + 44", "51/2 n^2 - 109/2 n + 30"),
    ("forward_dynamics", "composite"): ("1/6 n^3 + 23/2 n^2 + 346/3 n - 202", "1/6 n^3 + 7n^2 + 647/6 n - 195"),
    ("forward_dynamics", "articulated"): ("210n - 327", "192n - 330"),
    ("forward_dynamics", "nasser"): ("247n - 400", "224n - 409"),
    ("coriolis_coefficients", "strobe"): ("79/3 n^3 - 21n^2 - 121/3 n + 30", "20n^3 - 10n^2 - 34n + 9"),
}  # fmt: skip


def test_every_row_of_the_data_file_has_its_figures_at_six_joints():
    kept = {
        (one["key"], one["what"]): tuple(Polynomial.read(one[part])(6) for part in ("mul", "add")) for one in COUNTS
    }
    assert kept == AT_SIX


@pytest.mark.parametrize(("call", "method"), OURS)
def test_ours_are_these_polynomials(call, method):
    mul, add = map(Polynomial.read, OURS[call, method])
    for n in (4, 6, 8, 11) if len(mul.coefficients) < 4 else (4, 6, 8):
        assert (cost(call, method, n).mul, cost(call, method, n).add) == (mul(n), add(n))


def test_a_row_of_ours_stands_beside_every_row_of_theirs():
    assert {(one["call"], one["method"]) for one in COUNTS} == set(OURS)


@pytest.mark.parametrize("part", ["mul", "add", "depth"])
def test_the_whole_fit_of_one(part):
    assert str(polynomial("inverse_dynamics", "turney", part)) == {"mul": "91n - 118", "add": "79n - 108",
                                                                   "depth": "13n - 11"}[part]  # fmt: skip


@pytest.mark.parametrize("one", COUNTS, ids=lambda one: f"{one['key']} {one['what']}")
def test_ours_take_fewer_operations_than_print(one):
    here = cost(one["call"], one["method"], 6, one.get("inertia", "general"))
    assert here.mul < Polynomial.read(one["mul"])(6)
    assert here.add < Polynomial.read(one["add"])(6)


def test_a_principal_inertia_is_no_cheaper_about_a_joint():
    same, other = ([cost("inverse_dynamics", method, 6, kind) for kind in ("principal", "general")]
                   for method in ("turney", "luh"))  # fmt: skip
    assert same[0] == same[1]
    assert other[0].mul < other[1].mul


# ---- breakdowns


def added(table, k):
    return [Polynomial.read(one[k]) for part in table["parts"] for one in part["printed"]]


@pytest.mark.parametrize("table", published()["breakdown"], ids=lambda table: table["at"])
def test_the_printed_terms_add_up_to_the_printed_total(table):
    (total,) = (one for one in COUNTS if one["method"] == table["method"] and one.get("at") == "Table 8.1")
    for n in (3, 6, 11):
        assert sum(term(n) for term in added(table, 1)) == Polynomial.read(total["mul"])(n)
        assert sum(term(n) for term in added(table, 2)) == Polynomial.read(total["add"])(n)


def test_what_the_additions_of_lagrange_should_be():
    """The appendix has Σ 16 q (q + 1) + 32 for the sum over q, and sums it wrongly."""
    (lagrange,) = (one for one in COUNTS if "instead" in one)
    (table,) = (one for one in published()["breakdown"] if one["at"] == "Table 8.2")
    right, printed = Polynomial.read(lagrange["instead"]["add"]), Polynomial.read(lagrange["add"])
    (wrong,) = (Polynomial.read(one[2]) for part in table["parts"] for one in part["printed"] if "J" in one[0])
    for n in range(1, 9):
        assert right(n) == printed(n) - wrong(n) + sum(16 * q * (q + 1) + 32 for q in range(1, n + 1))
    assert right(6) == 5512


@pytest.mark.parametrize("table", published()["breakdown"], ids=lambda table: table["at"])
def test_every_operation_of_ours_belongs_to_a_term(table):
    inertia, groups = table.get("inertia", "general"), [Group(str(k), p["lines"]) for k, p in enumerate(table["parts"])]
    found = by_term(operations(arm(6, inertia), "inverse_dynamics", table["method"]), groups)
    whole = cost("inverse_dynamics", table["method"], 6, inertia)
    assert sum(kinds["mul"] for kinds in found.values()) == whole.mul
    assert sum(kinds["add"] for kinds in found.values()) == whole.add
    assert {group.term for group in groups} < {term for term, _ in found}
    left = [kinds for (term, _), kinds in found.items() if term == "other"]
    assert sum(kinds["mul"] for kinds in left) <= 20  # cosines and sines of an angle times those of a twist
    assert sum(kinds["add"] for kinds in left) <= 1


# ---- single operations


@pytest.mark.parametrize("one", published()["unit"], ids=lambda one: f"{one['at']} {one['operation']} {one['mul']}")
def test_the_improvements_printed_follow_from_the_figures_printed(one):
    printed = units.Steps(one["mul"], one["add"])
    whole = {"transform": (216, 180), "vector": (36, 30)}.get(one["operation"], (432, 360))
    general = {(u["operation"], u["at"]): units.Steps(u["mul"], u["add"]) for u in published()["unit"]}
    if one["at"] == "Table 8-3":
        factor = better(units.Steps(*whole), printed)
    elif one["at"] == "Table 8-4":
        factor = better(general[one["operation"], "Table 8-3"], printed)
    else:
        before = "Table 8-4" if one.get("symmetric") else "Table 8-3"
        factor = better(general[one["operation"], before], printed, 2)
    assert factor == pytest.approx(one["improvement"], rel=0.05)


def test_our_single_operations():
    general, screw = (
        {name: tuple(figures(unit.ours)) for name, unit in units.units(kind).items()}
        for kind in (Symbols.rigid, Symbols.screw)
    )
    assert general == {"transform": (36, 27), "vector": (24, 18), "articulated": (174, 138), "rigid": (69, 57)}
    assert screw == {"transform": (15, 9), "vector": (10, 6), "articulated": (38, 40), "rigid": (16, 16)}


def test_the_6x6_baselines():
    whole = {name: tuple(figures(unit.whole)) for name, unit in units.units(Symbols.rigid).items()}
    assert whole == {"transform": (216, 180), "vector": (36, 30), "articulated": (432, 360), "rigid": (432, 360)}


def test_what_is_kept_of_each_quantity():
    assert units.storage() == {"vector": 6, "transform": 12, "screw": 3, "articulated": 21, "rigid": 10}
    assert all(units.storage()[name] <= text <= matrix for name, (matrix, text) in published()["storage"].items())


def test_the_rate_of_a_product():
    for n, terms, written, traced, recurrence, as_is, left in rate_of_a_product().rows:
        assert terms == written == n * (n - 1)
        assert recurrence == left == max(3 * n - 4, 0)
        assert as_is == 3 * (n - 1)  # with the product of all n, which only a program that looks ahead leaves out
        assert left <= traced <= written


# ---- polynomials and times


def test_a_polynomial_is_found_exactly_or_not_at_all():
    made = fitted({n: 2 * n**4 - n + 7 for n in LENGTHS})
    assert str(made) == "2n⁴ - n + 7"
    assert made(5) == 1252
    assert fitted({n: n**2 + (n == 11) for n in LENGTHS}) is None
    late = fitted({n: n * (n + 1) // 2 + (n == 3) for n in LENGTHS})
    assert (str(late), late.start) == ("1/2 n² + 1/2 n", 4)


@pytest.mark.parametrize("text", ["81/6 n^3 + 165/2 n^2 + 5n", "130n - 68", "0", "n^2", "-n + 1/3"])
def test_a_polynomial_is_read_as_it_is_written(text):
    made = Polynomial.read(text)
    value = eval(text.replace("^", "**").replace("n", "*n").replace("- *n", "-n").lstrip("*").replace("-*n", "-n"),
                 {"n": Fraction(7)})  # fmt: skip
    assert float(made(7)) == pytest.approx(float(value))


def test_the_time_of_newton_euler_on_a_machine_of_1987():
    machine = {"mul": 10e-6, "add": 2e-6, "trig": 200e-6, "overhead": 1e-6}
    assert Cost(mul=712, add=550, trig=10).time(**machine) == pytest.approx(11.492e-3)
    assert hinge.samples.puma560().cost("inverse_dynamics").time(**machine) < 6e-3
    assert Cost(div=1, sqrt=2, other=3, neg=4).time(mul=1.0, add=0.5, overhead=0.25) == 1.25 + 2.5 + 2.25
