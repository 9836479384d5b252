"""A MuJoCo model beside hinge's robot, in the same state.

MuJoCo's free joint has the position first and a world-frame linear velocity before a body-frame angular one; hinge's
has the quaternion first and everything in body coordinates. All other coordinates are the same, in the same order.
"""

import numpy as np
import pytest
from closeness import close

import hinge

mujoco = pytest.importorskip("mujoco", reason="MuJoCo is not installed")


class Pair:
    """A MuJoCo model in a random state, and hinge's robot in the same: qd = T qvel, with `rate` for T's own change."""

    def __init__(self, model, robot, seed=5):
        self.m, self.robot, self.d = model, robot, mujoco.MjData(model)
        rng = np.random.default_rng(seed)
        self.d.qpos[:] = model.qpos0
        mujoco.mj_integratePos(model, self.d.qpos, rng.uniform(-2, 2, model.nv), 1.0)
        self.d.qvel[:], self.d.qfrc_applied[:] = rng.normal(size=(2, model.nv))
        off = mujoco.mjtDisableBit
        model.opt.disableflags |= int(off.mjDSBL_CONSTRAINT | off.mjDSBL_SPRING | off.mjDSBL_ACTUATION)
        model.opt.enableflags |= int(mujoco.mjtEnableBit.mjENBL_ENERGY)
        # what hinge keeps as data only
        model.dof_damping[:] = model.actuator_damping[:] = model.body_gravcomp[:] = model.opt.density = (
            model.opt.viscosity
        ) = 0.0
        mujoco.mj_forward(model, self.d)
        mujoco.mj_subtreeVel(model, self.d)
        self.q = self.ours(self.d.qpos)
        self._turn(self.d.qvel)
        self.qd = self.T @ self.d.qvel

    def _turn(self, qvel):
        """T and its change at MuJoCo's positions, with these velocities."""
        self.T, self.rate = np.eye(self.m.nv), np.zeros(self.m.nv)
        for j in np.flatnonzero(self.m.jnt_type == mujoco.mjtJoint.mjJNT_FREE):
            v = self.m.jnt_dofadr[j]
            R = self.d.xmat[self.m.jnt_bodyid[j]].reshape(3, 3)
            self.T[v : v + 6, v : v + 6] = np.block([[np.zeros((3, 3)), np.eye(3)], [R.T, np.zeros((3, 3))]])
            self.rate[v + 3 : v + 6] = -np.cross(qvel[v + 3 : v + 6], R.T @ qvel[v : v + 3])

    def stand(self, q, qd, tau):
        """Put MuJoCo into a state of hinge, with its joint forces."""
        self.d.qpos[:] = self.ours(q, 3)
        mujoco.mj_kinematics(self.m, self.d)
        self._turn(np.zeros(self.m.nv))
        self.d.qvel[:] = np.linalg.solve(self.T, qd)
        self._turn(self.d.qvel)
        self.d.qfrc_applied[:] = self.T.T @ tau

    def ours(self, qpos, by=-3):
        """A configuration of MuJoCo in hinge's order; with by=3 the other way."""
        q = np.array(qpos)
        for j in np.flatnonzero(self.m.jnt_type == mujoco.mjtJoint.mjJNT_FREE):
            a = self.m.jnt_qposadr[j]
            q[a : a + 7] = np.roll(qpos[a : a + 7], by)
        return q

    def positive(self, q):
        """The same configuration with the quaternions of free bodies turned to a positive scalar."""
        for j in np.flatnonzero(self.m.jnt_type == mujoco.mjtJoint.mjJNT_FREE):
            a = self.m.jnt_qposadr[j]
            q[a : a + 4] *= -1 if q[a] < 0 else 1
        return q

    def call(self, name, *args, **options):
        return getattr(self.robot, name)(*args, backend="interpret", **options)

    def mass_matrix(self):
        columns = np.zeros((self.m.nv, self.m.nv))
        for column, unit in zip(columns, np.eye(self.m.nv), strict=True):
            mujoco.mj_mulM(self.m, self.d, column, unit)
        return columns

    def bodies(self):
        """Number and hinge's name of every body but the world: the unnamed are called by their number."""
        return [(b, self.m.body(b).name or f"body_{b}") for b in range(1, self.m.nbody)]

    def sites(self):
        """Number and hinge's name of every named site: one that has the name of a body is called so."""
        bodies = {name for _, name in self.bodies()} | {"world"}
        named = [(s, self.m.site(s).name) for s in range(self.m.nsite)]
        return [(s, f"{name}_site" if name in bodies else name) for s, name in named if name]


