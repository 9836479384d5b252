"""Processes that share one cache while they are killed at random moments; run as a script.

    HINGE_CACHE_DIR=FOLDER python killed_caches.py PROCESSES KILLS SEED

Every process takes kernels of small robots from the cache, or compiles them, and compares what they give with what the
interpreter gave once; now and then it removes an entry, or cuts one short as a broken disk would. One that is killed
has another in its place. Prints JSON: right answers, what was wrong, and what is left in the cache.
"""

import json
import os
import random
import signal
import sys
import time
from pathlib import Path

import numpy as np
from kernel_cases import follower, states

import hinge
from hinge.backends import cache

ROBOTS = {"pendulum": lambda: hinge.samples.pendulum(1), "planar": hinge.samples.planar_2r, "follower": follower}
NAMES = {"gravity_force": 1, "mass_matrix": 1, "inverse_dynamics": 3, "kinetic_energy": 2}
JOBS = [(robot, name) for robot in ROBOTS for name in NAMES]
WRONG = 3


def answer(which, name, backend=None):
    robot = ROBOTS[which]()
    return getattr(robot, name)(*states(robot, 3)[: NAMES[name]], backend=backend)


RIGHT = {job: answer(*job, "interpret") for job in JOBS}


def right(job):
    return np.allclose(answer(*job), RIGHT[job], rtol=1e-12, atol=1e-12)


def work(told, seed):
    """Kernels without end, a byte for each right answer; an entry is long between its writing and its name."""
    rng, rename = random.Random(seed), os.replace

    def late(*names):
        time.sleep(rng.choice((0.0, 0.05)))
        rename(*names)

    os.replace = late
    while True:
        job = rng.choice(JOBS)
        if not right(job):
            os._exit(WRONG)
        os.write(told, b".")
        if rng.random() < 0.3:
            spoil(rng)


def spoil(rng):
    """Remove an entry, or cut it short where it lies."""
    found = cache.entries()
    path, stat = rng.choice(found) if found else (None, None)
    try:
        if path is not None:
            path.unlink() if rng.random() < 0.5 else os.truncate(path, rng.randrange(stat.st_size))
    except FileNotFoundError:  # another was faster
        pass


def begun(told, seed):
    child = os.fork()
    if child == 0:
        try:
            work(told, seed)
        finally:
            os._exit(1)
    return child


def main(processes, kills, seed):
    hinge.set_threads(1)
    rng, (answers, told) = random.Random(seed), os.pipe()
    running, ends, count = [begun(told, k) for k in range(processes)], [], 0
    for number in range(processes, processes + kills):
        count += len(os.read(answers, rng.choice((1, 2, 5))))
        time.sleep(rng.uniform(0.0, 0.1))
        child = running.pop(rng.randrange(processes))
        os.kill(child, signal.SIGKILL)
        ends.append(os.waitpid(child, 0)[1])
        running.append(begun(told, number))
    for child in running:
        os.kill(child, signal.SIGKILL)
        ends.append(os.waitpid(child, 0)[1])
    left = sorted(path.name.split("-")[0].rpartition(".")[2] for path in Path(cache.folder()).iterdir())
    wrong = [job for job in JOBS if not right(job)]  # of what is in the cache now
    broken = [path.name for path, _ in cache.entries() if cache.find(path.stem) is None]
    print(json.dumps({
        "kills": ends.count(signal.SIGKILL), "others": sorted({*ends} - {signal.SIGKILL}), "wrong": wrong,
        "answers": count, "left": {kind: left.count(kind) for kind in dict.fromkeys(left)},
        "broken": broken,
    }))  # fmt: skip


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
