"""Christoffel symbols of two arms of seven joints and of a humanoid: time a state, batch of 4096, one core, with out=.

    python bench/christoffel.py [repeats]

The robots are those of example-robot-data (`pip install example-robot-data`); the least of the repeats is shown, for
each method.
"""

import sys
import sysconfig
import time
from pathlib import Path

import numpy as np

import hinge

ROOT = Path(sysconfig.get_path("purelib"), "cmeel.prefix", "share", "example-robot-data", "robots")
ROBOTS = {  # file, joints that are locked, and the microseconds a state may take
    "xArm 7": ("xarm_description/urdf/xarm7.urdf", (), 0.4),
    "Panda": ("panda_description/urdf/panda.urdf", ("panda_finger_joint1",), 0.4),
    "G1": ("g1_description/urdf/g1_29dof_rev_1_0.urdf", (), 25.0),
}


def microseconds(robot, q, out, method, repeats):
    """The least time a state over some repeats."""
    robot.christoffel(q, out=out, method=method)  # compiles
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        robot.christoffel(q, out=out, method=method)
        times.append(time.perf_counter() - start)
    return min(times) / len(q) * 1e6


def main(repeats):
    hinge.set_threads(1)
    for name, (file, locked, wanted) in ROBOTS.items():
        robot = hinge.load(ROOT / file).lock(locked)
        q, _ = robot.random_state(np.random.default_rng(0), 4096)
        out = np.empty((4096, robot.nv, robot.nv, robot.nv))
        for method in (None, "recursive", "differentiation"):
            took = microseconds(robot, q, out, method, repeats)
            cost = robot.cost("christoffel", method=method)
            called = method or f"default ({cost.method})"
            print(f"{name}, nv = {robot.nv}, {called}: {took:.3f} µs a state (wanted {wanted}), "
                  f"{cost.mul} multiplications, {cost.add} additions", flush=True)  # fmt: skip


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 20)
