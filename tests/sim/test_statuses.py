"""How a rollout failed and when, and that Ctrl-C is heard at once."""

import os
import signal
import subprocess
import sys

import numpy as np
import pytest
from sim_robots import double_pendulum, massless_rods

import hinge
from hinge import Status

FIXED = ("rk4", "euler", "semi_implicit", "implicit", "lie_rk4", "midpoint")


def runaway(t, q, qd):
    """Pushes away, the farther and faster the more, from half a second on."""
    return np.where(t < 0.5, 0.0, 4.0) * (qd + 100.0 * q)


@pytest.mark.sampled(5)
@pytest.mark.parametrize("record", [1, 7])
@pytest.mark.parametrize("method", [m for m in FIXED if m != "implicit"])  # which does not let it happen
def test_what_diverges_says_when(method, record):
    robot = double_pendulum()
    q = np.array([[1.0, 0.5], [0.0, 0.0], [0.3, 0.1]])  # the second hangs still
    with np.errstate(all="ignore"):
        run = hinge.simulate(robot, 3.0, q, control=runaway, method=method, step=1e-2, record=record)
    assert run.status[1] == Status.OK
    for k in (0, 2):
        assert run.status[k] in (Status.DIVERGED, Status.UNSTABLE)  # at last it is too fast for the step
        lost = run.lost[k]
        assert 0.5 < lost < 3.0
        gone = np.isnan(run.q[k]).any(axis=-1)
        assert np.array_equal(gone, run.t >= lost - 1e-9)
        assert np.array_equal(gone, np.isnan(run.qd[k]).all(axis=-1))
    assert np.isnan(run.lost[1])
    assert np.isfinite(run.q[1]).all()
    assert np.abs(run.q[1]).max() < 1e-6


def test_when_it_was_lost_is_the_same_whatever_is_recorded():
    given = {"q0": [1.0, 0.5], "control": runaway, "step": 1e-2}
    every = hinge.simulate(double_pendulum(), 3.0, **given)
    for record in (5, "last"):
        assert hinge.simulate(double_pendulum(), 3.0, **given, record=record).lost == every.lost
    assert hinge.simulate(double_pendulum(), 3.0, **given, t0=0.0).lost == every.lost


def test_a_force_that_is_no_number_is_that_and_no_divergence():
    robot = double_pendulum()

    def broken(t, q, qd):
        return np.sqrt(0.25 - t) + 0.0 * q

    with np.errstate(all="ignore"):
        run = hinge.simulate(robot, 1.0, [[0.1, 0.0], [0.2, 0.0]], control=broken, step=1e-2)
    assert run.status.tolist() == [Status.NONFINITE] * 2
    assert run.lost == pytest.approx(0.26, abs=1.1e-2)


def test_singular_stays_singular():
    robot = massless_rods()
    q = [[0.3, 1.0], [0.3, 0.0], [0.1, 1.2]]
    for method in FIXED:
        run = hinge.simulate(robot, 0.05, q, step=1e-2, method=method)
        assert run.status.tolist() == [Status.OK, Status.SINGULAR, Status.OK]
        assert run.lost[1] == pytest.approx(1e-2)
        assert np.isnan(run.q[1, 1:]).all()
        made = hinge.rollout(robot, q, np.zeros(2), 5, 1e-2, method=method)
        assert made.status.tolist() == [Status.OK, Status.SINGULAR, Status.OK]


PROGRAM = """
import os, signal, sys, threading, time, warnings
import numpy as np
import hinge

arm = hinge.samples.puma560()
q, qd = arm.random_state(np.random.default_rng(0), 4096)
options = eval(sys.argv[1])
hinge.simulate(arm, 0.004, q, 0.1 * qd, **options)  # compiled before the clock runs
sent = []

def interrupt():
    time.sleep(1.0)
    sent.append(time.monotonic())
    os.kill(os.getpid(), signal.SIGINT)

threading.Thread(target=interrupt, daemon=True).start()
warnings.simplefilter("ignore")
run = hinge.simulate(arm, 10_000.0, q, 0.1 * qd, **options)
print(time.monotonic() - sent[0], "interrupted" in run.info["stopped"], run.t[-1] > 0.0, run.q.shape[0])
"""


