"""A joint of several freedoms is the chain of hinges and slides it stands for. Source: featherstone1987, 7.4."""

import numpy as np
import pytest
from machines import near, random_body, random_rotation, state, stiffness

import hinge
from hinge.model.mechanisms import SphericalAngles

# many robots of a few calls each, which are not worth compiling
pytestmark = pytest.mark.usefixtures("plain_interpreter")

X, Y, Z = (1, 0, 0), (0, 1, 0), (0, 0, 1)
PITCH = 0.17

# kind, the chain from the inside out, and which coordinate of the joint each joint of the chain has
CHAINS = [
    ("cylindrical", [("revolute", Z), ("prismatic", Z)], [0, 1]),
    ("cylindrical", [("prismatic", Z), ("revolute", Z)], [1, 0]),
    ("universal", [("revolute", X), ("revolute", Y)], [0, 1]),
    ("spherical_angles", [("revolute", X), ("revolute", Y), ("revolute", Z)], [0, 1, 2]),
    ("planar", [("prismatic", X), ("prismatic", Y), ("revolute", Z)], [1, 2, 0]),
    ("planar_outer", [("revolute", Z), ("prismatic", X), ("prismatic", Y)], [0, 1, 2]),
    ("cartesian_2", [("prismatic", Y), ("prismatic", X)], [1, 0]),
    ("cartesian_3", [("prismatic", X), ("prismatic", Y), ("prismatic", Z)], [0, 1, 2]),
    ("cartesian_3", [("cartesian_2", None), ("prismatic", Z)], [0, 1, 2]),
]
chains = pytest.mark.parametrize(("kind", "chain", "order"), CHAINS, ids=lambda x: x if isinstance(x, str) else None)


def between(steps, **options):
    """A robot with a hinge, the steps of a joint between general frames and with massless links, and one more hinge."""
    rng = np.random.default_rng(40)
    builder = hinge.Builder("between")
    builder.link("base")
    builder.link("carrier", **random_body(rng))
    builder.joint("first", "revolute", "base", "carrier", rng.normal(size=3), random_rotation(rng), rng.normal(size=3))
    inner, outer = (rng.normal(size=3), random_rotation(rng)), (rng.normal(size=3), random_rotation(rng))
    load, tip = random_body(rng), random_body(rng)
    at = "carrier"
    for k, (kind, axis, more) in enumerate(steps):
        last = k == len(steps) - 1
        link = "load" if last else f"massless{k}"
        builder.link(link, **(load if last else {}))
        start = {"xyz": inner[0], "rotation": inner[1]} if k == 0 else {}
        seat = {"child_xyz": outer[0], "child_rotation": outer[1]} if last else {}
        builder.joint(f"step{k}", kind, at, link, axis=axis, **start, **seat, **more)
        at = link
    builder.link("tip", **tip)
    builder.joint("last", "revolute", "load", "tip", rng.normal(size=3), random_rotation(rng), rng.normal(size=3))
    return hinge.Robot(builder.build(**options))


def alone(kind, **more):
    return between([(kind, None, more)])


def chained(steps):
    return between([(kind, axis, {}) for kind, axis in steps])


@pytest.mark.sampled(4)
@chains
def test_it_has_the_dynamics_of_its_chain(kind, chain, order):
    one, many = alone(kind), chained(chain)
    n = len(order)
    pick = [0, *(1 + k for k in order), n + 1]  # where the chain's coordinates are among the joint's
    q, qd, qdd, tau = state(one, 41, 3)
    if kind == "spherical_angles":
        q[:, 2] = [0.4, -0.9, 1.0]
    near(many.pose(q[:, pick], "tip"), one.pose(q, "tip"), 1e-13, 5.0)
    near(many.inverse_dynamics(q[:, pick], qd[:, pick], qdd[:, pick]), one.inverse_dynamics(q, qd, qdd)[:, pick],
         1e-12, 100.0)  # fmt: skip
    near(many.mass_matrix(q[:, pick]), one.mass_matrix(q)[:, pick][:, :, pick], 1e-12, 10.0)
    near(many.coriolis_matrix(q[:, pick], qd[:, pick]), one.coriolis_matrix(q, qd)[:, pick][:, :, pick], 1e-12, 10.0)
    for method in ("articulated", "composite"):
        made = many.forward_dynamics(q[:, pick], qd[:, pick], tau[:, pick], method=method)
        want = one.forward_dynamics(q, qd, tau, method=method)[:, pick]
        near(made, want, 1e-14, stiffness(one, q))


