"""Robots with loops written to files: what MJCF can say comes back the same, what no format can is a finding."""

from dataclasses import replace

import numpy as np
import pytest
from loop_states import moving

import hinge

pytestmark = pytest.mark.usefixtures("plain_interpreter")


def same_motion(robot, again, q):
    qd, tau = moving(robot, q)
    for one, two in zip(robot.loop_dynamics(q, qd, tau), again.loop_dynamics(q, qd, tau), strict=True):
        np.testing.assert_allclose(one, two, rtol=1e-9, atol=1e-9 * np.abs(one).max())


@pytest.mark.parametrize("kind", ["spherical", "fixed"])
def test_spherical_and_fixed_loops_come_back_from_mjcf(kind, tmp_path):
    rng = np.random.default_rng(2)
    tree = hinge.samples.chain(rng, 7)
    q = tree.random_state(rng, 1)[0][0]
    held = np.linalg.inv(tree.pose(q, "link1")) @ tree.pose(q, "link7")
    robot = tree.close(kind, "link1", "link7", placement_a=held, name="grip")
    report = hinge.write(robot, tmp_path / "r.xml")
    assert not [f for f in report if f.code == "loop"]
    again = hinge.load(tmp_path / "r.xml", loops=True)
    assert [(x.name, x.joint.kind, x.a, x.b) for x in again.loops] == [("grip", kind, "grip.a", "grip.b")]
    np.testing.assert_allclose(again.loop_gap(q), robot.loop_gap(q), atol=1e-12)
    same_motion(robot, again, q)
    hinge.write(again, tmp_path / "s.xml")  # and once more: nothing is said twice
    assert len(hinge.load(tmp_path / "s.xml", loops=True).loops) == 1


def test_a_written_loop_is_what_mujoco_reads(tmp_path):
    mujoco = pytest.importorskip("mujoco")
    robot = hinge.samples.stewart_platform()
    report = hinge.write(robot, tmp_path / "r.xml")
    assert not [f for f in report if f.code == "loop"]
    model = mujoco.MjModel.from_xml_path(str(tmp_path / "r.xml"))
    data = mujoco.MjData(model)
    assert model.neq == 6
    mujoco.mj_forward(model, data)
    sites = [[data.site(f"ball{k + 1}.{side}").xpos for k in range(6)] for side in "ab"]
    np.testing.assert_allclose(*sites, atol=1e-9)


def test_joints_in_step_come_back(tmp_path):
    text = """<mujoco><worldbody><body name="a"><joint name="j1" axis="0 1 0"/><geom size=".1" pos=".3 0 0"/></body>
    <body name="b" pos="0 1 0"><joint name="j2" axis="0 1 0" ref="0.2"/><geom size=".1" pos=".3 0 0"/></body>
    </worldbody><equality><joint name="gear" joint1="j2" joint2="j1" polycoef="0 0.5 0.2 0 0"/></equality></mujoco>"""
    robot = hinge.load(text, loops=True)
    plain = hinge.Robot(replace(robot.model, extras={}))  # as if it had come from no file
    hinge.write(plain, tmp_path / "r.xml")
    again = hinge.load(tmp_path / "r.xml", loops=True)
    assert again.loops == robot.loops
    same_motion(robot, again, robot.assemble([0.3, 0.0]).q)


@pytest.mark.parametrize(("suffix", "format"), [(".urdf", "URDF"), (".xml", "MJCF")])
def test_a_loop_that_a_format_cannot_say_is_a_finding(suffix, format, tmp_path):
    report = hinge.write(hinge.samples.four_bar(), tmp_path / f"r{suffix}")
    (found,) = [f for f in report if f.code == "loop"]
    assert f"loop 'pin': {format} has no word for a revolute loop; it was left out" in found.what
    assert found.severity == "warning"


def test_what_drives_a_loop_is_not_written(tmp_path):
    arm = hinge.samples.planar_2r().close(
        "spherical", "base", "hand", placement_a=[1.5, 0, 0], name="pin", powered=True
    )
    assert "loop 'pin': MJCF has no word for what drives it." in str(hinge.write(arm, tmp_path / "r.xml"))
