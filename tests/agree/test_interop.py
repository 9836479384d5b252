"""Robots and states in the conventions of Pinocchio, MuJoCo and Drake, and back; dynamics there and here agree."""

import sys
from dataclasses import replace

import numpy as np
import pytest
from closeness import close
from other_libraries import LIBRARIES
from real_robots import FILES

import hinge
from hinge import interop
from hinge.interop import forms
from hinge.model.joints import Free, Spherical
from hinge.model.mechanisms import Planar

TOL = 1e-12
REAL = {
    "panda": "panda_description/urdf/panda.urdf",  # a finger that follows the other
    "ur5": "ur_description/urdf/ur5_robot.urdf",
    "solo12": "solo_description/robots/solo12.urdf",  # joints that go round
    "talos": "talos_data/robots/talos_reduced.urdf",
}
KINDS = {  # what each has joints for, or simpler joints instead
    "pinocchio": ("revolute", "continuous", "prismatic", "helical", "cylindrical", "spherical", "universal", "planar",
                  "planar_outer", "cartesian_3", "spherical_angles"),
    "mujoco": ("revolute", "prismatic", "cylindrical", "spherical", "universal", "planar", "cartesian_3"),
    "drake": ("revolute", "continuous", "prismatic", "helical", "cylindrical", "spherical", "universal", "planar"),
}  # fmt: skip


def made_tree(library):
    """A tree of every kind of joint, a free body of it too, and armature where all libraries have it."""
    robot = hinge.samples.random_tree(np.random.default_rng(2), 30, KINDS[library])
    assert {joint.kind for joint in robot.model.joint[1:]} == set(KINDS[library])
    data = [
        d if j.nv == 1 else replace(d, armature=()) for d, j in zip(robot.model.data, robot.model.joint, strict=True)
    ]
    builder = hinge.Builder("free")
    builder.link("world")
    builder.link("trunk", 3.0, (0.1, 0.2, 0.3), np.diag([0.3, 0.4, 0.5]))
    builder.joint("float", "free", "world", "trunk")
    return hinge.Robot(builder.build()).attach(hinge.Robot(replace(robot.model, data=tuple(data))), at="trunk")


class Both:
    """A robot here and there, in a few states."""

    def __init__(self, library, robot, model=None):
        self.library, self.robot = LIBRARIES[library](), robot
        self.model = self.library.interop.to_model(robot) if model is None else model
        self.states = self.library.interop.states(robot, self.model)
        rng = np.random.default_rng(5)
        self.q, self.qd = robot.random_state(rng, 3)
        self.qdd, self.tau = rng.normal(size=(2, 3, robot.nv))
        self.there = self.states.there(self.q, self.qd, self.qdd, self.tau)

    def check_forces(self, robot=None):
        """Inverse dynamics there, brought to a robot here, is the robot's."""
        robot = robot or self.robot
        states = self.library.interop.states(robot, self.model)
        here, theirs = states.back(*self.there), self.library.forces(self.model, self.there)
        ours = robot.inverse_dynamics(here.q, here.v, here.a, joint_terms=self.library.terms, backend="interpret")
        close(ours, states.back(self.there.q, tau=theirs).tau, TOL)

    def check_mass_matrix(self):
        T, H = self.states.lever(self.q), self.library.mass_matrix(self.model, self.there)
        close(self.robot.mass_matrix(self.q, backend="interpret"), T.swapaxes(1, 2) @ H @ T, TOL)


CASES = [(library, name, base) for library in LIBRARIES for name in REAL for base in ("fixed", "floating")]
CASES += [(library, "tree", "floating") for library in LIBRARIES]


@pytest.fixture(scope="module", params=CASES, ids=["-".join(case) for case in CASES])
def both(request):
    library, name, base = request.param
    if name != "tree" and not FILES:
        pytest.skip("example-robot-data is not installed")
    return Both(library, made_tree(library) if name == "tree" else hinge.load(FILES[REAL[name]], base=base))


def rotations(robot, q):
    """Coordinates with quaternions as products of their entries: q and -q are one rotation."""
    made = [q]
    for i in robot.model.leaders:
        at = robot.model.slices[i][0]
        if robot.model.joint[i].kind in ("spherical", "free"):
            quaternion = q[..., at][..., :4]
            made.append(np.einsum("...i,...j->...ij", quaternion, quaternion).reshape(*q.shape[:-1], 16))
            q[..., at.start : at.start + 4] = 0.0
    return np.concatenate(made, axis=-1)


