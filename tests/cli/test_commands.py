"""The command line as a whole: its verbs, exit codes, completion, progress; and `hinge bench`."""

import json
import os
import subprocess
import sys

import pytest
from saying import refused, said

import hinge
from hinge.cli import VERBS, common, main


def test_every_verb_has_a_file_and_a_help():
    shown = said("--help").output
    for verb in VERBS:
        assert f"\n  {verb} " in shown
        helped = said(verb, "--help")
        assert helped.exit_code == 0
        assert helped.output.startswith(f"Usage: main {verb} ")
    assert said("-h").output == shown


@pytest.mark.parametrize(("word", "says"), [("chek", "Did you mean 'check'"), ("equation", "Did you mean 'equations'"),
                                            ("xyzzy", "Known: 'bench', 'cache',")])  # fmt: skip
def test_a_wrong_word_is_a_mistake_in_the_command(word, says):
    assert says in refused(word)


@pytest.mark.parametrize("verb", ["show", "bench", "count", "equations"])
def test_a_file_that_is_not_there_is_told_with_those_that_are(tmp_path, lamp, verb):
    assert refused(verb, tmp_path / "lampe.urdf").endswith("Did you mean 'lamp.urdf'?\n")


def test_ctrl_c_exits_with_130(monkeypatch, lamp):
    def interrupted(*given, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr(hinge, "load", interrupted)
    ended = said("show", lamp)
    assert ended.exit_code == 130
    assert ended.stderr == "\nStopped.\n"


def test_show_as_json(lamp):
    told = json.loads(said("show", lamp, "--json").stdout)
    assert (told["name"], told["nv"], told["findings"]) == ("lamp", 2, [])
    turn, nod = told["joints"]
    assert (turn["type"], turn["lower"], turn["upper"]) == ("continuous", [None], [None])
    assert (nod["joint"], nod["on"], nod["lower"], nod["effort"]) == ("nod", "stem", [-1.0], [3.0])


def completed(words, at):
    environment = os.environ | {"_HINGE_COMPLETE": "bash_complete", "COMP_WORDS": words, "COMP_CWORD": str(at)}
    code = "from hinge.cli import main; main(prog_name='hinge')"
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    return [line.partition(",")[2] for line in done.stdout.splitlines()]


def test_words_are_completed():
    assert completed("hinge c", 1) == ["check", "convert", "count", "cache"]
    found = ["inverse-dynamics", "inverse-mass-matrix", "inverse-dynamics-derivatives", "inverse-inertia"]
    assert completed("hinge run inverse", 2) == found
    assert "--out" in completed("hinge run x y --", 4)


def test_progress_is_drawn_on_a_terminal_only(monkeypatch, capsys):
    with common.progress("working") as tick:
        tick(0.5, "half")
    assert capsys.readouterr() == ("", "")
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm")
    with common.progress("working") as tick:
        tick(0.5, "half")
    shown = capsys.readouterr()
    assert shown.out == ""
    assert "working" in shown.err


# ---- bench


def test_bench_measures_one_state_and_batches(lamp):
    ended = said(
        "bench", lamp, "mass-matrix", "pose", "--seconds", "0.02", "--states", "300", "--threads", "2", "--json"
    )
    assert ended.exit_code == 0, ended.output
    told = json.loads(ended.stdout)
    assert (told["robot"], told["threads"], told["states"], told["backend"]) == ("lamp", 2, 300, "llvm")
    assert [rate["name"] for rate in told["rates"]] == ["mass_matrix", "pose"]
    assert told["rates"][0]["method"] == hinge.load(lamp).cost("mass_matrix").method
    for rate in told["rates"]:
        assert min(rate["single"], rate["alone"], rate["batch"]) > 0
        assert rate["ns"] == pytest.approx(1e9 / rate["batch"])


def test_bench_prints_the_main_ones(lamp):
    shown = said("bench", lamp, "--seconds", "0.01", "--states", "64", "--backend", "interpret").stdout
    for word in ("inverse_dynamics", "forward_dynamics", "mass_matrix", "jacobian", "states a second"):
        assert word in shown


def test_what_cannot_be_measured_is_said(lamp):
    assert "there is no algorithm 'mass_matrx'. Did you mean 'mass_matrix'" in refused("bench", lamp, "mass-matrx")
    assert refused("bench", lamp, "step", code=1).startswith("step is not measured: it takes more than a state.\n")
    assert refused("bench", lamp, "--backend", "vulkan").startswith("there is no back end 'vulkan'. ")
    assert "Invalid value for '--states'" in refused("bench", lamp, "--states", "0")


def test_it_runs_as_a_module(lamp):
    done = subprocess.run([sys.executable, "-m", "hinge.cli", "--version"], capture_output=True, text=True, check=True)
    assert done.stdout == f"hinge, version {hinge.__version__}\n"
    assert main.name == "main"
