"""Whatever is raised in the middle of a call: nothing is written afterwards, and the next numbers are right."""

import json
import pathlib

import pytest
from kernel_cases import python

STRESS = pathlib.Path(__file__).parent / "stress_interrupts.py"


@pytest.mark.sweep
@pytest.mark.parametrize(("interrupts", "rounds"), [(300, 40), pytest.param(2000, 300, marks=pytest.mark.sweep)])
@pytest.mark.parametrize("seed", [1, 2])
def test_calls_are_right_after_interrupts_at_any_time_and_when_bound_in_several_threads(seed, interrupts, rounds):
    ran = python(STRESS, interrupts, rounds, seed)
    assert (ran.returncode, ran.stderr) == (0, "")
    told = json.loads(ran.stdout)
    assert (told["interrupts"], told["wrong"]) == (interrupts, 0)
    assert told["bound"] == {"rounds": rounds, "wrong": 0}
