"""Contact forces: complementarity, agreement of the methods and of QP solvers, and what is refused."""

import sys

import numpy as np
import pytest

import hinge
from hinge import ContactState, Status
from hinge.contact.pruning import Tally, guided, patterns, pruned


def problems(n, count, seed=0):
    """The text's experiment: R uniform in [-1, 1], C = R Rᵀ."""
    rng = np.random.default_rng([seed, n])
    R = rng.uniform(-1, 1, (count, n, n))
    return R @ R.transpose(0, 2, 1), rng.uniform(-1, 1, (count, n))


def dependent(n, rank, count):
    """Problems with dependent normals that have a solution: d lies in the range of C."""
    rng = np.random.default_rng([n, rank])
    F = rng.uniform(-1, 1, (count, n, rank))
    return F @ F.transpose(0, 2, 1), np.einsum("mij,mj->mi", F, rng.uniform(-1, 1, (count, rank)))


def complementarity(C, d, made):
    """How far off, against the accelerations given and the rounding of the forces' effects."""
    np.testing.assert_allclose(made.acceleration, np.einsum("mij,mj->mi", C, made.force) + d, atol=0, rtol=1e-12)
    effect = np.einsum("mij,mj->mi", np.abs(C), made.force).max(axis=1, keepdims=True)
    scale = np.maximum(1.0, 1e-5 * effect)
    return float((np.abs(np.minimum(made.force * np.diagonal(C, axis1=1, axis2=2), made.acceleration)) / scale).max())


@pytest.mark.sampled(4)
@pytest.mark.parametrize("n", range(1, 13))
def test_random_problems_are_solved(n):
    C, d = problems(n, 10_000)
    made = hinge.contact_forces(C, d)
    assert (made.status == Status.OK).all()
    assert complementarity(C, d, made) < 1e-9
    assert (made.force >= 0.0).all()


