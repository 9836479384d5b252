"""The dynamics of a million states.

A million random states of an arm: the forces of each motion, the motion back from the forces, and what the joints need.
Writes 10_million_states.png beside this file, or to the path given.
"""

import sys
import time
from pathlib import Path

import matplotlib
import numpy as np

import hinge

matplotlib.use("Agg")
import matplotlib.pyplot as plt

arm = hinge.samples.puma560()
rng = np.random.default_rng(0)
q, qd = arm.random_state(rng, 1_000_000)
qdd = rng.normal(size=qd.shape)

tau = arm.inverse_dynamics(q, qd, qdd)  # the first call compiles
back = arm.forward_dynamics(q, qd, tau)
start = time.process_time()  # of the processor, whatever else runs and on however many cores
arm.inverse_dynamics(q, qd, qdd, out=tau)
middle = time.process_time()
arm.forward_dynamics(q, qd, tau, out=back)
end = time.process_time()
inverse, forward = (1e9 * seconds / len(q) for seconds in (middle - start, end - middle))
error = np.abs(back - qdd).max()

figure, axes = plt.subplots(2, 3, figsize=(10.5, 5.4), constrained_layout=True)
for k, (where, name) in enumerate(zip(axes.flat, arm.joint_names, strict=True)):
    where.hist(tau[:, k], bins=200, range=np.percentile(tau[:, k], (0.05, 99.95)), color="tab:blue")
    where.set(title=name, yticks=[], xlabel="torque [N m]")
figure.suptitle(f"Joint torques of a million states: {inverse:.0f} ns of a core each")

target = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_suffix(".png")
figure.savefig(target, dpi=110)
print(f"inverse dynamics {inverse:.0f} ns of a core a state, forward dynamics {forward:.0f} ns; error {error:.0e}")