def test_a_screw_is_a_slide_that_follows_a_hinge():
    screw = alone("helical", pitch=PITCH)
    pair = between([("revolute", Z, {}), ("prismatic", Z, {"mimic": ("step0", PITCH, 0.0)})])
    assert (pair.nq, pair.nv) == (screw.nq, screw.nv) == (3, 3)
    q, qd, qdd, tau = state(screw, 42, 3)
    near(pair.inverse_dynamics(q, qd, qdd), screw.inverse_dynamics(q, qd, qdd), 1e-12, 30.0)
    near(pair.mass_matrix(q), screw.mass_matrix(q), 1e-12, 10.0)
    for method in ("articulated", "composite"):
        near(pair.forward_dynamics(q, qd, tau, method=method), screw.forward_dynamics(q, qd, tau), 1e-13,
             stiffness(screw, q))  # fmt: skip


def test_a_screw_is_a_cylinder_joint_driven_along_its_thread():
    """A turn of a screw is a turn and a shift of a cylindrical joint; the force of the screw is what both forces do."""
    screw, loose = alone("helical", pitch=PITCH), alone("cylindrical")
    q, qd, qdd, _ = state(screw, 43)
    G = np.array([[1, 0, 0], [0, 1, 0], [0, PITCH, 0], [0, 0, 1.0]])
    near(screw.inverse_dynamics(q, qd, qdd), G.T @ loose.inverse_dynamics(G @ q, G @ qd, G @ qdd), 1e-12, 30.0)


def test_a_ball_in_a_cylinder_is_a_slide_and_then_a_ball():
    one, many = alone("sphere_in_cylinder"), chained([("prismatic", Z), ("spherical", None)])
    q, qd, qdd, tau = state(one, 44, 3)
    at_q, at_v = [0, 5, 1, 2, 3, 4, 6], [0, 4, 1, 2, 3, 5]
    near(many.pose(q[:, at_q], "tip"), one.pose(q, "tip"), 1e-13, 5.0)
    made = many.inverse_dynamics(q[:, at_q], qd[:, at_v], qdd[:, at_v])
    near(made, one.inverse_dynamics(q, qd, qdd)[:, at_v], 1e-12, 50.0)
    near(many.mass_matrix(q[:, at_q]), one.mass_matrix(q)[:, at_v][:, :, at_v], 1e-12, 10.0)
    made = many.forward_dynamics(q[:, at_q], qd[:, at_v], tau[:, at_v])
    near(made, one.forward_dynamics(q, qd, tau)[:, at_v], 1e-14, stiffness(one, q))


def test_a_free_joint_is_three_slides_and_a_ball():
    one, many = alone("free"), chained([("cartesian_3", None), ("spherical", None)])
    q, qd, qdd, tau = state(one, 45)
    turned = hinge.Robot(one.model)  # the joint's own rotation, from a robot whose frames are plain
    ball = _plain_ball()
    R = ball.pose(q[1:5], "ball")[:3, :3]
    A = np.zeros((8, 8))  # the chain's velocities from the joint's: [first; slides; ball; last]
    A[0, 0] = A[7, 7] = 1.0
    A[1:4, 4:7], A[4:7, 1:4] = R, np.eye(3)
    w, v = qd[1:4], qd[4:7]
    extra = np.zeros(8)
    extra[1:4] = R @ np.cross(w, v)
    mapped = np.r_[q[0], q[5:8], q[1:5], q[8]]
    near(many.pose(mapped, "tip"), turned.pose(q, "tip"), 1e-13, 5.0)
    near(A.T @ many.inverse_dynamics(mapped, A @ qd, A @ qdd + extra), one.inverse_dynamics(q, qd, qdd), 1e-12, 50.0)
    near(A.T @ many.mass_matrix(mapped) @ A, one.mass_matrix(q), 1e-12, 10.0)
    made = many.forward_dynamics(mapped, A @ qd, np.linalg.solve(A.T, tau))
    near(made, A @ one.forward_dynamics(q, qd, tau) + extra, 1e-14, stiffness(one, q))


