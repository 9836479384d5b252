"""Draws docs/inverse-kinematics.svg: poses within and out of reach, and how many starts a thousand poses take.

python docs/pictures/inverse_kinematics.py    (the right side needs the package example-robot-data)
"""

from __future__ import annotations

import sysconfig
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import hinge

PICTURE = Path(__file__).parents[1] / "inverse-kinematics.svg"
ROBOTS = Path(sysconfig.get_path("purelib"), "cmeel.prefix", "share", "example-robot-data", "robots")
ARMS = (("Panda", "panda_description/urdf/panda.urdf", "panda_hand", "#4477aa"),
        ("UR5", "ur_description/urdf/ur5_robot.urdf", "ee_link", "#cc6677"))  # fmt: skip


def reach(panel: plt.Axes) -> None:
    """A planar arm with limits, and points on a circle, some of which it cannot reach."""
    rows = [{"a": a, "limits": (-2.2, 2.2), "mass": 1.0, "inertia": np.eye(3)} for a in (0.8, 0.6, 0.4)]
    arm = hinge.dh(rows)
    angle = np.linspace(-2.6, 2.6, 13)
    goals = np.tile(np.eye(4), (len(angle), 1, 1))
    goals[:, 0, 3], goals[:, 1, 3] = 0.7 + 1.3 * np.cos(angle), 1.3 * np.sin(angle)
    q, status, error = hinge.inverse_kinematics(arm, goals, "tool", match="position")
    names = ["link1", "link2", "tool"]
    for goal, state, good, left in zip(goals[:, :2, 3], q, status == hinge.Status.OK, error[:, 1], strict=True):
        colour = "#228833" if good else "#cc3311"
        joints = np.array([[0.0, 0.0], *(arm.pose(state, name)[:2, 3] for name in names)])
        panel.plot(*joints.T, color=colour, alpha=0.5, lw=1.3, marker="o", ms=2.5)
        panel.plot(*goal, "+", color=colour, ms=9, mew=1.5)
        if not good:
            panel.plot(*np.transpose([joints[-1], goal]), ":", color=colour)
            panel.annotate(f"{left:.2f} m", goal, (4, 6), textcoords="offset points", color=colour, fontsize=8)
    panel.set(aspect="equal", xlabel="x (m)", ylabel="y (m)", xlim=(-0.7, 2.4))
    panel.set_title("reached, or as near as can be, and how far that is")


def starts(panel: plt.Axes) -> None:
    """The share of a thousand random poses that are reached, by the number of starts."""
    counts = (1, 3, 7, 15, 31)
    for name, file, frame, colour in ARMS:
        robot = hinge.load(ROBOTS / file)
        goals = robot.pose(robot.random_state(np.random.default_rng(1), 1000)[0], frame)
        missed = [
            np.mean(hinge.inverse_kinematics(robot, goals, frame, starts=n).status != hinge.Status.OK) for n in counts
        ]
        panel.plot(counts, np.array(missed) * 100, "o-", color=colour, label=name)
    panel.set(xlabel="starts", ylabel="poses not reached to 1e-10 (%)", title="a thousand random poses")
    panel.set(xticks=counts, yscale="symlog", ylim=(-0.05, 110))
    panel.set_yticks([0, 1, 10, 100], ["0", "1", "10", "100"])
    panel.legend(frameon=False)


def main() -> None:
    plt.rcParams |= {"font.family": "DejaVu Sans", "font.size": 9, "svg.fonttype": "path", "svg.hashsalt": "hinge"}
    figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.8), width_ratios=(1.2, 1.0))
    reach(left)
    starts(right)
    figure.tight_layout()
    figure.savefig(PICTURE, metadata={"Date": None})


if __name__ == "__main__":
    main()
