"""Rotors and gears: a geared rotor is a body on a joint that follows another; coupled joints move in clusters."""

import numpy as np
import pytest
from machines import SINGLE, grown, machine, near, random_body, refused, state, stiffness

import hinge
from hinge.model import JOINTS

# many robots of a few calls each, which are not worth compiling
pytestmark = pytest.mark.usefixtures("plain_interpreter")

N, J = 40.0, 3e-4
BODY = {"mass": 1.3, "com": (0.25, 0.05, 0.0), "inertia": np.diag([0.01, 0.06, 0.06])}


def with_rotor(turned=False, ratio=N, armature=0.0):
    """A hinge about z, and a rotor on the base that turns `ratio` times as fast."""
    builder = hinge.Builder("geared")
    builder.link("base")
    builder.link("arm", **BODY)
    builder.joint("hinge", "revolute", "base", "arm", axis=(0, 1, 0), armature=armature)
    if not armature:
        builder.link("rotor", mass=0.2, inertia=np.diag([2e-4, 2e-4, J]))
        turn = [[0, 0, 1], [1, 0, 0], [0, 1, 0]] if turned else np.eye(3)
        builder.joint("motor", "revolute", "base", "rotor", (0.1, 0, 0), turn, mimic=("hinge", ratio, 0.4))
    return hinge.Robot(builder.build())


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("ratio", [N, -N])
def test_a_rotor_whose_axis_is_fixed_in_space_is_armature_n_squared_j(turned, ratio):
    rotor, armature = with_rotor(turned, ratio), with_rotor(armature=N * N * J)
    q, qd, qdd, tau = state(armature, 110, 3)
    assert (rotor.nq, rotor.nv) == (1, 1)
    near(rotor.inverse_dynamics(q, qd, qdd), armature.inverse_dynamics(q, qd, qdd), 1e-13)
    near(rotor.mass_matrix(q), armature.mass_matrix(q), 1e-13)
    near(rotor.kinetic_energy(q, qd), armature.kinetic_energy(q, qd), 1e-13)
    for method in ("articulated", "composite"):
        near(rotor.forward_dynamics(q, qd, tau, method=method), armature.forward_dynamics(q, qd, tau), 1e-12)


def test_a_rotor_on_a_moving_link_couples_two_joints_as_the_planar_arm_says():
    """½ m d² q̇₁² + ½ J (q̇₁ + N q̇₂)²: H gains m d² + J, N J and N² J; armature would have N² J alone."""
    d, m = 0.15, 0.4

    def arm(rotor):
        builder = hinge.Builder("arm")
        builder.link("base")
        builder.link("upper", mass=2.0, com=(0.3, 0, 0), inertia=np.diag([0.0, 0.07, 0.07]))
        builder.link("lower", mass=1.0, com=(0.2, 0, 0), inertia=np.diag([0.0, 0.03, 0.03]))
        builder.joint("shoulder", "revolute", "base", "upper", axis=(0, -1, 0))
        builder.joint("elbow", "revolute", "upper", "lower", (0.6, 0, 0), axis=(0, -1, 0))
        if rotor:
            builder.link("rotor", mass=m, inertia=np.diag([J / 2, J, J / 2]))
            builder.joint("motor", "revolute", "upper", "rotor", (d, 0, 0), axis=(0, -1, 0), mimic=("elbow", N, 0.0))
        return hinge.Robot(builder.build())

    bare, geared = arm(False), arm(True)
    q, qd, qdd, tau = state(bare, 111)
    more = np.array([[m * d * d + J, N * J], [N * J, N * N * J]])
    near(geared.mass_matrix(q), bare.mass_matrix(q) + more, 1e-14)
    weight = np.array([m * 9.81 * d * np.cos(q[0]), 0.0])
    want = bare.inverse_dynamics(q, qd, qdd) + more @ qdd + weight
    near(geared.inverse_dynamics(q, qd, qdd), want, 1e-13)
    for method in ("articulated", "composite"):
        made = geared.forward_dynamics(q, qd, tau, method=method)
        near(geared.inverse_dynamics(q, qd, made), tau, 1e-12, 10.0)


