"""The two checks of nasser1990: a planar two-link arm by hand, and the Shuttle's arm by two methods.

The paper prints neither the closed form nor the Shuttle's numbers. The equations of the planar arm are Lagrange's, the
long arm has the proportions of that one: booms of 6.4 and 7 m, a short wrist, six hinges.
"""

import numpy as np
import pytest
from machines import near, rate

import hinge

M1, M2, A1, R1, R2, I1, I2, J1, J2 = 3.0, 2.0, 0.9, 0.4, 0.35, 0.21, 0.12, 0.05, 0.02


def planar_arm(gravity):
    """Two links in the plane of x and y, in the classic convention of the paper; J are the actuators' inertias."""
    rows = [
        {"a": A1, "mass": M1, "com": (R1 - A1, 0, 0), "inertia": np.diag([0.01, I1, I1]), "armature": J1},
        {"a": 0.7, "mass": M2, "com": (R2 - 0.7, 0, 0), "inertia": np.diag([0.01, I2, I2]), "armature": J2},
    ]
    return hinge.dh(rows, "classic", gravity=(0.0, -gravity, 0.0))


def closed_form(q, qd, qdd, g):
    """Lagrange's equations of the arm, with angles from the x axis and gravity along -y."""
    c1, c12, c2, s2 = np.cos(q[0]), np.cos(q[0] + q[1]), np.cos(q[1]), np.sin(q[1])
    h = M2 * A1 * R2
    H11 = I1 + M1 * R1**2 + I2 + M2 * (A1**2 + R2**2) + 2 * h * c2 + J1
    H12 = I2 + M2 * R2**2 + h * c2
    H22 = I2 + M2 * R2**2 + J2
    C = np.array([-h * s2 * (2 * qd[0] * qd[1] + qd[1] ** 2), h * s2 * qd[0] ** 2])
    G = g * np.array([M1 * R1 * c1 + M2 * (A1 * c1 + R2 * c12), M2 * R2 * c12])
    return np.array([[H11, H12], [H12, H22]]), np.array([[H11, H12], [H12, H22]]) @ qdd + C + G


@pytest.mark.sampled(3)
@pytest.mark.parametrize("g", [0.0, 9.81])
@pytest.mark.parametrize("seed", range(3))
def test_a_planar_arm_of_two_links_has_the_equations_found_by_hand(g, seed):
    rng = np.random.default_rng(seed)
    arm = planar_arm(g)
    q, qd, qdd = rng.normal(size=(3, 2)) * 1.5
    H, tau = closed_form(q, qd, qdd, g)
    near(arm.mass_matrix(q), H, 1e-14)
    near(arm.inverse_dynamics(q, qd, qdd), tau, 1e-13, 10.0)
    for method in ("nasser", "articulated", "composite", "composite_llt"):
        near(arm.forward_dynamics(q, qd, tau, method=method), qdd, 1e-12, 10.0)


def test_a_prescribed_motion_of_its_base_is_felt_as_the_paper_says():
    """A base that turns about z with ω and α is a link 1 with that motion: the angles are then measured from it."""
    arm = planar_arm(0.0)
    q, qd, qdd, w, alpha = np.array([0.4, -1.1]), np.array([0.7, -2.0]), np.array([0.3, 1.0]), 1.3, -0.8
    base = ([0, 0, w, 0, 0, 0], [0, 0, alpha, 0, 0, 0])
    _, tau = closed_form(q, qd + (w, 0), qdd + (alpha, 0), 0.0)
    near(arm.inverse_dynamics(q, qd, qdd, base_motion=base), tau - (J1 * alpha, 0), 1e-13)


def tube(mass, length, radius=0.17):
    """A thin-walled tube along x from the joint before it to the joint after it."""
    across = mass * (radius**2 / 2 + length**2 / 12)
    return {"mass": mass, "inertia": np.diag([mass * radius**2, across, across])}


