"""The fastest way along a path, and which joint sets the pace.

A spline through three configurations is timed so that at every moment a motor or a speed limit is used up.
Writes 09_as_fast_as_it_goes.png beside this file, or to the path given.
"""

import sys
from pathlib import Path

import matplotlib
import numpy as np

import hinge

matplotlib.use("Agg")
import matplotlib.pyplot as plt

arm = hinge.samples.puma560()
effort = np.array([80.0, 130.0, 60.0, 12.0, 10.0, 8.0])
points = [[-1.2, -0.6, 0.3, 0.0, 0.4, 0.0], [0.0, -1.2, 0.9, 0.5, 0.8, 0.3], [1.2, -0.4, 0.2, 0.0, -0.3, 0.0]]
path = hinge.motion.quintic_spline(arm, points, times=[0.0, 1.0, 2.0])

fast = hinge.time_optimal(arm, path, velocity=np.full(6, 3.0), effort=effort)
t = np.linspace(0.0, fast.duration, 800)
q, qd, qdd = fast(t)
tau = arm.inverse_dynamics(q, qd, qdd)
limits = fast.limiting(t)

figure, axes = plt.subplots(3, 1, figsize=(8.5, 7.5), sharex=True, constrained_layout=True)
axes[0].plot(t, qd)
axes[0].axhline(3.0, color="black", ls=":")
axes[0].axhline(-3.0, color="black", ls=":")
axes[0].set(ylabel="speed [rad/s]", title=f"Along the path in {fast.duration:.3f} s")
axes[1].plot(t, tau / effort, label=arm.joint_names)
axes[1].set(ylabel="torque, as a share of its limit")
axes[1].legend(fontsize=7, ncols=3)
names = list(arm.joint_names)
for kind, color in (("effort", "tab:red"), ("velocity", "tab:blue")):
    chosen = [(when, names.index(one.joint)) for when, one in zip(t, limits, strict=True) if one.kind == kind]
    axes[2].plot(*np.array(chosen or [(np.nan, np.nan)]).T, "|", color=color, ms=9, label=kind)
axes[2].set(xlabel="t [s]", yticks=range(6), yticklabels=names, ylim=(-0.6, 5.6), title="who sets the pace")
axes[2].legend(loc="center left")

target = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_suffix(".png")
figure.savefig(target, dpi=110)
print(f"{fast.duration:.3f} s, torques up to {np.abs(tau / effort).max():.4f} of their limits: {target.name}")
