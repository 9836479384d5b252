"""Dry friction: what it can hold stands still, what it cannot slides as the books say, and it never gives energy."""

from itertools import product

import numpy as np
import pytest
from sim_robots import bounded_arm

import hinge

EVERY = ("rk4", "euler", "semi_implicit", "implicit", "lie_rk4", "midpoint", "dopri5")
DRY = ("armature", "friction")


def block(mass=1.0, friction=5.0, gravity=(0, 0, 0), **data):
    builder = hinge.Builder("block", gravity=gravity)
    builder.link("base")
    builder.link("block", mass, inertia=mass * 1e-3 * np.eye(3))
    builder.joint("x", "prismatic", "base", "block", axis=(1, 0, 0), friction=friction, **data)
    return hinge.Robot(builder.build())


def arm(friction, **data):
    """Two rods in the vertical plane, angles from the horizontal."""
    builder = hinge.Builder("arm")
    builder.link("base")
    bar = np.diag([0.0, 1 / 12, 1 / 12])
    for name, parent, at, rub in (("upper", "base", 0.0, friction[0]), ("lower", "upper", 1.0, friction[1])):
        builder.link(name, 1.0, (0.5, 0, 0), bar)
        builder.joint(f"to {name}", "continuous", parent, name, (at, 0, 0), axis=(0, -1, 0), friction=rub, **data)
    return hinge.Robot(builder.build())


@pytest.mark.sampled(5)
@pytest.mark.parametrize("method", EVERY)
@pytest.mark.parametrize("mass", [1.0, 0.01])
def test_a_block_that_is_pushed_too_little_stays_where_it_is(mass, method):
    run = hinge.simulate(block(mass), 0.5, [0.3], control=[1.0], method=method, joint_terms=DRY)
    assert (run.q == 0.3).all()
    assert (run.qd == 0.0).all()
    assert run.status == 0


@pytest.mark.parametrize("method", EVERY)
def test_a_block_comes_to_rest_where_the_books_say_and_stays(method):
    """v² = 2 (f/m) s, from above and from below."""
    robot, speed, h = block(2.0, 3.0), np.array([[1.5], [-0.8]]), 1e-3
    run = hinge.simulate(robot, 2.0, np.zeros((2, 1)), speed, method=method, step=h, joint_terms=DRY)
    wanted = np.sign(speed) * speed**2 / (2 * 1.5)
    # a method of first order takes the speed of one end of a step for all of it
    np.testing.assert_allclose(run.q[:, -1], wanted, rtol=0, atol=1.01 * h * np.abs(speed).max() / 2 + 2 * h**2)
    assert (run.qd[:, -1] == 0.0).all()
    rest = np.argmax(run.qd[..., 0] == 0.0, axis=1)
    for k in (0, 1):
        assert abs(run.t[rest[k]] - abs(speed[k, 0]) / 1.5) <= 2.01 * h
        assert (run.q[k, rest[k] :] == run.q[k, -1]).all()
    assert np.diff(run.energy(), axis=1).max() <= 1e-12


@pytest.mark.sampled(3)
@pytest.mark.parametrize("method", EVERY)
def test_it_breaks_away_where_the_push_is_larger(method):
    robot = block(2.0, 5.0)
    push = np.array([[4.999], [5.001], [7.0], [-4.999], [-7.0]])
    run = hinge.simulate(robot, 0.5, np.zeros((5, 1)), control=push[:, None], method=method, joint_terms=DRY)
    over = np.sign(push) * np.maximum(np.abs(push) - 5.0, 0.0) / 2.0
    assert (run.q[[0, 3]] == 0.0).all()
    np.testing.assert_allclose(run.qd[:, -1], 0.5 * over, rtol=0, atol=1e-9)
    np.testing.assert_allclose(run.q[:, -1], over / 8.0, rtol=0, atol=1e-3)


