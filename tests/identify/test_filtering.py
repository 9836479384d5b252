"""Measured motion: filtered without delay, differentiated, and fitted with forces filtered alike."""

import numpy as np
import pytest
from scipy import signal

import hinge
from hinge.identify import Log, differentiate, excite, fit, parameters, read
from hinge.identify.filtering import low_pass

TERMS = ("armature", "damping", "friction")


def test_the_filter_is_butterworth_forward_and_backward():
    rng = np.random.default_rng(0)
    x, step = rng.normal(size=(4000, 2)).cumsum(axis=0), 1e-3
    sections = signal.butter(4, 15.0, fs=1.0 / step, output="sos")
    want = signal.sosfiltfilt(sections, x, axis=0)
    inner = slice(300, -300)
    assert np.abs(low_pass(x, step, 15.0) - want)[inner].max() < 2e-3 * np.abs(x - x.mean(axis=0)).max()


def test_waves_lose_a_half_at_the_cutoff_and_none_of_their_phase():
    t = np.arange(5000) * 1e-3
    for ratio, left in ((0.5, 1.0 / (1.0 + 0.5**8)), (1.0, 0.5), (2.0, 1.0 / (1.0 + 2.0**8))):
        wave = np.sin(2 * np.pi * 10.0 * ratio * t)
        made = low_pass(wave, 1e-3, 10.0)
        np.testing.assert_allclose(made[1000:-1000], left * wave[1000:-1000], atol=5e-4)


def test_a_line_goes_through():
    x = np.linspace([1.0, -2.0], [4.0, 5.0], 50)
    np.testing.assert_allclose(low_pass(x, 0.01, 3.0), x, atol=1e-13)


def test_rates_of_noisy_positions():
    rng, t = np.random.default_rng(1), np.arange(0.0, 10.0, 1e-3)
    wave, noise = np.sin(4.0 * t)[:, None], 1e-4 * rng.normal(size=(len(t), 1))
    at, q, qd, qdd = differentiate(t, wave + noise, 8.0)
    assert at[0] == pytest.approx(2.0 / 8.0)
    assert at[-1] == pytest.approx(t[-1] - 2.0 / 8.0)
    np.testing.assert_allclose(q[:, 0], np.sin(4.0 * at), atol=1e-4)
    np.testing.assert_allclose(qd[:, 0], 4.0 * np.cos(4.0 * at), atol=3e-3)
    np.testing.assert_allclose(qdd[:, 0], -16.0 * np.sin(4.0 * at), atol=0.15)
    raw = np.gradient(np.gradient(wave + noise, 1e-3, axis=0), 1e-3, axis=0)
    assert np.abs(raw[:, 0] + 16.0 * wave[:, 0]).std() > 30.0  # what it would be without


def test_uneven_times_are_made_even():
    rng = np.random.default_rng(2)
    t = np.arange(2000) * 2e-3 + rng.uniform(-4e-4, 4e-4, 2000)
    at, _, qd, _ = differentiate(t, np.cos(3.0 * t)[:, None], 10.0)
    np.testing.assert_allclose(np.diff(at), at[1] - at[0], rtol=1e-9)
    np.testing.assert_allclose(qd[:, 0], -3.0 * np.sin(3.0 * at), atol=5e-3)


def test_what_cannot_be_filtered_is_said():
    t, q = np.arange(100) * 0.01, np.zeros((100, 1))
    with pytest.raises(hinge.SizeError) as caught:
        differentiate(t, q, 60.0)
    assert str(caught.value) == (
        "differentiate: cutoff is 60 Hz; rows come 100 times a second.\n"
        "  Give a number above zero and below half of that, 50."
    )
    gap = np.delete(np.arange(len(t)), range(40, 60))
    with pytest.raises(hinge.SizeError, match=r"no rows between t = 0.39 and 0.6 s, half a period of 5 Hz or more"):
        differentiate(t[gap], q[gap], 5.0)
    with pytest.raises(hinge.SizeError, match=r"0.99 s of motion are too few for cutoff = 4 Hz, with 0.5 s left out"):
        differentiate(t, q, 4.0)
    with pytest.raises(hinge.SizeError, match=r"differentiate: q\[3, 0\] is nan"):
        differentiate(t, np.where(np.arange(100)[:, None] == 3, np.nan, q), 5.0)
    ball = hinge.samples.chain(np.random.default_rng(0), 2, "spherical")
    log = Log(t, np.zeros((100, ball.nq)), *[np.zeros((100, ball.nv))] * 2)
    with pytest.raises(hinge.NotCovered, match="joint 'joint1' turns freely"):
        read(ball, log, cutoff=5.0)


def test_a_log_that_says_it_was_filtered_has_even_times():
    t = np.arange(60.0) ** 1.1
    q, qd, tau, qdd = np.random.default_rng(0).normal(size=(4, 60, 2))
    with pytest.raises(hinge.SizeError, match="log: it has a cutoff, and its times are not even"):
        fit(hinge.samples.planar_2r(), Log(t, q, qd, tau, qdd, cutoff=0.1))


@pytest.fixture(scope="module")
def arm():
    return hinge.samples.planar_2r()


