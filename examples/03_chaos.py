"""How a double pendulum falls, from every start at once.

Each pixel is a rollout: it starts at rest with the two angles of its place in the picture, and its colour says where
the second link points six seconds later. Smooth regions are predictable; the rest is chaos.
Writes 03_chaos.png beside this file, or to the path given.
"""

import sys
from pathlib import Path

import matplotlib
import numpy as np

import hinge

matplotlib.use("Agg")
import matplotlib.pyplot as plt

robot = hinge.samples.pendulum(2)
side = np.linspace(-np.pi, np.pi, 240)
first, second = np.meshgrid(side, side)
q0 = np.stack([first, second], axis=-1)  # (240, 240, 2): leading axes are rollouts

run = hinge.simulate(robot, t=6.0, q0=q0, step=5e-3, record="last")
q, _ = run.final
drift = np.abs(run.energy()[..., -1] - robot.potential_energy(q0)).max()

figure, axes = plt.subplots(figsize=(6.4, 5.6), constrained_layout=True)
picture = axes.pcolormesh(first, second, np.cos(q.sum(axis=-1)), cmap="RdYlBu", shading="nearest", vmin=-1, vmax=1)
axes.set(xlabel="first angle at the start [rad]", ylabel="second angle at the start [rad]", aspect="equal")
axes.set_title("Which way the second link points after 6 s")
bar = figure.colorbar(picture, label="cosine of its angle to straight down", ticks=[-1, -0.5, 0, 0.5, 1])
bar.ax.set_yticklabels(["−1: up", "−0.5", "0: level", "0.5", "1: down"])

target = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_suffix(".png")
figure.savefig(target, dpi=110)
print(f"{q[..., 0].size:,} rollouts of {round(6.0 / 5e-3)} steps, energy kept to {drift:.1e} J: {target.name}")
