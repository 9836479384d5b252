"""An arm is not what its file says: a motion that shows it, a fit, and a watch on what is left.

The true arm has other masses than the file, rubs in its joints, and is measured with 5 % noise. A fit to ten seconds of
motion predicts another motion; then the hand picks up half a kilogram, and the running residual says so.
Writes docs/identification.svg, or to the path given.
"""

import sys
from pathlib import Path

import matplotlib
import numpy as np

import hinge
from hinge import identify

matplotlib.use("Agg")
import matplotlib.pyplot as plt

TERMS = ("armature", "damping", "friction")
rng = np.random.default_rng(7)
arm = hinge.samples.puma560()

# the arm as it is
values, n = identify.parameters(arm, TERMS), arm.model.count
values[: 10 * n] *= np.repeat(rng.uniform(0.7, 1.4, n), 10)
values[10 * n :] = rng.uniform(0.2, 1.0, len(values) - 10 * n)
truth = identify.with_parameters(arm, values, TERMS)


def measured(robot, t, q, qd, qdd):
    """A log of the motion, with noise."""
    tau = robot.inverse_dynamics(q, qd, qdd, joint_terms=TERMS)
    return identify.Log(t, q, qd, tau + 0.05 * np.sqrt(np.mean(tau**2, axis=0)) * rng.normal(size=tau.shape), qdd)


motion = identify.excite(arm, speed=2.0, joint_terms=TERMS, tries=1)
other = identify.excite(arm, duration=8.0, harmonics=3, speed=1.5, joint_terms=TERMS, tries=1, seed=5)
log, held = measured(truth, *motion.sample(100.0)), measured(truth, *other.sample(100.0))
found = identify.fit(arm, log, TERMS, held_out=held)
print(motion, found, sep="\n")

# a load is picked up after four seconds
loaded = measured(truth.with_payload("tool", 0.5), *other.sample(100.0))
half = len(held) // 2
tau = np.concatenate([held.tau[:half], loaded.tau[half:]])
watch = identify.Monitor(found.robot, window=50, joint_terms=TERMS, limit=1.2)
means, drift = [], []
for row in zip(*held.motion, tau, strict=True):
    watch.update(*row)
    means.append(watch.mean)
    drift.append(watch.drift.any())
first = held.t[int(np.argmax(drift))]

plt.rcParams |= {"font.family": "DejaVu Sans", "font.size": 9, "svg.fonttype": "path", "svg.hashsalt": "hinge"}
INK, FILE, FITTED, MEASURED = "#222222", "#e08214", "#2166ac", "#b5b5b5"
figure, panels = plt.subplots(2, 2, figsize=(11, 6.6), constrained_layout=True)
(moves, forces), (errors, running) = panels

moves.plot(log.t, log.q, lw=1.3)
moves.set(
    xlabel="s", ylabel="rad", title=f"a motion that shows {found.base.rank} numbers (condition {motion.condition:.0f})"
)
joint = 1
forces.plot(held.t, held.tau[:, joint], color=MEASURED, lw=2.5, label="measured")
for name, robot, colour in (("by the file", arm, FILE), ("fitted", found.robot, FITTED)):
    forces.plot(
        held.t, robot.inverse_dynamics(*held.motion, joint_terms=TERMS)[:, joint], color=colour, lw=1.1, label=name
    )
forces.set(xlabel="s", ylabel="N m", title="joint 2 on another motion")
forces.legend(frameon=False, loc="lower left", fontsize=8)

places, size = np.arange(arm.nv), np.sqrt(np.mean(held.tau**2, axis=0))
errors.bar(places - 0.2, 100 * found.before / size, 0.38, color=FILE, label="by the file")
errors.bar(places + 0.2, 100 * found.after / size, 0.38, color=FITTED, label="fitted")
errors.axhline(5.0, color=INK, lw=0.8, ls=":")
errors.text(arm.nv - 0.5, 6.0, "noise", ha="right", va="bottom", fontsize=8, color=INK)
errors.set(xticks=places, xticklabels=range(1, arm.nv + 1), xlabel="joint", ylabel="% of the joint's force",
           title="error on another motion, root mean square")  # fmt: skip
errors.legend(frameon=False)

running.plot(held.t, means, lw=1.2)
running.axvline(held.t[half], color=INK, lw=0.8, ls=":")
running.axvline(first, color="#c1272d", lw=1.0)
running.text(held.t[half] - 0.1, running.get_ylim()[0], "load on ", ha="right", va="bottom", fontsize=8, color=INK)
running.text(first + 0.1, running.get_ylim()[0], "noticed", va="bottom", fontsize=8, color="#c1272d")
running.set(xlabel="s", ylabel="N m", title="measured less predicted, mean of half a second, joints 1 to 6")
for panel in panels.flat:
    panel.title.set(fontsize=10, color=INK, ha="left", position=(0.0, 1.0))
    panel.grid(True, color="#ececec", lw=0.6)
    panel.set_axisbelow(True)
    panel.tick_params(length=0, colors="#555555")
    for side in ("top", "right"):
        panel.spines[side].set_visible(False)
target = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parents[1] / "identification.svg"
figure.savefig(target, dpi=110, metadata={"Date": None} if target.suffix == ".svg" else None)