@pytest.fixture(scope="module")
def encoders(arm):
    """Positions with 1e-4 rad of noise, forces with 2 %, 500 times a second; and the arm as it is."""
    rng, values = np.random.default_rng(3), parameters(arm, TERMS)
    values[-6:] = 0.1, 0.1, 0.4, 0.3, 0.5, 0.4
    truth = hinge.identify.with_parameters(arm, values, TERMS).with_payload(
        "lower", 0.5, (0.4, 0.0, 0.1), 1e-2 * np.eye(3)
    )
    t, q, qd, qdd = excite(arm, duration=10.0, speed=3.0, joint_terms=TERMS, tries=1).sample(500.0)
    tau = truth.inverse_dynamics(q, qd, qdd, joint_terms=TERMS)
    rough = 0.02 * tau.std(axis=0) * rng.normal(size=tau.shape)
    return truth, t, q + 1e-4 * rng.normal(size=q.shape), tau + rough, (q, qd, qdd, tau)


def off(made, truth):
    return np.abs((made.base_values - made.base.values(parameters(truth, TERMS))) * made.base.scale)


def test_filtered_positions_fit_where_plain_differences_do_not(arm, encoders):
    truth, t, q, tau, _ = encoders
    good = fit(arm, read(arm, {"t": t, "q": q, "tau": tau}, cutoff=10.0), TERMS)
    qd = np.gradient(q, t, axis=0)
    poor = fit(arm, Log(t, q, qd, tau), TERMS)
    assert off(good, truth).max() < 0.1 * off(poor, truth).max()
    assert off(good, truth).max() < 0.05
    assert "motion, forces and regressor were filtered at 10 Hz" in good.notes
    assert not any("noisy" in note for note in good.notes)


def test_forces_and_regressor_are_filtered_alike(arm, encoders):
    """Friction is a square wave, with much above the cut-off: without noise, nothing of it may end in a parameter."""
    truth, t, _, _, (q, qd, qdd, tau) = encoders
    made = fit(arm, Log(t, q, qd, tau, qdd, cutoff=2.0), TERMS)
    np.testing.assert_allclose(made.base_values, made.base.values(parameters(truth, TERMS)), rtol=1e-6, atol=1e-8)


def test_deviations_hold_for_filtered_logs(arm, encoders):
    """Rows that a filter made alike do not count twice."""
    truth, t, _, _, (q, qd, qdd, tau) = encoders
    ratios = []
    for seed in range(8):
        rough = 0.05 * tau.std(axis=0) * np.random.default_rng(seed).normal(size=tau.shape)
        made = fit(arm, Log(t, q, qd, tau + rough, qdd, cutoff=20.0), TERMS, consistent=False)
        ratios.append((made.base_values - made.base.values(parameters(truth, TERMS))) / made.deviations)
    assert np.sqrt(np.mean(np.square(ratios))) == pytest.approx(1.0, abs=0.3)


@pytest.mark.parametrize(("field", "word", "size"), [("qd", "velocities", 0.3), ("qdd", "accelerations", 2.0)])
def test_noisy_rates_are_named_where_they_are_the_cause(arm, encoders, field, word, size):
    _, t, _, _, (q, qd, qdd, tau) = encoders
    motion = {"q": q, "qd": qd, "qdd": qdd}
    noisy = motion | {field: motion[field] + size * np.random.default_rng(0).normal(size=q.shape)}
    made = fit(arm, Log(t, noisy["q"], noisy["qd"], tau, noisy["qdd"]), TERMS)
    said = [note for note in made.notes if note.startswith("noisy")]
    assert len(said) == 1
    assert said[0].startswith(f"noisy {word} make most of the error at ")
    assert "cutoff=" in said[0]


def test_differences_of_noisy_velocities_are_named(arm, encoders):
    _, t, _, _, (q, qd, _, tau) = encoders
    made = fit(arm, Log(t, q, qd + 0.01 * np.random.default_rng(0).normal(size=q.shape), tau), TERMS)
    assert any(note.startswith("noisy accelerations make most of the error at shoulder, elbow") for note in made.notes)


def test_noise_of_forces_is_not_blamed_on_the_motion(arm, encoders):
    truth, t, _, rough, (q, qd, qdd, tau) = encoders
    for forces in (rough, tau):
        assert not any("noisy" in note for note in fit(arm, Log(t, q, qd, forces, qdd), TERMS).notes)
    rests = [np.repeat(x, [400, *[1] * (len(t) - 1)], axis=0) for x in (q, qd * (np.abs(qd) > 1e-9), qdd)]
    forces = truth.inverse_dynamics(*rests, joint_terms=TERMS)  # at rest friction is none, and shaken it is
    forces = forces + 0.02 * forces.std(axis=0) * np.random.default_rng(1).normal(size=forces.shape)
    log = Log(np.arange(len(forces)) / 500.0, *rests[:2], forces, rests[2])
    assert not any("noisy" in note for note in fit(arm, log, TERMS).notes)
    rows = np.random.default_rng(0).permutation(len(t))  # states in no order are no smooth motion, and not noise
    shuffled = Log(t, q[rows], qd[rows], rough[rows], qdd[rows])
    assert not any("noisy" in note for note in fit(arm, shuffled, TERMS).notes)
