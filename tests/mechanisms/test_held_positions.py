"""Constraints on positions: brought back, assembled, refused at a start; on varied, driven and looped robots."""

import numpy as np
import pytest
from machines import grown, near, rate, refused, state

import hinge

G = 9.81


def bent(q, t):
    return [q[0] + 2.0 * q[1] * q[1] - 0.3]


def off(q):
    return np.abs(q[..., 0] + 2.0 * q[..., 1] ** 2 - 0.3).max()


ARM = hinge.samples.pendulum(2)
HELD = hinge.constrain(ARM, bent, holonomic=True)


@pytest.mark.parametrize(("method", "least"), [("euler", 2e-3), ("semi_implicit", 2e-3), ("implicit", 2e-4)])
def test_drift_is_brought_back_by_projection_and_by_springs(method, least):
    """Methods of first order drift by millimeters in steps of 10 ms, "implicit", of second order, by a tenth of that;
    springs leave a tenth of the drift, projection none."""
    start = {"q0": [0.1, 0.1**0.5], "qd0": [0.0, 0.0], "constraint": HELD, "t": 4.0, "step": 0.01, "method": method}
    drift, springs, none = (off(hinge.simulate(ARM, **start, loops=way).q) for way in (None, "baumgarte", "project"))
    assert drift > least
    assert springs < 0.1 * drift
    assert none < 1e-14


def test_what_is_projected_keeps_its_energy():
    run = hinge.simulate(ARM, 4.0, [0.1, 0.1**0.5], [0.0, 0.0], constraint=HELD, loops="project")
    assert np.ptp(run.energy()) < 1e-12
    fine = hinge.simulate(ARM, 4.0, [0.1, 0.1**0.5], [0.0, 0.0], constraint=HELD, loops="baumgarte", method="dopri5")
    near(fine.q[-1], run.q[-1], 1e-7)


@pytest.mark.parametrize("method", ["semi_implicit", "implicit"])
def test_springs_close_loops_with_every_method(method):
    linkage = hinge.samples.four_bar()
    q, qd = linkage.loop_project(linkage.assemble([0.5, 0.0, 0.0], hold=["crank"]).q, [2.0, 0.0, 0.0])
    gaps = [np.abs(linkage.loop_gap(hinge.simulate(linkage, 1.0, q, qd, method=method, step=5e-3, loops=way).q)).max()
            for way in (None, "baumgarte")]  # fmt: skip
    assert gaps[1] < 0.2 * gaps[0]


def test_what_holds_velocities_only_is_damped():
    """d(A qd - b)/dt = -(A qd - b)/T: off by 1e-7 at the start, which is within what a start may be."""
    held = hinge.constrain(ARM, lambda q, t: [[1.0, 2.0 + q[0]]])
    run = hinge.simulate(
        ARM, 0.2, [0.1, 0.2], [1e-7, 0.0], constraint=held, loops="baumgarte", loop_time=0.05, step=1e-3
    )
    left = run.qd[:, 0] + (2.0 + run.q[:, 0]) * run.qd[:, 1]
    np.testing.assert_allclose(left, 1e-7 * np.exp(-run.t / 0.05), rtol=1e-3, atol=1e-12)


@pytest.mark.parametrize("batch", [(), (3,)])
def test_the_nearest_configuration_that_keeps_it(batch):
    q = np.broadcast_to([0.2, 0.3], (*batch, 2)) + 0.05 * np.arange(np.prod(batch, dtype=int)).reshape(*batch, 1)
    made = HELD.assemble(q)
    assert off(made.q) < 1e-12
    assert np.all(np.asarray(made.status) == hinge.Status.OK)
    slope = np.stack([np.ones(batch), 4.0 * made.q[..., 1]], axis=-1)  # the way back is along it: the nearest
    away = q - made.q
    near(away[..., 0] * slope[..., 1] - away[..., 1] * slope[..., 0], np.zeros(batch), 1e-6)
    held = HELD.assemble(q, hold=["joint2"])
    near(held.q[..., 1], q[..., 1], 0.0)


