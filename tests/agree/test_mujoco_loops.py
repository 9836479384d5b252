"""Equalities of MJCF files as loops, against MuJoCo's with stiff springs."""

import numpy as np
import pytest

import hinge

mujoco = pytest.importorskip("mujoco")

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


def test_connect_and_joint_equalities_move_as_in_mujoco_in_the_stiff_limit(monkeypatch):
    monkeypatch.setenv("HINGE_BACKEND", "interpret")
    robot = hinge.load(XML, loops=True)
    assert [loop.name for loop in robot.loops] == ["pin", "gear"]
    model = mujoco.MjModel.from_xml_string(XML)
    data = mujoco.MjData(model)
    q = robot.neutral()
    np.testing.assert_allclose(q, model.qpos0)
    assert np.abs(robot.loop_gap(q)).max() < 1e-12
    q = robot.assemble(q + [0.3, 0.0, 0.0, 0.0], hold=["j1"], strict=True).q
    rng = np.random.default_rng(0)
    qd, tau = rng.normal(size=(2, 4))
    A = robot.loop_jacobian(q)
    qd = qd - np.linalg.pinv(A, rcond=1e-9) @ (A @ qd)
    qdd, _ = robot.loop_dynamics(q, qd, tau)
    data.qpos[:], data.qvel[:], data.qfrc_applied[:] = q, qd, tau
    mujoco.mj_forward(model, data)
    np.testing.assert_allclose(qdd, data.qacc, rtol=5e-3, atol=5e-3 * np.abs(qdd).max())


def test_a_weld_is_a_loop_without_freedoms(monkeypatch):
    monkeypatch.setenv("HINGE_BACKEND", "interpret")
    text = XML.replace("<connect", '<weld name="held" body1="finger"/><connect')
    robot = hinge.load(text, loops=True)
    assert robot.loops[0].size == 6
    assert np.abs(robot.loop_gap(robot.neutral())).max() < 1e-12
    assert robot.mobility(robot.neutral()).freedoms == 0


def test_other_equalities_are_refused_by_name():
    text = XML.replace("<connect", '<tendon name="pull" tendon1="t"/><connect').replace(
        "<equality>", '<tendon><fixed name="t"><joint joint="j1" coef="1"/></fixed></tendon><equality>'
    )
    with pytest.raises(hinge.NotCovered, match="equality <tendon> 'pull' cannot be a loop"):
        hinge.load(text, loops=True)
