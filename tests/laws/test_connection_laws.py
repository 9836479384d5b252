"""Laws of the Christoffel symbols, of the connection of the mass matrix, and of the motions they make."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given
from robots import drawn, families, law, plain_families, robot_of, seeds, weightless
from yardsticks import assert_close, rate_along_motion

import hinge
from hinge.errors import NotCovered

# many robots of a few calls each, which are not worth compiling
pytestmark = pytest.mark.usefixtures("plain_interpreter")


def holonomic(robot):
    return all(joint.holonomic for joint in robot.model.joint)


@plain_families
@given(seed=seeds)
@law(4)
def test_the_recursion_and_the_derivatives_of_the_mass_matrix_agree(family, seed):
    robot, _, q, _, _ = drawn(family, seed)
    made = robot.christoffel(q, method="recursive")
    assert_close(made, robot.christoffel(q, method="differentiation"), 1e-12, 10.0)
    assert_close(made, robot.christoffel(q, method="strobe"), 1e-11, 10.0)
    assert made.tolist() == np.swapaxes(made, -1, -2).tolist()


@pytest.mark.sampled(1)
@plain_families
@given(seed=seeds)
@law(4)
def test_christoffel_symbols_make_the_coriolis_matrix_which_is_passive(family, seed):
    robot, _, q, qd, _ = drawn(family, seed)
    C = robot.christoffel(q) @ qd
    assert_close(C, robot.coriolis_matrix(q, qd), 1e-12, 10.0)
    assert_close(C @ qd, robot.bias_force(q, qd) - robot.gravity_force(q), 1e-11, 10.0)
    rate = rate_along_motion(robot, "mass_matrix", q, qd)
    assert_close(C + C.T, rate, 1e-12, 10.0)
    assert abs(qd @ (rate - 2 * C) @ qd) < 1e-10 * (1.0 + np.abs(C).max())


@plain_families
@given(seed=seeds)
@law(3)
def test_symbols_of_the_second_kind_are_those_of_the_first_by_the_inverse_mass_matrix(family, seed):
    robot, _, q, _, _ = drawn(family, seed)
    made = np.einsum("li,ljk->ijk", robot.mass_matrix(q), robot.connection(q))
    assert_close(made, robot.christoffel(q), 1e-9, 10.0)


@families
@given(seed=seeds)
@law(3)
def test_the_mass_matrix_is_the_sum_over_bodies_in_any_frame_of_them(family, seed):
    robot, rng, q, _, _ = drawn(family, seed)
    model, total = robot.model, np.zeros((robot.nv, robot.nv))
    for i, name in enumerate(model.body_name[1:], start=1):
        place = hinge.geometry.se3.exp(rng.normal(size=6))  # any frame of the body
        I = model.inertia[i]
        inertia = hinge.geometry.inertias.spatial(I.m, I.com, np.array(I.about_com.full()).reshape(3, 3))
        seat = model.frame(name)
        own = hinge.geometry.se3.product(_pose(seat), place)  # that frame in the body's
        Ad = hinge.geometry.se3.adjoint(own)
        J = np.linalg.inv(hinge.geometry.se3.adjoint(place)) @ robot.jacobian(q, name)
        total += J.T @ (Ad.T @ inertia @ Ad) @ J
    rotors = [model.ratio(i) ** 2 * x for i, _ in model.outward() for x in model.armature(i)]
    at = [k for i, _ in model.outward() for k in range(*model.slices[i][1].indices(robot.nv))]
    for k, x in zip(at, rotors, strict=True):
        total[k, k] += x
    assert_close(total, robot.mass_matrix(q), 1e-12, 10.0)


def _pose(frame):
    made = np.eye(4)
    made[:3, :3], made[:3, 3] = np.array(frame.R).reshape(3, 3), frame.p
    return made


# the connection, for joints of every kind


def covered(family, seed):
    """As `drawn`, without the armature that is no metric: that of a free joint."""
    robot, *rest = drawn(family, seed)
    free = [i for i, joint in enumerate(robot.model.joint) if joint.kind == "free" and any(robot.model.armature(i))]
    data = [replace(d, armature=(0.0,) * len(d.armature)) if i in free else d for i, d in enumerate(robot.model.data)]
    return (hinge.Robot(replace(robot.model, data=tuple(data))) if free else robot), *rest


def a_field(rng, robot):
    """A smooth field with every coordinate in it."""
    A, B, c = (rng.normal(size=s) for s in ((robot.nv, robot.nq), (robot.nv, robot.nq), robot.nv))
    return lambda q: np.sin(A @ q) + (B @ q) * c


def rate(robot, f, q, v, h=1e-5):
    """X(f): how f changes when q moves with velocity v."""
    return (f(robot.integrate(q, h * v)) - f(robot.integrate(q, -h * v))) / (2 * h)


def lie_bracket(robot, X, Y, q):
    """[X, Y] of fields over velocities, with what is left over of velocities themselves."""
    x, y = X(q), Y(q)
    made = rate(robot, Y, q, x) - rate(robot, X, q, y)
    for i in robot.model.leaders:
        at = robot.model.slices[i][1]
        made[at] += robot.model.joint[i].bracket(x[at].tolist(), y[at].tolist())
    return made


@pytest.mark.sampled(2)
@families
@given(seed=seeds)
@law(2)
def test_the_connection_keeps_the_metric(family, seed):
    robot, rng, q, _, _ = covered(family, seed)
    X, Y, Z = (a_field(rng, robot) for _ in range(3))

    def product(p):
        return robot.inner_product(p, Y(p), Z(p))

    DY, DZ = robot.covariant_derivative(X, Y)(q), robot.covariant_derivative(X, Z)(q)
    made = robot.inner_product(q, DY, Z(q)) + robot.inner_product(q, Y(q), DZ)
    wanted = rate(robot, product, robot.integrate(q, np.zeros(robot.nv)), X(q))
    assert abs(made - wanted) < 1e-6 * (1.0 + abs(wanted))


@pytest.mark.sampled(2)
@families
@given(seed=seeds)
@law(2)
def test_the_connection_has_no_torsion(family, seed):
    robot, rng, q, _, _ = covered(family, seed)
    assume(holonomic(robot))
    q = robot.integrate(q, np.zeros(robot.nv))
    X, Y = a_field(rng, robot), a_field(rng, robot)
    torsion = robot.covariant_derivative(X, Y)(q) - robot.covariant_derivative(Y, X)(q) - lie_bracket(robot, X, Y, q)
    assert_close(torsion, np.zeros(robot.nv), 1e-6, 10.0)


@pytest.mark.sampled(1)
@families
@given(seed=seeds)
@law(1)
def test_the_three_rules_of_a_connection(family, seed):
    robot, rng, q, _, _ = covered(family, seed)
    q = robot.integrate(q, np.zeros(robot.nv))
    X, Y, Z = (a_field(rng, robot) for _ in range(3))
    w = rng.normal(size=(2, robot.nq))
    f, g = (lambda q, k=k: np.cos(w[k] @ q) for k in range(2))

    def D(X, Y):
        return robot.covariant_derivative(X, Y)(q)

    assert_close(D(lambda p: f(p) * X(p) + g(p) * Y(p), Z), f(q) * D(X, Z) + g(q) * D(Y, Z), 1e-10, 10.0)
    assert_close(D(X, lambda p: Y(p) + Z(p)), D(X, Y) + D(X, Z), 1e-10, 10.0)
    slope = rate(robot, f, q, X(q))
    assert_close(D(X, lambda p: f(p) * Y(p)), f(q) * D(X, Y) + slope * Y(q), 1e-7, 10.0)


@pytest.mark.sampled(1)
@families
@given(seed=seeds)
@law(3)
def test_free_motion_is_geodesic_and_forces_bend_it(family, seed):
    robot, rng, q, qd, _ = covered(family, seed)
    tau = rng.normal(size=robot.nv)
    qdd = weightless(robot).forward_dynamics(q, qd, tau)
    bent = qdd + np.einsum("ijk,j,k->i", robot.connection(q), qd, qd)
    assert_close(robot.mass_matrix(q) @ bent, tau, 1e-9, 10.0)


@families
@given(seed=seeds)
@law(2)
def test_the_gradient_is_what_pairs_with_velocities_to_the_slope(family, seed):
    robot, rng, q, qd, _ = covered(family, seed)
    q = robot.integrate(q, np.zeros(robot.nv))
    assert_close(robot.mass_matrix(q) @ robot.gradient()(q), robot.gravity_force(q), 1e-10, 10.0)
    w = rng.normal(size=robot.nq)
    V = lambda p: np.sin(w @ p)
    assert robot.inner_product(q, robot.gradient(V)(q), qd) == pytest.approx(rate(robot, V, q, qd), rel=1e-6, abs=1e-7)


def test_a_derivative_is_a_field_that_can_be_derived_again():
    """Curvature of a flat space is nothing: a point mass on three slides."""
    robot = hinge.samples.random_tree(np.random.default_rng(0), 1, ("cartesian_3",))
    rng = np.random.default_rng(1)
    X, Y, Z = (a_field(rng, robot) for _ in range(3))
    D, q = robot.covariant_derivative, rng.normal(size=3)
    curved = D(X, D(Y, Z))(q) - D(Y, D(X, Z))(q) - D(lambda p: D(X, Y)(p) - D(Y, X)(p), Z)(q)
    assert curved == pytest.approx(np.zeros(3), abs=1e-9)
    two = hinge.samples.planar_2r()
    X, Y, Z = (a_field(rng, two) for _ in range(3))
    D, q = two.covariant_derivative, np.array([0.3, 0.9])

    def curvature(X, Y, Z):
        return D(X, D(Y, Z))(q) - D(Y, D(X, Z))(q) - D(lambda p: D(X, Y)(p) - D(Y, X)(p), Z)(q)

    made = curvature(X, Y, Z)
    assert np.abs(made).max() > 1e-2  # two links are not flat
    assert made + curvature(Y, Z, X) + curvature(Z, X, Y) == pytest.approx(np.zeros(2), abs=1e-8)  # Bianchi


def test_a_field_inside_another_may_be_asked_elsewhere():
    robot, q = hinge.samples.planar_2r(), np.array([0.3, 0.7])
    inner = robot.covariant_derivative(lambda q: [1.0, q[0]], lambda q: [3.0 * q[0], q[1] * q[0]])
    Y, there = (lambda q: [np.sin(q[0]), q[1]]), inner(2.0 * q)
    made = robot.covariant_derivative(lambda p: inner(2.0 * p), Y)(q)
    assert made == pytest.approx(robot.covariant_derivative(lambda p: there, Y)(q), rel=1e-12)
    varied = robot.vary("lower.mass")
    field = varied.covariant_derivative(lambda q: [1.0, q[0]], lambda q: [q[1], 1.0])
    with pytest.raises(NotCovered, match="inside a function the numbers that are given with each call are not known"):
        varied.covariant_derivative(lambda p: field(p), field)(q)
    heavy = robot.with_payload("lower", 1.0, [0.5, 0.0, 0.0])  # a point at the link's centre of mass
    X, Y = (lambda q: [1.0, q[0]]), (lambda q: [q[1], 1.0])
    made = varied.covariant_derivative(X, Y)(q, parameters={"lower.mass": 2.0})
    assert made == pytest.approx(heavy.covariant_derivative(X, Y)(q), rel=1e-12)


@pytest.mark.sampled(1)
@pytest.mark.parametrize("family", ["tree", "plain", "mimic", "floating"])
def test_a_geodesic_keeps_its_kinetic_energy(family):
    robot, _, q, qd, _ = covered(family, 1)
    path, speed = robot.geodesic(q, qd, 0.1, 50)
    energy = robot.kinetic_energy(path, speed)
    assert energy == pytest.approx(energy[0], rel=1e-7)
    assert path.shape == (51, robot.nq)


# variations: simulated motions, which are good to the step to the fourth power


STEPS, TIME = 60, 0.03


def simpson(values):
    weights = np.ones(STEPS + 1)
    weights[1:-1:2], weights[2:-1:2] = 4.0, 2.0
    return (weights * values).sum() * TIME / STEPS / 3


def variation(rng, robot):
    """A smooth variation that vanishes at both ends, and its rate."""
    t = np.linspace(0.0, TIME, STEPS + 1)[:, None]
    a, w = rng.normal(size=robot.nv), np.pi * rng.integers(1, 3, robot.nv) / TIME
    return a * np.sin(w * t), a * w * np.cos(w * t)


@pytest.mark.sampled(1)
@plain_families
@given(seed=seeds)
@law(2)
def test_a_geodesic_is_stationary_for_the_energy_integral(family, seed):
    robot, rng, q, qd, _ = covered(family, seed)
    path, speed = robot.geodesic(q, qd, TIME, STEPS)
    d, dd = variation(rng, robot)
    e = 1e-4

    def integral(s, at=path, v=speed):
        return simpson(robot.kinetic_energy(at + s * d, v + s * dd))

    size = simpson(np.sqrt(robot.kinetic_energy(path, dd) * robot.kinetic_energy(path, speed)))
    assert abs(integral(e) - integral(-e)) / (2 * e) < 1e-5 * size
    straight = path[0] + np.linspace(0.0, 1.0, STEPS + 1)[:, None] ** 2 * (path[-1] - path[0])
    v = np.gradient(straight, TIME / STEPS, axis=0)
    assert abs(integral(e, straight, v) - integral(-e, straight, v)) / (2 * e) > 1e-4 * size  # and not any curve is


@pytest.mark.sampled(1)
@plain_families
@given(seed=seeds)
@law(2)
def test_motion_with_forces_satisfies_the_principle_of_lagrange_and_d_alembert(family, seed):
    robot, rng, q, qd, _ = covered(family, seed)
    tau = rng.normal(size=robot.nv)
    path = [(q, qd)]
    for _ in range(STEPS):
        path.append(robot.step(*path[-1], tau, TIME / STEPS))
    at, v = (np.array(part) for part in zip(*path, strict=True))
    d, dd = variation(rng, robot)
    e = 1e-4

    def action(s):
        return simpson(robot.kinetic_energy(at + s * d, v + s * dd) - robot.potential_energy(at + s * d))

    work = simpson(d @ tau)
    size = simpson(np.abs(d) @ np.abs(tau)) + simpson(
        np.sqrt(robot.kinetic_energy(at, dd) * robot.kinetic_energy(at, v))
    )
    assert abs((action(e) - action(-e)) / (2 * e) + work) < 1e-5 * size  # zefran2004 (28)


# curves


def test_a_length_does_not_depend_on_how_fast_the_curve_is_run():
    robot = robot_of("plain", 0)
    a, b = (robot.random_state(np.random.default_rng(k), 1)[0][0] for k in (1, 2))
    slow = robot.length(lambda t: a + t * (b - a))
    assert robot.length(lambda t: a + t * t * (b - a)) == pytest.approx(slow, rel=1e-11)
    assert robot.length(lambda t: a + np.sin(t) * (b - a), 0.0, np.pi / 2) == pytest.approx(slow, rel=1e-11)
    energy = robot.energy_integral(lambda t: a + t * (b - a))
    assert 2 * energy >= slow**2 * (1 - 1e-12)


def test_the_length_of_a_turn_of_a_free_body():
    builder = hinge.Builder("top")
    builder.link("world")
    builder.link("body", 2.0, inertia=np.diag([1.0, 2.0, 2.5]))
    builder.joint("base", "free", "world", "body")
    top = hinge.Robot(builder.build())
    turn = lambda t: np.array([np.cos(t / 2), 0 * t, np.sin(t / 2), 0 * t, 3 * t, 0 * t, 0 * t])
    assert top.length(turn, 0.0, 1.0) == pytest.approx(np.sqrt(2.0 + 2.0 * 9.0))
    longer = lambda t: np.array([2 * np.cos(t / 2), 0 * t, 2 * np.sin(t / 2), 0 * t, 3 * t, 0 * t, 0 * t])
    assert top.length(longer, 0.0, 1.0) == pytest.approx(np.sqrt(2.0 + 2.0 * 9.0))


def test_a_joint_whose_velocities_are_not_rates_is_refused_by_name_where_symmetry_is_promised():
    robot = robot_of("floating", 0)
    with pytest.raises(NotCovered, match="joint 'base' is free"):
        robot.christoffel(robot.neutral())
    made = robot.connection(robot.neutral())
    lacking = made - np.swapaxes(made, -1, -2)
    assert lacking[:, 0, 1] == pytest.approx(np.eye(robot.nv)[2], abs=1e-12)  # structure constants: x × y = z
