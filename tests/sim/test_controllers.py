"""Controllers, traced and not; what resists; the equations of motion kept for several steps."""

import warnings

import numpy as np
import pytest
from sim_robots import START, bounded_arm, double_pendulum, exactly, flyer, two_rods

import hinge
from hinge import NotCovered, SizeError

K = np.array([[20.0, 1.0], [0.0, 12.0]])
TARGET = np.array([0.3, -0.2])


def smooth(t, q, qd):
    return (TARGET - q) @ K.T - np.array([3.0, 2.0]) * qd + np.sin(2.0 * t)


def clipped(t, q, qd):
    push = np.clip(smooth(t, q, qd), -4.0, 4.0)
    return np.where(t < 0.3, push, np.minimum(push, 1.0)) + 0.1 * np.abs(qd) * np.tanh(0.0)


class Integral:
    """A controller with a memory."""

    def __init__(self):
        self.sum = np.zeros(2)
        self.calls = 0

    def __call__(self, t, q, qd):
        self.calls += 1
        self.sum = self.sum + 1e-2 * (TARGET - q)
        return 5.0 * (TARGET - q) + 2.0 * self.sum


def quiet(*args, **options):
    """A run that has nothing to warn of."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return hinge.simulate(*args, **options)


@pytest.mark.parametrize("method", ["rk4", "euler", "semi_implicit", "lie_rk4", "midpoint", "dopri5"])
def test_a_traced_controller_acts_at_every_stage(method):
    """Against the same equations solved by another program."""

    robot = double_pendulum()

    def rates(t, y):
        a, M = two_rods(t, y), robot.mass_matrix(y[:2])
        return np.concatenate([a[:2], a[2:] + np.linalg.solve(M, smooth(t, y[:2], y[2:]))])

    order = {"euler": 1, "semi_implicit": 1, "midpoint": 2}.get(method, 4)
    run = quiet(robot, 1.0, START, control=smooth, method=method, step=1e-3)
    wanted = exactly(rates, [*START, 0.0, 0.0], 1.0)
    assert np.abs(np.concatenate(run.final) - wanted).max() < 20 * 10.0 ** (-3 * order) + 1e-8
    if method != "midpoint":  # which has the force in the middle of the step
        np.testing.assert_allclose(run.tau, smooth(run.t[:, None], run.q, run.qd), rtol=0, atol=1e-12)


@pytest.mark.parametrize("control", [smooth, clipped], ids=lambda f: f.__name__)
@pytest.mark.parametrize("method", ["euler", "semi_implicit"])
def test_traced_and_in_python_are_the_same_where_a_step_has_one_stage(control, method):
    robot = double_pendulum()
    q, qd = robot.random_state(np.random.default_rng(0), 5)
    traced = quiet(robot, 1.0, q, qd, control, method, step=1e-2)
    python = quiet(robot, 1.0, q, qd, control, method, step=1e-2, sample=1)
    for name in ("q", "qd", "tau"):
        np.testing.assert_allclose(getattr(traced, name), getattr(python, name), rtol=0, atol=1e-10)


def test_sampled_is_held():
    calls = []

    def control(t, q, qd):
        calls.append(t)
        return smooth(t, q, qd)

    run = quiet(double_pendulum(), 0.1, START, control=control, step=1e-2, sample=4)
    np.testing.assert_allclose(calls[:3], [0.0, 0.04, 0.08], atol=1e-15)
    for k in range(10):
        assert np.array_equal(run.tau[k], run.tau[k - k % 4])
        assert np.array_equal(run.tau[k], smooth(run.t[k - k % 4], run.q[k - k % 4], run.qd[k - k % 4]))
    rows = hinge.simulate(double_pendulum(), 0.1, START, control=run.tau[:10], step=1e-2)
    assert np.array_equal(rows.q, run.q)
    assert np.array_equal(rows.tau[:10], run.tau[:10])


def test_arrays_of_forces():
    robot = double_pendulum()
    q, qd = robot.random_state(np.random.default_rng(1), 3)
    tau = np.random.default_rng(2).normal(size=(3, 2))
    held = hinge.simulate(robot, 0.05, q, qd, tau[:, None], step=1e-2)
    rows = hinge.simulate(robot, 0.05, q, qd, np.repeat(tau[:, None], 5, axis=1), step=1e-2)
    assert np.array_equal(held.q, rows.q)
    one = hinge.simulate(robot, 0.05, q, qd, tau[0], step=1e-2)
    assert np.array_equal(one.q[0], held.q[0])
    at, speed = robot.step(q, qd, tau, 1e-2)
    np.testing.assert_allclose(at, held.q[:, 1], rtol=0, atol=1e-14)
    np.testing.assert_allclose(speed, held.qd[:, 1], rtol=0, atol=1e-13)


# what cannot be traced


def branching(t, q, qd):
    if q[..., 0].max() > 0.0:
        return -q
    return q


def test_a_controller_that_cannot_be_traced_runs_in_python_and_says_why():
    with pytest.warns(UserWarning, match=r"controller 'branching' runs in Python, once a step and held over it: .+\n"):
        run = hinge.simulate(double_pendulum(), 0.05, START, control=branching, step=1e-2)
    again = quiet(double_pendulum(), 0.05, START, control=branching, step=1e-2, sample=1)
    assert np.array_equal(run.q, again.q)


def test_a_controller_with_a_memory_is_found_out_and_starts_afresh():
    for method in ("rk4", "euler"):
        tried, own = Integral(), Integral()
        with pytest.warns(UserWarning, match="depends on more than t, q and qd"):
            run = hinge.simulate(double_pendulum(), 0.1, START, control=tried, method=method, step=1e-2)
        again = quiet(double_pendulum(), 0.1, START, control=own, method=method, step=1e-2, sample=1)
        assert tried.calls == own.calls
        assert np.array_equal(run.q, again.q)


def test_a_memory_in_a_closure_is_not_touched_by_the_trial():
    def made():
        total = np.zeros(2)

        def control(t, q, qd):
            nonlocal total
            total = total + (TARGET - q)
            return total

        return control

    with pytest.warns(UserWarning, match="more than t, q and qd"):
        run = hinge.simulate(double_pendulum(), 0.1, START, control=made(), step=1e-2)
    assert np.array_equal(run.q, quiet(double_pendulum(), 0.1, START, control=made(), step=1e-2, sample=1).q)
    assert np.array_equal(run.tau[0], TARGET - START)


def test_a_controller_may_use_the_robot():
    robot = double_pendulum()
    run = quiet(robot, 0.1, START, control=lambda t, q, qd: robot.gravity_force(q), step=1e-2)  # traced with it
    np.testing.assert_allclose(run.q, np.broadcast_to(START, run.q.shape), atol=1e-12)


def test_a_controller_may_keep_what_it_sees():
    seen = []

    def control(t, q, qd):
        seen.append(q)
        return -q

    run = quiet(double_pendulum(), 0.05, START, control=control, step=1e-2, sample=1)
    assert np.array_equal(seen[:5], run.q[:5])


def test_dopri5_refuses_what_cannot_be_traced():
    with pytest.raises(
        SizeError, match=r"dopri5 needs a controller that can be traced, and this one cannot: (?s:.+)rk4"
    ):
        hinge.simulate(double_pendulum(), 0.1, START, control=Integral(), method="dopri5")


@pytest.mark.parametrize("sample", [0, 1])
@pytest.mark.parametrize("wrong", [3, 1, None])
def test_a_controller_that_returns_the_wrong_size(sample, wrong):
    shape = () if wrong is None else (wrong,)
    with pytest.raises(SizeError, match=r"control returned shape \(.*\); robot 'pendulum2' .*2"):
        hinge.simulate(double_pendulum(), 0.1, control=lambda t, q, qd: np.zeros(shape), step=1e-2, sample=sample)


def test_a_controller_that_returns_no_numbers():
    with pytest.raises(SizeError, match="control returned a str, not an array of joint forces"):
        hinge.simulate(double_pendulum(), 0.1, control=lambda t, q, qd: "left", sample=1)


def test_a_controller_of_one_state_is_not_given_several_unawares():
    robot = double_pendulum()
    q = np.array([[0.1, 0.2], [0.3, 0.4]])

    def one(t, q, qd):
        return K @ (TARGET - q)

    traced = quiet(robot, 0.05, q, control=one, step=1e-2)  # traced, it sees one state
    assert np.array_equal(traced.q[1], quiet(robot, 0.05, q[1], control=one, step=1e-2).q)
    with pytest.raises(SizeError, match=r"write q @ K.T, not K @ q"):
        hinge.simulate(robot, 0.05, q, control=one, step=1e-2, sample=1)
    rng = np.random.default_rng(0)
    quiet(robot, 0.05, q, control=lambda t, q, qd: rng.normal(size=q.shape), step=1e-2, sample=1)  # noise is fine


def test_a_controller_that_gives_nan_stops_its_rollout():
    def control(t, q, qd):
        return np.where(q[0] < 0.95, np.nan, 0.0) * np.ones(2)

    run = hinge.simulate(double_pendulum(), 1.0, [[1.0, 0.5], [0.99, 5.0]], control=control, step=1e-2)
    assert (run.status == hinge.Status.NONFINITE).all()
    assert np.isfinite(run.q[:, 1]).all()


# saturation, friction, springs of the joint


@pytest.mark.parametrize("sample", [0, 1])
def test_effort_is_kept_within_its_limits(sample):
    arm = bounded_arm(effort=3.0)
    control = lambda t, q, qd: np.array([40.0, -40.0]) * np.cos(6.0 * t) - 0.0 * q
    free, held = (hinge.simulate(arm, 0.5, control=control, step=1e-3, sample=sample, effort=e) for e in (False, True))
    assert np.abs(free.tau[:, 1]).max() == 40.0
    assert np.abs(held.tau[:, 1]).max() == 3.0
    assert np.abs(held.tau[:, 0]).max() == 40.0  # without a limit
    by_hand = hinge.simulate(arm, 0.5, control=lambda t, q, qd: np.clip(control(t, q, qd), -np.array([1e9, 3.0]), np.array([1e9, 3.0])), step=1e-3, sample=sample)  # fmt: skip  # noqa: E501
    np.testing.assert_allclose(held.q, by_hand.q, rtol=0, atol=1e-12)


def slider(**data):
    builder = hinge.Builder("slider", gravity=(0, 0, 0))
    builder.link("base")
    builder.link("block", 2.0, inertia=np.eye(3))
    builder.joint("x", "prismatic", "base", "block", axis=(1, 0, 0), **data)
    return hinge.Robot(builder.build())


@pytest.mark.parametrize("method", ["rk4", "semi_implicit", "midpoint", "dopri5"])
def test_a_block_slides_to_rest_by_friction(method):
    """v² = 2 (f/m) s; then it stays."""
    robot = slider(friction=3.0)
    run = hinge.simulate(
        robot, 2.0, qd0=[1.5], method=method, step=1e-4, record=100, joint_terms=("armature", "friction")
    )
    assert abs(run.q[-1, 0] - 1.5**2 / (2 * 1.5)) < 2e-3
    assert abs(run.qd[-1, 0]) < 1e-6
    assert np.diff(run.energy()).max() < 1e-12
    free = hinge.simulate(robot, 0.1, qd0=[1.5], method=method, step=1e-2)
    assert free.qd[-1, 0] == pytest.approx(1.5)


def test_friction_holds_what_pushes_less():
    terms = ("armature", "friction")
    run = hinge.simulate(slider(friction=3.0), 1.0, control=[2.9], joint_terms=terms)
    assert (run.q == 0.0).all()
    moved = hinge.simulate(slider(friction=3.0), 1.0, control=[5.0], joint_terms=terms)
    assert moved.q[-1, 0] == pytest.approx(0.5, abs=1e-3)


@pytest.mark.parametrize("method", ["rk4", "midpoint", "dopri5"])
def test_damping_and_stiffness_give_the_oscillation_of_the_books(method):
    robot = slider(damping=0.8, stiffness=50.0)
    run = hinge.simulate(robot, 3.0, [0.2], method=method, step=1e-3, joint_terms=("armature", "damping", "stiffness"))
    w, s = np.sqrt(25.0 - 0.2**2), 0.2
    wanted = 0.2 * np.exp(-s * run.t) * (np.cos(w * run.t) + s / w * np.sin(w * run.t))
    np.testing.assert_allclose(run.q[:, 0], wanted, rtol=0, atol=1e-5 if method == "midpoint" else 1e-8)


# H and C kept


def test_the_error_of_keeping_falls_with_how_long_and_is_reported():
    robot = double_pendulum()
    exact = exactly(two_rods, [*START, 0.0, 0.0], 1.0)
    errors, reported = {}, {}
    for keep in (1, 2, 4, 8):
        run = hinge.simulate(robot, 1.0, START, method="semi_implicit", step=5e-4, keep=keep)
        errors[keep], reported[keep] = np.abs(np.concatenate(run.final) - exact).max(), run.info.get("kept_error")
    assert reported[1] is None
    assert 0.0 < reported[2] < reported[4] < reported[8]
    assert errors[1] < errors[2] < errors[4] < errors[8]
    assert 1.5 < (errors[8] - errors[1]) / (errors[4] - errors[1]) < 3.0  # of first order in how old H and C are
    assert "kept_error" in repr(run)


def test_keeping_one_step_is_the_method_itself():
    """And forces are read every step."""
    robot = double_pendulum()
    tau = np.random.default_rng(0).normal(size=(10, 2))
    kept = hinge.simulate(robot, 0.1, START, control=tau, method="euler", step=1e-2, keep=10)
    H, C = robot.mass_matrix(START), robot.bias_force(START, np.zeros(2))
    assert np.array_equal(kept.tau[:-1], tau)
    wanted = 1e-2 * np.cumsum([np.linalg.solve(H, x - C) for x in tau], axis=0)
    np.testing.assert_allclose(kept.qd[1:], wanted, rtol=0, atol=1e-12)


def test_keeping_goes_with_one_stage_only():
    with pytest.raises(NotCovered, match=r"keep=3 does not go here: 'rk4' needs(?s:.*)use 'euler' or 'semi_implicit'"):
        hinge.simulate(double_pendulum(), 0.1, keep=3)


def test_keeping_on_a_floating_robot():
    robot = flyer()
    q, qd = robot.random_state(np.random.default_rng(0), 4)
    plain = hinge.simulate(robot, 0.1, q, 0.1 * qd, method="semi_implicit", step=1e-4, record="last")
    kept = hinge.simulate(robot, 0.1, q, 0.1 * qd, method="semi_implicit", step=1e-4, keep=5, record="last")
    assert 0.0 < np.abs(plain.q - kept.q).max() < 1e-3
    assert 0.0 < kept.info["kept_error"] < 0.1