def test_what_cannot_be_kept_says_how_far_it_is():
    never = hinge.constrain(ARM, lambda q, t: [q[0] * q[0] + 0.25], holonomic=True)
    made = never.assemble([0.5, 0.0])
    assert made.status == hinge.Status.UNCLOSED
    near(made.residual, 0.25, 1e-4)
    assert refused(hinge.ModelError, never.assemble, [0.5, 0.0], strict=True) == (
        "robot 'pendulum2': constraint 1 is open by 0.25.\n"
        "  Start from a configuration near one that closes it, or check the lengths: see assemble."
    )


def test_a_start_off_it_is_refused_with_the_amount():
    assert refused(hinge.ModelError, hinge.simulate, ARM, 0.1, [0.1, 0.5], constraint=HELD) == (
        "robot 'pendulum2': q0 breaks constraint 1, by 0.3.\n  Start with what assemble(q0) of the constraint gives."
    )
    many = np.array([[0.1, 0.1**0.5], [0.3, 0.0]])
    speeds = np.array([[0.0, 0.0], [0.7, 1.0]])
    want = (
        "robot 'pendulum2': qd0 breaks constraint 1, by 0.7.\n"
        "  Start with what project(q0, qd0) of the constraint gives."
    )
    assert refused(hinge.ModelError, hinge.simulate, ARM, 0.1, many, speeds, constraint=HELD) == want
    given = ARM, many, speeds, 10, 1e-3
    assert refused(hinge.ModelError, hinge.rollout, *given, constraint=HELD) == want
    hinge.rollout(ARM, many, HELD.project(many, speeds), 10, 1e-3, constraint=HELD)


def test_positions_of_constraints_on_velocities_are_not_asked_for():
    rolling = hinge.constrain(ARM, lambda q, t: [[1.0, 1.0]])
    for name in ("gap", "assemble"):
        assert refused(hinge.NotCovered, getattr(rolling, name), [0.1, 0.2]) == (
            f"{name}: the constraints are on velocities, and any position keeps them.\n"
            "  Those on positions are made with holonomic=True; project is for velocities."
        )


# varied robots


def level(q, t, at):
    return [at("hand").p[2] + 0.4]


def test_a_varied_robot_is_held_as_one_built_so():
    """The constraint sees the lengths that vary: of each row its own."""
    arm = hinge.samples.planar_2r()
    varied = arm.vary("elbow.placement", "lower.mass", "gravity")
    held = hinge.constrain(varied, level, holonomic=True)
    place, masses = np.broadcast_to(np.eye(4), (3, 4, 4)).copy(), np.array([0.5, 1.0, 2.0])
    place[:, 0, 3] = [0.8, 1.0, 1.3]
    numbers = {"elbow.placement": place, "lower.mass": masses, "gravity": [0.0, 0.0, -5.0]}
    q, qd, tau = np.random.default_rng(3).normal(size=(3, 3, 2))
    made = held.forward(q, qd, tau, parameters=numbers)
    for k in range(3):
        one = {"elbow.placement": place[k], "lower.mass": masses[k], "gravity": [0.0, 0.0, -5.0]}
        J = varied.jacobian(q[k], "hand", frame="aligned", parameters=one)[5:6]
        rates = varied.jacobian_rate(q[k], qd[k], "hand", frame="aligned", parameters=one)[5:6]
        M = varied.mass_matrix(q[k], parameters=one)
        left = tau[k] - varied.bias_force(q[k], qd[k], parameters=one)
        want = np.linalg.solve(np.block([[M, -J.T], [J, np.zeros((1, 1))]]), np.r_[left, -rates @ qd[k]])
        near(np.r_[made[0][k], made[1][k]], want, 1e-11, 30.0)
        near(held.gap(q[k], parameters=one), varied.pose(q[k], "hand", parameters=one)[2:3, 3] + 0.4, 1e-14)
        near(held.matrix(q[k], parameters=one)[0], J, 1e-13)
    nominal = hinge.constrain(arm, level, holonomic=True)
    near(held.forward(q[0], qd[0], tau[0])[0], nominal.forward(q[0], qd[0], tau[0])[0], 1e-12, 30.0)
    near(held.inverse(q[0], qd[0], made[0][0], parameters={n: np.asarray(v)[0] if n != "gravity" else v
                                                            for n, v in numbers.items()})[0].shape, (2,))  # fmt: skip


