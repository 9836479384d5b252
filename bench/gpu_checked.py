"""Many kernels of several robots in both precisions, compared with the CPU: what compute-sanitizer is given to watch.

compute-sanitizer --tool memcheck python bench/gpu_checked.py [SECONDS]     (also racecheck, initcheck, synccheck)
"""

import sys
import time

import cupy
import numpy as np

import hinge
from hinge.dynamics.registry import ALGORITHMS, PLACE, POSITION, required_inputs

STATES = 77  # two warps, and a few; the last block is not full
LONG = 6000  # instructions


def robots():
    yield hinge.samples.puma560()
    yield hinge.samples.random_tree(np.random.default_rng(116), 3, ("revolute", "spherical"))
    yield hinge.samples.random_tree(np.random.default_rng(3), 9, ("revolute", "prismatic"))
    yield hinge.samples.four_bar()


def given_for(robot, name, number):
    rng, made = np.random.default_rng(7), []
    for key, quantity in required_inputs(name).items():
        if quantity is PLACE:
            made.append(robot.body_names[-1])
        elif quantity is POSITION:
            made.append(robot.random_state(rng, STATES)[0].astype(number))
        else:
            row = np.abs(rng.normal(size=(STATES, *quantity.shape(robot.model))))
            made.append((0.01 * row if key == "h" else row).astype(number))
    return made


def main(seconds):
    end, ran, differ = time.perf_counter() + seconds, 0, []
    for robot in robots():
        for name in ALGORITHMS:
            for number in (np.float32, np.float64):
                if time.perf_counter() > end:
                    continue
                try:
                    if len(robot.kernel(name, status=True).program.code) > LONG:
                        continue
                    given = given_for(robot, name, number)
                    call = getattr(robot.target, name)
                    wanted = call(*given, return_status=True)
                    made = call(*(x if isinstance(x, str) else cupy.asarray(x) for x in given), return_status=True)
                except hinge.HingeError as refused:
                    print(f"{robot.name} {name}: {str(refused).splitlines()[0]}")
                    break
                ran += 1
                for ours, plain in zip(made, wanted, strict=True):
                    if not np.array_equal(ours.get(), plain, equal_nan=True):
                        worst = np.nanmax(np.abs(ours.get().astype(float) - plain)) / (1 + np.nanmax(np.abs(plain)))
                        differ.append(f"{robot.name} {name} {np.dtype(number).name} by {worst:.1e}")
    print(f"{ran} kernels ran; {len(differ)} results differ from the CPU's bits: {differ}")


if __name__ == "__main__":
    main(float(sys.argv[1]) if len(sys.argv) > 1 else 1e9)
