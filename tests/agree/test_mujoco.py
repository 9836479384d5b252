"""Against MuJoCo: URDF files it reads itself, models written out as MJCF, and a few written by hand in both.

mujoco_pair.py says how coordinates of the two correspond. MJCF files are compared in test_mjcf_robots.py.
"""

import xml.etree.ElementTree as ET

import numpy as np
import pytest
from mujoco_pair import Pair, check_dynamics, check_places, close, mujoco
from real_robots import FILES, SNAPPED

import hinge


def check_jacobians(p, tol):
    for b, name in p.bodies()[-2:]:
        J, rate = np.zeros((2, 6, p.m.nv))
        mujoco.mj_jacBody(p.m, p.d, J[3:], J[:3], b)
        mujoco.mj_jacDot(p.m, p.d, rate[3:], rate[:3], p.d.xpos[b], b)
        close(p.call("jacobian", p.q, name, frame="aligned") @ p.T, J, tol)
        # the rate of T shows only where the columns of a free joint are
        ours = p.call("jacobian_rate", p.q, p.qd, name, frame="aligned") @ p.T @ p.d.qvel
        ours = ours + p.call("jacobian", p.q, name, frame="aligned") @ p.rate
        close(ours, rate @ p.d.qvel, tol, size=np.max(np.abs(J)) * np.max(np.abs(p.qd)) ** 2)


def check_totals(p, tol):
    potential, kinetic = p.d.energy
    close(p.call("kinetic_energy", p.q, p.qd), kinetic, tol)
    close(p.call("potential_energy", p.q), potential, tol, size=p.robot.mass * 9.81)
    close(p.call("center_of_mass", p.q), p.d.subtree_com[0], tol)
    momentum = [*p.d.subtree_angmom[0], *(p.d.subtree_linvel[0] * p.m.body_subtreemass[0])]
    close(p.call("momentum", p.q, p.qd, about="com"), momentum, tol)


# URDF files that MuJoCo reads itself

URDFS = (
    "g1_description/urdf/g1_29dof_rev_1_0.urdf", "go2_description/urdf/go2.urdf",
    "kinova_description/robots/kinova.urdf", "panda_description/urdf/panda.urdf",
    "so_arm_description/urdf/so100.urdf", "ur_description/urdf/ur5_robot.urdf",
)  # fmt: skip


def mujoco_from_urdf(path):
    """MuJoCo's model of a URDF file, without shapes; every link stays a body."""
    root = ET.parse(path).getroot()
    for link in root.iter("link"):
        for shape in [*link.findall("visual"), *link.findall("collision")]:
            link.remove(shape)
    options = {"fusestatic": "false", "balanceinertia": "false", "boundmass": "0", "inertiafromgeom": "false"}
    ET.SubElement(ET.SubElement(root, "mujoco"), "compiler", options)
    return mujoco.MjModel.from_xml_string(ET.tostring(root, encoding="unicode"))


@pytest.mark.sampled(3)
@pytest.mark.skipif(not FILES, reason="example-robot-data is not installed")
@pytest.mark.parametrize("file", URDFS)
def test_a_urdf_file_means_the_same_robot(file):
    p = Pair(mujoco_from_urdf(FILES[file]), hinge.load(FILES[file], mimic="free"))
    assert tuple(p.m.joint(j).name for j in range(p.m.njnt)) == p.robot.joint_names
    tol = SNAPPED if any(finding.code == "snapped" for finding in p.robot.report) else 1e-12
    for check in (check_dynamics, check_places, check_jacobians):
        check(p, tol)


# models of hinge written out as MJCF


