"""Constraints as geometry: the distribution, its projections, the constraint connection (zefran2004, section 3.1)."""

import numpy as np
import pytest

import hinge

# many robots of a few calls each, which are not worth compiling
pytestmark = pytest.mark.usefixtures("plain_interpreter")


def on_rows(rng, robot, m):
    """A(q) with every coordinate in it."""
    U, W, B = rng.normal(size=(m, robot.nv)), rng.normal(size=(m, robot.nv)), rng.normal(size=robot.nq)
    return lambda q, t: U + np.sin(B @ q) * W


def tree():
    rng = np.random.default_rng(2)
    robot = hinge.samples.random_tree(rng, 4, ("revolute", "prismatic", "universal"))
    return robot, hinge.constrain(robot, on_rows(rng, robot, 2))


def ball():
    """Rolls on a plane: quaternions, and velocities that are no rates."""
    builder = hinge.Builder("ball")
    builder.link("ground")
    builder.link("ball", 2.0, com=(0.05, 0.0, 0.02), inertia=np.diag([0.05, 0.06, 0.08]))
    builder.joint("free", "free", "ground", "ball")
    robot = hinge.Robot(builder.build())

    def rolling(q, t, at):
        J = at("ball").J
        return np.stack([J[3] - 0.3 * J[1], J[4] + 0.3 * J[0], J[5]])

    return robot, hinge.constrain(robot, rolling)


def arm():
    robot = hinge.samples.puma560()

    def sphere(q, t, at):
        p = at("tool").p
        return [p @ p - 0.5]

    return robot, hinge.constrain(robot, sphere, holonomic=True)


def doubled():
    """The second constraint says what the first does."""
    robot = hinge.samples.puma560()
    rows = on_rows(np.random.default_rng(3), robot, 1)
    return robot, hinge.constrain(robot, lambda q, t: np.concatenate([rows(q, t), 2.0 * rows(q, t)]))


every = pytest.mark.parametrize("make", [tree, ball, arm, doubled])
independent = pytest.mark.parametrize("make", [tree, ball, arm])


def state(robot, held, seed=5):
    rng = np.random.default_rng(seed)
    q, qd = (x[0] for x in robot.random_state(rng, 1))
    q = robot.integrate(q, np.zeros(robot.nv))
    return q, held.project(q, qd), rng.normal(size=robot.nv)


def a_field(rng, robot):
    A, B, c = (rng.normal(size=s) for s in ((robot.nv, robot.nq), (robot.nv, robot.nq), robot.nv))
    return lambda q: np.sin(A @ q) + (B @ q) * c


@every
def test_the_projections(make):
    robot, held = make()
    q, qd, free = state(robot, held)
    P, Q, H, A = held.projection(q), held.complement(q), robot.mass_matrix(q), held.matrix(q)[0]
    np.testing.assert_allclose(P @ P, P, atol=1e-11)
    np.testing.assert_allclose(Q @ P, 0.0, atol=1e-11)
    np.testing.assert_allclose(P + Q, np.eye(robot.nv), atol=1e-14)
    np.testing.assert_allclose(P.T @ H @ Q, 0.0, atol=1e-10)  # orthogonal by the mass matrix
    np.testing.assert_allclose(A @ P, 0.0, atol=1e-11)  # what it gives is allowed
    np.testing.assert_allclose(P @ qd, qd, atol=1e-11)  # and what is allowed stays
    assert np.linalg.matrix_rank(P, 1e-9) == robot.nv - np.linalg.matrix_rank(A)
    W = np.linalg.solve(H, A.T)
    assert W @ np.linalg.pinv(A @ W, 1e-10) @ A == pytest.approx(Q, abs=1e-10)
    assert P @ free == pytest.approx(held.project(q, free), abs=1e-11)


def test_projections_take_batches_and_times():
    robot, held = tree()
    q, _ = robot.random_state(np.random.default_rng(0), 6)
    made = held.projection(q.reshape(2, 3, -1))
    assert made.shape == (2, 3, robot.nv, robot.nv)
    assert made[1, 2] == pytest.approx(held.projection(q[5]), abs=1e-14)
    moving = hinge.constrain(robot, lambda q, t: (np.eye(robot.nv)[:1] + t * np.eye(robot.nv)[1:2], [3.0]))
    first, second = moving.projection(q[0], 2.0)[:2]
    np.testing.assert_allclose(first, -2.0 * second, atol=1e-12)


@pytest.mark.sampled(2)
@every
def test_the_short_form_of_the_constraint_connection_holds_on_the_distribution(make):
    robot, held = make()
    rng = np.random.default_rng(7)
    q, _, _ = state(robot, held)
    X, Z = a_field(rng, robot), a_field(rng, robot)
    Y = held.projected(Z)
    full, short = held.covariant_derivative(X, Y)(q), held.projected(robot.covariant_derivative(X, Y))(q)
    assert full == pytest.approx(short, rel=1e-9, abs=1e-9)  # zefran2004 (26), zefran2004 (27)
    assert held.complement(q) @ full == pytest.approx(np.zeros(robot.nv), abs=1e-8)  # the distribution is not left
    outside = held.covariant_derivative(X, Z)(q) - held.projected(robot.covariant_derivative(X, Z))(q)
    assert np.abs(outside).max() > 1e-3  # off it the two differ


