"""MPC against what it has to be: the optimum from where it is, seen from every state on the way."""

import ctypes
import shutil
import subprocess

import numpy as np
import pytest
from optimal_robots import ball_arm, cart_pole, flyer
from optimal_robots import followed as led

import hinge
from hinge.errors import SizeError, UnknownName
from hinge.optimal import Problem, effort, mpc, posture, speed
from hinge.status import NONFINITE, OK

ARM = hinge.samples.planar_2r()
STEP = 0.02
OFF = np.array([0.3, -0.2])


def wave(t):
    """A motion of two joints."""
    return np.stack([np.sin(3.0 * t), 0.5 * np.cos(2.0 * t)], axis=-1)


@pytest.fixture(scope="module")
def tracking():
    """A problem of following a motion that is given."""
    return Problem(ARM, 20, STEP, [posture(ARM, "target", 100.0), effort(1e-5)], given={"target": np.zeros(2)})


def followed(control, robot=ARM, t=1.0, q0=OFF, step=0.005, **more):
    return hinge.simulate(robot, t, q0=q0, control=control, method="semi_implicit", step=step, **more)


REACHING = {
    "arm": (lambda: ARM, [0.5, -1.0], None, 30.0),
    "ball": (ball_arm, [0.9, 0.1, -0.3, 0.2, 0.5], None, 30.0),
    "pole": (cart_pole, [0.2, 0.3], ["slide"], 5.0),
    "mimic": (led, [0.4, -0.5], None, 30.0),
    "floating": (lambda: flyer().with_gravity([0.0, 0.0, 0.0]), [1.0, 0, 0, 0, 0, 0, 0, 0.5], None, 5.0),
}


@pytest.mark.sampled(1)
@pytest.mark.parametrize("name", REACHING)
def test_with_a_true_model_it_follows_the_optimum_from_the_start(name):
    # what comes after T costs nothing: what is best from any state on the way is the rest of what was best at first
    make, goal, driven, weight = REACHING[name]
    robot, N = make(), 25
    goal = np.array(goal, float)
    goal = robot.integrate(goal, np.zeros(robot.nv))
    T = N * STEP

    def ends(t, q, qd):
        at = np.where(abs(t - (T - STEP)) < 0.5 * STEP, weight, 0.0)
        return at * np.concatenate([robot.difference(goal, q), 0.1 * qd])

    problem = Problem(robot, N, STEP, [ends, effort(1e-3)], driven=driven)
    best = hinge.optimal.ddp(problem, robot.neutral(), tolerance=1e-7)
    assert best.status == OK
    control = mpc(problem, rate=1.0 / STEP, iterations=20)
    run = hinge.simulate(robot, T, q0=robot.neutral(), control=control, method="semi_implicit", step=STEP)
    assert run.status == OK
    # slopes are at most 1e-6 of the cost where a plan is done, and forces off by that over the curvature, 1e-3
    np.testing.assert_allclose(run.tau[:-2], best.tau[:-1], atol=1e-3 * (1.0 + best.cost))
    np.testing.assert_allclose(robot.difference(best.q[1:], run.q[1:]), 0.0, atol=1e-4)


def test_more_iterations_come_nearer_to_what_is_best(tracking):
    best = followed(mpc(tracking, 50, iterations=30, given={"target": wave})).q
    off = [np.abs(followed(mpc(tracking, 50, k, given={"target": wave})).q - best).max() for k in (1, 2, 4)]
    assert off[1] < 0.3 * off[0]
    assert off[2] < 0.3 * off[1]


def test_a_push_is_met(tracking):
    control = mpc(tracking, 200, given={"target": wave})
    run = followed(control)
    settled = np.abs(run.q[100:] - wave(run.t[100:])).max()
    pushed = followed(control, q0=run.q[-1] + [0.2, -0.3], qd0=run.qd[-1] + [2.0, 2.0], t0=1.0)
    assert settled < 0.02
    assert np.abs(pushed.q[100:] - wave(pushed.t[100:])).max() < 1.5 * settled
    assert pushed.status == OK
    assert control.stats.t == pytest.approx(2.0)


