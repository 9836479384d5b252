"""A quadruped trots: feet on loops, inverse kinematics of a leg, springs at the joints.

Diagonal legs go together, half a period apart. Feet are set down farther ahead the faster the trunk is than it should
be, as Raibert has it. All of it, contacts with friction included, is in one kernel.
Writes 15_trot.png beside this file, or to the path given, and a film with the forces at the feet, 15_trot.html.
"""

import sys
from pathlib import Path

import matplotlib
import numpy as np

import hinge

matplotlib.use("Agg")
import matplotlib.pyplot as plt

SPEED, PERIOD, LIFT, HEIGHT = 0.8, 0.4, 0.08, 0.29  # m/s, s, m, and of the hips above the feet, m
KP, KD, LENGTH = 150.0, 3.0, 0.213  # of the springs, N m/rad and N m s/rad; of thigh and calf, m
LEGS, PHASE = ("FL", "FR", "RL", "RR"), np.array([0.0, 0.5, 0.5, 0.0])  # front left and right, rear left and right
robot, ground = hinge.samples.go2(), hinge.Ground(friction=0.8)
home = robot.keyframes["home"]


def trot(t, q, qd):
    angle = 2.0 * np.pi * ((t + KD / KP) / PERIOD + PHASE)  # what dampers hold back is asked for early
    start = np.minimum(2.0 * t, 1.0)
    x = 0.25 * SPEED * PERIOD * start * np.cos(angle) + 0.05 * (qd[3] - SPEED)
    z = LIFT * start * np.maximum(-np.sin(angle), 0.0) - HEIGHT
    knee = -2.0 * np.arccos(np.sqrt(x * x + z * z) / (2.0 * LENGTH))
    thigh = np.arctan2(-x, -z) - 0.5 * knee
    wanted = np.stack([0.0 * x, thigh, knee], axis=-1).reshape(12)
    return np.concatenate([np.zeros(6), KP * (wanted - q[7:]) - KD * qd[6:]])


run = hinge.simulate(robot, 4.0, home, control=trot, step=2e-3, record=5, effort=True, ground=ground)
pose, touch = robot.pose(run.q, "base"), run.contacts

figure = plt.figure(figsize=(10.5, 5.6), constrained_layout=True)
rows = figure.subfigures(2, 1, height_ratios=(1.1, 1.0))
for axes, t in zip(rows[0].subplots(1, 3), (2.0, 2.1, 2.2), strict=True):
    axes.imshow(hinge.viewing.picture(run, t, size=(480, 340)))
    axes.set(title=f"t = {t} s", xticks=[], yticks=[])
left, right = rows[1].subplots(1, 2)
for k, leg in enumerate(LEGS):
    mine = [name[1].startswith(leg) for name in touch.names]
    force = np.where(np.append(mine, False)[touch.pairs], touch.forces[..., 2], 0.0).sum(axis=-1)
    left.fill_between(run.t, k * 250.0, k * 250.0 + force)
left.set(title="what each foot carries", xlim=(2, 4), xlabel="t [s]", yticks=np.arange(4) * 250.0, yticklabels=LEGS)
right.plot(run.t, pose[:, 0, 3], label="forward [m]")
right.plot(run.t, np.degrees(np.arccos(pose[:, 2, 2])) / 10.0, label="tilt [10°]")
right.set(xlabel="t [s]", title="the trunk")
right.legend()

target = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_suffix(".png")
figure.savefig(target, dpi=110)
hinge.film(run, target.with_suffix(".html"))
print(f"{pose[-1, 0, 3]:.2f} m in 4 s, tilted {np.degrees(np.arccos(pose[:, 2, 2].min())):.1f}° at most: {target.name}")
