"""Joints whose motion is given: rheonomic constraints, v = S q̇ + ξ. Source: featherstone1987, 7.4.4."""

import pickle

import numpy as np
import pytest
from machines import grown, machine, near, rate, refused, state, stiffness

import hinge

# many robots of a few calls each, which are not worth compiling
pytestmark = pytest.mark.usefixtures("plain_interpreter")


def crank():
    """A slide on a turning arm in the horizontal plane, with a point mass on it."""
    builder = hinge.Builder("crank")
    builder.link("base")
    builder.link("arm", mass=1.0, inertia=np.eye(3) * 0.1)
    builder.link("bead", mass=0.7)
    builder.joint("turn", "revolute", "base", "arm")
    builder.joint("slide", "prismatic", "arm", "bead", axis=(1, 0, 0))
    return hinge.Robot(builder.build())


def test_a_bead_on_a_driven_arm_is_flung_out():
    """ẍ = f/m + θ̇² x, and nothing else of the arm's motion is felt along it."""
    bead = crank().prescribe("turn")
    assert (bead.nq, bead.nv, bead.joint_names) == (1, 1, ("turn", "slide"))
    x, xd, w, alpha = 0.6, -0.4, 3.0, 5.0
    for method in ("articulated", "composite", "composite_llt"):
        made = bead.forward_dynamics([x], [xd], [1.4], prescribed=([0.9], [w], [alpha]), method=method)
        near(made, [1.4 / 0.7 + w * w * x], 1e-14)
    total, _, _, base = bead.joint_reactions([x], [xd], [0.0], prescribed=([0.0], [w], [alpha]))
    near(total[1, 3:], [-0.7 * w * w * x, 0.7 * (2 * w * xd + alpha * x), 0.7 * 9.81], 1e-13)
    near(base[2], 0.1 * alpha + 0.7 * x * (2 * w * xd + alpha * x), 1e-13)


# robot, whole joints, parts of joints
CASES = [
    ("tree", ("joint3",), {"joint5": [1]}),
    ("odd", ("joint2",), {"joint4": [0]}),
    ("slides", (), {"joint1": [2], "joint2": [0, 2]}),
    ("floating", ("base",), {}),
]
cases = pytest.mark.parametrize(("which", "whole", "parts"), CASES)


def split(robot, whole, parts):
    """Which coordinates and which velocities are driven."""
    held, known = np.zeros(robot.nq, bool), np.zeros(robot.nv, bool)
    for name in whole:
        at_q, at_v = robot.coordinates(name)
        held[at_q] = known[at_v] = True
    for name, numbers in parts.items():
        at_q, at_v = robot.coordinates(name)
        held[at_q.start + np.array(numbers)] = known[at_v.start + np.array(numbers)] = True
    return held, known


@pytest.mark.sampled(2)
@cases
def test_everything_a_driven_robot_computes_is_that_of_the_whole_robot(which, whole, parts):
    robot = machine(which)
    driven = robot.prescribe(*whole, **parts)
    held, known = split(robot, whole, parts)
    q, qd, qdd, _ = state(robot, 130, 3)
    given = {"prescribed": (q[:, held], qd[:, known], qdd[:, known])}
    x, v, a = q[:, ~held], qd[:, ~known], qdd[:, ~known]
    assert (driven.nq, driven.nv) == (x.shape[1], v.shape[1])
    last = robot.body_names[-1]
    near(driven.pose(x, last, **given), robot.pose(q, last), 1e-13, 3.0)
    near(driven.velocity(x, v, last, **given), robot.velocity(q, qd, last), 1e-12, 10.0)
    for frame in ("body", "base", "aligned"):
        near(driven.acceleration(x, v, a, last, frame=frame, **given),
             robot.acceleration(q, qd, qdd, last, frame=frame), 1e-11, 30.0)  # fmt: skip
        near(driven.jacobian(x, last, frame=frame, **given),
             robot.jacobian(q, last, frame=frame)[..., ~known], 1e-13, 3.0)  # fmt: skip
        near(driven.jacobian_rate(x, v, last, frame=frame, **given),
             robot.jacobian_rate(q, qd, last, frame=frame)[..., ~known], 1e-12, 10.0)  # fmt: skip
    near(driven.inverse_dynamics(x, v, a, **given), robot.inverse_dynamics(q, qd, qdd)[:, ~known], 1e-12, 100.0)
    H = robot.mass_matrix(q)[:, ~known][:, :, ~known]
    near(driven.mass_matrix(x, **given), H, 1e-12, 10.0)
    near(np.einsum("kij,kj->ki", H, driven.impulse_response(x, v, **given)), v, 1e-11)
    near(driven.kinetic_energy(x, v, **given), robot.kinetic_energy(q, qd), 1e-12, 10.0)
    near(driven.potential_energy(x, **given), robot.potential_energy(q), 1e-12, 10.0)
    near(driven.momentum(x, v, **given), robot.momentum(q, qd), 1e-12, 10.0)
    near(driven.center_of_mass(x, **given), robot.center_of_mass(q), 1e-13)