def shuttle_arm(payload=0.0):
    """Shoulder yaw and pitch, elbow pitch, wrist pitch, yaw and roll; a payload of many tonnes on the end."""
    builder = hinge.Builder("shuttle_arm", gravity=(0.0, 0.0, 0.0))
    builder.link("orbiter")
    at, steps = "orbiter", [
        ("shoulder_yaw", (0, 0, 1), 0.0, 0.3, 95.0, 2e3), ("shoulder_pitch", (0, 1, 0), 0.3, 6.4, 139.0, 2e3),
        ("elbow", (0, 1, 0), 6.4, 7.0, 87.0, 7e2), ("wrist_pitch", (0, 1, 0), 7.0, 0.5, 8.0, 1e2),
        ("wrist_yaw", (0, 0, 1), 0.5, 0.8, 44.0, 1e2), ("wrist_roll", (1, 0, 0), 0.8, 0.6, 41.0, 1e2),
    ]  # fmt: skip
    for joint, axis, reach, length, mass, rotor in steps:
        builder.link(joint, com=(length / 2, 0, 0), **tube(mass, length))
        builder.joint(joint, "revolute", at, joint, (reach, 0, 0), axis=axis, armature=rotor)
        at = joint
    robot = hinge.Robot(builder.build())
    return robot.with_payload(at, payload, (2.5, 0, 0), payload * np.diag([2.0, 3.0, 3.0])) if payload else robot


@pytest.mark.parametrize("payload", [0.0, 14_500.0])
@pytest.mark.parametrize("orbiter", [False, True], ids=["still", "turning"])
def test_the_hinge_accelerations_of_the_long_arm_are_identical_by_both_methods(payload, orbiter):
    """The paper's words for its comparison with Walker and Orin, whose method is the composite one."""
    arm = shuttle_arm(payload)
    assert arm.nv == 6
    rng = np.random.default_rng(200)
    n = 20
    q, qd, tau = rng.uniform(-2, 2, (n, 6)), rng.normal(size=(n, 6)) * 0.05, rng.normal(size=(n, 6)) * 800.0
    motion = {"base_motion": (rng.normal(size=6) * 0.02, rng.normal(size=6) * 0.01)} if orbiter else {}
    made = [arm.forward_dynamics(q, qd, tau, method=m, **motion) for m in ("nasser", "composite")]
    condition = np.linalg.cond(arm.mass_matrix(q)).max()
    near(made[0], made[1], 1e-15 * condition, np.abs(made[1]).max())
    near(arm.inverse_dynamics(q, qd, made[0], **motion), tau, 1e-15 * condition, 800.0)


def test_on_a_free_orbiter_the_arm_keeps_the_momentum_of_all():
    builder = hinge.Builder("orbiter", gravity=(0.0, 0.0, 0.0))
    builder.link("body", mass=9e4, com=(-4.0, 0, -1.0), inertia=np.diag([1.2e6, 9.0e6, 9.3e6]))
    orbiter = hinge.Robot(builder.build(base="floating"))
    whole = orbiter.attach(shuttle_arm(5000.0), "body", (6.0, 2.0, 1.0), prefix="arm_")
    rng = np.random.default_rng(201)
    q, qd = whole.neutral(), rng.normal(size=12) * 0.01
    q[7:] = rng.uniform(-1, 1, 6)
    tau = np.r_[np.zeros(6), rng.normal(size=6) * 500.0]
    made = [whole.forward_dynamics(q, qd, tau, method=m) for m in ("articulated", "composite")]
    near(made[0], made[1], 1e-10, np.abs(made[1]).max())
    _, back = whole.floating_inverse_dynamics(q, qd, made[0][6:])
    near(back, tau[6:], 1e-10, 500.0)

    def momentum(t):
        return whole.momentum(whole.integrate(q, t * qd + 0.5 * t * t * made[0]), qd + t * made[0])

    gained = rate(momentum, 1e-2)
    near(gained, np.zeros(6), 1e-7, np.abs(whole.mass_matrix(q) @ made[0]).max())
