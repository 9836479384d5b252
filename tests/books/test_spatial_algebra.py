"""featherstone1987, chapters 2, 3 and 8: what is printed there about vectors, inertias and joints."""

import numpy as np
import pytest
from book_matrices import absolute, cross, derivative, force, inertia, skew, transform, transpose

import hinge
from hinge.model import JOINTS
from hinge.spatial import Force, Mat3, Motion, Rigid, RigidInertia, Screw, Transform, Vec3
from hinge.spatial import cross as hinge_cross
from hinge.spatial import dot as hinge_dot
from hinge.spatial.rotation import displacement_exp, rotation_from_quaternion

RNG = np.random.default_rng(1987)
CLOSE = {"rtol": 1e-13, "atol": 1e-13}


def motion(v):
    return Motion(Vec3(tuple(v[:3])), Vec3(tuple(v[3:])))


def body(rng):
    """Mass, centre of mass and rotational inertia of four points, in general position."""
    points, m = rng.normal(size=(4, 3)), rng.uniform(0.5, 1.5, 4)
    c = m @ points / m.sum()
    return m.sum(), c, sum(w * skew(p - c) @ skew(p - c).T for w, p in zip(m, points, strict=True))


def rotation(rng):
    Q, _ = np.linalg.qr(rng.normal(size=(3, 3)))
    return Q * np.linalg.det(Q)


# chapter 2


def test_a_transform_of_motions_is_the_matrix_of_equation_2_18():
    E, r, m = rotation(RNG), RNG.normal(size=3), RNG.normal(size=6)
    X = Transform(Rigid(Mat3(E.ravel()), Vec3(r)))
    np.testing.assert_allclose(list(X @ motion(m)), transform(E, r) @ m, **CLOSE)


def test_the_cross_operator_is_the_matrix_of_equation_2_24():
    v, m = RNG.normal(size=(2, 6))
    np.testing.assert_allclose(list(hinge_cross(motion(v), motion(m))), cross(v) @ m, **CLOSE)
    f = RNG.normal(size=6)
    ours = hinge_cross(motion(v), Force(Vec3(f[3:]), Vec3(f[:3])))
    np.testing.assert_allclose(force(np.array(list(ours))), cross(v) @ f, **CLOSE)


def test_power_is_the_scalar_product_of_equation_3_19():
    m, f = RNG.normal(size=(2, 6))
    power = hinge_dot(motion(m), Force(Vec3(f[3:]), Vec3(f[:3])))
    np.testing.assert_allclose(power, transpose(m) @ f, **CLOSE)


@pytest.fixture(scope="module")
def moving():
    """A general arm on a smooth path: the poses of its last link as functions of time, and that link's name."""
    robot = hinge.samples.chain(np.random.default_rng(3), 4)
    q, qd, qdd = np.random.default_rng(4).normal(size=(3, 4))

    def pose(t):
        return robot.pose(q + qd * t + qdd * t * t / 2, "link4", backend="interpret")

    return robot, (q, qd, qdd), pose


def test_spatial_velocity_is_that_of_equation_2_28(moving):
    robot, (q, qd, _), pose = moving
    r, rate = pose(0.0)[:3, 3], derivative(lambda t: pose(t)[:3], 0.0, 0.01)
    spin = rate[:, :3] @ pose(0.0)[:3, :3].T
    omega = np.array([spin[2, 1], spin[0, 2], spin[1, 0]])
    printed = np.concatenate([omega, rate[:, 3] + np.cross(r, omega)])
    np.testing.assert_allclose(robot.velocity(q, qd, "link4", frame="base"), printed, rtol=1e-10, atol=1e-11)


