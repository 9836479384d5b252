"""Laws of displacements: exponential and logarithm, adjoints, velocities, screws, inertias, spaces."""

import mpmath
import numpy as np
import pytest

from hinge.geometry import inertias, screws, se3, spaces

ANGLES = (1e-12, 1e-6, 0.03, 0.032, 1.0, 3.0, np.pi - 1e-3, np.pi - 1e-6, np.pi - 1e-9)


def motions(rng, n, angle=None):
    """n twists with turns up to π, or of one angle."""
    w = rng.normal(size=(n, 3))
    w *= (rng.uniform(0.0, np.pi, (n, 1)) if angle is None else angle) / np.linalg.norm(w, axis=1, keepdims=True)
    return np.concatenate([w, rng.normal(size=(n, 3))], axis=1)


def poses(rng, n):
    return se3.exp(motions(rng, n))


def off(made, wanted):
    """The largest error of a row, relative to its length; angular and linear parts each by themselves."""
    return max(
        (np.linalg.norm(a - b, axis=-1) / np.linalg.norm(b, axis=-1)).max()
        for a, b in ((made[..., :3], wanted[..., :3]), (made[..., 3:], wanted[..., 3:]))
    )


def exact_exp(twist):
    """The exponential in forty digits."""
    with mpmath.workdps(40):
        w, v = mpmath.matrix(twist[:3].tolist()), mpmath.matrix(twist[3:].tolist())
        a = mpmath.sqrt(sum(x * x for x in w))
        W = mpmath.matrix([[0, -w[2], w[1]], [w[2], 0, -w[0]], [-w[1], w[0], 0]])
        W2, one = W * W, mpmath.eye(3)
        R = one + W * (mpmath.sin(a) / a) + W2 * ((1 - mpmath.cos(a)) / a**2)
        p = (one + W * ((1 - mpmath.cos(a)) / a**2) + W2 * ((a - mpmath.sin(a)) / a**3)) * v
        made = np.eye(4)
        made[:3, :3] = np.array([[float(R[i, j]) for j in range(3)] for i in range(3)])
        made[:3, 3] = [float(x) for x in p]
    return made


@pytest.mark.parametrize("angle", ANGLES)
def test_the_exponential_is_right_to_the_last_digits(angle):
    rng = np.random.default_rng(0)
    for twist in motions(rng, 20, angle):
        made, wanted = se3.exp(twist), exact_exp(twist)
        assert np.abs(made - wanted)[:3, :3].max() < 1e-15
        assert np.linalg.norm(made[:3, 3] - wanted[:3, 3]) < 2e-15 * np.linalg.norm(wanted[:3, 3])
        if angle < 1e-3:  # the turn itself keeps its digits, beside ones on the diagonal
            assert np.abs(made - made.T)[:3, :3].max() == pytest.approx(
                np.abs(wanted - wanted.T)[:3, :3].max(), rel=1e-9
            )


