"""Constraints given as functions: zefran2004 section 3, on the examples every textbook has."""

import numpy as np
import pytest

import hinge

G = 9.81


def ball(radius=0.3, mass=2.0):
    builder = hinge.Builder("ball")
    builder.link("ground")
    builder.link("ball", mass, inertia=np.eye(3) * 0.4 * mass * radius**2)
    builder.joint("free", "free", "ground", "ball")
    return hinge.Robot(builder.build())


def sliding(name="disc", mass=1.5, spin=0.2, wheel=None, gravity=(0.0, 0.0, -G)):
    """A body that slides on the plane and turns about z; `wheel` is a link with a joint about its y axis."""
    builder = hinge.Builder(name)
    builder.gravity = gravity
    for link in ("ground", "x_stage", "y_stage"):
        builder.link(link)
    builder.link("body", mass, inertia=np.diag([spin, spin, spin]))
    builder.joint("x", "prismatic", "ground", "x_stage", axis=(1, 0, 0))
    builder.joint("y", "prismatic", "x_stage", "y_stage", axis=(0, 1, 0))
    builder.joint("heading", "continuous", "y_stage", "body", axis=(0, 0, 1))
    for wheel_name, place, m, inertia in wheel or ():
        builder.link(wheel_name, m, inertia=inertia)
        builder.joint(f"{wheel_name}_axle", "continuous", "body", wheel_name, place, axis=(0, 1, 0))
    return hinge.Robot(builder.build())


def rolls(radius):
    def rolling(q, t, at):
        J = at("ball").J
        return np.stack([J[3] - radius * J[1], J[4] + radius * J[0], J[5]])

    return rolling


def test_a_rolling_sphere_moves_as_the_rolling_joint_does():
    radius, mass = 0.3, 2.0
    robot = ball(radius, mass)
    rolling = hinge.constrain(robot, rolls(radius))
    builder = hinge.Builder("oracle")
    builder.link("ground")
    builder.link("ball", mass, com=(0.05, 0.0, 0.02), inertia=np.diag([0.05, 0.06, 0.08]))
    builder.joint("roll", "rolling", "ground", "ball", radius=radius)
    oracle = hinge.Robot(builder.build())
    builder = hinge.Builder("free")
    builder.link("ground")
    builder.link("ball", mass, com=(0.05, 0.0, 0.02), inertia=np.diag([0.05, 0.06, 0.08]))
    builder.joint("free", "free", "ground", "ball")
    loaded = hinge.constrain(hinge.Robot(builder.build()), rolls(radius))
    rng = np.random.default_rng(1)
    q, qd = oracle.random_state(rng, 5)
    free_q = np.concatenate([q, np.zeros((5, 1))], axis=1)
    eta_q = np.zeros((5, 6))
    eta_q[:, :3] = qd
    free_qd = loaded.project(free_q, eta_q)  # any velocity that keeps the constraints
    A, b = loaded.matrix(free_q)
    assert np.abs(np.einsum("smk,sk->sm", A, free_qd)).max() < 1e-12
    assert not b.any()
    qdd, _ = loaded.forward(free_q, free_qd, np.zeros((5, 6)))
    wanted = oracle.forward_dynamics(q, free_qd[:, :3], np.zeros((5, 3)))
    np.testing.assert_allclose(qdd[:, :3], wanted, rtol=1e-10, atol=1e-10)
    assert rolling.m == 3
    assert rolling.basis(robot.neutral()).shape == (6, 3)


def test_a_rolling_sphere_has_three_freedoms_of_velocity_and_five_of_position():
    robot = ball()
    rolling = hinge.constrain(robot, rolls(0.3))
    here = robot.random_state(np.random.default_rng(2), 1)[0][0]
    here[:4] /= np.linalg.norm(here[:4])

    def fields(q):
        return robot.rate(np.broadcast_to(q, (3, 7)), rolling.basis(q).T)

    def slope(q, direction, h=1e-4):
        return lambda k: (field_of(k)(q + h * direction) - field_of(k)(q - h * direction)) / (2 * h)

    def field_of(k):
        return (lambda q: fields(q)[k]) if isinstance(k, int) else bracket(*k)

    def bracket(i, j):
        return lambda q: slope(q, field_of(i)(q))(j) - slope(q, field_of(j)(q))(i)

    first = list(fields(here))
    second = [bracket(i, j)(here) for i in range(3) for j in range(i)]
    third = [bracket(k, (i, j))(here) for i in range(3) for j in range(i) for k in range(3)]
    sizes = np.linalg.svd(np.array(first), compute_uv=False), np.linalg.svd(np.array(first + second + third))[1]
    assert (sizes[0] > 1e-3).sum() == 3
    assert (sizes[1] > 1e-3).sum() == 5


