"""Where an arm's hand can be, and how well it moves there.

A hundred thousand random configurations in one call each of pose and Jacobian; the colour is the hand's manipulability,
the volume its velocity ellipsoid has.
Writes 02_workspace.png beside this file, or to the path given.
"""

import sys
from pathlib import Path

import matplotlib
import numpy as np

import hinge

matplotlib.use("Agg")
import matplotlib.pyplot as plt

arm = hinge.samples.puma560()
q, _ = arm.random_state(np.random.default_rng(0), 100_000)
hand = arm.pose(q, "tool")[:, :3, 3]
J = arm.jacobian(q, "tool", frame="aligned")[:, 3:, :3]  # of the first three joints, which carry the wrist
ease = np.abs(np.linalg.det(J))

figure, axes = plt.subplots(1, 2, figsize=(9.5, 5.2), width_ratios=(2, 1.05), constrained_layout=True)
radius = np.hypot(hand[:, 0], hand[:, 1])
for where, x, y, across, labels in ((axes[0], *hand[:, :2].T, 70, "xy"), (axes[1], radius, hand[:, 2], 35, "rz")):
    picture = where.hexbin(x, y, ease, gridsize=(across, 40), cmap="viridis", linewidths=0.2)
    where.set(xlabel=f"{labels[0]} [m]", ylabel=f"{labels[1]} [m]", aspect="equal")
axes[0].set_title("from above")
axes[1].set_title("at a distance r from the base's axis")
figure.colorbar(picture, ax=axes, label="manipulability [m³]")
figure.suptitle(f"The hand of a {arm.name}: where it can be, and how freely it moves there")

target = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_suffix(".png")
figure.savefig(target, dpi=110)
print(f"{len(q):,} configurations, reach {np.linalg.norm(hand, axis=1).max():.3f} m: {target.name}")
