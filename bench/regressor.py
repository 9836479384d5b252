"""Times the torque regressor against a Python loop over Pinocchio's, in one run on one core, in double precision.

    python bench/regressor.py

Both fill an array that is there already, with the regressors of 4,096 states; ours has a row less for Panda, whose
second finger follows the first.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pinocchio as pin
from against_pinocchio import ROBOTS, STATES
from measuring import fastest

import hinge

ROUNDS, AGAIN = 12, 4  # what a round of the other leaves in the caches is not ours to clear


def row(name: str, path: Path) -> str:
    """One robot: ns a state, ours / theirs, and how many times faster."""
    theirs = pin.buildModelFromUrdf(str(path))
    data, ours = theirs.createData(), hinge.load(path)
    rng = np.random.default_rng(0)
    q, qd, qdd = rng.uniform(-1, 1, (3, STATES, ours.nv))
    Q, V, A = rng.uniform(-1, 1, (3, STATES, theirs.nv))
    kept = np.zeros((STATES, theirs.nv, 10 * (theirs.njoints - 1)))
    out = ours.regressor(q, qd, qdd, joint_terms=())

    def loop() -> None:
        for k in range(STATES):
            kept[k] = pin.computeJointTorqueRegressor(theirs, data, Q[k], V[k], A[k])

    def ours_again() -> None:
        for _ in range(AGAIN):
            ours.regressor(q, qd, qdd, joint_terms=(), out=out)

    took = fastest({"ours": ours_again, "theirs": loop}, ROUNDS)
    mine, other = (1e9 * s / STATES for s in (took["ours"] / AGAIN, took["theirs"]))
    shown = f"{mine:.0f} / {other:.0f}  (× {other / mine:.0f})"
    return f"| {name} | {ours.nv} × {10 * ours.model.count} | {shown} |"


def main() -> None:
    hinge.set_threads(1)
    print("| robot | regressor | ns a state, hinge / Pinocchio |\n|---|---|---|")
    for name, path in ROBOTS.items():
        print(row(name, path), flush=True)


if __name__ == "__main__":
    main()
