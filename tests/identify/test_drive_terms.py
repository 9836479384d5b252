"""Between joint forces and what is measured: offsets, Stribeck's friction, motor gains; and several logs."""

import numpy as np
import pytest

import hinge
from hinge.identify import Log, excite, fit, parameters

TERMS = ("armature", "damping", "friction")


@pytest.fixture(scope="module")
def arm():
    rows = [{"a": 0.0, "alpha": np.pi / 2, "d": 0.3}, {"a": 0.4}, {"a": 0.3}]
    for row, mass in zip(rows, (4.0, 3.0, 2.0), strict=True):
        row |= {
            "mass": mass,
            "com": (-row["a"] / 2, 0.01, 0.02),
            "inertia": mass * np.diag([0.01, 0.02, 0.02]),
            "type": "revolute",
            "limits": (-2, 2),
            "damping": 0.5,
            "friction": 0.4,
            "armature": 0.05,
        }
    return hinge.dh(rows)


@pytest.fixture(scope="module")
def truth(arm):
    return arm.with_payload(arm.body_names[1], 0.6, (0.05, 0.0, 0.1), 2e-3 * np.eye(3))


@pytest.fixture(scope="module")
def motions(arm):
    return [excite(arm, duration=6.0, speed=1.5, joint_terms=TERMS, tries=1, seed=k).sample(150.0) for k in (0, 1)]


OFFSET, STRIBECK, GAIN = np.array([0.7, -0.3, 0.2]), np.array([0.5, 0.3, 0.4]), np.array([12.0, 9.5, 0.8])


def force(robot, motion, velocity=0.1):
    _, q, qd, qdd = motion
    dip = STRIBECK * np.exp(-((qd / velocity) ** 2)) * np.sign(qd)
    return robot.inverse_dynamics(q, qd, qdd, joint_terms=TERMS) + OFFSET + dip


def logged(motion, signal, noise=0.0, load=None):
    t, q, qd, qdd = motion
    rough = noise * signal.std(axis=0) * np.random.default_rng(0).normal(size=signal.shape)
    return Log(t, q, qd, signal + rough, qdd, load=load)


def test_offset_and_stribeck_are_columns(arm, truth, motions):
    log = logged(motions[0], force(truth, motions[0]))
    made = fit(arm, log, TERMS, drive_terms=("stribeck", "offset"))
    np.testing.assert_allclose(made.drive["offset"], OFFSET, atol=1e-6)
    np.testing.assert_allclose(made.drive["stribeck"], STRIBECK, atol=1e-6)
    want = made.base.values(parameters(truth, TERMS))
    np.testing.assert_allclose(made.base_values, want, rtol=1e-5, atol=1e-7)
    without = fit(arm, log, TERMS)
    assert np.all(made.after < 1e-6 * without.after)
    _, q, qd, qdd = motions[1]
    np.testing.assert_allclose(made.predict(q, qd, qdd), force(truth, motions[1]), atol=1e-5)
    assert made.predict(q[3], qd[3], qdd[3]).shape == (3,)
    assert "offset: 0.7, -0.3, 0.2" in str(made)


def test_the_stribeck_velocity_is_given(arm, truth, motions):
    log = logged(motions[0], force(truth, motions[0], np.array([0.1, 0.2, 0.3])))
    told = fit(arm, log, TERMS, drive_terms=("offset", "stribeck"), stribeck_velocity=[0.1, 0.2, 0.3])
    other = fit(arm, log, TERMS, drive_terms=("offset", "stribeck"), stribeck_velocity=0.02)
    assert np.all(told.after < 1e-6)
    assert other.after.max() > 1e-2


def test_gains_are_found_beside_a_known_load(arm, truth, motions):
    """Currents of two motions, one with two known kilograms in the hand: gains, masses and offsets at once."""
    hand, load = arm.body_names[-1], (arm.body_names[-1], 2.0, (0.0, 0.05, 0.1))
    logs = [
        logged(motions[0], force(truth, motions[0]) / GAIN),
        logged(motions[1], force(truth.with_payload(hand, *load[1:]), motions[1]) / GAIN, load=load),
    ]
    made = fit(arm, logs, TERMS, drive_terms=("gain", "offset", "stribeck"))
    np.testing.assert_allclose(made.drive["gain"], GAIN, rtol=1e-6)
    np.testing.assert_allclose(made.drive["offset"], OFFSET, atol=1e-5)
    np.testing.assert_allclose(made.base_values, made.base.values(parameters(truth, TERMS)), rtol=1e-4, atol=1e-6)
    _, q, qd, qdd = motions[1]
    np.testing.assert_allclose(made.predict(q, qd, qdd), force(truth, motions[1]) / GAIN, atol=1e-5)