def test_a_block_on_a_slope_holds_up_to_the_angle_of_friction():
    mu = 0.4
    for slope, holds in ((np.arctan(mu) - 0.01, True), (np.arctan(mu) + 0.01, False)):
        g = 9.81 * np.array([np.sin(slope), 0.0, -np.cos(slope)])
        run = hinge.simulate(block(1.0, mu * -g[2], g), 1.0, joint_terms=DRY)
        fallen = 0.5 * max(0.0, g[0] + mu * g[2])
        assert (run.q[-1, 0] == 0.0) == holds
        assert abs(run.q[-1, 0] - fallen) < 1e-9


def sets(H, rest, friction):
    """Accelerations from rest by trying every choice of sticking and sliding: the one that keeps Coulomb's law."""
    found = []
    n = len(rest)
    for way in product((-1, 0, 1), repeat=n):  # slides backward, sticks, slides forward
        stuck = [i for i in range(n) if way[i] == 0]
        force = np.where(way, -np.array(way) * friction, 0.0)
        # where it sticks the acceleration is zero, elsewhere the friction is known
        A = H.copy()
        A[:, stuck] = -np.eye(n)[:, stuck]
        x = np.linalg.solve(A, rest + force)
        qdd, held = np.where(way, x, 0.0), np.where(way, force, x)
        if (np.abs(held) <= friction + 1e-12).all() and all(w == 0 or w * a > 0 for w, a in zip(way, qdd, strict=True)):
            found.append(qdd)
    return found


def test_two_joints_that_hold_one_another_stick_and_slide_as_all_choices_tried_say():
    rng = np.random.default_rng(0)
    q, friction = rng.uniform(-np.pi, np.pi, (40, 2)), rng.uniform(0.0, 15.0, (40, 2))
    robot = arm((1.0, 1.0)).vary("to upper.friction", "to lower.friction")
    given = {"to upper.friction": friction[:, 0], "to lower.friction": friction[:, 1]}
    h, kinds = 1e-5, set()
    run = hinge.simulate(robot, h, q, method="euler", step=h, joint_terms=DRY, parameters=given)
    for k in range(40):
        H, rest = robot.mass_matrix(q[k]), -robot.bias_force(q[k], np.zeros(2))
        (wanted,) = sets(H, rest, friction[k])
        np.testing.assert_allclose(run.qd[k, -1] / h, wanted, rtol=1e-6, atol=1e-6)
        assert ((run.qd[k, -1] == 0.0) == (wanted == 0.0)).all()
        kinds.add(tuple(wanted == 0.0))
    assert len(kinds) == 4


@pytest.mark.sampled(3)
@pytest.mark.parametrize("method", EVERY)
def test_an_arm_that_friction_can_hold_does_not_sink(method):
    """Rods stretched out need 19.62 and 4.905 N m."""
    robot, q = arm((20.0, 5.0)), [0.0, 0.0]
    run = hinge.simulate(robot, 0.3, q, method=method, joint_terms=DRY)
    assert (run.q == 0.0).all()
    weak = hinge.simulate(arm((20.0, 4.8)), 0.3, q, method=method, joint_terms=DRY)
    assert (weak.q[2:, 1] < 0.0).all()


@pytest.mark.sampled(3)
@pytest.mark.parametrize("method", [m for m in EVERY if m != "dopri5"])
def test_friction_and_stops_at_once(method):
    robot = block(1.0, 2.0, lower=-0.5, upper=0.1)
    run = hinge.simulate(robot, 1.0, [0.0], [1.0], method=method, limits="stop", joint_terms=DRY)
    hit = int(np.argmax(run.q[:, 0] == 0.1))
    assert 0 < hit < 200
    assert (run.q[hit:, 0] == 0.1).all()
    assert (run.qd[hit + 1 :, 0] == 0.0).all()
    # pulled off by more than friction it leaves, and by less it stays
    for pull, leaves in ((-1.9, False), (-2.5, True)):
        run = hinge.simulate(robot, 0.5, [0.1], control=[pull], method=method, limits="stop", joint_terms=DRY)
        assert (run.q[-1, 0] < 0.1) == leaves
        assert abs(run.q[-1, 0] - (0.1 - 0.5 * 0.5 * 0.25 * leaves)) < 1e-3
    # pushed on by more than friction it stays at its stop
    run = hinge.simulate(robot, 0.5, [0.1], control=[9.0], method=method, limits="stop", joint_terms=DRY)
    assert (run.q == 0.1).all()


