"""Forces through joints, their active and bearing parts, and the force on the base: featherstone1987 7.4.2."""

import numpy as np
import pytest
from machines import MACHINES, grown, machine, near, random_body, random_rotation, rate, state

import hinge

# many robots of a few calls each, which are not worth compiling
pytestmark = pytest.mark.usefixtures("plain_interpreter")

every = pytest.mark.parametrize("which", [*MACHINES, "coupled"])


def axes_of(robot, q, i):
    """The axes of joint i in the frame of its body: how the body moves for the joint's own velocities."""
    joint, frame = robot.model.joint[i + 1], robot.model.frames[robot.body_names[i]]
    assert frame.p == (0.0, 0.0, 0.0)  # these robots' links are where their joints put them
    at = robot.model.joint_positions(q.tolist())[i + 1]
    return np.array([[*s.ang, *s.lin] for s in joint.axes(at)], float).T


@every
def test_the_whole_force_is_the_active_and_the_bearing_part(which):
    robot = machine(which)
    q, qd, qdd, _ = state(robot, 90, 3)
    total, active, bearing, base = robot.joint_reactions(q, qd, qdd)
    assert total.shape == active.shape == bearing.shape == (3, len(robot.body_names), 6)
    assert base.shape == (3, 6)
    near(active + bearing, total, 1e-13, 50.0)


@every
def test_the_active_part_does_all_the_work_and_the_bearing_none(which):
    robot = machine(which)
    q, qd, qdd, _ = state(robot, 91)
    total, active, bearing, _ = robot.joint_reactions(q, qd, qdd)
    tau = robot.inverse_dynamics(q, qd, qdd, joint_terms=())
    made = np.zeros(robot.nv)
    for i, name in enumerate(robot.joint_names):
        S = axes_of(robot, q, i)
        near(S.T @ bearing[i], np.zeros(S.shape[1]), 1e-12, 100.0)
        near(S.T @ active[i], S.T @ total[i], 1e-12, 100.0)
        made[robot.coordinates(name)[1]] += robot.model.ratio(i + 1) * (S.T @ active[i])
    near(made, tau, 1e-12, 100.0)


@every
def test_the_active_part_is_what_actuators_can_make(which):
    robot = machine(which)
    q, qd, qdd, _ = state(robot, 92)
    _, active, _, _ = robot.joint_reactions(q, qd, qdd)
    places = robot.model.joint_positions(q.tolist())
    for i in range(len(robot.body_names)):
        F = np.array([[*f] for f in robot.model.joint[i + 1].actuation(places[i + 1])], float).T
        near(F @ np.linalg.lstsq(F, active[i], rcond=None)[0], active[i], 1e-12, 50.0)


@every
def test_at_rest_the_base_carries_the_weight(which):
    robot = machine(which)
    q, _, _, _ = state(robot, 93, 3)
    still = np.zeros(robot.nv)
    _, _, _, base = robot.joint_reactions(q, still, still)
    weight = np.array([0, 0, 9.81 * robot.mass])
    near(base[:, 3:], np.broadcast_to(weight, (3, 3)), 1e-12)
    near(base[:, :3], np.cross(robot.center_of_mass(q), weight), 1e-12, 50.0)


def test_the_force_on_the_base_is_the_rate_of_momentum_less_the_weight():
    robot = machine("tree")
    q, qd, qdd, _ = state(robot, 94)
    _, _, _, base = robot.joint_reactions(q, qd, qdd)
    weight = np.array([0, 0, -9.81 * robot.mass])
    made = rate(lambda t: robot.momentum(robot.integrate(q, t * qd + 0.5 * t * t * qdd), qd + t * qdd))
    near(base, made - np.r_[np.cross(robot.center_of_mass(q), weight), weight], 1e-7, 50.0)


def test_a_pendulum_hangs_on_its_pivot_as_in_the_textbook():
    """In the rod's frame: m (-l/2 q̈ - g sin q) across it, m (l/2 q̇² + g cos q) along it, m l²/3 q̈ + m g l/2 sin q."""
    rod = hinge.samples.pendulum(1, length=1.4, mass=2.5)
    q, qd, qdd, m, l, g = 0.6, -1.7, 0.9, 2.5, 1.4, 9.81
    total, active, bearing, base = rod.joint_reactions([q], [qd], [qdd])
    force = m * np.array([-l / 2 * qdd - g * np.sin(q), 0.0, l / 2 * qd**2 + g * np.cos(q)])
    couple = m * l * l / 3 * qdd + m * g * l / 2 * np.sin(q)
    near(total[0], [0, couple, 0, *force], 1e-14, 30.0)
    near(active[0], [0, couple, 0, 0, 0, 0], 1e-14, 30.0)
    near(bearing[0], [0, 0, 0, *force], 1e-14, 30.0)
    R = np.array([[np.cos(q), 0, np.sin(q)], [0, 1, 0], [-np.sin(q), 0, np.cos(q)]])
    near(base, [0, couple, 0, *(R @ force)], 1e-14, 30.0)


