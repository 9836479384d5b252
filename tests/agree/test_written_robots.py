"""The robots of example-robot-data written and read back, and as MuJoCo reads what is written."""

import sys
import sysconfig
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from real_robots import FILES, REFUSED, few
from sweeps import swept
from test_mujoco import Pair, check_dynamics, check_places, mujoco

import hinge

sys.path.insert(0, str(Path(__file__).parents[1] / "formats"))
from round_trip import MJCF, again, codes, same_dynamics, same_names, seated

READ = swept([name for name in FILES if name not in REFUSED], few)
SHOWN = {
    "UR5": "ur_description/urdf/ur5_robot.urdf",
    "Panda": "panda_description/urdf/panda.urdf",
    "G1": "g1_description/urdf/g1_29dof_rev_1_0.urdf",
    "Talos": "talos_data/robots/talos_reduced.urdf",
}
PACKAGES = {"gymnasium": "envs/mujoco/assets/*.xml", "dm_control": "suite/[!d]*.xml"}
NESTED = {
    f"{package}/{path.stem}": path
    for package, pattern in PACKAGES.items()
    for path in sorted(Path(sysconfig.get_path("purelib"), package).glob(pattern))
}
FLOATING = "solo_description/robots/solo12.urdf", "icub_description/robots/icub.urdf", SHOWN["UR5"]


@pytest.mark.parametrize("file", READ)
def test_a_urdf_robot_comes_back(file, tmp_path):
    robot = hinge.load(FILES[file])
    made, report = again(robot, tmp_path, ".urdf")
    same_names(robot, made)
    same_dynamics(robot, made)
    assert set(made.model.frames) == set(robot.model.frames)
    endless = {"continuous": "revolute"}  # a revolute joint whose limits are none is written as one that is continuous
    kinds, wanted = ({endless.get(j.kind, j.kind) for j in one.model.joint} for one in (made, robot))
    assert kinds == wanted
    for ours, theirs in zip(made.limits, robot.limits, strict=True):
        np.testing.assert_array_equal(ours, theirs)
    assert set(codes(report)) <= {"mesh", "snapped", "continuous"}


@pytest.mark.parametrize("file", READ)
def test_a_urdf_robot_comes_back_by_way_of_mjcf(file, tmp_path):
    robot = hinge.load(FILES[file])
    bare = hinge.Robot(replace(robot.model, shapes={}))
    nested, _ = again(bare, tmp_path, ".xml")
    assert nested.nv == sum(joint.nv for joint in robot.model.joint)  # what follows in URDF is an equality there
    made, _ = again(nested, tmp_path, ".urdf")
    same_names(robot, made)
    same_dynamics(robot, made)
    assert made.model.follows == robot.model.follows


@pytest.mark.parametrize("file", FLOATING)
def test_a_floating_robot_comes_back_without_a_word(file, tmp_path):
    robot = hinge.load(FILES[file], base="floating")
    made, report = again(robot, tmp_path, ".urdf")
    same_names(robot, made)
    same_dynamics(robot, made)
    assert "floating" in codes(report)
    assert made.joint_names[0] == "base"


@pytest.mark.sampled(2)
@pytest.mark.parametrize("base", ["fixed", "floating"])
@pytest.mark.parametrize("name", SHOWN)
def test_mujoco_reads_the_same_robot(name, base, tmp_path):
    robot = hinge.load(FILES[SHOWN[name]], base=base, mimic="free")
    hinge.write(robot, tmp_path / "robot.xml")
    model = mujoco.MjModel.from_xml_path(str(tmp_path / "robot.xml"))
    pair = Pair(model, robot)
    assert tuple(model.joint(j).name for j in range(model.njnt)) == robot.joint_names
    check_dynamics(pair, 1e-9 if name == "Panda" else 1e-12)
    if base == "fixed":
        check_places(pair, 1e-12)


@pytest.mark.parametrize("file", READ)
def test_mujoco_refuses_only_what_the_writer_said_it_would(file, tmp_path):
    robot = hinge.load(FILES[file])
    bare = hinge.Robot(replace(robot.model, shapes={}))
    report = hinge.write(bare, tmp_path / "robot.xml")
    if {"unphysical", "massless"} & set(codes(report)):
        with pytest.raises(ValueError, match=r"inertia|mass"):
            mujoco.MjModel.from_xml_path(str(tmp_path / "robot.xml"))
    else:
        model = mujoco.MjModel.from_xml_path(str(tmp_path / "robot.xml"))
        assert model.nv == sum(joint.nv for joint in robot.model.joint)
        assert model.neq == len(robot.model.follows)


@pytest.mark.sampled(8)
@pytest.mark.parametrize("file", NESTED)
def test_an_mjcf_robot_comes_back(file, tmp_path):
    robot = hinge.load(NESTED[file])
    nested, report = again(robot, tmp_path, ".xml")
    same_names(robot, nested)
    same_dynamics(robot, nested)
    assert nested.body_names == robot.body_names
    np.testing.assert_allclose(nested.neutral(), robot.neutral(), rtol=0, atol=1e-15)
    assert set(codes(report)) <= {"mesh", "shape"}
    assert mujoco.MjModel.from_xml_path(str(tmp_path / "robot.xml")).nv == robot.nv
    flat, _ = again(robot, tmp_path, ".urdf", mimic="free", gravity=robot.model.gravity)
    same_names(robot, flat)
    same_dynamics(robot, flat)


def test_pinocchio_reads_what_is_written(tmp_path):
    """Its reader wants effort and velocity with limits, and damping or friction where there are dynamics."""
    pin = pytest.importorskip("pinocchio")
    options = {"lower": lambda j: -1.0, "upper": lambda j: 1.0, "armature": lambda j: 0.1}
    robot = seated(
        np.random.default_rng(7), ["revolute", "prismatic", "revolute", "cylindrical", "revolute"], **options
    )
    hinge.write(robot, tmp_path / "robot.urdf")
    model = pin.buildModelFromUrdf(str(tmp_path / "robot.urdf"))
    q = np.random.default_rng(8).uniform(-1, 1, robot.nq)
    order = [model.joints[model.getJointId(name)].idx_v for name in hinge.load(tmp_path / "robot.urdf").joint_names]
    theirs = pin.crba(model, model.createData(), q[np.argsort(order)])
    theirs = np.triu(theirs) + np.triu(theirs, 1).T
    ours = robot.mass_matrix(q, backend="interpret", joint_terms=())
    np.testing.assert_allclose(ours, theirs[np.ix_(order, order)], rtol=0, atol=1e-12 * np.abs(ours).max())


@pytest.mark.parametrize("seed", range(6))
def test_mujoco_reads_the_same_tree(seed, tmp_path):
    """Joints off their links' origins, several in a body, each with a reference."""
    rng = np.random.default_rng(seed)
    options = {"reference": lambda j: 0.3 if j.nq == 1 else None, "armature": lambda j: 0.1}
    robot = seated(rng, [str(kind) for kind in rng.permutation(MJCF)[:6]], **options)
    report = hinge.write(robot, tmp_path / "robot.xml")
    assert "massless" not in codes(report)
    model = mujoco.MjModel.from_xml_path(str(tmp_path / "robot.xml"))
    np.testing.assert_array_equal(model.qpos0, robot.neutral())
    pair = Pair(model, robot)
    check_dynamics(pair, 1e-11)
    for name in robot.body_names:
        b = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_BODY, name)
        np.testing.assert_allclose(pair.call("pose", pair.q, name)[:3, 3], pair.d.xpos[b], rtol=0, atol=1e-13)
