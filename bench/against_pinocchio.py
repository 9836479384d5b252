"""Inverse and forward dynamics beside Pinocchio's, in batches and by the call, and the first call.

    python bench/against_pinocchio.py            print it
    python bench/against_pinocchio.py --write    also keep it, and write it into README and docs

Batches have 4,096 states. Pinocchio's batch is its own C++ loop (rneaInParallel, abaInParallel with one thread), so no
Python counts against it; the mass matrix has no such loop there and is left out. One state is each library's ordinary
call from Python. All in one run, on one core, in double precision.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import figures
import numpy as np
import pinocchio as pin
from measuring import G1, PANDA, TALOS, UR5, fastest, many

import hinge

ROBOTS = {"UR5": UR5, "Panda with hand": PANDA, "G1 humanoid": G1, "Talos humanoid": TALOS}
STATES, ROUNDS, CALLS = 4096, 60, 500
FIRST = (
    "import sys, time, numpy as np, hinge\n"
    "robot = hinge.load(sys.argv[1]); q, qd = robot.random_state(np.random.default_rng(0), 1)\n"
    "start = time.process_time(); robot.inverse_dynamics(q, qd, qd); robot.forward_dynamics(q, qd, qd)\n"
    "print(time.process_time() - start)"
)


def row(name: str, path: Path) -> list[str]:
    """One robot: ns a state in a batch, µs a call for one state, ours / theirs."""
    theirs = pin.buildModelFromUrdf(str(path))
    data, pool = theirs.createData(), pin.ModelPool(theirs, 1)
    ours = hinge.load(path, mimic="free")
    rng = np.random.default_rng(0)
    q, qd, x = (rng.uniform(-1, 1, (STATES, ours.nv)) for _ in range(3))
    Q, V, X = (np.asfortranarray(a.T) for a in (q, qd, x))
    cells = [name, str(ours.nv)]
    for call, other in ((ours.inverse_dynamics, pin.rneaInParallel), (ours.forward_dynamics, pin.abaInParallel)):
        calls = {"h": lambda call=call: call(q, qd, x), "p": lambda other=other: other(1, pool, Q, V, X)}
        h, p = (1e9 * s / STATES for s in fastest(calls, ROUNDS).values())
        cells.append(f"{h:.0f} / {p:.0f} (× {p / h:.0f})")
    a, b, c = q[0].copy(), qd[0].copy(), x[0].copy()
    bound = ours.kernel("inverse_dynamics").bind(a, b, c, np.empty(ours.nv))
    calls = {"h": many(ours.inverse_dynamics, a, b, c), "k": many(bound), "p": many(pin.rnea, theirs, data, a, b, c)}
    h, k, p = (1e6 * s / CALLS for s in fastest(calls, ROUNDS).values())
    return [*cells, f"{h:.2f} / {p:.2f} (× {p / h:.1f})", f"{k:.2f}"]


def first(path: Path) -> float:
    """Seconds of the first calls of inverse and forward dynamics together, with nothing in the cache."""
    with tempfile.TemporaryDirectory() as folder:
        alone = os.environ | {"HINGE_CACHE_DIR": folder, "HINGE_THREADS": "1"}
        ran = subprocess.run([sys.executable, "-c", FIRST, path], env=alone, capture_output=True, text=True, check=True)
    return float(ran.stdout)


def measured() -> dict[str, Any]:
    hinge.set_threads(1)
    head = ["robot", "DOF", "inverse dynamics, batch", "forward dynamics, batch", "inverse dynamics, a state", "bound"]
    return {
        "table": [head, *(row(name, path) for name, path in ROBOTS.items())],
        "first_of_an_arm": figures.number(first(UR5), "s of a processor, UR5"),
        "first_of_a_humanoid": figures.number(first(G1), "s of a processor, G1"),
    }


if __name__ == "__main__":
    figures.main(__file__, measured, ("pinocchio",))
