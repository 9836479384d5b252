"""The rigid law in runs: what Coulomb, Newton and energy say of balls and boxes."""

from functools import partial

import numpy as np
import pytest

import hinge
from hinge import Contact, Ground, Status
from hinge.model.shapes import Shape

simulate, rollout = (partial(function, backend="llvm") for function in (hinge.simulate, hinge.rollout))
G = 9.81
BALL = hinge.Scene().body("ball", "sphere", 0.1, mass=1.0).robot
BOX = hinge.Scene().body("box", "box", (0.3, 0.2, 0.1), mass=2.0).robot
STANDING = [1.0, 0, 0, 0, 0, 0, 0.05]


def speed(run):
    """The speed of the centre, (T,)."""
    return np.linalg.norm(run.qd[:, 3:], axis=-1)


def test_a_ball_that_slides_comes_to_roll():
    for h in (0.01, 0.002):
        run = simulate(BALL, 0.6, [1, 0, 0, 0, 0, 0, 0.1], [0, 0, 0, 2, 0, 0], step=h, ground=Ground(friction=0.3))
        assert run.status == 0
        assert speed(run)[-1] == pytest.approx(10 / 7, rel=2e-3)
        assert abs(run.q[-1, 6] - 0.1) < 1e-9


def test_a_ball_bounces_with_what_restitution_leaves_it_and_friction_does_not_matter():
    for mu in (0.0, 0.5):
        run = simulate(BALL, 0.6, [1, 0, 0, 0, 0, 0, 0.6], ground=Ground(friction=mu, restitution=0.7))
        assert run.qd[:, 5].max() == pytest.approx(0.7 * np.sqrt(2 * G * 0.5), rel=5e-3)


def test_a_box_sticks_and_slides_at_the_angle_of_friction():
    """On a slope: still below the angle, and g (sin - μ cos) above it; gravity is tilted in place of the ground."""
    mu, batch = 0.5, np.arctan([0.45, 0.49, 0.51, 0.6])
    for angle, slides in zip(batch, (False, False, True, True), strict=True):
        box = BOX.with_gravity((G * np.sin(angle), 0, -G * np.cos(angle)))
        run = simulate(box, 0.5, STANDING, step=2e-3, ground=Ground(friction=mu))
        gain = G * (np.sin(angle) - mu * np.cos(angle)) if slides else 0.0
        assert run.qd[-1, 3] == pytest.approx(0.5 * gain, abs=2e-6)
        assert abs(run.q[-1, 6] - 0.05) < 1e-8
        if not slides:
            assert np.abs(run.q[-1, 4]) < 1e-7


def test_a_wheel_whose_centre_stands_still_drives_a_ball():
    builder = hinge.Builder("wheel")
    builder.link("stand")
    builder.link("wheel", 2.0, inertia=0.03 * np.eye(3), shapes=[Shape("collision", "sphere", (0.2,))])
    builder.joint("axle", "continuous", "stand", "wheel", (0, 0, 1.0), axis=(0, 1, 0))
    scene = hinge.Scene().add(hinge.Robot(builder.build()), "w").body("ball", "sphere", 0.1, mass=1.0)
    q, qd, h, mu = np.array([1.0, 0, 0, 0, 0, 0, 1.3, 0]), np.array([0.0, 0, 0, 0, 0, 0, 5.0]), 1e-3, 0.4
    push = [Contact("ball", (0, 0, 0), other="w/wheel", offset=0.3, other_offset=0.2, friction=mu)]
    run = rollout(scene.robot, q, qd, 1, h, contacts=push)
    assert run.qd[-1, 3] == pytest.approx(mu * G * h, rel=1e-4)  # it slips: friction is μ m g
    assert 0.03 * (run.qd[-1, 6] - 5.0) == pytest.approx(-0.2 * run.qd[-1, 3], rel=1e-4)


