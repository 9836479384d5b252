"""The fit: recovers a simulated arm, betters a noisy one, keeps bodies possible, says what it does not know."""

import numpy as np
import pytest

import hinge
from hinge.identify import Log, excite, fit, parameters, pseudo_inertia, with_parameters

TERMS = ("armature", "damping", "friction")


def differing(robot, rng, terms=TERMS):
    """The robot as it might be in truth: heavier and lighter links with their mass elsewhere, and joints that rub."""
    values, n = parameters(robot, terms), robot.model.count
    for k in range(n):
        values[10 * k : 10 * k + 10] *= rng.uniform(0.6, 1.5)
    values[10 * n :] = rng.uniform(0.1, 1.0, len(values) - 10 * n)
    made = with_parameters(robot, values, terms)
    for name in robot.body_names:
        made = made.with_payload(name, 0.3, rng.normal(size=3) * 0.1, np.diag(rng.uniform(0.002, 0.003, 3)))
    return made


@pytest.fixture(scope="module")
def arm():
    return hinge.samples.puma560()


@pytest.fixture(scope="module")
def truth(arm):
    return differing(arm, np.random.default_rng(1))


@pytest.fixture(scope="module")
def excitation(arm):
    return excite(arm, speed=2.0, joint_terms=TERMS, tries=1)


@pytest.fixture(scope="module")
def motions(arm, excitation):
    """A motion to fit, and another to judge by."""
    t, w = np.arange(200.0)[:, None] / 40.0, np.arange(1.0, 7.0) / 2.0
    other = np.sin(w * t), w * np.cos(w * t), -w * w * np.sin(w * t)
    return [excitation.sample(40.0), (t[:, 0], *other)]


def logged(robot, motion, noise=0.0, seed=0, terms=TERMS):
    t, q, qd, qdd = motion
    tau = robot.inverse_dynamics(q, qd, qdd, joint_terms=terms)
    rough = noise * np.sqrt(np.mean(tau**2, axis=0)) * np.random.default_rng(seed).normal(size=tau.shape)
    return Log(t, q, qd, tau + rough, qdd)


def bodies(made):
    n = made.robot.model.count
    return pseudo_inertia(made.parameters[: 10 * n].reshape(n, 10))


def test_without_noise_the_base_parameters_are_recovered(arm, truth, motions):
    made = fit(arm, logged(truth, motions[0]), TERMS, held_out=logged(truth, motions[1]))
    want = made.base.values(parameters(truth, TERMS))
    assert np.all(np.abs(made.base_values - want) <= 1e-6 * np.abs(want))
    np.testing.assert_allclose(made.base.values(made.parameters), made.base_values, rtol=1e-9, atol=1e-12)
    assert np.all(made.after < 1e-9 * made.before.max())
    assert np.all(np.linalg.eigvalsh(bodies(made)) > 0.0)
    assert not made.notes


def test_with_noise_the_error_on_other_motion_is_halved_and_bodies_can_be(arm, truth, motions):
    made = fit(arm, logged(truth, motions[0], 0.05), TERMS, held_out=logged(truth, motions[1], 0.05, seed=1))
    assert np.all(made.after <= 0.5 * made.before)
    assert np.all(np.linalg.eigvalsh(bodies(made)) > 0.0)
    assert np.all(made.parameters[60:] >= 0.0)
    held = logged(truth, motions[1])
    predicted = made.robot.inverse_dynamics(*held.motion, joint_terms=TERMS)  # the robot is the one of the numbers
    assert np.sqrt(np.mean((predicted - held.tau) ** 2)) < 0.1 * np.sqrt(np.mean(held.tau**2))


def test_the_end_of_a_log_is_held_out_unless_another_is_given(arm, truth, motions):
    log = logged(truth, motions[0], 0.05)
    made = fit(arm, log, TERMS, held_out=0.3)
    rows = round(len(log) * 0.7)
    left = log.tau[rows:] - arm.inverse_dynamics(*log[rows:].motion, joint_terms=TERMS)
    np.testing.assert_allclose(made.before, np.sqrt(np.mean(left**2, axis=0)), rtol=1e-12)
    assert np.all(made.after < made.before)


def test_standard_deviations_are_those_of_repeated_experiments(arm, truth, motions):
    """Without the bodies' own limits the estimate is linear, and its spread known."""
    many = [fit(arm, logged(truth, motions[0], 0.05, seed), TERMS, consistent=False) for seed in range(12)]
    off = np.array([(one.base_values - one.base.values(parameters(truth, TERMS))) / one.deviations for one in many])
    assert np.sqrt(np.mean(off**2)) == pytest.approx(1.0, abs=0.2)
    assert abs(off.mean()) < 0.1


