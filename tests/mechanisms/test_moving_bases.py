"""Bases that move, by a given motion or of their own accord. Source: featherstone1987, section 7.5."""

import sysconfig
from pathlib import Path

import numpy as np
import pytest
from machines import grown, machine, near, rate, refused, state, stiffness

import hinge

# many robots of a few calls each, which are not worth compiling
pytestmark = pytest.mark.usefixtures("plain_interpreter")

KINDS = ("revolute", "universal", "spherical", "prismatic")
PANDA = Path(sysconfig.get_paths()["purelib"]) / (
    "cmeel.prefix/share/example-robot-data/robots/panda_description/urdf/panda.urdf"
)


def on_both(seed):
    """The same robot on a base that is moved and on one that is free."""
    return grown(seed, KINDS, (0, 1, 2, 2)), grown(seed, KINDS, (0, 1, 2, 2), base="floating")


def motions(seed, n=3):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, 6)), rng.normal(size=(n, 6))


def joined(base, x):
    return np.concatenate([np.broadcast_to(base, (len(x), np.shape(base)[-1])), x], axis=1)


def test_a_given_base_motion_is_that_of_a_free_joint_that_moves_so():
    fixed, free = on_both(60)
    v, a = motions(61)
    q, qd, qdd, _ = state(fixed, 62, 3)
    at = joined([1.0, 0, 0, 0, 0, 0, 0], q)
    tau = fixed.inverse_dynamics(q, qd, qdd, base_motion=(v, a))
    near(tau, free.inverse_dynamics(at, joined(v, qd), joined(a, qdd))[:, 6:], 1e-12, 50.0)
    bias = free.bias_force(at, joined(v, qd)) + (free.mass_matrix(at)[:, :, :6] @ a[:, :, None])[..., 0]
    near(fixed.bias_force(q, qd, base_motion=(v, a)), bias[:, 6:], 1e-12, 50.0)


def test_a_tilted_base_sees_gravity_tilted():
    fixed, free = on_both(60)
    v, a = (x[0] for x in motions(63))
    q, qd, qdd, _ = state(fixed, 64)
    base = np.array([0.5, 0.1, -0.7, 0.5, 0.3, -2.0, 1.0])
    R = free.pose(np.r_[base, q], "base")[:3, :3]
    tilted = fixed.with_gravity(R.T @ (0, 0, -9.81))
    made = tilted.inverse_dynamics(q, qd, qdd, base_motion=(v, a))
    near(made, free.inverse_dynamics(np.r_[base, q], np.r_[v, qd], np.r_[a, qdd])[6:], 1e-12, 50.0)


def test_forward_dynamics_on_a_moved_base_undoes_inverse_dynamics():
    fixed, _ = on_both(60)
    v, a = motions(65)
    q, qd, qdd, _ = state(fixed, 66, 3)
    tau = fixed.inverse_dynamics(q, qd, qdd, base_motion=(v, a))
    for method in ("articulated", "composite", "composite_llt"):
        near(fixed.forward_dynamics(q, qd, tau, base_motion=(v, a), method=method), qdd, 1e-14, stiffness(fixed, q))


def test_an_accelerating_base_is_a_field_of_gravity():
    fixed, _ = on_both(60)
    q, qd, qdd, _ = state(fixed, 67)
    up = np.array([0.3, -1.2, 2.5])
    made = fixed.inverse_dynamics(q, qd, qdd, base_motion=(np.zeros(6), np.r_[0, 0, 0, up]))
    near(made, fixed.with_gravity(np.array([0, 0, -9.81]) - up).inverse_dynamics(q, qd, qdd), 1e-13, 50.0)
    rest = fixed.inverse_dynamics(q, qd, qdd, base_motion=(np.zeros(6), np.zeros(6)))
    near(rest, fixed.inverse_dynamics(q, qd, qdd), 1e-14, 50.0)


