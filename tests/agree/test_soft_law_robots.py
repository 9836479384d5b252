"""The soft law given MuJoCo's own contacts: accelerations and forces of robots, on the ground and in themselves."""

import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from mujoco_pair import Pair, mujoco
from soft_law_of import kernel, law_of, noted
from sweeps import swept

import hinge

ROBOTS = Path(os.environ.get("HINGE_ROBOTS", Path(__file__).parents[3] / "shared" / "robots"))
FILES = ["unitree_go2/go2.xml", "anybotics_anymal_c/anymal_c.xml", "booster_t1/t1.xml", "agility_cassie/cassie.xml",
         "robotiq_2f85/2f85.xml", "shadow_hand/right_hand.xml"]  # fmt: skip
STATES, STILL, TOL = 1000, 1e-18, 1e-6
pytestmark = pytest.mark.skipif(not ROBOTS.exists(), reason="the robots of the menagerie are not here")


def on_the_ground(file):
    """MuJoCo's model of a robot with a plane that everything touches, its solver as exact as it gets."""
    spec = mujoco.MjSpec.from_file(str(ROBOTS / file))
    spec.worldbody.add_geom(type=mujoco.mjtGeom.mjGEOM_PLANE, size=[0, 0, 1], contype=7, conaffinity=7)
    m = spec.compile()
    m.opt.tolerance, m.opt.iterations, m.opt.ls_iterations = STILL, 200, 200
    m.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_ISLAND)
    return m


def states(m, n, seed=1):
    """Random states about where the file has the robot stand, most with their lowest shape about the ground."""
    d, rng = mujoco.MjData(m), np.random.default_rng(seed)
    solid = (m.geom_rbound > 0) & ((m.geom_contype | m.geom_conaffinity) > 0)
    for _ in range(n):
        mujoco.mj_resetData(m, d)
        key = rng.integers(m.nkey + 1)
        d.qpos[:] = m.key_qpos[key] if key < m.nkey else m.qpos0
        mujoco.mj_integratePos(m, d.qpos, rng.normal(size=m.nv) * rng.choice([0.05, 0.3, 0.8]), 1.0)
        mujoco.mj_kinematics(m, d)
        if m.jnt_type[0] == mujoco.mjtJoint.mjJNT_FREE:
            d.qpos[2] += rng.uniform(-0.03, 0.01) - min(d.geom_xpos[solid, 2] - 0.6 * m.geom_rbound[solid])
        d.qvel[:] = rng.normal(size=m.nv) * rng.choice([0.0, 0.1, 1.0])
        d.qfrc_applied[:] = rng.normal(size=m.nv) * rng.choice([0.0, 1.0, 5.0])
        mujoco.mj_forward(m, d)
        yield d


@pytest.mark.sampled(1)
@pytest.mark.parametrize("file", swept(FILES, lambda file: "go2" in file or "2f85" in file))
def test_accelerations_and_forces_are_those_of_mujoco(file):
    m, robot = on_the_ground(file), hinge.load(ROBOTS / file)
    pair = Pair.__new__(Pair)
    pair.m, geoms, given, wanted = m, {}, [], []
    for d in states(m, STATES):
        pair.d = d
        pair._turn(d.qvel)
        push = np.linalg.solve(pair.T.T, d.qfrc_passive + d.qfrc_applied + d.qfrc_actuator)
        force = np.zeros((d.ncon, 6))
        for k in range(d.ncon):
            mujoco.mj_contactForce(m, d, k, force[k])
        given.append((pair.ours(d.qpos), pair.T @ d.qvel, push, noted(m, d, geoms)))
        along = np.linalg.solve(pair.T.T, d.qfrc_constraint)
        wanted.append((pair.T @ d.qacc, force[[not c.exclude for c in d.contact]], along))
    law = replace(law_of(m, robot, geoms), tolerance=STILL)
    room = max(len(touches) for *_, touches in given)
    touches, count = np.zeros((STATES, room, 11)), np.array([[len(t)] for *_, t in given], float)
    for row, (*_, listed) in zip(touches, given, strict=True):
        row[: len(listed)] = np.reshape(listed, (-1, 11))
    q, qd, tau = (np.array([one[k] for one in given]) for k in range(3))
    run = kernel(robot, law, room, float(m.opt.timestep))
    a, contact, along, _, settled, _ = run(q, qd, tau, touches.reshape(STATES, -1), count, np.zeros_like(qd))
    assert settled.all()
    assert count.sum() > 100
    for k, (qacc, force, generalised) in enumerate(wanted):
        assert np.abs(a[k] - qacc).max() <= TOL * np.abs(qacc).max()
        assert np.abs(along[k] - generalised).max() <= TOL * max(np.abs(generalised).max(), 1e-3)
        assert np.abs(contact[k][: len(force)] - force).max(initial=0.0) <= TOL * max(
            np.abs(force).max(initial=0.0), 1e-3
        )
