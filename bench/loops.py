"""Dynamics of two six-joint arms that hold one thing between them, 4,096 states, against a Python loop over Pinocchio.

    HINGE_THREADS=1 python bench/loops.py

hinge: one compiled kernel for the whole batch, from q, qd, tau to accelerations and loop forces, by each method.
Pinocchio: constraintDynamics with the same closure, a call a state, on one core. All in one run.
"""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

import numpy as np
import pinocchio as pin

import hinge

STATES = 4096
METHODS = ("mass_matrix", "sparse", "articulated")


def two_arms(kind: str) -> tuple[hinge.Robot, hinge.Robot, np.ndarray, np.ndarray]:
    """The tree, the tree closed, the pose of the closure, and a state that is closed."""
    rng = np.random.default_rng(4)
    first, second = hinge.samples.chain(rng, 6), hinge.samples.chain(rng, 6)
    tree = first.attach(second, at="base", placement=[0.3, -0.2, 0.1], prefix="other_")
    q = tree.random_state(rng, 1)[0][0]
    held = np.linalg.inv(tree.pose(q, "link6")) @ tree.pose(q, "other_link6")
    return tree, tree.close(kind, "link6", "other_link6", placement_a=held), held, q


def theirs(tree: hinge.Robot, kind: str, held: np.ndarray, q: np.ndarray, qd: np.ndarray, tau: np.ndarray
           ) -> tuple[float, np.ndarray]:  # fmt: skip
    """Seconds and accelerations of Pinocchio, a call a state."""
    with tempfile.TemporaryDirectory() as folder:
        hinge.write(tree, Path(folder, "tree.urdf"))
        model = pin.buildModelFromUrdf(str(Path(folder, "tree.urdf")))
    data = model.createData()
    ids = [model.getJointId(name) for name in ("joint6", "other_joint6")]
    contact = pin.ContactType.CONTACT_6D if kind == "fixed" else pin.ContactType.CONTACT_3D
    models, datas = pin.StdVec_RigidConstraintModel(), pin.StdVec_RigidConstraintData()
    closure = pin.RigidConstraintModel(contact, model, ids[0], pin.SE3(held), ids[1], pin.SE3.Identity(), pin.LOCAL)
    models.append(closure)
    datas.append(closure.createData())
    pin.initConstraintDynamics(model, data, models, datas)
    settings = pin.ProximalSettings(1e-12, 1e-12, 0.0, 1)
    at = [pin.integrate(model, pin.neutral(model), x) for x in q]  # angles without limits are pairs there
    best = float("inf")
    for _ in range(3):
        start = time.perf_counter()
        made = [pin.constraintDynamics(model, data, x, v, f, models, datas, settings).copy()
                for x, v, f in zip(at, qd, tau, strict=True)]  # fmt: skip
        best = min(best, time.perf_counter() - start)
    return best / len(q), np.array(made)


def ours(robot: hinge.Robot, method: str, *state: np.ndarray) -> tuple[float, np.ndarray]:
    """Seconds a state and accelerations of hinge."""
    kernel = robot.kernel("loop_dynamics", method=method)
    made = kernel(*state)
    best = float("inf")
    for _ in range(20):
        start = time.perf_counter()
        made = kernel(*state)
        best = min(best, time.perf_counter() - start)
    return best / len(state[0]), made[0]


def main() -> None:
    print(f"{'loop':10} {'method':12} {'hinge':>9} {'Pinocchio':>10} {'times':>6} {'apart':>8}")
    for kind in ("spherical", "fixed"):
        tree, robot, held, closed = two_arms(kind)
        rng = np.random.default_rng(0)
        q = robot.assemble(closed + 0.02 * rng.normal(size=(STATES, robot.nv)), strict=True).q
        _, qd = robot.loop_project(q, rng.normal(size=q.shape))
        tau = rng.normal(size=q.shape)
        slow, wanted = theirs(tree, kind, held, q, qd, tau)
        for method in METHODS:
            fast, made = ours(robot, method, q, qd, tau)
            apart = np.abs(made - wanted).max() / np.abs(wanted).max()
            print(f"{kind:10} {method:12} {fast * 1e9:6.0f} ns {slow * 1e9:7.0f} ns {slow / fast:6.0f} {apart:8.1e}")


if __name__ == "__main__":
    main()
