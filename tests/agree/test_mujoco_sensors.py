"""Sensors beside MuJoCo's: gyro, accelerometer, touch, force and torque of one scene, by the soft law."""

import numpy as np
from mujoco_pair import mujoco

import hinge
from hinge.interop import mujoco as theirs

SCENE = """<mujoco><option cone="elliptic"/><worldbody><geom type="plane" size="0 0 1" condim="6"/>
<body name="box" pos="0 0 .1"><freejoint/><geom type="box" size=".1 .08 .1" condim="6" friction=".6 .05 .01"/>
<site name="chip" pos=".03 -.02 .05" euler="20 30 40"/><site name="skin" type="box" size=".2 .2 .2"/></body>
<body name="upper" pos=".6 0 .24"><joint name="shoulder" axis="0 1 0" armature=".1" damping=".3"/>
<geom type="capsule" fromto="0 0 0 .3 0 0" size=".03" contype="0" conaffinity="0"/>
<body name="lower" pos=".3 0 0" euler="0 40 0"><joint name="elbow" axis="0 1 0" damping=".2"/>
<geom type="capsule" fromto="0 0 0 .25 0 0" size=".03" condim="6" friction=".8 .1 .1"/>
<site name="wrist" pos=".02 .01 .03" euler="10 20 30"/><site name="tip" type="sphere" pos=".25 0 0" size=".1"/>
</body></body></worldbody>
<sensor><gyro site="chip"/><accelerometer site="chip"/><touch site="skin"/>
<gyro site="wrist"/><accelerometer site="wrist"/><touch site="tip"/><force site="wrist"/><torque site="wrist"/>
</sensor></mujoco>"""


def test_they_read_what_mujoco_s_read():
    m, robot = mujoco.MjModel.from_xml_string(SCENE), hinge.load(SCENE)
    m.opt.tolerance, m.opt.iterations = 1e-18, 200
    states, rng, touched = theirs.states(robot, m), np.random.default_rng(4), 0
    for _ in range(20):
        d = mujoco.MjData(m)
        d.qpos[:] = [0, 0, 0.0995, 1, 0, 0, 0, 0.0, rng.uniform(0.27, 0.34)]
        d.qvel[:], d.qfrc_applied[:] = 0.3 * rng.normal(size=8), rng.normal(size=8)
        mujoco.mj_forward(m, d)
        read = np.split(d.sensordata, np.cumsum(m.sensor_dim)[:-1])
        s = states.back(d.qpos, d.qvel, d.qacc, d.qfrc_applied + d.qfrc_passive)
        step = robot.contact_step(s.q, s.v, s.tau, m.opt.timestep, contacts="file", law="soft")
        wrench = robot.joint_wrench(s.q, s.v, s.a, "wrist", external=step.wrenches, external_frame="base")
        chip, wrist = (np.split(robot.imu(s.q, s.v, s.a, site), 2) for site in ("chip", "wrist"))
        for mine, other in zip(
            [*chip, step.touch["box"], *wrist, step.touch["lower"], wrench[3:], wrench[:3]], read, strict=True
        ):
            np.testing.assert_allclose(mine, np.squeeze(other), rtol=1e-6, atol=1e-6)
        touched += step.touch["lower"] > 0.0
    assert 3 < touched < 20
