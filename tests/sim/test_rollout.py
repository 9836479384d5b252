"""`hinge.rollout`: all steps in one kernel, the same bits however they are cut, and numbers of a robot a rollout."""

from functools import partial

import numpy as np
import pytest
from sim_robots import double_pendulum, flyer, rods

import hinge
from hinge import NotCovered, SizeError, TraceError, UnknownName
from hinge.backends import threads

FIXED = ("rk4", "euler", "semi_implicit", "implicit", "lie_rk4", "midpoint")
ALL = ("armature", "damping", "friction", "stiffness")
STEPS, H = 20, 2e-3
arm = partial(rods, friction=0.2, effort=4.0)


def states(robot, count, seed=0):
    return robot.random_state(np.random.default_rng(seed), count)


def policy(t, q, qd, target, gain):
    return gain * (target - q) - 0.3 * qd + np.sin(20.0 * t)


def same(made, other):
    return all(np.array_equal(a, b, equal_nan=True) for a, b in zip(made, other, strict=True))


@pytest.mark.sampled(1)
@pytest.mark.parametrize("method", FIXED)
def test_it_is_simulate_bit_for_bit(method):
    robot = arm()
    q, qd = states(robot, 5)
    taus = np.random.default_rng(1).normal(size=(5, STEPS, 2))
    options = {"method": method, "joint_terms": ALL, "effort": True, "limits": "stop"}
    for given, control in (({"taus": taus}, taus), ({"tau": taus[:, 0]}, taus[:, :1]), ({}, None),
                           ({"policy": policy, "inputs": (0.3, q)}, policy)):  # fmt: skip
        made = hinge.rollout(robot, q, qd, STEPS, H, **given, **options, t0=0.5)
        inputs = given.get("inputs", ())
        run = hinge.simulate(robot, STEPS * H, q, qd, control, step=H, inputs=inputs, **options, t0=0.5)
        assert same(made, (run.q, run.qd, run.status))
        assert made.q.shape == (5, STEPS + 1, 2)
        assert np.abs(made.q[:, -1] - q).max() > 1e-3


@pytest.mark.sampled(3)
@pytest.mark.parametrize("method", FIXED)
@pytest.mark.parametrize("chunk", [1, 7])
def test_some_steps_at_a_time_are_all_of_them(method, chunk):
    robot = arm()
    q, qd = states(robot, 3)
    taus = np.random.default_rng(1).normal(size=(3, STEPS, 2))
    whole = hinge.rollout(robot, q, qd, STEPS, H, taus=taus, method=method, joint_terms=ALL)
    driven = hinge.rollout(robot, q, qd, STEPS, H, policy=policy, inputs=(q, 2.0), method=method)
    now, then = (q, qd), (q, qd)
    for n in range(0, STEPS, chunk):
        part = slice(n, min(n + chunk, STEPS))
        count = part.stop - n
        made = hinge.rollout(robot, *now, count, H, taus=taus[:, part], method=method, joint_terms=ALL)
        other = hinge.rollout(robot, *then, count, H, policy=policy, inputs=(q, 2.0), method=method, t0=n * H)
        now, then = ((a.q[:, -1], a.qd[:, -1]) for a in (made, other))
        for all_of, some in ((whole, made), (driven, other)):
            assert np.array_equal(all_of.q[:, n : part.stop + 1], some.q)
            assert np.array_equal(all_of.qd[:, n : part.stop + 1], some.qd)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("method", FIXED)
def test_threads_and_company_change_nothing(method, monkeypatch):
    monkeypatch.setattr(threads, "SMALLEST", 1.0)
    robot = arm()
    q, qd = states(robot, 301)
    taus = np.random.default_rng(1).normal(size=(301, STEPS, 2))
    made = []
    for count in (1, 2):
        hinge.set_threads(count)
        made.append(hinge.rollout(robot, q, qd, STEPS, H, taus=taus, method=method, joint_terms=ALL, limits="stop"))
    assert same(*made)
    for k in (0, 8, 300):
        alone = hinge.rollout(robot, q[k], qd[k], STEPS, H, taus=taus[k], method=method, joint_terms=ALL, limits="stop")
        assert same(alone, (a[k] for a in made[0]))


