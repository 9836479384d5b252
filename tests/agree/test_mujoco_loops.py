"""Equalities of MJCF files as loops, against MuJoCo's with stiff springs.

MuJoCo lets a constraint give way by R times its force, R in proportion to an estimate of the inverse inertia there.
With the estimates made smaller its accelerations have to come nearer to ours in the same proportion.
"""

import os
from pathlib import Path

import numpy as np
import pytest
from loop_states import moving
from mujoco_pair import Pair, mujoco

import hinge

ROBOTS = Path(os.environ.get("HINGE_ROBOTS", Path(__file__).parents[3] / "shared" / "robots"))

XML = """<mujoco><option gravity="0 0 -9.81"><flag contact="disable"/></option>
<compiler angle="radian"/><worldbody>
<body name="crank"><joint name="j1" axis="0 -1 0"/><geom type="capsule" size=".03" fromto="0 0 0 1 0 0" density="400"/>
 <body name="coupler" pos="1 0 0"><joint name="j2" axis="0 -1 0"/>
  <geom type="capsule" size=".03" fromto="0 0 0 2 0 1" density="400"/></body></body>
<body name="rocker" pos="2.2 0 0"><joint name="j3" axis="0 -1 0"/>
 <geom type="capsule" size=".03" fromto="0 0 0 .8 0 1" density="400"/></body>
<body name="finger" pos="0 1 0"><joint name="j4" axis="0 -1 0" ref="0.2"/><geom size=".1" pos=".3 0 0"/></body>
</worldbody><equality>
<connect name="pin" body1="coupler" body2="rocker" anchor="2 0 1" solref="-1e9 -3e4" solimp="0.9999 0.9999 1e-6"/>
<joint name="gear" joint1="j4" joint2="j1" polycoef="0 0.5 0.2 0 0" solref="-1e9 -3e4" solimp="0.9999 0.9999 1e-6"/>
</equality></mujoco>"""


def off_by(text, robot, q, seed=0, speed=1.0):
    """How far MuJoCo's accelerations are from ours, relative, for softer and stiffer constraints."""
    model = mujoco.MjModel.from_xml_string(text)
    pair = Pair(model, robot)
    qd, push = moving(robot, q, seed)
    qd, tau = speed * qd, robot.inverse_dynamics(q, speed * qd, 10.0 * push)
    wanted, _ = robot.loop_dynamics(q, qd, tau)
    pair.stand(q, qd, tau)
    off = mujoco.mjtDisableBit
    model.opt.disableflags = int(
        off.mjDSBL_CONTACT | off.mjDSBL_LIMIT | off.mjDSBL_FRICTIONLOSS | off.mjDSBL_SPRING | off.mjDSBL_ACTUATION
    )
    model.opt.tolerance, model.opt.iterations = 0.0, 200
    model.eq_solref[:], model.eq_solimp[:] = [0.02, 1.0], [0.9999, 0.9999, 1e-3, 0.5, 2.0]
    found = []
    for _ in range(4):
        mujoco.mj_forward(model, pair.d)
        found.append(np.abs(pair.T @ pair.d.qacc + pair.rate - wanted).max() / np.abs(wanted).max())
        model.body_invweight0[:] *= 0.01
        model.dof_invweight0[:] *= 0.01
    return np.array(found)


def test_connect_and_joint_equalities_move_as_in_mujoco_in_the_stiff_limit(monkeypatch):
    monkeypatch.setenv("HINGE_BACKEND", "interpret")
    robot = hinge.load(XML, loops=True)
    assert [loop.name for loop in robot.loops] == ["pin", "gear"]
    assert "equality" not in {f.code for f in robot.report}
    q = robot.neutral()
    np.testing.assert_allclose(q, mujoco.MjModel.from_xml_string(XML).qpos0)
    assert np.abs(robot.loop_gap(q)).max() < 1e-12
    q = robot.assemble(q + [0.3, 0.0, 0.0, 0.0], hold=["j1"], strict=True).q
    off = off_by(XML, robot, q, speed=0.0)
    np.testing.assert_allclose(off[1:] / off[:-1], 0.01, rtol=0.3)
    assert off[-1] < 1e-8
    # in motion MuJoCo leaves out how a curved polynomial's slope changes; a straight one has no such term
    assert off_by(XML, robot, q)[-1] > 1e-4
    straight = XML.replace("0 0.5 0.2 0 0", "0 0.5 0 0 0")
    robot = hinge.load(straight, loops=True)
    q = robot.assemble(q, hold=["j1"], strict=True).q
    assert off_by(straight, robot, q)[-1] < 1e-8