@pytest.mark.sampled(1)
@every
def test_the_components_of_the_constraint_connection_make_its_derivatives(make):
    robot, held = make()
    rng = np.random.default_rng(8)
    q, _, _ = state(robot, held)
    u, v = rng.normal(size=(2, robot.nv))
    made = np.einsum("ijk,j,k->i", held.connection(q), u, v)
    assert made == pytest.approx(held.covariant_derivative(lambda q: u, lambda q: v)(q), rel=1e-9, abs=1e-9)


@independent
def test_accelerations_by_multipliers_by_pseudo_velocities_and_by_the_connection_are_the_same(make):
    robot, held = make()
    for seed in range(4):
        q, qd, tau = state(robot, held, seed)
        by_multipliers = held.forward(q, qd, tau)[0]  # zefran2004 (20)
        scale = 1e-10 * (1.0 + np.abs(by_multipliers).max())
        rates = held.reduced(q, qd[held.independent], tau)  # zefran2004 (22)
        assert rates == pytest.approx(by_multipliers[held.independent], abs=scale)
        assert held.geometric(q, qd, tau) == pytest.approx(by_multipliers, abs=scale)  # zefran2004 (25)


def test_constraints_that_repeat_others_change_no_acceleration():
    robot, held = doubled()
    q, qd, tau = state(robot, held)
    assert held.geometric(q, qd, tau) == pytest.approx(held.forward(q, qd, tau)[0], rel=1e-10, abs=1e-10)


def test_free_motion_under_constraints_is_geodesic_for_their_connection():
    robot, held = tree()
    free = robot.with_gravity([0.0, 0.0, 0.0])
    held = hinge.constrain(free, on_rows(np.random.default_rng(1), free, 2))
    q, qd, _ = state(free, held)
    bend = np.einsum("ijk,j,k->i", held.connection(q), qd, qd)
    assert held.forward(q, qd, np.zeros(free.nv))[0] == pytest.approx(-bend, rel=1e-10, abs=1e-10)


def test_the_constraint_connection_keeps_the_metric_on_the_distribution():
    robot, held = tree()
    rng = np.random.default_rng(9)
    q, _, _ = state(robot, held)
    X, Y, Z = (held.projected(a_field(rng, robot)) for _ in range(3))
    D, h = held.covariant_derivative, 1e-5
    slope = [robot.inner_product(p, Y(p), Z(p)) for p in (robot.integrate(q, s * h * X(q)) for s in (1.0, -1.0))]
    made = robot.inner_product(q, D(X, Y)(q), Z(q)) + robot.inner_product(q, Y(q), D(X, Z)(q))
    assert made == pytest.approx((slope[0] - slope[1]) / (2 * h), rel=1e-6)


def test_in_machine_code_as_interpreted():
    robot = hinge.samples.planar_2r()
    held = hinge.constrain(robot, lambda q, t: [[1.0, np.sin(q[0])]])
    q, qd, tau = state(robot, held)
    for name, given in (("projection", (q,)), ("complement", (q,)), ("connection", (q,)), ("geometric", (q, qd, tau))):
        made = getattr(held, name)(*given, backend="llvm")
        assert made == pytest.approx(getattr(held, name)(*given), rel=1e-11, abs=1e-11), name


def test_what_has_no_connection_is_refused():
    robot = hinge.samples.planar_2r()
    q, qd = [0.1, 0.2], [0.3, 0.4]
    for held in (
        hinge.constrain(robot, lambda q, t: ([[1.0, 1.0]], [0.7])),
        hinge.constrain(robot, lambda q, t: [[1.0, np.sin(t)]]),
        hinge.constrain(robot, lambda q, t, at: [at("hand").p[2] - 0.1 * t], holonomic=True),
    ):
        for ask in (lambda held=held: held.connection(q), lambda held=held: held.geometric(q, qd, qd),
                    lambda held=held: held.covariant_derivative(lambda q: q, lambda q: q)):  # fmt: skip
            with pytest.raises(hinge.NotCovered, match="has b, or moves with time, and so has no connection"):
                ask()
        assert held.projection(q).shape == (2, 2)
    still = hinge.constrain(robot, lambda q, t: [[1.0, 1.0]])
    with pytest.raises(hinge.NotCovered, match=r"A qd is 0\.7, not zero"):
        still.geometric(q, qd, [0.0, 0.0])
    with pytest.raises(hinge.SizeError, match="nv = 2 components"):
        still.projected(lambda q: [1.0])(q)
