"""What the model does not explain, while the robot runs."""

import numpy as np
import pytest

import hinge
from hinge.identify import Monitor, Observer, excite, residual


@pytest.fixture(scope="module")
def arm():
    return hinge.samples.planar_2r()


@pytest.fixture(scope="module")
def motion(arm):
    return excite(arm, duration=4.0, harmonics=3, tries=1, speed=3.0).sample(1000.0)


def test_the_residual_is_what_the_load_needs(arm, motion):
    _, q, qd, qdd = motion
    loaded = arm.with_payload("lower", 0.5, (0.2, 0.0, 0.0))
    tau = loaded.inverse_dynamics(q, qd, qdd)
    np.testing.assert_allclose(residual(arm, q, qd, qdd, tau), tau - arm.inverse_dynamics(q, qd, qdd))
    np.testing.assert_allclose(residual(loaded, q, qd, qdd, tau), 0.0, atol=1e-12)


def test_a_monitor_keeps_the_last_window(arm, motion):
    _, q, qd, qdd = motion
    tau = arm.with_payload("lower", 0.5).inverse_dynamics(q, qd, qdd)
    watch = Monitor(arm, window=100, limit=0.5)
    rows = np.array([watch.update(*row) for row in zip(q[:250], qd[:250], qdd[:250], tau[:250], strict=True)])
    np.testing.assert_allclose(watch.mean, rows[-100:].mean(axis=0), rtol=1e-12)
    np.testing.assert_allclose(watch.rms, np.sqrt(np.mean(rows[-100:] ** 2, axis=0)), rtol=1e-12)
    assert np.array_equal(watch.drift, np.abs(watch.mean) > 0.5)


def test_drift_waits_for_a_whole_window_and_names_the_joint(arm):
    watch = Monitor(arm, window=3, limit=[0.1, 0.1])
    hold = arm.gravity_force([0.0, 0.0])
    for k in range(3):
        assert not watch.drift.any(), k
        watch.update([0.0, 0.0], [0.0, 0.0], [0.0, 0.0], hold + [0.0, 0.2])
    assert watch.drift.tolist() == [False, True]


def test_the_observer_finds_the_residual_without_accelerations(arm, motion):
    """A constant force beside the model: the estimate follows with its own time constant, through fast motion."""
    t, q, qd, qdd = motion
    pushed = np.array([1.5, -0.7])
    tau = arm.inverse_dynamics(q, qd, qdd) + pushed
    watch = Observer(arm, step=1e-3, gain=25.0)
    rows = np.array([watch.update(*row) for row in zip(q, qd, tau, strict=True)])
    lag = 1.0 - np.exp(-25.0 * t[:, None])
    assert np.abs(rows - lag * pushed).max() < 0.03
    np.testing.assert_allclose(rows[-1], pushed, atol=2e-3)


def test_the_observer_knows_friction_where_it_is_in(motion):
    rows = [{"a": 1.0, "type": "revolute", "mass": 1.0, "com": (-0.5, 0, 0), "inertia": np.eye(3) * 0.1, "damping": 0.4,
             "friction": 0.3} for _ in range(2)]  # fmt: skip
    arm, terms = hinge.dh(rows), ("damping",)
    _, q, qd, qdd = motion
    tau = arm.inverse_dynamics(q, qd, qdd, joint_terms=terms)
    for known, size in ((terms, 0.02), ((), 0.5)):
        watch = Observer(arm, step=1e-3, joint_terms=known)
        made = np.array([watch.update(*row) for row in zip(q, qd, tau, strict=True)])
        assert (np.abs(made).max() < size) == bool(known)


def test_a_row_that_is_lost_blinds_nobody(arm, motion):
    _, q, qd, qdd = motion
    pushed = np.array([1.5, -0.7])
    tau = arm.inverse_dynamics(q, qd, qdd) + pushed
    tau[1000] = np.nan
    watch, observer = Monitor(arm, window=500, limit=0.3), Observer(arm, step=1e-3, gain=25.0, window=500, limit=0.3)
    for k in range(1400):
        r, estimate = watch.update(q[k], qd[k], qdd[k], tau[k]), observer.update(q[k], qd[k], tau[k])
        assert np.isfinite(r).all() == np.isfinite(estimate).all() == (k != 1000)
    for one in (watch, observer):
        assert (one.count, one.left_out) == (1399, 1)
        assert one.drift.all()
    np.testing.assert_allclose(watch.mean, pushed, rtol=1e-9)
    np.testing.assert_allclose(estimate, pushed, atol=5e-3)


def test_what_is_given_has_to_fit(arm):
    with pytest.raises(hinge.SizeError, match="window is 0; it has to be a number of rows"):
        Monitor(arm, window=0)
    with pytest.raises(hinge.SizeError, match=r"limit has shape \(3,\); give one number, or nv = 2"):
        Monitor(arm, limit=[1.0, 2.0, 3.0])
    with pytest.raises(hinge.SizeError, match="limit has to be a number from zero on"):
        Monitor(arm, limit=np.nan)
    with pytest.raises(hinge.SizeError, match="step × gain is 5"):
        Observer(arm, step=0.1)
    with pytest.raises(hinge.SizeError, match="tau"):
        residual(arm, [0.0, 0.0], [0.0, 0.0], [0.0, 0.0], [1.0])