def test_an_upright_disc_rolls_in_circles():
    radius, mass, J, spin = 0.4, 1.5, 0.12, 0.2
    disc = sliding(mass=0.0, spin=0.0, wheel=[("disc", (0, 0, 0), mass, np.diag([spin, J, spin]))])
    rolling = hinge.constrain(disc, lambda q, t: [[1.0, 0.0, 0.0, -radius * np.cos(q[2])],
                                                  [0.0, 1.0, 0.0, -radius * np.sin(q[2])]])  # fmt: skip
    tau = np.array([0.0, 0.0, 0.3, 0.7])
    q, rates = [0.2, -0.1, 0.9, 0.4], [1.1, 2.0]  # heading and roll
    assert rolling.independent == [2, 3]
    qd = rolling.velocity(q, rates)
    qdd, force = rolling.forward(q, qd, tau)
    np.testing.assert_allclose(qdd[2:], [0.3 / spin, 0.7 / (J + mass * radius**2)], rtol=1e-12)
    np.testing.assert_allclose(rolling.reduced(q, rates, tau), qdd[2:], rtol=1e-12)
    np.testing.assert_allclose(force, mass * qdd[:2], rtol=1e-12)  # friction is what moves the centre
    run = hinge.simulate(disc, t=2.0, q0=q, qd0=qd, step=0.01, constraint=rolling)
    turn = 0.9 + 1.1 * run.t
    centre = np.stack([np.sin(turn) - np.sin(0.9), np.cos(0.9) - np.cos(turn)], axis=1) * radius * 2.0 / 1.1
    np.testing.assert_allclose(run.q[:, :2], np.array(q[:2]) + centre, atol=1e-8)


def test_a_knife_edge_on_a_slope_comes_back_as_the_textbook_says():
    w, g = 1.3, 2.0
    edge = sliding(gravity=(g, 0.0, 0.0))
    held = hinge.constrain(edge, lambda q, t: [[np.sin(q[2]), -np.cos(q[2]), 0.0]])
    run = hinge.simulate(edge, t=3.0, q0=[0, 0, 0], qd0=[0, 0, w], step=0.005, constraint=held, loops="project")
    x = g / (2 * w**2) * np.sin(w * run.t) ** 2
    y = g / (2 * w**2) * (w * run.t - 0.5 * np.sin(2 * w * run.t))
    np.testing.assert_allclose(run.q[:, :2], np.stack([x, y], axis=1), atol=1e-9)
    assert np.ptp(run.energy()) < 1e-9
    A, _ = held.matrix(run.q)
    assert np.abs(np.einsum("smk,sk->sm", A, run.qd)).max() < 1e-13


