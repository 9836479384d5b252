"""Christoffel symbols of two arms of seven joints and of a humanoid: time a state on one core, into a given array.

    python bench/christoffel.py [repeats]

The robots are those of example-robot-data (`pip install example-robot-data`); the least of the repeats is shown, for
each method. G1's symbols are 195 kB a state, so that memory is what a large batch waits for: filling the array with
zeros is timed too.
"""

import sys
import sysconfig
import time
from pathlib import Path

import numpy as np

import hinge

ROOT = Path(sysconfig.get_path("purelib"), "cmeel.prefix", "share", "example-robot-data", "robots")
ROBOTS = {  # file, joints that are locked, the batch, and the microseconds a state may take
    "xArm 7": ("xarm_description/urdf/xarm7.urdf", (), 4096, 0.4),
    "Panda": ("panda_description/urdf/panda.urdf", ("panda_finger_joint1",), 4096, 0.4),
    "G1": ("g1_description/urdf/g1_29dof_rev_1_0.urdf", (), 256, 25.0),
}


def microseconds(call, states, repeats):
    """The least time a state over some repeats, after a first that compiles."""
    call()
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return min(times) / states * 1e6


def main(repeats):
    hinge.set_threads(1)
    for name, (file, locked, states, wanted) in ROBOTS.items():
        robot = hinge.load(ROOT / file).lock(locked)
        q, _ = robot.random_state(np.random.default_rng(0), states)
        out = np.empty((states, robot.nv, robot.nv, robot.nv))
        fill = microseconds(lambda out=out: out.fill(0.0), states, repeats)
        print(f"{name}: nv = {robot.nv}, {states} states, wanted {wanted} µs; zeros take {fill:.3f} µs a state")
        for method in ("recursive", "differentiation"):
            took = microseconds(lambda: robot.christoffel(q, out=out, method=method), states, repeats)  # noqa: B023
            cost = robot.cost("christoffel", method=method)
            print(f"  {method}: {took:.3f} µs a state; {cost.mul} multiplications, {cost.add} additions", flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 20)
