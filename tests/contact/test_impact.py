"""Impact against textbook numbers: balls, a rod, three balls in a row, projections, two bodies."""

import numpy as np
import pytest
from things import corners, loose, solid, standing

import hinge
from hinge import Status

UP = {"normal": (0, 0, 1)}


def balls(masses, radius=0.1):
    """Balls on a line along x that only slide along it, touching, and the contacts between neighbours."""
    builder = hinge.Builder("balls")
    builder.link("world")
    for k, m in enumerate(masses):
        builder.link(f"ball{k}", m, inertia=np.eye(3) * m * 0.4 * radius**2)
        builder.joint(f"slide{k}", "prismatic", "world", f"ball{k}", (2 * radius * k, 0, 0), axis=(1, 0, 0))
    contacts = [
        hinge.Contact(f"ball{k + 1}", (0, 0, 0), other=f"ball{k}", offset=2 * radius) for k in range(len(masses) - 1)
    ]
    return hinge.Robot(builder.build()), contacts


@pytest.mark.parametrize("e", [0.0, 0.3, 0.7, 1.0])
def test_a_dropped_ball_bounces_by_its_restitution(e):
    ball = loose("ball", 2.0, np.eye(3) * 0.01)
    contact = hinge.Contact("ball", (0, 0, 0), offset=0.1, restitution=e, **UP)
    made = ball.impact(standing(0.1), [0.1, 0.2, 0.3, 1.0, 0.0, -3.0], [contact])
    np.testing.assert_allclose(made.qd, [0.1, 0.2, 0.3, 1.0, 0.0, 3.0 * e], atol=1e-12)
    assert made.impulse[0] == pytest.approx(2.0 * 3.0 * (1 + e))


