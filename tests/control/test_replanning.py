"""turney1981, section 10.2: a load shifts on the way; found out by the joint forces, what is left is planned again."""

import numpy as np

import hinge
from hinge.identify import parameters, residual, with_parameters

ARM = hinge.samples.planar_2r()
LOADED = ARM.with_payload("hand", 0.6)
EFFORT, PATH = np.array([90.0, 32.0]), hinge.motion.quintic(ARM, [-1.2, 0.6], [0.6, -1.0], duration=1.0)


def led(motion, model, t, t0, q, qd):
    """The loaded arm led along a motion from t0 on, by a controller with a model, within what its motors can give."""
    follow = hinge.control.saturate(ARM, hinge.control.computed_torque(model, motion, kp=400.0), EFFORT)
    return hinge.simulate(LOADED, t, q, qd, control=lambda t, q, qd: follow(t, q, qd), t0=t0)


def off(run):
    """How far from the path an arm is at most, whatever the time."""
    path = PATH(np.linspace(0.0, 1.0, 2001)).q
    return max(np.abs(path - q).max(axis=1).min() for q in run.q[::10])


def weighed(run):
    """The arm with the load in its hand that the joint forces of a run show: what the model does not explain."""
    qdd = np.gradient(run.qd, run.t, axis=0)[2:-2]
    q, qd, tau = (x[2:-2] for x in (run.q, run.qd, run.tau))
    kilogram = parameters(ARM.with_payload("hand", 1.0)) - parameters(ARM)
    felt, unexplained = ARM.regressor(q, qd, qdd) @ kilogram, residual(ARM, q, qd, qdd, tau)
    return with_parameters(ARM, parameters(ARM) + np.sum(felt * unexplained) / np.sum(felt * felt) * kilogram)


def test_planning_again_keeps_the_arm_on_its_path_and_its_plan_within_the_motors_limits():
    first = hinge.time_optimal(ARM, PATH, effort=0.8 * EFFORT)
    picked = 0.2 * first.duration
    stubborn = led(first, ARM, first.duration - picked, picked, *first(picked)[:2])
    needs = LOADED.inverse_dynamics(*first(np.linspace(picked, first.duration, 500)))
    assert (np.abs(needs) > 1.1 * EFFORT).any()  # it would need what its motors cannot give,
    assert off(stubborn) > 0.1  # and it leaves its path

    noticed = led(first, ARM, 0.01, picked, *first(picked)[:2])  # 10 ms of forces that the model does not explain
    now = weighed(noticed)
    assert abs(now.mass - LOADED.mass) < 1e-3
    late = float(noticed.t[-1])
    s = float(first.s(late))
    speed = np.sqrt(np.interp(s, first.grid, first.speed2))
    again = hinge.time_optimal(now, PATH, effort=0.8 * EFFORT, over=(s, 1.0), start=speed)
    needs = LOADED.inverse_dynamics(*again(np.linspace(0.0, again.duration, 500)))
    assert (np.abs(needs) < 0.81 * EFFORT).all()
    follow = hinge.control.saturate(ARM, hinge.control.computed_torque(now, again, kp=400.0), EFFORT)
    run = hinge.simulate(LOADED, again.duration + 0.3, *noticed.final, control=follow)
    assert off(run) < 0.1 * off(stubborn)
    np.testing.assert_allclose(run.q[-1], [0.6, -1.0], rtol=0, atol=1e-5)
    assert late + again.duration < 1.3 * first.duration
