"""Pinocchio, MuJoCo and Drake, each with the few calls that tests need, on their own states."""

import numpy as np
import pytest

from hinge import interop


class Pinocchio:
    terms = ("armature",)

    def __init__(self):
        self.pin = pytest.importorskip("pinocchio", reason="Pinocchio is not installed")
        self.interop = interop.pinocchio

    def forces(self, model, t):
        data = model.createData()
        return np.array([self.pin.rnea(model, data, *row) for row in zip(t.q, t.v, t.a, strict=True)])

    def mass_matrix(self, model, t):
        data = model.createData()
        H = np.array([self.pin.crba(model, data, q) for q in t.q])
        return np.triu(H) + np.triu(H, 1).swapaxes(1, 2)

    def pose(self, model, t, name):
        data = model.createData()
        self.pin.framesForwardKinematics(model, data, t.q[0])
        return data.oMf[model.getFrameId(name)].homogeneous


class MuJoCo:
    terms = ("armature", "damping", "stiffness")

    def __init__(self):
        self.mujoco = pytest.importorskip("mujoco", reason="MuJoCo is not installed")
        self.interop = interop.mujoco

    def forces(self, model, t):
        model.opt.disableflags |= int(self.mujoco.mjtDisableBit.mjDSBL_CONSTRAINT)
        data, made = self.mujoco.MjData(model), []
        for data.qpos[:], data.qvel[:], data.qacc[:] in zip(t.q, t.v, t.a, strict=True):
            self.mujoco.mj_inverse(model, data)
            made.append(data.qfrc_inverse.copy())
        return np.array(made)

    def mass_matrix(self, model, t):
        data, H = self.mujoco.MjData(model), np.zeros((len(t.q), model.nv, model.nv))
        for (data.qpos[:],), matrix in zip(zip(t.q, strict=True), H, strict=True):
            self.mujoco.mj_fwdPosition(model, data)
            for row, unit in zip(matrix, np.eye(model.nv), strict=True):
                self.mujoco.mj_mulM(model, data, row, unit)
        return H

    def pose(self, model, t, name):
        data, made = self.mujoco.MjData(model), np.eye(4)
        data.qpos[:] = t.q[0]
        self.mujoco.mj_kinematics(model, data)
        found = data.body(name) if self.mujoco.mj_name2id(model, 1, name) >= 0 else data.site(name)
        made[:3, :3], made[:3, 3] = found.xmat.reshape(3, 3), found.xpos
        return made


class Drake:
    terms = ("armature", "damping")

    def __init__(self):
        reason = "Drake is not installed (pip install drake)"
        self.tree = pytest.importorskip("pydrake.multibody.tree", reason=reason)
        self.interop = interop.drake

    def forces(self, plant, t):
        context, made = plant.CreateDefaultContext(), []
        for q, v, a in zip(t.q, t.v, t.a, strict=True):
            plant.SetPositions(context, q)
            plant.SetVelocities(context, v)
            others = self.tree.MultibodyForces(plant)  # gravity and damping
            plant.CalcForceElementsContribution(context, others)
            made.append(plant.CalcInverseDynamics(context, a, others))
        return np.array(made)

    def mass_matrix(self, plant, t):
        context, made = plant.CreateDefaultContext(), []
        for q in t.q:
            plant.SetPositions(context, q)
            made.append(plant.CalcMassMatrix(context))
        return np.array(made)

    def pose(self, plant, t, name):
        context = plant.CreateDefaultContext()
        plant.SetPositions(context, t.q[0])
        return plant.GetFrameByName(name).CalcPoseInWorld(context).GetAsMatrix4()


LIBRARIES = {"pinocchio": Pinocchio, "mujoco": MuJoCo, "drake": Drake}