@pytest.mark.parametrize("n", [2, 4, 6, 9, 12])
@pytest.mark.parametrize("method", ["lemke", "even"])
def test_dependent_normals_are_solved(n, method):
    C, d = dependent(n, max(1, n // 2), 200)
    made = hinge.contact_forces(C, d, method=method)
    assert (made.status == Status.OK).all()
    assert complementarity(C, d, made) < 1e-8


@pytest.mark.parametrize("n", [1, 3, 5])
@pytest.mark.parametrize("method", ["pruning", "patterns", "even", "qp"])
def test_the_methods_agree(n, method):
    C, d = problems(n, 60)
    keep = np.linalg.cond(C) < 1e6
    C, d = C[keep], d[keep]
    assert len(d) > 40
    mine, theirs = hinge.contact_forces(C, d), hinge.contact_forces(C, d, method=method)
    np.testing.assert_allclose(theirs.force, mine.force, rtol=1e-7, atol=1e-7)
    assert (theirs.status == Status.OK).all()


def test_the_plain_search_is_the_guided_one():
    for C, d in zip(*problems(6, 100), strict=True):
        np.testing.assert_allclose(C @ pruned(C, d, Tally()), C @ guided(C, d, Tally()), atol=1e-8)


def test_dependent_contacts_move_as_the_patterns_say():
    C, d = dependent(5, 3, 60)
    mine = hinge.contact_forces(C, d)
    for k in range(60):
        force = patterns(C[k], d[k], Tally())
        np.testing.assert_allclose(C[k] @ force, C[k] @ mine.force[k], atol=1e-7)


@pytest.mark.parametrize("solver", ["daqp", "clarabel"])
def test_qp_solvers_agree(solver):
    pytest.importorskip(solver)
    C, d = problems(7, 40)
    mine = hinge.contact_forces(C, d)
    for k in range(40):
        force = solve_qp(solver, C[k], d[k])
        np.testing.assert_allclose(C[k] @ force, C[k] @ mine.force[k], atol=2e-5)


def solve_qp(solver, C, d):
    n = len(d)
    if solver == "daqp":
        import daqp

        big = np.full(n, 1e9)
        return daqp.solve(C.copy(), d.copy(), np.zeros((0, n)), big, np.zeros(n), np.zeros(n, np.intc))[0]
    import clarabel
    from scipy import sparse

    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-12
    cones = [clarabel.NonnegativeConeT(n)]
    made = clarabel.DefaultSolver(
        sparse.triu(C).tocsc(), d, -sparse.identity(n, format="csc"), np.zeros(n), cones, settings
    ).solve()
    return np.array(made.x)


def test_the_heuristic_is_as_good_as_the_text_says():
    tally = Tally()
    for n in (4, 6, 8, 10):
        for C, d in zip(*problems(n, 300), strict=True):
            guided(C, d, tally)
    assert 0.975 < tally.right / tally.choices < 0.995


def test_the_search_tries_about_as_many_patterns_as_the_text_says():
    # leaf calls of Figure 9-6 grow with 1.5^(n - 1), each standing for the last contact's two roots
    n, count = 10, 150
    tally = Tally()
    for C, d in zip(*problems(n, count), strict=True):
        pruned(C, d, tally)
    assert tally.patterns / count == pytest.approx(1.5 ** (n - 1), rel=0.15)


# what has no solution, what is inactive, what makes no difference


def test_a_second_order_collision_has_a_status():
    # opposite walls, and the slot narrows: no forces can arrest it (Figure 9-8)
    made = hinge.contact_forces([[1.0, -1.0], [-1.0, 1.0]], [-1.0, 0.5])
    assert made.status == Status.NO_SOLUTION
    assert np.isnan(made.force).all()
    fits = hinge.contact_forces([[1.0, -1.0], [-1.0, 1.0]], [-1.0, 1.0])
    assert fits.status == Status.OK


@pytest.mark.parametrize("n", [3, 6, 10])
def test_no_solution_is_said_only_where_there_is_none(n):
    linprog = pytest.importorskip("scipy.optimize").linprog
    C, _ = dependent(n, n // 2, 60)
    d = np.random.default_rng(5).uniform(-1, 1, (60, n))
    made = hinge.contact_forces(C, d)
    assert set(made.status) == {Status.OK, Status.NO_SOLUTION}
    for k in range(60):
        feasible = linprog(np.zeros(n), A_ub=-C[k], b_ub=d[k], bounds=[(0, None)] * n).status == 0
        assert feasible == (made.status[k] == Status.OK)


def test_inactive_contacts_are_known():
    made = hinge.contact_forces(np.eye(3), [-1.0, 0.0, 1.0])
    assert list(made.state) == [ContactState.REMAINING, ContactState.INACTIVE, ContactState.BREAKING]


def test_sets_that_cannot_break_and_contacts_that_make_no_difference():
    def sets(*normals):
        F = np.array(normals, float)
        made = hinge.contact_sets(F @ F.T)
        return list(made.unbreakable), list(made.redundant)

    assert sets((1, 0), (-1, 0), (0, 1)) == ([True, True, False], [False] * 3)
    assert sets((1, 0), (0, 1), (1, 1)) == ([False] * 3, [False, False, True])
    assert sets((1, 0), (1, 0)) == ([False] * 2, [False, True])
    assert sets((1, 0), (0, 0)) == ([False] * 2, [False, True])
    assert sets((1, 0), (-1, 1), (-1, -1)) == ([True] * 3, [False] * 3)
    square = sets((1, 1, 1), (1, 1, -1), (1, -1, 1), (1, -1, -1))  # Figure 9-7: dependent, yet none can be left out
    assert square == ([False] * 4, [False] * 4)


def test_redundant_contacts_can_be_left_out():
    rng = np.random.default_rng(0)
    for _ in range(20):
        F = rng.uniform(-1, 1, (3, 4))
        F = np.vstack([F, rng.uniform(0, 1, (2, 3)) @ F])
        keep = ~hinge.contact_sets(F @ F.T).redundant
        assert keep.sum() <= 4
        # d as joint forces make it, and consistently for the redundant ones
        d = F @ rng.normal(size=4)
        whole = hinge.contact_forces(F @ F.T, d)
        part = hinge.contact_forces(F[keep] @ F[keep].T, d[keep])
        np.testing.assert_allclose(F.T @ whole.force, F[keep].T @ part.force, atol=1e-8)


# batches and bad input


def test_a_batch_is_its_rows_and_nan_stays_in_its_own():
    C, d = problems(5, 12)
    C, d = C.reshape(3, 4, 5, 5), d.reshape(3, 4, 5)
    d[1, 2, 0] = np.nan
    for method in ("lemke", "even", "pruning"):
        made = hinge.contact_forces(C, d, method=method)
        assert made.force.shape == (3, 4, 5)
        assert made.status[1, 2] == Status.NONFINITE
        assert np.isnan(made.force[1, 2]).all()
        assert np.isfinite(made.force).all(axis=-1).sum() == 11
        one = hinge.contact_forces(C[2, 3], d[2, 3], method=method)
        np.testing.assert_array_equal(one.force, made.force[2, 3])


def test_one_c_serves_many_d():
    made = hinge.contact_forces(np.eye(2), -np.ones((7, 2)))
    np.testing.assert_allclose(made.force, np.ones((7, 2)))


@pytest.mark.parametrize(
    ("C", "d", "words"),
    [
        ([[1.0, 2.0], [3.0, 4.0]], [0, 0], r"C is not symmetric: C\[0, 1\] is 2, C\[1, 0\] is 3"),
        (np.stack([np.eye(2), [[1, 0.5], [0, 1]]]), [0, 0], r"C of state \(1,\) is not symmetric"),
        ([[1.0, 0.0]], [0.0], r"C has shape \(1, 2\)"),
        (np.eye(2), [0, 0, 0], r"d has shape \(3,\), C is for 2 contacts"),
        ([[-1.0]], [0.0], r"C\[0, 0\] is -1"),
        ("C", [0.0], "not an array of real numbers"),
        (np.eye(2)[None].repeat(2, 0), np.zeros((3, 2)), "batches do not fit together"),
    ],
)
def test_what_cannot_be_a_contact_problem_is_refused(C, d, words):
    with pytest.raises(hinge.SizeError, match=words):
        hinge.contact_forces(C, d)


def test_an_unknown_method_is_refused():
    with pytest.raises(hinge.UnknownName, match=r"contact_forces: method='lemki' is not known. Did you mean 'lemke'"):
        hinge.contact_forces(np.eye(1), [0.0], method="lemki")


def test_without_scipy_the_other_methods_are_offered(monkeypatch):
    monkeypatch.setitem(sys.modules, "scipy.optimize", None)
    with pytest.raises(hinge.NotCovered, match=r"pip install .hinge\[solve\]., or take method='lemke'"):
        hinge.contact_forces([[2.0]], [-2.0], "qp")
    assert hinge.contact_forces([[2.0]], [-2.0]).force == [1.0]


def test_no_contacts_are_no_trouble():
    assert hinge.contact_forces(np.zeros((3, 0, 0)), np.zeros((3, 0))).force.shape == (3, 0)
