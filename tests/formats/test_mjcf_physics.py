"""What an MJCF file says besides the tree, in robots that are written, locked, attached and repeated."""

import numpy as np
import pytest
from mujoco_pair import mujoco

import hinge
from hinge.contact.collision_pairs import collision_shapes, file_pairs

ARM = """<body name="a" gravcomp=".5"><joint name="j" axis="1 0 0" solreflimit=".05" margin=".1" range="-1 1"/>
 <geom name="g" size=".1" friction=".3" solimp=".5 .6" priority="2" condim="6"/>
 <body name="b" pos="0 0 1"><joint name="k" axis="0 1 0" frictionloss=".1" solimpfriction=".7" damping=".2"
   actuatorfrcrange="-1 2" actuatorgravcomp="true"/>
   <geom name="h" size=".1" contype="0" conaffinity="0"/></body></body>"""
SAID = """<contact><pair geom1="g" geom2="h" friction=".2"/><exclude body1="a" body2="b"/></contact>
<tendon><fixed name="t" stiffness="2" springlength=".1 .2"><joint joint="j" coef="2"/><joint joint="k" coef="3"/>
</fixed></tendon><equality><joint joint1="j" joint2="k" class="stiff"/></equality>
<actuator><motor joint="j" gear="2" damping=".3" armature=".1"/><position name="servo" tendon="t" kp="3" damping=".4"/>
</actuator>"""
BEFORE = """<compiler angle="radian"/><option timestep=".004" cone="elliptic" integrator="implicitfast"><flag
 warmstart="disable"/></option><default><default class="stiff"><equality solref=".004"/></default></default>"""


def text(bodies=ARM, said=SAID, before=BEFORE):
    return f'<mujoco model="arm">{before}<worldbody>{bodies}</worldbody>{said}</mujoco>'


def told(robot):
    model = robot.model
    surfaces = [(one.link, one.surface) for one in collision_shapes(model)]
    return model.physics, surfaces, [(data.physics, data.effort, data.damping) for data in model.data]


def test_it_is_written_and_comes_back(tmp_path):
    robot = hinge.load(text())
    path = tmp_path / "again.xml"
    hinge.write(robot, path)
    again = hinge.load(path)
    assert told(again) == told(robot)
    q, qd, ctrl = np.random.default_rng(0).normal(size=(3, 2))
    for ours, theirs in zip(again.control_forces(q, qd, ctrl), robot.control_forces(q, qd, ctrl), strict=True):
        np.testing.assert_array_equal(ours, theirs)
    np.testing.assert_array_equal(again.passive_forces(q, qd), robot.passive_forces(q, qd))
    m = mujoco.MjModel.from_xml_path(str(path))
    assert (m.nu, m.ntendon, m.neq, m.npair, m.nexclude) == (2, 1, 1, 1, 1)


def test_a_joint_that_is_locked_is_driven_no_more():
    robot, at = hinge.load(text()), 0.4
    held = robot.lock({"j": at})
    q, qd, ctrl = np.array([0.3]), np.array([-0.7]), np.array([0.5, 0.6])
    tau, forces = held.control_forces(q, qd, ctrl)
    whole, theirs = robot.control_forces([at, *q], [0.0, *qd], ctrl)
    np.testing.assert_allclose((tau[0], *forces), (whole[1], 0.0, theirs[1]))
    np.testing.assert_allclose(held.passive_forces(q, qd)[0], robot.passive_forces([at, *q], [0.0, *qd])[1])


def test_an_elastic_joint_is_driven_at_its_motor():
    robot = hinge.load(text())
    q, ctrl = np.array([0.2, 0.3, -0.1]), np.array([0.5, 0.1])
    elastic = robot.with_elastic("j", 100.0, 1.0, motor_inertia=0.1)
    tau, forces = elastic.control_forces(q, np.zeros(3), ctrl)
    plain, theirs = robot.control_forces(q[[0, 2]], np.zeros(2), ctrl)
    np.testing.assert_allclose(forces, theirs)
    np.testing.assert_allclose(tau, [plain[0], 0.0, tau[2]])


