"""Actuators: the forces they make and the joint forces those amount to. Source: featherstone1987, 7.4.2."""

import numpy as np
import pytest
from machines import MACHINES, MOVING, grown, machine, near, refused, state

import hinge
from hinge.spatial import Force, ForceSpace, Motion, MotionSpace, Vec3, turn

X, Y, Z = (Vec3(tuple(row)) for row in np.eye(3).tolist())


@pytest.mark.parametrize("which", [*MACHINES, "coupled"])
def test_actuator_forces_and_joint_forces_are_each_others_inverse(which):
    robot = machine(which)
    q, _, _, tau = state(robot, 120, 3)
    near(robot.generalised_forces(q, robot.actuator_forces(q, tau)), tau, 1e-12, 10.0)
    near(robot.actuator_forces(q, robot.generalised_forces(q, tau)), tau, 1e-12, 10.0)


@pytest.mark.parametrize("kind", [k for k in MOVING if k not in ("planar_outer", "spherical_angles", "rolling")])
def test_where_axes_are_of_unit_size_they_are_the_same(kind):
    robot = grown(121, (kind,))
    q, _, _, tau = state(robot, 122)
    near(robot.generalised_forces(q, tau), tau, 1e-13, 10.0)


def test_joint_forces_are_s_transposed_f_times_actuator_forces():
    """(7.13) on a joint whose axes are not at right angles: Sᵀ F is then Sᵀ S."""
    robot = grown(123, ("spherical_angles", "revolute"))
    q, _, _, drive = state(robot, 124)
    S = np.array([list(m.ang) for m in robot.model.joint[1].axes(q[:3].tolist())], float).T
    near(robot.generalised_forces(q, drive), np.r_[S.T @ S @ drive[:3], drive[3]], 1e-14, 10.0)


class Wrist(hinge.Joint):
    """A universal joint whose two motors pull across it, not along its axes."""

    nq, nv, axes_vary = 2, 2, True

    def transform(self, q):
        return turn(Y, q[1]) @ turn(X, q[0])

    def axes(self, q):
        from hinge.graph import cos, sin

        return MotionSpace((Motion(Vec3((cos(q[1]), 0.0, sin(q[1])))), Motion(Y)))

    def actuation(self, q):
        return ForceSpace((Force(Vec3((1.0, 1.0, 0.0))), Force(Vec3((-1.0, 1.0, 0.5)))))


def pulled(cls, name="pulled"):
    builder = hinge.Builder(name)
    builder.link("base")
    builder.link("hand", mass=1.2, com=(0.1, 0.2, 0.3), inertia=np.diag([0.02, 0.03, 0.025]))
    builder.joint("wrist", cls(), "base", "hand")
    return hinge.Robot(builder.build())


Wrist.kind = "wrist"  # given late, so that it stays out of the registry


def test_motors_that_pull_across_the_axes_make_their_own_bearing_forces():
    robot = pulled(Wrist)
    q, qd, qdd, _ = state(robot, 125)
    tau = robot.inverse_dynamics(q, qd, qdd)
    F = np.array([[1, 1, 0, 0, 0, 0], [-1, 1, 0.5, 0, 0, 0]]).T
    S = robot.jacobian(q, "hand")
    drive = robot.actuator_forces(q, tau)
    near(S.T @ F @ drive, tau, 1e-13)
    near(robot.generalised_forces(q, [1.0, 2.0]), S.T @ F @ [1, 2], 1e-13)
    total, active, bearing, _ = robot.joint_reactions(q, qd, qdd)
    near(active[0], F @ drive, 1e-13, 10.0)
    near(S.T @ bearing[0], np.zeros(2), 1e-13, 10.0)
    near(total, active + bearing, 1e-13, 10.0)


class Underpowered(Wrist):
    def actuation(self, q):
        return ForceSpace((Force(X),))


class Overpowered(Wrist):
    def actuation(self, q):
        return ForceSpace((Force(X), Force(Y), Force(Z)))


