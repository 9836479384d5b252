"""Joints and articulated bodies as the text has them: featherstone1987 3.6.1, 7.3, 7.4 and Table 8-1."""

import numpy as np
import pytest
from machines import grown, near, random_body, random_rotation, rate, state, stiffness

import hinge
from hinge.model.joints import Cylindrical, Free, Helical, Prismatic, Revolute, Spherical
from hinge.model.mechanisms import Planar, PlanarOuter, SphericalAngles, Universal

RNG = np.random.default_rng(50)
q1, q2, q3 = q = RNG.uniform(-1.2, 1.2, 3)
(c1, c2, c3), (s1, s2, s3) = np.cos(q), np.sin(q)
Ez = np.array([[c1, s1, 0], [-s1, c1, 0], [0, 0, 1.0]])
PITCH = 0.21
I3, O3 = np.eye(3), np.zeros((3, 3))

# row, joint, E, r and S as printed; E takes inner to outer coordinates, r is the outer origin in the inner frame
TABLE_8_1 = {
    "revolute": (Revolute(), Ez, (0, 0, 0), [[0, 0, 1, 0, 0, 0]]),
    "prismatic": (Prismatic(), I3, (0, 0, q1), [[0, 0, 0, 0, 0, 1]]),
    "screw": (Helical(pitch=PITCH), Ez, (0, 0, PITCH * q1), [[0, 0, 1, 0, 0, PITCH]]),
    "cylindric": (Cylindrical(), Ez, (0, 0, q2), [[0, 0, 1, 0, 0, 0], [0, 0, 0, 0, 0, 1]]),
    "Hooke": (
        Universal(), [[c2, s1 * s2, -c1 * s2], [0, c1, s1], [s2, -s1 * c2, c1 * c2]], (0, 0, 0),
        [[c2, 0, s2, 0, 0, 0], [0, 1, 0, 0, 0, 0]],
    ),
    "spherical": (
        SphericalAngles(),
        [[c2 * c3, c1 * s3 + s1 * s2 * c3, s1 * s3 - c1 * s2 * c3],
         [-c2 * s3, c1 * c3 - s1 * s2 * s3, s1 * c3 + c1 * s2 * s3], [s2, -s1 * c2, c1 * c2]], (0, 0, 0),
        [[c2 * c3, -c2 * s3, s2, 0, 0, 0], [s3, c3, 0, 0, 0, 0], [0, 0, 1, 0, 0, 0]],
    ),
    "planar, inner": (  # TRAPS: with r as printed the sub-space is the one below the table
        Planar(), Ez, (q2, q3, 0), [[0, 0, 1, 0, 0, 0], [0, 0, 0, c1, -s1, 0], [0, 0, 0, s1, c1, 0]],
    ),
    "planar, outer": (  # TRAPS: with displacements in the outer frame r is turned, and the first column has them
        PlanarOuter(), Ez, Ez.T @ (q2, q3, 0), [[0, 0, 1, -q3, q2, 0], [0, 0, 0, 1, 0, 0], [0, 0, 0, 0, 1, 0]],
    ),
}  # fmt: skip


@pytest.mark.parametrize("row", TABLE_8_1)
def test_a_row_of_table_8_1_is_the_joint(row):
    joint, E, r, S = TABLE_8_1[row]
    at = q[: joint.nq].tolist()
    R, p = joint.transform(at).pose()
    near(np.reshape(R, (3, 3)).T, E, 1e-15)
    near(p, r, 1e-15)
    near([[*s.ang, *s.lin] for s in joint.axes(at)], S, 1e-15)


def test_euler_parameters_turn_as_8_1_and_8_2_say():
    w, x, y, z = e = np.array([0.5, -0.1, 0.7, 0.5])
    R, _ = Spherical().transform(e.tolist()).pose()
    E = 2 * np.array([
        [w * w + x * x - 0.5, x * y + w * z, x * z - w * y],
        [x * y - w * z, w * w + y * y - 0.5, y * z + w * x],
        [x * z + w * y, y * z - w * x, w * w + z * z - 0.5],
    ])  # fmt: skip
    near(np.reshape(R, (3, 3)).T, E, 1e-15)
    M = 0.5 * np.array([[-x, -y, -z], [w, -z, y], [z, w, -x], [-y, x, w]])
    near(Spherical().rate(e.tolist(), [1.0, 2.0, 3.0]), M @ [1, 2, 3], 1e-15)


# 3.6.1: apparent inertia


def sphere_on_shaft(kind, direction=(0, 1, 0), **more):
    builder = hinge.Builder("figure_3_2", gravity=(0, 0, 0))
    builder.link("sphere", mass=3.0, inertia=np.eye(3) * 0.4)
    builder.link("cylinder", mass=2.0, inertia=np.diag([0.3, 0.1, 0.3]))
    builder.joint("shaft", kind, "sphere", "cylinder", axis=direction, **more)
    return hinge.Robot(builder.build(base="floating"))