def mjcf(model):
    """A model as MJCF text: hinge's bodies, each in its own frame."""

    def numbers(values):
        return " ".join(repr(float(x)) for x in values)

    def placed(R, p):
        quat = np.zeros(4)
        mujoco.mju_mat2Quat(quat, np.array(R, float))
        return {"pos": numbers(p), "quat": numbers(quat)}

    root = ET.Element("mujoco")
    ET.SubElement(root, "compiler", angle="radian", inertiafromgeom="false")
    ET.SubElement(root, "option", gravity=numbers(model.gravity))
    made = [ET.SubElement(root, "worldbody")]
    for i, parent in model.outward():
        joint, inertia, name = model.joint[i], model.inertia[i], model.body_name[i]
        made.append(ET.SubElement(made[parent], "body", name=name, **placed(*model.placement[i].pose())))
        xx, yy, zz, yz, xz, xy = inertia.about_com
        moments = numbers((xx, yy, zz, xy, xz, yz))
        ET.SubElement(made[i], "inertial", pos=numbers(inertia.com), mass=repr(inertia.m), fullinertia=moments)
        if joint.kind == "free":
            ET.SubElement(made[i], "freejoint")
            continue
        types = {"spherical": ["ball"], "prismatic": ["slide"], "cylindrical": ["hinge", "slide"]}
        for type_ in types.get(joint.kind, ["hinge"]):
            axis = {} if type_ == "ball" else {"axis": numbers(joint.axis)}
            ET.SubElement(made[i], "joint", type=type_, armature=repr(model.armature(i)[0]), **axis)
    return ET.tostring(root, encoding="unicode")


def flying_tree(seed, n):
    """A random tree of every joint MuJoCo has, on a free body."""
    rng = np.random.default_rng(seed)
    kinds = ("revolute", "continuous", "prismatic", "spherical", "cylindrical")
    grown = hinge.samples.random_tree(rng, n, kinds=kinds).model
    builder = hinge.Builder("flying", gravity=(0.5, -1.0, -9.0))
    builder.link("world")
    builder.link("body", 3.0, (0.1, 0.2, -0.1), np.diag([0.3, 0.4, 0.5]))
    builder.joint("free", "free", "world", "body")
    for i, p in grown.outward():
        R, at = grown.placement[i].pose()
        I, name = grown.inertia[i], grown.body_name[i]
        builder.link(name, I.m, I.com, np.reshape(I.about_com.full(), (3, 3)))
        builder.joint(grown.joint_name[i], grown.joint[i], grown.body_name[p] if p else "body", name, at,
                      np.reshape(R, (3, 3)), armature=grown.armature(i))  # fmt: skip
    return hinge.Robot(builder.build())


TREES = {
    "revolute chain": lambda: hinge.samples.chain(np.random.default_rng(1), 7),
    "prismatic chain": lambda: hinge.samples.chain(np.random.default_rng(2), 3, kind="prismatic"),
    "ball chain": lambda: hinge.samples.chain(np.random.default_rng(3), 4, kind="spherical"),
    "cylindrical chain": lambda: hinge.samples.chain(np.random.default_rng(6), 4, kind="cylindrical"),
    "flying tree": lambda: flying_tree(4, 12),
    "another flying tree": lambda: flying_tree(5, 7),
}


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", TREES)
def test_a_model_written_as_mjcf_moves_the_same(name):
    robot = TREES[name]()
    p = Pair(mujoco.MjModel.from_xml_string(mjcf(robot.model)), robot)
    assert (p.m.nq, p.m.nv) == (robot.nq, robot.nv)
    for check in (check_dynamics, check_places, check_jacobians, check_totals):
        check(p, 1e-12)


def test_a_ball_joint_moves_along_a_velocity_the_same():
    robot = TREES["ball chain"]()
    p = Pair(mujoco.MjModel.from_xml_string(mjcf(robot.model)), robot)
    moved = p.q.copy()
    mujoco.mj_integratePos(p.m, moved, p.qd, 0.3)
    np.testing.assert_allclose(p.call("integrate", p.q, 0.3 * p.qd), moved, rtol=0, atol=1e-14)
    between = np.zeros(p.m.nv)
    mujoco.mj_differentiatePos(p.m, between, 1.0, p.q, moved)
    np.testing.assert_allclose(p.call("difference", p.q, moved), between, rtol=0, atol=1e-13)


# written by hand in both

