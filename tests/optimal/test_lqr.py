"""A regulator costs what it says and no more, ends at rest, and names what it cannot reach."""

import builtins

import numpy as np
import pytest
from optimal_robots import ball_arm, cart, cart_pole, displaced, flyer, followed, two_pendula
from scipy.linalg import solve_continuous_are, solve_discrete_are

import hinge
from hinge.optimal import equilibrium, lqr
from hinge.optimal.lqr import unreached

POLE = {"driven": ["slide"]}


def linear(robot, hold, **how):
    A, B = robot.linearize(hold.q, np.zeros(robot.nv), hold.tau, hold.step, **how)
    return A, B[:, hold.driven]


def test_a_double_integrator_has_the_gains_of_the_books():
    hold = lqr(cart(), [0.0], 1.0, 1.0)
    root = np.sqrt(3.0)
    assert np.allclose(hold.K, [[1.0, root]], rtol=1e-12)
    assert np.allclose(hold.S, [[root, 1.0], [1.0, root]], rtol=1e-12)
    assert np.allclose(sorted(hold.poles, key=np.imag), [(-root - 1j) / 2, (-root + 1j) / 2], rtol=1e-12)


def test_a_pendulum_held_up_has_the_gain_of_its_own_equation():
    rod, q, r = hinge.samples.pendulum(1), 3.0, 2.0  # I θ'' = m g l θ + u
    inertia, stiff = 1.0 / 3.0, 9.81 / 2.0
    hold = lqr(rod, [np.pi], [q, 0.0], r)
    k = stiff + np.sqrt(stiff**2 + q / r)
    assert np.allclose(hold.K, [[k, np.sqrt(2.0 * inertia * k)]], rtol=1e-10)


def test_gains_are_scipys_and_the_equation_of_S_holds():
    robot, Q, R = cart_pole(), np.diag([3.0, 2.0, 1.0, 0.5]) + 0.1, [0.7]
    hold = lqr(robot, [0.3, 0.0], Q, R, **POLE)
    A, B = linear(robot, hold)
    S = solve_continuous_are(A, B, Q, np.diag(R))
    assert np.allclose(hold.S, S, rtol=1e-9)
    assert np.allclose(hold.K, B.T @ S / 0.7, rtol=1e-9)
    left = A.T @ hold.S + hold.S @ A - hold.S @ B @ hold.K + Q
    assert np.abs(left).max() < 1e-10 * np.abs(hold.S @ A).max()
    assert np.allclose(np.sort_complex(hold.poles), np.sort_complex(np.linalg.eigvals(A - B @ hold.K)))
    assert hold.poles.real.max() < 0.0
    assert np.array_equal(hold.S, hold.S.T)


@pytest.mark.parametrize("method", ["semi_implicit", "rk4"])
def test_gains_of_steps_are_scipys_and_the_equation_of_S_holds(method):
    robot, Q = cart_pole(), np.diag([3.0, 2.0, 1.0, 0.5])
    hold = lqr(robot, [0.0, 0.0], Q, 0.7, step=0.02, method=method, **POLE)
    A, B = linear(robot, hold, method=method)
    S = solve_discrete_are(A, B, Q, [[0.7]])
    assert np.allclose(hold.S, S, rtol=1e-8)
    after = A.T @ hold.S @ (A - B @ hold.K) + Q
    assert np.abs(after - hold.S).max() < 1e-9 * np.abs(hold.S).max()
    assert np.abs(hold.poles).max() < 1.0


def test_short_steps_have_the_gains_of_no_steps():
    robot = cart_pole()
    gains = lqr(robot, [0.0, 0.0], 1.0, 1.0, **POLE).K
    off = [
        np.abs(lqr(robot, [0.0, 0.0], h, h, step=h, method="rk4", **POLE).K - gains).max() for h in (0.01, 0.005, 1e-5)
    ]
    assert 1.8 < off[0] / off[1] < 2.2
    assert 400.0 < off[1] / off[2] < 600.0