def test_a_slide_on_a_turntable_feels_centrifugal_coriolis_and_euler_forces():
    """m (ẍ - ω² x) along the slide; across it the guide gives m (2 ω ẋ + α x), and below it m g."""
    builder = hinge.Builder("turntable")
    builder.link("table")
    builder.link("bead", mass=0.7)
    builder.joint("slot", "prismatic", "table", "bead", axis=(1, 0, 0))
    robot = hinge.Robot(builder.build())
    x, xd, xdd, w, alpha, m = 0.8, 1.3, -0.4, 3.0, 2.0, 0.7
    base = ([0, 0, w, 0, 0, 0], [0, 0, alpha, 0, 0, 0])
    near(robot.inverse_dynamics([x], [xd], [xdd], base_motion=base), [m * (xdd - w * w * x)], 1e-14)
    total, active, bearing, _ = robot.joint_reactions([x], [xd], [xdd], base_motion=base)
    near(total[0, 3:], [m * (xdd - w * w * x), m * (2 * w * xd + alpha * x), m * 9.81], 1e-14)
    near(active[0, 3:], [m * (xdd - w * w * x), 0, 0], 1e-14)
    near(bearing[0, 3:], [0, m * (2 * w * xd + alpha * x), m * 9.81], 1e-14)
    out = robot.forward_dynamics([x], [xd], [0.0], base_motion=base)
    near(out, [w * w * x], 1e-14)


def test_the_governor_stands_out_at_the_angle_where_weight_and_turning_balance():
    """A point on a rod under a spindle: cos θ = g / (ω² l)."""
    builder = hinge.Builder("governor")
    builder.link("spindle")
    builder.link("rod", mass=1.5, com=(0, 0, -0.4))
    builder.joint("knee", "revolute", "spindle", "rod", axis=(0, 1, 0))
    robot = hinge.Robot(builder.build())
    w = 7.0
    angle = np.arccos(9.81 / (w * w * 0.4))
    force = robot.bias_force([angle], [0.0], base_motion=([0, 0, w, 0, 0, 0], np.zeros(6)))
    near(force, [0.0], 1e-14)


# floating bases


def test_floating_inverse_dynamics_leaves_the_base_without_force():
    robot = machine("floating")
    q, qd, qdd, _ = state(robot, 68, 4)
    base, tau = robot.floating_inverse_dynamics(q, qd, qdd[:, 6:])
    assert base.shape == (4, 6)
    assert tau.shape == (4, robot.nv - 6)
    want = np.concatenate([np.zeros((4, 6)), tau], axis=1)
    near(robot.inverse_dynamics(q, qd, np.concatenate([base, qdd[:, 6:]], axis=1)), want, 1e-11, 100.0)


def test_floating_inverse_dynamics_is_hybrid_dynamics_with_an_unpowered_base():
    robot = machine("floating")
    q, qd, qdd, _ = state(robot, 69, 4)
    base, tau = robot.floating_inverse_dynamics(q, qd, qdd[:, 6:])
    known = np.arange(robot.nv) >= 6
    for method in ("articulated", "composite"):
        forces, accelerations = robot.hybrid_dynamics(q, qd, np.zeros_like(qd), qdd, known, method=method)
        near(accelerations[:, :6], base, 1e-14, stiffness(robot, q))
        near(forces[:, 6:], tau, 1e-14, stiffness(robot, q))


def test_floating_inverse_dynamics_feels_external_forces_armature_and_damping():
    robot = grown(70, ("revolute", "prismatic"), (0, 1), base="floating", armature=0.3, damping=0.5)
    q, qd, qdd, _ = state(robot, 71)
    push = {"link2": np.arange(6.0), "base": -np.ones(6)}
    terms = ("armature", "damping")
    base, tau = robot.floating_inverse_dynamics(q, qd, qdd[6:], external=push, joint_terms=terms)
    made = robot.inverse_dynamics(q, qd, np.r_[base, qdd[6:]], external=push, joint_terms=terms)
    near(made, np.r_[np.zeros(6), tau], 1e-12, 50.0)


def test_a_brick_in_free_fall_falls():
    builder = hinge.Builder("brick")
    builder.link("brick", mass=3.0, com=(0.1, 0.2, 0.3), inertia=np.diag([0.1, 0.2, 0.15]))
    robot = hinge.Robot(builder.build(base="floating"))
    base, tau = robot.floating_inverse_dynamics(robot.neutral(), np.zeros(6), [])
    near(base, [0, 0, 0, 0, 0, -9.81], 1e-14)
    assert tau.shape == (0,)


