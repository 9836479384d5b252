"""Every joint type of the registry: its own laws, and its place in chains and trees of all the others."""

import numpy as np
import pytest
from machines import (
    LIMITS,
    MOVING,
    PARAMETERS,
    grown,
    moved,
    near,
    pose,
    random_body,
    random_rotation,
    state,
    stiffness,
)

import hinge
from hinge.model import JOINTS

# many robots of a few calls each, which are not worth compiling
pytestmark = pytest.mark.usefixtures("plain_interpreter")

kinds = pytest.mark.parametrize("kind", MOVING)


def joint_of(kind):
    return JOINTS[kind](**PARAMETERS.get(kind, {}))


def positions(kind, n, seed=0):
    joint, limits = joint_of(kind), LIMITS.get(kind, {})
    low, high = limits.get("lower", [-np.inf] * joint.nq), limits.get("upper", [np.inf] * joint.nq)
    return joint.random(np.random.default_rng(seed), n, low, high)


def axes_of(joint, q):
    return np.array([[*s.ang, *s.lin] for s in joint.axes(q.tolist())], float).T


def pose_of(joint, q):
    R, p = joint.transform(list(q)).pose()
    return pose(np.reshape(R, (3, 3)), p)


def test_the_registry_has_every_joint_of_the_texts():
    wanted = {
        "revolute", "continuous", "prismatic", "helical", "cylindrical", "universal", "planar", "planar_outer",
        "cartesian_2", "cartesian_3", "spherical", "spherical_angles", "sphere_in_cylinder", "rolling", "free",
    }  # fmt: skip
    assert wanted <= set(MOVING)


@kinds
def test_a_joint_keeps_its_own_laws(kind):
    hinge.check_joint(joint_of(kind))


@kinds
def test_a_joint_with_its_axis_anywhere_keeps_them_too(kind):
    cls = JOINTS[kind]
    if "axis" not in cls.__dataclass_fields__:
        assert joint_of(kind).line is None
        return
    axis = np.array([0.48, -0.6, 0.64])
    joint = cls(axis=type(cls().axis)(axis.tolist()), **PARAMETERS.get(kind, {}))
    hinge.check_joint(joint)
    near(pose_of(joint, positions(kind, 1)[0])[:3, :3] @ axis, axis, 1e-15)  # the same inside and outside
    assert joint.line == joint.axis


@kinds
def test_inner_and_outer_frames_coincide_at_rest(kind):
    joint = joint_of(kind)
    near(pose_of(joint, joint.neutral()), np.eye(4), 1e-15)


@kinds
def test_the_axes_are_the_motion_of_the_transform(kind):
    joint, h = joint_of(kind), 1e-5
    rng = np.random.default_rng(1)
    for q in positions(kind, 3):
        qd = rng.normal(size=joint.nv)
        velocity = axes_of(joint, q) @ qd
        ahead, behind = (pose_of(joint, joint.integrate(q.tolist(), (s * h * qd).tolist())) for s in (1, -1))
        W = np.linalg.inv(pose_of(joint, q)) @ (ahead - behind) / (2 * h)
        near([W[2, 1], W[0, 2], W[1, 0], *W[:3, 3]], velocity, 1e-8, 3.0)


@kinds
def test_the_rate_of_the_axes_is_their_derivative(kind):
    joint, h = joint_of(kind), 1e-5
    rng = np.random.default_rng(2)
    for q in positions(kind, 3):
        qd = rng.normal(size=joint.nv).tolist()
        change = np.array(joint.rate(q.tolist(), qd), float)
        made = (axes_of(joint, q + h * change) - axes_of(joint, q - h * change)) / (2 * h)
        near([[*s.ang, *s.lin] for s in joint.axes_rate(q.tolist(), qd)], made.T, 1e-8, 3.0)


# one joint of the kind between two hinges, in a chain and in a tree


@pytest.mark.sampled(10)
@kinds
@pytest.mark.parametrize("parents", [(0, 1, 2), (0, 1, 1)], ids=["chain", "tree"])
def test_forward_dynamics_undoes_inverse_dynamics_by_every_method(kind, parents):
    robot = grown(30, ("revolute", kind, "revolute"), parents, armature=0.05)
    q, qd, qdd, _ = state(robot, 31, 3)
    tau = robot.inverse_dynamics(q, qd, qdd)
    for method in ("articulated", "composite", "composite_llt"):
        near(robot.forward_dynamics(q, qd, tau, method=method), qdd, 1e-14, stiffness(robot, q))


@kinds
@pytest.mark.parametrize("n", [3])
def test_a_chain_of_joints_of_one_kind_agrees_between_methods(kind, n):
    robot = grown(32, (kind,) * n)
    q, qd, _, tau = state(robot, 33, 2)
    made = [robot.forward_dynamics(q, qd, tau, method=m) for m in ("articulated", "composite")]
    near(made[0], made[1], 1e-14, stiffness(robot, q))


