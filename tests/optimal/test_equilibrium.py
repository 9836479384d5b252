"""A state that is said to be at rest does not accelerate, and the forces are those that hold it."""

import numpy as np
import pytest
from optimal_robots import ball_arm, cart_pole, flyer, followed

import hinge
from hinge.model import parameter
from hinge.optimal import equilibrium
from hinge.status import NONFINITE, OK, UNCLOSED, UNCONVERGED, UNREACHED


def acceleration(robot, rest, **how):
    return np.abs(robot.forward_dynamics(rest.q, np.zeros(robot.nv), rest.tau, **how)).max()


def test_where_all_is_driven_the_guess_stays_and_gravity_is_carried():
    arm = hinge.samples.puma560()
    q, _ = arm.random_state(0, 20)
    rest = equilibrium(arm, q)
    assert np.array_equal(rest.q, q)
    assert (rest.status == OK).all()
    assert not rest.residual.any()
    assert np.allclose(rest.tau, arm.gravity_force(q), rtol=0.0, atol=1e-12)


@pytest.mark.parametrize(("guess", "end"), [((3.0, 0.1), (np.pi, 0.0)), ((0.2, -0.1), (0.0, 0.0))])
def test_an_acrobot_stands_and_hangs(guess, end):
    acrobot = hinge.samples.pendulum(2)
    rest = equilibrium(acrobot, guess, driven=["joint2"])
    assert rest.status == OK
    assert rest.tau[0] == 0.0
    assert acceleration(acrobot, rest) < 1e-12
    straight = equilibrium(acrobot, [guess[0], 0.0], driven=["joint2"], held=["joint2"])
    assert straight.status == OK
    assert np.allclose(straight.q, end, atol=1e-12)
    assert abs(straight.tau[1]) < 1e-12


def test_what_is_held_stays_to_the_bit():
    acrobot = hinge.samples.pendulum(2)
    rest = equilibrium(acrobot, [3.0, 0.7], driven=["joint2"], held=["joint2"])
    assert rest.q[1] == 0.7
    assert rest.status == OK
    assert acceleration(acrobot, rest) < 1e-12


def test_many_guesses_at_once_are_each_their_own():
    acrobot = hinge.samples.pendulum(2)
    q, _ = acrobot.random_state(1, 40)
    q[7] = np.nan
    rest = equilibrium(acrobot, q.reshape(8, 5, 2), driven=["joint2"])
    fine = np.arange(40) != 7
    assert rest.status.shape == (8, 5)
    assert rest.status.reshape(-1)[7] == NONFINITE
    assert (rest.status.reshape(-1)[fine] == OK).all()
    assert np.isnan(rest.q.reshape(40, 2)[7]).all()
    qdd = acrobot.forward_dynamics(rest.q, np.zeros(2), rest.tau).reshape(40, 2)
    assert np.abs(qdd[fine]).max() < 1e-12
    alone = equilibrium(acrobot, q[3], driven=["joint2"])
    assert np.allclose(rest.q.reshape(40, 2)[3], alone.q, rtol=0.0, atol=1e-12)


def test_given_forces_are_in_balance_where_they_can_be():
    arm = hinge.samples.planar_2r().with_potential(lambda q: 30.0 * (q[0] - 0.3) ** 2 + 10.0 * q[1] ** 2)
    rest = equilibrium(arm, [0.0, 0.0], tau=[1.0, -2.0])
    assert rest.status == OK
    assert np.array_equal(rest.tau, [1.0, -2.0])
    assert acceleration(arm, rest) < 1e-12
    acrobot = hinge.samples.pendulum(2)
    beyond = equilibrium(acrobot, [0.1, 0.2], tau=[0.0, 30.0])  # more than gravity can hold against
    assert beyond.status == UNREACHED
    assert beyond.residual > 1.0
    soon = equilibrium(acrobot, [1.4, 0.2], driven=["joint2"], iterations=1)
    assert soon.status == UNCONVERGED
    assert soon.residual > 1e-3


