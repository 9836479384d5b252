"""docs/formulations.md is true: its counts are those of today, its picture is there and small."""

import re
import sysconfig
from pathlib import Path

import pytest

import hinge
from hinge.counting import claims
from hinge.counting.measure import cost
from hinge.counting.polynomials import Polynomial
from hinge.counting.published import hardware, kept, rate_of_a_product, simultaneous, single_operations, written
from hinge.dynamics import ALGORITHMS

PAGE = Path(__file__).parents[2] / "docs" / "formulations.md"
TEXT = PAGE.read_text(encoding="utf-8")
ROWS = "If this was meant, run `python bench/formulations.py --counts` and commit what it changes."
TIMES = "If this was meant, run `make bench ONLY='formulations counts_and_times'` and commit what it changes."


def block(name):
    marks = rf"<!-- {name} -->\n(.*?)<!-- end of {name} -->|<!-- bench: {name} -->\n(.*?)<!-- end of bench -->"
    return next(filter(None, re.search(marks, TEXT, re.DOTALL).groups()))


def rows(name):
    lines = [line for line in block(name).splitlines() if line.startswith("|")][2:]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


def polynomial(text):
    return Polynomial.read(re.sub("[²³⁴]", lambda power: "^" + str("²³⁴".index(power[0]) + 2), text))


POLYNOMIALS = rows("polynomials")


def test_every_method_is_on_the_page():
    calls = ("inverse_dynamics", "mass_matrix", "forward_dynamics", "coriolis_coefficients")
    assert sorted(row[:2] for row in POLYNOMIALS) == sorted(
        [call, method] for call in calls for method, known in ALGORITHMS[call].items() if not known.closes
    )


@pytest.mark.parametrize("row", POLYNOMIALS, ids=lambda row: f"{row[0]}.{row[1]}")
def test_the_polynomials_on_the_page_are_right(row):
    call, method, both, at_six, div, trig, deep, plain = row
    mul, add = re.sub(r" \(n ≥ \d\)", "", both).split("; ")
    here = cost(call, method, 6)
    assert (f"{here.mul} / {here.add}", str(here.div), str(here.trig)) == (at_six, div, trig), ROWS
    for n in (5, 7):
        found = cost(call, method, n)
        for text, size in ((mul, found.mul), (add, found.add), (deep, found.depth)):
            assert text == "no polynomial" or polynomial(text)(n) == size, ROWS
    if plain:
        assert plain == "{0.mul} / {0.add}".format(written(call, method)), ROWS


def test_few_have_no_polynomial():
    none = [(row[1], k) for row in POLYNOMIALS for k, cell in enumerate(row) if "no polynomial" in cell]
    assert none == [("strobe", 2), ("cluster", 6)]


def test_the_story_has_the_counts_of_today():
    story = rows("formulations.story")
    assert len(story) > 20
    for _, _, call, method, plain, traced, time in story:
        here = cost(call, method.strip("`"), 6)
        assert traced == f"{here.mul + here.add:,}", TIMES
        assert not plain or int(plain.replace(",", "")) > here.mul + here.add
        assert 0 < int(time) < 5000


@pytest.mark.parametrize("sheet", [simultaneous, single_operations, kept, rate_of_a_product, hardware])
def test_the_small_tables_are_those_of_today(sheet):
    made = sheet()
    assert f"### {made.title}\n\n{made.markdown()}" in block("tables"), ROWS


def test_the_claims_on_the_page_are_those_of_today():
    made = [check() for check in claims.CLAIMS[:6]]
    assert rows("claims")[:6] == [list(one) for one in made], ROWS
    assert len(rows("claims")) == len(claims.CLAIMS)


def test_the_picture_is_there_and_small():
    picture = PAGE.with_suffix(".svg")
    assert f"({picture.name})" in TEXT
    assert 20_000 < picture.stat().st_size < 200_000


def test_the_counts_beside_times_are_those_of_today():
    path = Path(sysconfig.get_paths()["purelib"]) / "cmeel.prefix/share/example-robot-data/robots/ur_description/urdf"
    if not path.exists():
        pytest.skip("example-robot-data is not installed")
    robot = hinge.load(path / "ur5_robot.urdf")
    times = rows("counts_and_times.table")
    assert {row[0] for row in times} == {"inverse_dynamics", "mass_matrix", "forward_dynamics"}
    for call, method, operations, *_ in times:
        here = robot.cost(call, method=method)
        assert operations == f"{here.mul + here.add:,}", TIMES
