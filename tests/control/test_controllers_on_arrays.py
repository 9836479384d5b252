"""Controllers on arrays of states, and what cannot be a controller."""

import ctypes
import shutil
import subprocess

import numpy as np
import pytest
from control_robots import AWAY

import hinge
from hinge import SizeError, TraceError, UnknownName

ARM = hinge.samples.puma560()
START = ARM.pose(AWAY, "tool")
END = ARM.pose(AWAY + 0.2, "tool")
C = hinge.control
CONTROLLERS = {
    "pd": lambda: C.pd(ARM, hinge.motion.quintic(ARM, AWAY, np.zeros(6), 1.0)),
    "computed torque": lambda: C.computed_torque(ARM, np.zeros(6)),
    "resolved": lambda: C.resolved_acceleration(ARM, hinge.motion.line(START, END, 1.0), "tool"),
    "operational": lambda: C.operational_space(ARM, START, "tool", task="position", null=C.posture(ARM, AWAY)),
    "impedance": lambda: C.impedance(ARM, START, "tool", 500.0, 40.0, C.posture(ARM, AWAY)),
    "timed": lambda: C.computed_torque(
        ARM, hinge.time_optimal(ARM, hinge.motion.quintic(ARM, AWAY, np.zeros(6), 1.0), effort=np.inf, velocity=2.0)
    ),
    "excited": lambda: C.pd(ARM, hinge.identify.excite(ARM, duration=1.0, harmonics=2, speed=2.0, tries=1)),
    "saturated": lambda: C.saturate(ARM, C.pd(ARM, AWAY), 5.0),
}  # fmt: skip

pytestmark = pytest.mark.usefixtures("plain_interpreter")


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", CONTROLLERS)
def test_one_state_equals_its_row_in_a_batch(name):
    control, rng = CONTROLLERS[name](), np.random.default_rng(0)
    q, qd = (x.reshape(2, 3, 6) for x in ARM.random_state(rng, 6))
    t = rng.uniform(0.0, 1.2, (2, 3))
    at_once, in_time = control(0.4, q, qd), control(t, q, qd)
    assert at_once.shape == in_time.shape == (2, 3, 6)
    for k in np.ndindex(2, 3):
        np.testing.assert_allclose(control(0.4, q[k], qd[k]), at_once[k], rtol=0, atol=1e-9 * np.abs(at_once).max())
        np.testing.assert_allclose(control(t[k], q[k], qd[k]), in_time[k], rtol=0, atol=1e-9 * np.abs(in_time).max())


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", CONTROLLERS)
def test_compiled_it_is_the_same(name):
    control = CONTROLLERS[name]()
    kernel = hinge.control.compiled(ARM, control)
    q, qd = ARM.random_state(np.random.default_rng(1), 5)
    t = np.linspace(0.0, 1.5, 5)
    wanted = control(t, q, qd)
    np.testing.assert_allclose(kernel(t, q, qd), wanted, rtol=0, atol=1e-9 * np.abs(wanted).max())
    assert kernel(0.2, q[0], qd[0]).shape == (6,)


@pytest.mark.sampled(1)
@pytest.mark.skipif(not shutil.which("cc"), reason="there is no C compiler")
@pytest.mark.parametrize("name", ["operational", "timed", "excited"])
def test_as_c_it_is_the_same(name, tmp_path):
    control = CONTROLLERS[name]()
    (tmp_path / "control.c").write_text(hinge.control.c_code(ARM, control), encoding="utf-8")
    subprocess.run(["cc", "-O1", "-shared", "-fPIC", "-o", "control.so", "control.c", "-lm"], cwd=tmp_path, check=True)
    function = ctypes.CDLL(str(tmp_path / "control.so")).puma560_control
    q, qd = (x[0] for x in ARM.random_state(np.random.default_rng(2), 1))
    tau = np.empty(6)
    function(*(x.ctypes.data_as(ctypes.c_void_p) for x in (np.array([0.3]), q, qd, tau)))
    np.testing.assert_allclose(tau, control(0.3, q, qd), rtol=0, atol=1e-9 * np.abs(tau).max())


def test_what_cannot_be_traced_cannot_be_compiled():
    def branching(t, q, qd):
        return -q if q[0] > 0.0 else q

    with pytest.raises(TraceError, match=r"controller 'branching' cannot be traced: .*\n  Arithmetic"):
        hinge.control.compiled(ARM, branching)