def test_a_geared_rotor_in_a_gimbal_has_the_gyroscopic_forces_of_its_spin():
    """By hand, with yaw ψ, pitch θ = 0 and a wheel driven through a gear: the spin is h = (J₃ + N J) q̇₃.

    τ_ψ = C ψ̈ - h θ̇,  τ_θ = B θ̈ + h ψ̇,  τ₃ = (J₃ + N² J) q̈₃ - (J₃ + N J) ψ̇ θ̇
    """
    J3, gain = 0.02, 9.0
    ring = np.diag([0.05, 0.06, 0.07])
    wheel, rotor = np.diag([J3, 0.015, 0.015]), np.diag([J, 2e-4, 2e-4])
    builder = hinge.Builder("gimbal")
    for name, inertia in (("base", None), ("yaw", np.diag([0.1, 0.1, 0.3])), ("ring", ring), ("wheel", wheel),
                          ("rotor", rotor)):  # fmt: skip
        builder.link(name, mass=0.0 if inertia is None else 1.0, inertia=inertia)
    builder.joint("yaw", "revolute", "base", "yaw", axis=(0, 0, 1))
    builder.joint("pitch", "revolute", "yaw", "ring", axis=(0, 1, 0))
    builder.joint("spin", "revolute", "ring", "wheel", axis=(1, 0, 0))
    builder.joint("motor", "revolute", "ring", "rotor", axis=(1, 0, 0), mimic=("spin", gain, 0.3))
    robot = hinge.Robot(builder.build())
    assert robot.nv == 3
    q, qd, qdd = np.array([0.7, 0.0, 1.9]), np.array([1.1, -0.6, 25.0]), np.array([0.3, 0.8, -2.0])
    (yaw, pitch, spin), (yaw2, pitch2, spin2) = qd, qdd
    C, B = 0.3 + ring[2, 2] + 0.015 + 2e-4, ring[1, 1] + 0.015 + 2e-4
    h = (J3 + gain * J) * spin
    want = [C * yaw2 - h * pitch, B * pitch2 + h * yaw, (J3 + gain**2 * J) * spin2 - (J3 + gain * J) * yaw * pitch]
    near(robot.inverse_dynamics(q, qd, qdd), want, 1e-13)
    for method in ("articulated", "composite"):
        near(robot.forward_dynamics(q, qd, want, method=method), qdd, 1e-12, 10.0)


# clusters

# parents, then who follows whom (leader, ratio, offset): each a different way for coupled joints to hang together
COUPLINGS = {
    "gripper": ((0, 1, 2, 2), {4: ("joint3", -1.0, 0.0)}),
    "parent and child": ((0, 1, 2, 3), {3: ("joint2", 0.5, 0.1)}),
    "first and last": ((0, 1, 2, 3, 4), {5: ("joint1", -2.0, 0.0)}),
    "nested": ((0, 1, 2, 3, 4), {5: ("joint1", 1.5, 0.0), 4: ("joint2", -0.7, 0.2)}),
    "overlapping": ((0, 1, 2, 3, 4), {3: ("joint1", 1.5, 0.0), 4: ("joint2", -0.7, 0.2)}),
    "three in a row": ((0, 1, 2, 3), {2: ("joint1", 0.5, 0.0), 3: ("joint2", 2.0, 0.3), 4: ("joint3", -1.0, 0.0)}),
    "leader after follower": ((0, 1, 2, 2), {2: ("joint4", 0.8, 0.1)}),
    "branches from the base": ((0, 0, 0, 1, 2), {2: ("joint1", 3.0, 0.0), 5: ("joint4", -0.4, 0.0)}),
    "across branches": ((0, 1, 1, 2, 3, 4), {5: ("joint4", 0.9, 0.0), 6: ("joint1", 0.3, 0.0)}),
    "two grippers": ((0, 1, 2, 2, 1, 5, 5), {4: ("joint3", -1.0, 0.0), 7: ("joint6", -1.0, 0.0)}),
}
couplings = pytest.mark.parametrize("how", COUPLINGS)
KINDS = ("revolute", "prismatic", "helical", "revolute", "continuous", "revolute", "prismatic")


def coupled(how, base="fixed"):
    parents, mimic = COUPLINGS[how]
    return grown(112, KINDS[: len(parents)], parents, base=base, mimic=mimic, armature=0.03)


@pytest.mark.sampled(3)
@couplings
@pytest.mark.parametrize("base", ["fixed", "floating"])
def test_articulated_clusters_agree_with_the_composite_method(how, base):
    robot = coupled(how, base)
    q, qd, qdd, tau = state(robot, 113, 3)
    made = [robot.forward_dynamics(q, qd, tau, method=m) for m in ("articulated", "composite", "composite_llt")]
    near(made[0], made[1], 1e-14, stiffness(robot, q))
    near(made[2], made[1], 1e-14, stiffness(robot, q))
    near(robot.forward_dynamics(q, qd, robot.inverse_dynamics(q, qd, qdd)), qdd, 1e-14, stiffness(robot, q))