def test_the_cost_of_steps_is_what_S_says_and_of_no_other_gain_less():
    robot, h = cart_pole(), 0.02
    Q, R = np.diag([3.0, 2.0, 1.0, 0.5]), 0.7
    hold = lqr(robot, [0.0, 0.0], Q, R, step=h, method="semi_implicit", **POLE)
    x = 1e-4 * np.array([1.0, -0.5, 0.3, 0.8])

    def cost(control):
        run = hinge.simulate(robot, 30.0, x[:2], x[2:], control=control, step=h, method="semi_implicit")
        at = displaced(robot, hold.q, run.q, run.qd)
        return np.einsum("ti,ij,tj->", at, Q, at) + R * (run.tau[:, 0] ** 2).sum()

    assert np.isclose(cost(hold), x @ hold.S @ x, rtol=1e-6)
    for factor in (0.9, 1.1):
        assert cost(lambda t, q, qd, k=factor: k * hold(t, q, qd)) > x @ hold.S @ x


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("robot", "guess", "driven", "tilt"),
    [
        (cart_pole(), [0.0, 0.0], ["slide"], 0.1),
        (hinge.samples.pendulum(2), [np.pi, 0.0], ["joint2"], 0.02),
        (ball_arm(), [1.0, 0, 0, 0, 0.2], None, 0.5),
        (followed(), [3.1, 1.5], ["joint1"], 0.02),
        (flyer(), [0.9, 0.1, -0.2, 0.3, 0, 0, 1.0, 0.4], ["base", "shoulder"], 0.3),
    ],
    ids=["cart_pole", "acrobot", "ball_arm", "followed", "flyer"],
)
def test_the_cost_to_come_falls_until_the_robot_is_at_rest(robot, guess, driven, tilt):
    rest = equilibrium(robot, robot.integrate(guess, np.zeros(robot.nv)), driven=driven)
    hold = lqr(robot, rest.q, 1.0, 0.1, driven=driven)
    away = tilt * np.where(np.arange(robot.nv) % 2, -1.0, 1.0)
    run = hinge.simulate(robot, 12.0, robot.integrate(rest.q, away), control=hold, step=0.005, record=20)
    x = displaced(robot, hold.q, run.q, run.qd)
    V = np.einsum("ti,ij,tj->t", x, hold.S, x)
    assert (np.diff(V)[V[:-1] > 1e-12 * V[0]] < 0.0).all()
    assert V[-1] < 1e-6 * V[0]
    undriven = np.setdiff1d(np.arange(robot.nv), hold.driven)
    assert not run.tau[:, undriven].any()
    assert np.allclose(hold(0.0, rest.q, np.zeros(robot.nv)), rest.tau, atol=1e-9)


def test_the_cost_of_no_steps_is_what_S_says():
    robot, h = ball_arm(), 4e-3
    q = robot.integrate(robot.neutral(), [0.3, -0.2, 0.1, 0.5])
    hold = lqr(robot, q, 1.0, 10.0)
    away = 1e-6 * np.array([1.0, -0.5, 0.7, 0.3])
    run = hinge.simulate(robot, 20.0, robot.integrate(q, away), control=hold, step=h)
    x, u = displaced(robot, q, run.q, run.qd), run.tau - hold.tau
    rate = (x**2).sum(axis=1) + 10.0 * (u**2).sum(axis=1)
    simpson = h / 3.0 * (rate[0] + rate[-1] + 4.0 * rate[1:-1:2].sum() + 2.0 * rate[2:-1:2].sum())
    start = np.concatenate([away, np.zeros(4)])
    assert np.isclose(simpson, start @ hold.S @ start, rtol=1e-6)
    again = run.q[0].copy()
    again[:4] *= -1.0  # the same place
    assert np.allclose(hold(0.0, again, run.qd[0]), run.tau[0], rtol=1e-9)


def test_a_regulator_is_an_array_function_a_kernel_and_c():
    robot = cart_pole()
    hold = lqr(robot, [0.0, 0.0], 1.0, 1.0, **POLE)
    q, qd = robot.random_state(0, 6)
    tau = hold(0.0, q, qd)
    assert tau.shape == (6, 2)
    assert np.allclose(tau[:, 0], -np.concatenate([q, qd], axis=1) @ hold.K[0])
    assert not tau[:, 1].any()
    assert np.allclose(hinge.control.compiled(robot, hold)(np.zeros(6), q, qd), tau, rtol=1e-12)
    assert "void cart_pole_control(" in hinge.control.c_code(robot, hold)
    assert repr(hold).startswith("<Regulator of 'cart_pole': 1 of 2 velocities driven, slowest pole -")


def test_loops_are_held_by_the_one_motor_they_have():
    bars = hinge.samples.four_bar()
    rest = equilibrium(bars, [1.0, -0.5, -0.5], driven=["crank"], held=["crank"])
    hold = lqr(bars, rest.q, 1.0, 1.0, driven=["crank"])
    assert hold.poles.shape == (2,)
    assert hold.poles.real.max() < 0.0
    assert hold.K.shape == (1, 6)
    away = bars.assemble(rest.q + [0.1, 0.0, 0.0], hold=["crank"]).q
    run = hinge.simulate(bars, 6.0, away, control=hold, step=5e-3, loops="project", record=100)
    assert np.abs(run.q[-1] - rest.q).max() < 1e-5