@pytest.mark.parametrize("gravity", [(0.0, 0.0, 0.0), (0.3, -1.0, -9.81)])
def test_the_momentum_of_a_floating_robot_changes_only_by_its_weight(gravity):
    robot = machine("floating").with_gravity(gravity)
    q, qd, _, tau = state(robot, 72)
    tau[:6] = 0.0
    qdd = robot.forward_dynamics(q, qd, tau)

    def momentum(t):
        return robot.momentum(robot.integrate(q, t * qd + 0.5 * t * t * qdd), qd + t * qdd)

    total = sum(inertia.m for inertia in robot.model.inertia)
    weight = total * np.array(gravity)
    want = np.r_[np.cross(robot.center_of_mass(q), weight), weight]
    near(rate(momentum), want, 1e-7, 30.0)


@pytest.mark.parametrize("kinds", [("revolute",) * 4, ("spherical", "prismatic"), ("rolling", "revolute")])
def test_both_forward_methods_agree_on_floating_robots(kinds):
    robot = grown(73, kinds, base="floating")
    q, qd, _, tau = state(robot, 74, 4)
    made = [robot.forward_dynamics(q, qd, tau, method=m) for m in ("articulated", "composite")]
    near(made[0], made[1], 1e-14, stiffness(robot, q))


def test_a_robot_without_a_free_base_is_refused():
    bolted = grown(75, ("revolute",), name="bolted")
    assert refused(hinge.NotCovered, bolted.floating_inverse_dynamics, [0], [0], []) == (
        "floating_inverse_dynamics: nothing covers robot 'bolted': its first joint is not a free base that carries all "
        "the rest.\n  No method does."
    )
    two = grown(75, ("free", "revolute"), (0, 0), name="two")
    assert "its first joint is not a free base that carries all the rest" in refused(
        hinge.NotCovered, two.floating_inverse_dynamics, two.neutral(), np.zeros(7), [0.0]
    )


def work(robot, name, method=None):
    cost = robot.cost(name, method)
    return cost.mul + cost.add


@pytest.mark.parametrize("n", [3, 6, 9])
def test_floating_inverse_dynamics_costs_more_than_a_fixed_base_and_less_than_forward_dynamics(n):
    """The words of 7.5.1: considerably more than Newton-Euler on a fixed base, less than either forward method."""
    fixed, free = (grown(76, ("revolute",) * n, base=base) for base in ("fixed", "floating"))
    made = work(free, "floating_inverse_dynamics")
    assert made > work(fixed, "inverse_dynamics")
    assert made < work(free, "forward_dynamics", "articulated")
    assert made < work(free, "forward_dynamics", "composite")


def test_so_it_is_on_a_real_arm():
    fixed, free = (hinge.load(PANDA, base=base, mimic="free") for base in ("fixed", "floating"))
    made = work(free, "floating_inverse_dynamics")
    assert work(fixed, "inverse_dynamics") < made < work(free, "forward_dynamics", "articulated")
    assert made < work(free, "forward_dynamics", "composite")


def test_floating_inverse_dynamics_costs_the_same_for_each_joint_more():
    costs = [work(grown(77, ("revolute",) * n, base="floating"), "floating_inverse_dynamics") for n in (4, 6, 8, 10)]
    steps = np.diff(costs)
    assert steps.max() < 1.1 * steps.min()


def test_a_floating_base_costs_the_composite_method_more_than_the_articulated_one():
    """7.5: the incremental cost of a floating base is greater for the composite-rigid-body method."""
    fixed, free = (grown(78, ("revolute",) * 6, base=base) for base in ("fixed", "floating"))
    methods = "articulated", "composite"
    more = {m: work(free, "forward_dynamics", m) - work(fixed, "forward_dynamics", m) for m in methods}
    assert more["composite"] > more["articulated"] > 0


# what is refused


def test_a_base_motion_that_is_no_velocity_and_acceleration_is_refused():
    arm = hinge.samples.planar_2r()
    two = ([0.0, 0.0],) * 3
    for given in (np.zeros(6), [np.zeros(6)], 3.0):
        assert refused(hinge.SizeError, arm.inverse_dynamics, *two, base_motion=given) == (
            "inverse_dynamics: base_motion has to be a velocity and an acceleration, 6 entries each, angular first."
        )
    assert refused(hinge.SizeError, arm.inverse_dynamics, *two, base_motion=(np.zeros(6), np.zeros(5))) == (
        "inverse_dynamics: acceleration of base_motion has shape (5,); it has to end in (6,)."
    )
