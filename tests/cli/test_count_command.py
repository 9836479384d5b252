"""`hinge count` on the command line."""

import json

import pytest
from click.testing import CliRunner

import hinge
from hinge.cli import main
from hinge.counting import published
from hinge.counting.measure import COUNTED, arm
from hinge.dynamics import ALGORITHMS


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    path = tmp_path_factory.mktemp("count") / "puma.toml"
    hinge.write(hinge.samples.puma560(), path)
    return str(path)


def run(*words):
    return CliRunner().invoke(main, ["count", *words])


def test_every_method_of_three_calls_is_counted(file):
    made = run(file)
    assert made.exit_code == 0
    for word in ("inverse_dynamics", "uicker_kahn_direct", "turney *", "composite *", "nasser", "depth"):
        assert word in made.output


def test_as_json_the_figures_are_those_of_cost(file):
    (sheet,) = json.loads(run(file, "mass_matrix", "--json").output)
    assert sheet["columns"] == ["method", "mul", "add", "div", "trig", "depth"]
    cost = hinge.load(file).cost("mass_matrix", method="jacobians")
    assert ["jacobians", cost.mul, cost.add, cost.div, cost.trig, cost.depth] in sheet["rows"]


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["nowhere.urdf"], "nowhere.urdf cannot be read"),
        (["FILE", "mass_matrx"], "there is no algorithm 'mass_matrx'. Did you mean 'mass_matrix'"),
        ([], "give a robot file, or --table and no file."),
        (["FILE", "--table"], "give a robot file, or --table and no file."),
    ],
)
def test_what_cannot_be_counted_is_said(file, words, says):
    made = run(*(file if word == "FILE" else word for word in words))
    assert made.exit_code != 0
    assert says in made.output


@pytest.mark.sweep
def test_the_table_has_every_method_or_says_why_not():
    sheet = published.all_methods()
    for call in (*COUNTED, "coriolis_coefficients"):
        for method, algorithm in ALGORITHMS[call].items():
            reason = algorithm.reason(arm(published.SIX).model)
            if reason:
                assert f"{call}, {method}: {reason}." in sheet.notes
            else:
                assert any(row[:2] == (call, method) for row in sheet.rows)
