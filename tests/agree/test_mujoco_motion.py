"""Against MuJoCo in motion: the same robot, torques and step, without contacts and constraints, Runge-Kutta in both.

For joints with one coordinate the two methods are the same to the last letter, and differ by rounding. Quaternions the
two move in ways of their own, so a free body differs by the order of the method.
"""

from pathlib import Path

import numpy as np
import pytest

import hinge

mujoco = pytest.importorskip("mujoco", reason="MuJoCo is not installed")


def theirs(path_or_text, h):
    """MuJoCo's model with nothing in it that hinge leaves out, but damping."""
    text = str(path_or_text)
    load = mujoco.MjModel.from_xml_string if text.startswith("<") else mujoco.MjModel.from_xml_path
    m = load(text)
    bit = mujoco.mjtDisableBit
    m.opt.disableflags |= int(bit.mjDSBL_CONSTRAINT | bit.mjDSBL_SPRING | bit.mjDSBL_ACTUATION)
    m.opt.integrator, m.opt.timestep = mujoco.mjtIntegrator.mjINT_RK4, h
    m.opt.density = m.opt.viscosity = 0.0
    m.opt.wind[:] = 0.0
    return m


def run_theirs(m, qpos, qvel, tau):
    """States after each row of torques, each held over a step."""
    d = mujoco.MjData(m)
    d.qpos[:], d.qvel[:] = qpos, qvel
    made = []
    for row in tau:
        d.qfrc_applied[:] = row
        mujoco.mj_step(m, d)
        made.append((d.qpos.copy(), d.qvel.copy()))
    return (np.array(x) for x in zip(*made, strict=True))


def asset(package, file):
    found = pytest.importorskip(package, reason=f"{package} is not installed")
    return Path(found.__file__).parent / file


ARMS = {
    "pusher": ("gymnasium", "envs/mujoco/assets/pusher_v5.xml"),
    "reacher": ("gymnasium", "envs/mujoco/assets/reacher.xml"),
    "acrobot": ("dm_control", "suite/acrobot.xml"),
}


@pytest.mark.sampled(1)
@pytest.mark.parametrize("name", ARMS)
def test_an_arm_moves_the_same_for_ten_seconds(name):
    """Damping is in on both sides, and moderate torques, so that rounding is not blown up beyond all bounds."""
    path, h, steps = asset(*ARMS[name]), 2e-3, 5000
    m, robot = theirs(path, h), hinge.load(path)
    assert (m.nq, m.nv) == (robot.nq, robot.nv)
    rng = np.random.default_rng(0)
    size = np.diag(robot.mass_matrix(robot.neutral()))
    tau = size * np.sin(h * np.arange(steps)[:, None] * rng.uniform(1, 4, m.nv) + rng.uniform(0, 6, m.nv))
    qd = 0.1 * rng.normal(size=m.nv)
    qpos, qvel = run_theirs(m, m.qpos0, qd, tau)
    run = hinge.simulate(robot, steps * h, m.qpos0, qd, tau, step=h, joint_terms=("armature", "damping"))
    assert (run.status == 0).all()
    moved = np.abs(qpos - m.qpos0).max()
    assert moved > 0.3
    np.testing.assert_allclose(run.q[1:], qpos, rtol=0, atol=1e-8)
    np.testing.assert_allclose(run.qd[1:], qvel, rtol=0, atol=1e-7)


BODY = """<mujoco><option gravity="0 0 -2"/><worldbody><body name="brick"><freejoint/>
<inertial pos="0.02 0 0.01" mass="2" diaginertia="0.02 0.03 0.04"/></body></worldbody></mujoco>"""


def brick(h, seconds=10.0):
    """The end of a tumbling brick's flight by MuJoCo and by hinge, as rotation vector and position between them."""
    m, robot = theirs(BODY, h), hinge.load(BODY)
    steps = round(seconds / h)
    w, v = np.array([0.5, 1.5, 0.2]), np.array([0.1, 0.0, 8.0])
    qpos, _ = run_theirs(m, m.qpos0, np.concatenate([v, w]), np.zeros((steps, 6)))
    run = hinge.simulate(robot, seconds, qd0=np.concatenate([w, v]), step=h, record="last")
    fine = hinge.simulate(robot, seconds, qd0=np.concatenate([w, v]), method="dopri5", rtol=1e-13, atol=1e-13,
                          record="last")  # fmt: skip
    other = np.roll(qpos[-1], -3)
    q, exact = run.final[0], fine.final[0]
    return np.abs(robot.difference(other, q)).max(), np.abs(robot.difference(exact, q)).max()


def test_a_free_body_moves_the_same_to_the_order_of_the_method():
    coarse, fine = brick(4e-3), brick(2e-3)
    assert coarse[0] < 1e-8
    assert 13.0 < coarse[0] / fine[0] < 19.0
    assert 13.0 < coarse[1] / fine[1] < 19.0  # and both vanish towards the solution