def test_rollouts_of_a_varied_robot_each_keep_their_own():
    varied = hinge.samples.planar_2r().vary("elbow.placement")
    held = hinge.constrain(varied, level, holonomic=True)
    place = np.broadcast_to(np.eye(4), (2, 4, 4)).copy()
    place[1, 0, 3] = 1.4
    q0 = np.array([held.assemble([0.3, 0.4], parameters={"elbow.placement": T}).q for T in place])
    run = hinge.simulate(
        varied, 0.5, q0, constraint=held, loops="project", parameters={"elbow.placement": place}, step=0.01
    )
    gaps = [held.gap(run.q[k], parameters={"elbow.placement": place[k]}) for k in range(2)]
    assert np.abs(gaps).max() < 1e-12
    assert np.abs(run.q[:, -1] - run.q[:, 0]).min() > 1e-3
    wrong = {"elbow.placement": place[::-1]}
    assert "q0 breaks constraint 1, by " in refused(
        hinge.ModelError, hinge.simulate, varied, 0.1, q0, constraint=held, parameters=wrong
    )


# driven robots


def driven():
    robot = grown(31, ("spherical", "revolute", "universal", "prismatic"))
    return robot, robot.prescribe("joint1", joint3=[1])


def test_a_driven_robot_is_held_as_the_whole_robot_with_those_accelerations_given():
    """φ on the whole robot, whose driven freedoms take whatever force their motion needs: one larger system."""
    robot, part = driven()

    def place(q, t, at):
        return [at("link4").p[0] - 0.1 * t, at("link4").p[2] + q[0]]

    def whole(q, t, at):
        return [at("link4").p[0] - 0.1 * t, at("link4").p[2] + q[4]]

    held, full = hinge.constrain(part, place, holonomic=True), hinge.constrain(robot, whole, holonomic=True)
    q, qd, qdd, tau = state(robot, 32)
    known = np.zeros(robot.nv, bool)
    known[[0, 1, 2, 5]] = True
    fixed = np.zeros(robot.nq, bool)
    fixed[[0, 1, 2, 3, 6]] = True
    given = q[fixed], qd[known], qdd[known]
    made, force = held.forward(q[~fixed], qd[~known], tau[~known], 0.3, prescribed=given)
    A, c = full._call("rates", q, qd, 0.3)
    M, C = robot.mass_matrix(q), robot.bias_force(q, qd)
    free = ~known
    left = np.r_[tau[free] - C[free] - M[np.ix_(free, known)] @ qdd[known], -c - A[:, known] @ qdd[known]]
    K = np.block([[M[np.ix_(free, free)], -A[:, free].T], [A[:, free], np.zeros((2, 2))]])
    near(np.r_[made, force], np.linalg.solve(K, left), 1e-10, 100.0)
    _, b = held.matrix(q[~fixed], 0.3, prescribed=given)
    near(held.matrix(q[~fixed], 0.3, prescribed=given)[0], A[:, free], 1e-13)
    near(b, full.matrix(q, 0.3)[1] - A[:, known] @ qd[known], 1e-12, 10.0)
    near(held.gap(q[~fixed], 0.3, prescribed=given), full.gap(q, 0.3), 1e-13)


def test_the_drift_of_driven_joints_is_what_they_move_a_frame_by():
    robot, part = driven()
    q, qd, _, _ = state(robot, 33)
    qd[[3, 4, 6]] = 0.0
    held = hinge.constrain(part, lambda q, t, at: (at("link4").J[3:4], -at("link4").drift[3:4]))
    fixed = [0, 1, 2, 3, 6]
    _, b = held.matrix(np.delete(q, fixed), prescribed=(q[fixed], qd[[0, 1, 2, 5]]))
    near(b, -robot.velocity(q, qd, "link4", frame="aligned")[3:4], 1e-12, 3.0)


