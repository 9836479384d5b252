"""What cannot be solved says so, alone in its row, and what is no problem is refused by name."""

import numpy as np
import pytest
from ddp_cases import rods, slider

import hinge
from hinge.errors import NotCovered, SizeError, TraceError, UnknownName
from hinge.optimal import Problem, ddp
from hinge.optimal.iteration import TOLD
from hinge.status import DIVERGED, NONFINITE, OK, UNCONVERGED


def force(u):
    return 0.1 * u


def rooted(horizon=6):
    """Problems whose cost is a number only where `scale` is not negative."""
    return Problem(slider(), horizon, 0.1, [force, lambda q, scale: np.sqrt(scale) * (q - 1.0)], given={"scale": 1.0})


@pytest.mark.parametrize("path", [False, True])
def test_a_cost_that_is_no_number_stays_in_its_row(path):
    problem, scale = rooted(), np.ones(11)
    scale[[3, 8]] = -1.0
    q = np.linspace(-1.0, 1.0, 11)[:, None]
    begun = {"path": (np.repeat(q[:, None], 7, 1), np.zeros((7, 1)))} if path else {}
    found, sound = ddp(problem, q, given={"scale": scale}, **begun), ddp(problem, q, **begun)
    np.testing.assert_array_equal(found.status, np.where(scale < 0.0, NONFINITE, OK))
    kept = scale > 0.0
    for name in ("q", "qd", "u", "gains", "cost", "optimality"):
        np.testing.assert_array_equal(getattr(found, name)[kept], getattr(sound, name)[kept])
    assert np.isnan(found.cost[~kept]).all()
    assert np.isfinite(found.u).all()
    assert np.isfinite(found.q).all()


def test_a_slope_that_is_no_number_is_never_called_solved():
    problem = Problem(slider(), 5, 0.1, [force, lambda q: np.sqrt(q[0] - 0.5)])
    found = ddp(problem, [0.5])
    assert found.status == NONFINITE
    assert np.isfinite(found.cost)
    assert np.isfinite(found.u).all()


def test_a_cost_that_is_infinite_is_not_finite():
    assert ddp(Problem(slider(), 5, 0.1, [force, lambda q: 1.0 / q[0]]), [0.0]).status == NONFINITE


@pytest.mark.parametrize("hessians", ["gauss_newton", "exact"])
def test_where_no_step_helps_the_best_so_far_is_kept(hessians):
    """Explicit steps of a stiff spring run away: whatever forces do, states leave all bounds."""
    builder = hinge.Builder("stiff")
    builder.link("base")
    builder.link("mass", 1.0, (0, 0, 0), np.eye(3))
    builder.joint("slide", "prismatic", "base", "mass", axis=(1, 0, 0), stiffness=1e12)
    problem = Problem(hinge.Robot(builder.build()), 60, 0.1, [force, lambda q: q], method="euler",
                      joint_terms=("stiffness",))  # fmt: skip
    found = ddp(problem, [1.0], iterations=50, hessians=hessians)
    first = ddp(problem, [1.0], iterations=0)
    assert found.status in (DIVERGED, UNCONVERGED)
    assert np.isfinite(found.q).all()
    assert np.isfinite(found.u).all()
    assert found.gap <= first.gap
    assert not found.cost > first.cost


def test_long_steps_far_from_the_answer_never_make_things_worse():
    """Two rods that fall from upright, and are wanted there: the cost falls, or the path stays as it was."""
    problem = Problem(rods(), 40, 0.05, [force], [lambda q: 100.0 * (q - 3.0)])
    found, first = (ddp(problem, [3.0, 0.5], u=np.zeros((40, 2)), iterations=n) for n in (60, 0))
    costs, shares = ([row[0, 1 + TOLD.index(name)] for row in found.history] for name in ("cost", "alpha"))
    assert first.gap < 1e-9
    assert min(shares[:-1]) < 0.1
    assert (np.diff(costs) <= 1e-12 * np.abs(costs[:-1])).all()
    assert found.cost < 0.5 * first.cost
    assert np.isfinite(found.q).all()
    assert found.status in (OK, UNCONVERGED, DIVERGED)