@pytest.mark.parametrize("e", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("angle", [0.2, 0.7, 1.2])
def test_a_rod_that_strikes_the_ground_matches_the_textbook_impulse(e, angle):
    # J = (1 + e) m v / (1 + 3 cos² θ), ω = 6 J cos θ / (m L): a rod falling at angle θ to the ground
    m, L, v = 1.5, 0.8, 2.0
    rod = loose("rod", m, np.diag([0.0, 1, 1]) * m * L**2 / 12 + np.diag([1e-9, 0, 0]))
    turn = np.array([np.cos(angle / 2), 0, -np.sin(angle / 2), 0])  # its x axis points up by the angle
    q = np.concatenate([turn, [0, 0, L / 2 * np.sin(angle)]])
    R = rod.pose(q, "rod")[:3, :3]
    qd = np.concatenate([np.zeros(3), R.T @ [0, 0, -v]])
    made = rod.impact(q, qd, [hinge.Contact("rod", (-L / 2, 0, 0), restitution=e, **UP)])
    J = (1 + e) * m * v / (1 + 3 * np.cos(angle) ** 2)
    assert made.impulse[0] == pytest.approx(J)
    assert abs(made.qd[1]) == pytest.approx(6 * J * np.cos(angle) / (m * L))
    assert (R @ made.qd[3:])[2] == pytest.approx(-v + J / m)


def test_three_balls_in_a_row_give_the_texts_answer_which_is_no_cradle():
    robot, contacts = balls([1.0, 1.0, 1.0])
    before = np.array([1.0, 0.0, 0.0])
    made = robot.impact(np.zeros(3), before, contacts, restitution=1.0)
    np.testing.assert_allclose(made.qd, [-1 / 3, 2 / 3, 2 / 3], atol=1e-12)  # a cradle's would be (0, 0, 1)
    assert made.qd.sum() == pytest.approx(before.sum())
    assert (made.qd**2).sum() == pytest.approx((before**2).sum())


def random_system(seed, approach):
    """A chain that strikes the world in three places at once."""
    rng = np.random.default_rng(seed)
    robot = hinge.samples.chain(rng, 5)
    q, qd = robot.random_state(rng, 1)
    names = robot.body_names[-3:]
    contacts = [hinge.Contact(n, rng.normal(size=3), normal=rng.normal(size=3)) for n in names]
    if approach:
        speed = robot.contact_system(q[0], qd[0], np.zeros(robot.nv), contacts).F
        qd = np.linalg.lstsq(speed, -rng.uniform(0.5, 1.0, 3), rcond=None)[0][None]
    return robot, q[0], qd[0], contacts


@pytest.mark.sampled(2)
@pytest.mark.parametrize("seed", range(5))
def test_no_gap_closes_after_an_impact_and_no_energy_is_made(seed):
    robot, q, qd, contacts = random_system(seed, approach=False)
    for e in (0.0, 0.4, 1.0):
        made = robot.impact(q, qd, contacts, restitution=e, touch=None)
        after = robot.contact_system(q, made.qd, np.zeros(robot.nv), contacts).speed
        assert (after > -1e-9).all()
        assert (made.impulse >= 0.0).all()
        assert robot.kinetic_energy(q, made.qd) <= robot.kinetic_energy(q, qd) * (1 + 1e-9)


@pytest.mark.parametrize("seed", range(5))
def test_plastic_impact_has_no_decompression(seed):
    robot, q, qd, contacts = random_system(seed, approach=False)
    made = robot.impact(q, qd, contacts, restitution=0.0, touch=None)
    np.testing.assert_array_equal(made.extra, 0.0)
    np.testing.assert_array_equal(made.impulse, made.compression)


@pytest.mark.sweep
def test_equal_restitution_asks_for_no_further_impulse_where_no_contact_separates():
    extra = []
    for seed in range(20):
        for approach in (True, False):
            robot, q, qd, contacts = random_system(seed, approach)
            made = robot.impact(q, qd, contacts, restitution=0.6, touch=None)
            if approach:
                np.testing.assert_allclose(made.extra, 0.0, atol=1e-12)
            else:
                extra.append(made.extra.max())
    assert max(extra) > 1e-3  # and where one does, the text's "γˣ = 0" does not hold


@pytest.mark.sampled(1)
@pytest.mark.parametrize("e", [0.0, 0.5, 1.0])
def test_projections_are_the_same_impact_where_every_contact_takes_part(e):
    matched = 0
    for seed in range(10):
        robot, q, qd, contacts = random_system(seed, approach=True)
        made = robot.impact(q, qd, contacts, restitution=e, touch=None)
        if (made.compression > 1e-9).all():
            F = robot.contact_system(q, qd, np.zeros(robot.nv), contacts).F
            flat = hinge.impact_projection(robot.mass_matrix(q), qd, F, restitution=e)
            np.testing.assert_allclose(flat, made.qd, atol=1e-8)
            matched += 1
    assert matched >= 2


def test_projection_from_one_manifold_to_another():
    rng = np.random.default_rng(0)
    R = rng.normal(size=(6, 6))
    H, on = R @ R.T + np.eye(6), rng.normal(size=(3, 6))
    kept = on[:1]  # this one held before and holds after; the other two are struck
    before = hinge.impact_projection(H, rng.normal(size=6), kept)
    after = hinge.impact_projection(H, before, on, after=kept, restitution=0.5)
    np.testing.assert_allclose(kept @ after, 0.0, atol=1e-12)
    np.testing.assert_allclose(on @ after, -0.5 * on @ before, atol=1e-12)
    jump = H @ (after - before)  # momentum changes along the rows only: (30)
    np.testing.assert_allclose(jump - np.linalg.lstsq(on.T, jump, rcond=None)[0] @ on, 0.0, atol=1e-10)
    stuck = hinge.impact_projection(H, before, on, after=on[:2], restitution=1.0)
    np.testing.assert_allclose(on[:2] @ stuck, 0.0, atol=1e-12)
    assert before @ H @ before > stuck @ H @ stuck
    with pytest.raises(hinge.SizeError, match=r"row 0 of after"):
        hinge.impact_projection(H, before, on[:1], after=on[1:2])


def test_two_bodies_are_the_system_of_two_bodies():
    one, two = loose("one", 1.0, np.diag([0.2, 0.3, 0.4])), loose("two", 2.0, np.diag([0.5, 0.3, 0.4]))
    robot = one.attach(two, at="world", prefix="t_")
    q = np.concatenate([standing(0.0), standing(0.5)])
    qd = np.array([0.1, 0.2, -0.1, 0, 0, 1.0, 0.3, -0.2, 0.1, 0, 0.1, -1.0])
    contact = hinge.Contact("t_two", (0.1, 0.2, -0.5), other="one", normal=(0, 0, 1))
    made = robot.impact(q, qd, [contact], restitution=0.6)
    shift = np.array([0, 0, 0.5])
    I1 = np.diag([0.2, 0.3, 0.4, 1, 1, 1])
    cross = np.array([[0, -0.5, 0], [0.5, 0, 0], [0, 0, 0]])
    I2 = np.block([[np.diag([0.5, 0.3, 0.4]) + 2 * cross @ cross.T, 2 * cross], [2 * cross.T, 2 * np.eye(3)]])
    v2 = np.concatenate([qd[6:9], qd[9:] - np.cross(qd[6:9], shift)])
    n = np.concatenate([np.cross([0.1, 0.2, 0.0], [0, 0, 1]), [0, 0, 1]])
    pair = hinge.two_body_impact(I1, I2, n, qd[:6], v2, 0.6)
    assert pair.impulse == pytest.approx(made.impulse[0])
    np.testing.assert_allclose(pair.v1, made.qd[:6], atol=1e-12)
    np.testing.assert_allclose(pair.v2[:3], made.qd[6:9], atol=1e-12)
    np.testing.assert_allclose(n @ (pair.v2 - pair.v1), -0.6 * n @ (v2 - qd[:6]))
    parting = hinge.two_body_impact(I1, I2, n, pair.v1, pair.v2, 0.6)
    assert parting.impulse == 0.0


def test_the_response_to_an_impulse_is_the_mass_matrix_solved():
    robot = hinge.samples.puma560()
    rng = np.random.default_rng(0)
    q, p = robot.random_state(rng, 4)
    w = rng.normal(size=6)
    J = robot.jacobian(q, "tool")
    expected = np.linalg.solve(robot.mass_matrix(q), (p + np.einsum("mij,i->mj", J, w))[..., None])[..., 0]
    np.testing.assert_allclose(robot.impulse_response(q, p, external={"tool": w}), expected, atol=1e-10)
    np.testing.assert_allclose(robot.impulse_response(q, np.zeros(6)), 0.0)


def test_a_block_that_lands_flat_stays_flat():
    size = (0.4, 0.2, 0.1)
    made = solid("block", 3.0, size).impact(standing(0.05), [0, 0, 0, 1.0, 0, -2.0], corners("block", size))
    np.testing.assert_allclose(made.qd, [0, 0, 0, 1.0, 0, 0], atol=1e-12)
    np.testing.assert_allclose(made.impulse, 1.5)


def test_nan_stays_in_its_row():
    ball = loose("ball", 2.0, np.eye(3) * 0.01)
    qd = np.zeros((3, 6))
    qd[:, 5] = -1.0
    qd[1, 0] = np.nan
    made = ball.impact(np.tile(standing(0.1), (3, 1)), qd, [hinge.Contact("ball", (0, 0, 0), offset=0.1, **UP)])
    assert list(np.isnan(made.qd).any(axis=1)) == [False, True, False]
    assert made.status[0] == Status.OK


@pytest.mark.parametrize("bad", [1.2, -0.1, float("nan"), [0.5, 2.0]])
def test_restitution_outside_its_range_is_refused(bad):
    robot, contacts = balls([1.0, 1.0, 1.0])
    with pytest.raises(hinge.SizeError, match=r"Give a number from 0 \(plastic\) to 1 \(elastic\)"):
        robot.impact(np.zeros(3), np.ones(3), contacts, restitution=bad)
    with pytest.raises(hinge.SizeError, match=r"there are 2 contacts"):
        robot.impact(np.zeros(3), np.ones(3), contacts, restitution=[0.5, 0.5, 0.5])


BALL, ALONG = np.diag([1.0, 1, 1, 2, 2, 2]), np.array([0.0, 0, 0, 1, 0, 0])
WEIGHTLESS = np.diag([1.0, 1, 1, 0, 2, 2])


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        (lambda: hinge.two_body_impact(BALL, WEIGHTLESS, ALONG, ALONG, 0 * ALONG),
         r"two_body_impact: I2 is not positive definite: some motion has no kinetic energy.\n  Give each body a mass"),
        (lambda: hinge.two_body_impact(np.stack([BALL, np.ones((6, 6))]), BALL, ALONG, ALONG, 0 * ALONG),
         r"two_body_impact: I1 of state \(1,\) is not positive definite"),
        (lambda: hinge.two_body_impact(np.stack([BALL] * 2), BALL, ALONG, np.zeros((3, 6)), ALONG),
         r"two_body_impact: the batches do not fit together"),
        (lambda: hinge.impact_projection([[1.0, 1.0], [1.0, 1.0]], [1.0, -2.0], [[0.0, 1.0]]),
         r"impact_projection: H is not positive definite"),
        (lambda: hinge.impact_projection(np.eye(2), [1.0, -2.0], [0.0, 1.0]),
         r"impact_projection: on has shape \(2,\). Give rows, \(…, p, 2\)."),
        (lambda: hinge.impact_projection(np.eye(2), [1.0, -2.0], [[0.0, 1.0]], [0.0, 1.0]),
         r"impact_projection: after has shape \(2,\)"),
        (lambda: hinge.impact_projection(np.eye(3), [1.0, -2.0], [[0.0, 1.0]]), r"it has to end in \(2, 2\)"),
        (lambda: hinge.impact_projection(np.eye(2), 1.0, [[0.0, 1.0]]), r"qd is one number"),
        (lambda: hinge.impact_projection(np.eye(2), [1.0, -2.0], [[0.0, 1.0]], restitution=[0.5, 0.5]),
         r"restitution has shape \(2,\). Give one number."),
    ],
)  # fmt: skip
def test_what_cannot_collide_is_refused(asked, words):
    with pytest.raises(hinge.SizeError, match=words):
        asked()


