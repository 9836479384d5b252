"""Contacts together with constraints that hold: kinematic loops as rows."""

from itertools import combinations

import numpy as np
import pytest

import hinge


def system(seed):
    rng = np.random.default_rng(seed)
    robot = hinge.samples.chain(rng, 6)
    q, qd = (x[0] for x in robot.random_state(rng, 1))
    contacts = [hinge.Contact(n, rng.normal(size=3), normal=rng.normal(size=3)) for n in robot.body_names[-3:]]
    A, b = rng.normal(size=(2, robot.nv)), rng.normal(size=2)
    return robot, q, qd, rng.normal(size=robot.nv) * 10, contacts, A, b


def by_patterns(H, free, A, b, F, u):
    """Every pattern of contacts that remain, by the whole equations with all multipliers."""
    n, nv = F.shape
    for size in range(n + 1):
        for J in combinations(range(n), size):
            rows = np.vstack([A, F[list(J)]])
            K = np.block([[H, -rows.T], [rows, np.zeros((len(rows),) * 2)]])
            x = np.linalg.solve(K, np.concatenate([H @ free, -b, -u[list(J)]]))
            if (x[nv + len(A) :] >= -1e-10).all() and (F @ x[:nv] + u >= -1e-8).all():
                return x[:nv]
    raise AssertionError("no pattern will do")


@pytest.mark.parametrize("seed", range(8))
def test_loops_and_contacts_are_solved_together(seed):
    robot, q, qd, tau, contacts, A, b = system(seed)
    plain = robot.contact_system(q, qd, tau, contacts)
    made = robot.contact_dynamics(q, qd, tau, contacts, touch=None, hold=(A, b))
    expected = by_patterns(robot.mass_matrix(q), plain.free, A, b, plain.F, plain.d - plain.F @ plain.free)
    np.testing.assert_allclose(made.qdd, expected, atol=1e-6 * np.abs(expected).max())
    np.testing.assert_allclose(A @ made.qdd + b, 0.0, atol=1e-8)


@pytest.mark.parametrize("seed", range(4))
def test_an_impact_leaves_loops_closed(seed):
    robot, q, qd, _, contacts, A, _ = system(seed)
    H = robot.mass_matrix(q)
    qd = hinge.impact_projection(H, qd, A)
    made = robot.impact(q, qd, contacts, restitution=0.0, touch=None, hold=A)
    F = robot.contact_system(q, qd, np.zeros(robot.nv), contacts).F
    np.testing.assert_allclose(A @ made.qd, 0.0, atol=1e-9)
    assert (F @ made.qd > -1e-8).all()
    struck = made.impulse > 1e-9
    flat = hinge.impact_projection(H, qd, np.vstack([A, F[struck]]))
    np.testing.assert_allclose(made.qd, flat, atol=1e-8)


def test_rows_that_do_not_fit_are_refused():
    robot, q, qd, tau, contacts, A, b = system(0)
    with pytest.raises(hinge.SizeError, match="hold: A has shape"):
        robot.contact_dynamics(q, qd, tau, contacts, hold=(A[:, :2], b))