def test_spatial_and_conventional_acceleration_are_those_of_equation_2_29(moving):
    robot, (q, qd, qdd), pose = moving
    r, speed = pose(0.0)[:3, 3], derivative(lambda t: pose(t)[:3, 3], 0.0, 0.01)
    conventional = derivative(lambda t: pose(t)[:3, 3], 0.0, 0.02, order=2)
    omega, alpha = (x[:3] for x in (robot.velocity(q, qd, "link4", frame="base"),
                                    robot.acceleration(q, qd, qdd, "link4", frame="base")))  # fmt: skip
    printed = conventional + np.cross(speed, omega) + np.cross(r, alpha)
    spatial = robot.acceleration(q, qd, qdd, "link4", frame="base")
    np.testing.assert_allclose(spatial[3:], printed, rtol=1e-9, atol=1e-9)
    classical = robot.acceleration(q, qd, qdd, "link4", frame="aligned", kind="classical")
    np.testing.assert_allclose(classical[3:], conventional, rtol=1e-9, atol=1e-9)
    assert np.max(np.abs(spatial[3:] - conventional)) > 0.1


def test_a_body_that_turns_steadily_has_no_spatial_acceleration():
    # Figure 2-4
    rod = hinge.samples.pendulum(1)
    rod_q, rod_qd = [0.7], [3.0]
    assert np.all(rod.acceleration(rod_q, rod_qd, [0.0], "rod1", frame="base") == 0.0)
    builder = hinge.Builder("wheel")
    builder.link("base")
    builder.link("wheel", 1.0)
    builder.joint("axle", "revolute", "base", "wheel", axis=(0, 0, 1))
    builder.frame("rim", "wheel", (0.5, 0, 0))
    wheel = hinge.Robot(builder.build())
    assert np.all(wheel.acceleration([0.0], [3.0], [0.0], "rim", frame="base") == 0.0)
    inward = wheel.acceleration([0.0], [3.0], [0.0], "rim", frame="aligned", kind="classical")
    np.testing.assert_allclose(inward, [0, 0, 0, -4.5, 0, 0], atol=1e-15)


# chapter 3


def test_the_inertia_matrix_is_that_of_equations_3_3_and_3_4():
    m, c, I = body(RNG)
    ours = np.array(RigidInertia.at_com(m, Vec3(c), I).articulated().matrix())
    np.testing.assert_allclose(force(ours.T).T, inertia(m, c, I), **CLOSE)
    H, M, J = m * skew(c), m * np.eye(3), I + skew(c) @ (m * -skew(c))
    np.testing.assert_allclose(force(ours.T).T, np.block([[H.T, M], [J, H]]), **CLOSE)
    np.testing.assert_allclose(transpose(inertia(m, c, I)), inertia(m, c, I), **CLOSE)


def test_the_inertia_of_a_rigid_assembly_is_the_sum_of_equation_3_8():
    (m1, c1, I1), (m2, c2, I2) = body(RNG), body(RNG)
    m, c = m1 + m2, (m1 * c1 + m2 * c2) / (m1 + m2)
    about = [I + mass * skew(at - c) @ skew(at - c).T for mass, at, I in ((m1, c1, I1), (m2, c2, I2))]
    whole = RigidInertia.at_com(m1, Vec3(c1), I1) + RigidInertia.at_com(m2, Vec3(c2), I2)
    np.testing.assert_allclose(whole.m, m, **CLOSE)
    np.testing.assert_allclose(whole.com, c, **CLOSE)
    np.testing.assert_allclose(np.reshape(whole.about_com.full(), (3, 3)), sum(about), **CLOSE)


def test_the_inverse_inertia_is_the_closed_form_of_equation_3_14():
    m, c, I = body(RNG)
    K = np.linalg.inv(I)
    printed = np.block([[K @ -skew(c), K], [np.eye(3) / m + skew(c) @ K @ -skew(c), skew(c) @ K]])
    np.testing.assert_allclose(printed @ inertia(m, c, I), np.eye(6), atol=1e-12)
    ours = np.array(RigidInertia.at_com(m, Vec3(c), I).inverse().matrix())
    np.testing.assert_allclose(force(ours), printed, rtol=1e-11, atol=1e-12)


def bias(rigid, v):
    return np.array(list(hinge_cross(motion(v), rigid @ motion(v))))


