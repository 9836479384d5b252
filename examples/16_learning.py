"""A cart learns to swing its pole up and to balance it, by a policy gradient on 256 environments at once.

The page that learns is policy_gradient.py. In the end the network is tried on 512 starts that it has not seen, without
noise: a success is a pole that stays within 12° of upright through the last three seconds of ten.
Writes 16_learning.png beside this file, or to the path given; a number after that is how many turns it learns for.
"""

import os
import sys
import time
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # matrices are small
import matplotlib
import numpy as np
from gymnasium.wrappers.vector import RecordEpisodeStatistics
from policy_gradient import STEPS, Policy

import hinge

matplotlib.use("Agg")
import matplotlib.pyplot as plt

ENVS, STARTS, TURNS = 256, 512, int(sys.argv[2]) if len(sys.argv) > 2 else 150
env = RecordEpisodeStatistics(hinge.envs.make("cart-pole-swing-up", ENVS, autoreset="same_step"), ENVS)
policy = Policy(env, scale=[0.4, 1.0, 1.0, 0.25, 0.125])
begun = time.perf_counter()
curve = [np.mean(env.return_queue or np.nan) for _ in policy.train(env, TURNS, 500)]  # of the last ones
spent = time.perf_counter() - begun

trial = hinge.envs.make("cart-pole-swing-up", STARTS, autoreset="disabled")
seen, _ = trial.reset(seed=1_000_000)
path, dt = [trial.q], trial.task.h * trial.task.frame_skip
for _ in range(trial.task.steps):
    seen, *_ = trial.step(policy(seen))
    path.append(trial.q)
path, t = np.array(path), dt * np.arange(len(path))
good = (np.cos(path[t > t[-1] - 3.0, :, 1]) > np.cos(np.deg2rad(12.0))).all(axis=0)

figure, (left, middle, right) = plt.subplots(1, 3, figsize=(13.5, 3.8), width_ratios=(1, 1, 1.7), layout="tight")
left.plot(ENVS * STEPS * np.arange(1, TURNS + 1) / 1e6, curve, color="tab:blue")
left.set(xlabel="steps of environments [million]", ylabel="return of an episode", title="learning", ylim=(0.0, 500.0))
off = np.rad2deg(np.abs(np.angle(np.exp(1j * path[..., 1]))))
middle.plot(t, off[:, :100], color="tab:blue", alpha=0.15, lw=0.8)
middle.set(xlabel="time [s]", ylabel="from upright [°]", title=f"{good.mean():.1%} of {STARTS} starts succeed")
for k in range(0, min(200, len(t)), 5):
    x, angle = path[k, 0]
    color = plt.cm.viridis(k / 200)
    right.plot([x, x + np.sin(angle)], [0.0, np.cos(angle)], color=color, lw=1.2)
    right.plot(x, 0.0, "s", color=color, ms=5)
right.set(xlabel="x [m]", ylabel="z [m]", title="the first four seconds of one, light is late", aspect="equal")
target = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_suffix(".png")
figure.savefig(target, dpi=110)
print(f"{good.mean():.1%} of {STARTS} starts succeed after {ENVS * STEPS * TURNS:,} steps in {spent:.0f} s")
