"""Bodies that can be, near the robot given: what was measured wins, what was not stays."""

import numpy as np
import pytest
from scipy.optimize import minimize

import hinge
from hinge.identify import Log, base_parameters, excite, fit, parameters, pseudo_inertia, with_parameters
from hinge.identify.consistency import TEN, nearest, prior


@pytest.fixture(scope="module")
def arm():
    """Six links of 8 to 0.2 kg, the wrist small: much of it is hardly felt."""
    rows = [
        {"a": a, "d": d, "alpha": alpha}
        for a, d, alpha in (
            (0.0, 0.09, np.pi / 2),
            (-0.425, 0.0, 0.0),
            (-0.39, 0.0, 0.0),
            (0.0, 0.11, np.pi / 2),
            (0.0, 0.095, -np.pi / 2),
            (0.0, 0.08, 0.0),
        )
    ]
    links = [(3.7, 0.1), (8.4, 0.2), (2.3, 0.2), (1.2, 0.06), (1.2, 0.06), (0.19, 0.03)]
    for row, (mass, size) in zip(rows, links, strict=True):
        com = (-row["a"] / 2, 0.0, 0.3 * size)
        inertia = mass * size**2 * np.diag([0.4, 0.5, 0.3])
        row |= {"mass": mass, "com": com, "inertia": inertia, "type": "revolute", "limits": (-3.1, 3.1)}
    return hinge.dh(rows, name="six")


def noisy(arm, truth, share, seed, rate=100.0):
    t, q, qd, qdd = excite(arm, duration=10.0, speed=1.5, tries=1).sample(rate)
    tau = truth.inverse_dynamics(q, qd, qdd)
    return Log(t, q, qd, tau + share * tau.std(axis=0) * np.random.default_rng(seed).normal(size=tau.shape), qdd)


def masses(values, bodies):
    return values[: 10 * bodies : 10]


@pytest.mark.sampled(1)
@pytest.mark.parametrize("seed", [0, 3])
def test_noise_makes_no_monsters(arm, seed):
    """5 % noise, and 1.2 kg in the hand: every mass is near the truth, the least known ones too."""
    truth = arm.with_payload(arm.body_names[-1], 1.2, (0.02, 0.05, 0.03))
    made = fit(arm, noisy(arm, truth, 0.05, seed))
    real, got = masses(parameters(truth), 6), masses(made.parameters, 6)
    assert np.all(np.abs(got - real) < 0.5 * real)
    assert abs(got.sum() - real.sum()) < 0.05 * real.sum()
    assert np.all(made.after <= 1.01 * made.before)


def test_the_less_noise_the_more_the_log_wins(arm):
    truth = arm.with_payload(arm.body_names[-1], 1.2, (0.02, 0.05, 0.03))
    errors = []
    for share in (0.1, 1e-3, 1e-5, 0.0):
        made = fit(arm, noisy(arm, truth, share, 1))
        off = (made.base_values - made.base.values(parameters(truth))) * made.base.scale
        errors.append(np.linalg.norm(off))
    assert errors[3] < 1e-6 < errors[2] < errors[1] < errors[0]


def test_nearness_goes_from_the_log_to_the_robot_given(arm):
    truth = arm.with_payload(arm.body_names[-1], 1.2, (0.02, 0.05, 0.03))
    log = noisy(arm, truth, 0.05, 0)
    own = parameters(arm)
    far = [np.linalg.norm(masses(fit(arm, log, nearness=x).parameters, 6) - masses(own, 6)) for x in (0.1, 1e4, 1e9)]
    assert far[0] > far[1] > far[2]
    assert far[2] < 0.02
    with pytest.raises(hinge.SizeError, match="nearness is 0; give a number above zero, or consistent=False"):
        fit(arm, log, nearness=0)


def test_a_robot_given_that_is_far_off_does_not_hold_the_fit_back(arm):
    """Links of grams that are kilograms in truth: nothing is left but noise, and less nearness was enough for it."""
    light = with_parameters(arm, 2e-3 * parameters(arm))
    log = noisy(arm, arm, 0.05, 0)
    made, held = fit(light, log), fit(light, log, nearness=1.0)
    free = fit(light, log, consistent=False)
    assert np.all(made.after < 1.02 * free.after)
    assert np.max(held.after / free.after) > 1.05
    assert np.all(np.linalg.eigvalsh(pseudo_inertia(made.parameters[:60].reshape(6, 10))) > 0.0)


def test_a_log_of_the_robot_itself_changes_nothing(arm):
    made = fit(arm, noisy(arm, arm, 0.0, 0))
    np.testing.assert_allclose(masses(made.parameters, 6), masses(parameters(arm), 6), rtol=2e-3)