def test_a_steady_motion_needs_no_force_in_the_three_cases_of_section_3_4_example_1():
    m, c, I = body(RNG)
    rigid = RigidInertia.at_com(m, Vec3(c), I)
    principal = np.linalg.eigh(I)[1]
    assert np.all(bias(rigid, np.zeros(6)) == 0.0)
    np.testing.assert_allclose(bias(rigid, [0, 0, 0, *RNG.normal(size=3)]), 0.0, atol=1e-14)
    for axis in principal.T:  # through the centre of mass, with any pitch
        np.testing.assert_allclose(bias(rigid, [*axis, *(np.cross(c, axis) + 0.3 * axis)]), 0.0, atol=1e-12)
    other = principal @ [1, 1, 1]
    assert np.max(np.abs(bias(rigid, [*other, *np.cross(c, other)]))) > 0.1
    assert np.max(np.abs(bias(rigid, [*principal[:, 0], 0, 0, 0]))) > 0.01  # not through the centre of mass


def sphere_on_shaft(kind, axis, **parameters):
    builder = hinge.Builder("figure 3-2", gravity=(0, 0, 0))
    builder.link("base")
    builder.link("sphere", 2.0, (0, 0, 0), 0.3 * np.eye(3))
    builder.link("cylinder", 0.7, (0, 0, 0), np.diag([0.05, 0.01, 0.05]))
    builder.joint("free", "free", "base", "sphere")
    builder.joint("shaft", kind, "sphere", "cylinder", axis=axis, **parameters)
    robot = hinge.Robot(builder.build())
    inverse = robot.inverse_mass_matrix(robot.neutral())
    return np.linalg.inv(inverse[:6, :6])  # the apparent inertia of the sphere, all else giving way


def test_the_apparent_mass_of_figure_3_2_depends_on_direction():
    IA = sphere_on_shaft("cylindrical", (0, 1, 0))
    np.testing.assert_allclose(IA[3:, 3:], np.diag([2.7, 2.0, 2.7]), rtol=1e-13, atol=1e-14)
    np.testing.assert_allclose(IA[:3, 3:], 0.0, atol=1e-14)  # it still has a centre of mass


def test_a_shaft_on_no_coordinate_axis_gives_a_full_symmetric_apparent_mass():
    n = np.array([1.0, 2.0, 2.0]) / 3
    IA = sphere_on_shaft("cylindrical", n)
    np.testing.assert_allclose(IA[3:, 3:], 2.7 * np.eye(3) - 0.7 * np.outer(n, n), rtol=1e-13, atol=1e-14)


def test_a_screw_in_place_of_the_shaft_takes_the_centre_of_mass_away():
    IA = sphere_on_shaft("helical", (0, 1, 0), pitch=0.2)
    assert abs(IA[1, 4]) > 1e-3  # a force along y makes the sphere turn
    np.testing.assert_allclose(IA, IA.T, atol=1e-13)


# chapter 8

C, S = np.cos(0.6), np.sin(0.6)
TURN = [[C, S, 0], [-S, C, 0], [0, 0, 1]]
TABLE_8_1 = {  # E, r, columns of S; q1 = 0.6, q2 = -0.4, ρ = 0.25
    "revolute": (TURN, (0, 0, 0), [(0, 0, 1, 0, 0, 0)]),
    "prismatic": (np.eye(3), (0, 0, 0.6), [(0, 0, 0, 0, 0, 1)]),
    "screw": (TURN, (0, 0, 0.25 * 0.6), [(0, 0, 1, 0, 0, 0.25)]),
    "cylindric": (TURN, (0, 0, -0.4), [(0, 0, 1, 0, 0, 0), (0, 0, 0, 0, 0, 1)]),
}


@pytest.mark.parametrize("name", TABLE_8_1)
def test_a_row_of_table_8_1_is_a_joint(name):
    E, r, axes = TABLE_8_1[name]
    kind = next(cls for cls in JOINTS.values() if cls.dh == name)
    joint = kind(pitch=0.25) if name == "screw" else kind()
    q = [0.6, -0.4][: joint.nq]
    R, p = joint.transform(q).pose()
    np.testing.assert_allclose(np.reshape(R, (3, 3)).T, E, atol=1e-15)
    np.testing.assert_allclose(p, r, atol=1e-15)
    np.testing.assert_array_equal([list(s) for s in joint.axes(q)], axes)
    X, m = joint.transform(q), RNG.normal(size=6)
    np.testing.assert_allclose(list(X @ motion(m)), transform(np.array(E), r) @ m, **CLOSE)