def test_a_heavier_arm_is_led_as_well(tracking):
    control = mpc(tracking, 200, given={"target": wave})
    heavier = hinge.samples.planar_2r(mass=1.05)
    run = followed(control, heavier)
    assert np.abs(run.q[100:] - wave(run.t[100:])).max() < 0.02


def test_limits_are_kept():
    builder = hinge.Builder("limited")
    builder.link("rail")
    builder.link("cart", 1.0, (0, 0, 0), np.eye(3))
    builder.joint("slide", "prismatic", "rail", "cart", axis=(1, 0, 0), lower=-1.0, upper=0.4, velocity=0.5, effort=3.0)
    robot = hinge.Robot(builder.build())
    costs = [posture(robot, [0.6], 10.0), speed(0.1), effort(1e-4)]
    problem = Problem(robot, 40, STEP, costs, limits=("effort", "position", "velocity"))
    run = followed(mpc(problem, 200, iterations=2), robot, t=3.0, q0=[0.0])
    assert np.abs(run.tau).max() <= 3.0
    assert 0.49 < run.qd.max() < 0.5 + 2e-3
    assert run.q.max() < 0.4 + 0.5 * STEP * 0.5  # at full speed, half of a step of the plan's
    np.testing.assert_allclose(run.q[-1], 0.4, atol=1e-9)


def test_between_plans_forces_answer_to_the_state(tracking):
    control = mpc(tracking, 20, iterations=5, given={"target": wave})
    control(0.0, OFF, np.zeros(2))
    plan = control.plan
    off = np.array([0.01, -0.02, 0.03, 0.1])
    q, qd = plan.q[2] + off[:2], plan.qd[2] + off[2:]
    np.testing.assert_allclose(control(2 * STEP, q, qd), plan.u[2] + plan.gains[2] @ off, rtol=1e-12)
    assert control.stats.t == 0.0
    control(0.05, q, qd)
    assert control.stats.t == 0.05
    assert control.plan.t0 == 0.05
    np.testing.assert_array_equal(control.plan.q[0], q)


@pytest.mark.parametrize("what", ["given", "q", "cost"])
def test_where_numbers_are_none_the_last_plan_is_followed(tracking, what):
    control = mpc(tracking, 50)
    control.given["target"][:] = 0.2
    for k in range(5):
        control(k * STEP, OFF, np.zeros(2))
    plan, q = control.plan, OFF.copy()
    if what == "q":
        q[0] = np.nan
    else:
        control.given["target"][0] = np.nan if what == "given" else 1e200
    tau = control(5 * STEP, q, np.zeros(2))
    assert control.status() == control.stats.status == NONFINITE
    assert control.plan.t0 == plan.t0
    np.testing.assert_array_equal(control.plan.u, plan.u)
    feedback = 0.0 if what == "q" else plan.gains[1] @ np.concatenate([q - plan.q[1], -plan.qd[1]])
    np.testing.assert_allclose(tau, plan.u[1] + feedback, rtol=1e-12)
    control.given["target"][:] = 0.2
    for k in range(6, 10):
        assert np.isfinite(control(k * STEP, OFF, np.zeros(2))).all()
    assert control.status() == OK
    assert control.plan.t0 == 9 * STEP


def test_a_run_says_where_a_plan_was_not_renewed(tracking):
    control = mpc(tracking, 50, given={"target": lambda t: np.where(t[0] > 0.3, np.nan, 1.0) * wave(t)})
    run = followed(control, t=0.5, step=STEP)
    assert run.status == NONFINITE
    assert np.isfinite(run.q).all()


