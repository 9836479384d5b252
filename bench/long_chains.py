"""Long robots: how soon a chain is ready, cold, and how long a body takes.

    python bench/long_chains.py [--write]

Ready is from the robot to the first result, with the cache off: what is traced and compiled then. A body's time is that
of a batch of 512,000 bodies on one core, by the state and the body. Batches of all lengths have the same size.
"""

from __future__ import annotations

import os
import time
from functools import partial
from typing import Any

os.environ["HINGE_CACHE_DIR"] = ""

import figures
import numpy as np
from measuring import fastest

import hinge

LENGTHS, BODIES, ROUNDS = (50, 200, 1000), 512_000, 20
NAMES = ("inverse_dynamics", "forward_dynamics")


def measured() -> dict[str, Any]:
    hinge.set_threads(1)
    hinge.samples.chain(np.random.default_rng(1), 3).inverse_dynamics(*np.zeros((3, 3)))  # the compiler wakes up
    calls, ready = {}, {}
    for n in LENGTHS:
        robot = hinge.samples.chain(np.random.default_rng(0), n)
        rng = np.random.default_rng(1)
        given = [rng.uniform(-1, 1, (BODIES // n, n)) for _ in range(3)]
        start = time.process_time()
        for name in NAMES:
            getattr(robot, name)(*(x[0] for x in given))
            calls[f"{name} {n}"] = partial(getattr(robot, name), *given)
        ready[n] = time.process_time() - start
    best = fastest(calls, ROUNDS)
    ns = {n: [1e9 * best[f"{name} {n}"] / (BODIES // n) / n for name in NAMES] for n in LENGTHS}
    rows = [[str(n), f"{ready[n]:.2f}", *(f"{x:.1f}" for x in ns[n])] for n in LENGTHS]
    inverse, forward = (long / short for long, short in zip(ns[LENGTHS[-1]], ns[LENGTHS[0]], strict=True))
    return {
        "table": [["joints", "ready in, s", "inverse dynamics, ns a body", "forward dynamics, ns a body"], *rows],
        "ready": figures.number(ready[LENGTHS[-1]], f"s of a processor, {LENGTHS[-1]} joints"),
        "inverse": figures.number(inverse, f"times a body of {LENGTHS[0]} joints"),
        "forward": figures.number(forward, f"times a body of {LENGTHS[0]} joints"),
    }


if __name__ == "__main__":
    figures.main(__file__, measured, ())
