"""Dynamics of two arms that hold one thing between them, beside a Python loop over Pinocchio.

    python bench/loops.py            print it
    python bench/loops.py --write    also keep it, and write it into the docs

hinge: one compiled kernel for the whole batch, from q, qd, tau to accelerations and loop forces, by each method.
Pinocchio: constraintDynamics with the same closure, a call a state, on one core. All in one run.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import figures
import numpy as np
import pinocchio as pin
from measuring import fastest

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
    """Seconds a state and accelerations of Pinocchio, a call a state."""
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
    made: list[np.ndarray] = []

    def loop() -> None:
        made[:] = [
            pin.constraintDynamics(model, data, x, v, f, models, datas, settings).copy()
            for x, v, f in zip(at, qd, tau, strict=True)
        ]

    return fastest({"": loop}, 3)[""] / len(q), np.array(made)


def ours(robot: hinge.Robot, method: str, *state: np.ndarray) -> tuple[float, np.ndarray]:
    """Seconds a state and accelerations of hinge."""
    kernel = robot.kernel("loop_dynamics", method=method)
    return fastest({"": lambda: kernel(*state)}, 20)[""] / len(state[0]), kernel(*state)[0]


def measured() -> dict[str, Any]:
    hinge.set_threads(1)
    rows = [["loop", "method", "hinge, ns", "Pinocchio, ns", "times", "apart"]]
    best: dict[str, float] = {}
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
            rows.append([kind, method, f"{fast * 1e9:.0f}", f"{slow * 1e9:.0f}", f"{slow / fast:.0f}", f"{apart:.0e}"])
            if kind == "fixed":
                best = best or {"hinge": fast, "pinocchio": slow}
    told = {name: figures.number(1e6 * seconds, "µs a state") for name, seconds in best.items()}
    return {"table": rows, **told}


if __name__ == "__main__":
    figures.main(__file__, measured, ("pinocchio",))
