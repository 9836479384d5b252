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
MEASURED = {
    "float32": [],
    "float64": [],
}  # million states a second on an H200, of this script


def rates(states, wait=lambda: None):
    """Million states a second for each number of states, the best of a few rounds."""
    made = []
    for n in sizes:
        given, out = [x[:n] for x in states], np.inf
        calls = max(3, 200_000 // int(n))
        arm.inverse_dynamics(*given)  # the first call compiles
        for _ in range(3):
            wait()
            start = time.perf_counter()
            for _ in range(calls):
                arm.inverse_dynamics(*given)
            wait()
            out = min(out, (time.perf_counter() - start) / calls)
        made.append(1e-6 * n / out)
    return made


q, qd = arm.random_state(np.random.default_rng(0), int(sizes[-1]))
try:
    import cupy

    there, wait = f"GPU {cupy.cuda.Device().id}, here", cupy.cuda.Device().synchronize
except Exception:  # without CuPy, or without a GPU
    cupy, there = None, "NVIDIA H200, measured before"

figure, axes = plt.subplots(figsize=(7.5, 4.6), constrained_layout=True)
for number, style in (("float64", "-"), ("float32", "--")):
    states = [x.astype(number) for x in (q, qd, qd)]
    here = rates(states)
    far = rates([cupy.asarray(x) for x in states], wait) if cupy else MEASURED[number]
    axes.loglog(sizes, here, style, color="tab:blue", marker="o", label=f"this CPU, {number}")
    axes.loglog(sizes, far, style, color="tab:green", marker="s", label=f"{there}, {number}")
axes.set(xlabel="states at a time", ylabel="million states a second", title="Inverse dynamics of a Puma 560")
axes.legend()
axes.grid(alpha=0.3)

target = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_suffix(".png")
figure.savefig(target, dpi=110)
print(f"a million at a time: {here[-1]:.0f} million states a second here, {far[-1]:.0f} million on {there}; float32")
if cupy:
    print(MEASURED)
