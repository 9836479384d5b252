"""An arm draws a circle with its hand, by computed torque.

Inverse kinematics finds joint angles along the circle, a spline through them is the motion, and the controller is
traced into the compiled step of the simulation. It starts a little off, so that there is something to correct.
Writes 07_hand_on_a_circle.png beside this file, or to the path given.
"""

import sys
from pathlib import Path

import matplotlib
import numpy as np

import hinge

matplotlib.use("Agg")
import matplotlib.pyplot as plt

arm = hinge.samples.puma560()
q0 = np.array([0.2, -0.7, 0.5, 0.0, 0.6, 0.0])
start = arm.pose(q0, "tool")
center = start[:3, 3] + [0.0, 0.0, 0.12]
circle = hinge.motion.circle(start, center, axis=[1.0, 0.0, 0.0], duration=3.0, turn=False)

times = np.linspace(0.0, circle.duration, 61)
found = hinge.inverse_kinematics(arm, circle(times)[0], "tool", start=q0)
motion = hinge.motion.cubic_spline(arm, found.q, times)
control = hinge.control.computed_torque(arm, motion, kp=400.0)
run = hinge.simulate(arm, t=circle.duration, q0=motion(0.0).q + 0.02, control=control)

hand = arm.pose(run.q, "tool")[:, :3, 3]
error = np.linalg.norm(hand - circle(run.t)[0][:, :3, 3], axis=1)
figure, axes = plt.subplots(1, 3, figsize=(11.5, 3.8), constrained_layout=True)
axes[0].plot(*circle(run.t)[0][:, 1:3, 3].T, color="gold", lw=6, label="wanted")
axes[0].plot(*hand[:, 1:].T, color="black", lw=1.2, label="done")
axes[0].set(title="the hand", xlabel="y [m]", ylabel="z [m]", aspect="equal")
axes[0].legend()
axes[1].semilogy(run.t, error)
axes[1].set(title="how far off it is", xlabel="t [s]", ylabel="error [m]")
axes[2].plot(run.t, run.tau, label=arm.joint_names)
axes[2].set(title="joint torques", xlabel="t [s]", ylabel="torque [N m]")
axes[2].legend(fontsize=7, ncols=2)

target = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_suffix(".png")
figure.savefig(target, dpi=110)
print(f"off by {error[0]:.3f} m at the start and {error[-1000:].max():.1e} m in the last second: {target.name}")