def test_time_is_kept_to(tracking):
    control = mpc(tracking, 100, iterations=10, budget=0.0045, given={"target": wave})
    control(0.0, OFF, np.zeros(2))
    clock = [0.0]

    def tick():
        clock[0] += 0.001
        return clock[0]

    control._clock = tick
    control(0.01, OFF, np.zeros(2))  # a tick to begin with, one each, and none for a fifth
    assert control.stats.cut
    assert control.stats.iterations == 3
    control.budget = 1e-9
    control(0.02, OFF, np.zeros(2))
    assert control.stats.cut
    assert control.stats.iterations == 1
    control.budget = 1.0
    control(0.03, OFF, np.zeros(2))
    assert not control.stats.cut
    assert control.stats.iterations > 1
    assert control.slowest > 0.0


def test_bound_it_is_the_same(tracking):
    called, bound = (mpc(tracking, 50, given={"target": wave}) for _ in range(2))
    t, q, qd, tau = np.zeros(()), OFF.copy(), np.zeros(2), np.empty(2)
    step = bound.bind(t, q, qd, tau)
    for k in range(20):
        t[...] = k * 0.01
        step()
        np.testing.assert_array_equal(tau, called(float(t), q, qd))
        qd += 0.01 * ARM.forward_dynamics(q, qd, tau)
        q += 0.01 * qd


def test_several_are_led_as_each_alone(tracking):
    control, alone = mpc(tracking, 50, given={"target": wave}), mpc(tracking, 50, given={"target": wave})
    q0 = OFF + 0.1 * np.random.default_rng(0).normal(size=(3, 2))
    run, one = followed(control, q0=q0, t=0.3), followed(alone, q0=q0[1], t=0.3)
    np.testing.assert_array_equal(run.q[1], one.q)
    assert control.stats.status.shape == (3,)
    assert control.plan.gains.shape == (3, 20, 2, 4)


def test_a_time_before_the_last_begins_anew(tracking):
    control, new = (mpc(tracking, 50, given={"target": wave}) for _ in range(2))
    followed(control, t=0.2)
    np.testing.assert_array_equal(control(0.1, OFF, np.zeros(2)), new(0.1, OFF, np.zeros(2)))


def test_what_is_given_may_change(tracking):
    control = mpc(tracking, 50, iterations=50, given={"target": np.zeros((21, 2))})
    fixed = mpc(tracking, 50, iterations=50, given={"target": wave})
    for k in range(3):
        control.given["target"][...] = wave(k * STEP + STEP * np.arange(21))
        np.testing.assert_array_equal(control(k * STEP, OFF, np.zeros(2)), fixed(k * STEP, OFF, np.zeros(2)))


def test_a_robot_that_varies_is_taken_as_it_is(tracking):
    varied = ARM.vary("lower.mass")
    other = Problem(varied, 20, STEP, [posture(varied, "target", 100.0), effort(1e-5)], given={"target": np.zeros(2)})
    a, b = (mpc(problem, 50, given={"target": wave}) for problem in (tracking, other))
    for k in range(3):
        np.testing.assert_allclose(a(k * STEP, OFF, OFF), b(k * STEP, OFF, OFF), rtol=1e-9)


