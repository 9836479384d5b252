"""A controller that learns: the form it learns in, the energy that proves it, and what it saves."""

import numpy as np
import pytest
from control_robots import quiet

import hinge
from hinge.control.adaptation import linear_in
from hinge.identify import parameters
from hinge.identify.parameters import pseudo_inertia

ARM = hinge.samples.puma560()
LOADED = ARM.with_payload("tool", 5.0, (0.05, 0.0, 0.1), 0.02 * np.eye(3))


def waving(t):
    """A motion of all joints that never repeats itself quite."""
    t, w = np.asarray(t)[..., None] if np.ndim(t) else t, 1.37 + 0.37 * np.arange(6.0)
    return 0.4 * np.sin(w * t), 0.4 * w * np.cos(w * t), -0.4 * w * w * np.sin(w * t)


START = waving(0.0)[:2]


@pytest.mark.sampled(2)
@pytest.mark.parametrize("seed", range(4))
def test_the_parametrised_form_is_that_of_the_christoffel_symbols(seed):
    rng = np.random.default_rng(seed)
    robot = hinge.samples.chain(rng, 5) if seed else ARM
    q, qd = robot.random_state(rng, 6)
    v, a = rng.normal(size=(2, 6, robot.nv))
    Y = linear_in(robot, q, qd, v, a)
    H, C = robot.mass_matrix(q), robot.coriolis_matrix(q, qd)
    wanted = (H @ a[..., None] + C @ v[..., None])[..., 0] + robot.gravity_force(q)
    np.testing.assert_allclose(Y @ parameters(robot), wanted, rtol=0, atol=1e-9 * np.abs(wanted).max())


def run(control, robot, t=6.0):
    return quiet(robot, t, *START, control=control)


def test_it_pays():
    """With 5 kg that nobody told of, the error of computed torque stays, and that of the learning one goes."""
    plain = run(hinge.control.computed_torque(ARM, waving), LOADED)
    control = hinge.control.adaptive(ARM, waving)
    learns = run(control, LOADED)
    late = plain.t > 4.0
    errors = [np.abs(r.q - waving(r.t)[0])[late].max() for r in (plain, learns)]
    assert errors[0] > 0.3
    assert errors[1] < 0.02 * errors[0]
    at = waving(np.linspace(0.0, 6.0, 40))[0]
    off = [np.abs(r.gravity_force(at) - LOADED.gravity_force(at)).max() for r in (ARM, control.thought())]
    assert off[1] < 0.1 * off[0]  # what it weighs is known, as far as the motion shows it


def test_an_energy_falls_as_proved():
    """½ sᵀ H s and what is not known yet, over what learning costs; it falls by Λ sᵀ H s."""
    rate, learning, step = 8.0, 0.5, 1e-4
    control = hinge.control.adaptive(ARM, waving, rate=rate, learning=learning)
    mean = pseudo_inertia(parameters(ARM)[:60].reshape(6, 10)).mean(axis=0)
    inverse = np.diag(1.0 / np.array([*[np.trace(mean[:3, :3]) / 3.0] * 3, mean[3, 3]]))
    q, qd = START[0] + 0.05, START[1]
    energy, power = [], []
    for k in range(2000):
        goal = waving(k * step)
        tau = control(k * step, q, qd)
        s = goal[1] - qd + rate * (goal[0] - q)
        P = pseudo_inertia((parameters(LOADED) - control.estimate)[:60].reshape(6, 10))
        moving = s @ LOADED.mass_matrix(q) @ s
        energy.append(0.5 * moving + 0.5 * np.einsum("ab,ibc,cd,ida->", inverse, P, inverse, P) / learning)
        power.append(rate * (s @ ARM.mass_matrix(q) @ s))
        q, qd = LOADED.step(q, qd, tau, step)
    assert (np.diff(energy) < 0.0).all()
    assert energy[0] - energy[-1] == pytest.approx(step * np.sum(power), rel=2e-2)
    assert energy[0] - energy[-1] > 0.5


def test_of_joints_nothing_is_learnt():
    control = hinge.control.adaptive(ARM, waving)
    run(control, LOADED, 0.1)
    assert np.array_equal(control.estimate[60:], parameters(ARM)[60:])
    assert not np.array_equal(control.estimate[:60], parameters(ARM)[:60])


def test_with_the_right_numbers_it_is_computed_torque_and_learns_nothing():
    control = hinge.control.adaptive(ARM, waving)
    made = run(control, ARM, 1.0)
    np.testing.assert_allclose(made.q, waving(made.t)[0], rtol=0, atol=2e-3)
    np.testing.assert_allclose(control.estimate, parameters(ARM), rtol=0.02, atol=0.02)


def test_each_rollout_learns_for_itself():
    control = hinge.control.adaptive(ARM, waving)
    q0 = np.stack([START[0], START[0] + 0.1])
    both = quiet(LOADED, 0.2, q0, START[1], control=control)
    alone = hinge.control.adaptive(ARM, waving)
    one = quiet(LOADED, 0.2, q0[1], START[1], control=alone)
    np.testing.assert_allclose(both.q[1], one.q, rtol=0, atol=1e-12)
    np.testing.assert_allclose(control.estimate[1], alone.estimate, rtol=0, atol=1e-12)


def test_what_it_does_not_cover_is_refused():
    with pytest.raises(hinge.NotCovered, match="velocities are not the rates of coordinates"):
        hinge.control.adaptive(hinge.samples.chain(np.random.default_rng(0), 3, "spherical"), np.zeros(12))
    with pytest.raises(hinge.SizeError, match="learning=0 has to be positive"):
        hinge.control.adaptive(ARM, waving, learning=0)


def test_a_continuous_joint_goes_the_short_way():
    builder = hinge.Builder("wheel", gravity=(0, 0, 0))
    builder.link("base")
    builder.link("rim", 1.0, (0.3, 0, 0), np.eye(3) * 0.1)
    builder.joint("axle", "continuous", "base", "rim", axis=(0, 0, 1))
    robot = hinge.Robot(builder.build())
    start = np.array([6.4])
    control = hinge.control.adaptive(robot, [-0.16])
    run = quiet(robot, 2.0, start, control=control, step=2e-3)
    short = robot.difference(start, [-0.16])
    np.testing.assert_allclose(run.q[-1] - start, short, atol=1e-3)
    assert np.abs(run.q - start).max() < 2.0 * np.abs(short).max()
