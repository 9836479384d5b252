"""The accelerations available at the hand: what the effort limits allow, no more and no less."""

import numpy as np
import pytest

import hinge

optimize = pytest.importorskip("scipy.optimize")

RNG = np.random.default_rng(2)
ARMS = {
    "puma560": (hinge.samples.puma560(), "tool", np.array([97.6, 186.4, 89.4, 24.2, 20.1, 21.3])),
    "seven joints": (hinge.samples.chain(RNG, 7), "link7", np.full(7, 60.0)),
    "planar": (hinge.samples.planar_2r(), "hand", np.array([60.0, 30.0])),
    "tree": (hinge.samples.random_tree(RNG, 7), None, 50.0),
}
PARTS = {"linear": slice(3, 6), "angular": slice(0, 3), "both": slice(0, 6)}


@pytest.fixture(params=ARMS)
def arm(request):
    robot, tip, effort = ARMS[request.param]
    depth = [len(list(robot.model.toward_base(i + 1))) for i in range(len(robot.body_names))]
    return robot, tip or robot.body_names[int(np.argmax(depth))], np.broadcast_to(effort, (robot.nv,))


def by_program(robot, q, qd, tip, part, effort, d):
    """The greatest acceleration along d alone, by a linear program over accelerations and forces of the joints."""
    n = robot.nv
    J = robot.jacobian(q, tip, frame="aligned")[PARTS[part]]
    drift = robot.acceleration(q, qd, np.zeros(n), tip, frame="aligned", kind="classical")[PARTS[part]]
    M, bias = robot.mass_matrix(q), robot.bias_force(q, qd)
    up = np.c_[np.concatenate([M, -M]), np.zeros(2 * n)]
    found = optimize.linprog(np.r_[np.zeros(n), -1.0], A_ub=up, b_ub=np.r_[effort - bias, effort + bias],
                             A_eq=np.c_[J, -d], b_eq=-drift, bounds=(None, None))  # fmt: skip
    return -found.fun if found.status == 0 else np.nan


@pytest.mark.parametrize("part", PARTS)
def test_the_most_along_a_direction_is_what_a_linear_program_finds(arm, part):
    robot, tip, effort = arm
    q, qd = robot.random_state(np.random.default_rng(3), 4)
    qd = 0.3 * qd
    can = hinge.hand_accelerations(robot, q, qd, tip, part, effort)
    forth = robot.jacobian(q, tip, frame="aligned")[:, PARTS[part]] @ np.random.default_rng(4).normal(size=robot.nv)
    made = can.most(forth)
    for k in range(4):
        d = forth[k] / np.linalg.norm(forth[k])
        wanted = by_program(robot, q[k], qd[k], tip, part, effort, d)
        assert made[k] == pytest.approx(wanted, rel=1e-6, abs=1e-6, nan_ok=True)


@pytest.mark.parametrize("part", PARTS)
def test_whatever_the_actuators_do_the_hand_stays_within_the_facets_and_the_support(arm, part):
    robot, tip, effort = arm
    rng = np.random.default_rng(5)
    (q,), (qd,) = robot.random_state(rng, 1)
    can = hinge.hand_accelerations(robot, q, qd, tip, part, effort)
    tau = np.concatenate([rng.uniform(-1, 1, (200, robot.nv)), rng.choice([-1.0, 1.0], (200, robot.nv))]) * effort
    qdd = robot.forward_dynamics(q, qd, tau)
    made = robot.acceleration(q, qd, qdd, tip, frame="aligned", kind="classical")[:, PARTS[part]]
    np.testing.assert_allclose(made, tau @ can.map.T + can.offset, atol=1e-9 * abs(made).max())  # (10.3)
    normals, distances = can.facets()
    size = abs(made).max() + abs(distances).max()
    assert (made @ normals.T <= distances + 1e-9 * size).all()
    d = rng.normal(size=made.shape[-1])
    assert (made @ d / np.linalg.norm(d) <= can.support(d) + 1e-9 * size).all()
    # and each facet and the support are reached
    best = np.sign(normals @ can.map) * effort
    np.testing.assert_allclose(((best @ can.map.T + can.offset) * normals).sum(axis=1), distances, atol=1e-9 * size)
    assert (can.vertices() @ d / np.linalg.norm(d)).max() == pytest.approx(can.support(d), abs=1e-9 * size)


