"""A method that is unstable is never OK: every rollout is watched while it runs. Nothing else is called unstable."""

import warnings

import numpy as np
import pytest
from loop_states import bennett, swinging

import hinge
from hinge import Status

STIFF = (Status.UNSTABLE, Status.DIVERGED)
H = 2e-3
GRIP = np.array([0.0, 0.0, 0.0, 20.0])  # damping of the finger


def hand(armature=1e-4):
    """An arm of three joints with a finger of 5 g."""
    builder = hinge.Builder("hand")
    builder.link("base")
    for k, (mass, size) in enumerate(((3.0, 0.4), (1.5, 0.3), (0.4, 0.1))):
        inertia = mass * size**2 / 12 * np.eye(3) + 1e-4 * np.eye(3)
        builder.link(f"link{k}", mass, (size / 2, 0, 0), inertia)
        builder.joint(f"turn{k}", "continuous", f"link{k - 1}" if k else "base", f"link{k}", (0.35 * (k > 0), 0, 0),
                      axis=((0, -1, 0), (0, 0, 1), (0, -1, 0))[k])  # fmt: skip
    builder.link("finger", 0.005, (0.01, 0, 0), 1e-7 * np.eye(3))
    builder.joint("grip", "prismatic", "link2", "finger", (0.1, 0, 0), axis=(0, 1, 0), armature=armature)
    return hinge.Robot(builder.build())


def led(t, q, qd, kp, kd):
    return -kp * q - kd * qd


def fastest(robot, kp, kd):
    """Return |λ| of the fastest mode at q = 0, for damping kd and stiffness kp at all joints, (n,) 1/s."""
    M, n = robot.mass_matrix(np.zeros(robot.nv)), robot.nv
    found = []
    for p, d in zip(kp, kd, strict=True):
        A = np.block([[np.zeros((n, n)), np.eye(n)], [-p * np.linalg.inv(M), -d * np.linalg.inv(M)]])
        found.append(np.abs(np.linalg.eigvals(A)).max())
    return np.array(found)


def gains(count=160):
    """Return stiffness and damping over five decades, (count, 1) each."""
    rng = np.random.default_rng(3)
    return 10 ** rng.uniform(-1, 4, (count, 1)), 10 ** rng.uniform(-2.5, 2.5, (count, 1))


@pytest.mark.sampled(2)
@pytest.mark.parametrize(("method", "limit"), [("rk4", 2.7), ("lie_rk4", 2.7), ("semi_implicit", 1.2)])
@pytest.mark.parametrize("make", [hand, hinge.samples.planar_2r, hinge.samples.puma560])
def test_over_five_decades_of_gains_what_is_ok_is_right_and_what_is_slow_is_ok(method, limit, make):
    """`limit` is |hλ| to which the method is stable, whatever the damping."""
    robot = make()
    kp, kd = gains()
    q0 = np.full((len(kp), robot.nv), 0.05)
    q, _, status = hinge.rollout(robot, q0, np.zeros(robot.nv), 500, H, policy=led, inputs=(kp, kd), method=method)
    slow = H * fastest(robot, kp[:, 0], kd[:, 0]) < 0.7 * limit
    assert slow.any()
    assert (status[slow] == Status.OK).all()
    assert set(status[~slow].tolist()) <= {Status.OK, *STIFF}
    if make is hand:
        assert (status == Status.UNSTABLE).sum() > 10
    good = status == Status.OK
    fine = hinge.simulate(robot, 1.0, q0[good], control=led, inputs=(kp[good], kd[good]),
                          method="dopri5", record="last", rtol=1e-7, atol=1e-9)  # fmt: skip
    tolerance = 0.02 if "rk4" in method else 0.1
    assert np.abs(robot.difference(fine.q[:, -1], q[good, -1])).max() < tolerance
    assert np.isnan(q[~good, -1]).all()


def test_one_unstable_rollout_does_not_disturb_the_others():
    robot, (kp, kd) = hand(), gains()
    start = np.full(robot.nv, 0.05), np.zeros(robot.nv)
    q, _, status = hinge.rollout(
        robot, np.tile(start[0], (len(kp), 1)), start[1], 200, H, policy=led, inputs=(kp, kd), method="rk4"
    )
    for k in [*np.flatnonzero(status == Status.UNSTABLE)[:3], *np.flatnonzero(status == Status.OK)[:3]]:
        alone = hinge.rollout(robot, *start, 200, H, policy=led, inputs=(kp[k], kd[k]), method="rk4")
        assert alone.status == status[k]
        np.testing.assert_array_equal(alone.q, q[k])