def test_an_actuator_of_a_joint_that_is_given_is_refused_by_name():
    robot = hinge.load(text()).prescribe("j")
    with pytest.raises(hinge.NotCovered, match="joint 'j' is driven, and an actuator or a tendon acts on it"):
        robot.control_forces([0.1], [0.0], [0.0, 0.0], prescribed=([0.1], [0.0], [0.0]))


def test_a_control_too_few_is_said_by_name():
    with pytest.raises(hinge.SizeError, match="control_forces: ctrl has 1 entries, robot 'arm' has nu = 2"):
        hinge.load(text()).control_forces([0.0, 0.0], [0.0, 0.0], [0.0])


def test_robots_that_are_attached_bring_what_their_files_say():
    one, other = hinge.load(text()), hinge.load(text())
    both = one.attach(other, "b", prefix="x_")
    assert both.actuation.names == ("actuator_0", "servo", "x_actuator_0", "x_servo")
    assert both.model.physics.options == one.model.physics.options
    q, qd, ctrl = np.random.default_rng(1).normal(size=(3, 4))
    tau, forces = both.control_forces(q, qd, ctrl)
    np.testing.assert_allclose(forces[2:], other.control_forces(q[2:], qd[2:], ctrl[2:])[1])
    assert tau.shape == (4,)
    assert [(p.first.link, p.second.link) for p in file_pairs(both.model)][-1] == ("a", "x_a")


def test_what_an_attached_model_says_is_read_with_its_prefix(folder):
    child = text().replace('model="arm"', 'model="child"')
    main = text('<attach model="m" prefix="x_"/>', "", '<asset><model name="m" file="child.xml"/></asset>')
    physics = hinge.load(folder({"main.xml": main, "child.xml": child})).model.physics
    assert [(one.name, one.target) for one in physics.actuators] == [("x_actuator_0", "x_j"), ("x_servo", "x_t")]
    assert physics.tendons[0].joints == (("x_j", 2.0), ("x_k", 3.0))
    assert physics.excludes == (("x_a", "x_b"),)
    assert [pair[:2] for pair in physics.pairs] == [("x_g", "x_h")]
    assert physics.equalities[0].softness.solref == (0.004, 1.0)


def test_an_actuator_of_a_repeated_joint_is_repeated():
    said = '<actuator><motor name="m" joint="j" gear="3"/></actuator>'
    whole = text(f'<replicate count="3" offset=".1 .2 .3">{ARM}</replicate>', said)
    robot, m = hinge.load(whole), mujoco.MjModel.from_xml_string(whole)
    assert robot.actuation.names == tuple(m.actuator(k).name for k in range(m.nu))
    assert [one.target for one in robot.model.physics.actuators] == [m.joint(k).name for k in m.actuator_trnid[:, 0]]


def test_tendons_are_repeated_and_what_else_speaks_of_something_repeated_is_left_out():
    robot = hinge.load(text(f'<replicate count="2">{ARM}</replicate>', SAID))
    assert len([finding for finding in robot.report if finding.code == "left-out"]) >= 3
    assert [tendon.name for tendon in robot.model.physics.tendons] == ["t0", "t1"]
    assert (robot.model.physics.pairs, robot.model.physics.equalities) == ((), ())


def test_the_programs_of_robots_that_differ_in_actuators_alone_are_told_apart(monkeypatch, tmp_path):
    monkeypatch.setenv("HINGE_CACHE_DIR", str(tmp_path))
    monkeypatch.setenv("HINGE_BACKEND", "llvm")
    one, other = hinge.load(text()), hinge.load(text(said=SAID.replace('kp="3"', 'kp="5"')))
    assert one.model.digest != other.model.digest
    for robot, kp in ((one, 3.0), (other, 5.0)):
        np.testing.assert_allclose(robot.control_forces([0.0, 0.0], [0.0, 0.0], [0.0, 0.1])[1], [0.0, 0.1 * kp])