def test_a_force_that_costs_nothing_is_found_all_the_same():
    """The last force moves what is not asked for: the quadratic has no single least."""
    problem = Problem(slider(), 6, 0.1, [lambda q: q - 1.0], method="euler")
    found = ddp(problem, [0.0], iterations=100)
    assert found.status == OK
    assert np.isfinite(found.u).all()
    np.testing.assert_allclose(found.q[2:-1], 1.0, atol=1e-3)


def test_a_start_at_the_answer_takes_no_step():
    problem = Problem(slider(), 6, 0.1, [force, lambda q: q])
    found = ddp(problem, [0.0])
    assert found.status == OK
    assert len(found.history) == 1
    assert not found.u.any()


def test_no_problems_are_solved_at_once():
    found = ddp(rooted(), np.zeros((0, 1)))
    assert found.u.shape == (0, 6, 1)
    assert found.status.shape == (0,)


def test_states_that_are_no_numbers_are_refused_by_name():
    with pytest.raises(SizeError, match=r"given\['scale'\]"):
        ddp(rooted(), [0.0], given={"scale": np.nan})
    with pytest.raises(SizeError, match=r"\bu\b"):
        ddp(rooted(), [0.0], u=np.full((6, 1), np.nan))


def test_numbers_of_a_function_stay_its_own():
    weighed = [lambda u, w=w: w * u for w in (0.3, 0.4)]
    found, plain = (ddp(Problem(slider(), 6, 0.1, [*terms, lambda q: q - 1.0]), [0.0])
                    for terms in (weighed, [lambda u: 0.5 * u]))  # fmt: skip
    np.testing.assert_allclose(found.u, plain.u, rtol=1e-9)


REFUSED = [
    (lambda: Problem(slider(), 0, 0.1, [force]), SizeError, "horizon"),
    (lambda: Problem(slider(), 2.5, 0.1, [force]), SizeError, "horizon"),
    (lambda: Problem(slider(), 5, 0.0, [force]), SizeError, "step"),
    (lambda: Problem(slider(), 5, 0.1), SizeError, "no cost"),
    (lambda: Problem(slider(), 5, 0.1, [3.0]), SizeError, r"running\[0\] is a float"),
    (lambda: Problem(slider(), 5, 0.1, [lambda w: w]), UnknownName, r"running\[0\].*'w'"),
    (lambda: Problem(slider(), 5, 0.1, final=[force]), UnknownName, r"final\[0\], 'force' takes 'u'.*no force"),
    (lambda: Problem(slider(), 5, 0.1, [force], driven=["none"]), UnknownName, "no moving joint 'none'"),
    (lambda: Problem(slider(), 5, 0.1, [force], limits=["torque"]), UnknownName, "limits"),
    (lambda: Problem(rods().vary("joint2.effort"), 5, 0.1, [force]), NotCovered, "varies 'joint2.effort'"),
    (lambda: ddp(Problem(slider(), 5, 0.1, [lambda q: "dear"]), [0.0]), TraceError, r"running\[0\].*str"),
    (lambda: ddp(Problem(slider(), 5, 0.1, [lambda q: None]), [0.0]), TraceError, r"running\[0\].*None"),
    (lambda: ddp(Problem(slider(), 5, 0.1, [lambda q: np.outer(q, q)]), [0.0]), SizeError, r"running\[0\].*\(1, 1\)"),
    (lambda: ddp(Problem(slider(), 5, 0.1, [force], method="dopri5"), [0.0]), NotCovered, "dopri5"),
    (lambda: ddp(rooted(), [0.0], u=np.zeros((5, 1))), SizeError, r"\bu\b.*\(6, 1\)"),
    (lambda: ddp(rooted(), [0.0], path=np.zeros((7, 2))), SizeError, "path"),
    (lambda: ddp(rooted(), [0.0], given={"scal": 1.0}), UnknownName, "scal"),
    (lambda: ddp(rooted(), [0.0], hessians="newton"), UnknownName, "hessians"),
    (lambda: ddp(rooted(), [0.0], tolerance=-1.0), SizeError, "tolerance"),
]  # fmt: skip


@pytest.mark.parametrize(("call", "error", "words"), REFUSED)
def test_what_is_no_problem_is_refused_by_name(call, error, words):
    with pytest.raises(error, match=words):
        call()