@cases
def test_forward_dynamics_undoes_inverse_dynamics(which, whole, parts):
    robot = machine(which)
    driven = robot.prescribe(*whole, **parts)
    held, known = split(robot, whole, parts)
    q, qd, qdd, _ = state(robot, 131, 3)
    given = {"prescribed": (q[:, held], qd[:, known], qdd[:, known])}
    x, v, a = q[:, ~held], qd[:, ~known], qdd[:, ~known]
    tau = driven.inverse_dynamics(x, v, a, **given)
    for method in ("articulated", "composite"):
        near(driven.forward_dynamics(x, v, tau, method=method, **given), a, 1e-14, stiffness(robot, q))


def test_rates_and_accelerations_left_out_are_zero():
    robot = machine("tree").prescribe("joint1")
    q, qd, qdd, _ = state(robot, 132)
    whole = robot.inverse_dynamics(q, qd, qdd, prescribed=([0.3], [0.0], [0.0]))
    for given in (([0.3],), ([0.3], [0.0])):
        assert np.array_equal(robot.inverse_dynamics(q, qd, qdd, prescribed=given), whole)
    assert np.abs(robot.inverse_dynamics(q, qd, qdd, prescribed=([0.3], [2.0])) - whole).max() > 0.1
    assert np.abs(robot.inverse_dynamics(q, qd, qdd, prescribed=([0.3], [0.0], [2.0])) - whole).max() > 0.1


def test_a_joint_driven_to_a_standstill_is_locked():
    robot = machine("tree")
    held = robot.lock({"joint1": 0.4})
    driven = robot.prescribe("joint1")
    q, qd, qdd, _ = state(held, 133)
    near(driven.inverse_dynamics(q, qd, qdd, prescribed=([0.4],)), held.inverse_dynamics(q, qd, qdd), 1e-12, 50.0)


def test_what_is_driven_may_differ_by_row_and_broadcasts():
    robot = machine("tree").prescribe("joint1", joint4=[1])
    q, qd, qdd, _ = state(robot, 134, 5)
    rng = np.random.default_rng(135)
    value, speed, acceleration = rng.normal(size=(5, 2)), rng.normal(size=(5, 2)), rng.normal(size=2)
    made = robot.inverse_dynamics(q, qd, qdd, prescribed=(value, speed, acceleration))
    for k in range(5):
        one = robot.inverse_dynamics(q[k], qd[k], qdd[k], prescribed=(value[k], speed[k], acceleration))
        near(made[k], one, 1e-13, 10.0)
    many = robot.inverse_dynamics(q[0], qd[0], qdd[0], prescribed=(value, speed, acceleration))
    assert many.shape == (5, robot.nv)


def test_the_power_of_a_driven_joint_is_what_the_energy_is_short_of():
    """d(T + V)/dt = τ·q̇ + the power through the driven joint, which the reaction has."""
    robot, driven = machine("tree"), machine("tree").prescribe("joint1")
    q, qd, qdd, _ = state(robot, 136)
    given = q[:1], qd[:1], qdd[:1]
    tau = driven.inverse_dynamics(q[1:], qd[1:], qdd[1:], prescribed=given, joint_terms=())
    total, _, _, _ = driven.joint_reactions(q[1:], qd[1:], qdd[1:], prescribed=given)
    axis = robot.jacobian(q, robot.body_names[0])[:, 0]

    def energy(t):
        at, v = robot.integrate(q, t * qd + 0.5 * t * t * qdd), qd + t * qdd
        return robot.kinetic_energy(at, v, joint_terms=()) + robot.potential_energy(at)

    near(rate(energy), tau @ qd[1:] + qd[0] * axis @ total[0], 1e-7, 50.0)


def test_names_limits_and_random_states_are_those_of_what_is_left():
    builder = hinge.Builder("limited")
    builder.link("base")
    builder.link("a", mass=1.0, inertia=np.eye(3))
    builder.link("b", mass=1.0, inertia=np.eye(3))
    builder.joint("one", "cylindrical", "base", "a", lower=(-1, -2), upper=(1, 2), velocity=(3, 4), effort=(5, 6))
    builder.joint("two", "revolute", "a", "b", lower=-0.5, upper=0.5)
    driven = hinge.Robot(builder.build()).prescribe(one=[0])
    assert driven.limits.lower.tolist() == [-2, -0.5]
    assert driven.limits.velocity.tolist() == [4, np.inf]
    assert driven.limits.effort.tolist() == [6, np.inf]
    assert driven.coordinates("one") == (slice(0, 1), slice(0, 1))
    assert driven.neutral().tolist() == [0.0, 0.0]
    q, qd = driven.random_state(np.random.default_rng(0), 200)
    assert q.shape == qd.shape == (200, 2)
    assert np.all(np.abs(q) <= [2, 0.5])
    assert q[:, 0].max() > 1.5