def test_springs_of_the_joints_count_where_joint_terms_has_them():
    builder = hinge.Builder("sprung")
    builder.link("base")
    builder.link("rod", 1.0, (0, 0, 0.5), np.eye(3) * 0.1)
    builder.joint("joint", "revolute", "base", "rod", axis=(0, 1, 0), stiffness=2.0)
    rod, terms = hinge.Robot(builder.build()), ("armature", "stiffness")
    rest = equilibrium(rod, [2.0], tau=[0.0], joint_terms=terms)
    assert rest.status == OK
    assert rest.q[0] > 0.5
    assert np.isclose(2.0 * rest.q[0], 9.81 * 0.5 * np.sin(rest.q[0]), rtol=1e-12)
    assert acceleration(rod, rest, joint_terms=terms) < 1e-12


def test_a_follower_is_moved_by_its_leader():
    robot = followed()
    rest = equilibrium(robot, [0.4, 0.3], driven=["joint3"])
    assert robot.nv == 2
    assert rest.status == OK
    assert rest.tau[0] == 0.0
    assert acceleration(robot, rest) < 1e-12
    led = equilibrium(robot, [0.4, 0.3], driven=["joint1"])
    assert led.tau[1] == 0.0
    assert led.tau[0] != 0.0
    assert acceleration(robot, led) < 1e-12


def test_quaternions_move_along_velocities():
    arm = ball_arm()
    q = arm.integrate(arm.neutral(), [0.4, -0.3, 0.2, 0.5])
    rest = equilibrium(arm, q, driven=["elbow"])
    assert rest.status == OK
    assert np.isclose(np.linalg.norm(rest.q[:4]), 1.0, rtol=1e-14)
    assert np.array_equal(rest.tau[:3], np.zeros(3))
    assert acceleration(arm, rest) < 1e-12


def test_varied_masses_have_each_their_own_equilibrium():
    arm = hinge.samples.pendulum(2).vary("rod2.mass")
    parameters = {"rod2.mass": np.array([0.5, 1.0, 2.0])}
    rest = equilibrium(arm, [3.0, 0.4], driven=["joint2"], held=["joint2"], parameters=parameters)
    assert rest.q.shape == (3, 2)
    assert len(set(rest.q[:, 0].round(6))) == 3
    assert (rest.status == OK).all()
    assert acceleration(arm, rest, parameters=parameters) < 1e-12


def test_loops_stay_closed_and_carry_what_motors_do_not():
    bars = hinge.samples.four_bar()
    starts = np.stack([np.linspace(-2.5, 2.5, 6), np.zeros(6), np.zeros(6)], axis=-1)
    rest = equilibrium(bars, starts, driven=["crank"], held=["crank"])
    assert (rest.status == OK).all()
    assert np.array_equal(rest.q[:, 0], starts[:, 0])
    assert np.abs(bars.loop_gap(rest.q)).max() < 1e-11
    assert not rest.tau[:, 1:].any()
    assert acceleration(bars, rest) < 1e-11
    hanging = equilibrium(bars, rest.q[1], tau=np.zeros(3))
    assert hanging.status == OK
    assert acceleration(bars, hanging) < 1e-11
    (slope,) = bars.derivatives("potential_energy", hanging.q)
    free = np.linalg.svd(bars.loop_jacobian(hanging.q))[2][-1]  # the one way it can go
    assert abs(slope @ free) < 1e-11


def test_a_loop_that_cannot_be_closed_is_not_called_at_rest():
    arm = hinge.samples.planar_2r().close("spherical", "base", "hand", placement_a=[3.0, 0.0, 0.0])
    assert equilibrium(arm, [0.1, 0.1]).status == UNCLOSED