def test_a_turn_between_axes_is_found_at_any_size():
    from hinge.control.task_space import turn_between

    rng = np.random.default_rng(0)
    axis = rng.normal(size=3)
    axis /= np.linalg.norm(axis)
    for angle in (0.0, 1e-12, 1e-9, 1e-7, 1e-5, 0.1, 1.5, 2.0, 3.1, np.pi - 1e-7, np.pi - 1e-12):
        K = np.cross(np.eye(3), axis)
        turned = np.eye(3) + np.sin(angle) * K + (1.0 - np.cos(angle)) * K @ K
        R = START[:3, :3]
        np.testing.assert_allclose(turn_between(R, turned @ R), angle * axis, rtol=0, atol=1e-14 + 1e-9 * angle)


def test_half_a_turn_away_is_not_arrived():
    from hinge.control.task_space import turn_between

    for k in range(3):
        half = np.diag(np.where(np.arange(3) == k, 1.0, -1.0))
        np.testing.assert_allclose(np.abs(turn_between(np.eye(3), half)), np.pi * np.eye(3)[k], rtol=0, atol=1e-12)


@pytest.mark.parametrize(
    ("make", "kind", "said"),
    [
        (lambda: C.pd(ARM, np.zeros(5)), SizeError, r"target has shape \(5,\); it has to end in \(6,\)"),
        (lambda: C.pd(ARM, np.full(6, np.nan)), SizeError, r"target\[0\] is nan. Give finite numbers"),
        (lambda: C.pd(ARM, AWAY, kp=[1.0, 2.0]), SizeError, r"kp has shape \(2,\); it has to be a number or \(6,\)"),
        (lambda: C.pd(ARM, AWAY, kp=-1.0), SizeError, "kp has to be finite and not negative"),
        (lambda: C.pd(ARM, AWAY, kd="much"), SizeError, "kd is not an array of real numbers"),
        (lambda: C.computed_torque(ARM, lambda t: np.zeros(6)), SizeError, r"target gives shapes .* wants q \(6,\)"),
        (lambda: C.computed_torque(ARM, lambda: None), SizeError, "target cannot be called with a time"),
        (lambda: C.computed_torque(ARM, hinge.motion.line(START, END, 1.0)), SizeError, "robot 'puma560' wants q"),
        (lambda: C.resolved_acceleration(ARM, AWAY, "tool"), SizeError, r"target has shape \(6,\); .* \(4, 4\)"),
        (lambda: C.resolved_acceleration(ARM, START, "tol"), UnknownName, "Did you mean 'tool'"),
        (lambda: C.operational_space(ARM, START, "tool", task="place"), UnknownName, "task='place' is not known"),
        (lambda: C.operational_space(ARM, START, "tool", null=AWAY), SizeError, "null is a ndarray; .* a function"),
        (lambda: C.operational_space(ARM, START, "tool", damping=-1.0), SizeError, "damping has to be finite and not"),
        (lambda: C.reach(ARM, START, "tool", metric="mass"), UnknownName, "metric='mass' is not known"),
        (lambda: C.impedance(ARM, 2.0 * START, "tool", 1.0, 1.0), SizeError, "target is no pose"),
        (lambda: C.impedance(ARM, START, "tool", [1.0] * 3, 1.0), SizeError, r"stiffness has shape \(3,\)"),
        (lambda: C.c_code(ARM, C.pd(ARM, AWAY), "half"), UnknownName, "scalar='half' is not known"),
        (lambda: C.saturate(ARM, 3.0), SizeError, "control is a float; it has to be a function"),
        (lambda: C.saturate(ARM, C.pd(ARM, AWAY), [1.0]), SizeError, r"effort has shape \(1,\)"),
        (lambda: C.pd(ARM, AWAY)(0.0, AWAY[:3], np.zeros(6)), SizeError, "q0 has 3 entries, robot .* nq = 6"),
        (lambda: ARM.resolved_rate(AWAY, np.ones(3), "tool"), SizeError, r"twist has 3 entries, .* has shape \(6,\)"),
        (lambda: ARM.resolved_rate(AWAY, np.ones(6), "tool", task="x"), UnknownName, "task='x' is not known"),
        (lambda: ARM.resolved_rate(AWAY, np.ones(6), "tool", posture=[1.0]), SizeError, "posture has 1 entries"),
    ],
)  # fmt: skip
def test_what_cannot_control_is_refused(make, kind, said):
    with pytest.raises(kind, match=said):
        make()