@pytest.mark.sampled(2)
@pytest.mark.parametrize("method", ["rk4", "lie_rk4", "implicit", "midpoint", "dopri5"])
def test_energy_never_grows(method):
    """The elbow between stops, both joints dry, over many swings."""
    robot = bounded_arm(friction=0.3)
    rng = np.random.default_rng(1)
    q0, qd0 = np.stack([rng.uniform(-3, 3, 20), rng.uniform(-0.3, 0.5, 20)], axis=1), rng.normal(size=(20, 2))
    stop = {} if method == "dopri5" else {"limits": "stop"}
    run, free = (
        hinge.simulate(robot, 2.0, q0, qd0, method=method, step=1e-3, joint_terms=terms, **given)
        for terms, given in ((DRY, stop), (("armature",), {}))
    )
    assert (run.status == 0).all()
    grown, own = ((e - np.minimum.accumulate(e, axis=1)).max() for e in (run.energy(), free.energy()))
    assert grown < own + robot.mass * 9.81 * 0.5 * 1e-3 * np.abs(free.qd[..., 1]).max()
    assert (run.energy()[:, 0] > run.energy()[:, -1] + 0.05).all()


def test_a_joint_that_follows_has_its_friction_on_the_leader():
    """Turned by a ratio of 2, 3 N m become 6 on the leader."""
    builder = hinge.Builder("pair", gravity=(0, 0, 0))
    builder.link("base")
    for name, mimic in (("a", None), ("b", ("a", 2.0, 0.0))):
        builder.link(name, 1.0, inertia=np.eye(3))
        builder.joint(name, "continuous", "base", name, axis=(0, 0, 1), friction=3.0, mimic=mimic)
    robot = hinge.Robot(builder.build())
    assert robot.nv == 1
    push = np.array([[8.9], [9.1]])
    run = hinge.simulate(robot, 1.0, np.zeros((2, 1)), control=push[:, None], joint_terms=DRY)
    assert (run.q[0] == 0.0).all()
    assert run.qd[1, -1, 0] == pytest.approx(0.1 / 5.0, abs=1e-9)


@pytest.mark.sampled(2)
@pytest.mark.parametrize(("method", "error"), [("rk4", 5e-4), ("lie_rk4", 5e-4), ("implicit", 1e-2),
                                               ("semi_implicit", 1e-2)])  # fmt: skip
def test_the_legs_of_a_floating_robot_stay_while_it_flies(method, error):
    """Nothing outside pushes: momentum stays, and legs that friction holds do not turn on the body."""
    builder = hinge.Builder("walker", gravity=(0, 0, 0))
    builder.link("world")
    builder.link("body", 5.0, (0.1, 0, 0), np.diag([0.3, 0.4, 0.5]))
    builder.joint("base", "free", "world", "body")
    for k, side in enumerate((-1.0, 1.0)):
        builder.link(f"leg{k}", 1.0, (0, 0, -0.2), np.diag([0.02, 0.02, 0.002]))
        builder.joint(f"hip{k}", "revolute", "body", f"leg{k}", (0, 0.2 * side, 0), axis=(0, 1, 0), friction=2.0)
    robot = hinge.Robot(builder.build())
    q, qd = robot.neutral(), np.array([0.3, 0.8, 0.2, 0.5, 0.0, 0.1, 0.0, 0.0])
    run = hinge.simulate(robot, 0.5, q, qd, method=method, joint_terms=DRY)
    assert (run.q[:, 7:] == 0.0).all()
    assert np.abs(run.q[-1, :4] - q[:4]).max() > 0.1
    slide = hinge.simulate(robot, 0.5, q, [*qd[:6], 4.0, 0.0], method=method, joint_terms=DRY)
    assert abs(slide.qd[-1, 6]) < 1e-9
    assert slide.q[-1, 7] > 0.01
    momentum = robot.momentum(slide.q, slide.qd)
    np.testing.assert_allclose(momentum, np.broadcast_to(momentum[0], momentum.shape), rtol=0, atol=error)
