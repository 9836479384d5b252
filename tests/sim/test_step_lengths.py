"""No step is longer than `step`: where a duration is no multiple of it, the last step is shorter."""

import numpy as np
import pytest

import hinge

ARM, STEP = hinge.samples.planar_2r(), 0.01
Q, QD = np.array([0.3, -0.4]), np.array([1.0, 0.5])
METHODS = ("euler", "semi_implicit", "rk4", "lie_rk4", "implicit", "midpoint")


def swung(t, q, qd):
    return np.array([np.sin(30.0 * t), -0.3 * qd[1]])


def two_runs(duration, **how):
    """Return the end of one run, and that of a run to the last whole step that goes on with one step to the end."""
    whole = int(duration / STEP + 1e-9)
    one = hinge.simulate(ARM, duration, Q, QD, step=STEP, **how)
    first = hinge.simulate(ARM, whole * STEP, Q, QD, step=STEP, **how)
    left = duration - whole * STEP
    second = hinge.simulate(ARM, left, *first.final, step=left, t0=float(first.t[-1]), **how)
    return one, first, second


@pytest.mark.parametrize("duration", [0.0149, 0.0151, 0.003, 0.0999999, 0.234])
@pytest.mark.parametrize("record", [1, 2, 3, "last"])
def test_times_are_multiples_of_the_step_and_the_end(duration, record):
    run = hinge.simulate(ARM, duration, Q, QD, step=STEP, record=record)
    every = 1 if record == "last" else record
    whole = np.arange(0, int(duration / STEP + 1e-9) + 1, every) * STEP
    wanted = [duration] if record == "last" else [*whole[whole < duration - 1e-9], duration]
    np.testing.assert_allclose(run.t, wanted, rtol=0, atol=1e-15)
    assert run.info["step"] == STEP
    assert run.status == 0


def test_a_multiple_of_the_step_has_no_shorter_one():
    for n in (1, 7, 300):
        run = hinge.simulate(ARM, n * 1e-3, Q, QD, step=1e-3)
        assert len(run.t) == n + 1
        np.testing.assert_allclose(np.diff(run.t), 1e-3, rtol=0, atol=1e-15)


@pytest.mark.parametrize("method", METHODS)
def test_the_last_step_is_a_step_of_its_own_length(method):
    one, first, second = two_runs(0.0734, method=method, control=swung)
    n = len(first.t)
    np.testing.assert_array_equal(one.q[:n], first.q)
    np.testing.assert_allclose(one.q[-1], second.q[-1], rtol=1e-15, atol=1e-15)
    np.testing.assert_allclose(one.qd[-1], second.qd[-1], rtol=1e-14, atol=1e-14)
    np.testing.assert_allclose(one.tau[-1], swung(0.0734, one.q[-1], one.qd[-1]), rtol=1e-13, atol=1e-15)


@pytest.mark.parametrize("how", [{"sample": 1}, {"sample": 3}, {"effort": True}, {"method": "euler", "keep": 2}])
def test_options_of_a_run_know_the_shorter_step(how):
    run = hinge.simulate(ARM, 0.0734, Q, QD, step=STEP, control=swung, **how)
    fine = hinge.simulate(ARM, 0.0734, Q, QD, control=swung, method="dopri5", record="last")
    assert run.t[-1] == 0.0734
    apart = 2e-2 if how.get("method") == "euler" or "sample" in how else 1e-6
    np.testing.assert_allclose(run.q[-1], fine.q[-1], rtol=0, atol=apart)


def test_forces_by_step_have_a_row_for_the_shorter_one():
    taus = np.random.default_rng(0).normal(size=(8, 2))
    one = hinge.simulate(ARM, 0.0734, Q, QD, step=STEP, control=taus)
    first = hinge.simulate(ARM, 0.07, Q, QD, step=STEP, control=taus[:7])
    second = hinge.simulate(ARM, 0.0034, *first.final, step=STEP, control=taus[7])
    np.testing.assert_allclose(one.q[-1], second.q[-1], rtol=1e-14, atol=1e-15)


@pytest.mark.parametrize("at", [0.042, 0.0712])
def test_an_event_is_found_in_the_shorter_step_too(at):
    def clock(t, q, qd):
        return t - at

    run = hinge.simulate(ARM, 0.0734, Q, QD, step=STEP, control=swung, events=[clock])
    plain = hinge.simulate(ARM, 0.0734, Q, QD, step=STEP, control=swung)
    (event,) = run.events
    assert event.t == pytest.approx(at, abs=1e-12)
    np.testing.assert_array_equal(run.t, plain.t)
    np.testing.assert_array_equal(run.q, plain.q)
    np.testing.assert_array_equal(run.tau, plain.tau)


def test_a_file_goes_on_from_the_end_of_a_shorter_step(tmp_path):
    file = tmp_path / "run.zarr"
    hinge.simulate(ARM, 0.0734, Q, QD, step=STEP, control=swung, file=file)
    hinge.simulate(ARM, 0.0234, step=STEP, control=swung, file=file, append=True, t0=0.0734)
    both = hinge.open(file)
    assert np.diff(both.t).max() < STEP + 1e-12
    assert both.t[-1] == pytest.approx(0.0968, abs=1e-12)
    once = hinge.simulate(ARM, 0.0968, Q, QD, control=swung, method="dopri5", record="last")
    np.testing.assert_allclose(both.q[-1], once.q[-1], rtol=0, atol=1e-7)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("how", [{}, {"record": 2}, {"control": np.zeros((24, 6))}, {"sample": 1}])
def test_contacts_are_those_of_the_shorter_step(how):
    """A ball at rest presses with its weight in every step, the last one included."""
    ball = hinge.Scene().body("ball", "sphere", 0.1, mass=2.0).robot
    start = [1, 0, 0, 0, 0, 0, 0.1]
    if "sample" in how:
        how = how | {"control": lambda t, q, qd: np.zeros(6) * float(t)}
    run = hinge.simulate(ball, 0.2345, start, step=STEP, ground=0.0, **how)
    weight = run.contacts.forces[:, 0, 2]
    assert len(weight) == len(run.t)
    np.testing.assert_allclose(weight[2:], 19.62, rtol=1e-6)


def test_knots_of_a_controller_lie_in_the_shorter_step():
    class Switched:
        knots = (0.033, 0.0722)

        def __call__(self, t, q, qd):
            return np.array([1.0, -1.0]) * np.where(t < 0.033, 1.0, np.where(t < 0.0722, -1.0, 2.0))

    run = hinge.simulate(ARM, 0.0734, Q, QD, step=STEP, control=Switched())
    q, qd, now = Q, QD, 0.0
    for end, force in ((0.033, 1.0), (0.0722, -1.0), (0.0734, 2.0)):
        part = hinge.simulate(ARM, end - now, q, qd, control=[force, -force], method="dopri5", record="last")
        (q, qd), now = part.final, end
    np.testing.assert_allclose(run.q[-1], q, rtol=0, atol=1e-8)


def test_a_sweep_takes_equal_steps_that_are_not_longer(tmp_path):
    made = hinge.sweep(ARM, t=0.0149, step=STEP, rollouts=1, method="rk4", store=tmp_path / "a.zarr")
    q, _, _ = hinge.rollout(ARM, np.zeros(2), np.zeros(2), 2, 0.00745, method="rk4")
    np.testing.assert_allclose(made.open().q_end[0], q[-1], rtol=1e-13, atol=1e-15)
