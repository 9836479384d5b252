"""Potentials besides gravity's, given as functions: zefran2004 2.2."""

import copy
import pickle
from dataclasses import replace

import numpy as np
import pytest
from machines import MACHINES, grown, machine, near, refused, state

import hinge

# many robots of a few calls each, which are not worth compiling
pytestmark = pytest.mark.usefixtures("plain_interpreter")

every = pytest.mark.parametrize("which", [*MACHINES, "coupled"])
STEP = 1e-6


def bowl(q):
    """A potential that ties all coordinates together."""
    return 3.0 * np.sin(q[0]) * np.sum(np.cos(q - 0.3)) + 0.5 * np.sum(q * q)


def tether(pose):
    """One of where a frame is and how it is turned."""
    away = pose[:3, 3] - np.array([0.3, -0.2, 0.5])
    return 20.0 * (away @ away) + 4.0 * pose[0, 1] * pose[2, 2] + 3.0 * pose[1, 0] ** 2


def slope(robot, q, **options):
    """How the potential energy changes along each velocity, by central differences."""
    made = np.empty(robot.nv)
    for k, unit in enumerate(np.eye(robot.nv)):
        there, back = (robot.integrate(q, sign * STEP * unit) for sign in (1.0, -1.0))
        made[k] = (robot.potential_energy(there, **options) - robot.potential_energy(back, **options)) / (2 * STEP)
    return made


def pulled(which):
    """A machine with a potential of its coordinates and one of its last link."""
    robot = machine(which)
    return robot.with_potential(bowl).with_potential(tether, at=robot.body_names[-1])


@every
def test_forces_at_rest_are_the_slope_of_the_energy(which):
    robot, plain = pulled(which), machine(which)
    q, *_ = state(robot, 31)
    near(robot.gravity_force(q), slope(robot, q), 1e-7, 30.0)
    at = robot.pose(q, robot.body_names[-1])
    near(robot.potential_energy(q), plain.potential_energy(q) + bowl(q) + tether(at), 1e-13, 10.0)
    assert np.abs(robot.gravity_force(q) - plain.gravity_force(q)).max() > 0.1


@pytest.mark.sampled(1)
@every
def test_every_way_of_dynamics_has_them(which):
    robot, plain = pulled(which), machine(which)
    q, qd, qdd, tau = state(robot, 32, 4)
    extra = robot.gravity_force(q) - plain.gravity_force(q)
    near(robot.inverse_dynamics(q, qd, qdd), plain.inverse_dynamics(q, qd, qdd) + extra, 1e-12, 100.0)
    near(robot.bias_force(q, qd), plain.bias_force(q, qd) + extra, 1e-12, 100.0)
    near(robot.mass_matrix(q), plain.mass_matrix(q), 1e-15)
    for name in ("inverse_dynamics", "bias_force"):
        given = (q, qd, qdd) if name == "inverse_dynamics" else (q, qd)
        for method in dict.fromkeys(
            a.method for a in hinge.dynamics.ALGORITHMS[name].values() if not a.reason(robot.model)
        ):
            near(getattr(robot, name)(*given, method=method), getattr(robot, name)(*given), 1e-10, 100.0)
    size = 100.0 * np.linalg.cond(robot.mass_matrix(q)).max()
    found = robot.forward_dynamics(q, qd, tau)
    near(robot.inverse_dynamics(q, qd, found), tau, 1e-12, size)
    for one in hinge.dynamics.ALGORITHMS["forward_dynamics"].values():
        if not one.reason(robot.model):
            near(robot.forward_dynamics(q, qd, tau, method=one.method), found, 1e-9, size)
    known = np.arange(robot.nv) % 2 == 0
    forces, motion = robot.hybrid_dynamics(q, qd, tau, qdd, known)
    near(robot.inverse_dynamics(q, qd, motion), forces, 1e-11, size)
    near(sum(robot.force_parts(q, qd, qdd)), robot.inverse_dynamics(q, qd, qdd), 1e-11, 100.0)
    near(robot.impulse_response(q, tau), plain.impulse_response(q, tau), 1e-12, size)


def test_a_floating_base_feels_them_too():
    robot = pulled("floating")
    q, qd, qdd, _ = state(robot, 33, 3)
    base, tau = robot.floating_inverse_dynamics(q, qd, qdd[:, 6:])
    full = robot.inverse_dynamics(q, qd, np.concatenate([base, qdd[:, 6:]], axis=1))
    near(full, np.concatenate([0.0 * base, tau], axis=1), 1e-10, 100.0)


