"""The curves that points of a four-bar linkage draw.

The crank turns once; the loop is closed for every angle, and points of the coupler are followed. A linkage is a tree
with a joint that closes it, so everything else a robot computes is there too: what the crank's motor has to give, say.
Writes 05_linkage.png beside this file, or to the path given.
"""

import sys
from pathlib import Path

import matplotlib
import numpy as np

import hinge

matplotlib.use("Agg")
import matplotlib.pyplot as plt

linkage = hinge.samples.four_bar()
angles = np.linspace(0.0, 2 * np.pi, 361)
q, guess = [], np.array([0.0, 0.5, 1.5])
for angle in angles:
    guess = linkage.assemble([angle, *guess[1:]], hold=["crank"]).q  # from the last one, which is near
    q.append(guess)
q = np.array(q)

_, qd = linkage.loop_project(q, np.tile([2.0, 0.0, 0.0], (len(q), 1)))
qd = qd * (2.0 / qd[:, :1])  # the crank turns steadily, and the others follow
steady = np.concatenate([linkage.loop_jacobian(q), np.tile([[[1.0, 0.0, 0.0]]], (len(q), 1, 1))], axis=1)
wanted = np.concatenate([-linkage.loop_bias(q, qd), np.zeros((len(q), 1))], axis=1)
qdd = np.einsum("tvr,tr->tv", np.linalg.pinv(steady), wanted)  # accelerations that keep the loop and the crank's speed
tau, _ = linkage.loop_inverse_dynamics(q, qd, qdd, actuated=["crank"])

figure, (left, right) = plt.subplots(1, 2, figsize=(10.5, 4.6), constrained_layout=True)
crank, coupler, rocker = (linkage.pose(q, name) for name in linkage.body_names)
now = 40  # degrees: where the linkage is drawn
end = coupler @ [2.5, 0.0, 0.0, 1.0]
pins = np.stack([crank[now, :, 3], coupler[now, :, 3], end[now], rocker[now, :, 3]])[:, [0, 2]]
left.plot(*pins.T, "o-", color="black", lw=3, ms=7, zorder=3)
for u, v in ((0.0, 0.0), (1.25, 0.0), (2.5, 0.0), (0.8, 0.9), (1.4, -0.9)):
    x, _, z, _ = (coupler @ [u, 0.0, v, 1.0]).T
    left.fill(*np.transpose([pins[1], pins[2], (x[now], z[now])]), color="gray", alpha=0.2)
    (curve,) = left.plot(x, z, label=f"({u:g}, {v:g})")
    left.plot(x[now], z[now], "o", color=curve.get_color(), zorder=4)
left.set(
    title="the linkage, and what points of its coupler draw",
    xlabel="x [m]",
    ylabel="z [m]",
    ylim=(-1.6, 2.3),
    aspect="equal",
)
left.legend(fontsize=8, title="where on it [m]")
right.plot(angles, tau[:, 0])
right.set(title="the motor of a steady crank", xlabel="crank [rad]", ylabel="torque [N m]")

target = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_suffix(".png")
figure.savefig(target, dpi=110)
print(f"one turn, loop closed to {np.abs(linkage.loop_gap(q)).max():.0e}: {target.name}")