def test_a_light_finger_is_named_before_the_run_with_a_step_that_is_stable():
    robot = hand()
    how = {"q0": np.full(4, 0.02), "control": lambda t, q, qd: -2.0 * q - GRIP * qd}
    said = (
        r"rk4 with steps of 0.001 s is not stable here: errors grow .* at joint 'grip'.\n  Use a shorter step, such as"
    )
    with pytest.warns(UserWarning, match=said) as heard:
        run = hinge.simulate(robot, 0.5, step=1e-3, **how)
    assert run.status in STIFF
    assert run.method == "rk4"
    step = float(str(heard[0].message).split("step=")[1].split(",")[0])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        short = hinge.simulate(robot, 0.5, step=step, **how)
    assert short.status == Status.OK
    with pytest.warns(UserWarning, match="not stable"):
        hinge.simulate(robot, 0.01, step=1.5 * step, **how)
    with pytest.warns(UserWarning, match=r"not stable here(?s:.*)No step was given: steps of 0.0005 s are taken"):
        run = hinge.simulate(robot, 0.5, **how)
    assert (run.status, run.method, run.info["step"]) == (Status.OK, "rk4", 5e-4)
    np.testing.assert_allclose(run.q[-1], short.q[-1], rtol=0, atol=1e-6)


def test_rollouts_after_the_first_are_looked_at_before_the_run_too():
    def damped(t, q, qd, gain):
        return -2.0 * q - gain * GRIP * qd

    with pytest.warns(UserWarning, match=r"rk4 with steps of 0.001 s is not stable here: .* at joint 'grip'"):
        hinge.simulate(hand(), 5e-3, np.full((3, 4), 0.02), control=damped, inputs=(np.array([[0.0], [0.0], [1.0]]),),
                       step=1e-3)  # fmt: skip


def test_what_becomes_unstable_on_the_way_is_named_after_the_run():
    robot = hand()

    def rising(t, q, qd, gain):
        return -2.0 * q - gain * t * GRIP * qd

    with pytest.warns(UserWarning, match=r"was not stable: 1 of 2 rollouts ended with the status UNSTABLE") as heard:
        run = hinge.simulate(robot, 1.0, np.full((2, 4), 0.02), control=rising, inputs=(np.array([[0.1], [2.0]]),))
    assert run.status.tolist() == [Status.OK, Status.UNSTABLE]
    assert 0.05 < run.lost[1] < 1.0
    assert len(heard) == 1
    assert "joint 'grip'" in str(heard[0].message)
    assert np.isfinite(run.q[0]).all()
    assert "UNSTABLE" in repr(run)


@pytest.mark.parametrize("method", ["rk4", "semi_implicit", "euler", "implicit"])
def test_a_controller_that_feeds_energy_in_is_not_ok(method):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        run = hinge.simulate(hinge.samples.pendulum(1), 1.0, [0.3], [0.1], control=lambda t, q, qd: 1e4 * qd,
                             **({} if method == "rk4" else {"method": method}))  # fmt: skip
    assert run.method == method
    assert run.status != Status.OK or method == "implicit"  # which damps every fast mode


def test_springs_that_euler_cannot_follow_are_unstable():
    """Euler's method adds energy to every swing: at |hω| = 0.3 this is 4 % of its size in each step."""
    robot = hinge.samples.pendulum(1)
    inertia = robot.mass_matrix([0.0])[0, 0]
    stiffness = np.array([[3.0], [300.0]]) ** 2 * inertia
    _, _, status = hinge.rollout(robot, [[0.01], [0.01]], [0.0], 1000, 1e-3, policy=lambda t, q, qd, k: -k * q,
                                 inputs=(stiffness,), method="euler")  # fmt: skip
    assert status[0] == Status.OK
    assert status[1] in STIFF


