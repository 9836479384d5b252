"""Operation counts, listings and findings are those kept in this folder, and counts are at most the best known ones."""

import pytest
from write import (
    COUNTS,
    FILE_ROBOTS,
    FINDINGS,
    HERE,
    LISTINGS,
    REWRITE,
    ROBOT_FILES,
    ROBOTS,
    all_findings,
    counts,
    kept,
    listing,
    shown,
)

from hinge.robot import ALGORITHMS

OTHERS = ("hinge.formulations", "hinge.dynamics.turney", "hinge.dynamics.resolved_motion")  # other sets of equations

# The best known counts on a general six-joint arm without rotors, at or below every published one: mul, add
RECORDS = {
    ("inverse_dynamics", "turney"): (450, 386),
    ("mass_matrix", "composite"): (338, 301),
    ("forward_dynamics", "articulated"): (983, 869),
}

OLD = {m for ms in ALGORITHMS.values() for m, a in ms.items() if a.function.__module__.startswith(OTHERS)}
OLD -= {"turney", "composite_turney"}


def differences(was, now):
    """A line for each call and method whose cost is not what it was."""
    flat = [{(c, m): shown(cost) for c, ms in calls.items() for m, cost in ms.items()} for calls in (was, now)]
    keys = [key for key in {**flat[0], **flat[1]} if flat[0].get(key) != flat[1].get(key)]
    return [f"  {c}.{m}\n    was {flat[0].get((c, m))}\n    is  {flat[1].get((c, m))}" for c, m in keys]


@pytest.mark.parametrize("name", [*ROBOTS, *FILE_ROBOTS])
def test_operation_counts_are_the_golden_ones(name):
    if name in FILE_ROBOTS and not ROBOT_FILES.is_dir():
        pytest.skip("example-robot-data is not installed")
    made = counts((ROBOTS | FILE_ROBOTS)[name]())
    changed = differences(kept().get(name, {}), made)
    assert not changed, "\n".join([f"operation counts of {name} are not those of {COUNTS.name}:", *changed, REWRITE])


def test_no_robot_is_kept_that_is_not_counted():
    assert set(kept()) == {*ROBOTS, *FILE_ROBOTS}, REWRITE


@pytest.mark.parametrize("name", LISTINGS)
def test_a_small_program_is_the_golden_one_line_by_line(name):
    was, now = (HERE / name).read_text(encoding="utf-8").splitlines(), listing(name).splitlines()
    first = next((k for k, (a, b) in enumerate(zip(was, now, strict=False)) if a != b), min(len(was), len(now)))
    where = f"{name} differs from line {first + 1} on:\n  was {was[first : first + 3]}\n  is  {now[first : first + 3]}"
    assert was == now, f"{where}\n{REWRITE}"


@pytest.mark.parametrize("arm", ["general_arm", "upright_arm"])
@pytest.mark.parametrize(("call", "method"), RECORDS)
def test_a_general_arm_takes_no_more_operations_than_the_record(arm, call, method):
    cost, (mul, add) = ROBOTS[arm]().cost(call, method=method), RECORDS[call, method]
    assert cost.mul <= mul
    assert cost.add <= add


def test_rotors_make_the_mass_matrix_dearer_by_their_sums_only():
    plain, geared = (ROBOTS[arm]().cost("mass_matrix") for arm in ("general_arm", "geared_arm"))
    assert plain.mul == geared.mul
    assert plain.add <= geared.add <= plain.add + 2


def test_gravity_along_the_first_axis_is_never_dearer():
    general, upright = (counts(ROBOTS[arm]()) for arm in ("general_arm", "upright_arm"))
    for call, methods in general.items():
        for method, cost in methods.items():
            if method == "cluster":  # it transforms before it projects, and the constants fall differently
                continue
            if method in OLD:  # in base coordinates, or by whole matrices, which hide that gravity is along an axis
                continue
            assert upright[call][method]["mul"] <= cost["mul"], (call, method)


def test_the_findings_on_real_robots_are_the_golden_ones():
    if not ROBOT_FILES.is_dir():
        pytest.skip("example-robot-data is not installed")
    was, now = FINDINGS.read_text(encoding="utf-8").split("\n\n"), all_findings().split("\n\n")
    changed = [f"was {a}\nis  {b}" for a, b in zip(was, now, strict=False) if a != b]
    assert was == now, "\n".join([f"findings are not those of {FINDINGS.name}; the first:", *changed[:1], REWRITE])