@pytest.mark.sampled(7)
@kinds
def test_a_joint_is_a_free_joint_that_is_held_to_its_axes(kind):
    """7.4.3: with v = S q̇ and v̇ = S q̈ + Ṡ q̇ for the free joint, H is Sᵀ H S and the force Sᵀ f."""
    robot = grown(34, ("revolute", kind, "revolute"), (0, 1, 2))
    loose = grown(34, ("revolute", "free", "revolute"), (0, 1, 2))
    joint = robot.model.joint[2]
    q, qd, qdd, _ = state(robot, 35)
    T = pose_of(joint, q[1 : 1 + joint.nq])
    S = axes_of(joint, q[1 : 1 + joint.nq])
    turned = np.linalg.eigh(K_matrix(T[:3, :3]))[1][:, -1]
    inner = [q[1 : 1 + joint.nq].tolist(), qd[1:-1].tolist()]
    bias = joint.bias(*inner)
    G = np.zeros((8, robot.nv))
    G[0, 0], G[1:7, 1:-1], G[7, -1] = 1.0, S, 1.0
    q_free = np.r_[q[0], turned, T[:3, 3], q[-1]]
    qdd_free = G @ qdd + np.r_[0.0, [*bias.ang, *bias.lin], 0.0]
    near(robot.mass_matrix(q), G.T @ loose.mass_matrix(q_free) @ G, 1e-12, 10.0)
    near(robot.inverse_dynamics(q, qd, qdd), G.T @ loose.inverse_dynamics(q_free, G @ qd, qdd_free), 1e-11, 100.0)
    for link in ("link2", "link3"):
        near(robot.pose(q, link), loose.pose(q_free, link), 1e-13)
        near(robot.velocity(q, qd, link), loose.velocity(q_free, G @ qd, link), 1e-12, 3.0)
        near(robot.acceleration(q, qd, qdd, link), loose.acceleration(q_free, G @ qd, qdd_free, link), 1e-12, 10.0)
        near(robot.jacobian(q, link), loose.jacobian(q_free, link) @ G, 1e-13, 3.0)


def K_matrix(R):
    """The symmetric matrix whose last eigenvector is the quaternion of a rotation, scalar first."""
    t, v = np.trace(R), np.array([R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]])
    return np.block([[np.array([[t]]), v[None]], [v[:, None], R + R.T - t * np.eye(3)]])


# figure 8-2: paired frames


@kinds
def test_any_placement_and_any_joint_make_a_pose_that_is_their_product(kind):
    rng = np.random.default_rng(36)
    builder = hinge.Builder("pair")
    builder.link("base")
    builder.link("body", **random_body(rng))
    inner, outer = (pose(random_rotation(rng), rng.normal(size=3)) for _ in range(2))
    joint = joint_of(kind)
    builder.joint("pair", joint, "base", "body", inner[:3, 3], inner[:3, :3], child_xyz=outer[:3, 3],
                  child_rotation=outer[:3, :3])  # fmt: skip
    robot = hinge.Robot(builder.build())
    q, _ = robot.random_state(rng, 1)
    T = pose_of(joint, q[0])
    near(robot.pose(q[0], "body"), inner @ T @ outer, 1e-14, 3.0)
    want = np.linalg.inv(moved(outer)) @ axes_of(joint, q[0])
    near(robot.jacobian(q[0], "body"), want, 1e-13, 3.0)


def test_a_quaternion_of_any_length_means_its_direction():
    for kind in ("spherical", "sphere_in_cylinder", "rolling", "free"):
        robot = grown(37, (kind,))
        q, qd, qdd, _ = state(robot, 38)
        scaled = q.copy()
        scaled[:4] *= 3.7
        near(robot.inverse_dynamics(scaled, qd, qdd), robot.inverse_dynamics(q, qd, qdd), 1e-13, 10.0)


@pytest.mark.parametrize("kind", ["planar", "planar_outer"])
@pytest.mark.parametrize("axis", [(0, 0, 1), (0, 0, -1), (1, 0, 0), (0.48, -0.6, 0.64)])
def test_the_axis_of_a_planar_joint_is_the_normal_of_its_plane(kind, axis):
    builder = hinge.Builder("puck")
    builder.link("base")
    builder.link("puck", mass=2.0, com=(0.1, 0.2, 0.3), inertia=np.diag([0.1, 0.2, 0.15]))
    builder.joint("puck", kind, "base", "puck", axis=axis)
    robot = hinge.Robot(builder.build())
    near(robot.pose(np.zeros(3), "puck"), np.eye(4), 1e-15)
    q = np.array([0.7, 0.4, -0.3])
    T = robot.pose(q, "puck")
    near(T[:3, :3] @ axis, axis, 1e-14)
    near(T[:3, 3] @ axis, 0.0, 1e-14)
    near(T[:3, 3] @ T[:3, 3], 0.25, 1e-14)
    J = robot.jacobian(q, "puck", frame="aligned")
    near(J[:3], np.outer(axis, [1, 0, 0]), 1e-14)
    near(np.asarray(axis) @ J[3:], np.zeros(3), 1e-14)