def test_a_floating_robot():
    robot = flyer()
    q, qd = states(robot, 4)
    made = hinge.rollout(robot, q, 0.1 * qd, STEPS, H, method="lie_rk4")
    run = hinge.simulate(robot, STEPS * H, q, 0.1 * qd, method="lie_rk4", step=H)
    assert same(made, (run.q, run.qd, run.status))


def test_inputs_shared_and_one_a_rollout_are_what_numbers_in_the_policy_would_be():
    robot = double_pendulum()
    q, qd = states(robot, 4)
    targets, gains = np.linspace(-1, 1, 8).reshape(4, 2), np.array([1.0, 2.0, 3.0, 4.0])
    made = hinge.rollout(robot, q, qd, STEPS, H, policy=policy, inputs=(targets, gains))
    shared = hinge.rollout(robot, q, qd, STEPS, H, policy=policy, inputs=([0.1, 0.2], 3.0))
    for k in range(4):
        one, same_for_all = (
            hinge.rollout(robot, q[k], qd[k], STEPS, H, policy=lambda t, q, qd, a=a, b=b: policy(t, q, qd, a, b))
            for a, b in ((targets[k], gains[k]), (np.array([0.1, 0.2]), 3.0))
        )
        np.testing.assert_allclose(made.q[k], one.q, rtol=0, atol=1e-13)
        np.testing.assert_allclose(shared.q[k], same_for_all.q, rtol=0, atol=1e-13)
    assert np.abs(made.q - shared.q).max() > 1e-3


ROWS = {
    "lower.mass": (np.array([0.5, 1.0, 3.0]), "mass"),
    "elbow.damping": (np.array([0.0, 0.3, 5.0]), "damping"),
    "elbow.friction": (np.array([0.0, 0.2, 3.0]), "friction"),
    "elbow.stiffness": (np.array([0.0, 2.0, 30.0]), "stiffness"),
    "elbow.effort": (np.array([0.1, 1.0, 4.0]), "effort"),
    "elbow.lower": (np.array([-3.0, -0.52, -0.51]), "lower"),
    "elbow.upper": (np.array([-0.5, -0.499, 3.0]), "upper"),
    "gravity": (np.array([[0, 0, -9.81], [1.0, 2.0, 3.0], [0, 0, 0.0]]), "gravity"),
}


@pytest.mark.sampled(1)
@pytest.mark.parametrize("method", ["semi_implicit", "implicit", "rk4"])
@pytest.mark.parametrize("name", ROWS)
def test_rows_of_parameters_are_robots_with_those_numbers(name, method):
    rows, field = ROWS[name]
    q, qd = np.array([0.3, -0.5]), np.array([0.2, 1.0 if field == "upper" else -1.0])
    options = {"taus": 3.0 * np.random.default_rng(1).normal(size=(STEPS, 2)), "method": method, "joint_terms": ALL,
               "effort": True, "limits": "stop"}  # fmt: skip
    made = hinge.rollout(arm().vary(name), q, qd, STEPS, H, parameters={name: rows}, **options)
    assert made.q.shape == (3, STEPS + 1, 2)
    for k, value in enumerate(rows):
        one = hinge.rollout(arm(**{field: value}), q, qd, STEPS, H, **options)
        np.testing.assert_allclose(made.q[k], one.q, rtol=0, atol=1e-12)
        np.testing.assert_allclose(made.qd[k], one.qd, rtol=0, atol=1e-11)
    assert np.abs(made.q[0] - made.q[2]).max() > 1e-6


def test_limits_that_are_springs_take_parameters_too():
    rows = np.array([-0.49, 0.0])
    given = {"limits": "spring", "method": "semi_implicit"}
    robot = arm().vary("elbow.upper")
    made = hinge.rollout(robot, [0.3, -0.5], [0, 1.0], STEPS, H, parameters={"elbow.upper": rows}, **given)
    for k, upper in enumerate(rows):
        one = hinge.rollout(arm(upper=upper), [0.3, -0.5], [0, 1.0], STEPS, H, **given)
        np.testing.assert_allclose(made.q[k], one.q, rtol=0, atol=1e-12)
    assert np.abs(made.q[0] - made.q[1]).max() > 1e-4