def test_what_moves_without_mass_is_named():
    builder = hinge.Builder("light")
    builder.link("stand")
    builder.link("arm", shapes=[Shape("collision", "sphere", (0.1,))])
    builder.joint("turn", "continuous", "stand", "arm", (0, 0, 0.1), axis=(0, 1, 0))
    with pytest.raises(hinge.NotCovered, match="something of robot 'light' moves without mass"):
        rollout(hinge.Robot(builder.build()), [0.0], [0.0], 1, 1e-3, ground=0.0)


def test_a_tall_box_tips_before_it_slides():
    tall = hinge.Scene().body("box", "box", (0.1, 0.2, 0.4), mass=2.0).robot
    for slope, tips in ((0.2, False), (0.3, True)):  # its centre is over the edge at 0.1 / 0.4
        angle = np.arctan(slope)
        run = simulate(tall.with_gravity((G * np.sin(angle), 0, -G * np.cos(angle))), 0.4,
                             [1, 0, 0, 0, 0, 0, 0.2], step=2e-3, ground=Ground(friction=2.0))  # fmt: skip
        assert (abs(run.q[-1, 2]) > 0.01) == tips


def test_a_ball_spins_down_by_torsional_friction_and_rolls_to_rest():
    spin, roll = 2e-3, 1e-3
    ground = Ground(friction=(0.8, spin, roll))
    run = simulate(BALL, 0.5, [1, 0, 0, 0, 0, 0, 0.1], [0, 0, 10.0, 0, 0, 0], ground=ground)
    inertia = 0.4 * 0.01
    assert run.qd[-1, 2] == pytest.approx(10.0 - spin * G / inertia * 0.5, rel=1e-3)
    run = simulate(BALL, 0.5, [1, 0, 0, 0, 0, 0, 0.1], [0, 10.0, 0, 1.0, 0, 0], ground=ground)
    slower = roll * G / (1.4 * 0.1)  # m/s², of a ball that rolls against a couple
    assert speed(run)[-1] == pytest.approx(1.0 - slower * 0.5, rel=2e-2)


def test_a_soft_ball_rests_where_its_weight_has_pushed_it():
    run = simulate(BALL, 0.5, [1, 0, 0, 0, 0, 0, 0.1], ground=Ground(compliance=1e-5))
    assert 0.1 - run.q[-1, 6] == pytest.approx(G * 1e-5, rel=1e-3)


def shaken(n, kind, size, seed):
    """A body of some kind in n states above the ground, tumbling."""
    rng = np.random.default_rng(seed)
    robot = hinge.Scene().body("body", kind, size, mass=1.5).robot
    u = rng.normal(size=(n, 4))
    q = np.c_[u / np.linalg.norm(u, axis=1, keepdims=True), rng.uniform(-1, 1, (n, 2)), rng.uniform(0.3, 0.6, n)]
    return robot, q, np.c_[rng.normal(scale=4.0, size=(n, 3)), rng.normal(size=(n, 3))]


SOLIDS = [("box", (0.3, 0.2, 0.1)), ("cylinder", (0.1, 0.3)), ("capsule", (0.05, 0.3)), ("sphere", 0.1)]


@pytest.mark.sampled(1)
@pytest.mark.parametrize(("kind", "size"), SOLIDS)
def test_energy_never_grows(kind, size):
    for k, (mu, e) in enumerate([(0.0, 0.0), (0.6, 0.0), (0.3, 0.8), (1.0, 1.0)]):
        robot, q, qd = shaken(40, kind, size, k)
        run = simulate(robot, 0.6, q, qd, ground=Ground(friction=mu, restitution=e))
        free = simulate(robot, 0.6, q, qd)
        assert not run.failed.any()
        E, drift = run.energy(), np.abs(free.energy() - free.energy()[:, :1]).max()
        assert np.diff(E, axis=1).max() < max(drift, 1e-9) + 1e-7 * np.abs(E).max()
        gap = run.q[..., 6].min()
        assert gap > 0.0


