"""Contact dynamics of a quadruped on four feet, 4,096 states, against a Python loop over Pinocchio on one core.

    HINGE_THREADS=1 python bench/contact.py

hinge: one compiled kernel for the whole batch, from q, qd, tau to accelerations and forces that never pull. Pinocchio
holds the feet by equalities: along the normals (forwardDynamics), and as fixed points (constraintDynamics).
"""

from __future__ import annotations

import sysconfig
import time
from pathlib import Path

import numpy as np
import pinocchio as pin

import hinge

FILES = Path(sysconfig.get_paths()["purelib"]) / "cmeel.prefix/share/example-robot-data/robots"
PATH = FILES / "anymal_b_simple_description/robots/anymal.urdf"
FEET = ("LF_FOOT", "RF_FOOT", "LH_FOOT", "RH_FOOT")
STATES = 4096


def states(robot: hinge.Robot) -> list[np.ndarray]:
    rng = np.random.default_rng(0)
    q = np.tile(robot.neutral(), (STATES, 1))
    q[:, 7:] += rng.uniform(-0.6, 0.6, (STATES, robot.nq - 7))
    return [q, 0.3 * rng.normal(size=(STATES, robot.nv)), rng.normal(size=(STATES, robot.nv))]


def theirs(model: pin.Model, normals: bool, q: np.ndarray, qd: np.ndarray, tau: np.ndarray) -> tuple[float, np.ndarray]:
    """Seconds and accelerations of Pinocchio's constraint dynamics, a call a state."""
    data = model.createData()
    ids = [model.getFrameId(foot) for foot in FEET]
    if normals:  # one row a foot: forwardDynamics with the Jacobian's normal rows

        def one(k: int) -> np.ndarray:
            pin.computeJointJacobians(model, data, q[k])
            pin.forwardKinematics(model, data, q[k], qd[k], np.zeros(model.nv))
            J = np.array([pin.getFrameJacobian(model, data, i, pin.LOCAL_WORLD_ALIGNED)[2] for i in ids])
            drift = [pin.getFrameClassicalAcceleration(model, data, i, pin.LOCAL_WORLD_ALIGNED).linear[2] for i in ids]
            return pin.forwardDynamics(model, data, q[k], qd[k], tau[k], J, np.array(drift))
    else:
        frames = [model.frames[i] for i in ids]
        held = pin.StdVec_RigidConstraintModel()
        held.extend([pin.RigidConstraintModel(pin.ContactType.CONTACT_3D, model, f.parentJoint, f.placement,
                                         pin.LOCAL_WORLD_ALIGNED) for f in frames])  # fmt: skip
        made = pin.StdVec_RigidConstraintData()
        made.extend([c.createData() for c in held])
        pin.initConstraintDynamics(model, data, held, made)

        def one(k: int) -> np.ndarray:
            return pin.constraintDynamics(model, data, q[k], qd[k], tau[k], held, made)

    best = float("inf")
    for _ in range(5):
        start = time.perf_counter()
        out = [one(k) for k in range(STATES)]
        best = min(best, time.perf_counter() - start)
    return best, np.array(out)


def main() -> None:
    robot = hinge.load(PATH, base="floating")
    contacts = [hinge.Contact(foot, (0, 0, 0), normal=(0, 0, 1)) for foot in FEET]
    q, qd, tau = states(robot)
    start = time.perf_counter()
    kernel = robot.contact_kernel(contacts)
    kernel(q[:8], qd[:8], tau[:8])
    print(f"compiled in {time.perf_counter() - start:.1f} s")
    best = float("inf")
    for _ in range(50):
        start = time.perf_counter()
        qdd, force = kernel(q, qd, tau)
        best = min(best, time.perf_counter() - start)
    model = pin.buildModelFromUrdf(str(PATH), pin.JointModelFreeFlyer())
    # theirs: position, then quaternion with its scalar last; velocities linear first
    mine = [robot.coordinates(name) for name in model.names[2:]]
    Q = np.concatenate([q[:, 4:7], q[:, 1:4], q[:, :1], *(q[:, at] for at, _ in mine)], axis=1)
    order = [3, 4, 5, 0, 1, 2, *(at.start for _, at in mine)]
    for normals in (True, False):
        try:
            took, out = theirs(model, normals, Q, qd[:, order], tau[:, order])
        except Exception as wrong:
            print(f"pinocchio ({'normals' if normals else 'points'}): {type(wrong).__name__}: {wrong}")
            continue
        print(f"{'normals' if normals else 'points'}: hinge {best / STATES * 1e9:.0f} ns a state, pinocchio "
              f"{took / STATES * 1e9:.0f} ns: {took / best:.0f} times", flush=True)  # fmt: skip
        if normals:
            all_push = (force > 0).all(axis=1)
            apart = np.abs(out[all_push] - qdd[all_push][:, order]).max() if all_push.any() else float("nan")
            print(f"  the same accelerations to {apart:.1e} in the {all_push.sum()} states where all feet push")


if __name__ == "__main__":
    main()
