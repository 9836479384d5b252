"""Times the torque regressor against a Python loop over Pinocchio's, in one run on one core, in double precision.

    python bench/regressor.py

Both fill an array that is there already, with the regressors of 4,096 states; ours has a row less for Panda, whose
second finger follows the first. Rounds alternate between the two, and the fastest of each in processor time is kept.
"""

from __future__ import annotations

import time

import numpy as np
import pinocchio as pin
from against_pinocchio import FILES, ROBOTS, STATES

import hinge

ROUNDS, AGAIN = 12, 4  # what a round of the other leaves in the caches is not ours to clear


def row(name: str, part: str) -> str:
    """One robot: ns a state, ours / theirs, and how many times faster."""
    theirs = pin.buildModelFromUrdf(str(FILES / part))
    data, ours = theirs.createData(), hinge.load(FILES / part)
    rng = np.random.default_rng(0)
    q, qd, qdd = rng.uniform(-1, 1, (3, STATES, ours.nv))
    Q, V, A = rng.uniform(-1, 1, (3, STATES, theirs.nv))
    kept = np.zeros((STATES, theirs.nv, 10 * (theirs.njoints - 1)))
    out = ours.regressor(q, qd, qdd, joint_terms=())

    def loop() -> None:
        for k in range(STATES):
            kept[k] = pin.computeJointTorqueRegressor(theirs, data, Q[k], V[k], A[k])

    best = {"ours": np.inf, "theirs": np.inf}
    calls = [("ours", lambda: ours.regressor(q, qd, qdd, joint_terms=(), out=out))] * AGAIN + [("theirs", loop)]
    for _ in range(ROUNDS):
        for who, call in calls:
            start = time.process_time()
            call()
            best[who] = min(best[who], (time.process_time() - start) / STATES * 1e9)
    shown = f"{best['ours']:.0f} / {best['theirs']:.0f}  (× {best['theirs'] / best['ours']:.0f})"
    return f"| {name} | {ours.nv} × {10 * ours.model.count} | {shown} |"


def main() -> None:
    hinge.set_threads(1)
    print("| robot | regressor | ns a state, hinge / Pinocchio |\n|---|---|---|")
    for name, part in ROBOTS.items():
        print(row(name, part), flush=True)


if __name__ == "__main__":
    main()