@pytest.mark.parametrize("seed", range(3))
def test_the_divergence_is_the_same_in_every_frame_and_unit(seed):
    rng = np.random.default_rng(seed)
    P0, P = (g @ g.T for g in rng.normal(size=(2, 4, 4)))
    T = rng.normal(size=(4, 4))  # a turn, a shift and a change of units are among these
    said = [
        prior(np.tensordot(a, TEN, 2), 1, np.zeros(0), np.zeros(0)).divergence(np.tensordot(b, TEN, 2))
        for a, b in ((P0, P), (T @ P0 @ T.T, T @ P @ T.T), (P0, P0))
    ]
    size = np.linalg.eigvals(np.linalg.solve(P0, P)).real
    assert said[0] == pytest.approx(np.sum(size - np.log(size) - 1.0), rel=1e-9)
    assert said[1] == pytest.approx(said[0], rel=1e-8)
    assert said[2] == pytest.approx(0.0, abs=1e-9)


def test_slope_and_curvature_are_those_of_the_divergence(arm):
    near = prior(np.append(parameters(arm), [0.3, -0.2]), 6, np.full(6, 0.01), np.array([0.5, 2.0]))
    rng = np.random.default_rng(0)
    x = near.at * (1.0 + 0.05 * rng.normal(size=len(near.at)))
    W, g = near.slope(x)
    for _ in range(5):
        along = rng.normal(size=len(x))
        h, d = 1e-3, W @ along
        steps = [near.divergence(x + k * h * d) for k in (-2, -1, 0, 1, 2)]
        assert np.dot([1, -8, 0, 8, -1], steps) / (12 * h) == pytest.approx(g @ along, rel=1e-6)
        assert np.dot([-1, 16, -30, 16, -1], steps) / (12 * h**2) == pytest.approx(along @ along, rel=1e-4)


def test_another_way_comes_to_the_same_bodies():
    """BFGS over Cholesky factors, which are bodies by construction."""
    rod, rng = hinge.samples.pendulum(1), np.random.default_rng(2)
    base, own = base_parameters(rod, ()), np.array([1.0, 0.3, 0.05, 0.1, 0.4, 0.5, 0.6, 0.01, 0.02, 0.0])
    B = np.zeros((base.rank, 10))
    B[range(base.rank), base.independent], B[:, base.dependent] = 1.0, base.K
    R, beta = np.diag([3.0, 5.0, 20.0]), B @ own + rng.normal(size=base.rank) * 0.3
    near = prior(own, 1, np.zeros(0), np.zeros(0))
    low = np.tril_indices(4)

    def body(x):
        G = np.zeros((4, 4))
        G[low] = x
        return np.tensordot(G @ G.T, TEN, 2)

    def cost(ten):
        return 0.5 * np.sum((R @ (B @ ten - beta)) ** 2) + 0.7 * near.divergence(ten)

    start = np.linalg.cholesky(pseudo_inertia(own))[low]
    other = minimize(lambda x: cost(body(x)), start, method="BFGS", options={"gtol": 1e-9})
    ours = nearest(near, B, beta, R, 0.7)
    assert cost(ours) <= other.fun + 1e-9
    np.testing.assert_allclose(ours, body(other.x), atol=1e-4)


def test_massless_and_thin_bodies_are_given_a_little_substance():
    """A point mass and a link without inertia: both come out as bodies, and what was there stays."""
    builder = hinge.Builder("thin")
    builder.link("base")
    builder.link("rod", 1.0, (0.5, 0.0, 0.0), np.zeros((3, 3)))
    builder.link("tip")
    builder.joint("j1", "revolute", "base", "rod", axis=(0, 1, 0))
    builder.joint("j2", "revolute", "rod", "tip", xyz=(1.0, 0.0, 0.0), axis=(0, 1, 0))
    thin, rng = hinge.Robot(builder.build()), np.random.default_rng(0)
    q, qd, qdd = rng.normal(size=(3, 200, 2))
    truth = thin.with_payload("tip", 0.5, (0.1, 0.0, 0.0), 1e-3 * np.eye(3))
    made = fit(thin, Log(np.arange(200.0), q, qd, truth.inverse_dynamics(q, qd, qdd), qdd))
    assert np.all(made.after < 1e-7)
    assert np.linalg.eigvalsh(pseudo_inertia(made.parameters[:20].reshape(2, 10))).min() > 0.0
    same = fit(thin, Log(np.arange(200.0), q, qd, thin.inverse_dynamics(q, qd, qdd), qdd), partial=True)
    assert masses(same.parameters, 2) == pytest.approx([1.0, 0.0], abs=0.01)


def test_terms_that_the_robot_has_none_of_are_found_and_zero_ones_stay_small(arm):
    terms = ("armature", "damping", "friction")
    values = parameters(arm, terms)
    values[[66, 73]] = 0.7, 1.5  # damping of the first joint, friction of the second
    log = noisy(arm, with_parameters(arm, values, terms), 0.0, 0)
    tau = with_parameters(arm, values, terms).inverse_dynamics(*log.motion, joint_terms=terms)
    rough = 0.02 * tau.std(axis=0) * np.random.default_rng(0).normal(size=tau.shape)
    made = fit(arm, Log(log.t, log.q, log.qd, tau + rough, log.qdd), terms)
    assert made.parameters[66] == pytest.approx(0.7, abs=0.1)
    assert made.parameters[73] == pytest.approx(1.5, abs=0.3)
    others = np.delete(made.parameters[66:], [0, 7])
    assert np.all(others > 0.0)
    assert others.max() < 0.3