@pytest.mark.parametrize("name", ["puma560", "seven joints"])
def test_the_corners_are_the_corners(name):
    spatial = pytest.importorskip("scipy.spatial")
    robot, tip, effort = ARMS[name]
    (q,), (qd,) = robot.random_state(np.random.default_rng(6), 1)
    can = hinge.hand_accelerations(robot, q, qd, tip, "linear", effort)
    corners, n = can.vertices(), robot.nv
    assert len(corners) == n * (n - 1) + 2  # of a sum of n segments in space, no three of them in a plane
    assert len(spatial.ConvexHull(corners).vertices) == len(corners)
    everywhere = np.stack(np.meshgrid(*[[-1.0, 1.0]] * n), axis=-1).reshape(-1, n) * effort @ can.map.T + can.offset
    assert spatial.ConvexHull(everywhere).volume == pytest.approx(spatial.ConvexHull(corners).volume)


def test_a_heavier_hand_can_do_less_and_a_shifted_load_is_only_a_parameter():
    load = hinge.Builder("load")
    load.link("load", 1.0, (0.0, 0.0, 0.1))
    robot, _, effort = ARMS["puma560"]
    arm = robot.attach(hinge.Robot(load.build()), at="tool").vary("load.mass", "load.com")
    q, qd = np.array([0.1, -0.8, 0.4, 0.2, 0.9, 0.3]), np.zeros(6)
    up = [0.0, 0.0, 1.0]
    masses = np.array([0.0, 1.0, 2.0, 4.0])
    can = hinge.hand_accelerations(arm, q, qd, "tool", effort=effort, parameters={"load.mass": masses})
    assert can.map.shape == (4, 3, 6)
    assert (np.diff(can.most(up)) < 0).all()
    kernels = len(arm.target.memo)
    shifted = hinge.hand_accelerations(arm, q, qd, "tool", effort=effort, parameters={"load.com": [0.1, 0.0, 0.1]})
    assert shifted.most(up) != pytest.approx(can[1].most(up))
    assert len(arm.target.memo) == kernels
    fixed = robot.with_payload("tool", 1.0, (0.1, 0.0, 0.1))
    built = hinge.hand_accelerations(fixed, q, qd, "tool", effort=effort)
    np.testing.assert_allclose(shifted.map, built.map, atol=1e-9)
    # a hand pulled down by a force can rise less
    pulled = hinge.hand_accelerations(robot, q, qd, "tool", effort=effort, external={"tool": [0, 0, 0, 0, 0, -20.0]},
                                      external_frame="aligned")  # fmt: skip
    assert pulled.most(up) < hinge.hand_accelerations(robot, q, qd, "tool", effort=effort).most(up)


def test_at_a_singularity_the_set_is_flat_and_says_so():
    robot, tip, effort = ARMS["planar"]
    can = hinge.hand_accelerations(robot.with_gravity((0, 0, 0)), [0.4, 0.0], [0.0, 0.0], tip, effort=effort)
    out = np.array([np.cos(0.4), 0.0, np.sin(0.4)])
    assert can.most(out) == pytest.approx(0.0, abs=1e-9)
    assert can.most([-out[2], 0.0, out[0]]) > 10.0
    moving = hinge.hand_accelerations(robot.with_gravity((0, 0, 0)), [0.4, 0.0], [1.0, 0.0], tip, effort=effort)
    assert np.isnan(moving.most([0.0, 1.0, 0.0]))  # it is pulled inward by what turns it, whatever the forces


def test_a_hand_that_cannot_move_and_a_state_that_is_none():
    robot, _, effort = ARMS["planar"]
    still = robot.with_frame("pivot", "base", [0.0, 0.0, 0.0])
    can = hinge.hand_accelerations(still, [0.4, 0.3], [0.0, 0.0], "pivot", effort=effort)
    assert can.most([1.0, 0.0, 0.0]) == can.support([1.0, 0.0, 0.0]) == 0.0
    np.testing.assert_array_equal(can.vertices(), np.zeros((1, 3)))
    rod = hinge.samples.pendulum(1)
    one = hinge.hand_accelerations(rod.with_frame("end", "rod1", [0, 0, -1.0]), [0.0], [0.0], "end", effort=[2.0])
    np.testing.assert_allclose(sorted(one.vertices()[:, 0]), [-6.0, 6.0], atol=1e-9)  # 2 N m on a rod of 1/3 kg m²
    lost = hinge.hand_accelerations(robot, [[0.4, np.nan], [0.4, 0.3]], [0.0, 0.0], "hand", effort=effort)
    assert list(np.isnan(lost.most([1.0, 0.0, 0.0]))) == [True, False]
    with pytest.raises(hinge.NotCovered, match="this state has no accelerations"):
        lost[0].facets()