def test_a_screw_about_the_z_axis_is_the_matrix_of_section_8_3_4():
    d, m = 0.35, RNG.normal(size=6)
    printed = [[C, S, 0, 0, 0, 0], [-S, C, 0, 0, 0, 0], [0, 0, 1, 0, 0, 0], [-S * d, C * d, 0, C, S, 0],
               [-C * d, -S * d, 0, -S, C, 0], [0, 0, 0, 0, 0, 1]]  # fmt: skip
    np.testing.assert_allclose(list(Transform(Screw(2, 0.6, d)) @ motion(m)), np.array(printed) @ m, **CLOSE)


def test_euler_parameters_change_as_in_equation_8_1():
    q0, q1, q2, q3 = q = RNG.normal(size=4)
    w = RNG.normal(size=3)
    printed = 0.5 * np.array([[-q1, -q2, -q3], [q0, -q3, q2], [q3, q0, -q1], [-q2, q1, q0]]) @ w
    for kind, rates in (("spherical", list(w)), ("free", [*w, 0.0, 0.0, 0.0])):
        position = list(q) + [0.0] * (len(rates) - 3)
        np.testing.assert_allclose(JOINTS[kind]().rate(position, rates)[:4], printed, **CLOSE)


def test_euler_parameters_turn_as_in_equation_8_2():
    q0, q1, q2, q3 = q = (x := RNG.normal(size=4)) / np.linalg.norm(x)
    printed = 2 * np.array([
        [q0**2 + q1**2 - 0.5, q1 * q2 + q0 * q3, q1 * q3 - q0 * q2],
        [q1 * q2 - q0 * q3, q0**2 + q2**2 - 0.5, q2 * q3 + q0 * q1],
        [q1 * q3 + q0 * q2, q2 * q3 - q0 * q1, q0**2 + q3**2 - 0.5],
    ])  # fmt: skip
    for length in (1.0, 7.5):  # any length will do
        ours = np.reshape(rotation_from_quaternion(length * q), (3, 3)).T
        np.testing.assert_allclose(ours, printed, rtol=1e-14, atol=2e-15)
    pose = np.eye(4)
    R, p = JOINTS["free"]().transform([*q, 0.1, 0.2, 0.3]).pose()
    pose[:3, :3], pose[:3, 3] = np.reshape(R, (3, 3)), p
    np.testing.assert_allclose(absolute(pose), np.linalg.inv(transform(printed, (0.1, 0.2, 0.3))), **CLOSE)


# zefran2004


def rodrigues(w):
    a = np.linalg.norm(w)
    return np.eye(3) + np.sin(a) / a * skew(w) + 2 * np.sin(a / 2) ** 2 / a**2 * skew(w) @ skew(w)


@pytest.mark.parametrize("scale", [2.0, 0.3, 0.02])
def test_the_exponential_of_a_twist_is_equation_3_of_zefran2004(scale):
    w, v = RNG.normal(size=3) * scale, RNG.normal(size=3)
    R = rodrigues(w)
    quaternion, shift = displacement_exp(Vec3(w), Vec3(v))
    np.testing.assert_allclose(np.reshape(rotation_from_quaternion(quaternion), (3, 3)), R, rtol=1e-14, atol=1e-14)
    printed = ((np.eye(3) - R) @ np.cross(w, v) + np.outer(w, w) @ v) / (w @ w)
    np.testing.assert_allclose(shift, printed, rtol=1e-12, atol=1e-15 / scale)  # the print divides by |w|²


@pytest.mark.parametrize("scale", [2.0, 0.02, 1e-5, 1e-9, 0.0])
def test_the_exponential_of_a_twist_is_exact_where_the_printed_form_is_not(scale):
    w, v = RNG.normal(size=3) * scale, RNG.normal(size=3)
    series, term = np.zeros(3), v
    for k in range(1, 60):
        series, term = series + term, skew(w) @ term / (k + 1)
    _, shift = displacement_exp(Vec3(w), Vec3(v))
    np.testing.assert_allclose(shift, series, rtol=2e-15, atol=2e-15)