def test_states_go_there_and_come_back(both):
    again = both.states.back(*both.there)
    close(rotations(both.robot, again.q), rotations(both.robot, both.q.copy()), TOL)
    for ours, theirs in zip(again[1:3], (both.qd, both.qdd), strict=True):
        close(ours, theirs, TOL)
    close(again.tau, both.tau, TOL)
    power = np.einsum("...i,...i", both.there.tau, both.there.v)
    close(power, np.einsum("...i,...i", both.tau, both.qd), TOL)


@pytest.mark.sampled(4)
def test_inverse_dynamics_and_mass_matrix_agree(both):
    both.check_forces()
    both.check_mass_matrix()


def test_a_body_that_only_resists_turning_keeps_its_inertia():
    pinocchio = pytest.importorskip("pinocchio")
    builder = hinge.Builder("rotor")
    builder.link("base")
    builder.link("rotor", 0.0, (0, 0, 0), np.diag([0.1, 0.2, 0.25]))
    builder.joint("spin", "revolute", "base", "rotor", axis=(0, 0, 1))
    model = interop.pinocchio.to_model(hinge.Robot(builder.build()))
    made = model.inertias[model.getJointId("spin")]
    assert made.mass == 0.0
    np.testing.assert_allclose(np.diag(made.inertia), [0.1, 0.2, 0.25])
    assert pinocchio.crba(model, model.createData(), np.zeros(1))[0, 0] == pytest.approx(0.25)


@pytest.mark.sampled(9)
def test_their_model_becomes_a_robot_again(both):
    again = both.library.interop.from_model(both.model)
    assert again.nv == sum(joint.nv for joint in both.robot.model.joint[1:])  # those that followed are independent
    both.check_forces(again)
    assert again.mass == pytest.approx(both.robot.mass, rel=TOL)


@pytest.mark.sampled(9)
def test_frames_keep_their_names_and_places(both):
    again = both.library.interop.from_model(both.model)
    q = both.library.interop.states(again, both.model).back(both.there.q).q
    for name in [*both.robot.body_names[-2:], *list(both.robot.model.frames)[-2:]]:
        pose = both.library.pose(both.model, both.there, name)
        close(both.robot.pose(both.q[0], name, backend="interpret"), pose, TOL)
        close(again.pose(q[0], name, backend="interpret"), pose, TOL)


def test_one_state_and_any_batch_go_there(both):
    one = both.states.there(both.q[0], both.qd[0])
    assert one.q.shape == (both.states.nq,)
    assert one.a is None
    np.testing.assert_array_equal(one.v, both.there.v[0])
    many = both.states.there(both.q[0], both.qd[:, None], np.zeros((2, both.robot.nv)))
    assert many.q.shape == (3, 2, both.states.nq)
    assert many.a.shape == (3, 2, both.states.nv)


# ---- models that a library has read itself


@pytest.mark.parametrize("base", ["fixed", "floating"])
@pytest.mark.parametrize("name", ["panda", "solo12"])
def test_a_model_that_pinocchio_has_read_becomes_the_same_robot(name, base):
    pin = LIBRARIES["pinocchio"]().pin
    file = FILES[REAL[name]]
    model = pin.buildModelFromUrdf(str(file), *([pin.JointModelFreeFlyer()] if base == "floating" else []))
    both = Both("pinocchio", interop.pinocchio.from_model(model), model)
    both.check_forces()
    both.check_mass_matrix()
    read = hinge.load(file, base=base, mimic="free")
    assert set(both.robot.joint_names) - {"root_joint"} == set(read.joint_names) - {"base"}
    both.check_forces(read)  # whose floating base is called "base" and theirs "root_joint"