def test_a_body_that_floats_is_held_by_what_drives_it_or_by_given_forces():
    robot = flyer()
    q = robot.integrate(robot.neutral(), [0.3, 0.2, 0.1, 0.0, 0.0, 0.0, 0.4])
    rest = equilibrium(robot, q, driven=["base", "shoulder"])
    assert rest.status == OK
    assert acceleration(robot, rest) < 1e-12
    assert np.isclose(np.linalg.norm(rest.tau[3:6]), 2.5 * 9.81, rtol=1e-12)
    weightless = equilibrium(robot.with_gravity([0.0, 0.0, 0.0]), q)
    assert weightless.status == OK
    assert not weightless.tau.any()


def refused(kind, *args, **options):
    with pytest.raises(kind) as caught:
        equilibrium(*args, **options)
    return str(caught.value)


def test_what_nothing_can_hold_is_refused_by_name():
    robot = flyer()
    assert refused(hinge.NotCovered, robot, robot.neutral()) == (
        "equilibrium: nothing holds robot 'flyer': 'base' is not driven, and its load is never zero.\n"
        "  Name it in driven=, lock it, close it with a loop, or give forces that hold it as external=."
    )
    sliding = cart_pole().with_gravity([1.0, 0.0, -9.0])
    assert "'slide' is not driven" in refused(hinge.NotCovered, sliding, [0.0, 0.0], driven=["pivot"])
    up = {"external": {"hull": np.array([0, 0, 0, 0, 0, 2.5 * 9.81])}, "external_frame": "aligned"}
    borne = equilibrium(robot, robot.neutral(), **up)  # it hangs, and turns until its weight is below
    assert borne.status == OK
    assert acceleration(robot, borne, **up) < 1e-11
    assert np.allclose(robot.center_of_mass(borne.q)[:2], robot.pose(borne.q, "hull")[:2, 3], atol=1e-12)


def test_bad_input():
    acrobot = hinge.samples.pendulum(2)
    assert refused(hinge.SizeError, acrobot, [0.0]) == "equilibrium: q has shape (1,); it has to end in (2,)."
    assert "no moving joint 'joint3'" in refused(hinge.UnknownName, acrobot, [0.0, 0.0], driven=["joint3"])
    assert "no moving joint 'joint3'" in refused(hinge.UnknownName, acrobot, [0.0, 0.0], held=["joint3"])
    assert refused(hinge.SizeError, acrobot, [0.0, 0.0], driven=["joint1"], tau=[0.0, 0.0]) == (
        "equilibrium takes driven=, whose forces it finds, or tau=, the forces of all joints; both are given."
    )
    assert "tolerance is 0" in refused(hinge.SizeError, acrobot, [0.0, 0.0], tolerance=0.0)


def test_driven_joints_stand_where_they_are_prescribed():
    robot, p = (
        hinge.samples.puma560().prescribe("joint1"),
        (np.array([[0.3], [1.0]]), np.zeros((2, 1)), np.zeros((2, 1))),
    )
    q = np.array([[0.1, 0.2, 0.3, 0.4, 0.5], [0.5, -0.2, 0.1, 0.3, 0.2]])
    rest = equilibrium(robot, q, driven=["joint2", "joint3", "joint4"], prescribed=p)
    assert (rest.status == OK).all()
    assert acceleration(robot, rest, prescribed=p) < 1e-9


def test_loops_are_closed_with_the_lengths_that_are_given():
    robot = hinge.samples.four_bar()
    name = f"{robot.joint_names[1]}.placement"
    varied, place = robot.vary(name), np.array(parameter(robot.model, name).nominal(robot.model))
    longer = np.stack([place, place])
    longer[1, :3, 3] *= 1.05
    q0 = robot.assemble(robot.random_state(0, 1)[0][0]).q
    rest = equilibrium(varied, q0, parameters={name: longer})
    assert (rest.status == OK).all()
    assert np.abs(varied.loop_gap(rest.q, parameters={name: longer})).max() < 1e-12
    assert np.abs(rest.q[0] - rest.q[1]).max() > 1e-4
    assert np.abs(rest.q[0] - equilibrium(robot, q0).q).max() < 1e-12
