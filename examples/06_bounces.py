"""A box that is dropped on an edge, and comes to rest.

Contacts are made and broken where they happen, impacts have their restitution, and bounces without number end.
Writes 06_bounces.png beside this file, or to the path given.
"""

import sys
from pathlib import Path

import matplotlib
import numpy as np

import hinge

matplotlib.use("Agg")
import matplotlib.pyplot as plt

scene = hinge.Scene().ground().body("box", "box", (0.3, 0.2, 0.1), mass=2.0)
robot = scene.robot
tilt = 0.35
q0 = np.array([np.cos(tilt / 2), 0.0, np.sin(tilt / 2), 0.0, 0.0, 0.0, 0.5])
corners = scene.contacts(q0, within=2.0, restitution=0.4)  # every corner that may ever touch
run = hinge.simulate_contacts(robot, corners, t=0.8, q0=q0, step=2e-3)

energy = robot.kinetic_energy(run.q, run.qd) + robot.potential_energy(run.q)
pose = robot.pose(run.q, "box")
outline = np.array([[-1, 0, -1], [1, 0, -1], [1, 0, 1], [-1, 0, 1], [-1, 0, -1]]) * [0.15, 0.1, 0.05]

figure, (left, right) = plt.subplots(1, 2, figsize=(10.5, 4.2), constrained_layout=True)
for k in np.linspace(0, len(run.t) - 1, 40).astype(int):
    x = outline @ pose[k, :3, :3].T + pose[k, :3, 3]
    left.plot(x[:, 0] + 0.8 * run.t[k], x[:, 2], color=plt.cm.viridis(run.t[k] / run.t[-1]), lw=1.0)
left.axhline(0.0, color="black")
left.set(title="the box, moved to the right as time goes", xlabel="x [m]", ylabel="height [m]", aspect="equal")
right.plot(run.t, energy)
hits = [event.t for event in run.events if event.kind == "impact"]
right.plot(hits, np.interp(hits, run.t, energy), "o", ms=3, label="impacts")
right.set(title="its energy", xlabel="t [s]", ylabel="energy [J]")
right.legend()

target = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_suffix(".png")
figure.savefig(target, dpi=110)
print(f"{len(hits)} impacts, then {run.status.name}: {target.name}")