MJCF = """<mujoco model="odd"><option gravity="0.3 -0.2 -9"/><worldbody>
<body name="raft" pos="1 2 3" quat="0.5 0.5 -0.5 0.5"><freejoint/>
 <inertial pos="0.1 0 0.2" mass="2" fullinertia="0.3 0.4 0.5 0.01 0.02 0.03"/>
 <site name="eye" pos="0 0 1" quat="1 1 0 0"/>
 <body pos="0.1 0.2 0.3" quat="0.8 0.6 0 0"><joint name="a" axis="1 2 3" pos="0.1 0 0.2" ref="0.4" damping="0.3"/>
  <joint name="b" type="slide" axis="0 1 1" ref="-0.2" stiffness="20" springref="0.1" range="-1 1"/>
  <inertial pos="0 0 0.2" mass="1" diaginertia="0.03 0.04 0.05" quat="1 2 3 4"/>
  <body name="tip" pos="0 0 0.5"><joint type="ball" pos="0 0.1 0" armature="0.01"/>
   <inertial pos="0.05 0 0.2" mass="0.5" diaginertia="0.01 0.02 0.02"/></body></body>
 <body name="weld" pos="0 1 0"><inertial pos="0 0 0" mass="0.7" diaginertia="0.01 0.02 0.02"/></body></body>
</worldbody><actuator><motor joint="a" gear="3" armature="0.02" damping="0.1"/></actuator></mujoco>"""


def test_a_model_that_mujoco_has_read_becomes_the_same_robot():
    model = LIBRARIES["mujoco"]().mujoco.MjModel.from_xml_string(MJCF)
    robot, read = interop.mujoco.from_model(model), hinge.load(MJCF)
    both = Both("mujoco", robot, model)
    both.check_forces()
    both.check_mass_matrix()
    both.check_forces(read)
    assert (robot.name, robot.joint_names, robot.body_names) == (read.name, read.joint_names, read.body_names)
    close(robot.neutral(), read.neutral(), TOL)
    close(robot.pose(both.q[0], "eye", backend="interpret"), both.library.pose(model, both.there, "eye"), TOL)
    np.testing.assert_allclose(robot.limits.lower, read.limits.lower)


def test_a_tendon_with_armature_is_no_robot_of_ours():
    tendon = (
        '<tendon><fixed armature="1"><joint joint="a" coef="1"/><joint joint="b" coef="2"/></fixed></tendon></mujoco>'
    )
    model = LIBRARIES["mujoco"]().mujoco.MjModel.from_xml_string(MJCF.replace("</mujoco>", tendon))
    with pytest.raises(hinge.NotCovered, match="a tendon has armature"):
        interop.mujoco.from_model(model)


# ---- conventions by formula, without the library


def test_a_free_body_moves_there_as_each_library_says():
    """Half a turn about z at (1, 2, 3), spinning about its x axis and gliding along its y axis."""
    turned, place = [0.0, 0.0, 0.0, 1.0], [1.0, 2.0, 3.0]
    q, v = np.array([*turned, *place]), np.array([2.0, 0, 0, 0, 3.0, 0])
    assert forms.FREE_BODY.q(q).tolist() == [1, 2, 3, 0, 0, 1, 0]
    assert (forms.FREE_BODY.lever(q) @ v).tolist() == [0, 3, 0, 2, 0, 0]
    assert forms.FREE_MIXED.q(q).tolist() == [1, 2, 3, 0, 0, 0, 1]
    assert (forms.FREE_MIXED.lever(q) @ v).tolist() == [0, -3, 0, 2, 0, 0]  # v in the world, ω in the body
    assert forms.FREE_WORLD.q(q).tolist() == q.tolist()
    assert (forms.FREE_WORLD.lever(q) @ v).tolist() == [-2, 0, 0, 0, -3, 0]
    # a body-frame velocity that stays is one that turns in the world: ω × v = 2 x × 3 y = 6 z
    assert forms.FREE_MIXED.bias(q, v).tolist() == [0, 0, 6, 0, 0, 0]
    assert forms.FREE_WORLD.bias(q, v).tolist() == [0, 0, 0, 0, 0, 6]


