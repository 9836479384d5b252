"""Solvers with loops against the same in NumPy over a batch, one core: how many times faster.

python bench/solvers.py
"""

import sys
import time
from pathlib import Path

import numpy as np

import hinge
from hinge.backends.llvm import Native

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "laws"))
import solvers

STATES, ROUNDS, UNKNOWNS, SIZES = 4096, 15, 12, (12, 64, 64, 6)


def least(call):
    """The shortest of a few runs, in seconds."""
    times = []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return min(times)


def row(name, program, arrays, plain):
    start = time.perf_counter()
    native = Native(program)
    ready = time.perf_counter() - start
    out = np.empty((len(arrays[0]), len(program.outputs[0].entries)))
    ours, theirs = least(lambda: native.run(arrays, [out])), least(lambda: plain(*arrays))
    off = np.abs(out - plain(*arrays)).max()
    print(f"{name:32} {1e9 * ours / STATES:9.1f} ns a state  {theirs / ours:6.1f} times NumPy  "
          f"compiled in {ready:.2f} s  apart {off:.1e}")  # fmt: skip


def main():
    hinge.set_threads(1)
    A, b = solvers.problems(UNKNOWNS, STATES)
    row("Newton, Kepler's equation", solvers.kepler(), [solvers.orbits(STATES)], solvers.kepler_in_numpy)
    row("projected Gauss-Seidel, 12", solvers.gauss_seidel(UNKNOWNS), [A, b], solvers.gauss_seidel_in_numpy)
    row("L D L', 12 (numpy.linalg.solve)", solvers.ldl(UNKNOWNS), [A, b], solvers.ldl_in_numpy)
    program, rng = solvers.network(SIZES), np.random.default_rng(0)
    given = [rng.normal(size=(STATES, SIZES[0])), rng.normal(size=program.inputs[1].size) * 0.1]
    row("network 12-64-64-6", program, given, lambda x, w: solvers.network_in_numpy(SIZES, x, w))


if __name__ == "__main__":
    main()