@pytest.mark.sampled(1)
@pytest.mark.parametrize("options", ['{"record": "last"}', '{"record": "last", "method": "semi_implicit"}',
                                     '{"record": "last", "joint_terms": ("friction",)}'])  # fmt: skip
def test_ctrl_c_is_heard_within_a_fifth_of_a_second(options):
    """4,096 arms; the part of a run between two looks is timed to be a twentieth."""
    made = subprocess.run([sys.executable, "-c", PROGRAM, options], capture_output=True, text=True, timeout=120,
                          env=os.environ | {"HINGE_THREADS": "1"},
                          preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler))  # fmt: skip
    assert made.returncode == 0, made.stderr
    late, stopped, moved, rollouts = made.stdout.split()
    assert (stopped, moved, rollouts) == ("True", "True", "4096")
    assert float(late) < 0.2


# ---- starts that are none


@pytest.mark.sampled(1)
@pytest.mark.parametrize("how", [{}, {"ground": 0.0}, {"ground": 0.0, "law": "soft", "method": "semi_implicit"}])
def test_a_zero_quaternion_is_a_failure_of_its_own_row(how):
    box = hinge.Scene().body("b", "box", (0.2, 0.2, 0.2), 1.0).robot
    q = np.tile([1.0, 0, 0, 0, 0, 0, 0.5], (3, 1))
    q[1, :4] = 0.0
    rolled = hinge.rollout(box, q, np.zeros((3, 6)), 5, 1e-3, **how)
    run = hinge.simulate(box, 5e-3, q, step=1e-3, **how)
    for made in (rolled, run):
        assert made.status.tolist() == [Status.OK, Status.NONFINITE, Status.OK]
        assert np.isnan(made.q[1, 1:]).all()
        assert np.isfinite(made.q[[0, 2]]).all()


@pytest.mark.parametrize("how", [{}, {"ground": 0.0}])
def test_no_rollouts_are_no_rows(how):
    box = hinge.Scene().body("b", "box", (0.2, 0.2, 0.2), 1.0).robot
    assert hinge.rollout(box, np.zeros((0, 7)), np.zeros((0, 6)), 3, 1e-3, **how).q.shape == (0, 4, 7)
    assert hinge.simulate(box, 3e-3, np.zeros((0, 7)), step=1e-3, **how).q.shape == (0, 4, 7)


@pytest.mark.parametrize("method", ["rk4", "dopri5"])
def test_a_time_that_a_step_does_not_change_is_refused(method):
    robot = double_pendulum()
    with pytest.raises(hinge.SizeError, match=r"^t0=1e\+17 is so large that a step of 0\.001 s does not change it"):
        hinge.simulate(robot, 0.01, t0=1e17, method=method, step=1e-3)
    run = hinge.simulate(robot, 0.01, t0=1e9, method=method, step=1e-3)
    assert (np.diff(run.t) > 0.0).all()


@pytest.mark.parametrize("rows", [(), (3,)])
def test_an_interrupted_adaptive_run_that_records_its_end_has_a_row(rows):
    """All rollouts are taken to the time of the one that has come farthest, and are there as without the interrupt."""
    robot, calls = double_pendulum(), []
    q = np.broadcast_to([0.5, 0.2], (*rows, 2)) * (1.0 + np.arange(6.0).reshape(3, 2)[: rows[0]] if rows else 1.0)

    def pressed(t, q, qd):
        calls.append(t)
        if len(calls) == 60:
            raise KeyboardInterrupt
        return 1.0

    with pytest.warns(UserWarning, match="stopped early: interrupted"):
        run = hinge.simulate(robot, 50.0, q, method="dopri5", record="last", events=[pressed])
    assert run.t.shape == (1,)
    assert 0.0 < run.t[0] < 50.0
    assert run.q.shape == (*rows, 1, 2)
    whole = hinge.simulate(robot, float(run.t[0]), q, method="dopri5", record="last")
    np.testing.assert_allclose(run.q, whole.q, rtol=0, atol=1e-5)