def test_a_spring_written_as_a_potential_is_the_spring_of_the_joint():
    robot = grown(41, ("revolute", "prismatic", "helical"), stiffness=(12.0,), reference=(0.0,))
    stiff = grown(41, ("revolute", "prismatic", "helical")).with_potential(lambda q: 6.0 * (q @ q))
    q, qd, qdd, tau = state(robot, 34, 5)
    terms = {"joint_terms": ("armature", "stiffness")}
    near(stiff.inverse_dynamics(q, qd, qdd), robot.inverse_dynamics(q, qd, qdd, **terms), 1e-13, 50.0)
    near(stiff.forward_dynamics(q, qd, tau), robot.forward_dynamics(q, qd, tau, **terms), 1e-12, 50.0)
    near(stiff.potential_energy(q), robot.potential_energy(q, **terms), 1e-13, 10.0)


@every
def test_gravity_written_as_potentials_of_poses_is_gravity(which):
    robot = machine(which)
    made = robot.with_gravity([0.0, 0.0, 0.0])
    for i, name in enumerate(robot.body_names, start=1):
        I = robot.model.inertia[i]
        frame = robot.model.frames[name]
        here = np.linalg.solve(np.reshape(frame.R, (3, 3)), np.array(I.h) / I.m - np.array(frame.p))
        weigh = lambda pose, m=I.m, c=here: 9.81 * m * (pose[2, 3] + pose[2, :3] @ c)
        made = made.with_potential(weigh, at=name)
    q, qd, qdd, _ = state(robot, 35, 3)
    near(made.inverse_dynamics(q, qd, qdd), robot.inverse_dynamics(q, qd, qdd), 1e-12, 100.0)
    near(made.potential_energy(q), robot.potential_energy(q), 1e-13, 20.0)


def test_batches_single_precision_and_varied_numbers():
    robot = pulled("tree")
    q, qd, qdd, _ = state(robot, 38, 6)
    both = robot.inverse_dynamics(q, qd, qdd)
    for k in (0, 5):
        near(robot.inverse_dynamics(q[k], qd[k], qdd[k]), both[k], 1e-13, 50.0)
    single = robot.inverse_dynamics(*(a.astype(np.float32) for a in (q, qd, qdd)))
    assert single.dtype == np.float32
    near(single, both, 1e-4, 50.0)
    # the pose is that of the varied robot
    T = np.eye(4)
    T[:3, 3] = 0.4, 0.1, -0.3
    varied = robot.vary("joint1.placement")
    moved = {"parameters": {"joint1.placement": T}}
    near(varied.gravity_force(q[0], **moved), slope(varied, q[0], **moved), 1e-7, 30.0)
    assert np.abs(varied.gravity_force(q[0], **moved) - robot.gravity_force(q[0])).max() > 0.1


def test_gradient_and_symbols_see_them():
    arm = hinge.samples.planar_2r().with_potential(lambda q: 2.0 * q[1] ** 2)
    q = np.array([0.3, 0.7])
    near(arm.mass_matrix(q) @ arm.gradient()(q), arm.gravity_force(q), 1e-13, 10.0)
    import sympy

    made = arm.with_gravity([0.0, 0.0, 0.0]).equations("gravity_force")
    assert made[0] == 0
    assert sympy.simplify(made[1] - 4 * sympy.Symbol("q_elbow")) == 0


# robots made from such robots


def test_locked_joints_stand_in_the_potential_where_they_were_locked():
    robot = pulled("tree")
    q, *_ = state(robot, 40)
    held = robot.lock(["joint2", "joint3"], q)
    left = np.concatenate([q[robot.coordinates(name)[0]] for name in held.joint_names])
    near(held.potential_energy(left), robot.potential_energy(q), 1e-12, 10.0)
    kept = np.concatenate([np.arange(robot.nv)[robot.coordinates(name)[1]] for name in held.joint_names])
    near(held.gravity_force(left), robot.gravity_force(q)[kept], 1e-12, 50.0)


