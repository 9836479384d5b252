"""The same mechanisms in machine code: what the compiled back end gives is what the interpreter gives."""

import numpy as np
import pytest
from machines import grown, machine, near, state, stiffness

import hinge
from hinge.spatial import Motion, MotionSpace, Vec3, slide, turn

Z = Vec3((0.0, 0.0, 1.0))


def both(call, *args, scale=10.0, **options):
    """A call by each back end; every result agrees."""
    made = [call(*args, backend=backend, **options) for backend in ("llvm", "interpret")]
    for a, b in zip(*(m if isinstance(m, tuple) else (m,) for m in made), strict=True):
        near(a, b, 1e-10, scale)
    return made[0]


@pytest.mark.parametrize("method", ["articulated", "composite"])
def test_hybrid_dynamics(method):
    robot = machine("tree")
    q, qd, qdd, tau = state(robot, 220, 9)
    known = np.random.default_rng(221).integers(0, 2, qd.shape).astype(bool)
    forces, accelerations = both(robot.hybrid_dynamics, q, qd, tau, qdd, known, method=method)
    assert np.array_equal(accelerations[known], qdd[known])
    one = robot.hybrid_dynamics(q[0], qd[0], tau[0], qdd[0], known[0], method=method, backend="llvm")
    near(one[0], forces[0], 1e-12, 50.0)


def test_machine_code_is_what_runs_here():
    number = np.dtype(float)
    assert machine("tree").kernel("mass_matrix", backend="llvm").code(number).enter is not None
    assert machine("tree").kernel("mass_matrix", backend="interpret").code(number).enter is None


def test_floating_inverse_dynamics_and_base_motion():
    robot, fixed = machine("floating"), machine("tree")
    q, qd, qdd, _ = state(robot, 222, 5)
    both(robot.floating_inverse_dynamics, q, qd, qdd[:, 6:])
    q, qd, qdd, _ = state(fixed, 223, 5)
    both(fixed.inverse_dynamics, q, qd, qdd, base_motion=(np.arange(6.0), np.ones((5, 6))))


def test_a_driven_robot():
    robot = machine("tree").prescribe("joint3", joint4=[1])
    q, qd, _, tau = state(robot, 224, 5)
    rng = np.random.default_rng(225)
    given = rng.normal(size=(5, 5)), rng.normal(size=(5, 4)), rng.normal(size=4)
    both(robot.forward_dynamics, q, qd, tau, prescribed=given, scale=100.0)
    both(robot.velocity, q, qd, "link5", prescribed=given)


def test_a_varied_robot():
    robot = machine("tree").vary("link2.mass", "joint3.placement", "gravity")
    q, qd, qdd, tau = state(robot, 226, 5)
    rng = np.random.default_rng(227)
    more = {"parameters": {"link2.mass": rng.uniform(1, 3, 5), "gravity": rng.normal(size=(5, 3))}}
    both(robot.inverse_dynamics, q, qd, qdd, **more)
    both(robot.forward_dynamics, q, qd, tau, scale=100.0, **more)
    both(robot.forward_dynamics, q, qd, tau, scale=100.0)


def test_a_driven_and_varied_robot_after_an_ordinary_call_takes_no_short_cut():
    """A call that a first one made fast has to see the parameters of the second."""
    robot = machine("tree").vary("gravity")
    q, _, _, _ = state(robot, 228)
    heavy, light = ({"gravity": [0, 0, -g]} for g in (9.81, 1.62))
    for _ in range(3):
        first = robot.gravity_force(q, backend="llvm")
    made = [robot.gravity_force(q, parameters=p, backend="llvm") for p in (heavy, light, heavy)]
    near(made[0], first, 1e-13, 10.0)
    near(made[2], made[0], 0.0)
    near(made[1], made[0] * 1.62 / 9.81, 1e-12, 10.0)


def test_rolling_and_other_odd_joints():
    robot = machine("odd")
    q, qd, qdd, tau = state(robot, 229, 5)
    both(robot.inverse_dynamics, q, qd, qdd, scale=50.0)
    both(robot.forward_dynamics, q, qd, tau, scale=stiffness(robot, q))
    both(robot.integrate, q, qd)
    both(robot.joint_reactions, q, qd, qdd, scale=50.0)


def test_clusters():
    robot = machine("coupled")
    q, qd, _, tau = state(robot, 230, 5)
    for method in ("articulated", "composite"):
        made = both(robot.forward_dynamics, q, qd, tau, method=method, scale=stiffness(robot, q))
        near(robot.inverse_dynamics(q, qd, made, backend="llvm"), tau, 1e-14, stiffness(robot, q))


def test_joint_terms_and_actuators():
    robot = grown(231, ("revolute", "spherical_angles"), damping=0.5, friction=0.3, stiffness=2.0)
    q, qd, qdd, tau = state(robot, 232, 5)
    qd[0] = 0.0  # at rest there is no friction
    terms = ("damping", "friction", "stiffness")
    both(robot.inverse_dynamics, q, qd, qdd, joint_terms=terms)
    both(robot.potential_energy, q, joint_terms=terms)
    both(robot.generalised_forces, q, both(robot.actuator_forces, q, tau))


def screwy(rise):
    """A robot with a joint class of its own that has the same name and no fields for every rise."""

    class Screwy(hinge.Joint):
        nq, nv = 1, 1

        def transform(self, q):
            return slide(Z, q[0] * rise) @ turn(Z, q[0])

        def axes(self, q):
            return MotionSpace((Motion(Z, Z * rise),))

    Screwy.kind = "screwy"
    return grown(235, (Screwy(), "prismatic"))


def test_joint_classes_that_look_alike_do_not_share_code_driven_or_not():
    for rise in (0.1, 0.5):
        robot = screwy(rise)
        q, qd, qdd, _ = state(robot, 236)
        want = both(robot.inverse_dynamics, q, qd, qdd)
        given = {"prescribed": (q[:1], qd[:1], qdd[:1])}
        made = both(robot.prescribe("joint1").inverse_dynamics, q[1:], qd[1:], qdd[1:], **given)
        near(made, want[1:], 1e-12, 10.0)


def test_robots_that_differ_only_in_what_is_driven_do_not_share_code():
    """The compiled kernels of one robot must not be found for another: the cache is one folder for all."""
    robot = grown(233, ("revolute", "revolute", "revolute"))
    q, qd, qdd, _ = state(robot, 234)
    want = robot.inverse_dynamics(q, qd, qdd)
    for k in range(3):
        driven = hinge.Robot(robot.prescribe(f"joint{k + 1}").model)
        rest = [j for j in range(3) if j != k]
        given = q[[k]], qd[[k]], qdd[[k]]
        made = driven.inverse_dynamics(q[rest], qd[rest], qdd[rest], prescribed=given, backend="llvm")
        near(made, want[rest], 1e-12, 10.0)
