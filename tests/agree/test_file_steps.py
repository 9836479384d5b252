"""Steps of `physics="file"` are MuJoCo's: contacts, limits, friction, equalities, actuators, integrators together."""

import os
from pathlib import Path

import numpy as np
import pytest
from mujoco_pair import mujoco
from sweeps import swept

import hinge
from hinge.interop import mujoco as theirs

ROBOTS = Path(os.environ.get("HINGE_ROBOTS", Path(__file__).parents[3] / "shared" / "robots"))
FLOOR = '<worldbody><geom name="floor" type="plane" size="0 0 1" contype="7" conaffinity="7"/>'
EXACT = '<option tolerance="1e-15"/>'  # as far as Newton's method goes
FILES = ["unitree_go2/go2.xml", "anybotics_anymal_c/anymal_c.xml", "booster_t1/t1.xml", "agility_cassie/cassie.xml"]
HEAD = '<mujoco><option timestep="0.002" integrator="{}" cone="{}"/><worldbody><geom type="plane" size="0 0 1"/>'
SCENE = (
    HEAD
    + """
<body pos="0 0 .12"><freejoint/><geom type="box" size=".1 .08 .1" friction=".6 .01 .001" condim="4"/></body>
<body pos=".5 0 .5"><joint name="a" axis="0 1 0" damping=".2" frictionloss=".1" range="-1 1" limited="true"/>
<geom type="capsule" fromto="0 0 0 .3 0 0" size=".03"/><body pos=".3 0 0"><joint name="b" axis="0 1 0" stiffness="2"/>
<geom type="capsule" fromto="0 0 0 .25 0 0" size=".03" condim="6"/></body></body></worldbody>
<equality><joint joint1="a" joint2="b" polycoef="0 .5 0 0 0" solref=".05 1"/></equality>
<actuator><position joint="a" kp="3" kv=".4"/><motor joint="b" gear="2" ctrlrange="-1 1"/></actuator></mujoco>"""
)


def side_by_side(text, steps, start=None, ctrl=None):
    """The farthest positions and velocities are apart in so many steps, and how many contacts there were at most."""
    m, robot = mujoco.MjModel.from_xml_string(text), hinge.load(text)
    d, states, most = mujoco.MjData(m), theirs.states(robot, m), 0
    if start is not None:
        d.qpos[:] = start(m)
    d.ctrl[:] = ctrl = np.zeros(m.nu) if ctrl is None else ctrl
    q, qd = states.back(d.qpos, d.qvel)[:2]
    run = hinge.simulate(robot, steps * m.opt.timestep, q, qd, physics="file", ctrl=ctrl, backend="llvm")
    assert run.status == 0
    off = 0.0
    for k in range(steps):
        mujoco.mj_step(m, d)
        off, most = max(off, np.abs(run.q[k + 1] - states.back(d.qpos, d.qvel)[0]).max()), max(most, d.ncon)
    return off, most


@pytest.mark.sampled(2)
@pytest.mark.parametrize("cone", ["elliptic", "pyramidal"])
@pytest.mark.parametrize("integrator", ["Euler", "implicitfast"])
def test_all_that_a_file_says_moves_as_in_mujoco(integrator, cone):
    off, contacts = side_by_side(SCENE.format(integrator, cone), 60, ctrl=[0.4, -0.3])
    assert contacts > 3
    assert off < 1e-6


def home(m):
    """The first keyframe, a little above the floor where it does not touch it."""
    d = mujoco.MjData(m)
    d.qpos[:] = m.key_qpos[0] if m.nkey else m.qpos0
    while True:
        mujoco.mj_forward(m, d)
        if d.ncon or d.qpos[2] < 0.2:
            return d.qpos.copy()
        d.qpos[2] -= 0.002


def hills():
    """Terrain in place of the floor."""
    rows = np.add.outer(np.sin(np.arange(21) / 3.0), np.cos(np.arange(21) / 2.7))
    numbers = " ".join(f"{x:.6f}" for x in rows.ravel())
    return (
        f'<asset><hfield name="hills" nrow="21" ncol="21" size="2 2 .1 .2" elevation="{numbers}"/></asset>'
        '<worldbody><geom name="floor" type="hfield" hfield="hills" pos="0 0 -.05" contype="7" conaffinity="7"/>'
    )


@pytest.mark.skipif(not ROBOTS.exists(), reason="the robots of the menagerie are not here")
def test_a_robot_stands_on_terrain_as_in_mujoco():
    text = (ROBOTS / FILES[0]).read_text(encoding="utf-8").replace("<worldbody>", hills(), 1)
    off, contacts = side_by_side(text, 50, home)
    assert contacts > 3
    assert off < 1e-5


@pytest.mark.skipif(not ROBOTS.exists(), reason="the robots of the menagerie are not here")
@pytest.mark.parametrize("file", swept(FILES, FILES[:1].__contains__))
def test_robots_stand_as_in_mujoco(file):
    text = (ROBOTS / file).read_text(encoding="utf-8").replace("<worldbody>", FLOOR, 1)
    off, contacts = side_by_side(text, 100, home)
    assert contacts
    assert off < 1e-5


def contact_forces(m, d):
    """What MuJoCo says of the contacts of a state: points, and forces on the second geom, in space."""
    points, forces = d.contact.pos.copy(), np.empty((d.ncon, 3))
    for k in range(d.ncon):
        told = np.zeros(6)
        mujoco.mj_contactForce(m, d, k, told)
        forces[k] = told[:3] @ d.contact.frame[k].reshape(3, 3)
    return points, forces


@pytest.mark.sweep
@pytest.mark.skipif(not ROBOTS.exists(), reason="the robots of the menagerie are not here")
def test_contact_forces_of_a_run_are_those_of_mujoco():
    text = (ROBOTS / FILES[0]).read_text(encoding="utf-8").replace("<worldbody>", EXACT + FLOOR, 1)
    m, robot = mujoco.MjModel.from_xml_string(text), hinge.load(text)
    d, states = mujoco.MjData(m), theirs.states(robot, m)
    d.qpos[:] = home(m)
    q, qd = states.back(d.qpos, d.qvel)[:2]
    run = hinge.simulate(robot, 60 * m.opt.timestep, q, qd, physics="file", backend="llvm")
    made = run.contacts
    for k in range(0, 61, 5):
        d.qpos[:], d.qvel[:] = states.there(run.q[k], run.qd[k])[:2]
        mujoco.mj_forward(m, d)
        points, forces = contact_forces(m, d)
        there = made.pairs[k] >= 0
        assert there.sum() == d.ncon > 0
        ours, total = made.forces[k, there], np.abs(forces).sum()
        np.testing.assert_allclose(ours.sum(axis=0), forces.sum(axis=0), atol=1e-9 * total)
        torque = np.cross(made.points[k, there], ours).sum(axis=0)
        np.testing.assert_allclose(torque, np.cross(points, forces).sum(axis=0), atol=1e-9 * total)