@pytest.mark.parametrize("call", ["generalised_forces", "actuator_forces"])
@pytest.mark.parametrize(("cls", "how", "count"), [(Underpowered, "under", 1), (Overpowered, "over", 3)])
def test_a_joint_with_too_few_or_too_many_actuators_is_refused_by_name(call, cls, how, count):
    robot = pulled(cls, "loose")
    assert refused(hinge.NotCovered, getattr(robot, call), [0.1, 0.2], [1.0, 2.0]) == (
        f"{call}: nothing covers robot 'loose': joint 'wrist' is {how}-powered: {count} actuators for 2 freedoms.\n"
        "  No method does."
    )


@pytest.mark.parametrize("cls", [Underpowered, Overpowered])
def test_the_dynamics_of_such_a_joint_need_no_actuators(cls):
    robot, proper = pulled(cls), pulled(Wrist)
    q, qd, qdd, tau = state(proper, 126)
    near(robot.inverse_dynamics(q, qd, qdd), proper.inverse_dynamics(q, qd, qdd), 1e-15)
    near(robot.forward_dynamics(q, qd, tau), proper.forward_dynamics(q, qd, tau), 1e-15)


def test_a_screw_driven_by_a_couple_takes_the_joint_force_as_it_is():
    builder = hinge.Builder("jack")
    builder.link("base")
    builder.link("nut", mass=1.0, inertia=np.eye(3) * 0.1)
    builder.joint("thread", "helical", "base", "nut", pitch=0.5, driven_by="couple")
    near(hinge.Robot(builder.build()).actuator_forces([0.3], [2.0]), [2.0], 1e-15)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("angle", [np.pi / 2, -np.pi / 2, 3 * np.pi / 2])
@pytest.mark.parametrize("name", ["actuator_forces", "joint_reactions", "forward_dynamics", "inverse_mass_matrix"])
def test_a_ball_by_angles_has_no_answer_where_two_axes_are_one(name, angle):
    """Whatever the body; a rotor on each axis makes forward dynamics determinate again."""
    rng = np.random.default_rng(126)
    q, qd, tau = rng.normal(size=(3, 50, 3))
    q[::2, 1] = angle
    given = {"actuator_forces": (q, tau), "inverse_mass_matrix": (q,)}.get(name, (q, qd, tau))
    bare, geared = (grown(127, ("spherical_angles",), **terms) for terms in ({}, {"armature": 0.2}))
    *made, status = getattr(bare, name)(*given, return_status=True)
    assert (status[::2] == hinge.Status.SINGULAR).all()
    assert (status[1::2] == hinge.Status.OK).all()
    assert all(np.isnan(x[::2]).all() and np.isfinite(x[1::2]).all() for x in made)
    rests = hinge.Status.SINGULAR if name in ("actuator_forces", "joint_reactions") else hinge.Status.OK
    assert (getattr(geared, name)(*given, return_status=True)[-1][::2] == rests).all()


class Loose(hinge.Joint):
    """A hinge about z that nothing drives."""

    nq, nv = 1, 1

    def transform(self, q):
        return turn(Z, q[0])

    def axes(self, q):
        return MotionSpace((Motion(Z),))

    def actuation(self, q):
        return ForceSpace(())


def test_a_joint_without_actuators_is_passive_and_the_others_are_driven():
    builder = hinge.Builder("passive")
    builder.link("base")
    for k, joint in enumerate(("revolute", Loose(), "prismatic")):
        builder.link(f"link{k}", mass=1.2, com=(0.1, 0.2, 0.3), inertia=np.diag([0.02, 0.03, 0.025]))
        builder.joint(f"joint{k}", joint, "base" if k == 0 else f"link{k - 1}", f"link{k}")
    robot = hinge.Robot(builder.build())
    near(robot.generalised_forces([0.1, 0.2, 0.3], [1.0, 2.0, 3.0]), [1.0, 0.0, 3.0], 1e-14)  # featherstone1987, 7.4.2
    with pytest.raises(hinge.NotCovered, match="joint 'joint1' is under-powered: 0 actuators for 1 freedoms"):
        robot.actuator_forces([0.1, 0.2, 0.3], [1.0, 2.0, 3.0])  # no forces of motors make any joint force
