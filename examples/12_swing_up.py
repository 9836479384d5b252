"""A cart swings its pole up: the pushes are shaped by derivatives that go back through the whole motion.

Only the cart is pushed. Each round runs two seconds of motion, asks where the end should have been instead, and pulls
that back to every push; the descent is Adam's.
Writes 12_swing_up.png beside this file, or to the path given.
"""

import sys
from pathlib import Path

import matplotlib
import numpy as np

import hinge

matplotlib.use("Agg")
import matplotlib.pyplot as plt

builder = hinge.Builder("cart and pole")
builder.link("rail")
builder.link("cart", 1.0)
builder.link("pole", 0.3, (0.0, 0.0, -0.5), np.diag([0.025, 0.025, 0.0]))
builder.joint("slide", "prismatic", "rail", "cart", axis=(1, 0, 0))
builder.joint("swing", "continuous", "cart", "pole", axis=(0, -1, 0))
robot = hinge.Robot(builder.build())

STEPS, H, ROUNDS, RATE = 200, 0.01, 600, 0.3
upright = np.array([0.0, np.pi])
push = 0.5 * np.sin(np.linspace(0.0, 4.0 * np.pi, STEPS))  # N
mean, square, losses, shapes = np.zeros(STEPS), np.zeros(STEPS), [], []

for k in range(1, ROUNDS + 1):
    run = hinge.rollout(robot, np.zeros(2), np.zeros(2), STEPS, H, taus=np.outer(push, [1.0, 0.0]), method="rk4")
    miss, speed = run.q[-1] - upright, run.qd[-1]
    losses.append(10.0 * miss @ miss + speed @ speed + 1e-4 * H * push @ push)
    dq, dqd = np.zeros((2, STEPS + 1, 2))
    dq[-1], dqd[-1] = 20.0 * miss, 2.0 * speed
    slope = run.pulled(dq, dqd, by="taus")["taus"][:, 0] + 2e-4 * H * push
    mean, square = 0.9 * mean + 0.1 * slope, 0.999 * square + 0.001 * slope**2
    push -= RATE * mean / (1.0 - 0.9**k) / (np.sqrt(square / (1.0 - 0.999**k)) + 1e-9)
    shapes.append(run.q)

q, t = shapes[-1], H * np.arange(STEPS + 1)
figure, (left, right) = plt.subplots(1, 2, figsize=(9.5, 4.4), width_ratios=(1, 1.7), constrained_layout=True)
tip = np.stack([q[:, 0] + np.sin(q[:, 1]), -np.cos(q[:, 1])])
for k in range(0, STEPS + 1, 5):
    left.plot([q[k, 0], tip[0, k]], [0.0, tip[1, k]], color=plt.cm.viridis(k / STEPS), lw=1.5)
left.plot(*tip, color="gray", lw=0.8)
left.set(aspect="equal", xlabel="x [m]", ylabel="z [m]", title="the pole, from dark to light")
for k in (0, 24, 99, ROUNDS - 1):
    right.plot(t, shapes[k][:, 1], label=f"round {k + 1}: loss {losses[k]:.3g}")
right.axhline(np.pi, color="black", ls=":")
right.set(xlabel="t [s]", ylabel="angle of the pole [rad]", title="upright is π", ylim=(-1.4, 5.2))
right.legend(loc="upper left")

target = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_suffix(".png")
figure.savefig(target, dpi=110)
print(f"loss {losses[0]:.0f} at first, {losses[-1]:.4f} in the end, the pole at {q[-1, 1]:.3f} rad: {target.name}")
