"""A quadruped hops: the forces of its legs that cost least, with the ground in every step of the search.

It stands, is asked to be up at one time and to stand again at the end; when to push off and how to land is found. The
ground gives way by a little, so that the load of four feet is shared in one way only and has derivatives.
Writes 18_hop.png beside this file, or to the path given, and a film, 18_hop.html.
"""

import sys
from pathlib import Path

import matplotlib
import numpy as np

import hinge
from hinge.optimal import Problem, ddp, effort, posture, speed

matplotlib.use("Agg")
import matplotlib.pyplot as plt

STEPS, STEP, UP, HEIGHT = 50, 0.01, 0.28, 0.45  # of the motion, s, when the trunk is to be up, s, and how high, m
robot, ground = hinge.samples.go2(), hinge.Ground(friction=0.8, compliance=1e-5)
home = robot.keyframes["home"]


def stand(t, q, qd):
    return np.concatenate([np.zeros(6), 60.0 * (home[7:] - q[7:]) - 3.0 * qd[6:]])


def lifted(t, q):
    return np.where(np.abs(t - UP) < 0.5 * STEP, 60.0, 0.0) * (q[6:7] - HEIGHT)


rest = hinge.simulate(robot, 1.0, home, control=stand, step=2e-3, record=500, ground=ground).q[-1]
first = hinge.rollout(robot, rest, np.zeros(18), STEPS, STEP, policy=stand, ground=ground)
guess = [stand(0.0, q, qd)[6:] for q, qd in zip(first.q[:-1], first.qd[:-1], strict=True)]
problem = Problem(
    robot, STEPS, STEP, ground=ground,
    running=[lifted, effort(4e-4), lambda qd: 0.02 * qd[6:], lambda q: q[1:4], lambda q: 0.3 * (q[7:] - home[7:])],
    final=[posture(robot, rest, [400.0] * 6 + [20.0] * 12), speed(2.0)],
)  # fmt: skip
hop = ddp(problem, rest, u=guess, tolerance=1e-4)
run, feet = hop.replay(), ("FL", "FR", "RL", "RR")

figure = plt.figure(figsize=(10.5, 5.6), constrained_layout=True)
rows = figure.subfigures(2, 1, height_ratios=(1.1, 1.0))
for axes, t in zip(rows[0].subplots(1, 4), (0.0, 0.14, UP, 0.5), strict=True):
    axes.imshow(hinge.viewing.picture(run, t, size=(380, 340)))
    axes.set(title=f"t = {t} s", xticks=[], yticks=[])
left, right = rows[1].subplots(1, 2)
left.plot(run.t, run.q[:, 6], label="trunk [m]")
left.plot(run.t, run.contacts.forces[..., 2].sum(axis=-1) / 1e3, label="on the feet [kN]")
left.set(title="the hop", xlabel="t [s]")
right.plot(run.t[:-1], hop.u[:, 1::3], "C0", run.t[:-1], hop.u[:, 2::3], "C1")
right.set(title="forces of thighs (blue) and calves (orange) [N m]", xlabel="t [s]")
left.legend(frameon=False)
target = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_suffix(".png")
figure.savefig(target, dpi=110)
hinge.film(run, target.with_suffix(".html"))
print(f"{100 * np.ptp(run.q[:, 6]):.0f} cm up, {hop.status=:d}, {len(hop.history)} iterations: {target.name}")