PUMA = hinge.samples.puma560()
SIGNS = np.array([50.0, 50.0, 30.0, 5.0, 2.0, 1.0])


def _states(robot, count, speed=1.0, seed=0):
    q, qd = robot.random_state(np.random.default_rng(seed), count)
    return robot, q, speed * qd


def _within():
    robot, q, qd = _states(PUMA, 20, 5.0)
    return robot, np.clip(q, PUMA.limits.lower + 0.01, PUMA.limits.upper - 0.01), qd


def _standing():
    robot = hinge.samples.go2()
    q = np.tile(robot.keyframes["home"], (4, 1))
    q[:, 6] += np.linspace(0.0, 0.2, 4)
    return robot, q, np.random.default_rng(0).normal(size=(4, robot.nv))


def _inverted():
    return hinge.samples.pendulum(1), np.array([[np.pi - 1e-3]]), np.zeros((1, 1))


NOT_RESOLVED = {  # robot, states, steps, length of a step, options
    "chaos": (lambda: _states(hinge.samples.pendulum(2), 40, 3.0), 1000, 1e-2, {}),
    "an inverted pendulum": (_inverted, 600, 1e-2, {}),
    "fast": (lambda: _states(PUMA, 20, 10.0), 1000, 1e-3, {}),
    "bang-bang": (lambda: _states(hinge.samples.pendulum(2), 40), 500, 1e-2,
                  {"policy": lambda t, q, qd: -5.0 * np.sign(q + 0.3 * qd)}),
    "many switches": (lambda: _states(PUMA, 20), 800, 1e-3, {"policy": lambda t, q, qd: -SIGNS * np.sign(qd)}),
    "dry friction": (lambda: _states(PUMA, 20), 800, 1e-3, {"joint_terms": ("armature", "damping", "friction")}),
    "stops": (_within, 800, 1e-3, {"limits": "stop"}),
    "limits as springs": (_within, 800, 1e-3, {"limits": "spring"}),
    "noise": (lambda: _states(PUMA, 20), 800, 1e-3, {"taus": 20.0 * np.random.default_rng(1).normal(size=(800, 6))}),
    "impacts": (_standing, 150, 2e-3, {"ground": 0.0}),
    "soft impacts": (_standing, 150, 2e-3, {"ground": 0.0, "law": "soft"}),
}  # fmt: skip


@pytest.mark.sampled(2)
@pytest.mark.parametrize("method", ["rk4", "semi_implicit"])
@pytest.mark.parametrize("name", NOT_RESOLVED)
def test_what_does_not_grow_is_not_unstable(name, method):
    make, steps, h, options = NOT_RESOLVED[name]
    if options.get("law") == "soft" and method != "semi_implicit":
        pytest.skip("the soft law has a step of its own")
    robot, q, qd = make()
    status = hinge.rollout(robot, q, qd, steps, h, method=method, record=steps, **options).status
    assert (status == Status.OK).all()


@pytest.mark.parametrize("method", ["rk4", "semi_implicit", "euler", "implicit"])
def test_a_motion_that_grows_and_is_resolved_is_not_unstable(method):
    """A mass that is pushed the way it goes, q̇' = 5 q̇: fourteen doublings, each over 140 steps."""
    builder = hinge.Builder("cart", gravity=(0.0, 0.0, 0.0))
    builder.link("rail")
    builder.link("cart", 1.0, (0, 0, 0), 1e-3 * np.eye(3))
    builder.joint("slide", "prismatic", "rail", "cart", axis=(1, 0, 0))
    robot = hinge.Robot(builder.build())
    rolled = hinge.rollout(robot, [0.0], [1e-3], 2000, 1e-3, method=method, policy=lambda t, q, qd: 5.0 * qd)
    assert rolled.status == Status.OK
    assert rolled.qd[-1, 0] == pytest.approx(1e-3 * np.exp(10.0), rel=0.06 if method == "euler" else 0.03)


@pytest.mark.parametrize("loops", ["project", "baumgarte", "independent"])
def test_nothing_is_said_of_a_linkage_whose_loops_are_redundant(loops):
    robot = bennett()
    q, qd = swinging(robot)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        run = hinge.simulate(robot, 0.2, q, qd, loops=loops)
    assert run.status == Status.OK
    assert run.method == "rk4"