@pytest.mark.sampled(1)
@pytest.mark.parametrize("method", ["semi_implicit", "implicit", "rk4"])
@pytest.mark.parametrize("restitution", [0.0, 0.6])
def test_free_boxes_that_collide_keep_their_linear_momentum(method, restitution):
    """They spin, so that their axes turn while impulses act; h = 4 ms."""
    rng = np.random.default_rng(3)
    scene = hinge.Scene(gravity=(0, 0, 0))
    scene = scene.body("a", "box", (0.2, 0.3, 0.1), 1.0).body("b", "box", (0.25, 0.15, 0.2), 0.7)
    q, qd = scene.robot.random_state(rng, 4)
    q[:, 4:7], q[:, 11:14] = [-0.3, 0, 0], [0.3, 0.05, 0.02]
    qd *= 3.0
    for at, speed in ((0, 2.0), (7, -2.0)):
        ahead = speed * scene.robot.pose(q, "a" if at == 0 else "b")[:, 0, :3]  # the x axis of the base, in the body
        qd[:, at - at // 7 + 3 : at - at // 7 + 6] = ahead
    run = rollout(scene.robot, q, qd, 100, 4e-3, contacts="self", method=method,
                  parameters={"a.restitution": np.full(4, restitution)})  # fmt: skip
    assert (run.status == 0).all()
    momentum = scene.robot.momentum(run.q, run.qd)[..., 3:]
    assert np.abs(np.diff(run.qd, axis=1)).max(axis=(1, 2)).min() > 0.3  # all collide
    assert np.abs(momentum - momentum[:, :1]).max() < 1e-6


def test_a_dropped_box_comes_to_rest_on_a_face():
    robot, q, qd = shaken(16, "box", (0.3, 0.2, 0.1), 7)
    run = simulate(robot, 4.0, q, qd, step=4e-3, ground=Ground(friction=0.5), record=50)
    assert not run.failed.any()
    assert np.abs(run.qd[:, -1]).max() < 1e-4
    near = np.abs(run.q[:, -1, 6, None] - np.array([0.05, 0.1, 0.15])).min(axis=1)
    assert near.max() < 1e-4


def test_a_cradle_hands_its_speed_on():
    """Balls in a row that all but touch: the last one leaves with the first one's speed, and the others stand."""
    scene = hinge.Scene(gravity=(0, 0, 0))
    for k in range(3):
        scene.body(f"b{k}", "sphere", 0.1, mass=1.0)
    robot = scene.robot
    q = np.concatenate([[1, 0, 0, 0, x, 0, 0] for x in (-0.25, 0.0, 0.2001)])
    qd = np.zeros(18)
    qd[3] = 1.0
    row = [
        Contact(f"b{k}", (0, 0, 0), other=f"b{k - 1}", offset=0.2, other_offset=0.1, restitution=1.0) for k in (1, 2)
    ]
    run = simulate(robot, 0.2, q, qd, contacts=row, step=1e-4)
    assert run.qd[-1, [3, 9, 15]] == pytest.approx([0.0, 0.0, 1.0], abs=1e-6)


@pytest.mark.sweep
def test_stacked_boxes_stand():
    n = 3
    scene = hinge.Scene()
    for k in range(n):
        scene.body(f"b{k}", "box", (0.2, 0.2, 0.1), mass=1.0)
    q = np.concatenate([[1, 0, 0, 0, 0.01 * k, 0, 0.05 + 0.1 * k] for k in range(n)])
    run = simulate(scene.robot, 0.5, q, step=2e-3, contacts="self", ground=Ground(friction=0.5), record=50)
    assert run.status == 0
    assert np.abs(run.q[-1] - q).max() < 1e-6


def test_one_state_equals_its_row_and_interpret_agrees():
    robot, q, qd = shaken(9, "box", (0.3, 0.2, 0.1), 3)
    q[:, 6] = 0.19
    options = {"steps": 4, "h": 2e-2, "method": "rk4", "ground": Ground(friction=0.5, restitution=0.3)}
    many = rollout(robot, q, qd, **options)
    one = rollout(robot, q[4], qd[4], **options)
    assert np.array_equal(many.q[4], one.q)
    plain = hinge.rollout(robot, q[:2], qd[:2], backend="interpret", **options)
    assert np.array_equal(many.q[:2], plain.q)


def test_stops_and_friction_of_joints_are_met_with_contacts():
    """A finger that is pushed to its stop while it touches the ground."""
    arm = hinge.load(
        '<robot name="arm"><link name="base"/><link name="rod"><inertial><mass value="1"/><origin xyz="0.5 0 0"/>'
        '<inertia ixx=".01" iyy=".1" izz=".1" ixy="0" ixz="0" iyz="0"/></inertial></link>'
        '<joint name="j" type="revolute"><parent link="base"/><child link="rod"/><axis xyz="0 1 0"/>'
        '<limit lower="-1" upper="0.2" effort="9" velocity="9"/></joint></robot>'
    )
    tip = Contact("rod", (1, 0, 0), normal=(0, 0, 1), other_point=(0, 0, -0.5), friction=0.3)
    run = simulate(arm, 1.0, [0.0], contacts=[tip], limits="stop", step=2e-3)
    assert run.q[-1, 0] == pytest.approx(0.2, abs=1e-9)
    tip = Contact("rod", (1, 0, 0), normal=(0, 0, 1), other_point=(0, 0, -0.1), friction=0.3)
    run = simulate(arm, 1.0, [0.0], contacts=[tip], limits="stop", step=2e-3)
    assert run.q[-1, 0] == pytest.approx(np.arcsin(0.1), abs=1e-6)


def test_what_cannot_be_is_said():
    with pytest.raises(hinge.HingeError, match="friction"):
        Ground(friction=-0.1)
    with pytest.raises(hinge.HingeError, match="restitution"):
        Ground(restitution=1.5)
    with pytest.raises(hinge.HingeError, match="method 'dopri5'"):
        hinge.simulate(BALL, 0.1, STANDING, method="dopri5", ground=0.0)
    with pytest.warns(UserWarning, match=r"the box on 'box' is 0\.03 m deep in the plane on 'ground'"):
        run = hinge.simulate(BOX, 0.1, [1.0, 0, 0, 0, 0, 0, 0.02], ground=0.0)
    assert run.status == hinge.Status.REFUSED
    with pytest.raises(hinge.HingeError, match="base_motion"):
        simulate(BALL, 0.1, [1.0, 0, 0, 0, 0, 0, 0.2], ground=0.0, base_motion=np.zeros((2, 6)))
    with pytest.raises(hinge.HingeError, match="there are no contacts"):
        BALL.contact_step(STANDING, np.zeros(6), np.zeros(6), 1e-3)


@pytest.mark.sampled(1)
@pytest.mark.parametrize(("ratio", "status"), [(1e3, Status.OK), (1e5, Status.OK), (1e10, Status.UNCONVERGED)])
def test_a_load_that_is_too_heavy_for_what_carries_it_is_not_ok(ratio, status):
    """Hard contacts give way by a share of what their bodies do: a light box under a very heavy one sinks."""
    stack = hinge.Scene().body("low", "box", (0.2, 0.2, 0.2), 1.0).body("high", "box", (0.2, 0.2, 0.2), ratio)
    q = [1, 0, 0, 0, 0, 0, 0.1, 1, 0, 0, 0, 0, 0, 0.3]
    run = hinge.simulate(stack.robot, 0.1, q, ground=0.0, contacts="self", step=1e-3)
    assert run.status == status
    assert (run.q[-1, 13] > 0.2999) == (status == Status.OK)
