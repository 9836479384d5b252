"""Files of Gymnasium and dm_control with `physics="file"`: a step from any state is MuJoCo's, or the file is refused.

Left out are states with contacts that docs/contact.md says have other points than MuJoCo's, which a search finds, and
those that rounding makes or unmakes.
"""

import sysconfig
from pathlib import Path

import numpy as np
import pytest
from mujoco_pair import mujoco

import hinge
from hinge.interop import mujoco as theirs

ROOT = Path(sysconfig.get_path("purelib"))
GYMNASIUM = [f"gymnasium/envs/mujoco/assets/{name}.xml" for name in ("hopper", "reacher", "swimmer")]
SUITE = [f"dm_control/suite/{name}.xml" for name in ("acrobot", "cheetah", "manipulator", "quadruped", "walker")]
FILES = [file for file in GYMNASIUM + SUITE if (ROOT / file).exists()]
STATES = 12
GEOM = mujoco.mjtGeom
PLANE, MESH, CAPSULE_AND_BOX = GEOM.mjGEOM_PLANE, GEOM.mjGEOM_MESH, {int(GEOM.mjGEOM_CAPSULE), int(GEOM.mjGEOM_BOX)}
SEARCHED = {int(kind) for kind in (GEOM.mjGEOM_CYLINDER, GEOM.mjGEOM_ELLIPSOID, MESH)}
EDGE = 1e-9  # m


def others(pair):
    """Whether contacts of these kinds of geoms have other points than MuJoCo's."""
    return pair == CAPSULE_AND_BOX or MESH in pair or bool(pair & SEARCHED and PLANE not in pair)


def starts(m, d):
    """Put MuJoCo into states about those of the file, at rest and moving, with controls in their ranges."""
    rng = np.random.default_rng(0)
    low, high = np.where(m.actuator_ctrllimited[:, None], m.actuator_ctrlrange, [-1.0, 1.0]).T
    for k in range(STATES):
        mujoco.mj_resetData(m, d)
        if m.nkey and k % 2:
            mujoco.mj_resetDataKeyframe(m, d, rng.integers(m.nkey))
        size = (0.0, 0.01, 0.1, 0.5)[k % 4]
        mujoco.mj_integratePos(m, d.qpos, rng.normal(size=m.nv) * size, 1.0)
        mujoco.mj_normalizeQuat(m, d.qpos)
        d.qvel[:], d.ctrl[:] = rng.normal(size=m.nv) * 4 * size, rng.uniform(low, high)
        mujoco.mj_forward(m, d)
        kinds = [{int(m.geom_type[g]) for g in (c.geom1, c.geom2)} for c in d.contact]
        if not any(map(others, kinds)) and not np.any(np.abs(d.contact.dist) < EDGE):
            d.qacc_warmstart[:] = 0.0
            yield


@pytest.mark.sampled(1)
@pytest.mark.skipif(not FILES, reason="neither gymnasium nor dm_control is installed")
@pytest.mark.parametrize("file", FILES)
def test_a_step_is_that_of_mujoco_or_is_refused_by_name(file):
    m, robot = mujoco.MjModel.from_xml_path(str(ROOT / file)), hinge.load(ROOT / file)
    m.opt.tolerance, m.opt.iterations, m.opt.solver = 0.0, 1000, mujoco.mjtSolver.mjSOL_NEWTON
    d, states = mujoco.MjData(m), theirs.states(robot, m)
    given, ctrl, ends = [], [], []
    for _ in starts(m, d):
        given.append(states.back(d.qpos, d.qvel)[:2])
        ctrl.append(d.ctrl.copy())
        mujoco.mj_step(m, d)
        ends.append(states.back(d.qpos, d.qvel)[1])
    q, qd = (np.array([one[k] for one in given]).reshape(len(given), -1) for k in (0, 1))
    ruled = {"ctrl": np.array(ctrl)[:, None]} if m.nu else {}
    if robot.model.physics.left_out:
        with pytest.raises(hinge.NotCovered) as caught:
            hinge.rollout(robot, robot.neutral(), np.zeros(m.nv), 1, m.opt.timestep, physics="file")
        assert all(f"{feature}: " in str(caught.value) for feature, _ in robot.model.physics.left_out)
        return
    assert len(given) > STATES // 3
    run = hinge.rollout(robot, q, qd, 1, m.opt.timestep, physics="file", **ruled)
    largest = 1.0 + np.abs(ends).max(axis=1, keepdims=True)
    assert np.max(np.abs(run.qd[:, -1] - ends) / largest) < 1e-6
