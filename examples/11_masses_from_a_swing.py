"""What do the links of an arm weigh? Gradient descent through its swing.

Eight swings under known torques are measured, with noise. A swing is fifty steps on tensors of torch (pip install
hinge[torch]), which finds how the masses change what they miss.
Writes 11_masses_from_a_swing.png beside this file, or to the path given.
"""

import sys
from pathlib import Path

import matplotlib
import numpy as np

import hinge

try:
    import torch
except ModuleNotFoundError:
    sys.exit('this example needs torch: pip install "hinge[torch]"')
matplotlib.use("Agg")
import matplotlib.pyplot as plt

MASSES, H = ("upper.mass", "lower.mass"), 0.01
arm = hinge.samples.planar_2r().vary(*MASSES)
rng = np.random.default_rng(0)
start, tau = torch.tensor(rng.uniform(-1.5, 1.5, (8, 2))), torch.tensor(rng.normal(0.0, 4.0, (8, 2)))


def swing(masses):
    """The angles of all swings at each step, (50, 8, 2)."""
    q, qd, seen = start, torch.zeros_like(start), []
    for _ in range(50):
        q, qd = arm.step(q, qd, tau, H, parameters=dict(zip(MASSES, masses, strict=True)))
        seen.append(q)
    return torch.stack(seen)


truth = torch.tensor([1.7, 0.6], dtype=torch.float64)
measured = swing(truth) + torch.tensor(rng.normal(0.0, 0.01, (50, 8, 2)))
logarithms = torch.zeros(2, dtype=torch.float64, requires_grad=True)  # a mass is positive; 1 kg is what the file says
descent, history = torch.optim.Adam([logarithms], lr=0.05), []
for _ in range(80):
    descent.zero_grad()
    (swing(logarithms.exp()) - measured).square().mean().backward()
    descent.step()
    history.append(logarithms.exp().tolist())
found = logarithms.exp().detach()

figure, (left, right) = plt.subplots(1, 2, figsize=(10.5, 4.2), constrained_layout=True)
left.plot(t := H * np.arange(1, 51), measured[:, 0], ".", color="silver")
left.plot(t, swing(torch.ones_like(truth))[:, 0], "k:", t, swing(found)[:, 0], "tab:blue")
left.set(title="one swing: measured, by the file (dotted), fitted", xlabel="t [s]", ylabel="angles [rad]")
right.plot(history, label=MASSES)
right.hlines(truth, 0, len(history), ["C0", "C1"], ":")
right.set(title="masses on the way, and the true ones (dotted)", xlabel="steps of descent", ylabel="mass [kg]")
right.legend()
target = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_suffix(".png")
figure.savefig(target, dpi=110)
print(f"{found[0]:.2f} and {found[1]:.2f} kg where the truth is {truth[0]} and {truth[1]}")