def test_deviations_of_gains_and_offsets_are_those_of_repeated_experiments(arm, truth, motions):
    load = (arm.body_names[-1], 2.0, (0.0, 0.05, 0.1))
    clean = [force(truth, motions[0]) / GAIN, force(truth.with_payload(*load), motions[1]) / GAIN]
    off = []
    for seed in range(8):
        rng = np.random.default_rng(seed)
        rough = [s + 0.02 * s.std(axis=0) * rng.normal(size=s.shape) for s in clean]
        logs = [logged(motions[0], rough[0]), logged(motions[1], rough[1], load=load)]
        made = fit(arm, logs, TERMS, drive_terms=("offset", "stribeck", "gain"), consistent=False)
        off += [(made.drive[k] - x) / made.drive_deviations[k] for k, x in (("gain", GAIN), ("offset", OFFSET))]
    assert np.sqrt(np.mean(np.square(off))) == pytest.approx(1.0, abs=0.3)


def test_gains_without_a_load_are_refused_by_name(arm, truth, motions):
    logs = [logged(motion, force(truth, motion) / GAIN, 0.02) for motion in motions]
    with pytest.raises(hinge.ExcitationError, match="Gains show beside a known load only") as caught:
        fit(arm, logs, TERMS, drive_terms=("gain", "offset", "stribeck"))
    assert any(name.endswith(".gain") for name in caught.value.names)


def test_several_logs_are_one(arm, truth, motions):
    """Two motions say more than one: deviations are smaller, and each is held out at its end."""
    logs = [logged(motion, truth.inverse_dynamics(*motion[1:], joint_terms=TERMS), 0.05) for motion in motions]
    one, both = fit(arm, logs[0], TERMS), fit(arm, logs, TERMS)
    assert np.all(both.deviations < one.deviations)
    cut = [round(0.75 * len(log)) for log in logs]
    ends = [
        log.tau[k:] - arm.inverse_dynamics(*log[k:].motion, joint_terms=TERMS) for log, k in zip(logs, cut, strict=True)
    ]
    np.testing.assert_allclose(both.before, np.sqrt(np.mean(np.concatenate(ends) ** 2, axis=0)), rtol=1e-12)
    again = fit(arm, logs[0], TERMS, held_out=[logs[1]])
    np.testing.assert_allclose(again.before, fit(arm, logs[0], TERMS, held_out=logs[1]).before)


def test_loads_are_known_and_not_fitted(arm, truth, motions):
    load = (arm.body_names[-1], 2.0, (0.0, 0.05, 0.1))
    loaded = truth.with_payload(*load).inverse_dynamics(*motions[0][1:], joint_terms=TERMS)
    made = fit(arm, logged(motions[0], loaded, load=load), TERMS)
    np.testing.assert_allclose(made.base_values, made.base.values(parameters(truth, TERMS)), rtol=1e-5, atol=1e-7)


def test_coupled_joints_and_floating_bases_have_drives_too():
    """A joint that follows another, on a base that floats: offsets are of the robot's velocities."""
    builder = hinge.Builder("gears")
    builder.link("world")
    builder.link("body", 2.0, (0.1, 0.2, 0.3), np.diag([0.1, 0.2, 0.25]))
    builder.joint("base", "free", "world", "body")
    for name, parent, mimic in (("a", "body", None), ("b", "a", ("ja", 2.0, 0.3))):
        builder.link(name, 1.0, (0.1, 0.05, 0.2), np.diag([0.1, 0.12, 0.15]))
        builder.joint(f"j{name}", "revolute", parent, name, (0.2, 0.1, 0.0), np.eye(3), (1, 0, 0), mimic=mimic)
    robot, rng = hinge.Robot(builder.build()), np.random.default_rng(0)
    truth = robot.with_payload("b", 0.4, (0.1, 0.0, 0.1), 1e-3 * np.eye(3))
    offset = rng.normal(size=robot.nv)
    logs = []
    for _ in range(2):
        q, qd = robot.random_state(rng, 150)
        qdd = rng.normal(size=qd.shape)
        logs.append(Log(np.arange(150.0), q, qd, truth.inverse_dynamics(q, qd, qdd) + offset, qdd))
    made = fit(robot, logs, drive_terms="offset")
    np.testing.assert_allclose(made.drive["offset"], offset, atol=1e-6)
    assert np.all(made.after < 1e-6)
    assert made.predict(q, qd, qdd).shape == qd.shape


def test_what_a_drive_has_is_named(arm, motions):
    log = logged(motions[0], force(arm, motions[0]))
    with pytest.raises(hinge.UnknownName, match=r"drive_terms has 'gains'\. Did you mean 'gain'"):
        fit(arm, log, drive_terms=["gains"])
    with pytest.raises(hinge.SizeError, match="the list of logs is empty"):
        fit(arm, [])
    with pytest.raises(hinge.SizeError, match="stribeck_velocity has to be above zero, one number or nv = 3"):
        fit(arm, log, stribeck_velocity=[0.1, 0.2])
