"""What is given to a run is used, or refused by name."""

import numpy as np
import pytest

import hinge
from hinge.model import Shape

BARE = """<robot name="bare"><link name="a"/><link name="b"><inertial><mass value="1"/>
<inertia ixx=".1" iyy=".1" izz=".1" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="j" type="floating"><parent link="a"/><child link="b"/></joint></robot>"""
DRIVEN = """<mujoco><worldbody><body><joint name="j" axis="0 1 0"/>
<geom type="capsule" fromto="0 0 0 .4 0 0" size=".05"/>
</body></worldbody><actuator><motor joint="j"/></actuator></mujoco>"""
Q = np.array([1.0, 0, 0, 0, 0, 0, 0.5])


@pytest.fixture(params=["simulate", "rollout"])
def run(request):
    """A run of ten steps, by either call."""
    if request.param == "simulate":
        return lambda robot, q, **words: hinge.simulate(robot, 0.01, q, **words)
    return lambda robot, q, **words: hinge.rollout(robot, q, np.zeros(robot.nv), 10, 1e-3, **words)


def test_controls_without_actuators_are_refused(run):
    with pytest.raises(hinge.NotCovered, match=r'ctrl= has no effect: only physics="file" has the actuators'):
        run(hinge.load(DRIVEN), [0.1], ctrl=[5.0])


def test_joint_terms_beside_the_files_physics_are_refused(run):
    with pytest.raises(hinge.NotCovered, match=r"joint_terms=\('damping',\) has no effect with physics"):
        run(hinge.load(DRIVEN), [0.1], physics="file", method="semi_implicit", joint_terms=("damping",))


@pytest.mark.parametrize("words", [{"ground": 0.0}, {"contacts": "self"}, {"contacts": "file"}])
def test_contacts_of_a_robot_without_shapes_are_refused(run, words):
    robot = hinge.load(BARE)
    said = r"has no effect: no moving link of robot 'bare' has a collision shape"
    with pytest.raises(hinge.NotCovered, match=said):
        run(robot, Q, **words)
    with pytest.raises(hinge.NotCovered, match=said):
        robot.contact_step(Q, np.zeros(6), np.zeros(6), 1e-3, **words)
    with pytest.raises(hinge.NotCovered, match=said):
        robot.collides(Q)


def test_a_law_of_contact_without_contact_is_refused(run):
    with pytest.raises(hinge.NotCovered, match=r"law='rigid' has no effect: nothing can touch"):
        run(hinge.load(BARE), Q, law="rigid")


@pytest.mark.parametrize("ground", [True, False, np.True_])
def test_a_ground_that_is_a_truth_value_is_refused(run, ground):
    robot = hinge.Scene().body("ball", "sphere", 0.1, 1.0).robot
    for call in (lambda: run(robot, Q, ground=ground), lambda: robot.distances(Q, ground=ground)):
        with pytest.raises(hinge.SizeError, match=r"^ground is (np\.)?(True|False)_?\. Give None, a height in m"):
            call()


@pytest.mark.parametrize("effort", ["clip", 1, [5.0]])
def test_an_effort_that_is_no_truth_value_is_refused(run, effort):
    with pytest.raises(hinge.SizeError, match=r"^effort is .* Give True"):
        run(hinge.samples.pendulum(1), [0.1], effort=effort)


def test_a_quaternion_far_from_unit_length_is_refused(run):
    robot = hinge.load(BARE)
    with pytest.raises(hinge.SizeError, match=r"^q0: joint 'j' has \[0\..*far from unit length(?s:.*)\(w, x, y, z\)"):
        run(robot, [0, 0, 0.235, 0, 0, 0, 1])
    rounded = Q.copy()
    rounded[:4] = [0.7071, 0.7071, 0, 0]
    assert run(robot, rounded).status == hinge.Status.OK


def test_limits_are_read_only():
    limits = hinge.samples.puma560().limits
    for array in limits:
        with pytest.raises(ValueError, match="read-only"):
            array[:] = 0.0


@pytest.mark.parametrize("words", [("collison", "box", (1, 1, 1)), ("sphere", 0.1)])
def test_a_shape_of_no_known_role_is_refused(words):
    with pytest.raises(hinge.ModelError, match=r"a shape has the role '\w+'"):
        Shape(*words)


def test_a_control_that_may_be_by_rollout_or_by_step_is_refused():
    arm, forces = hinge.samples.planar_2r(), np.arange(10.0).reshape(5, 2)
    held = hinge.simulate(arm, 4e-3, np.zeros((5, 2)), control=forces, step=1e-3)
    np.testing.assert_array_equal(held.tau[:, 0], forces)
    with pytest.raises(hinge.SizeError, match=r"5 rollouts of 5 steps: a row for each rollout, or for each step\?"):
        hinge.simulate(arm, 5e-3, np.zeros((5, 2)), control=forces, step=1e-3)
    whole = np.broadcast_to(forces[:, None], (5, 5, 2))
    np.testing.assert_array_equal(
        hinge.simulate(arm, 5e-3, np.zeros((5, 2)), control=whole, step=1e-3).tau[:, 0], forces
    )


@pytest.mark.parametrize("method", ["rk4", "semi_implicit"])
def test_a_run_goes_on_from_the_very_state_another_ended_in(method):
    """Also of a floating robot, whose quaternions are not normalized again."""
    robot = hinge.samples.go2()
    q, qd = robot.random_state(np.random.default_rng(0), 16)
    whole = hinge.rollout(robot, q, qd, 60, 1e-3, method=method)
    first = hinge.rollout(robot, q, qd, 30, 1e-3, method=method)
    then = hinge.rollout(robot, first.q[:, -1], first.qd[:, -1], 30, 1e-3, method=method, t0=0.03)
    np.testing.assert_array_equal(then.q, whole.q[:, 30:])
    np.testing.assert_array_equal(then.qd, whole.qd[:, 30:])