DOUBLE_PENDULUM = """
<mujoco><compiler angle="radian"/><worldbody>
  <body name="upper"><inertial pos="0 0 -0.5" mass="2" diaginertia="0.3 0.25 0.1"/>
    <joint type="hinge" axis="0 1 0" armature="0.04"/>
    <body name="lower" pos="0 0.1 -1"><inertial pos="0.1 0 -0.3" mass="1" diaginertia="0.1 0.1 0.02"/>
      <joint type="hinge" axis="1 0 0"/>
    </body></body>
</worldbody></mujoco>"""
SATELLITE = """
<mujoco><compiler angle="radian"/><worldbody>
  <body name="bus"><freejoint/><inertial pos="0.1 0 0.2" mass="5" diaginertia="0.8 0.6 0.7"/>
    <body name="boom" pos="0.5 0 0.3" quat="0.8 0 0.6 0"><inertial pos="0 0 0.4" mass="1" diaginertia="0.1 0.1 0.01"/>
      <joint type="hinge" axis="0 0.6 0.8"/>
      <body name="tip" pos="0 0 0.8"><inertial pos="0 0 0.1" mass="0.5" diaginertia="0.02 0.03 0.04"/>
        <joint type="ball"/>
      </body></body></body>
</worldbody></mujoco>"""


def test_a_double_pendulum_written_by_hand_in_both_agrees():
    builder = hinge.Builder("double pendulum")
    builder.link("base")
    builder.link("upper", 2.0, (0, 0, -0.5), np.diag([0.3, 0.25, 0.1]))
    builder.link("lower", 1.0, (0.1, 0, -0.3), np.diag([0.1, 0.1, 0.02]))
    builder.joint("shoulder", "revolute", "base", "upper", axis=(0, 1, 0), armature=0.04)
    builder.joint("elbow", "revolute", "upper", "lower", (0, 0.1, -1), axis=(1, 0, 0))
    p = Pair(mujoco.MjModel.from_xml_string(DOUBLE_PENDULUM), hinge.Robot(builder.build()))
    for check in (check_dynamics, check_places, check_jacobians, check_totals):
        check(p, 1e-13)


def test_a_satellite_written_by_hand_in_both_agrees():
    builder = hinge.Builder("satellite")
    builder.link("world")
    builder.link("bus", 5.0, (0.1, 0, 0.2), np.diag([0.8, 0.6, 0.7]))
    builder.link("boom", 1.0, (0, 0, 0.4), np.diag([0.1, 0.1, 0.01]))
    builder.link("tip", 0.5, (0, 0, 0.1), np.diag([0.02, 0.03, 0.04]))
    turned = [[0.28, 0, 0.96], [0, 1, 0], [-0.96, 0, 0.28]]  # the quaternion (0.8, 0, 0.6, 0)
    builder.joint("free", "free", "world", "bus")
    builder.joint("mast", "revolute", "bus", "boom", (0.5, 0, 0.3), turned, axis=(0, 0.6, 0.8))
    builder.joint("ball", "spherical", "boom", "tip", (0, 0, 0.8))
    p = Pair(mujoco.MjModel.from_xml_string(SATELLITE), hinge.Robot(builder.build()))
    for check in (check_dynamics, check_places, check_jacobians, check_totals):
        check(p, 1e-13)


@pytest.mark.parametrize("seed", range(5))
def test_springs_of_every_joint_pull_and_store_the_same(seed):
    """A free body stands turned and away from the origin, where its spring is slack."""
    text = SATELLITE.replace("<freejoint/>", '<joint type="free" stiffness="30"/>').replace(
        '<body name="bus">', '<body name="bus" pos="0.4 -0.2 0.9" quat="0.6 0.48 -0.64 0">'
    )
    text = text.replace('"hinge"', '"hinge" stiffness="7" springref="0.4"').replace('"ball"', '"ball" stiffness="11"')
    p = Pair(mujoco.MjModel.from_xml_string(text), hinge.load(text), seed)
    p.m.opt.disableflags &= ~int(mujoco.mjtDisableBit.mjDSBL_SPRING)
    slack = p.d.energy[0]
    mujoco.mj_forward(p.m, p.d)
    sprung = {"joint_terms": ("stiffness",)}
    pulls = p.call("gravity_force", p.q, **sprung) - p.call("gravity_force", p.q)
    close(p.T.T @ pulls, -p.d.qfrc_spring, 1e-12)
    stored = p.call("potential_energy", p.q, **sprung) - p.call("potential_energy", p.q)
    close(stored, p.d.energy[0] - slack, 1e-12)
    tau = np.linalg.solve(p.T.T, p.d.qfrc_applied)
    close(p.call("forward_dynamics", p.q, p.qd, tau, **sprung), p.T @ p.d.qacc + p.rate, 1e-11)
