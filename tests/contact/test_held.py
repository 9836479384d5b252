"""Contacts together with constraints that hold: kinematic loops as rows."""

from dataclasses import replace
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


@pytest.mark.sampled(3)
@pytest.mark.parametrize("seed", range(8))
def test_loops_and_contacts_are_solved_together(seed):
    robot, q, qd, tau, contacts, A, b = system(seed)
    plain = robot.contact_system(q, qd, tau, contacts)
    made = robot.contact_dynamics(q, qd, tau, contacts, touch=None, hold=(A, b))
    expected = by_patterns(robot.mass_matrix(q), plain.free, A, b, plain.F, plain.d - plain.F @ plain.free)
    np.testing.assert_allclose(made.qdd, expected, atol=1e-6 * np.abs(expected).max())
    np.testing.assert_allclose(A @ made.qdd + b, 0.0, atol=1e-8)


@pytest.mark.sampled(2)
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


# ---- robots with loops of their own


def linkage():
    """A four-bar whose coupler carries a tip below it, over the ground."""
    robot = hinge.samples.four_bar()
    q = robot.assemble([0.6, 0.5, 1.5], hold=["crank"], strict=True).q
    low = robot.pose(q, "coupler") @ [1.2, 0.0, -0.6, 1.0]
    contact = hinge.Contact("coupler", (1.2, 0.0, -0.6), normal=(0, 0, 1), other_point=low[:3])
    q, qd = robot.loop_project(q, [-1.0, 0.0, 0.0])
    return robot, q, qd, contact


def test_contacts_of_a_robot_feel_its_loops():
    robot, q, qd, contact = linkage()
    tree = hinge.Robot(replace(robot.model, loops=()))
    A, b = robot.loop_jacobian(q), robot.loop_bias(q, qd)
    tau = np.array([0.3, -0.2, 0.1])
    mine, wanted = robot.contact_system(q, qd, tau, [contact]), tree.contact_system(q, qd, tau, [contact], hold=(A, b))
    for name in ("C", "d", "free", "response", "gap"):
        np.testing.assert_allclose(getattr(mine, name), getattr(wanted, name), atol=1e-9)
    np.testing.assert_allclose(mine.free, robot.loop_dynamics(q, qd, tau)[0], atol=1e-10)
    made = robot.contact_dynamics(q, qd, tau, [contact], touch=None)
    qdd, force = robot.contact_kernel([contact])(q, qd, tau)
    np.testing.assert_allclose(qdd, made.qdd, atol=1e-9)
    np.testing.assert_allclose(force, made.force, atol=1e-9)
    after = robot.impact(q, qd, [contact], restitution=0.5)
    np.testing.assert_allclose(after.qd, tree.impact(q, qd, [contact], restitution=0.5, hold=A).qd, atol=1e-9)
    np.testing.assert_allclose(after.qd, -0.5 * qd, atol=1e-9)  # one freedom: all of it is turned round
    slid = robot.friction_step(q, qd, tau, [contact], 0.0)
    np.testing.assert_allclose(A @ slid.qd, 0.0, atol=1e-9)
    with pytest.raises(hinge.NotCovered, match="has loops, which are held already"):
        robot.contact_system(q, qd, tau, [contact], hold=(A, b))


def test_a_linkage_bounces_on_the_ground_with_its_loops_closed():
    robot, q, qd, contact = linkage()
    run = hinge.simulate_contacts(robot, [contact], t=1.5, q0=q, qd0=qd, step=5e-3, restitution=1.0)
    energy = robot.kinetic_energy(run.q, run.qd) + robot.potential_energy(run.q)
    assert sum(ev.kind == "impact" for ev in run.events) >= 2
    np.testing.assert_allclose(energy, energy[0], rtol=1e-6)
    assert np.abs(robot.loop_gap(run.q)).max() < 1e-12
    assert robot.contact_system(run.q, run.qd, np.zeros(3), [contact]).gap.min() > -1e-9
    run = hinge.simulate_contacts(robot, [contact], t=1.5, q0=q, qd0=qd, step=5e-3, restitution=0.3)
    assert run.status == hinge.Status.AT_REST
    assert run.force[-1, 0] > 0.0
    np.testing.assert_allclose(run.qd[-1], 0.0, atol=1e-9)
    assert np.abs(robot.loop_gap(run.q)).max() < 1e-12


def test_a_run_does_not_begin_with_an_open_loop():
    robot, q, _, contact = linkage()
    with pytest.raises(hinge.ModelError, match="qd0 opens loop 'pin"):
        hinge.simulate_contacts(robot, [contact], q0=q, qd0=[1.0, 0.0, 0.0])