def test_a_curved_joint_equality_has_the_bias_that_differences_say(monkeypatch):
    monkeypatch.setenv("HINGE_BACKEND", "interpret")
    robot = hinge.load(XML, loops=True)
    q, qd = np.random.default_rng(2).normal(size=(2, 4))
    gaps = [robot.loop_gap(q + qd * t) for t in (-1e-4, 0.0, 1e-4)]
    np.testing.assert_allclose(robot.loop_jacobian(q) @ qd, (gaps[2] - gaps[0]) / 2e-4, atol=1e-7)
    np.testing.assert_allclose(robot.loop_bias(q, qd), (gaps[2] - 2 * gaps[1] + gaps[0]) / 1e-8, atol=1e-5)
    assert abs(robot.loop_bias(q, qd)[-1]) > 0.1


@pytest.mark.sampled(1)
@pytest.mark.parametrize(
    ("file", "loops", "freedoms", "within"),
    [("robotiq_2f85/2f85.xml", 3, 3, 1e-8), ("agility_cassie/cassie.xml", 4, 22, 1e-6)],
)
def test_real_robots_with_loops_move_as_in_mujoco_in_the_stiff_limit(file, loops, freedoms, within, monkeypatch):
    path = ROBOTS / file
    if not path.exists():
        pytest.skip(f"{file} of the MuJoCo Menagerie is not here: HINGE_ROBOTS is the folder that has it")
    monkeypatch.setenv("HINGE_BACKEND", "interpret")
    robot = hinge.load(path, loops=True)
    rng = np.random.default_rng(0)
    q = robot.assemble(robot.integrate(robot.neutral(), 0.1 * rng.normal(size=robot.nv)), strict=True).q
    assert len(robot.loops) == loops
    assert robot.mobility(q).freedoms == freedoms
    off = off_by(path.read_text(), robot, q)
    np.testing.assert_allclose(off[2:] / off[1:-1], 0.01, rtol=0.3)
    assert off[-1] < within


def test_a_weld_is_a_loop_without_freedoms(monkeypatch):
    monkeypatch.setenv("HINGE_BACKEND", "interpret")
    text = XML.replace("<connect", '<weld name="held" body1="finger"/><connect')
    robot = hinge.load(text, loops=True)
    assert robot.loops[0].size == 6
    assert np.abs(robot.loop_gap(robot.neutral())).max() < 1e-12
    assert robot.mobility(robot.neutral()).freedoms == 0


@pytest.mark.parametrize("joints", ['joint1="ball" joint2="j"', 'joint1="j" joint2="ball"'])
def test_an_equality_of_a_ball_joint_is_refused_by_name(joints):
    text = f"""<mujoco><worldbody><body><joint name="ball" type="ball"/><geom size=".1" mass="1"/>
    <body pos="0 0 .3"><joint name="j"/><geom size=".1" mass="1"/></body></body></worldbody>
    <equality><joint name="gear" {joints}/></equality></mujoco>"""
    with pytest.raises(hinge.NotCovered, match="equality 'gear' ties joint 'ball', which has several coordinates"):
        hinge.load(text, loops=True)


def test_other_equalities_are_refused_by_name():
    text = XML.replace("<connect", '<tendon name="pull" tendon1="t"/><connect').replace(
        "<equality>", '<tendon><fixed name="t"><joint joint="j1" coef="1"/></fixed></tendon><equality>'
    )
    with pytest.raises(hinge.NotCovered, match="equality <tendon> 'pull' cannot be a loop"):
        hinge.load(text, loops=True)