def test_the_logarithm_undoes_the_exponential_for_a_million_motions():
    rng = np.random.default_rng(1)
    parts = [motions(rng, 900_000)] + [motions(rng, 100_000 // len(ANGLES), angle) for angle in ANGLES]
    for twists in parts:
        assert off(se3.log(se3.exp(twists)), twists) < 1e-14


@pytest.mark.parametrize("angle", ANGLES)
def test_the_logarithm_is_right_to_the_last_digits(angle):
    twists = motions(np.random.default_rng(2), 20, angle)
    exact = np.array([exact_exp(twist) for twist in twists])  # rounded once, so as good as a matrix of doubles can be
    assert off(se3.log(exact), twists) < 1e-14


def test_at_half_a_turn_the_largest_entry_of_the_axis_is_positive():
    made = se3.log(np.diag([-1.0, 1.0, -1.0, 1.0]))
    assert made[:3] == pytest.approx([0.0, np.pi, 0.0])
    for twist in motions(np.random.default_rng(3), 50, np.pi):
        n = twist[:3] / np.pi
        half = np.eye(4)
        half[:3, :3] = 2 * np.outer(n, n) - np.eye(3)
        made = se3.log(half)[:3]
        assert np.abs(np.abs(made) - np.abs(twist[:3])).max() < 1e-7
        assert np.linalg.norm(made) <= np.pi + 1e-15


def test_no_motion_has_no_logarithm_but_zero_and_a_slide_is_itself():
    assert not se3.log(np.eye(4)).any()
    assert se3.exp(np.zeros(6)).tolist() == np.eye(4).tolist()
    slide = se3.exp([0, 0, 0, 1, 2, 3])
    assert slide[:3, 3].tolist() == [1, 2, 3]
    assert se3.log(slide).tolist() == [0, 0, 0, 1, 2, 3]


def test_the_adjoint_of_a_product_is_the_product_of_adjoints():
    rng = np.random.default_rng(4)
    g, h = poses(rng, 20), poses(rng, 20)
    for Ad in (se3.adjoint, se3.coadjoint):
        assert Ad(se3.product(g, h)) == pytest.approx(Ad(g) @ Ad(h), abs=1e-13)
        assert Ad(se3.inverse(g)) == pytest.approx(np.linalg.inv(Ad(g)), abs=1e-12)
    assert se3.coadjoint(g) == pytest.approx(np.swapaxes(np.linalg.inv(se3.adjoint(g)), -1, -2), abs=1e-12)


def test_the_adjoint_is_conjugation():
    rng = np.random.default_rng(5)
    g, x = poses(rng, 20), motions(rng, 20)
    carried = g @ se3.hat(x) @ np.linalg.inv(g)
    assert se3.vee(carried) == pytest.approx((se3.adjoint(g) @ x[..., None])[..., 0], abs=1e-12)
    assert se3.displace(g, x) == pytest.approx(se3.vee(carried), abs=1e-12)


def test_power_is_the_same_in_all_coordinates():
    rng = np.random.default_rng(6)
    g, v, f = poses(rng, 20), motions(rng, 20), motions(rng, 20)
    power = (v * f).sum(axis=-1)
    assert (se3.transform(g, v) * se3.transform_force(g, f)).sum(axis=-1) == pytest.approx(power, abs=1e-12)
    assert (se3.displace(g, v) * se3.displace_force(g, f)).sum(axis=-1) == pytest.approx(power, abs=1e-12)
    assert (se3.displace(g, v) * f).sum(axis=-1) != pytest.approx(power, abs=1e-3)


def test_a_transform_undoes_a_displacement():
    rng = np.random.default_rng(7)
    g, v = poses(rng, 20), motions(rng, 20)
    assert se3.transform(g, se3.displace(g, v)) == pytest.approx(v, abs=1e-12)
    assert se3.displace(g, v) == pytest.approx((se3.adjoint(g) @ v[..., None])[..., 0], abs=1e-12)
    assert se3.displace_force(g, v) == pytest.approx((se3.coadjoint(g) @ v[..., None])[..., 0], abs=1e-12)


def test_brackets_are_rates_of_carried_vectors():
    rng = np.random.default_rng(8)
    a, b, f = motions(rng, 20), motions(rng, 20), motions(rng, 20)
    h = 1e-5
    ahead, behind = se3.exp(h * a), se3.exp(-h * a)
    assert (se3.displace(ahead, b) - se3.displace(behind, b)) / (2 * h) == pytest.approx(se3.bracket(a, b), abs=1e-7)
    made = (se3.displace_force(ahead, f) - se3.displace_force(behind, f)) / (2 * h)
    assert made == pytest.approx(se3.cobracket(a, f), abs=1e-7)
    assert (se3.bracket(a, b) * f + b * se3.cobracket(a, f)).sum(axis=-1) == pytest.approx(0.0, abs=1e-12)


def test_body_and_spatial_velocities_and_how_they_compose():
    rng = np.random.default_rng(9)
    g, h, a, b = poses(rng, 20), poses(rng, 20), motions(rng, 20), motions(rng, 20)
    g_rate, h_rate = g @ se3.hat(a), h @ se3.hat(b)  # body velocities a and b
    assert se3.body_velocity(g, g_rate) == pytest.approx(a, abs=1e-12)
    assert se3.spatial_velocity(g, g_rate) == pytest.approx(se3.displace(g, a), abs=1e-12)
    whole, rate = g @ h, g_rate @ h + g @ h_rate
    assert se3.compose_body(h, a, b) == pytest.approx(se3.body_velocity(whole, rate), abs=1e-12)
    spatial = [se3.spatial_velocity(*pair) for pair in ((g, g_rate), (h, h_rate), (whole, rate))]
    assert se3.compose_spatial(g, *spatial[:2]) == pytest.approx(spatial[2], abs=1e-12)


# screws


def test_a_twist_and_a_wrench_come_back_from_their_screws():
    x = motions(np.random.default_rng(10), 50)
    x[:10, :3] = 0.0
    for to, back in ((screws.of_twist, screws.twist), (screws.of_wrench, screws.wrench)):
        given = x if to is screws.of_twist else np.roll(x, 3, axis=1)
        screw = to(given)
        assert back(screw) == pytest.approx(given, abs=1e-12)
        assert np.isinf(screw.pitch[:10]).all()
        assert np.isfinite(screw.pitch[10:]).all()
        assert not screw.point[:10].any()
        assert np.linalg.norm(screw.direction, axis=1) == pytest.approx(1.0)
        assert (screw.direction * screw.point).sum(axis=1) == pytest.approx(0.0, abs=1e-12)  # the nearest point


def test_a_displacement_is_a_turn_about_its_screw_and_a_slide_along_it():
    rng = np.random.default_rng(11)
    g = poses(rng, 20)
    screw = screws.of_pose(g)
    for k in range(20):
        u, p, h, a = (part[k] for part in screw)
        along = p + 0.7 * u
        moved = g[k, :3, :3] @ along + g[k, :3, 3]
        assert moved == pytest.approx(along + u * h * a, abs=1e-12)  # the axis slides along itself
        assert np.trace(g[k, :3, :3]) == pytest.approx(1 + 2 * np.cos(a), abs=1e-12)


def test_axis_and_pitch_do_not_depend_on_the_coordinates():
    rng = np.random.default_rng(12)
    x, g = motions(rng, 20), poses(rng, 20)
    here, there = screws.of_twist(x), screws.of_twist(se3.displace(g, x))
    assert there.pitch == pytest.approx(here.pitch, rel=1e-9)
    assert there.magnitude == pytest.approx(here.magnitude)
    assert there.direction == pytest.approx((g[:, :3, :3] @ here.direction[..., None])[..., 0], abs=1e-12)


def test_a_vector_splits_at_any_point_into_a_line_and_a_free_vector():
    rng = np.random.default_rng(13)
    x, p = motions(rng, 20), rng.normal(size=(20, 3))
    line, free = screws.split(x, p)
    assert line + free == pytest.approx(x)
    assert not free[:, :3].any()
    assert line == pytest.approx(screws.line(x[:, :3], p))
    assert not np.abs(screws.shift(line, p)[:, 3:]).max() > 1e-12  # seen from the point it has no moment
    f, couple = screws.split_force(x, p)
    assert f + couple == pytest.approx(x)
    assert not couple[:, 3:].any()
    assert f == pytest.approx(screws.line_force(x[:, 3:], p))
    assert (screws.shift(x, p) * screws.shift_force(x, p)).sum(axis=1) == pytest.approx((x * x).sum(axis=1))


# inertias


def body(rng):
    points, weights = rng.normal(size=(8, 3)), rng.uniform(0.5, 1.0, 8)
    com = weights @ points / weights.sum()
    spread = points - com
    about = sum(w * (p @ p * np.eye(3) - np.outer(p, p)) for w, p in zip(weights, spread, strict=True))
    return weights.sum(), com, about, points, weights


def test_an_inertia_is_the_sum_of_its_particles_in_every_form():
    rng = np.random.default_rng(14)
    mass, com, about, points, weights = body(rng)
    I = inertias.spatial(mass, com, about)
    v = motions(rng, 1)[0]
    speed = v[3:] + np.cross(v[:3], points)
    energy = 0.5 * (weights * (speed**2).sum(axis=1)).sum()
    assert 0.5 * v @ I @ v == pytest.approx(energy)
    J = inertias.to_4x4(I)
    homogeneous = np.concatenate([points, np.ones((8, 1))], axis=1)
    assert pytest.approx((weights[:, None, None] * homogeneous[:, :, None] * homogeneous[:, None, :]).sum(axis=0)) == J
    assert 0.5 * np.trace(se3.hat(v) @ J @ se3.hat(v).T) == pytest.approx(energy)
    assert inertias.from_4x4(J) == pytest.approx(I)
    D = inertias.to_mises(I)
    swapped = np.roll(v, 3)
    assert 0.5 * swapped @ D @ swapped == pytest.approx(energy)
    assert inertias.from_mises(D) == pytest.approx(I)
    binor = inertias.to_binor(I)
    assert inertias.from_binor(*binor) == pytest.approx(I)
    motor = [inertias.Dual(a, b) for a, b in zip(v[:3], v[3:], strict=True)]
    momentum = inertias.apply_binor(*binor, motor)
    assert [x.dual for x in momentum] + [x.real for x in momentum] == pytest.approx(I @ v)
    back = inertias.parts(I)
    assert (back[0], back[1], back[2]) == (pytest.approx(mass), pytest.approx(com), pytest.approx(about))


def test_a_twist_on_a_principal_screw_makes_a_momentum_on_the_same_screw():
    rng = np.random.default_rng(15)
    I = inertias.spatial(*body(rng)[:3])
    pitches, twists = inertias.principal_screws(I)
    for pitch, s in zip(pitches, twists, strict=True):
        momentum = screws.of_wrench(I @ s)
        same = screws.of_twist(s)
        assert same.pitch == pytest.approx(pitch)
        assert momentum.pitch == pytest.approx(pitch)
        assert momentum.point == pytest.approx(same.point, abs=1e-12)
        assert np.abs(momentum.direction @ same.direction) == pytest.approx(1.0)
    products = twists @ I @ twists.T
    assert products - np.diag(np.diag(products)) == pytest.approx(0.0, abs=1e-10)  # orthogonal by the inertia
    reciprocal = twists[:, :3] @ twists[:, 3:].T
    assert reciprocal + reciprocal.T - 2 * np.diag(np.diag(reciprocal)) == pytest.approx(0.0, abs=1e-10)


def test_the_bias_force_of_a_body_vanishes_in_the_three_cases_and_in_no_other():
    rng = np.random.default_rng(16)
    mass, com, about, _, _ = body(rng)
    I = inertias.spatial(mass, com, about)

    def bias(v):
        return np.abs(se3.cobracket(v, I @ v)).max()

    assert bias(np.zeros(6)) == 0.0
    assert bias(np.array([0, 0, 0, 1.0, -2.0, 3.0])) < 1e-12  # purely linear
    _, axes = np.linalg.eigh(about)
    for n in axes.T:
        for pitch in (0.0, 0.4):
            v = screws.twist(screws.Screw(n, com, pitch, 2.0))
            assert bias(v) < 1e-12  # about a principal axis through the centre of mass
            assert bias(screws.twist(screws.Screw(n, com + [0.3, 0.2, 0.1], pitch, 2.0))) > 1e-3
    for v in motions(rng, 20):
        assert bias(v) > 1e-3


# spaces


def test_complement_resolution_and_bases():
    rng = np.random.default_rng(17)
    I = inertias.spatial(*body(rng)[:3])
    for r in range(1, 6):
        S, T, a = rng.normal(size=(6, r)), rng.normal(size=(6, r)), rng.normal(size=6)
        perp = spaces.complement(S)
        assert perp.shape == (6, 6 - r)
        assert S.T @ perp == pytest.approx(0.0, abs=1e-12)
        assert np.linalg.matrix_rank(np.concatenate([S, perp], axis=1)) == 6
        inside, outside, alpha = spaces.resolve(a, S, T)
        assert inside + outside == pytest.approx(a)
        assert S @ alpha == pytest.approx(inside)
        assert T.T @ outside == pytest.approx(0.0, abs=1e-10)
        assert pytest.approx(np.eye(r), abs=1e-10) == spaces.reciprocal_basis(S).T @ S
        basis = spaces.orthogonal_basis(S, I)
        assert basis.T @ I @ basis == pytest.approx(np.eye(r), abs=1e-10)
        apparent = spaces.apparent_inverse_inertia(S, I)
        assert apparent == pytest.approx(S @ np.linalg.inv(S.T @ I @ S) @ S.T, abs=1e-10)
        assert np.linalg.matrix_rank(apparent) == r
        assert sum(spaces.dyad(s, s) for s in basis.T) == pytest.approx(apparent)
    inertia, inverse = spaces.dyads(rng.normal(size=(6, 6)), I)
    assert inertia == pytest.approx(I, abs=1e-9)
    assert inverse == pytest.approx(np.linalg.inv(I), abs=1e-9)
    assert I @ inverse == pytest.approx(np.eye(6), abs=1e-9)