def test_noise_that_differs_by_joint_is_weighed(arm, truth, motions):
    t, q, qd, qdd = motions[0]
    tau = truth.inverse_dynamics(q, qd, qdd, joint_terms=TERMS)
    size = np.array([1.0, 1.0, 1.0, 0.01, 0.01, 0.01])
    noisy = tau + size * np.random.default_rng(0).normal(size=tau.shape)
    made = fit(arm, Log(t, q, qd, noisy, qdd), TERMS, consistent=False)
    np.testing.assert_allclose(made.weights * size, 1.0, rtol=0.2)
    even = fit(arm, Log(t, q, qd, noisy, qdd), TERMS, consistent=False, weights=np.ones(6))
    want = made.base.values(parameters(truth, TERMS))
    wrist = [k for k, name in enumerate(made.base.names) if name.startswith(("link6", "joint6"))]
    assert np.linalg.norm((made.base_values - want)[wrist]) < 0.2 * np.linalg.norm((even.base_values - want)[wrist])


def test_bodies_that_cannot_be_are_the_price_of_leaving_consistency_out(arm, truth, motions):
    log = logged(truth, motions[0], 0.05)
    free, kept = fit(arm, log, TERMS, consistent=False), fit(arm, log, TERMS)
    assert np.linalg.eigvalsh(bodies(free)).min() < 0.0 < np.linalg.eigvalsh(bodies(kept)).min()


@pytest.mark.parametrize("suffix", [".urdf", ".xml", ".toml"])
def test_a_fitted_robot_is_written_and_read_back(arm, truth, motions, suffix, tmp_path):
    made = fit(arm, logged(truth, motions[0], 0.05), TERMS).robot
    hinge.write(made, tmp_path / f"arm{suffix}")
    again = hinge.load(tmp_path / f"arm{suffix}")
    _, q, qd, qdd = motions[1]
    tau = made.inverse_dynamics(q, qd, qdd, joint_terms=TERMS)
    np.testing.assert_allclose(
        again.inverse_dynamics(q, qd, qdd, joint_terms=TERMS), tau, atol=1e-9 * np.abs(tau).max()
    )


def test_joints_that_stood_still_are_named(arm, truth, motions):
    t, q, qd, qdd = (x.copy() for x in motions[0])
    for x, at in ((q, 0.3), (qd, 0.0), (qdd, 0.0)):
        x[:, 3:] = at
    log = logged(truth, (t, q, qd, qdd))
    with pytest.raises(
        hinge.ExcitationError, match=r"does not show \d+ of 52 base parameters of robot 'puma560'"
    ) as caught:
        fit(arm, log, TERMS)
    names = set(caught.value.names)
    assert {"joint4.damping", "joint5.friction", "joint6.armature"} <= names
    assert not {"joint1.damping", "joint2.friction", "joint3.armature"} & names
    assert "partial=True" in str(caught.value)
    made = fit(arm, log, TERMS, partial=True)
    assert np.all(made.after < 1e-6)
    assert any("left as they were" in note for note in made.notes)
    hidden = np.isin(made.base.names, list(names))
    assert np.all(np.isinf(made.deviations) == hidden)
    lone = [made.names.index(f"joint{k}.damping") for k in (4, 5, 6)]
    np.testing.assert_allclose(made.parameters[lone], parameters(arm, TERMS)[lone], atol=1e-3)


def test_accelerations_may_be_left_out(arm, truth, excitation):
    log = logged(truth, excitation.sample(500.0))
    made = fit(arm, Log(log.t, log.q, log.qd, log.tau), TERMS)
    assert np.all(made.after < 0.01 * made.before)


def test_a_simulation_is_a_log():
    arm = hinge.samples.planar_2r()

    def control(t, q, qd):
        return [8.0 * np.sin(3.0 * t) - 2.0 * qd[0], 4.0 * np.cos(5.0 * t) - qd[1]]

    run = hinge.simulate(arm.with_payload("lower", 0.5, (0.5, 0.0, 0.0)), t=4.0, control=control, step=1e-3)
    made = fit(arm, run, joint_terms=())
    assert np.all(made.after < 0.05 * made.before)
    assert "root mean square" in str(made)