def test_parameters_and_joint_terms_are_those_of_the_motion():
    robot = hinge.samples.pendulum(1).vary("rod1.mass")
    heavy = lqr(robot, [np.pi], 1.0, 1.0, parameters={"rod1.mass": 2.0})
    assert np.allclose(heavy.K, lqr(robot.with_payload("rod1", 1.0, [0, 0, -0.5]), [np.pi], 1.0, 1.0).K, rtol=1e-9)
    damped, inertia, stiff = two_pendula(damping=5.0), 0.35, 9.81 * 0.5
    hold = lqr(damped, [0.0, 0.0], 1.0, 1.0, joint_terms=("armature", "damping"))
    k = np.sqrt(stiff**2 + 1.0) - stiff
    assert np.allclose(hold.K[0, [0, 2]], [k, np.sqrt(25.0 + 1.0 + 2.0 * inertia * k) - 5.0], rtol=1e-8)


# what cannot be


def refused(kind, *args, **options):
    with pytest.raises(kind) as caught:
        lqr(*args, **options)
    return str(caught.value)


def test_a_mode_that_no_force_reaches_is_named():
    robot = two_pendula()
    w = np.sqrt(9.81 * 0.5 / 0.35)
    assert refused(hinge.NotCovered, robot, [0.0, 0.0], 1.0, 1.0, driven=["joint_left"]) == (
        "lqr: robot 'two' cannot be brought to rest: forces of the driven joints do not reach\n"
        f"  - eigenvalue 0 ± {w:.3g}i 1/s: joint_right\n"
        "  Name joints that reach them in driven=, lock them, or let joint_terms= have damping that ends them."
    )
    told = refused(hinge.NotCovered, robot, [0.0, np.pi], 1.0, 1.0, driven=["joint_left"])
    assert f"  - eigenvalue {w:.3g} 1/s: joint_right\n" in told
    assert "joint_left" not in told
    loose = refused(hinge.NotCovered, robot.with_gravity([0, 0, 0]), [0.0, 0.0], 1.0, 1.0, driven=["joint_right"])
    assert "  - eigenvalue 0 1/s: joint_left\n" in loose
    steps = refused(hinge.NotCovered, robot, [0.0, np.pi], 1.0, 1.0, driven=["joint_left"], step=0.01)
    assert f"  - eigenvalue {np.exp(0.01 * w):.3g} a step: joint_right\n" in steps


def test_modes_are_those_that_popov_belevitch_and_hautus_find():
    rng = np.random.default_rng(0)
    for _ in range(100):
        n = int(rng.integers(2, 9))
        reached = int(rng.integers(0, n + 1))
        turn, _ = np.linalg.qr(rng.normal(size=(n, n)))
        A, B = rng.normal(size=(n, n)), rng.normal(size=(n, int(rng.integers(1, 3))))
        A[reached:, :reached] = B[reached:] = 0.0
        A, B = turn @ A @ turn.T, turn @ B
        hidden = [
            value
            for value in np.linalg.eigvals(A)
            if np.linalg.svd(np.concatenate([A - value * np.eye(n), B], axis=1), compute_uv=False)[-1] < 1e-9
        ]
        basis = unreached(A, B)
        assert np.allclose(
            np.sort_complex(np.linalg.eigvals(basis.T @ A @ basis)), np.sort_complex(np.array(hidden)), atol=1e-8
        )


def test_a_mode_that_dies_out_by_itself_is_allowed_and_told():
    robot = two_pendula(damping=0.4)
    hold = lqr(robot, [0.0, 0.0], 1.0, 1.0, driven=["joint_left"], joint_terms=("armature", "damping"))
    inertia, stiff = 0.35, 9.81 * 0.5
    wanted = np.roots([inertia, 0.4, stiff])
    assert np.allclose(np.sort_complex([mode.eigenvalue for mode in hold.uncontrollable]), np.sort_complex(wanted))
    assert {mode.joints for mode in hold.uncontrollable} == {("joint_right",)}
    assert np.abs(hold.K[:, [1, 3]]).max() < 1e-9
    assert lqr(cart_pole(), [0.0, 0.0], 1.0, 1.0, **POLE).uncontrollable == ()


def test_what_a_floating_robot_cannot_do_alone_is_told():
    robot = flyer().with_gravity([0.0, 0.0, 0.0])
    told = refused(hinge.NotCovered, robot, robot.neutral(), 1.0, 1.0)
    assert "eigenvalue 0 1/s: base[" in told