@pytest.mark.parametrize("name", ["FREE_MIXED", "FREE_WORLD", "BALL_ANGLES", "PLANE_CIRCLE", "FREE_BODY"])
def test_the_bias_is_the_rate_of_the_lever(name):
    form, rng = getattr(forms, name), np.random.default_rng(2)
    joint = {7: Free, 4: Spherical, 3: Planar}[form.nq]()
    q, v, h = joint.random(rng, 1, [-1.0] * form.nq, [1.0] * form.nq)[0], rng.normal(size=form.nv), 1e-5
    ahead, behind = (form.lever(np.array(joint.integrate(q, s * h * v))) @ v for s in (1, -1))
    bias = np.zeros(form.nv) if form.bias is None else form.bias(q, v)
    np.testing.assert_allclose((ahead - behind) / (2 * h), bias, atol=1e-8)


# ---- what cannot be


def test_what_does_not_fit_is_said():
    arm, other = hinge.samples.planar_2r(), hinge.samples.pendulum(2)
    model = LIBRARIES["pinocchio"]().interop.to_model(arm)
    states = interop.pinocchio.states(arm, model)
    with pytest.raises(hinge.SizeError, match="accelerations were given without velocities"):
        states.there([0.0, 0.0], qdd=[0.0, 0.0])
    with pytest.raises(hinge.SizeError, match=r"q has shape \(3,\); it has to end in \(2,\)"):
        states.there([0.0, 0.0, 0.0])
    with pytest.raises(hinge.SizeError, match="the batches of a state do not fit together"):
        states.there(np.zeros((2, 2)), np.zeros((3, 2)))
    with pytest.raises(hinge.NotCovered, match=f"they have no joint '{other.joint_names[0]}'"):
        interop.pinocchio.states(other, model)
    with pytest.raises(hinge.NotCovered, match=r"they have a joint 'elbow', which robot .* has not"):
        interop.pinocchio.states(arm.lock({"elbow": 0.0}), model)
    tree = hinge.samples.random_tree(np.random.default_rng(0), 3, ("sphere_in_cylinder",))
    with pytest.raises(hinge.NotCovered, match="joint 'joint1' is sphere_in_cylinder, which Pinocchio has no word for"):
        interop.pinocchio.to_model(tree)


REFUSALS = {
    "mujoco": "MuJoCo refuses robot 'odd': ",
    "drake": "body 'rod' has an inertia that no body has, which Drake",
}


@pytest.mark.parametrize(("library", "says"), REFUSALS.items())
def test_an_inertia_that_no_body_has_is_refused_in_words(library, says):
    builder = hinge.Builder("odd")
    builder.link("base")
    builder.link("rod", 1.0, inertia=np.diag([0.1, 0.1, 0.9]))
    builder.joint("pivot", "revolute", "base", "rod")
    robot = hinge.Robot(builder.build())
    with pytest.raises(hinge.NotCovered, match=says):
        LIBRARIES[library]().interop.to_model(robot)
    mended, _ = hinge.repair(robot)
    LIBRARIES[library]().interop.to_model(mended)


@pytest.mark.parametrize("library", LIBRARIES)
def test_effort_limits_come_back(library):
    builder = hinge.Builder("strong")
    builder.link("base")
    builder.link("rod", 1.0, (0.0, 0.0, 0.1), np.eye(3))
    builder.joint("turn", "revolute", "base", "rod", axis=(0, 0, 1), effort=7.0, lower=-1.0, upper=2.0)
    there = LIBRARIES[library]().interop
    limits = there.from_model(there.to_model(hinge.Robot(builder.build()))).limits
    assert (limits.effort.tolist(), limits.lower.tolist(), limits.upper.tolist()) == ([7.0], [-1.0], [2.0])


PACKAGES = [("pinocchio", "pinocchio", "pin"), ("mujoco", "mujoco", "mujoco"), ("drake", "pydrake.math", "drake")]


@pytest.mark.parametrize(("name", "module", "package"), PACKAGES)
def test_a_library_that_is_not_there_is_said_to_be(monkeypatch, name, module, package):
    monkeypatch.setitem(sys.modules, module, None)
    said = rf"the package {package} is not installed.\n  pip install .?(hinge\[)?{package}"
    with pytest.raises(hinge.NotCovered, match=said):
        getattr(interop, name).to_model(hinge.samples.pendulum(1))


def test_interop_is_imported_when_it_is_asked_for():
    assert dir(interop) == ["drake", "mujoco", "pinocchio"]
    with pytest.raises(AttributeError, match=r"hinge\.interop"):
        interop.bullet  # noqa: B018