def test_a_run_of_a_driven_robot_keeps_it():
    """A bead on a turning arm that is tied to a line across the floor: x = d / cos θ."""
    builder = hinge.Builder("crank", gravity=(0, 0, 0))
    builder.link("base")
    builder.link("arm", mass=1.0, inertia=np.eye(3) * 0.1)
    builder.link("bead", mass=0.7)
    builder.joint("turn", "revolute", "base", "arm")
    builder.joint("slide", "prismatic", "arm", "bead", axis=(1, 0, 0))
    bead = hinge.Robot(builder.build()).prescribe("turn")
    line = hinge.constrain(bead, lambda q, t, at: [at("bead").p[0] - 0.5], holonomic=True)

    def turning(t):
        return [0.4 * t], [0.4], [0.0]

    for way in ("project", "baumgarte"):
        run = hinge.simulate(bead, 2.0, [0.5], [0.0], constraint=line, loops=way, prescribed=turning, step=0.01)
        near(run.q[:, 0], 0.5 / np.cos(0.4 * run.t), 1e-12 if way == "project" else 1e-7)
    assert refused(hinge.ModelError, hinge.simulate, bead, 0.1, [0.5], [0.1], constraint=line, prescribed=turning) == (
        "robot 'crank': qd0 breaks constraint 1, by 0.1.\n  Start with what project(q0, qd0) of the constraint gives."
    )


# loops besides


def test_a_linkage_is_held_besides_its_loop():
    """A four-bar whose crank is held stands still, whatever pushes; the loop's five constraints come after that one."""
    linkage = hinge.samples.four_bar()
    slow = hinge.constrain(linkage, lambda q, t: [[1.0, 0.0, 0.0]])
    q = linkage.assemble([0.5, 0.0, 0.0], hold=["crank"]).q
    qdd, force = slow.forward(q, np.zeros(3), [0.0, 3.0, 0.0])
    assert force.shape == (1 + 5,)
    near(qdd, np.zeros(3), 1e-10)
    still = np.zeros(3)
    near(slow.forward(q, still, still)[1][:1], slow.inverse(q, still, still, actuated=[])[1][:1], 1e-9, 10.0)
    assert refused(hinge.NotCovered, slow.basis, q) == (
        "robot 'four_bar' has loops besides its constraints: pseudo-velocities and the geometry of constraints are of "
        "robots without.\n  forward, inverse, project, gap and assemble keep both."
    )


def test_constraints_and_loops_are_assembled_and_projected_together():
    linkage = hinge.samples.four_bar()
    high = hinge.constrain(linkage, lambda q, t: [q[0] - 0.5 - 0.2 * t], holonomic=True)
    made = high.assemble([0.3, 0.3, 0.9])
    assert made.status == hinge.Status.OK
    near(made.q[0], 0.5, 1e-12)
    assert np.abs(linkage.loop_gap(made.q)).max() < 1e-12
    qd = high.project(made.q, np.zeros(3))
    near(qd[0], 0.2, 1e-12)
    run = hinge.simulate(linkage, 1.0, made.q, qd, constraint=high, loops="project", step=0.01)
    near(run.q[:, 0], 0.5 + 0.2 * run.t, 1e-12)
    assert np.abs(linkage.loop_gap(run.q)).max() < 1e-11
    assert "q0 breaks loop 'pin" in refused(
        hinge.ModelError, hinge.simulate, linkage, 0.1, [0.5, 0.0, 0.0], constraint=high
    )
    four = linkage.assemble([0.5, 0.3, 0.9]).q
    near(rate(lambda t: high.gap(linkage.integrate(four, t * np.array([0.2, 0.4, -0.3])))),
         high.matrix(four)[0] @ [0.2, 0.4, -0.3], 1e-8)  # fmt: skip