def test_a_pole_hinged_where_its_cart_does_not_move_it():
    robot = cart_pole().with_gravity([0.0, 0.0, 0.0])  # the pole still feels the cart, along a line
    told = refused(hinge.NotCovered, robot, [0.0, 0.0], 1.0, 1.0, **POLE)
    assert "eigenvalue 0 1/s" in told
    assert "pivot" in told


def test_what_is_no_equilibrium_is_refused_with_what_would_hold_it():
    robot = cart_pole()
    told = refused(hinge.NotCovered, robot, [0.0, 0.1], 1.0, 1.0, **POLE)
    assert told.startswith("lqr: robot 'cart_pole' is not at rest at q: joint 'pivot' accelerates by ")
    assert told.endswith("hinge.optimal.equilibrium finds a place near q where they do.")
    arm = hinge.samples.planar_2r()
    told = refused(hinge.NotCovered, arm, [0.0, 0.0], 1.0, 1.0, tau=[0.0, 0.0])
    assert told.endswith("\n  tau = [19.62 ,  4.905] would hold it.")
    held = lqr(arm, [0.0, 0.0], 1.0, 1.0, tau=[19.62, 4.905])
    assert np.allclose(held.tau, [19.62, 4.905])


def test_what_lasts_and_costs_nothing_is_named():
    told = refused(hinge.NotCovered, cart_pole(), [0.0, 0.0], [0.0, 1.0, 1.0, 1.0], 1.0, **POLE)
    assert told == (
        "lqr: Q of robot 'cart_pole' does not see what lasts, so that it costs nothing\n"
        "  - eigenvalue 0 1/s: slide\n  Give these coordinates a weight."
    )
    free = lqr(hinge.samples.pendulum(1), [np.pi], 0.0, 1.0)  # what falls is brought back with the least force
    assert np.allclose(sorted(free.poles.real), [-np.sqrt(14.715)] * 2, rtol=1e-5)


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"Q": np.ones(3)}, "lqr: Q has shape (3,); it has to be a number, (4,) or (4, 4)."),
        ({"Q": -1.0}, "lqr: Q is not positive semidefinite: its least eigenvalue is -1."),
        ({"Q": np.triu(np.ones((4, 4)))}, "lqr: Q is not symmetric: [0, 1] is 1, [1, 0] is 0."),
        ({"Q": [1.0, np.nan, 1.0, 1.0]}, "lqr: Q[1] is nan. Give finite numbers."),
        ({"R": 0.0}, "lqr: R is not positive definite: its least eigenvalue is 0. Every force has to cost."),
        ({"R": np.ones(2)}, "lqr: R has shape (2,); it has to be a number, (1,) or (1, 1)."),
        ({"tau": [0.0, 1.0]}, "lqr: tau[1] is 1, of joint 'pivot', which is not driven. Give zero there."),
        ({"step": 0.0}, "lqr: step=0.0 is not a time. Give a positive number of seconds."),
        ({"q": [0.0]}, "lqr: q has shape (1,); it has to end in (2,)."),
    ],
)
def test_bad_input(options, told):
    whole = {"q": [0.0, 0.0], "Q": 1.0, "R": 1.0, "driven": ["slide"]} | options
    assert refused(hinge.SizeError, cart_pole(), **whole) == told


def test_without_scipy_it_says_what_to_install(monkeypatch):
    known = builtins.__import__

    def without(name, *args, **options):
        if name.startswith("scipy"):
            raise ImportError(name)
        return known(name, *args, **options)

    monkeypatch.setattr(builtins, "__import__", without)
    assert refused(hinge.NotCovered, cart(), [0.0], 1.0, 1.0).endswith('pip install "hinge[solve]"')


@pytest.mark.sampled(1)
@pytest.mark.parametrize("step", [None, 0.01])
def test_a_robot_with_a_driven_joint_is_held_where_that_joint_stands(step):
    robot, p = hinge.samples.puma560().prescribe("joint1"), ([0.3], [0.0], [0.0])
    q = np.array([0.1, 0.2, 0.3, 0.4, 0.5])
    hold = lqr(robot, q, 1.0, 1e-2, step=step, prescribed=p)
    A, B = linear(robot, hold, prescribed=p)
    poles = np.linalg.eigvals(A - B @ hold.K)
    assert (poles.real < 0.0).all() if step is None else (np.abs(poles) < 1.0).all()
    assert np.allclose(hold(0.0, q, np.zeros(5)), robot.gravity_force(q, prescribed=p))
    run = hinge.simulate(robot, 1.0, q0=q + 0.01, control=hold, prescribed=p, step=0.01)
    assert np.abs(run.q[-1] - q).max() < 0.005