def _plain_ball():
    builder = hinge.Builder("ball")
    builder.link("base")
    builder.link("ball", mass=1.0, inertia=np.eye(3))
    builder.joint("ball", "spherical", "base", "ball")
    return hinge.Robot(builder.build())


def test_three_angles_move_a_ball_as_its_angular_velocity_says():
    """Table 8-1 against 8.2.3: ω = S q̇, so forces by angles are Sᵀ times the couple, and H is Sᵀ H S."""
    angles, ball = alone("spherical_angles"), alone("spherical")
    q, qd, qdd, _ = state(angles, 46)
    q[2] = 0.8
    joint = SphericalAngles()
    S = np.array([list(m.ang) for m in joint.axes(q[1:4].tolist())], float).T
    bias = np.array(list(joint.bias(q[1:4].tolist(), qd[1:4].tolist()).ang), float)
    half = q[1:4] / 2
    (c1, c2, c3), (s1, s2, s3) = np.cos(half), np.sin(half)
    quaternion = _product(_product((c1, s1, 0, 0), (c2, 0, s2, 0)), (c3, 0, 0, s3))
    G = np.zeros((5, 5))
    G[0, 0], G[1:4, 1:4], G[4, 4] = 1.0, S, 1.0
    mapped, more = np.r_[q[0], quaternion, q[4]], np.r_[0.0, bias, 0.0]
    near(ball.pose(mapped, "tip"), angles.pose(q, "tip"), 1e-13, 5.0)
    want = G.T @ ball.inverse_dynamics(mapped, G @ qd, G @ qdd + more)
    near(angles.inverse_dynamics(q, qd, qdd), want, 1e-12, 50.0)
    near(angles.mass_matrix(q), G.T @ ball.mass_matrix(mapped) @ G, 1e-12, 10.0)


def _product(a, b):
    w, u, z, v = a[0], np.array(a[1:]), b[0], np.array(b[1:])
    return np.r_[w * z - u @ v, w * v + z * u + np.cross(u, v)]


def test_both_planar_joints_are_one_joint_in_other_coordinates():
    """TRAPS: displacements in the outer frame are the inner ones, turned back by the angle."""
    inner, outer = alone("planar"), alone("planar_outer")
    q, qd, qdd, _ = state(inner, 47)
    c, s = np.cos(q[1]), np.sin(q[1])
    back = np.array([[c, s], [-s, c]])
    spin = np.array([[0.0, 1.0], [-1.0, 0.0]])  # the derivative of `back` by the angle is spin @ back
    r, rd, rdd = back @ q[2:4], back @ qd[2:4], back @ qdd[2:4]
    w, a = qd[1], qdd[1]
    velocity = rd + w * spin @ r
    acceleration = rdd + 2 * w * spin @ rd + a * spin @ r + w * w * spin @ spin @ r
    there = [np.r_[x[:2], y, x[4]] for x, y in ((q, r), (qd, velocity), (qdd, acceleration))]
    near(outer.pose(there[0], "tip"), inner.pose(q, "tip"), 1e-13, 5.0)
    near(outer.velocity(*there[:2], "tip"), inner.velocity(q, qd, "tip"), 1e-13, 10.0)
    G = np.eye(5)
    G[2:4, 2:4], G[2:4, 1] = back, spin @ r
    near(inner.inverse_dynamics(q, qd, qdd), G.T @ outer.inverse_dynamics(*there), 1e-12, 50.0)