def apparent_inertia(robot):
    """The forces on the sphere for each of its accelerations, while the shaft is left alone."""
    n = robot.nv
    known, rest = np.arange(n) < 6, np.zeros(n)
    forces, _ = robot.hybrid_dynamics(robot.neutral(), rest, rest, np.eye(n)[:6], known)
    return forces[:, :6].T


def test_the_apparent_mass_of_figure_3_2_depends_on_direction():
    IA = apparent_inertia(sphere_on_shaft("cylindrical"))
    near(IA[3:, 3:], np.diag([5.0, 3.0, 5.0]), 1e-14)
    near(IA[3:, :3], O3, 1e-14)  # it has a centre of mass
    near(IA[:3, :3], np.diag([0.7, 0.4, 0.7]), 1e-14)


def test_a_force_on_the_sphere_of_figure_3_2_moves_what_the_shaft_lets_it():
    robot = sphere_on_shaft("cylindrical")
    still = np.zeros(robot.nv)
    for axis, mass in ((0, 5.0), (1, 3.0), (2, 5.0)):
        push = np.eye(6)[3 + axis]
        for method in ("articulated", "composite"):
            qdd = robot.forward_dynamics(robot.neutral(), still, still, external={"sphere": push}, method=method)
            near(qdd[:6], push / mass, 1e-14)


def test_the_apparent_mass_is_symmetric_when_the_shaft_is_askew():
    n = np.array([0.48, -0.6, 0.64])
    IA = apparent_inertia(sphere_on_shaft("cylindrical", n))
    near(IA[3:, 3:], 5.0 * np.eye(3) - 2.0 * np.outer(n, n), 1e-14)


def test_with_a_screw_a_force_along_the_shaft_turns_the_sphere():
    """Then no centre of mass exists: by hand, D = 0.1 + 2 ρ² and IA is I less the part along the screw."""
    rho = 0.3
    IA = apparent_inertia(sphere_on_shaft("helical", pitch=rho))
    D = 0.1 + 2.0 * rho * rho
    near(IA[4, 4], 5.0 - 4.0 * rho * rho / D, 1e-14)
    near(IA[1, 1], 0.5 - 0.01 / D, 1e-14)
    near(IA[4, 1], -2.0 * rho * 0.1 / D, 1e-14)
    robot = sphere_on_shaft("helical", pitch=rho)
    still = np.zeros(7)
    qdd = robot.forward_dynamics(robot.neutral(), still, still, external={"sphere": [0, 0, 0, 0, 1, 0]})
    assert abs(qdd[1]) > 0.1


def test_a_free_body_on_the_last_link_leaves_its_accelerations_unchanged():
    """(7.19) with six freedoms gives I, whatever hangs there: the others' accelerations and forces are the same."""
    bare = grown(51, ("revolute", "universal", "prismatic"))
    laden = grown(51, ("revolute", "universal", "prismatic", "free", "revolute"), (0, 1, 2, 3, 4))
    n, m = bare.nv, bare.nq
    x, xd, _, tau = state(laden, 52)
    tau[n:] = 0.0
    want = bare.forward_dynamics(x[:m], xd[:n], tau[:n])
    for method in ("articulated", "composite"):
        near(laden.forward_dynamics(x, xd, tau, method=method)[:n], want, 1e-14, stiffness(laden, x))
    hung, axes = laden.model.joint[4], Free().axes([1.0] + [0.0] * 6)
    assert type(hung) is Free
    assert len(axes) == 6


# 7.4.4: rolling


def ball(radius=0.4, gravity=(0.0, 0.0, -9.81)):
    """A lopsided ball on a tilted plane."""
    builder = hinge.Builder("ball", gravity)
    builder.link("base")
    builder.link("ball", mass=2.0, com=(0.05, -0.08, 0.03), inertia=np.diag([0.08, 0.11, 0.09]))
    R = random_rotation(np.random.default_rng(53))
    builder.joint("floor", "rolling", "base", "ball", (0.3, -0.2, 0.1), R, radius=radius)
    return hinge.Robot(builder.build()), R


def test_a_rolling_ball_has_five_coordinates_of_position_and_three_velocities():
    robot, _ = ball()
    assert (robot.nq, robot.nv) == (6, 3)  # the quaternion's length is not one of the five
    assert not robot.model.joint[1].holonomic
    J = np.array([robot.model.joint[1].rate(robot.neutral().tolist(), e) for e in np.eye(3).tolist()], float)
    assert np.linalg.matrix_rank(J) == 3


def test_the_point_of_a_rolling_ball_that_touches_the_plane_has_no_velocity():
    robot, R = ball()
    x, v = robot.random_state(RNG, 5)
    T, V = robot.pose(x, "ball"), robot.velocity(x, v, "ball", frame="aligned")
    for pose_, motion in zip(T, V, strict=True):
        down = -0.4 * R[:, 2]
        near(motion[3:] + np.cross(motion[:3], down), np.zeros(3), 1e-14, 2.0)
        near(R[:, 2] @ (pose_[:3, 3] - (0.3, -0.2, 0.1)), 0.0, 1e-14)  # the centre stays at its height


