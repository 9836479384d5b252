"""Friction: agreement with a conic solver, and blocks and balls on slopes against hand calculations."""

import numpy as np
import pytest
from things import KINDS, corners, loose, solid, standing, two_bodies

import hinge
from hinge import Status
from hinge.contact.acting import Acting
from hinge.contact.contacts import ContactKind
from hinge.contact.stepping import _friction_algorithm

G = 9.81
SIZE = (0.4, 0.2, 0.1)


def problem(n, seed):
    rng = np.random.default_rng([n, seed])
    R = rng.uniform(-1, 1, (3 * n, 3 * n + 3))
    return R @ R.T, rng.uniform(-1, 1, 3 * n), rng.uniform(0.2, 1.0, (n, 2))


@pytest.mark.parametrize("n", [1, 2, 4])
def test_a_conic_solver_agrees(n):
    clarabel = pytest.importorskip("clarabel")
    from scipy import sparse

    for seed in range(10):
        C, d, mu = problem(n, seed)
        soft = 0.1 * seed
        mine = hinge.friction_forces(C, d, mu, compliance=soft)
        assert mine.status == Status.OK
        assert mine.residual <= 1e-10
        P = C + np.diag(np.tile([soft, 0, 0], n))
        scale = np.concatenate([[1.0, *(1.0 / m)] for m in mu])
        settings = clarabel.DefaultSettings()
        settings.verbose = False
        settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-12
        cones = [clarabel.SecondOrderConeT(3)] * n
        theirs = clarabel.DefaultSolver(
            sparse.triu(P).tocsc(), d, -sparse.diags(scale).tocsc(), np.zeros(3 * n), cones, settings
        ).solve()
        f, x = mine.force.reshape(-1), np.array(theirs.x)
        # theirs ends on the objective, whose square root is what forces are known to
        assert 0.5 * f @ P @ f + d @ f <= 0.5 * x @ P @ x + d @ x + 1e-12
        np.testing.assert_allclose(f, x, atol=2e-5)


def test_coulombs_law_holds_contact_by_contact():
    for seed in range(10):
        C, d, _ = problem(3, seed)
        made = hinge.friction_forces(C, d, 0.4, law="coulomb", tolerance=1e-9, iterations=200_000)
        assert made.status == Status.OK
        f, w = made.force, (C @ made.force.reshape(-1) + d).reshape(3, 3)
        assert (np.hypot(f[:, 1], f[:, 2]) <= 0.4 * f[:, 0] + 1e-9).all()
        np.testing.assert_allclose(np.minimum(f[:, 0], w[:, 0]), 0.0, atol=1e-7)
        for force, speed in zip(f[:, 1:], w[:, 1:], strict=True):
            if np.linalg.norm(speed) > 1e-6:  # what slides is held back with all there is, straight against it
                normal = f[np.argmax((f[:, 1:] == force).all(axis=1)), 0]
                np.testing.assert_allclose(force, -0.4 * normal * speed / np.linalg.norm(speed), atol=1e-6)


def on_slope(angle):
    """Gravity as a block feels it that stands on a slope along x."""
    return solid("block", 3.0, SIZE).with_gravity([G * np.sin(angle), 0, -G * np.cos(angle)])


@pytest.mark.parametrize("mu", [0.2, 0.5])
def test_a_block_on_a_slope_sticks_or_slides_as_it_should(mu):
    h = 1e-3
    for angle in (0.5 * np.arctan(mu), 1.3 * np.arctan(mu)):
        block = on_slope(angle)
        made = block.friction_step(standing(0.05), np.zeros(6), np.zeros(6), corners("block", SIZE, friction=mu), h)
        speed = max(0.0, np.sin(angle) - mu * np.cos(angle)) * G * h
        np.testing.assert_allclose(made.qd, [0, 0, 0, speed, 0, 0], atol=1e-8)
        assert made.impulse[:, 0].sum() == pytest.approx(3.0 * G * np.cos(angle) * h, rel=1e-6)


def test_a_sliding_ball_begins_to_roll():
    m, r, mu, h = 2.0, 0.1, 0.3, 1e-3
    ball = loose("ball", m, np.eye(3) * 0.4 * m * r * r)
    contact = hinge.Contact("ball", (0, 0, 0), normal=(0, 0, 1), offset=r, friction=mu)
    q, qd = standing(r), np.array([0, 0, 0, 1.0, 0, 0])
    made = ball.friction_step(q, qd, np.zeros(6), [contact], h)
    assert made.qd[3] == pytest.approx(1.0 - mu * G * h)
    assert made.qd[1] == pytest.approx(2.5 * mu * G * h / r)
    # one that rolls goes on; its velocity is in its own axes, which turn below it by h / r
    rolled = ball.friction_step(q, [0, 1.0 / r, 0, 1.0, 0, 0], np.zeros(6), [contact], h)
    np.testing.assert_allclose(rolled.qd, [0, 1.0 / r, 0, 1.0, 0, h / r], atol=1e-9)
    np.testing.assert_allclose(rolled.impulse[0], [m * G * h, 0, 0], atol=1e-9)