def check_dynamics(p, tol, methods=("articulated", "composite")):
    close(p.T.T @ p.call("mass_matrix", p.q) @ p.T, p.mass_matrix(), tol)
    close(p.T.T @ p.call("inverse_dynamics", p.q, p.qd, p.rate), p.d.qfrc_bias, tol, size=sum(p.m.body_mass))
    tau = np.linalg.solve(p.T.T, p.d.qfrc_applied)
    for method in methods:
        close(p.call("forward_dynamics", p.q, p.qd, tau, method=method), p.T @ p.d.qacc + p.rate, 100 * tol)


def check_places(p, tol):
    for b, name in p.bodies():
        pose = p.call("pose", p.q, name)
        close(pose[:3, :3], p.d.xmat[b].reshape(3, 3), tol)
        close(pose[:3, 3], p.d.xpos[b], tol, size=1.0)


def check_sites(p, tol):
    for s, name in p.sites():
        pose = p.call("pose", p.q, name)
        close(pose[:3, :3], p.d.site_xmat[s].reshape(3, 3), tol)
        close(pose[:3, 3], p.d.site_xpos[s], tol, size=1.0)


def check_names(p):
    """Joints in MuJoCo's order under the names of the file, the unnamed under MuJoCo's numbers."""
    m, free = p.m, mujoco.mjtJoint.mjJNT_FREE
    assert (p.robot.nq, p.robot.nv) == (m.nq, m.nv)
    for j, name in enumerate(p.robot.joint_names):
        made = "base" if m.jnt_type[j] == free else f"joint_{j}"
        assert name == m.joint(j).name or (not m.joint(j).name and name.startswith(made))


def check_masses(p, tol, axes=None):
    """Mass, centre of mass, and inertia about it in the body's axes, body by body.

    MuJoCo keeps inertias along their axes, which it finds to `axes` where those are not written in the file.
    """
    for b, name in p.bodies():
        R = np.zeros(9)
        mujoco.mju_quat2Mat(R, p.m.body_iquat[b])
        R = R.reshape(3, 3)
        said = p.robot.model.links[name]
        close(said.mass, p.m.body_mass[b], tol)
        if p.m.body_mass[b]:
            close(said.com, p.m.body_ipos[b], tol, size=1.0)
            close(said.inertia, R @ np.diag(p.m.body_inertia[b]) @ R.T, axes or tol)


def check_joints(p, tol):
    """What joints say besides: where they stand, limits, armature, friction, springs."""
    m, model = p.m, p.robot.model
    close(p.robot.neutral(), p.positive(p.ours(m.qpos0)), tol, size=1.0)
    for j, name in enumerate(p.robot.joint_names):
        data, dof, at = model.data[model.joint_name.index(name)], m.jnt_dofadr[j], m.jnt_qposadr[j]
        width = len(data.armature)
        if not m.actuator_armature.any():  # which MuJoCo adds later
            close(data.armature, m.dof_armature[dof : dof + width], tol)
        close(data.friction, m.dof_frictionloss[dof : dof + width], tol)
        if m.jnt_type[j] in (mujoco.mjtJoint.mjJNT_HINGE, mujoco.mjtJoint.mjJNT_SLIDE):
            limits = m.jnt_range[j] if m.jnt_limited[j] else (-np.inf, np.inf)
            np.testing.assert_allclose([data.lower[0], data.upper[0]], limits, rtol=tol)
            close(data.stiffness, m.jnt_stiffness[j : j + 1], tol)
            close(data.rest, m.qpos_spring[at : at + 1], tol)


def check_keyframes(p, tol):
    for k in range(p.m.nkey):
        name = p.m.key(k).name or f"key_{k}"
        if name in p.robot.keyframes:
            close(p.robot.keyframes[name], p.ours(p.m.key_qpos[k]), tol, size=1.0)


def check_file(p, tol, axes=None, motion=None):
    """Everything a robot file says; `axes` of inertias and `motion` may have tolerances of their own."""
    check_names(p)
    check_masses(p, tol, axes)
    for check in (check_joints, check_places, check_sites, check_keyframes):
        check(p, tol)
    if p.m.nv:
        check_dynamics(p, motion or tol, ["articulated"])


def compared(source, tol=1e-12, axes=None, motion=None, **options):
    """Load an MJCF text or file with both, compare all they say, and return the pair."""
    text = str(source)
    read = mujoco.MjModel.from_xml_string if "<" in text else mujoco.MjModel.from_xml_path
    p = Pair(read(text), hinge.load(source, **options))
    check_file(p, tol, axes, motion)
    return p