def test_a_cart_with_two_wheels_moves_by_hand_calculation():
    radius, half, mass, spin, m, J = 0.2, 0.35, 8.0, 0.9, 0.5, 0.02
    wheel = np.diag([J / 2, J, J / 2])
    cart = sliding("cart", mass, spin, [("left", (0, half, 0), m, wheel), ("right", (0, -half, 0), m, wheel)])

    def rolling(q, t):
        c, s = np.cos(q[2]), np.sin(q[2])
        return [[-s, c, 0.0, 0.0, 0.0], [c, s, -half, -radius, 0.0], [c, s, half, 0.0, -radius]]

    held = hinge.constrain(cart, rolling)
    q, tau = np.array([0.1, 0.2, 0.7, 0.3, -0.4]), np.array([0, 0, 0, 0.6, 0.9])
    A, _ = held.matrix(q)
    speed, turning = 0.8, -0.5
    qd = np.array([speed * np.cos(0.7), speed * np.sin(0.7), turning, (speed - half * turning) / radius,
                   (speed + half * turning) / radius])  # fmt: skip
    assert np.abs(A @ qd).max() < 1e-14
    qdd, _ = held.forward(q, qd, tau)
    forward = np.cos(0.7) * qdd[0] + np.sin(0.7) * qdd[1]
    whole = mass + 2 * m + 2 * J / radius**2
    about = spin + 2 * (J / 2 + m * half**2) + 2 * J * half**2 / radius**2
    assert forward == pytest.approx((0.6 + 0.9) / radius / whole, rel=1e-12)
    assert qdd[2] == pytest.approx((0.9 - 0.6) * half / radius / about, rel=1e-12)
    back, force = held.inverse(q, qd, qdd, actuated=["left_axle", "right_axle"])
    np.testing.assert_allclose(back, tau, atol=1e-12)
    np.testing.assert_allclose(force, held.forward(q, qd, tau)[1], atol=1e-11)


def test_forces_are_shared_with_the_least_norm_and_too_few_actuators_are_refused():
    arm = hinge.samples.puma560()
    held = hinge.constrain(arm, lambda q, t, at: [at("tool").p[2] - 0.3], holonomic=True)
    rng = np.random.default_rng(3)
    q, qd = (a[0] for a in arm.random_state(rng, 1))
    qd = held.project(q, qd)
    qdd, force = held.forward(q, qd, rng.normal(size=6))
    tau, _ = held.inverse(q, qd, qdd)
    A = held.matrix(q)[0]
    assert np.abs(A @ tau).max() < 1e-9 * np.abs(tau).max()  # nothing is spent against the surface
    np.testing.assert_allclose(held.forward(q, qd, tau)[0], qdd, rtol=1e-9, atol=1e-9)
    with pytest.raises(hinge.NotCovered, match="5 freedoms, 2 of them reached"):
        held.inverse(q, qd, qdd, actuated=list(arm.joint_names[:2]))
    with pytest.raises(hinge.NotCovered, match="breaks the constraints"):
        held.inverse(q, qd, qdd + 1.0)
    assert force.shape == (1,)


def test_an_end_effector_stays_on_a_sphere_and_the_surface_does_no_work():
    arm = hinge.samples.puma560()
    start = np.array([0.3, 0.6, -0.4, 0.2, 0.5, 0.1])
    centre = arm.pose(start, "tool")[:3, 3] - [0.0, 0.0, 0.5]

    def sphere(q, t, at):
        d = at("tool").p - centre
        return [d @ d - 0.25]

    held = hinge.constrain(arm, sphere, holonomic=True)
    qd = held.project(start, np.array([0.4, -0.2, 0.3, 0.1, 0.2, -0.3]))
    run = hinge.simulate(arm, t=0.5, q0=start, qd0=qd, step=0.002, constraint=held, loops="project", record=50)
    off = np.linalg.norm(arm.pose(run.q, "tool")[:, :3, 3] - centre, axis=1) - 0.5
    assert np.abs(off).max() < 1e-9
    energy = run.energy()
    assert np.ptp(energy) < 1e-8 * np.abs(energy).max()


def test_a_surface_that_moves_is_followed():
    arm = hinge.samples.planar_2r()
    held = hinge.constrain(arm, lambda q, t, at: [at("hand").p[2] - 0.2 * np.sin(3.0 * t)], holonomic=True)
    q = np.array([0.5, -1.1])
    q[0] = -np.arctan2(np.sin(q[1]), 1 + np.cos(q[1]))  # the hand at height 0
    qd = held.project(q, [0.2, 0.4], 0.0)
    off = []
    for step in (0.01, 0.005):
        run = hinge.simulate(arm, t=0.5, q0=q, qd0=qd, step=step, constraint=held)
        off.append(np.abs(arm.pose(run.q, "hand")[:, 2, 3] - 0.2 * np.sin(3.0 * run.t)).max())
    assert off[1] < 1e-7
    assert off[0] / off[1] > 12.0  # what is left is the integrator's error, of fourth order


