"""An arm is not what its file says: a motion that shows it, and a fit.

The true arm has other masses than its file and rubs in its joints; it is measured with 5 % noise. A fit to ten seconds
of motion predicts another motion.
Writes 08_identification.png beside this file, or to the path given.
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
values, n = identify.parameters(arm, TERMS), arm.model.count
values[: 10 * n] *= np.repeat(rng.uniform(0.7, 1.4, n), 10)  # masses that the file does not know
values[10 * n :] = rng.uniform(0.2, 1.0, len(values) - 10 * n)  # and friction
truth = identify.with_parameters(arm, values, TERMS)


def measured(motion):
    """A log of a motion, with noise."""
    t, q, qd, qdd = motion.sample(100.0)
    tau = truth.inverse_dynamics(q, qd, qdd, joint_terms=TERMS)
    return identify.Log(t, q, qd, tau + 0.05 * np.sqrt(np.mean(tau**2, axis=0)) * rng.normal(size=tau.shape), qdd)


log = measured(identify.excite(arm, speed=2.0, joint_terms=TERMS, tries=1))
other = measured(identify.excite(arm, duration=8.0, harmonics=3, speed=1.5, joint_terms=TERMS, tries=1, seed=5))
found = identify.fit(arm, log, TERMS, held_out=other)

figure, (left, right) = plt.subplots(1, 2, figsize=(10.5, 4.2), constrained_layout=True)
left.plot(other.t, other.tau[:, 1], color="silver", lw=3, label="measured")
for label, robot in (("by the file", arm), ("fitted", found.robot)):
    left.plot(other.t, robot.inverse_dynamics(*other.motion, joint_terms=TERMS)[:, 1], lw=1.2, label=label)
left.set(title="joint 2 on a motion that was held out", xlabel="t [s]", ylabel="torque [N m]")
left.legend()
right.bar(np.arange(6) - 0.2, found.before, 0.4, label="by the file")
right.bar(np.arange(6) + 0.2, found.after, 0.4, label="fitted")
right.set(title="error there, root mean square", xticks=range(6), xticklabels=arm.joint_names, ylabel="torque [N m]")
right.legend()

target = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_suffix(".png")
figure.savefig(target, dpi=110)
print(f"{found.base.rank} numbers found; error {found.before.max():.2f} before and {found.after.max():.2f} N m after")