@couplings
def test_a_coupled_robot_is_the_free_one_seen_through_its_gears(how):
    parents, _ = COUPLINGS[how]
    robot, free = coupled(how), grown(112, KINDS[: len(parents)], parents, armature=0.03)
    q, qd, qdd, _ = state(robot, 114)
    G, c = robot.model.coupling, robot.model.coupling_offset
    loose = G @ q + c, G @ qd, G @ qdd
    near(robot.mass_matrix(q), G.T @ free.mass_matrix(loose[0]) @ G, 1e-12, 10.0)
    near(robot.inverse_dynamics(q, qd, qdd), G.T @ free.inverse_dynamics(*loose), 1e-12, 50.0)
    near(robot.coriolis_matrix(q, qd), G.T @ free.coriolis_matrix(*loose[:2]) @ G, 1e-12, 10.0)
    near(robot.kinetic_energy(q, qd), free.kinetic_energy(*loose[:2]), 1e-13, 10.0)
    last = robot.body_names[-1]
    near(robot.acceleration(q, qd, qdd, last), free.acceleration(*loose, last), 1e-12, 10.0)


@pytest.mark.parametrize("seed", range(12))
def test_random_couplings_of_random_trees_agree_too(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(4, 8))
    parents = [int(rng.integers(0, k + 1)) for k in range(n)]
    kinds = [str(rng.choice([*SINGLE, "universal"])) for _ in range(n)]
    single = [k for k in range(1, n + 1) if JOINTS[kinds[k - 1]].nv == 1]
    mimic = {}
    for k in single[1:]:
        if rng.random() < 0.6:
            leader = rng.choice(single[: single.index(k)])
            mimic[k] = (f"joint{leader}", float(rng.uniform(0.3, 2.0)), float(rng.normal()))
    robot = grown(seed, kinds, parents, mimic=mimic)
    q, qd, qdd, _ = state(robot, seed, 2)
    tau = robot.inverse_dynamics(q, qd, qdd)
    for method in ("articulated", "composite"):
        near(robot.forward_dynamics(q, qd, tau, method=method), qdd, 1e-14, stiffness(robot, q))


def test_external_forces_and_base_motion_reach_coupled_joints():
    robot = machine("coupled")
    rng = np.random.default_rng(115)
    q, qd, qdd, _ = state(robot, 116)
    more = {"external": {"link5": rng.normal(size=6)}, "base_motion": (rng.normal(size=6), rng.normal(size=6))}
    tau = robot.inverse_dynamics(q, qd, qdd, **more)
    for method in ("articulated", "composite"):
        near(robot.forward_dynamics(q, qd, tau, method=method, **more), qdd, 1e-14, stiffness(robot, q))
    assert np.abs(robot.inverse_dynamics(q, qd, qdd) - tau).max() > 0.1


def test_the_articulated_method_grows_no_faster_than_its_bodies_and_is_used_for_many():
    robots = [grown(117, ("revolute",) * n, mimic={2: ("joint1", 2.0, 0.0)}) for n in (6, 10, 14)]
    costs = [r.cost("forward_dynamics", method="articulated") for r in robots]
    assert robots[-1].cost("forward_dynamics").method == "articulated"
    assert {c.method for c in costs} == {"articulated"}
    steps = np.diff([c.mul + c.add for c in costs])
    assert steps.max() < 1.1 * steps.min()


def test_a_ratio_of_zero_is_refused():
    builder = hinge.Builder("stuck")
    for name in ("base", "a", "b"):
        builder.link(name, **random_body(np.random.default_rng(0)))
    builder.joint("first", "revolute", "base", "a")
    for ratio in (0.0, -0.0, 0):
        given = "second", "revolute", "a", "b"
        assert refused(hinge.ModelError, builder.joint, *given, mimic=("first", ratio, 0.1)) == (
            "joint 'second' follows joint 'first' with ratio 0.\n  It would not move: make it a fixed joint."
        )


def test_a_joint_of_several_coordinates_neither_leads_nor_follows():
    assert refused(hinge.ModelError, grown, 118, ("universal", "revolute"), mimic={2: ("joint1", 1.0, 0.0)}) == (
        "joint 'joint2' mimics joint 'joint1', but 'joint1' is universal.\n"
        "  Only joints with one coordinate can lead or follow."
    )
    assert refused(hinge.ModelError, grown, 118, ("revolute", "planar"), mimic={2: ("joint1", 1.0, 0.0)}) == (
        "joint 'joint2' mimics joint 'joint1', but 'joint2' is planar.\n"
        "  Only joints with one coordinate can lead or follow."
    )