def space_robot():
    builder = hinge.Builder("space")
    builder.gravity = (0.0, 0.0, 0.0)
    builder.link("space")
    builder.link("craft", 20.0, inertia=np.diag([2.0, 3.0, 2.5]))
    builder.joint("free", "free", "space", "craft")
    for k, (parent, place) in enumerate((("craft", (0.5, 0, 0)), ("arm1", (0.8, 0, 0))), start=1):
        builder.link(f"arm{k}", 3.0, (0.4, 0, 0), np.diag([0.02, 0.2, 0.2]))
        builder.joint(f"joint{k}", "revolute", parent, f"arm{k}", place, axis=(0, k % 2, 1 - k % 2))
        builder.frame(f"com{k}", f"arm{k}", (0.4, 0, 0))
    return hinge.Robot(builder.build())


def test_a_space_robots_momentum_is_a_constraint_that_asks_for_no_force():
    robot = space_robot()
    rng = np.random.default_rng(5)
    q, qd = (a[0] for a in robot.random_state(rng, 1))
    q[:4] /= np.linalg.norm(q[:4])
    h = robot.momentum(q, qd)

    def conserved(q, t, at):
        rows = np.zeros((6, robot.nv))
        bodies = (
            ("craft", 20.0, np.diag([2.0, 3.0, 2.5])),
            *((f"com{k}", 3.0, np.diag([0.02, 0.2, 0.2])) for k in (1, 2)),
        )
        for name, mass, inertia in bodies:
            place = at(name)
            R, p, J = place.R, place.p, place.J
            linear = mass * J[3:]
            moment = np.stack([p[1] * linear[2] - p[2] * linear[1], p[2] * linear[0] - p[0] * linear[2],
                               p[0] * linear[1] - p[1] * linear[0]])  # fmt: skip
            rows = rows + np.concatenate([R @ inertia @ R.T @ J[:3] + moment, linear])
        return rows, h

    held = hinge.constrain(robot, conserved)
    A, b = held.matrix(q)
    np.testing.assert_allclose(A @ qd, h, atol=1e-10)
    np.testing.assert_allclose(b, h)
    tau = np.concatenate([np.zeros(6), [0.4, -0.7]])
    qdd, force = held.forward(q, qd, tau)
    np.testing.assert_allclose(qdd, robot.forward_dynamics(q, qd, tau), atol=1e-9)
    assert np.abs(force).max() < 1e-9
    # what the joints do decides what the craft does
    eta = qd[held.independent]
    np.testing.assert_allclose(held.velocity(q, eta), qd, atol=1e-9)
    rates = held.reduced(q, eta, tau)
    np.testing.assert_allclose(rates, qdd[held.independent], atol=1e-8)


def test_compiled_constraints_agree_with_the_interpreter_and_batches_keep_nan_in_its_row():
    robot = ball()
    rolling = hinge.constrain(robot, rolls(0.3))
    q, qd = robot.random_state(np.random.default_rng(7), 6)
    tau = np.ones((6, 6))
    qd[2, 1] = np.nan
    plain, quick = rolling.forward(q, qd, tau), rolling.forward(q, qd, tau, backend="llvm")
    for a, b in zip(plain, quick, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-12)
        assert np.isnan(a).any(axis=1).tolist() == [False, False, True, False, False, False]


@pytest.mark.parametrize("which", [0, 1, 2])
def test_a_constraint_that_is_not_a_number_leaves_no_multiplier_one(which):
    robot = sliding(wheel=[("wheel", (0, 0, 0), 0.3, np.eye(3) * 0.01)])

    def rows(q, t):
        A = [[1.0, q[1], 0.0, 0.5], [0.0, 1.0, 0.3, q[0]], [2.0, 2.0 * q[1], 0.0, 1.0]]
        A[which][2] = A[which][2] + np.sqrt(q[2])
        return A

    held = hinge.constrain(robot, rows)
    q = np.array([[0.1, 0.2, 0.3, 0.4], [0.1, 0.2, -0.3, 0.4], [0.2, 0.1, 0.3, 0.4]])
    for backend in ("interpret", "llvm"):
        qdd, force = held.forward(q, np.zeros((3, 4)), np.ones((3, 4)), backend=backend)
        assert np.isnan(qdd).all(axis=1).tolist() == [False, True, False]
        assert np.isnan(force).tolist() == [[False] * 3, [True] * 3, [False] * 3]