def test_rows_that_are_not_numbers_are_left_out_and_counted(arm, truth, motions):
    log = logged(truth, motions[0])
    log.tau[[5, 17]] = np.nan
    again = Log(log.t, log.q, log.qd, log.tau, log.qdd)
    assert (again.left_out, len(again)) == (2, len(log) - 2)
    made = fit(arm, again, TERMS)
    assert "2 rows with a number that is not finite were left out" in made.notes
    assert np.all(made.after < 1e-6)


def test_a_log_that_shows_nothing_or_is_none_is_refused():
    arm, rest = hinge.samples.planar_2r().with_gravity([0.0, 0.0, 0.0]), np.zeros((40, 2))
    with pytest.raises(hinge.ExcitationError, match="does not show 4 of 4 base parameters"):
        fit(arm, Log(np.arange(40.0), rest, rest, rest + 1.0, rest), ())
    with pytest.raises(hinge.SizeError, match="log is a float; it has to be a Log, a Trajectory or a dict"):
        fit(arm, 3.0)
    with pytest.raises(hinge.SizeError, match=r"t\[2\] = 0.5 comes after t\[0\] = 1"):
        Log([1.0, np.nan, 0.5], rest[:3], rest[:3], rest[:3])


def test_robots_of_other_kinds_are_fitted_too():
    """A floating base with a ball joint: forces on the base count as measured."""
    rng = np.random.default_rng(3)
    free = hinge.Builder("base")
    free.link("world")
    free.link("body", 2.0, (0.1, 0.2, 0.3), np.diag([0.1, 0.2, 0.25]))
    free.link("arm", 1.0, (0.1, 0.0, 0.3), np.diag([0.1, 0.1, 0.15]))
    free.joint("base", "free", "world", "body")
    free.joint("ball", "spherical", "body", "arm", (0.3, 0.0, 0.0))
    robot = hinge.Robot(free.build())
    true = differing(robot, rng, ())
    q, qd = robot.random_state(rng, 300)
    qdd = rng.normal(size=qd.shape)
    log = Log(np.arange(300.0), q, qd, true.inverse_dynamics(q, qd, qdd, joint_terms=()), qdd)
    made = fit(robot, log, ())
    want = made.base.values(parameters(true, ()))
    np.testing.assert_allclose(made.base_values, want, rtol=1e-6, atol=1e-8)


# ---- armature that is not named, and logs that fix no scale


@pytest.mark.sampled(2)
@pytest.mark.parametrize("terms", [(), ("damping",), ("damping", "friction"), ("armature", "friction")])
def test_armature_that_is_not_named_is_held(terms):
    robot = hinge.samples.puma560()  # its rotors are as heavy as its links
    truth = robot.with_payload("link6", 1.0, (0.0, 0.0, 0.1))
    q, qd = robot.random_state(np.random.default_rng(0), 300)
    qdd = np.random.default_rng(1).normal(size=qd.shape)
    tau = truth.inverse_dynamics(q, qd, qdd)
    made = fit(robot, Log(0.01 * np.arange(300), q, qd, tau, qdd), terms)
    assert made.after.max() < 1e-6 * np.abs(tau).max()
    assert np.abs(made.robot.inverse_dynamics(q, qd, qdd) - tau).max() < 1e-6 * np.abs(tau).max()
    assert np.abs(made.predict(q, qd, qdd) - tau).max() < 1e-6 * np.abs(tau).max()
    assert made.robot.mass == pytest.approx(truth.mass, rel=0.2)
    if "armature" not in terms:
        held = hinge.identify.parameters(robot)[-robot.nv :]
        np.testing.assert_array_equal(hinge.identify.parameters(made.robot)[-robot.nv :], held)


def test_a_log_without_joint_forces_is_refused():
    arm = hinge.samples.planar_2r()
    run = hinge.simulate(arm, 1.0, [0.4, -0.3])
    for given in (run, {"t": run.t, "q": run.q, "qd": run.qd, "tau": 0.0 * run.q}):
        with pytest.raises(hinge.ExcitationError, match=r"joint forces of the log \(tau\) are zero in all \d+ rows"):
            fit(arm, given)


def test_terms_of_the_robot_that_are_not_fitted_are_noted():
    arm = hinge.samples.planar_2r()
    rough = with_parameters(arm, np.r_[hinge.identify.parameters(arm, ()), 0.5, 0.0], ("damping",))
    q, qd, qdd = np.random.default_rng(0).normal(size=(3, 200, 2))
    log = Log(0.01 * np.arange(200), q, qd, rough.inverse_dynamics(q, qd, qdd), qdd)
    said = "forces are fitted without the robot's damping; joint_terms= can name these terms"
    assert said in fit(rough, log).notes
    assert said not in fit(arm, log).notes
