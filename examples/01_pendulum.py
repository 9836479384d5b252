"""The phase portrait of a pendulum, from one batch of states.

Every point of the picture is a state; its energy and its acceleration come from two calls on all of them at once.
Writes 01_pendulum.png beside this file, or to the path given.
"""

import sys
from pathlib import Path

import matplotlib
import numpy as np

import hinge

matplotlib.use("Agg")
import matplotlib.pyplot as plt

robot = hinge.samples.pendulum(1)

# a grid of states: angles along one axis, speeds along the other
angle, speed = np.meshgrid(np.linspace(-2 * np.pi, 2 * np.pi, 401), np.linspace(-9, 9, 301))
q, qd = angle[..., None], speed[..., None]

energy = robot.kinetic_energy(q, qd) + robot.potential_energy(q)
qdd = robot.forward_dynamics(q, qd, np.zeros_like(qd))

figure, axes = plt.subplots(figsize=(8, 4.5), constrained_layout=True)
picture = axes.pcolormesh(angle, speed, energy, cmap="viridis", shading="gouraud", rasterized=True)
axes.streamplot(angle[0], speed[:, 0], speed, qdd[..., 0], color="white", density=1.1, linewidth=0.7, arrowsize=0.8)
top = float(robot.potential_energy([np.pi]))
axes.contour(angle, speed, energy, levels=[top], colors="orange", linewidths=2)
axes.set(xlabel="angle [rad]", ylabel="speed [rad/s]", title="A pendulum: energy, flow, and the separatrix (orange)")
axes.set_xlim(-2 * np.pi, 2 * np.pi)
axes.set_ylim(-9, 9)
figure.colorbar(picture, label="energy [J]")
target = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_suffix(".png")
figure.savefig(target, dpi=110)
print(f"{q.size:,} states, energies {energy.min():.2f} to {energy.max():.2f} J: {target.name}")