@pytest.mark.parametrize("scale", [1e-12, 1.0, 1e12])
def test_small_and_large_bodies_collide_alike(scale):
    small = np.diag([1e-9, 1e-9, 1e-9, 2.0, 2, 2]) * scale
    made = hinge.two_body_impact(small, small, ALONG, ALONG, 0 * ALONG, 1.0)
    np.testing.assert_allclose([made.v1, made.v2], [0 * ALONG, ALONG], atol=1e-14)


def test_nan_of_an_inertia_or_a_row_stays_in_its_state():
    I = np.stack([BALL, BALL, BALL])
    I[1, 2, 3] = np.nan
    made = hinge.two_body_impact(I, BALL, ALONG, ALONG, 0 * ALONG)
    for part in (made.v1, made.v2, made.impulse[:, None]):
        assert np.isnan(part).any(axis=1).tolist() == [False, True, False]
    H, on = np.stack([np.eye(2)] * 3), np.zeros((3, 1, 2)) + [0.0, 1.0]
    H[0, 0, 0], on[2, 0, 1] = np.nan, np.nan
    for after in (None, on, [[0.0, 1.0]]):
        out = hinge.impact_projection(H, [1.0, -2.0], on, after, restitution=0.5)
        assert np.isnan(out).any(axis=1).tolist() == [True, False, True]


def test_an_impact_on_nothing_changes_nothing():
    for after in (None, np.zeros((0, 2))):
        np.testing.assert_array_equal(hinge.impact_projection(np.eye(2), [1.0, -2.0], np.zeros((0, 2)), after), [1, -2])