def test_a_ball_rolled_around_a_square_comes_back_turned():
    """No function of position is conserved: rolling is not a constraint on where the ball can be."""
    robot, _ = ball()
    at = robot.neutral()
    side = 0.4 * np.pi / 2
    for x, y in ((1, 0), (0, 1), (-1, 0), (0, -1)):
        R = _rotation(at[:4])
        at = robot.integrate(at, R.T @ (np.array([-y, x, 0]) * np.pi / 2))
    near(at[4:], np.zeros(2), 1e-14, side)
    assert np.abs(_rotation(at[:4]) - np.eye(3)).max() > 0.9


def _rotation(e):
    R, _ = Spherical().transform(e.tolist()).pose()
    return np.reshape(R, (3, 3)).astype(float)


def test_a_rolling_ball_keeps_its_energy():
    robot, _ = ball()
    x, v = robot.neutral(), np.array([1.0, -2.0, 1.5])

    def energy():
        return float(robot.kinetic_energy(x, v) + robot.potential_energy(x))

    def slope(xx, vv):
        return robot.forward_dynamics(xx, vv, np.zeros(3))

    start, moved = energy(), x
    h = 1e-3
    for _ in range(300):  # the midpoint rule, whose error over a time of 0.3 s is of the size of h²
        half_v = v + h / 2 * slope(x, v)
        half_x = robot.integrate(x, h / 2 * v)
        x, v = robot.integrate(x, h * half_v), v + h * slope(half_x, half_v)
    assert np.abs(x[4:] - moved[4:]).max() > 0.1
    near(energy(), start, 1e-4, float(robot.kinetic_energy(x, v)))


def test_the_power_of_a_rolling_ball_is_the_rate_of_its_energy():
    robot, _ = ball()
    x, v, a, _ = state(robot, 54)
    power = robot.inverse_dynamics(x, v, a) @ v

    def energy(t):
        there = robot.integrate(x, t * v)
        return robot.kinetic_energy(there, v + t * a) + robot.potential_energy(there)

    near(power, rate(energy), 1e-7, 30.0)


def test_an_even_ball_on_a_slope_rolls_down_at_five_sevenths_of_a_slide():
    builder = hinge.Builder("marble")
    builder.link("base")
    m, r, tilt = 0.7, 0.25, 0.4
    builder.link("ball", mass=m, inertia=np.eye(3) * 0.4 * m * r * r)
    slope = np.array([[np.cos(tilt), 0, np.sin(tilt)], [0, 1, 0], [-np.sin(tilt), 0, np.cos(tilt)]])
    builder.joint("slope", "rolling", "base", "ball", rotation=slope, radius=r)
    robot = hinge.Robot(builder.build())
    x, v, _, _ = state(robot, 55)
    near(_rotation(x[:4]) @ robot.forward_dynamics(x, v, np.zeros(3)), [0, 5 / 7 * 9.81 * np.sin(tilt) / r, 0], 1e-13)


# 7.3: what drives a screw


@pytest.mark.parametrize("rho", [0.05, -0.3, 2.0])
def test_a_unit_of_screw_force_does_a_unit_of_work_a_radian(rho):
    """A force of ρ/(1 + ρ²) and a couple of 1/(1 + ρ²); driven by a couple, the couple is 1."""
    for how, couple, force in (("screw", 1 / (1 + rho**2), rho / (1 + rho**2)), ("couple", 1.0, 0.0)):
        joint = Helical(pitch=rho, driven_by=how)
        (f,) = joint.actuation([0.3])
        near([*f], [0, 0, couple, 0, 0, force], 1e-15)
        (s,) = joint.axes([0.3])
        near(sum(a * b for a, b in zip(s, f, strict=True)), 1.0, 1e-15)


def test_how_a_screw_is_driven_changes_its_bearing_and_nothing_else():
    rng = np.random.default_rng(56)
    body, R = random_body(rng), random_rotation(rng)
    made = []
    for how in ("screw", "couple"):
        builder = hinge.Builder(how)
        builder.link("base")
        builder.link("nut", **body)
        builder.joint("thread", "helical", "base", "nut", (0.1, 0.2, 0.3), R, pitch=0.3, driven_by=how)
        robot = hinge.Robot(builder.build())
        x, v, a = [0.4], [1.2], [-0.7]
        made.append((robot.inverse_dynamics(x, v, a), *robot.joint_reactions(x, v, a)))
    (tau, total, active, bearing, _), (tau_c, total_c, active_c, bearing_c, _) = made
    near(tau, tau_c, 1e-14)
    near(total, total_c, 1e-14, 10.0)
    rho = 0.3
    near(active[0], tau[0] / (1 + rho**2) * np.array([0, 0, 1, 0, 0, rho]), 1e-13, 10.0)
    near(active_c[0], tau[0] * np.array([0, 0, 1, 0, 0, 0]), 1e-13, 10.0)
    assert np.abs(bearing - bearing_c).max() > 0.1
    near(bearing + active, bearing_c + active_c, 1e-13, 10.0)
