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


@pytest.mark.parametrize("record", [1, 7])
@pytest.mark.parametrize("method", [m for m in FIXED if m != "implicit"])  # which does not let it happen
def test_what_diverges_says_when(method, record):
    robot = double_pendulum()
    q = np.array([[1.0, 0.5], [0.0, 0.0], [0.3, 0.1]])  # the second hangs still
    with np.errstate(all="ignore"):
        run = hinge.simulate(robot, 3.0, q, control=runaway, method=method, step=1e-2, record=record)
    assert run.status[1] == Status.OK
    for k in (0, 2):
        assert run.status[k] == Status.DIVERGED
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