def test_a_driven_robot_can_be_pickled_edited_and_varied():
    robot = machine("tree").prescribe("joint1").vary("link2.mass").with_payload("link5", 0.5)
    again = pickle.loads(pickle.dumps(robot))
    q, qd, qdd, _ = state(robot, 137)
    more = {"prescribed": ([0.2], [0.3], [0.4]), "parameters": {"link2.mass": 3.0}}
    near(again.inverse_dynamics(q, qd, qdd, **more), robot.inverse_dynamics(q, qd, qdd, **more), 0.0)
    plain = machine("tree").prescribe("joint1").inverse_dynamics(q, qd, qdd, prescribed=more["prescribed"])
    assert np.abs(plain - robot.inverse_dynamics(q, qd, qdd, **more)).max() > 0.1


def test_one_call_after_another_drives_more():
    robot = machine("tree")
    twice, once = robot.prescribe("joint1").prescribe("joint3"), robot.prescribe("joint1", "joint3")
    q, qd, qdd, _ = state(once, 138)
    given = np.r_[0.1, np.full(4, 0.5)], np.arange(4.0), np.arange(4.0)
    near(twice.inverse_dynamics(q, qd, qdd, prescribed=given), once.inverse_dynamics(q, qd, qdd, prescribed=given), 0.0)


def test_an_external_force_in_base_axes_finds_the_driven_pose():
    arm = hinge.samples.planar_2r()
    driven = arm.prescribe("shoulder")
    push = {"external": {"hand": [0, 0, 0, 1.0, 2.0, 3.0]}, "external_frame": "aligned"}
    made = driven.inverse_dynamics([0.2], [0.1], [0.0], prescribed=([0.7],), **push)
    near(made, arm.inverse_dynamics([0.7, 0.2], [0, 0.1], [0, 0], **push)[1:], 1e-13)


# what is refused


def test_motion_of_the_wrong_size_is_refused():
    robot = grown(139, ("revolute", "spherical", "revolute"), name="wand").prescribe("joint1", "joint2")
    call = robot.inverse_dynamics, [0.0], [0.0], [0.0]
    wanted = (
        "inverse_dynamics: robot 'wand' has driven joints.\n"
        "  Give prescribed=(value, rate, acceleration) with 5, 4 and 4 entries last."
    )
    five, four = np.zeros(5), np.zeros(4)
    assert refused(hinge.SizeError, *call) == wanted
    assert refused(hinge.SizeError, *call, prescribed=()) == wanted
    assert refused(hinge.SizeError, *call, prescribed=(five, four, four, four)) == wanted
    for one in (3, np.array(0.5), "up", {"joint1": 0.1}):
        said = wanted.replace("robot", f"prescribed is {one!r}, and robot")
        assert refused(hinge.SizeError, *call, prescribed=one) == said
    assert refused(hinge.SizeError, *call, prescribed=(four, four)) == (
        "inverse_dynamics: value of prescribed has shape (4,); it has to end in (5,)."
    )
    assert refused(hinge.SizeError, *call, prescribed=(five, five)) == (
        "inverse_dynamics: rate of prescribed has shape (5,); it has to end in (4,)."
    )
    assert refused(hinge.SizeError, *call, prescribed=(five, four, ["a"] * 4)) == (
        "inverse_dynamics: acceleration of prescribed is not an array of real numbers."
    )
    assert refused(hinge.SizeError, *call, prescribed=(np.zeros((2, 5)), np.zeros((3, 4)))) == (
        "inverse_dynamics: prescribed: the batches do not fit together: (2,), (3,), ()."
    )


def test_motion_for_a_robot_without_driven_joints_is_refused():
    arm = hinge.samples.planar_2r()
    assert refused(hinge.SizeError, arm.mass_matrix, [0.0, 0.0], prescribed=([0.0],)) == (
        "mass_matrix: prescribed= was given, but robot 'planar_2r' has no driven joint."
    )


def test_what_cannot_be_driven_is_refused_by_name():
    robot = machine("coupled")
    assert refused(hinge.NotCovered, robot.prescribe, "joint1") == (
        "joint 'joint1' cannot be driven: it is coupled to another joint."
    )
    assert refused(hinge.NotCovered, robot.prescribe, "joint3") == (
        "joint 'joint3' cannot be driven: it is coupled to another joint."
    )
    tree = machine("tree")
    assert refused(hinge.NotCovered, tree.prescribe("joint1").prescribe, "joint1") == (
        "joint 'joint1' cannot be driven: it is driven already."
    )
    assert refused(hinge.NotCovered, tree.prescribe, joint2=[2]) == (
        "joint 'joint2' cannot be driven: it has no velocity (2,)."
    )
    assert refused(hinge.NotCovered, tree.prescribe, joint3=[0]) == (
        "joint 'joint3' cannot be driven: its velocities are not rates of its coordinates, so only all of it can be "
        "driven."
    )
    message = refused(hinge.UnknownName, tree.prescribe, "joint9")
    assert message.startswith("robot 'machine' has no moving joint 'joint9'. Did you mean ")


def test_a_driven_robot_has_no_coriolis_matrix():
    robot = machine("tree").prescribe("joint1")
    q, qd, _, _ = state(robot, 140)
    assert refused(hinge.NotCovered, robot.coriolis_matrix, q, qd, prescribed=([0.0],)) == (
        "coriolis_matrix: nothing covers robot 'machine': joint 'joint1' is driven.\n  No method does."
    )
