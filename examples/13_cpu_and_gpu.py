"""How many states a second, by how many there are at a time: on this CPU, and on a GPU.

The same call, with arrays of NumPy and with arrays of CuPy. Without a GPU its curve is one measured on an H200.
Writes 13_cpu_and_gpu.png beside this file, or to the path given.
"""

import sys
import time
from pathlib import Path

import matplotlib
import numpy as np

import hinge

matplotlib.use("Agg")
import matplotlib.pyplot as plt

arm, sizes = hinge.samples.puma560(), 4 ** np.arange(11)
q, qd = arm.random_state(np.random.default_rng(0), 4**10)
H200 = {  # million states a second
    "float64": [0.0914, 0.365, 1.42, 4.97, 22.0, 66.7, 245, 972, 3520, 11600, 18300],
    "float32": [0.0856, 0.336, 1.18, 3.96, 21.6, 87.1, 355, 1390, 4750, 18300, 32300],
}


def rates(states, wait):
    """Million states a second, for each number of them at a time."""
    made = []
    for n in sizes:
        given, calls = [x[:n] for x in states], max(3, 100_000 // int(n))
        arm.inverse_dynamics(*given)  # the first call compiles
        wait()
        start = time.perf_counter()
        for _ in range(calls):
            arm.inverse_dynamics(*given)
        wait()
        made.append(1e-6 * n * calls / (time.perf_counter() - start))
    return made


try:
    import cupy

    gpu, wait = "this GPU", cupy.cuda.Device().synchronize
except Exception:  # there is no CuPy, or no GPU
    cupy, gpu, wait = None, "NVIDIA H200, measured earlier", None

figure, axes = plt.subplots(figsize=(7.5, 4.6), constrained_layout=True)
for number, line in (("float64", "o-"), ("float32", "s--")):
    states = [x.astype(number) for x in (q, qd, qd)]
    here = rates(states, lambda: None)
    there = rates([cupy.asarray(x) for x in states], wait) if cupy else H200[number]
    axes.loglog(sizes, here, line, color="tab:blue", label=f"this CPU, {number}")
    axes.loglog(sizes, there, line, color="tab:green", label=f"{gpu}, {number}")
axes.set(xlabel="states at a time", ylabel="million states a second", title="Inverse dynamics of a Puma 560")
axes.legend()
figure.savefig(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_suffix(".png"), dpi=110)
print(f"a million states of single precision at a time: {here[-1]:.0f} and {there[-1]:.0f} million a second")