def test_constraints_that_are_apart_share_what_is_not_a_number():
    held = hinge.constrain(sliding(), lambda q, t: [[1.0, 0.0, 0.0], [0.0, 2.0, 0.0], [0.0, 0.0, np.sqrt(q[0])]])
    _, force = held.forward([[1.0, 0, 0], [-1.0, 0, 0]], np.zeros(3), [1.0, 2.0, 3.0])
    np.testing.assert_allclose(force[0], [-1.0, -1.0, -3.0])
    assert np.isnan(force[1]).all()


def test_a_tuple_of_two_rows_is_a_matrix_and_a_tuple_of_two_arrays_is_a_and_b():
    rows = [1.0, 0.0, 0.0], [0.0, 2.0, 0.0]
    state = np.zeros(3), np.array([0.1, 0.2, 0.3]), np.array([1.0, 2.0, 3.0])
    held = hinge.constrain(sliding(), lambda q, t: list(rows)).forward(*state)
    for same in (lambda q, t: rows, lambda q, t: (list(rows), [0.0, 0.0])):
        for x, y in zip(hinge.constrain(sliding(), same).forward(*state), held, strict=True):
            np.testing.assert_array_equal(x, y)


def test_bad_constraints_are_refused_by_name():
    arm = hinge.samples.planar_2r()

    def wrong(q, t):
        return [[1.0, 2.0, 3.0]]

    with pytest.raises(hinge.SizeError, match=r"constraint 'wrong' returned shape \(1, 3\); robot 'planar_2r' wants"):
        hinge.constrain(arm, wrong)
    with pytest.raises(hinge.SizeError, match=r"returned b with 2 entries; A has 1 rows"):
        hinge.constrain(arm, lambda q, t: ([[1.0, 2.0]], [0.0, 0.0]))
    with pytest.raises(hinge.SizeError, match="takes 1 arguments"):
        hinge.constrain(arm, lambda q: [[1.0, 2.0]])
    with pytest.raises(hinge.UnknownName, match="no body or frame 'hnd'"):
        hinge.constrain(arm, lambda q, t, at: at("hnd").J[:1])
    with pytest.raises(hinge.SizeError, match="give 1 numbers below 2"):
        hinge.constrain(arm, lambda q, t: [[1.0, 2.0]], independent=[0, 1])
    with pytest.raises(hinge.TraceError, match="no truth value"):
        hinge.constrain(arm, lambda q, t: [[1.0, 2.0]] if q[0] == 5.0 or q[0] else [[2.0, 1.0]])


def test_a_state_that_breaks_down_stays_in_its_row():
    arm = hinge.samples.puma560()
    held = hinge.constrain(arm, lambda q, t: [q[0] + q[1] - 0.4, np.sqrt(q[2]) - q[3]], holonomic=True)
    q, qd = np.full((4, 6), 0.2), np.ones((4, 6))
    q[1, 2], q[2, 1] = -1.0, np.nan  # one the constraint has no value at, and one that is none
    for made in (held.forward(q, qd, qd, return_status=True), held.project(q, qd, return_status=True)):
        *results, status = made
        assert status.tolist() == [hinge.Status.OK, hinge.Status.NONFINITE, hinge.Status.NONFINITE, hinge.Status.OK]
        assert all(np.isnan(x[1:3]).all() for x in results)
    for k in (0, 3):
        np.testing.assert_array_equal(held.forward(q, qd, qd)[0][k], held.forward(q[k], qd[k], qd[k])[0])


def test_a_constraint_that_holds_nowhere_is_refused():
    arm = hinge.samples.planar_2r()

    def unset(q, t):
        return [[1.0, 1.0], [np.nan, q[0]]]

    with pytest.raises(hinge.SizeError) as refused:
        hinge.constrain(arm, unset)
    assert str(refused.value) == "constraint 'unset' returned nan at [1, 0]. It holds at no state."