@pytest.mark.skipif(not shutil.which("cc"), reason="there is no C compiler")
def test_as_c_it_is_the_same(tmp_path):
    costs = [posture(ARM, "target", 100.0), effort(1e-4)]
    below = [lambda qd: qd - 0.7, lambda u: u - 20.0]
    problem = Problem(ARM, 8, STEP, costs, given={"target": np.zeros(2)}, below=below)
    control = mpc(problem, rate=100, iterations=2, given={"target": wave})
    make = "#include <stdlib.h>\nvoid *make(void) { return calloc(1, sizeof(planar_2r_plan)); }\n"
    (tmp_path / "plan.c").write_text(control.c_code() + make, encoding="utf-8")
    strict = ["-std=c99", "-Wall", "-Wextra", "-Werror", "-ffp-contract=off", "-O0", "-shared", "-fPIC"]
    subprocess.run(["cc", *strict, "-o", "plan.so", "plan.c", "-lm"], cwd=tmp_path, check=True)
    library, array = ctypes.CDLL(str(tmp_path / "plan.so")), np.ctypeslib.ndpointer(float)
    library.make.restype = ctypes.c_void_p
    plan, force = library.planar_2r_mpc_plan, library.planar_2r_mpc_force
    plan.argtypes = [ctypes.c_void_p, ctypes.c_double, array, array, array, ctypes.c_int]
    force.argtypes = [ctypes.c_void_p, ctypes.c_double, array, array, array]
    kept, q, qd, tau = library.make(), OFF.copy(), np.zeros(2), np.empty(2)
    for k in range(40):
        wanted, again = control(0.005 * k, q, qd), k % 2 == 0
        if again:
            status = plan(kept, 0.005 * k, q, qd, control.given["target"], 2 if k else 100)
            assert status == control.stats.status
        force(kept, 0.005 * k, q, qd, tau)
        np.testing.assert_allclose(tau, wanted, rtol=1e-12)
        qd = qd + 0.005 * ARM.forward_dynamics(q, qd, tau)
        q = q + 0.005 * qd
    assert control.stats.violation > 0.0  # the constraints had a part in it


REFUSED = [
    (lambda p: mpc(ARM, 50), SizeError, "mpc takes a problem first; a Robot was given"),
    (lambda p: mpc(p, 0), SizeError, "rate is 0; it has to be above zero"),
    (lambda p: mpc(p, 50, iterations=0), SizeError, "iterations=0 is not known"),
    (lambda p: mpc(p, 50, budget=-1.0), SizeError, "budget=-1.0 is not a time"),
    (lambda p: mpc(p, 50, given={"targt": 0.0}), UnknownName, "given names 'targt'.*target"),
    (
        lambda p: mpc(p, 50, given={"target": np.zeros(3)}),
        SizeError,
        r"given\['target'\] has shape \(3,\); give \(2,\), or",
    ),
    (
        lambda p: mpc(p, 50, given={"target": lambda t: t}),
        SizeError,
        r"shape \(21,\) for the times of all stages; give",
    ),
    (lambda p: mpc(p, 50, given={"target": [np.nan, 0.0]}), SizeError, r"given\['target'\]\[0\] is nan"),
    (lambda p: mpc(p, 50)(np.nan, OFF, OFF), SizeError, "mpc: t is nan"),
    (lambda p: mpc(p, 50)(0.0, [np.inf, 0.0], OFF), SizeError, "q.* is inf"),
    (lambda p: mpc(p, 50)(0.0, np.zeros(3), OFF), SizeError, r"q has shape \(3,\); it has to end in \(2,\)"),
    (lambda p: mpc(p, 50).bind(0.0, OFF, OFF, OFF), SizeError, r"bind needs t as an array of float64 of shape \(\)"),
    (lambda p: mpc(p, 50).c_code("half"), UnknownName, "half"),
    (lambda p: mpc(p, 50).plan, hinge.NotCovered, "there is no plan before the first call"),
]


@pytest.mark.parametrize(("call", "error", "said"), REFUSED)
def test_what_cannot_be_is_refused(tracking, call, error, said):
    with pytest.raises(error, match=said):
        call(tracking)


@pytest.mark.sampled(1)
@pytest.mark.parametrize("method", ["semi_implicit", "implicit"])
def test_a_plan_is_where_its_forces_lead(method):
    robot = hinge.samples.pendulum(2)
    problem = Problem(robot, 20, STEP, [effort(0.01), speed(0.1), posture(robot, np.zeros(2), 5.0)], method=method,
                      effort=30.0)  # fmt: skip
    control = mpc(problem, rate=100, iterations=3)
    q, qd = np.array([0.5, -0.8]), np.zeros(2)
    for k in range(3):
        q, qd = robot.step(q, qd, control(0.01 * k, q, qd), 0.01)
    plan = control.plan
    again = hinge.optimal.rolled(problem, plan.q[0], plan.qd[0], plan.u)
    assert np.abs(again.q - plan.q).max() < 1e-12
