"""Steps of the soft law are MuJoCo's, with its contacts found anew for our states."""

import numpy as np
import pytest
from mujoco_pair import Pair, mujoco
from soft_law_of import law_of, noted, step_kernel
from test_soft_rows import SCENE

import hinge

STEPS, ROOM = 40, 24
SERVO = '<actuator><position joint="j4" kp="20" kv="3"/></actuator></mujoco>'


@pytest.mark.sampled(1)
@pytest.mark.parametrize(
    ("cone", "integrator"), [("elliptic", "Euler"), ("pyramidal", "Euler"), ("pyramidal", "implicitfast")]
)
def test_steps_are_those_of_mujoco(cone, integrator):
    text = SCENE.format(cone=cone).replace("<option ", f'<option integrator="{integrator}" tolerance="1e-14" ')
    m = mujoco.MjModel.from_xml_string(text.replace("</mujoco>", SERVO))
    robot, v4 = hinge.load(text), m.jnt_dofadr[m.joint("j4").id]
    theirs, mine, rng = mujoco.MjData(m), mujoco.MjData(m), np.random.default_rng(3)
    mujoco.mj_integratePos(m, theirs.qpos, 0.05 * rng.normal(size=m.nv), 1.0)
    theirs.qvel[:], theirs.ctrl[0] = 0.3 * rng.normal(size=m.nv), 0.3
    mine.qpos[:], mine.qvel[:], mine.ctrl[:] = theirs.qpos, theirs.qvel, theirs.ctrl

    # every pair that comes to touch, from MuJoCo's own run
    geoms, ahead = {}, mujoco.MjData(m)
    ahead.qpos[:], ahead.qvel[:], ahead.ctrl[:] = theirs.qpos, theirs.qvel, theirs.ctrl
    for _ in range(STEPS):
        mujoco.mj_step(m, ahead)
        noted(m, ahead, geoms)
    h, slope = float(m.opt.timestep), np.diag(m.dof_damping)
    slope[v4, v4] += 3.0 if integrator == "implicitfast" else 0.0
    run = step_kernel(robot, law_of(m, robot, geoms), ROOM, h, slope.tolist(), integrator == "implicitfast", "llvm")

    pair, guess = Pair.__new__(Pair), np.zeros(m.nv)
    pair.m, pair.d = m, mine
    for _ in range(STEPS):
        mujoco.mj_step(m, theirs)
        mujoco.mj_forward(m, mine)
        pair._turn(mine.qvel)
        touches = np.zeros((ROOM, 11))
        listed = noted(m, mine, geoms)
        touches[: len(listed)] = np.reshape(listed, (-1, 11))
        tau = np.linalg.solve(pair.T.T, mine.qfrc_passive + mine.qfrc_actuator)
        q, qd, guess = run(pair.ours(mine.qpos), pair.T @ mine.qvel, tau, touches.ravel(), [len(listed)], guess)
        mine.qpos[:] = pair.ours(q, 3)
        mujoco.mj_kinematics(m, mine)
        pair._turn(mine.qvel)
        mine.qvel[:] = np.linalg.solve(pair.T, qd)
    np.testing.assert_allclose(mine.qpos, theirs.qpos, atol=1e-9)
    np.testing.assert_allclose(mine.qvel, theirs.qvel, atol=1e-7)
