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


@pytest.mark.parametrize("steps", [4, 5])
def test_the_rank_of_a_control_says_what_it_means(steps):
    """However long the run is: the axis before the last is time, and one row is held."""
    arm, forces, q = hinge.samples.planar_2r(), np.arange(10.0).reshape(5, 2), np.zeros((5, 2))

    def recorded(control, **words):
        return hinge.simulate(arm, steps * 1e-3, q, control=control, step=1e-3, **words).tau

    for method in ("rk4", "dopri5"):
        held = recorded(forces[:, None], method=method)
        np.testing.assert_array_equal(held, np.broadcast_to(forces[:, None], held.shape))
    np.testing.assert_array_equal(recorded(forces[:1]), recorded(forces[0]))
    by_step = forces[:steps]
    np.testing.assert_array_equal(recorded(by_step)[:, :steps], np.broadcast_to(by_step, (5, steps, 2)))
    said = rf"^control has shape \(5, 2\): the axis before the last is time, and has to have {steps} rows"
    if steps != 5:
        with pytest.raises(
            hinge.SizeError, match=said + r"(?s:.*)For a row a rollout write control\[\.\.\., None, :\]"
        ):
            recorded(forces)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("call", ["simulate", "rollout"])
@pytest.mark.parametrize("steps", [4, 5])
def test_the_rank_of_controls_of_actuators_says_what_they_mean(call, steps):
    robot, ctrl, q = hinge.load(DRIVEN), np.arange(5.0)[:, None], np.zeros((5, 1))

    def ends(ctrl, q=q):
        how = {"physics": "file", "method": "semi_implicit", "ctrl": ctrl}
        if call == "rollout":
            return hinge.rollout(robot, q, np.zeros(1), steps, 1e-3, **how).q[:, -1]
        return hinge.simulate(robot, steps * 1e-3, q, step=1e-3, **how).q[:, -1]

    each = np.stack([ends(u, q[:1])[0] for u in ctrl])
    assert (np.diff(each[:, 0]) > 1e-6).all()
    np.testing.assert_array_equal(ends(ctrl[:, None]), each)
    np.testing.assert_array_equal(ends(ctrl[1:2]), np.broadcast_to(each[1], (5, 1)))
    np.testing.assert_array_equal(ends(np.broadcast_to(ctrl[:, None], (5, steps, 1))), each)
    if steps == 5:
        np.testing.assert_array_equal(np.diff(ends(ctrl), axis=0), np.zeros((4, 1)))
    else:
        with pytest.raises(hinge.SizeError, match=r"^ctrl has shape \(5, 1\): the axis before the last is time"):
            ends(ctrl)


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


DAMPED = """<robot name="damped"><link name="a"/><link name="b"><inertial><mass value="1"/>
<inertia ixx=".1" iyy=".1" izz=".1" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="j" type="revolute"><axis xyz="0 1 0"/><limit lower="-1" upper="1" effort="5" velocity="2"/>
<dynamics damping="0.5" friction="0.1"/><parent link="a"/><child link="b"/></joint></robot>"""


def test_numbers_of_the_robot_that_do_not_act_are_noted(run):
    robot = hinge.load(DAMPED)
    bare = run(robot, [0.3])
    terms, limits = bare.notes
    assert terms.startswith("damping and friction of 1 joint of the robot did not act; joint_terms=('armature', 'damp")
    assert limits.startswith("position limits of 1 joint were ignored; limits=")
    assert f"  note: {terms}\n  note: {limits}" in repr(bare)
    assert run(robot, [0.3], joint_terms=("damping", "friction"), limits="stop").notes == ()
    (left,) = run(robot, [0.3], joint_terms=("armature", "friction"), limits="stop").notes
    assert left.startswith("damping of 1 joint")
    assert run(hinge.samples.pendulum(1), [0.3]).notes == ()
    varied = hinge.samples.pendulum(1).vary("joint1.damping")
    (note,) = run(varied, [0.3], parameters={"joint1.damping": 0.5}).notes
    assert note.startswith("damping of 1 joint")


def test_notes_are_kept_in_files(tmp_path):
    run = hinge.simulate(hinge.load(DAMPED), 0.01, [0.3], file=tmp_path / "run.zarr")
    assert hinge.open(tmp_path / "run.zarr").notes == run.notes != ()


def test_velocities_of_a_keyframe_are_a_finding():
    text = DRIVEN.replace("</mujoco>", "<keyframe><key name='thrown' qpos='0' qvel='{}'/></keyframe></mujoco>")
    assert not [one for one in hinge.load(text.format(0)).report if one.code == "keyframe-velocities"]
    (found,) = [one for one in hinge.load(text.format(2)).report if one.code == "keyframe-velocities"]
    assert (found.severity, "'thrown' has velocities (qvel)" in found.what) == ("note", True)


IDLE = {
    "inputs": {"inputs": [1.0]},
    "external_frame": {"external_frame": "base"},
    "loop_time": {"loop_time": 0.1},
    "ignore": {"ignore": ("muscle",)},
}


@pytest.mark.parametrize("name", IDLE)
def test_words_about_others_that_are_not_given_are_refused(run, name):
    with pytest.raises(hinge.NotCovered, match=f"^{name}= (has no effect|names features)"):
        run(hinge.samples.pendulum(1), [0.3], **IDLE[name])


def test_more_words_that_would_be_misread_are_refused(tmp_path):
    arm, dog = hinge.samples.planar_2r(), hinge.samples.go2()
    turned = dog.neutral()
    turned[:7] = [0, 0, 0.3, 0, 0, 0, 1]
    refused = {
        "sample= has no effect": lambda: hinge.simulate(arm, 0.01, control=[1.0, 0.0], sample=3),
        "^t=True is not a time": lambda: hinge.simulate(arm, True),
        "^Ground: height is True": lambda: hinge.Ground(height=True),
        "^contacts is True": lambda: hinge.simulate(dog, 0.01, contacts=True),
        "^excite: effort is 'clip'": lambda: hinge.identify.excite(arm, effort="clip"),
        "^exclude: robot 'go2' has no collision shape on a link 'FL_fot'": lambda: dog.distances(
            dog.neutral(), exclude=[("FL_fot", "FR_foot")]
        ),
        "far from unit length": lambda: hinge.sweep(dog, None, {"q": turned}, t=0.01, store=tmp_path / "dog"),
    }
    for said, call in refused.items():
        with pytest.raises(hinge.HingeError, match=said):
            call()