def test_what_is_recorded():
    robot = double_pendulum()
    q, qd = states(robot, 2)
    whole = hinge.rollout(robot, q, qd, STEPS, H)
    for record in (1, 3, 20, 50):
        made = hinge.rollout(robot, q, qd, STEPS, H, record=record)
        assert made.q.shape == (2, STEPS // record + 1, 2)
        assert np.array_equal(made.q, whole.q[:, ::record])
        assert np.array_equal(made.qd, whole.qd[:, ::record])
    none = hinge.rollout(robot, q, qd, 0, H)
    assert np.array_equal(none.q, q[:, None])
    assert np.array_equal(none.qd, qd[:, None])
    assert none.status.tolist() == [0, 0]


def test_lists_and_axes_that_broadcast():
    robot = double_pendulum()
    one = hinge.rollout(robot, [1, 0], [0, 0], 5, 1e-2, taus=[[1, 0]] * 5)
    many = hinge.rollout(robot, [[1, 0]] * 3, [0, 0], 5, 1e-2, taus=np.tile([1.0, 0.0], (3, 5, 1)))
    assert one.q.shape == (6, 2)
    assert np.array_equal(many.q[1], one.q)
    pushed = hinge.rollout(robot, [1, 0], [0, 0], 5, 1e-2, tau=np.zeros((4, 2)))
    assert pushed.q.shape == (4, 6, 2)
    assert hinge.rollout(robot, np.zeros((0, 2)), np.zeros(2), 5, 1e-2).q.shape == (0, 6, 2)
    grid = hinge.rollout(robot, np.zeros((3, 1, 2)), np.zeros((1, 2, 2)), 5, 1e-2)
    assert grid.q.shape == (3, 2, 6, 2)
    assert grid.status.shape == (3, 2)


def test_a_rollout_that_is_lost_is_alone_in_it():
    robot = double_pendulum()
    q, qd = states(robot, 3)
    wild = qd.copy()
    wild[1] = 1e200
    calm, made = (hinge.rollout(robot, q, v, STEPS, H) for v in (qd, wild))
    assert made.status.tolist() == [0, hinge.Status.DIVERGED, 0]
    assert np.isnan(made.q[1, 1:]).all()
    assert np.array_equal(made.q[1, 0], q[1])
    assert np.array_equal(made.q[[0, 2]], calm.q[[0, 2]])


def remembers(t, q, qd):
    return np.zeros(2) if float(q[0]) > 0 else np.ones(2)


WRONG = {
    "two kinds of force": ({"tau": [0, 0], "taus": np.zeros((5, 2))}, SizeError, "takes one of tau, taus and policy; "
                           "tau and taus were given"),
    "rows of another length": ({"taus": np.zeros((4, 2))}, SizeError, r"taus has shape \(4, 2\); give \(5, 2\), a row"),
    "rows of another robot": ({"taus": np.zeros((5, 3))}, SizeError, r"taus has shape \(5, 3\); give \(5, 2\)"),
    "forces of another robot": ({"tau": np.zeros(3)}, SizeError, r"tau has shape \(3,\); it has to end in \(2,\)"),
    "forces that are none": ({"taus": np.full((5, 2), np.nan)}, SizeError, r"not finite, at \(0, 0\)"),
    "batches": ({"tau": np.zeros((4, 2)), "q0": np.zeros((3, 2))}, SizeError, "do not fit together"),
    "a policy with an if": ({"policy": remembers}, TraceError, "the policy cannot be traced"),
    "inputs that are none": ({"policy": policy, "inputs": (np.nan, 1.0)}, SizeError, "inputs have a value that is not "
                             "finite"),
    "steps": ({"steps": -1}, SizeError, "steps=-1 is not known"),
    "half a step": ({"steps": 2.5}, SizeError, "steps=2.5 is not known"),
    "record": ({"record": "last"}, SizeError, "record='last' is not known. Give a whole number, 1 or more"),
    "h": ({"h": 0.0}, SizeError, "h=0.0 is not a time"),
    "its own steps": ({"method": "dopri5"}, NotCovered, "'dopri5' chooses its own steps. Use hinge.simulate"),
    "method": ({"method": "rk5"}, UnknownName, "Did you mean 'rk4'"),
    "parameters": ({"parameters": {"upper.mass": 1.0}}, hinge.HingeError, "upper.mass"),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_what_cannot_be_used_is_refused(name):
    options, kind, said = WRONG[name]
    with pytest.raises(kind, match=said):
        hinge.rollout(double_pendulum(), **{"q0": [0, 0], "qd0": [0, 0], "steps": 5, "h": 1e-2} | options)
