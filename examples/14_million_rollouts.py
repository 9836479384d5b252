"""A million arms that nobody has weighed: how far does the hand sag?

An arm is held by springs at its joints and the joint forces that carry its own weight, as its file has it. What it is
given to hold weighs up to 5 kg, its links weigh up to a fifth more or less, and it starts a little off. A sweep runs a
million of them into a store; the picture is made from that.
Writes 14_million_rollouts.png beside this file, or to the path given.
"""

import sys
import tempfile
import time
from pathlib import Path

import matplotlib
import numpy as np
import xarray

import hinge
from hinge.sweeps import latin, normal, uniform

matplotlib.use("Agg")
import matplotlib.pyplot as plt

ROLLOUTS = 1_000_000
bare = hinge.samples.puma560()
hold = np.array([0.0, 0.3, -0.2, 0.0, 0.5, 0.0])
control = hinge.control.pd(bare, hold, kp=[2000.0, 4000.0, 2000.0, 300.0, 300.0, 100.0], kd=200.0)
arm = bare.with_payload("link6", 1.0, (0.0, 0.0, 0.1), 1e-3 * np.eye(3))
weights = {f"{name}.mass": arm.model.links[name][0] for name in arm.body_names}
masses = {name: uniform(0.8 * m, 1.2 * m) for name, m in weights.items()}
masses["link6.mass"] = latin(weights["link6.mass"] - 1.0, weights["link6.mass"] + 4.0)  # nothing, up to 5 kg

with tempfile.TemporaryDirectory() as folder:
    asked = {"t": 1.0, "step": 5e-3, "method": "implicit", "rollouts": ROLLOUTS, "store": Path(folder, "sag.zarr")}
    begun = time.perf_counter()
    sweep = hinge.sweep(arm, masses, {"q": normal(hold, 0.02)}, control, **asked)
    done = time.perf_counter()
    data = xarray.open_zarr(sweep.store, consolidated=False)
    opened = time.perf_counter()
    height = np.concatenate([arm.pose(q, "tool")[:, 2, 3] for q in np.array_split(data.q_end.values, 20)])
    load, failed = data["link6.mass"].values - weights["link6.mass"] + 1.0, sweep.failed

sag = 1e3 * (arm.pose(hold, "tool")[2, 3] - height)
figure, (left, right) = plt.subplots(1, 2, figsize=(10.5, 4.2), constrained_layout=True)
left.hist(sag, bins=200, histtype="stepfilled", color="tab:blue", alpha=0.6)
for share, style in ((50.0, "-"), (99.0, "--"), (99.99, ":")):
    at = np.percentile(sag, share)
    left.axvline(at, color="black", ls=style, lw=1.0, label=f"{share:g} % sag less than {at:.2f} mm")
left.set(xlabel="how far the hand is too low [mm]", ylabel="rollouts", title=f"{ROLLOUTS:,} arms".replace(",", " "))
left.margins(y=0.35)  # room for the words
left.legend(loc="upper left", framealpha=1.0, edgecolor="white")
many = right.hist2d(load, sag, bins=125, cmin=1, cmap="viridis")[3]
right.set(xlabel="what it holds [kg]", ylabel="how far the hand is too low [mm]", title="what the load does to it")
figure.colorbar(many, label="rollouts")

target = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_suffix(".png")
figure.savefig(target, dpi=110)
rate, wait = ROLLOUTS / (done - begun), opened - done
print(f"{rate:,.0f} rollouts a second, {failed} failed, opened in {wait:.2f} s; the worst sags {sag.max():.1f} mm")
