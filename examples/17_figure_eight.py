"""A Panda draws a figure eight with its tool by MPC at 1 kHz, though it weighs 5 % more than its controller thinks.

A thousand times a second the next 0.3 s are planned anew from the state that is measured, within the arm's limits.
Writes 17_figure_eight.png beside this file, or to the path given.
"""

import sys
from pathlib import Path

import matplotlib
import numpy as np

import hinge
from hinge.optimal import Problem, effort, mpc, posture, reach, speed

matplotlib.use("Agg")
import matplotlib.pyplot as plt

arm = hinge.samples.panda()
numbers = hinge.identify.parameters(arm)
numbers[: 10 * arm.model.count] *= 1.05
heavier = hinge.identify.with_parameters(arm, numbers)
q0 = np.array([0.0, -0.5, 0.0, -2.0, 0.0, 1.5, 0.7])
middle = arm.pose(q0, "tool")


def eight(t):
    poses = np.tile(middle, (*np.shape(t), 1, 1))
    poses[..., 1:3, 3] += np.stack([0.2 * np.sin(np.pi * t), 0.1 * np.sin(2.0 * np.pi * t)], axis=-1)
    return poses


hand = reach(arm, "tool", "target", weight=[100.0] * 3 + [1e4] * 3)
costs = [hand, posture(arm, q0, 0.1), speed(0.05), effort(1e-6)]
problem = Problem(arm, 30, 0.01, costs, limits=("effort", "position", "velocity"), given={"target": middle})
control = mpc(problem, rate=1000, given={"target": eight})
times = []


def timed(t, q, qd):
    tau = control(t, q, qd)
    times.append(1e3 * control.stats.seconds)
    return tau


run = hinge.simulate(heavier, t=4.0, q0=q0, control=timed, step=0.001, method="semi_implicit", sample=1)
done, wanted = arm.pose(run.q, "tool")[:, :3, 3], eight(run.t)[:, :3, 3]
error = 1e3 * np.linalg.norm(done - wanted, axis=1)
figure, axes = plt.subplots(1, 3, figsize=(11.5, 3.6), constrained_layout=True)
axes[0].plot(*done[:, 1:].T, "C0", *wanted[:, 1:].T, "w:")
axes[0].set(title="the tool", xlabel="y [m]", ylabel="z [m]", aspect="equal")
axes[1].semilogy(run.t, error)
axes[1].set(title="how far off it is", xlabel="t [s]", ylabel="error [mm]")
axes[2].semilogy(run.t[1:-1], times[1 : len(run.t) - 1], ".", ms=2, rasterized=True)
axes[2].set(title="how long each plan took", xlabel="t [s]", ylabel="[ms]", ylim=(0.1, None))
target = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_suffix(".png")
figure.savefig(target, dpi=110)
print(f"{error[1000:].max():.2f} mm off after a second; the slowest plan took {max(times[1:]):.2f} ms: {target.name}")
