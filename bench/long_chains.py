"""Long robots: how soon a chain is ready, cold, and how long a body takes.

    python bench/long_chains.py                  chains of 50, 200 and 1,000 joints
    python bench/long_chains.py 100 2000         of other lengths

Ready is from the robot to the first result, with the cache off: what is traced and compiled then. A body's time is that
of a batch of 512,000 bodies on one core, by the state and the body, the fastest of many rounds. Batches of all lengths
have the same size, and rounds alternate between them, because machines are noisy.
"""

from __future__ import annotations

import os
import sys
import time

os.environ["HINGE_CACHE_DIR"] = ""

import numpy as np

import hinge

BODIES, ROUNDS = 512_000, 40
NAMES = ("inverse_dynamics", "forward_dynamics")


def main(lengths: list[int]) -> None:
    hinge.set_threads(1)
    hinge.samples.chain(np.random.default_rng(1), 3).inverse_dynamics(*np.zeros((3, 3)))  # the compiler wakes up
    calls = {}
    for n in lengths:
        robot = hinge.samples.chain(np.random.default_rng(0), n)
        rng = np.random.default_rng(1)
        given = [rng.uniform(-1, 1, (BODIES // n, n)) for _ in range(3)]
        took = []
        for name in NAMES:
            start = time.perf_counter()
            getattr(robot, name)(*(x[0] for x in given))
            took.append(time.perf_counter() - start)
            calls[n, name] = (getattr(robot, name), given)
        print(f"{n:5} joints ready in {sum(took):6.2f} s: {took[0]:.2f} s and {took[1]:.2f} s", flush=True)
    best = dict.fromkeys(calls, float("inf"))
    for _ in range(ROUNDS):
        for key, (call, given) in calls.items():
            start = time.perf_counter()
            call(*given)
            best[key] = min(best[key], time.perf_counter() - start)
    for name in NAMES:
        ns = {n: best[n, name] / (BODIES // n) / n * 1e9 for n in lengths}
        first = ns[lengths[0]]
        print(f"{name:17}", ", ".join(f"{n}: {x:.1f} ns a body (× {x / first:.2f})" for n, x in ns.items()))


if __name__ == "__main__":
    main([int(x) for x in sys.argv[1:]] or [50, 200, 1000])