def test_a_ball_bounces_by_its_restitution_and_takes_spin():
    m, r, mu = 2.0, 0.1, 0.1
    ball = loose("ball", m, np.eye(3) * 0.4 * m * r * r)
    contact = hinge.Contact("ball", (0, 0, 0), normal=(0, 0, 1), offset=r, friction=mu, restitution=0.6)
    made = ball.friction_step(standing(r), [0, 0, 0, 5.0, 0, -2.0], np.zeros(6), [contact], 0.0)
    assert made.qd[5] == pytest.approx(1.2)
    assert made.qd[3] == pytest.approx(5.0 - mu * 2.0 * 1.6)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("kind", KINDS)
def test_slip_accelerates_as_its_difference_says(kind):
    robot = two_bodies()
    details = {"offset": 0.15} | KINDS[kind] if kind != "edges" else KINDS[kind]
    contact = hinge.Contact("t_two", (0.1, 0.2, -0.3), other="one", other_point=(0.3, -0.1, 0.2), **details)
    rng = np.random.default_rng(1)
    q, qd = (x[0] for x in robot.random_state(rng, 1))
    qdd, h = rng.normal(size=12), 1e-5
    recipe = _friction_algorithm, (ContactKind.of(contact),)
    kernel = Acting.of(robot.target, "friction_step").call(robot.target, recipe, None).kernel
    numbers = np.array(contact.numbers)

    def slip(t):
        F = kernel(robot.integrate(q, qd * t + qdd * t * t / 2), qd, np.zeros(12), numbers)[1]
        return F @ (qd + qdd * t)

    _, F, u, *_ = kernel(q, qd, np.zeros(12), numbers)
    rate = (slip(h)[0] - slip(-h)[0]) / (2 * h)
    assert rate == pytest.approx((F @ qdd + u)[0], rel=1e-5)
    # tangents are chosen anew at each state, so compare the length of the slip across the normal
    across = [slip(t)[1:] @ slip(t)[1:] for t in (-h, h)]
    assert (across[1] - across[0]) / (2 * h) == pytest.approx(2 * (F @ qd)[1:] @ (F @ qdd + u)[1:], rel=1e-5)


def test_a_spinning_ball_turns_the_ball_it_rests_on():
    """Friction between two round bodies acts where their surfaces touch: equal impulses, couples by the radii."""
    scene = hinge.Scene(gravity=(0, 0, 0)).body("low", "sphere", (0.2,), 2.0).body("high", "sphere", (0.1,), 1.0)
    q = np.array([1.0, 0, 0, 0, 0, 0, 0, 1.0, 0, 0, 0, 0, 0, 0.3])
    qd = np.zeros(12)
    qd[[7, 11]] = 5.0, -1.0  # the upper spins about y and comes down
    made = scene.robot.friction_step(q, qd, np.zeros(12), scene.contacts(q, friction=0.05), 0.0)
    normal = np.linalg.norm(made.impulse[0, :1])
    pushed, spun = 2.0 * made.qd[3:6], 0.4 * 2.0 * 0.2**2 * made.qd[:3]
    assert normal == pytest.approx(1.0 / (1 / 2.0 + 1 / 1.0))
    np.testing.assert_allclose(pushed, [0.05 * -normal, 0, -normal], atol=1e-9)  # it slides all the time
    np.testing.assert_allclose(spun, np.cross([0, 0, 0.2], pushed), atol=1e-9)
    np.testing.assert_allclose(1.0 * made.qd[9:], -pushed + [0, 0, -1.0], atol=1e-9)
    np.testing.assert_allclose(0.4 * 0.1**2 * (made.qd[6:9] - qd[6:9]), np.cross([0, 0, -0.1], -pushed), atol=1e-9)


def test_bad_input_is_refused_by_name():
    with pytest.raises(hinge.SizeError, match=r"friction has -1"):
        hinge.friction_forces(np.eye(3), np.zeros(3), -1.0)
    with pytest.raises(hinge.SizeError, match=r"not symmetric"):
        hinge.friction_forces(np.triu(np.ones((3, 3))), np.zeros(3), 0.5)
    with pytest.raises(hinge.SizeError, match=r"give \(…, 3 n, 3 n\)"):
        hinge.friction_forces(np.eye(2), np.zeros(2), 0.5)
    with pytest.raises(hinge.UnknownName, match=r"friction_forces: law='.*' is not known. Did you mean 'coulomb'"):
        hinge.friction_forces(np.eye(3), np.zeros(3), 0.5, law="colomb")


def test_nan_stays_in_its_row():
    d = -np.ones((3, 3))
    d[1, 1] = np.nan
    made = hinge.friction_forces(np.eye(3), d, 0.5)
    assert list(made.status) == [Status.OK, Status.NONFINITE, Status.OK]
    assert np.isnan(made.force[1]).all()
    np.testing.assert_array_equal(made.force[0], made.force[2])