def test_two_rods_push_on_each_other_with_opposite_forces():
    """What the second rod takes the first gives, so the first needs its own rate of momentum and that force."""
    rods = hinge.samples.pendulum(2)
    q, qd, qdd, _ = state(rods, 95)
    total, _, _, base = rods.joint_reactions(q, qd, qdd)
    T = [rods.pose(q, name) for name in ("rod1", "rod2")]
    there = [np.r_[t[:3, :3] @ f[:3] + np.cross(t[:3, 3], t[:3, :3] @ f[3:]), t[:3, :3] @ f[3:]]
             for t, f in zip(T, total, strict=True)]  # fmt: skip
    near(base, there[0], 1e-13, 30.0)
    alone = hinge.samples.pendulum(1)
    _, _, _, own = alone.joint_reactions(q[:1], qd[:1], qdd[:1])
    near(there[0], own + there[1], 1e-13, 30.0)


# frames


def test_forces_are_in_the_frames_of_the_links():
    """The same robot with its link frames turned and shifted has the same forces, seen from the other frames."""
    rng = np.random.default_rng(96)
    kinds = ("revolute", "spherical", "prismatic", "planar")
    parts = [(random_body(rng), random_rotation(rng), rng.normal(size=3) * 0.3) for _ in kinds]
    seats = [(random_rotation(rng), rng.normal(size=3)) for _ in kinds]
    axes = rng.normal(size=(4, 3))

    def built(seated):
        builder = hinge.Builder("framed")
        builder.link("base")
        at, before = "base", (np.eye(3), np.zeros(3))
        for k, (kind, (body, R, p)) in enumerate(zip(kinds, parts, strict=True), start=1):
            turn, shift = seats[k - 1] if seated else (np.eye(3), np.zeros(3))
            inertia = turn.T @ body["inertia"] @ turn
            builder.link(f"link{k}", body["mass"], turn.T @ (body["com"] - shift), inertia)
            placed = before[0].T @ (p - before[1]), before[0].T @ R
            axis = axes[k - 1] if kind in ("revolute", "prismatic") else None
            builder.joint(f"joint{k}", kind, at, f"link{k}", *placed, axis, child_xyz=shift, child_rotation=turn)
            at, before = f"link{k}", (turn, shift)
        return hinge.Robot(builder.build())

    plain, seated = built(False), built(True)
    q, qd, qdd, _ = state(plain, 97)
    near(seated.inverse_dynamics(q, qd, qdd), plain.inverse_dynamics(q, qd, qdd), 1e-12, 50.0)
    *mine, base = plain.joint_reactions(q, qd, qdd)
    *theirs, same = seated.joint_reactions(q, qd, qdd)
    near(same, base, 1e-12, 50.0)
    for here, there in zip(mine, theirs, strict=True):
        for k, (R, p) in enumerate(seats):
            couple, force = here[k, :3], here[k, 3:]
            near(there[k], [*(R.T @ (couple - np.cross(p, force))), *(R.T @ force)], 1e-12, 50.0)


def test_the_force_in_a_body_frame_is_the_one_an_external_force_would_replace():
    """Push the last body with its own joint force, in its frame: then its joint need give none."""
    robot = grown(98, ("revolute", "universal", "spherical"))
    q, qd, qdd, _ = state(robot, 99)
    total, _, _, _ = robot.joint_reactions(q, qd, qdd)
    pushed, _, _, base = robot.joint_reactions(q, qd, qdd, external={"link3": total[2]})
    near(pushed[2], np.zeros(6), 1e-12, 50.0)
    short = grown(98, ("revolute", "universal"))
    want, _, _, below = short.joint_reactions(q[:3], qd[:3], qdd[:3])
    near(pushed[:2], want, 1e-12, 50.0)
    near(base, below, 1e-12, 50.0)


def test_a_moving_base_is_felt_in_every_joint():
    robot = machine("tree")
    q, qd, qdd, _ = state(robot, 100)
    base_motion = np.arange(6) / 3.0, np.arange(6) - 2.0
    total, _, _, _ = robot.joint_reactions(q, qd, qdd, base_motion=base_motion)
    tau = robot.inverse_dynamics(q, qd, qdd, base_motion=base_motion, joint_terms=())
    for i, name in enumerate(robot.joint_names):
        near(axes_of(robot, q, i).T @ total[i], tau[robot.coordinates(name)[1]], 1e-12, 100.0)


def test_the_force_of_a_driven_joint_is_in_its_reaction():
    arm = hinge.samples.planar_2r()
    q, qd, qdd, _ = state(arm, 101)
    driven = arm.prescribe("shoulder")
    total, active, _, base = driven.joint_reactions(q[1:], qd[1:], qdd[1:], prescribed=(q[:1], qd[:1], qdd[:1]))
    want, _, _, same = arm.joint_reactions(q, qd, qdd)
    near(total, want, 1e-13, 30.0)
    near(base, same, 1e-13, 30.0)
    near(active[0], np.zeros(6), 0.0)  # its actuator is not among the robot's
