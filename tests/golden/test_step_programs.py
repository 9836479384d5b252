"""Programs of steps, runs, their derivatives, plans and environments are those kept in this folder."""

import pytest
from step_programs import CASES, REWRITE, kept, programs


@pytest.mark.sampled(25)
@pytest.mark.parametrize("case", CASES)
def test_programs_of_steps_are_the_golden_ones(case):
    if case == "environment":
        pytest.importorskip("gymnasium", reason="environments need gymnasium")
    was, now = kept().get(case), programs(case)
    assert was == now, f"the programs of {case!r} are not those of step_programs.toml. {REWRITE}"


def test_no_case_is_kept_that_is_not_run():
    assert list(kept()) == list(CASES), REWRITE