def test_joints_may_be_prescribed_afterwards():
    robot = pulled("slides")
    q, *_ = state(robot, 41)
    driven = robot.prescribe("joint4", joint1=[1])
    at = robot.coordinates("joint4")[0].start
    rest, given = np.delete(q, [1, at]), q[[1, at]]
    near(driven.gravity_force(rest, prescribed=(given,)), np.delete(robot.gravity_force(q), [1, at]), 1e-12, 50.0)
    near(driven.potential_energy(rest, prescribed=(given,)), robot.potential_energy(q), 1e-13, 10.0)
    assert refused(hinge.ModelError, machine("slides").prescribe("joint4").with_potential, bowl) == (
        "joint 'joint4' is driven, and not among the coordinates.\n  Add the potential first, and prescribe then."
    )


def test_other_edits_keep_them():
    robot = pulled("tree")
    q, *_ = state(robot, 42)
    arm = hinge.samples.planar_2r()
    both = robot.attach(arm, at="link5", prefix="arm_")
    wide = np.concatenate([q, [0.2, 0.3]])
    base = machine("tree").attach(arm, at="link5", prefix="arm_")
    extra = robot.gravity_force(q) - machine("tree").gravity_force(q)
    near(both.gravity_force(wide) - base.gravity_force(wide), np.concatenate([extra, [0.0, 0.0]]), 1e-12, 50.0)
    near(robot.with_payload("link2", 2.0).potential_energy(q) - robot.potential_energy(q),
         machine("tree").with_payload("link2", 2.0).potential_energy(q) - machine("tree").potential_energy(q),
         1e-12, 10.0)  # fmt: skip
    assert refused(hinge.NotCovered, arm.attach, robot, at="hand", prefix="b_") == (
        "attach cannot hold robot 'machine': it has the potential 'bowl', which is a function.\n"
        "  Give it the robot that the potential was added to."
    )


def test_copies_and_pickles_are_the_same_robot():
    made = machine("tree").with_potential(lambda q: np.cos(q[0]))
    q, *_ = state(made, 43)
    for again in (pickle.loads(pickle.dumps(made)), copy.deepcopy(made)):
        near(again.gravity_force(q), made.gravity_force(q), 1e-15)
        assert again.model.digest == made.model.digest
    assert made.model.digest != machine("tree").model.digest
    other = machine("tree").with_potential(lambda q: np.cos(2.0 * q[0]))
    assert other.model.digest != made.model.digest
    at = machine("tree").with_potential(tether, at="link2"), machine("tree").with_potential(tether, at="link3")
    assert at[0].model.digest != at[1].model.digest


# what cannot be


def test_what_cannot_hold_a_function_says_so(tmp_path):
    arm = hinge.samples.puma560().with_potential(bowl)
    words = (
        " cannot hold robot 'puma560': it has the potential 'bowl', which is a function.\n"
        "  Give it the robot that the potential was added to."
    )
    for name, what in (
        ("arm.urdf", "a .urdf file"),
        ("arm.xml", "a .xml file"),
        ("arm.toml", "a Denavit-Hartenberg table"),
    ):
        assert refused(hinge.NotCovered, hinge.write, arm, tmp_path / name) == what + words
    assert refused(hinge.NotCovered, arm.to_dh) == "a Denavit-Hartenberg table" + words
    assert refused(hinge.NotCovered, arm.regressor, np.zeros(6), np.zeros(6), np.zeros(6)) == (
        "regressor: nothing covers robot 'puma560': it has the potential 'bowl', which is a function.\n"
        "  No method does."
    )


def test_what_is_no_potential_says_so():
    arm = hinge.samples.planar_2r()
    assert refused(hinge.SizeError, arm.with_potential, 3.0) == "with_potential takes a function; a float was given."
    assert refused(hinge.SizeError, arm.with_potential, bowl_of_two) == (
        "potential 'bowl_of_two' returned shape (2,); a potential is one number, in J."
    )
    assert refused(hinge.UnknownName, arm.with_potential, tether, at="hnd") == (
        "robot 'planar_2r' has no body or frame 'hnd'. Did you mean 'hand'?"
    )
    message = refused(hinge.TraceError, arm.with_potential, lambda q: q[0] if q[0] > 0.0 else 0.0)
    assert "no truth value" in message
    assert refused(hinge.TraceError, arm.with_potential, lambda q: "high") == (
        "potential '<lambda>' returned 'high', which is neither a number nor made of its symbols."
    )


def bowl_of_two(q):
    return q


def test_a_robot_without_potentials_is_as_it_was():
    robot = machine("tree")
    assert replace(robot.model).digest == robot.model.digest
    assert robot.model.potentials == ()
